<?php

/*
 * The worker of the chaos run on a queue of Laravel's, in PHP:
 * php worker_laravel.php ROLE LEDGER URL QUEUE NUMBER SEED RATE STOP
 *
 * It is what worker_laravel.py is.
 */

declare(strict_types=1);

use Dueq\Laravel\Job as LaravelJob;
use Dueq\Laravel\Queue as LaravelQueue;

require __DIR__ . '/worker_common.php';

/** Rounds up to a whole second, in ms. */
function second(int $ms): int
{
    return intdiv($ms + 999, 1000) * 1000;
}

function key_of(LaravelJob $job): string
{
    return "{$job->data['mark']} {$job->attempts}";
}

final class Worker extends WorkerBase
{
    private LaravelQueue $queue;
    private int $pushes = 0;

    public function __construct(
        string $ledger,
        string $url,
        string $queue,
        string $number,
        string $stop,
    ) {
        parent::__construct($ledger, $number, $stop);
        $this->queue = new LaravelQueue($queue, $url);
    }

    public function produce(float $rate): void
    {
        foreach ($this->batches($rate) as $count) {
            $jobs = $marks = $lines = [];
            for ($i = 0; $i < $count; $i++) {
                $marks[] = $mark = $this->number . '.' . ++$this->pushes;
                $begin = nowMs();
                $later = mt_rand(1, 3000);
                $kind = chance();
                // A time that has passed when the push comes to the server is not rounded.
                $due = $kind < 0.4
                    ? second($begin + $later)
                    : ($kind < 0.5 ? $begin + $later : $begin);
                $jobs[] = [
                    'job' => 'App\Jobs\Chaos@handle',
                    'data' => [
                        'mark' => $mark,
                        'padding' => padding(),
                        'odd' => [1.0, new stdClass()],
                    ],
                    'delay' => $kind < 0.4 ? $later / 1000 : null,
                    'at' => $kind >= 0.4 && $kind < 0.5 ? ($begin + $later) / 1000 : null,
                ];
                $lines[] = "intend $mark $due {$this->queue->name} {$marks[0]}";
            }
            $this->note($lines);
            [$status, $ids] = $this->call('push', fn () => $this->queue->pushMany($jobs));
            $this->note($this->outcomes($marks, $status, $ids));
        }
    }

    public function consume(bool $calm): void
    {
        while (!$this->stopped()) {
            $retryAfter = mt_rand(1, 3);
            $count = one_of([1, 1, 5, 20]);
            $wait = one_of([0.0, chance(), $calm ? 1.0 : 5.0]);
            $this->note(["asking $count {$this->queue->name}"]);
            [$status, $jobs] = $this->call(
                'pop',
                fn () => $this->queue->popMany($count, $wait, (float) $retryAfter),
            );
            $end = nowMs();
            if (!$jobs) {
                $this->note($status === 0 ? ['empty'] : []);
                continue;
            }
            $this->note(array_map(fn (LaravelJob $job) => 'got ' . key_of($job) . " $end "
                . 1000 * $retryAfter . ' ' . (int) round($job->until * 1000), $jobs));
            $this->delete($calm ? $jobs : $this->mischief($jobs, $retryAfter));
        }
    }

    /**
     * Waits at times, releases some jobs and forgets some. Returns the jobs to delete.
     *
     * @param list<LaravelJob> $jobs
     * @return list<LaravelJob>
     */
    private function mischief(array $jobs, int $retryAfter): array
    {
        $dawdle = chance();
        if ($dawdle < 0.15) {
            usleep((int) (chance() * ($dawdle < 0.04 ? $retryAfter + 1.2 : 0.2) * 1e6));
        }
        $rest = [];
        foreach ($jobs as $job) {
            if (rare(0.04)) {
                $delay = mt_rand(0, 1) * mt_rand(1, 1500);
                $begin = nowMs();
                $again = $delay ? second($begin + $delay) : $begin;
                $this->note(['releasing ' . key_of($job) . " $begin $again"]);
                [$status] = $this->call('release', fn () => $job->release($delay / 1000));
                $this->note($this->settled('released', $status, key_of($job)));
            } elseif (!rare(0.01)) {
                $rest[] = $job;
            }
        }
        return $rest;
    }

    /** @param list<LaravelJob> $jobs */
    private function delete(array $jobs): void
    {
        $begin = nowMs();
        $this->note(array_map(fn ($job) => 'deleting ' . key_of($job) . " $begin -", $jobs));
        if (rare(0.8)) {
            [$status, $done] = $this->call('delete', fn () => $this->queue->deleteMany($jobs));
            foreach ($jobs as $i => $job) {
                $one = $status === 0 && !$done[$i] ? LEASE_LOST : $status;
                $this->note($this->settled('deleted', $one, key_of($job)));
            }
            return;
        }
        foreach ($jobs as $job) {
            [$status] = $this->call('delete', $job->delete(...));
            $this->note($this->settled('deleted', $status, key_of($job)));
        }
    }

    public function move(): void
    {
        while (!$this->stopped()) {
            $wait = one_of([0.0, chance(), 5.0]);
            $end = microtime(true) + $wait;
            if (rare(0.5)) {
                $this->call('migrate', fn () => $this->queue->migrate($wait, mt_rand(1, 200)));
            } else {
                $until = fn () => $this->stopped() || microtime(true) > $end;
                $this->call('migrate', fn () => $this->queue->runMigrate($until));
            }
            $this->note(['empty']);
        }
    }
}

[, $role, $ledger, $url, $queue, $number, $seed, $rate, $stop] = $argv;
mt_srand((int) $seed);
$worker = new Worker($ledger, $url, $queue, $number, $stop);
match ($role) {
    'produce' => $worker->produce((float) $rate),
    'move' => $worker->move(),
    default => $worker->consume($role === 'drain'),
};
