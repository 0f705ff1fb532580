<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Exception\DueqException;
use Dueq\Message;
use Dueq\Queue;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

require_once __DIR__ . '/../php/Server.php';

/** Runs the situations of this folder (README.md has their format) on the PHP extension. */
final class ContractTest extends TestCase
{
    private static ?Server $server = null;

    /** @var array<int, string> names of the statuses by number */
    private static array $statuses = [];

    private Queue $queue;

    /** The name of $queue. */
    private string $name;

    /** The name of the situation, and of its first queue. */
    private string $situation;

    private ?string $each;

    /** @var array<string, list<Message>> */
    private array $captures = [];

    /** @var array<string, string> */
    private array $ids = [];

    public static function setUpBeforeClass(): void
    {
        self::$server ??= new Server();
        $header = (string) file_get_contents(__DIR__ . '/../../core/dueq.h');
        preg_match_all('/^ +X\((-?\d+), (\w+),/m', $header, $rows, PREG_SET_ORDER);
        foreach ($rows as [, $number, $name]) {
            self::$statuses[(int) $number] = $name;
        }
    }

    /** @return iterable<string, array{string, ?string, bool, list<array>}> */
    public static function situations(): iterable
    {
        foreach (glob(__DIR__ . '/*.json') as $path) {
            foreach (json_decode((string) file_get_contents($path), true, 64, JSON_THROW_ON_ERROR) as $found) {
                foreach ($found['each'] ?? [null] as $index => $each) {
                    $name = "test_{$found['name']}" . ($each === null ? '' : '_' . ($index + 1));
                    yield $name => [$name, $each, $found['damaged'] ?? false, $found['steps']];
                }
            }
        }
    }

    /**
     * @dataProvider situations
     * @param list<array> $steps
     */
    #[DataProvider('situations')]
    public function testContract(string $situation, ?string $each, bool $damaged, array $steps): void
    {
        $this->situation = $this->name = $situation;
        $this->each = $each;
        $this->queue = new Queue($situation, self::$server->url());
        foreach ($steps as $index => $step) {
            $where = 'each ' . json_encode($each) . ', step ' . ($index + 1) . ': ' . json_encode($step);
            $this->step($step, $where);
        }
        $this->assertSame([], $this->script('check', $damaged ? '1' : '0'));
    }

    // Values

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
            $last === 'id' => $this->ids[$first],
            $last === 'ticket' => end($this->captures[$first])->ticket,
        };
    }

    // The server beside the extension

    private function command(string ...$words): mixed
    {
        $reply = self::$server->command(...$words);
        if (is_string($reply) && preg_match('/^-[A-Z]+ /', $reply)) {
            $this->fail($reply);
        }
        return $reply;
    }

    private function script(string $name, string ...$arguments): mixed
    {
        $source = (string) file_get_contents(__DIR__ . "/$name.lua");
        return $this->command('EVAL', $source, '1', $this->variable('key.'), ...$arguments);
    }

    private function serverMs(): int
    {
        [$seconds, $micros] = $this->command('TIME');
        return $seconds * 1000 + intdiv((int) $micros, 1000);
    }

    // Steps

    private function step(array $step, string $where): void
    {
        $expect = $step['expect'] ?? [];
        if ($step['do'] === 'redis' || is_file(__DIR__ . "/{$step['do']}.lua")) {
            $reply = $step['do'] === 'redis'
                ? $this->command(...$this->values($step['command']))
                : $this->script($step['do'], ...$this->values($step['args'] ?? []));
            if (array_key_exists('reply', $expect)) {
                $this->assertReply($expect['reply'], $reply, $where);
            }
            return;
        }
        try {
            $outcomes = $this->{$step['do']}($step, $expect, $where);
        } catch (DueqException $e) {
            $this->assertNotSame('', $e->getMessage(), $where);
            $outcomes = [self::$statuses[$e->getCode()]];
        }
        $others = array_values(array_diff($outcomes, ['OK']));
        $this->assertSame($expect['status'] ?? 'OK', $others[0] ?? 'OK', $where);
        $wanted = $expect['statuses'] ?? null;
        if ($wanted !== null) {
            $this->assertEquals($wanted, array_is_list($wanted) ? $outcomes : array_count_values($outcomes), $where);
        }
    }

    private function assertReply(mixed $wanted, mixed $reply, string $where): void
    {
        if (is_array($wanted) && array_is_list($wanted)) {
            $this->assertIsArray($reply, $where);
            $this->assertCount(count($wanted), $reply, $where);
            array_map(fn ($one, $other) => $this->assertReply($one, $other, $where), $wanted, $reply);
        } elseif ($wanted === null || is_int($reply)) {
            $this->assertSame($wanted, $reply, $where);
        } else {
            $this->assertSame($this->value($wanted), $reply, $where);
        }
    }

    private function open(array $step): array
    {
        $name = $this->value($step['name']);
        $this->queue = new Queue($name, self::$server->url());
        $this->name = $name;
        return ['OK'];
    }

    private function push(array $step, array $expect, string $where): array
    {
        $found = array_merge(...array_fill(0, $step['times'] ?? 1, $step['drafts'] ?? [$step]));
        $drafts = array_map($this->draft(...), $found);
        $ids = isset($step['drafts']) ? $this->queue->pushMany($drafts) : [$this->queue->push(...$drafts[0])];
        $this->assertCount(count($found), $ids, $where);
        foreach ($ids as $index => $id) {
            if ($id !== null) {
                $own = $drafts[$index]['id'] ?? null;
                $own === null ? $this->assertSame(22, strlen($id), $where) : $this->assertSame($own, $id, $where);
                $this->ids[$found[$index]['as'] ?? ''] = $id;
            }
        }
        return array_map(fn ($id) => $id === null ? 'DUPLICATE' : 'OK', $ids);
    }

    /** The arguments of Queue::push(). */
    private function draft(array $found): array
    {
        $draft = ['body' => $this->value($found['body'])]
            + self::seconds($found, ['delay_ms' => 'delay', 'at_ms' => 'at', 'lease_ms' => 'lease']);
        if (isset($found['id'])) {
            $draft['id'] = $this->value($found['id']);
        }
        if (isset($found['max_attempts'])) {
            $draft['maxAttempts'] = $found['max_attempts'] ?: null;
        }
        foreach ($found['headers'] ?? [] as [$name, $text]) {
            $draft['headers'][$this->value($name)] = $this->value($text);
        }
        return $draft;
    }

    private function reserve(array $step, array $expect, string $where): array
    {
        $timeout = ($step['timeout_ms'] ?? 0) / 1000;
        $lease = isset($step['lease_ms']) ? $step['lease_ms'] / 1000 : null;
        $messages = isset($step['count'])
            ? $this->queue->reserveMany($step['count'], $timeout, $lease)
            : array_filter([$this->queue->reserve($timeout, $lease)]);
        if (isset($step['as'])) {
            $this->captures[$step['as']] = $messages;
        }
        $this->assertCount($expect['count'] ?? count($expect['messages'] ?? $messages), $messages, $where);
        foreach ($expect['messages'] ?? [] as $index => $wanted) {
            $this->assertMessage($wanted, $messages[$index], $where);
        }
        return [$messages ? 'OK' : 'EMPTY'];
    }

    private function ack(array $step): array
    {
        $messages = isset($step['message']) ? $this->captures[$step['message']] : $this->values($step['tickets']);
        if (isset($step['message']) && count($messages) === 1) {
            $messages[0]->ack();
            return ['OK'];
        }
        return array_map(fn ($done) => $done ? 'OK' : 'LEASE_LOST', $this->queue->ackMany($messages));
    }

    private function retry(array $step): array
    {
        $delay = ($step['delay_ms'] ?? 0) / 1000;
        return [$this->message($step)->retry($delay, $this->value($step['error'] ?? '')) ? 'OK' : 'BURIED'];
    }

    private function extend(array $step): array
    {
        $this->message($step)->extend($step['lease_ms'] / 1000);
        return ['OK'];
    }

    private function bury(array $step): array
    {
        $this->message($step)->bury($this->value($step['reason'] ?? ''));
        return ['OK'];
    }

    private function cancel(array $step): array
    {
        return $this->byId($step, $this->queue->cancel(...), $this->queue->cancelMany(...));
    }

    private function kick(array $step): array
    {
        return $this->byId($step, $this->queue->kick(...), $this->queue->kickMany(...));
    }

    private function byId(array $step, callable $one, callable $many): array
    {
        $done = isset($step['ids']) ? $many($this->values($step['ids'])) : [$one($this->value($step['id']))];
        return array_map(fn ($each) => $each ? 'OK' : 'NOT_FOUND', $done);
    }

    private function reschedule(array $step): array
    {
        $due = self::seconds($step, ['delay_ms' => 'delay', 'at_ms' => 'at']);
        return [$this->queue->reschedule($this->value($step['id']), ...$due) ? 'OK' : 'NOT_FOUND'];
    }

    private function pause(): array
    {
        $this->queue->pause();
        return ['OK'];
    }

    private function resume(): array
    {
        $this->queue->resume();
        return ['OK'];
    }

    private function purge(array $step, array $expect, string $where): array
    {
        $purged = $this->queue->purge($step['state']);
        $this->assertSame($expect['purged'] ?? $purged, $purged, $where);
        return ['OK'];
    }

    private function find(array $step, array $expect, string $where): array
    {
        $message = $this->queue->find($this->value($step['id']));
        if ($message === null) {
            return ['NOT_FOUND'];
        }
        $this->assertSame($this->value($step['id']), $message->id, $where);
        $this->assertMessage($expect['message'] ?? [], $message, $where);
        return ['OK'];
    }

    private function stats(array $step, array $expect, string $where): array
    {
        $stats = $this->queue->stats();
        unset($expect['status']);
        foreach ($expect as $name => $wanted) {
            match ($name) {
                'next_ms' => $this->assertSame($wanted, self::ms($stats->next), "$name, $where"),
                'next_in_ms' => $this->assertDistance($wanted, $stats->next, "$name, $where"),
                default => $this->assertSame($wanted, $stats->$name, "$name, $where"),
            };
        }
        return ['OK'];
    }

    private function message(array $step): Message
    {
        return end($this->captures[$step['message']]);
    }

    private function assertMessage(array $wanted, Message $message, string $where): void
    {
        foreach ($wanted as $name => $value) {
            $what = "$name, $where";
            match ($name) {
                'as' => null,
                'time_ms' => $this->assertSame($value, self::ms($message->time), $what),
                'time_in_ms' => $this->assertDistance($value, $message->time, $what),
                'created_in_ms' => $this->assertDistance($value, $message->createdAt, $what),
                'attempt' => $this->assertSame($value, $message->attempt, $what),
                'max_attempts' => $this->assertSame($value, $message->maxAttempts ?? 0, $what),
                'headers' => $this->assertHeaders($value, $message->headers, $what),
                default => $this->assertSame($this->value($value), $message->$name, $what),
            };
        }
        if (isset($wanted['as'])) {
            $this->captures[$wanted['as']] = [$message];
            $this->ids[$wanted['as']] = $message->id;
        }
    }

    private function assertHeaders(array $wanted, array $headers, string $where): void
    {
        $this->assertSame(array_map($this->values(...), $wanted), array_map(
            fn ($name, $text) => [(string) $name, $text],
            array_keys($headers),
            $headers,
        ), $where);
    }

    /** A point of time that is so many milliseconds from now by the server's clock. */
    private function assertDistance(array $wanted, ?float $seconds, string $where): void
    {
        $distance = self::ms($seconds) - $this->serverMs();
        $this->assertGreaterThanOrEqual($wanted[0], $distance, $where);
        $this->assertLessThanOrEqual($wanted[1], $distance, $where);
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
