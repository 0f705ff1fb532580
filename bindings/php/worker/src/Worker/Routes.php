<?php

declare(strict_types=1);

namespace Dueq\Worker;

use InvalidArgumentException;
use JsonException;

/**
 * The table of task and queue that programs of all languages read.
 *
 * @internal
 */
final class Routes
{
    private const VARIABLE = 'DUEQ_ROUTES';

    private const TIMEOUT = 5.0;

    /**
     * @param array<mixed>|string|null $routes the table, or where it is: a file, or a URL of http
     *     or https. null: the table is where DUEQ_ROUTES says, if that is set
     * @return array<string, string> the queue of each task that the table names
     * @throws InvalidArgumentException if the table cannot be read
     */
    public static function read(array|string|null $routes): array
    {
        $routes ??= getenv(self::VARIABLE) ?: [];
        if (is_array($routes)) {
            return self::checked($routes, 'routes');
        }
        $context = stream_context_create(['http' => ['timeout' => self::TIMEOUT]]);
        error_clear_last();
        $text = @file_get_contents($routes, false, $context);
        if ($text === false) {
            $why = error_get_last()['message'] ?? 'it cannot be read';
            throw new InvalidArgumentException("routes: $routes: $why");
        }
        try {
            $table = json_decode($text, null, 4, JSON_THROW_ON_ERROR);
        } catch (JsonException $error) {
            throw new InvalidArgumentException(
                "routes: $routes: {$error->getMessage()}",
                0,
                $error,
            );
        }
        if (!$table instanceof \stdClass) {
            throw new InvalidArgumentException(
                "routes: $routes: it is not an object such as {\"send_receipt\": \"mail\"}",
            );
        }

        return self::checked((array) $table, "routes: $routes");
    }

    /**
     * @param array<mixed> $table
     * @return array<string, string>
     * @throws InvalidArgumentException
     */
    private static function checked(array $table, string $what): array
    {
        $checked = [];
        foreach ($table as $task => $queue) {
            if (!is_string($queue) || $queue === '') {
                $given = json_encode($queue);
                throw new InvalidArgumentException(
                    "$what: the task $task has no name of a queue, but $given",
                );
            }
            $checked[(string) $task] = $queue;
        }

        return $checked;
    }
}
