<?php

declare(strict_types=1);

namespace Dueq\Tests;

use BackedEnum;
use Dueq\GroupLimits;
use Dueq\Limits;
use Dueq\Message;
use Dueq\Stats;

/** Compares what a step expects with what the extension returned. */
trait Expectations
{
    private function assertReply(mixed $wanted, mixed $reply, string $where): void
    {
        if (is_array($wanted) && array_is_list($wanted)) {
            $this->assertIsArray($reply, $where);
            $this->assertCount(count($wanted), $reply, $where);
            array_map(
                fn ($one, $other) => $this->assertReply($one, $other, $where),
                $wanted,
                $reply,
            );
        } elseif ($wanted === null || is_int($reply)) {
            $this->assertSame($wanted, $reply, $where);
        } else {
            $this->assertSame($this->value($wanted), $reply, $where);
        }
    }

    /** @param list<Message> $messages */
    private function assertMessages(array $expect, array $messages, string $where): void
    {
        $this->assertCount(
            $expect['count'] ?? count($expect['messages'] ?? $messages),
            $messages,
            $where,
        );
        foreach ($expect['messages'] ?? [] as $index => $wanted) {
            $this->assertMessage($wanted, $messages[$index], $where);
        }
        if (isset($expect['ids'])) {
            $ids = array_map(fn ($message) => $message->id, $messages);
            $this->assertEqualsCanonicalizing($this->values($expect['ids']), $ids, $where);
        }
    }

    private function assertMessage(array $wanted, Message $message, string $where): void
    {
        if (isset($wanted['headers'])) {
            $headers = array_map(
                null,
                array_map('strval', array_keys($message->headers)),
                array_values($message->headers),
            );
            $this->assertSame(array_map($this->values(...), $wanted['headers']), $headers, $where);
        }
        $this->assertFields(array_diff_key($wanted, ['as' => 0, 'headers' => 0]), $message, $where);
        if (isset($wanted['as'])) {
            $this->captures[$wanted['as']] = [$message];
            $this->ids[$wanted['as']] = $message->id;
        }
    }

    private function assertFields(
        array $wanted,
        Message|Stats|Limits|GroupLimits $found,
        string $where,
    ): void {
        foreach ($wanted as $key => $value) {
            $name = lcfirst(
                str_replace('_', '', ucwords((string) preg_replace('/(_in)?_ms$/', '', $key), '_')),
            );
            $field = $found->{$name};
            $field = $field instanceof BackedEnum ? $field->value : $field;
            if (is_array($value) && array_is_list($value)) {
                $this->assertTrue(
                    $this->isIn($value, $field),
                    "$key is " . self::ms($field) . ", $where",
                );
            } elseif (str_ends_with($key, '_ms')) {
                $this->assertSame($value, self::ms($field), "$key, $where");
            } elseif (is_int($value) && !is_string($field)) {
                $this->assertSame($value, $field ?? 0, "$key, $where");
            } else {
                $this->assertSame(
                    is_bool($value) ? $value : $this->value($value),
                    $field ?? '',
                    "$key, $where",
                );
            }
        }
    }

    /** Whether $seconds is from $wanted[0] to $wanted[1] ms after the server's time. */
    private function isIn(array $wanted, ?float $seconds): bool
    {
        $distance = self::ms($seconds) - $this->serverMs();
        return $wanted[0] <= $distance && $distance <= $wanted[1];
    }
}
