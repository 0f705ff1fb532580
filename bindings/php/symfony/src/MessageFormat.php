<?php

declare(strict_types=1);

namespace Dueq\SymfonyMessenger;

use Dueq\Message;
use Symfony\Component\Messenger\Exception\MessageDecodingFailedException;

/**
 * Stores the output of a serializer as a message of dueq: body as body, headers as headers. If the
 * headers exceed dueq's limit (each failure adds the trace of an error), they are stored as JSON in
 * front of the body.
 *
 * @internal
 */
final class MessageFormat
{
    /**
     * The header with the number of bytes in front of the body that contain the headers as JSON.
     */
    private const HEADERS = 'messenger-headers';

    /**
     * The header of a message whose id is unique for a time: its queue would refuse a retry under
     * this id.
     */
    private const UNIQUE = 'messenger-unique';

    /**
     * The header with the name of the transport to which a message was sent. Only messages of a
     * transport with a dead-letter queue have it.
     */
    private const FROM = 'messenger-from';

    /**
     * Bytes of names and values that are stored as headers. dueq's limit is 65,535, and includes a
     * few bytes for each header.
     */
    private const MOST = 50000;

    /**
     * @param array{body: string, headers?: array<string, string>} $encoded the output of a
     *     serializer
     * @param string|null $from the transport to which the message is sent, if it has a dead-letter
     *     queue; else null
     * @return array{body: string, headers: array<string, string>}
     */
    public static function write(array $encoded, bool $isUnique, ?string $from): array
    {
        [$body, $headers] = [$encoded['body'], array_map(strval(...), $encoded['headers'] ?? [])];
        $texts = [...array_keys($headers), ...array_values($headers)];
        if (strlen(implode('', $texts)) > self::MOST) {
            $text = json_encode(
                $headers,
                JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE,
            );
            [$body, $headers] = [$text . $body, [self::HEADERS => (string) strlen($text)]];
        }

        $own = ($isUnique ? [self::UNIQUE => '1'] : [])
            + ($from === null ? [] : [self::FROM => $from]);

        return ['body' => $body, 'headers' => $headers + $own];
    }

    /**
     * @return array{body: string, headers: array<string, string>} the input for a serializer
     * @throws MessageDecodingFailedException if the headers in front of the body are not JSON
     */
    public static function read(Message $message): array
    {
        [$body, $headers] = [$message->body, $message->headers];
        if (isset($headers[self::HEADERS])) {
            $length = (int) $headers[self::HEADERS];
            $headers = json_decode(substr($body, 0, $length), true);
            $body = substr($body, $length);
            if (!is_array($headers)) {
                throw new MessageDecodingFailedException(
                    'The headers in front of the body are not JSON.',
                );
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
     * The transport to which a message was sent before dueq moved it to the dead-letter queue;
     * null: the message does not say.
     */
    public static function from(Message $message): ?string
    {
        return $message->headers[self::FROM] ?? null;
    }
}
