<?php

declare(strict_types=1);

namespace Dueq\Worker;

use UnexpectedValueException;

/**
 * Encodes arguments as {"args":[...],"kwargs":{...}}, as the same bytes as in Python. Decoding
 * makes arrays of JSON's objects, and text of integers beyond 64 bits.
 */
final class Json implements Serializer
{
    private const WRITE = JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES
        | JSON_UNESCAPED_LINE_TERMINATORS | JSON_PRESERVE_ZERO_FRACTION | JSON_THROW_ON_ERROR;

    /** How deep arrays may be nested: the limit of json_encode(). */
    private const DEPTH = 512;

    private const READ = JSON_OBJECT_AS_ARRAY | JSON_BIGINT_AS_STRING | JSON_THROW_ON_ERROR;

    /** @throws \JsonException */
    public static function write(mixed $value): string
    {
        self::refuseObjects($value);

        return json_encode($value, self::WRITE);
    }

    /** @throws \JsonException */
    public static function read(string $text): mixed
    {
        return json_decode($text, null, 512, self::READ);
    }

    /** Whether json_encode() writes an object as every language reads it. */
    public static function has(object $value): bool
    {
        // A date of Carbon is JsonSerializable, but in a form of its own.
        return ($value instanceof \JsonSerializable && !$value instanceof \DateTimeInterface)
            || $value instanceof \BackedEnum
            || $value instanceof \stdClass;
    }

    /**
     * json_encode() would write only the public properties of any other object, and say nothing
     * about the rest.
     *
     * @throws \JsonException
     */
    private static function refuseObjects(mixed $value, int $depth = 0): void
    {
        if ($depth < self::DEPTH && (is_array($value) || $value instanceof \stdClass)) {
            foreach ($value as $inner) {
                self::refuseObjects($inner, $depth + 1);
            }
        } elseif (is_object($value) && !self::has($value)) {
            throw new \JsonException('JSON has no form for an object of ' . $value::class);
        }
    }

    /**
     * @param list<mixed> $args
     * @param array<string, mixed> $kwargs
     * @throws \JsonException
     */
    public function encode(array $args, array $kwargs): string
    {
        return self::write(['args' => $args, 'kwargs' => (object) $kwargs]);
    }

    /**
     * @return array{list<mixed>, array<string, mixed>}
     * @throws \JsonException
     * @throws UnexpectedValueException
     */
    public function decode(string $body): array
    {
        $read = self::read($body);
        if (!is_array($read) || array_diff_key($read, ['args' => 0, 'kwargs' => 0]) !== []) {
            throw new UnexpectedValueException(
                'the body of a task is {"args": [...], "kwargs": {...}}',
            );
        }
        [$args, $kwargs] = [$read['args'] ?? [], $read['kwargs'] ?? []];
        if (!is_array($args) || !array_is_list($args)) {
            throw new UnexpectedValueException('args of a task is a list');
        }
        if (!is_array($kwargs) || array_filter(array_keys($kwargs), is_int(...)) !== []) {
            throw new UnexpectedValueException(
                'kwargs of a task is an object whose keys are names',
            );
        }

        return [$args, $kwargs];
    }
}
