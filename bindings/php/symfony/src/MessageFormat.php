<?php

declare(strict_types=1);

namespace Dueq\SymfonyMessenger;

use Dueq\Message;
use Symfony\Component\Messenger\Exception\MessageDecodingFailedException;

/**
 * What a serializer makes, as a message of dueq: its body, and its headers as headers. Where the
 * headers are more than dueq takes (the traces of errors, of message after message), they stand in
 * front of the body, as JSON.
 *
 * @internal
 */
final class MessageFormat
{
    /** Of a message whose first so many bytes are its headers. */
    private const HEADERS = 'messenger-headers';

    /** Of a message whose id is unique for a time, which would refuse a retry under the same id. */
    private const UNIQUE = 'messenger-unique';

    /**
     * Of a message that dueq itself may move to a dead-letter queue: the transport that it was sent
     * to.
     */
    private const FROM = 'messenger-from';

    /** Bytes; dueq takes 65,535, of which each header needs some for itself. */
    private const MOST = 50000;

    /**
     * @param array{body: string, headers?: array<string, string>} $encoded of a serializer
     * @param string|null $from the transport that it is sent to, if it has a dead-letter queue;
     *     else null
     * @return array{body: string, headers: array<string, string>}
     */
    public static function write(array $encoded, bool $isUnique, ?string $from): array
    {
        [$body, $headers] = [$encoded['body'], array_map(strval(...), $encoded['headers'] ?? [])];
        if (strlen(implode('', [...array_keys($headers), ...array_values($headers)])) > self::MOST) {
            $text = json_encode($headers, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE);
            [$body, $headers] = [$text . $body, [self::HEADERS => (string) strlen($text)]];
        }

        $own = ($isUnique ? [self::UNIQUE => '1'] : []) + ($from === null ? [] : [self::FROM => $from]);

        return ['body' => $body, 'headers' => $headers + $own];
    }

    /**
     * @return array{body: string, headers: array<string, string>} for a serializer
     * @throws MessageDecodingFailedException
     */
    public static function read(Message $message): array
    {
        [$body, $headers] = [$message->body, $message->headers];
        if (isset($headers[self::HEADERS])) {
            $length = (int) $headers[self::HEADERS];
            $headers = json_decode(substr($body, 0, $length), true);
            $body = substr($body, $length);
            if (!is_array($headers)) {
                throw new MessageDecodingFailedException('The headers in front of the body are no JSON.');
            }
        }
        unset($headers[self::UNIQUE], $headers[self::FROM]);

        return ['body' => $body, 'headers' => $headers];
    }

    public static function isUnique(Message $message): bool
    {
        return isset($message->headers[self::UNIQUE]);
    }

    /**
     * The transport that a message was sent to before dueq moved it to its dead-letter queue; null:
     * nobody said.
     */
    public static function from(Message $message): ?string
    {
        return $message->headers[self::FROM] ?? null;
    }
}
