<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Backoff;
use Dueq\Exception\InvalidException;
use Dueq\Jitter;
use Dueq\Message;
use Dueq\Replace;

/** What texts and drafts of a situation stand for. */
trait Values
{
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

    /** The arguments of Queue::push(). */
    private function draft(array $found): array
    {
        $draft = ['body' => $this->value($found['body'])] + self::seconds($found, [
            'delay_ms' => 'delay', 'at_ms' => 'at', 'lease_ms' => 'lease', 'ttl_ms' => 'ttl', 'unique_ms' => 'unique',
            'durable_timeout_ms' => 'durableTimeout',
        ]);
        foreach (['max_attempts' => 'maxAttempts', 'max_crashes' => 'maxCrashes'] as $key => $name) {
            if (isset($found[$key])) {
                $draft[$name] = $found[$key] ?: null;
            }
        }
        if (isset($found['dead_letter'])) {
            $draft['deadLetter'] = $this->queueName($found['dead_letter']);
        }
        $draft += array_intersect_key($found, ['priority' => 0, 'drop' => 0, 'replicas' => 0, 'disk' => 0]);
        foreach (['id', 'key'] as $name) {
            if (isset($found[$name])) {
                $draft[$name] = $this->value($found[$name]);
            }
        }
        foreach ($found['headers'] ?? [] as [$name, $text]) {
            $draft['headers'][$this->value($name)] = $this->value($text);
        }
        if (isset($found['backoff'])) {
            $draft['backoff'] = $this->backoff($found['backoff']);
        }
        if (isset($found['replace'])) {
            $draft['replace'] = ['refuse' => null, 'replace' => Replace::Message, 'replace_body' => Replace::Body][$this->value($found['replace'])];
        }
        return $draft;
    }

    private function backoff(array $found): float|array|Backoff
    {
        $kind = $this->value($found['kind']);
        $delays = array_map(fn (int $ms) => $ms / 1000, $found['list_ms'] ?? []);
        $times = self::seconds($found, ['base_ms' => 'base', 'cap_ms' => 'cap']);
        $jitter = Jitter::from($found['jitter'] ?? 'none');
        if (($kind === 'list') !== isset($found['list_ms']) || ($kind === 'list' && $times) || $kind === 'default') {
            throw new InvalidException('PHP has no words for this', -1);
        }
        return match ($kind) {
            'list' => $jitter === Jitter::None ? $delays : Backoff::list($delays, $jitter),
            'fixed' => $jitter === Jitter::None ? $times['base'] ?? 0.0 : Backoff::fixed($times['base'], $jitter),
            'linear' => Backoff::linear(...$times + ['base' => 0.0, 'jitter' => $jitter]),
            'exponential' => Backoff::exponential(...$times + ['base' => 0.0, 'jitter' => $jitter]),
        };
    }

    /**
     * What is there of some milliseconds, as arguments.
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
