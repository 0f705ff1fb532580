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
     * @param list<string> $arguments without the command's name
     * @return int the exit status: 0; 1: the worker could not start; 2: a wrong option; 128 plus
     *     the number of the signal that aborted the worker
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
