<?php

declare(strict_types=1);

namespace Dueq\Tests\Laravel;

use Dueq\Queue;

/** Lines that jobs write for the test, also from other processes. */
final class Journal
{
    private static ?Queue $queue = null;

    public static function open(string $url): void
    {
        self::$queue = new Queue('journal', $url);
    }

    public static function write(string $line): void
    {
        self::$queue->push($line);
    }

    /** Waits for the next line, for $timeout seconds at most. Null: no line came. */
    public static function read(float $timeout = 10.0): ?string
    {
        $message = self::$queue->reserve($timeout);
        $message?->ack();

        return $message?->body;
    }
}
