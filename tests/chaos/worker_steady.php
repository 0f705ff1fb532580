<?php

/*
 * A worker in PHP whose handler never fails:
 * php worker_steady.php ROLE LEDGER URL QUEUE NUMBER SEED RATE STOP
 *
 * It consumes from QUEUE until it gets SIGTERM, also when the server was away. Only a poison
 * message kills it. README.md says what it writes to LEDGER.
 */

declare(strict_types=1);

use Dueq\Consumer;
use Dueq\Exception\DueqException;
use Dueq\Message;
use Dueq\Queue;

require __DIR__ . '/worker_common.php';

function key_of(Message $message): string
{
    return strtok($message->body, ' ') . ' ' . $message->deliveries;
}

final class Steady extends WorkerBase
{
    private bool $ended = false;
    private bool $begun = false;

    public function consume(Queue $queue): void
    {
        pcntl_async_signals(true);
        $lease = mt_rand(1500, 2500);
        $prefetch = one_of([1, 5, 20, 100]);
        $loop = one_of([$this->work(...), $this->each(...)]);
        while (!$this->ended) {
            $consumer = $queue->consume($prefetch, $lease / 1000);
            pcntl_signal(SIGTERM, function () use ($consumer): void {
                $this->ended = true;
                $consumer->stop();
            });
            try {
                $loop($consumer, $lease);
            } catch (DueqException $error) {
                // A loop that never reached its server ends at once.
                if ($this->begun) {
                    throw $error;
                }
                $this->note([
                    "error {$error->getCode()} loop " . strtr($error->getMessage(), "\n", ' '),
                ]);
                usleep(100_000);
            }
        }
    }

    private function work(Consumer $consumer, int $lease): void
    {
        $consumer->work(fn (Message $message) => $this->handle($message, $lease));
    }

    private function each(Consumer $consumer, int $lease): void
    {
        foreach ($consumer as $message) {
            $this->handle($message, $lease);
            $key = key_of($message);
            [$status] = $this->call('ack', fn () => $message->ack());
            if ($status === 0 || $status === LEASE_LOST) {
                $this->note($this->settled('acked', $status, $key));
            }
        }
    }

    /** Works for as long as the message says. A poison message kills the process. */
    private function handle(Message $message, int $lease): void
    {
        $this->begun = true;
        $key = key_of($message);
        $end = (int) round($message->time * 1000);
        $this->note([
            "alive {$this->number} " . nowMs(),
            "begun $key " . ($end - $lease) . " $end {$message->queue} {$message->attempt}"
                . " {$message->crashes} {$this->number}",
        ]);
        [, $kind, $ms] = explode(' ', $message->body);
        if ($kind === 'poison') {
            $this->note(["dying $key " . nowMs()]);
            posix_kill(posix_getpid(), one_of([SIGKILL, SIGSEGV]));
        }
        $until = nowMs() + (int) $ms;
        while (($left = $until - nowMs()) > 0 && !$this->ended) {
            usleep(min($left, 500) * 1000);
            $this->note(["alive {$this->number} " . nowMs()]);
        }
        $this->note(["acking $key " . nowMs() . ' -']);
    }
}

[, , $ledger, $url, $queue, $number, $seed, , $stop] = $argv;
mt_srand((int) $seed);
(new Steady($ledger, $number, $stop))->consume(new Queue($queue, $url));
