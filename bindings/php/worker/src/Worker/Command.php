<?php

declare(strict_types=1);

namespace Dueq\Worker;

use InvalidArgumentException;

/**
 * The command dueq-worker.
 *
 * @internal
 */
final class Command
{
    /**
     * @param list<string> $arguments
     * @return int the exit status: 0, 1 when the worker could not start, 2 for a wrong option, 128 and the signal's number
     *     when it was aborted
     */
    public static function main(array $arguments): int
    {
        if (array_intersect($arguments, ['--help', '-h']) !== []) {
            fwrite(STDOUT, Options::HELP);

            return 0;
        }
        try {
            $options = Options::parse($arguments);
        } catch (InvalidArgumentException $error) {
            fwrite(STDERR, "dueq-worker: {$error->getMessage()}\n");

            return 2;
        }

        return (new Supervisor($options, new LineLogger($options->json)))->run();
    }
}
