<?php

/* What every worker of a chaos run in PHP has: its ledger, its chance, its pace. */

declare(strict_types=1);

use Dueq\Exception\DueqException;

const DUPLICATE = 2;
const LEASE_LOST = 4;
const CONNECT = -10;
const READ_ONLY = -24;
const WRONG_TYPE = -27;
const UNKNOWN = [-11, -12, -34]; // CLOSED, TIMEOUT, NOT_DURABLE

/** The run's time: it feels no jump of this process's clock. */
function nowMs(): int
{
    return intdiv(hrtime(true) + (int) getenv('CHAOS_CLOCK'), 1_000_000);
}

function chance(): float
{
    return mt_rand() / mt_getrandmax();
}

function rare(float $share): bool
{
    return chance() < $share;
}

function one_of(array $list): mixed
{
    return $list[mt_rand(0, count($list) - 1)];
}

function padding(): string
{
    return str_repeat('x', mt_rand(0, 200));
}

abstract class WorkerBase
{
    /** @var resource */
    private $ledger;

    public function __construct(string $ledger, protected string $number, private string $stop)
    {
        $this->ledger = fopen($ledger, 'ab');
        stream_set_write_buffer($this->ledger, 0);
    }

    /** @param list<string> $lines */
    protected function note(array $lines): void
    {
        fwrite($this->ledger, $lines ? implode("\n", $lines) . "\n" : '');
    }

    /** Runs a call. Returns its status, and its answer if that is 0. */
    protected function call(string $verb, Closure $action): array
    {
        try {
            return [0, $action()];
        } catch (DueqException $error) {
            $status = $error->getCode();
            if ($status < 0) {
                $this->note(["error $status $verb " . strtr($error->getMessage(), "\n", ' ')]);
            }
            if (in_array($status, [CONNECT, READ_ONLY, WRONG_TYPE], true)) {
                usleep(50_000);
            }
            return [$status, null];
        }
    }

    protected function stopped(): bool
    {
        clearstatcache();
        return file_exists($this->stop);
    }

    /**
     * Yields how many messages to push next, each time when they are to be pushed. $rate: the most
     * messages a second.
     *
     * @return iterable<int>
     */
    protected function batches(float $rate): iterable
    {
        $begin = microtime(true);
        while (!$this->stopped()) {
            $count = one_of([1, 1, 5, 20, 50, 100]);
            yield $count;
            $begin = max($begin + $count / $rate, microtime(true) - 2);
            while (($left = $begin - microtime(true)) > 0 && !$this->stopped()) {
                usleep((int) (min($left, 0.5) * 1e6));
            }
        }
    }

    /** The ledger's lines about the outcome of a push. */
    protected function outcomes(array $marks, int $status, ?array $ids): array
    {
        $end = nowMs();
        $lines = [];
        foreach ($marks as $i => $mark) {
            $lines[] = match (true) {
                $status === 0 => isset($ids[$i]) ? 'accepted' : 'duplicate',
                in_array($status, UNKNOWN, true) => 'unknown',
                default => 'refused',
            } . " $mark $end";
        }
        return $lines;
    }

    /** The ledger's line about the outcome of a verb. $past: the verb's past participle. */
    protected function settled(string $past, int $status, string $key): array
    {
        return match (true) {
            $status === 0 => ["$past $key " . nowMs()],
            $status === LEASE_LOST => ["lost $key " . nowMs()],
            in_array($status, UNKNOWN, true) => [],
            default => ["undone $key"],
        };
    }
}
