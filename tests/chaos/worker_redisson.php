<?php

/*
 * The worker of the chaos run on delayed queues of Redisson's, in PHP:
 * php worker_redisson.php ROLE LEDGER URL QUEUE AWAY NUMBER SEED RATE STOP
 *
 * It is what worker_redisson.py is.
 */

declare(strict_types=1);

use Dueq\Redisson\DelayedQueue;

require __DIR__ . '/worker_common.php';

final class Worker extends WorkerBase
{
    /** @var list<DelayedQueue> */
    public readonly array $queues;
    private int $pushes = 0;

    /** @param list<string> $names two queues */
    public function __construct(
        string $ledger,
        string $url,
        array $names,
        string $number,
        string $stop,
    ) {
        parent::__construct($ledger, $number, $stop);
        $this->queues = array_map(fn (string $name) => new DelayedQueue($name, $url), $names);
    }

    public function produce(float $rate): void
    {
        foreach ($this->batches($rate) as $count) {
            $queue = $this->queues[(int) rare(0.05)];
            $marked = $this->offer($queue, $count);
            if ($marked && rare(0.1)) {
                $mark = array_rand($marked);
                $this->remove($queue, $mark, $marked[$mark]);
            }
        }
    }

    /**
     * Returns the values by their marks, if the server is known to have stored them.
     *
     * @return array<string, string>
     */
    private function offer(DelayedQueue $queue, int $count): array
    {
        $begin = nowMs();
        $later = mt_rand(0, 3000);
        $kind = chance();
        $delay = $kind < 0.6 ? $later / 1000 : null;
        $at = $kind >= 0.6 && $kind < 0.8 ? ($begin + $later) / 1000 : null;
        $due = $begin + ($kind < 0.8 ? $later : 0);
        $first = $this->number . '.' . ($this->pushes + 1);
        $values = $lines = [];
        for ($i = 0; $i < $count; $i++) {
            $mark = $this->number . '.' . ++$this->pushes;
            $values[$mark] = "$mark " . padding();
            $lines[] = "intend $mark $due {$queue->destination} $first";
        }
        $this->note($lines);
        $marks = array_map(strval(...), array_keys($values));
        [$status] = $this->call(
            'offer',
            fn () => $queue->offerMany(array_values($values), $delay, $at),
        );
        $this->note($this->outcomes($marks, $status, $marks));
        return $status === 0 ? $values : [];
    }

    private function remove(DelayedQueue $queue, string $mark, string $value): void
    {
        $this->note(["removing $mark"]);
        [$status, $found] = $this->call('remove', fn () => $queue->remove($value));
        if ($status === 0) {
            $this->note([($found ? 'removed' : 'absent') . " $mark"]);
        }
    }

    public function consume(DelayedQueue $queue, int $most): void
    {
        $doubt = false;
        // The server may have given values in a reply that was lost: asks once more before the end.
        while (!$this->stopped() || $doubt) {
            $wait = one_of([0.0, chance(), 5.0]);
            $doubt = $this->take($queue, one_of([1, min($most, 5), $most]), $wait, $doubt);
            if (rare($doubt ? 0.3 : 0.01) && !$this->stopped()) {
                $this->offer($queue, 1);
            }
        }
    }

    /** Returns whether the outcome of this take, or of an earlier one ($doubt), is unknown. */
    private function take(DelayedQueue $queue, int $count, float $wait, bool $doubt): bool
    {
        $this->note(["asking $count {$queue->destination}"]);
        [$status, $values] = $this->call('take', fn () => $queue->takeMany($count, $wait));
        $end = nowMs();
        if ($values) {
            $this->note(array_map(
                fn (string $value) => 'took ' . strtok($value, ' ') . " $end {$queue->destination}",
                $values,
            ));
        } elseif ($status === 0) {
            $this->note(['empty']);
        }
        if (rare(0.05)) {
            usleep((int) (chance() * 500_000));
        }
        return $status !== 0 && ($doubt || in_array($status, UNKNOWN, true));
    }

    public function drain(): void
    {
        $doubts = [false, false];
        while (!$this->stopped() || in_array(true, $doubts, true)) {
            foreach ($this->queues as $i => $queue) {
                $doubts[$i] = $this->take($queue, 200, 0.3, $doubts[$i]);
            }
        }
    }

    public function move(): void
    {
        while (!$this->stopped()) {
            $queue = one_of($this->queues);
            $wait = one_of([0.0, chance(), 3.0]);
            $end = microtime(true) + $wait;
            if (rare(0.5)) {
                $this->call('transfer', fn () => $queue->transfer($wait, mt_rand(1, 200)));
            } else {
                $until = fn () => $this->stopped() || microtime(true) > $end;
                $this->call('transfer', fn () => $queue->runTransfer($until));
            }
            $this->note(['empty']);
        }
    }
}

[, $role, $ledger, $url, $queue, $away, $number, $seed, $rate, $stop] = $argv;
mt_srand((int) $seed);
$worker = new Worker($ledger, $url, [$queue, $away], $number, $stop);
match ($role) {
    'produce' => $worker->produce((float) $rate),
    'consume' => $worker->consume($worker->queues[0], 50),
    'gamble' => $worker->consume($worker->queues[1], 1),
    'move' => $worker->move(),
    'drain' => $worker->drain(),
};
