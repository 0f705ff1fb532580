<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Backoff;
use Dueq\Exception\InvalidException;
use Dueq\Jitter;
use Dueq\Message;
use Dueq\Queue;
use Dueq\Replace;

/** Turns the texts and drafts of a situation into values and arguments. */
trait Values
{
    private const REPLACE = [
        'refuse' => null,
        'replace' => Replace::Message,
        'replace_body' => Replace::Body,
    ];

    /** The queue in use. */
    private string $name;

    /** The name of the situation, and of its first queue. */
    private string $situation;

    private ?string $each;

    /** @var array<string, true> all queues that steps named */
    private array $names = [];

    /** @var array<string, list<Message>> */
    private array $captures = [];

    /** @var array<string, string> */
    private array $ids = [];

    private function value(string|int|array $found): string
    {
        if (is_int($found)) {
            return (string) $found;
        }
        if (is_string($found)) {
            return $this->expand($found);
        }
        if (isset($found['hex'])) {
            return (string) hex2bin($this->value($found['hex']));
        }
        if (isset($found['repeat'])) {
            return str_repeat($this->value($found['repeat'][0]), $found['repeat'][1]);
        }
        return implode('', $this->values($found['join']));
    }

    /** @return list<string> */
    private function values(array $found): array
    {
        return array_map($this->value(...), $found);
    }

    private function queueName(string|array $found): string
    {
        $name = $this->value($found);
        $this->names[$name] = true;
        return $name;
    }

    private function expand(string $text): string
    {
        while (preg_match('/\$\{([^${}]*)\}/', $text, $found, PREG_OFFSET_CAPTURE)) {
            [[$all, $at], [$name]] = $found;
            $before = substr($text, 0, $at);
            $after = substr($text, $at + strlen($all));
            if (!str_contains($before, '${')) {
                return $before . $this->variable($name) . $this->expand($after);
            }
            // "${key.${each}}"
            $text = $before . $this->variable($name) . $after;
        }
        return $text;
    }

    private function variable(string $name): string
    {
        [$first, $last] = explode('.', $name, 2) + [1 => ''];
        return match (true) {
            $name === 'each' => $this->each,
            $name === 'queue' => $this->situation,
            $first === 'key' => "dueq:{{$this->name}}:$last",
            $last === 'reserved' => $this->jobs[$first]->reserved,
            $last === 'id' => $this->ids[$first],
            $last === 'ticket' => end($this->captures[$first])->ticket,
        };
    }

    private function draft(array $found): array
    {
        return ['body' => $this->value($found['body'])] + $this->options('push', $found);
    }

    /**
     * The options of a method of Queue. Each key is a parameter's name in snake case.
     */
    private function options(string $method, array $found): array
    {
        $options = [];
        foreach ((new \ReflectionMethod(Queue::class, $method))->getParameters() as $parameter) {
            $name = $parameter->getName();
            $key = strtolower(preg_replace('/[A-Z]/', '_$0', $name));
            $type = (string) $parameter->getType();
            $value = $found[$key] ?? null;
            if (isset($found["{$key}_ms"])) {
                $options[$name] = $found["{$key}_ms"] / 1000;
            } elseif ($value === null || $name === 'body') {
                continue;
            } else {
                $options[$name] = match (true) {
                    $name === 'backoff' => $this->backoff($value),
                    $name === 'deadLetter' => $this->queueName($value),
                    $name === 'headers' => $this->headers($value),
                    $name === 'replace' => self::REPLACE[$this->value($value)],
                    $type === '?int' => $value ?: null,
                    $type === '?string' => $this->value($value),
                    default => $value,
                };
            }
        }
        return $options;
    }

    /**
     * @param list<array{string|array, string|array}> $pairs
     * @return array<string, string>
     */
    private function headers(array $pairs): array
    {
        $headers = [];
        foreach ($pairs as [$name, $text]) {
            $headers[$this->value($name)] = $this->value($text);
        }
        return $headers;
    }

    private function backoff(array $found): float|array|Backoff
    {
        $kind = $this->value($found['kind']);
        $delays = array_map(fn (int $ms) => $ms / 1000, $found['list_ms'] ?? []);
        $times = self::seconds($found, ['base_ms' => 'base', 'cap_ms' => 'cap']);
        $jitter = Jitter::from($found['jitter'] ?? 'none');
        if (
            ($kind === 'list') !== isset($found['list_ms'])
            || ($kind === 'list' && $times)
            || $kind === 'default'
        ) {
            throw new InvalidException('PHP has no words for this', -1);
        }
        return match ($kind) {
            'list' => $jitter === Jitter::None ? $delays : Backoff::list($delays, $jitter),
            'fixed' => $jitter === Jitter::None
                ? $times['base'] ?? 0.0
                : Backoff::fixed($times['base'], $jitter),
            'linear' => Backoff::linear(...$times + ['base' => 0.0, 'jitter' => $jitter]),
            'exponential' => Backoff::exponential(...$times + ['base' => 0.0, 'jitter' => $jitter]),
        };
    }

    /**
     * The times in milliseconds that $found has, as arguments in seconds.
     *
     * @param array<string, string> $names of the arguments, by key
     */
    private static function seconds(array $found, array $names): array
    {
        $seconds = [];
        foreach ($names as $key => $name) {
            if (isset($found[$key])) {
                $seconds[$name] = $found[$key] / 1000;
            }
        }
        return $seconds;
    }

    private static function ms(?float $seconds): int
    {
        return (int) round(($seconds ?? 0) * 1000);
    }
}
