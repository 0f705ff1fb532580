<?php

declare(strict_types=1);

namespace Dueq\Worker;

use Dueq\Client;
use Psr\Log\AbstractLogger;
use Throwable;

/**
 * Writes lines to standard error, each at once: text, or an object of JSON. Text of others, such as the message of an
 * exception, begins no line and steers no terminal: Client::escape() shows the characters that would, and the lines
 * of a trace begin with four blanks.
 */
final class LineLogger extends AbstractLogger
{
    /** @param bool $json whether a line is JSON */
    public function __construct(private readonly bool $json = false)
    {
    }

    /**
     * @param mixed $level
     * @param string|\Stringable $message
     * @param array<mixed> $context in JSON, members of the object; of text, the traces alone
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
        fwrite(STDERR, $this->json ? self::object($head + $context) : self::text($head, $context['trace'] ?? null));
    }

    /** @param array<mixed> $members */
    private static function object(array $members): string
    {
        $flags = JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE | JSON_PARTIAL_OUTPUT_ON_ERROR;

        // JSON escapes C0; what the core escapes beyond that is JSON too, but for DEL.
        return Client::escape(str_replace("\x7F", '\u007f', json_encode($members, $flags))) . "\n";
    }

    /** @param array<string, mixed> $head */
    private static function text(array $head, ?string $trace): string
    {
        $line = sprintf('%s %-7s [%d] %s', $head['time'], $head['level'], $head['pid'], $head['message']);
        $lines = $trace === null ? [$line] : [$line, ...explode("\n", rtrim($trace))];

        return implode("\n    ", array_map(Client::escape(...), $lines)) . "\n";
    }
}
