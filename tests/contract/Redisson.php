<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Exception\CorruptException;
use Dueq\Exception\InvalidException;
use Dueq\Interop\Moved;
use Dueq\Interop\Sizes;
use Dueq\Redisson\Binary;
use Dueq\Redisson\Codec;
use Dueq\Redisson\DelayedQueue;
use Dueq\Redisson\Layout;
use Dueq\Redisson\Long;
use Dueq\Redisson\Unreadable;

/** The steps on a delayed queue of Redisson's. */
trait Redisson
{
    private DelayedQueue $redisson;

    private function typed(mixed $found): mixed
    {
        if (is_string($found)) {
            return $this->value($found);
        }
        if (!is_array($found)) {
            return $found;
        }
        $value = current($found);
        return match (key($found)) {
            'long' => new Long($value),
            'double' => ['nan' => NAN, 'inf' => INF, '-inf' => -INF, '-0.0' => -0.0][$value],
            'text' => $this->value($value),
            'binary' => new Binary($this->value($value)),
            'json' => $this->json($value, false),
            'nested' => self::nested($value),
        };
    }

    private function json(mixed $text, bool $arrays): mixed
    {
        $value = json_decode($this->value($text), $arrays, 2000, JSON_BIGINT_AS_STRING);
        return json_last_error()
            ? throw new InvalidException('PHP has no words for this', -1)
            : $value;
    }

    private static function nested(int $depth): array
    {
        for ($value = []; $depth > 1; $depth--) {
            $value = [$value];
        }
        return $value;
    }

    /** A value that was read back, as a text that differs for different values. */
    private static function shown(mixed $value): string
    {
        return $value instanceof Unreadable
            ? 'unreadable ' . bin2hex($value->raw)
            : var_export($value, true);
    }

    private function expected(mixed $found): string
    {
        if (isset($found['unreadable'])) {
            return 'unreadable ' . bin2hex($this->value($found['unreadable']));
        }
        if (isset($found['json'])) {
            return self::shown($this->json($found['json'], true));
        }
        $value = $this->typed($found);
        return self::shown(
            $value instanceof Long
                ? $value->value
                : ($value instanceof Binary ? $value->bytes : $value),
        );
    }

    private function assertValues(array $expect, array $values, string $where): void
    {
        $this->assertCount($expect['count'] ?? count($values), $values, $where);
        if (isset($expect['values'])) {
            $this->assertSame(
                array_map($this->expected(...), $expect['values']),
                array_map(self::shown(...), $values),
                $where,
            );
        }
    }

    private function doRedissonOpen(array $step): void
    {
        $name = $this->value($step['destination'] ?? '${queue}');
        $codec = Codec::tryFrom($this->value($step['codec'] ?? 'kryo5'));
        $layout = isset($step['layout']) ? Layout::tryFrom($step['layout']) : null;
        if ($codec === null || ($layout === null) === isset($step['layout'])) {
            throw new InvalidException('PHP has no words for this', -1);
        }
        $this->redisson = new DelayedQueue($name, self::url(), $codec, $layout);
    }

    private function doRedissonOffer(array $step): void
    {
        $due = self::seconds($step, ['delay_ms' => 'delay', 'at_ms' => 'at']);
        if (isset($step['values'])) {
            $values = array_map($this->typed(...), $step['values']);
            $this->redisson->offerMany(
                array_merge(...array_fill(0, $step['times'] ?? 1, $values)),
                ...$due,
            );
        } else {
            $this->redisson->offer($this->typed($step['value']), ...$due);
        }
    }

    private function doRedissonTransfer(array $step, array $expect, string $where): array
    {
        $moved = $this->redisson->transfer(($step['timeout_ms'] ?? 0) / 1000, $step['most'] ?? 200);
        return $this->moved($moved, $expect, $where);
    }

    private function doRedissonTake(array $step, array $expect, string $where): array
    {
        $timeout = ($step['timeout_ms'] ?? 0) / 1000;
        return isset($step['count'])
            ? $this->read($this->redisson->takeMany($step['count'], $timeout), $expect, $where)
            : $this->readOne(fn () => $this->redisson->take($timeout), $expect, $where);
    }

    private function doRedissonPoll(array $step, array $expect, string $where): array
    {
        return isset($step['count'])
            ? $this->read($this->redisson->pollMany($step['count']), $expect, $where)
            : $this->readOne($this->redisson->poll(...), $expect, $where);
    }

    private function doRedissonPeek(array $step, array $expect, string $where): array
    {
        return $this->read($this->redisson->peek($step['count'] ?? 1), $expect, $where);
    }

    private function read(array $values, array $expect, string $where): array
    {
        $this->assertValues($expect, $values, $where);
        return [$values ? 'OK' : 'EMPTY'];
    }

    private function readOne(callable $verb, array $expect, string $where): array
    {
        try {
            $value = $verb();
        } catch (CorruptException $e) {
            $wanted = array_map($this->expected(...), $expect['values'] ?? []);
            $this->assertSame(
                $wanted ?: ['unreadable ' . bin2hex($e->raw)],
                ['unreadable ' . bin2hex($e->raw)],
                $where,
            );
            throw $e;
        }
        return $this->read($value === null ? [] : [$value], $expect, $where);
    }

    private function doRedissonRemove(array $step): array
    {
        return [$this->redisson->remove($this->typed($step['value'])) ? 'OK' : 'NOT_FOUND'];
    }

    private function doRedissonContains(array $step): array
    {
        return [$this->redisson->contains($this->typed($step['value'])) ? 'OK' : 'NOT_FOUND'];
    }

    private function doRedissonSize(array $step, array $expect, string $where): void
    {
        $this->assertFigures($expect, $this->redisson->size(), $where);
    }

    private function doRedissonClear(array $step, array $expect, string $where): void
    {
        $cleared = $this->redisson->clear();
        $this->assertSame($expect['cleared'] ?? $cleared, $cleared, $where);
    }

    private function moved(Moved $moved, array $expect, string $where): array
    {
        $this->assertFigures($expect, $moved, $where);
        return [$moved->moved + $moved->quarantined ? 'OK' : 'EMPTY'];
    }

    private function assertFigures(array $expect, Sizes|Moved $found, string $where): void
    {
        foreach (array_diff_key($expect, ['status' => 0]) as $key => $wanted) {
            $number = $found->{preg_replace('/(_in)?_ms$/', '', $key)};
            if (is_array($wanted)) {
                $this->assertTrue(
                    $this->isIn($wanted, $number),
                    "$key is " . self::ms($number) . ", $where",
                );
            } else {
                $this->assertSame(
                    $wanted,
                    str_ends_with($key, '_ms') ? self::ms($number) : $number,
                    "$key, $where",
                );
            }
        }
    }
}
