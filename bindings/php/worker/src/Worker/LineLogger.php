<?php

declare(strict_types=1);

namespace Dueq\Worker;

use Dueq\Client;
use Psr\Log\AbstractLogger;
use Throwable;

/**
 * Writes lines to standard error, as text or as JSON objects. Text from outside, such as the
 * message of an exception, can neither begin a line of its own nor control a terminal:
 * Client::escape() makes such characters visible, and the lines of a trace begin with four blanks.
 */
final class LineLogger extends AbstractLogger
{
    /** @param bool $json whether each line is a JSON object */
    public function __construct(private readonly bool $json = false)
    {
    }

    /**
     * @param mixed $level
     * @param string|\Stringable $message
     * @param array<mixed> $context in JSON all members go into the object; in text only a trace is
     *     shown
     */
    public function log($level, $message, array $context = []): void
    {
        $now = explode(' ', microtime());
        $head = [
            'time' => gmdate('Y-m-d\TH:i:s', (int) $now[1]) . substr($now[0], 1, 4) . 'Z',
            'level' => (string) $level,
            'pid' => getmypid(),
            'message' => (string) $message,
        ];
        $error = $context['exception'] ?? null;
        if ($error instanceof Throwable) {
            $context['exception'] = $error::class;
            $context['trace'] = (string) $error;
        }
        fwrite(
            STDERR,
            $this->json
                ? self::object($head + $context)
                : self::text($head, $context['trace'] ?? null),
        );
    }

    /** @param array<mixed> $members */
    private static function object(array $members): string
    {
        $flags = JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES
            | JSON_INVALID_UTF8_SUBSTITUTE | JSON_PARTIAL_OUTPUT_ON_ERROR;

        // json_encode() escapes C0. Client::escape() escapes the rest in a form that is valid JSON,
        // except DEL.
        return Client::escape(str_replace("\x7F", '\u007f', json_encode($members, $flags))) . "\n";
    }

    /** @param array<string, mixed> $head */
    private static function text(array $head, ?string $trace): string
    {
        $line = sprintf(
            '%s %-7s [%d] %s',
            $head['time'],
            $head['level'],
            $head['pid'],
            $head['message'],
        );
        $lines = $trace === null ? [$line] : [$line, ...explode("\n", rtrim($trace))];

        return implode("\n    ", array_map(Client::escape(...), $lines)) . "\n";
    }
}
