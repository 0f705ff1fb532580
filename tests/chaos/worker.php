<?php

/*
 * The worker of the chaos run in PHP:
 * php worker.php ROLE LEDGER URL QUEUE AWAY FAR NUMBER SEED RATE STOP
 *
 * ROLE is produce, consume (from QUEUE and AWAY), reach (consume from FAR), or drain (consume from
 * all without mischief). The worker pushes to QUEUE and AWAY. Dead letters and successors go to all
 * three queues. The worker ends when the file STOP exists. README.md says what it writes to LEDGER.
 */

declare(strict_types=1);

use Dueq\Backoff;
use Dueq\Exception\FlushException;
use Dueq\Jitter;
use Dueq\Message;
use Dueq\Order;
use Dueq\Queue;
use Dueq\Queues;

require __DIR__ . '/worker_common.php';

const MOST = 200; // messages that one call may take
const PAST = [
    'ack' => 'acked',
    'retry' => 'retried',
    'release' => 'released',
    'bury' => 'buried',
    'extend' => 'extended',
];

/**
 * The probability that a worker lets the message fail. A message that failed before, or that has a
 * dead-letter queue, fails more often. From its sixth attempt on a message does not fail: its
 * backoff would last for minutes.
 */
function likely(Message $message): float
{
    $often = $message->deadLetter !== null || $message->attempt > 1;
    return $message->attempt >= 6 ? 0 : ($often ? 0.4 : 0.02);
}

function key_of(Message $message): string
{
    return strtok($message->body, ' ') . ' ' . $message->deliveries;
}

final class Worker extends WorkerBase
{
    /** @var array<string, Queue> by name */
    private array $queues = [];
    /** @var list<Queue|Queues> */
    private array $sources;
    /** @var array<string, ?Backoff> by name */
    private array $backoffs;
    private int $pushes = 0;

    /** @param list<string> $names three queues */
    public function __construct(
        string $role,
        string $ledger,
        string $url,
        private array $names,
        string $number,
        string $stop,
    ) {
        parent::__construct($ledger, $number, $stop);
        foreach ($names as $name) {
            $this->queues[$name] = new Queue($name, $url);
        }
        $of = match ($role) {
            'reach' => [$names[2]],
            'drain' => $names,
            default => [$names[0], $names[1]],
        };
        $this->sources = [
            ...array_map(fn ($name) => $this->queues[$name], $of),
            new Queues($of, $url),
            new Queues($of, $url, Order::RoundRobin),
        ];
        $this->backoffs = [
            'default' => null,
            'fixed:0:none' => Backoff::fixed(0),
            'fixed:150:none' => Backoff::fixed(0.15),
            'linear:60,150:none' => Backoff::linear(0.06, 0.15),
            'exponential:50,300:equal' => Backoff::exponential(0.05, 0.3, Jitter::Equal),
            'list:20,200,80:full' => Backoff::list([0.02, 0.2, 0.08], Jitter::Full),
        ];
    }

    public function produce(float $rate): void
    {
        foreach ($this->batches($rate) as $count) {
            $queue = $this->names[(int) rare(0.3)];
            $plain = rare(0.4);
            $again = [];
            for ($i = 0; $i < $count; $i++) {
                $again[] = $plain ? ['body' => padding()] : $this->draft(!rare(0.2));
            }
            if ($queue === $this->names[1]) {
                $again = array_map($this->grouped(...), $again);
            }
            for ($tries = 0; $again && $tries < 4 && !$this->stopped(); $tries++) {
                $again = $this->push($queue, $again);
            }
        }
    }

    /** A draft with random options. $own: the draft names its id. */
    private function draft(bool $own): array
    {
        $kind = chance();
        $later = mt_rand(20, 2000);
        $unique = rare(0.2);
        $this->pushes++;
        return [
            'body' => padding(),
            'delay' => $kind < 0.3 ? $later / 1000 : null,
            'at' => $kind >= 0.3 && $kind < 0.4 ? (nowMs() + $later) / 1000 : null,
            'id' => $own ? ($unique ? 'once' : 'own') . "-{$this->number}-{$this->pushes}" : null,
            'maxAttempts' => one_of([null, 1, 2, 5]),
            'lease' => rare(0.1) ? 1.5 : null,
            'priority' => one_of([1, 0, 0, -1]),
            'ttl' => rare(0.2) ? 86400.0 : null,
            'backoff' => one_of(array_values($this->backoffs)),
            'maxCrashes' => one_of([null, 1, 2, 5]),
            'deadLetter' => rare(0.5) ? one_of($this->names) : null,
            'unique' => $own && $unique ? 5.0 : null,
        ];
    }

    /** Only one queue has groups, so its messages do not move to another one. */
    private function grouped(array $draft): array
    {
        $group = ['group' => one_of(['a', 'b', 'c', 'd:%']), 'priority' => 0, 'deadLetter' => null];
        return rare(0.4) ? $draft : $group + $draft;
    }

    /**
     * Puts a mark into each draft. Returns the marks, and the ledger's lines about them.
     *
     * @param list<array> $drafts
     */
    private function intend(string $queue, array &$drafts): array
    {
        $marks = $lines = [];
        foreach ($drafts as $i => $draft) {
            $mark = $marks[] = $this->number . '.' . ++$this->pushes;
            $text = strrchr($draft['body'], ' ');
            $rest = $text === false ? $draft['body'] : substr($text, 1);
            $drafts[$i]['body'] = "$mark $rest";
            $due = isset($draft['at'])
                ? (int) floor($draft['at'] * 1000)
                : nowMs() + (int) floor(($draft['delay'] ?? 0) * 1000);
            $lines[] = implode(' ', [
                'intend',
                $mark,
                $draft['id'] ?? '-',
                $due,
                $queue,
                array_key_exists('maxAttempts', $draft) ? (int) $draft['maxAttempts'] : 16,
                array_key_exists('maxCrashes', $draft) ? (int) $draft['maxCrashes'] : 5,
                $draft['deadLetter'] ?? '-',
                array_search($draft['backoff'] ?? null, $this->backoffs, true),
            ]);
        }
        return [$marks, $lines];
    }

    /** Returns the drafts to push again: they name their id, and their outcome is unknown. */
    private function push(string $queue, array $drafts): array
    {
        [$marks, $lines] = $this->intend($queue, $drafts);
        foreach ($drafts as $i => $draft) {
            if (isset($draft['group']) && !isset($draft['delay']) && !isset($draft['at'])) {
                $lines[] = "grouped $marks[$i] {$draft['group']}";
            }
        }
        $this->note($lines);
        if (rare(0.5)) {
            return $this->fly($queue, $marks, $drafts);
        }
        [$status, $ids] = $this->call('push', fn () => $this->queues[$queue]->pushMany($drafts));
        $this->note($this->outcomes($marks, $status, $ids));
        return in_array($status, UNKNOWN, true)
            ? array_values(array_filter($drafts, fn (array $draft) => isset($draft['id'])))
            : [];
    }

    /** Does what push() does, by a pusher. */
    private function fly(string $queue, array $marks, array $drafts): array
    {
        $pusher = $this->queues[$queue]->pusher(30);
        foreach ($drafts as $draft) {
            $pusher->push(...$draft);
        }
        $failed = $again = $lines = $errors = [];
        try {
            $pusher->flush();
        } catch (FlushException $flushed) {
            $failed = $flushed->failures;
        }
        foreach ($drafts as $i => $draft) {
            $status = isset($failed[$i]) ? $failed[$i]->getCode() : 0;
            if ($status < 0) {
                $errors["error $status push " . strtr($failed[$i]->getMessage(), "\n", ' ')] = true;
            }
            $ids = $status === DUPLICATE ? [null] : [''];
            $known = $status === DUPLICATE ? 0 : $status;
            $lines = [...$lines, ...$this->outcomes([$marks[$i]], $known, $ids)];
            if (isset($draft['id']) && in_array($status, UNKNOWN, true)) {
                $again[] = $draft;
            }
        }
        $this->note([...$lines, ...array_keys($errors)]);
        return $again;
    }

    public function consume(bool $calm): void
    {
        while (!$this->stopped()) {
            $source = one_of($this->sources);
            if (!$calm && rare(0.5)) {
                $this->call('loop', fn () => $this->loop($source));
                continue;
            }
            $lease = mt_rand(1000, 2000);
            $count = one_of([1, 10, 50, 100, 200]);
            $wait = one_of([0.0, chance(), 5.0]);
            [, $messages] = $this->call(
                'reserve',
                fn () => $source->reserveMany($count, timeout: $wait, lease: $lease / 1000),
            );
            if (!$messages) {
                $this->note(['empty']);
                continue;
            }
            $lines = [];
            foreach ($messages as $message) {
                $end = (int) round($message->time * 1000);
                $lines[] = 'got ' . key_of($message) . ' ' . ($end - $lease) . " $end"
                    . " {$message->queue} {$message->attempt} {$message->crashes}";
            }
            $this->note($lines);
            $this->ack($calm ? $messages : $this->mischief($messages));
        }
    }

    /** Consumes by a loop with a heartbeat. Notes as done what was neither lost nor failed. */
    private function loop(Queue|Queues $source): void
    {
        $lease = mt_rand(1500, 2500);
        $left = mt_rand(1, 200);
        $noted = [];
        $consumer = $source->consume(mt_rand(1, 20), $lease / 1000, timeout: 0.5);
        $handler = function (Message $message) use ($lease, &$left, &$noted, $consumer): void {
            $end = (int) round($message->time * 1000);
            $this->note(['kept ' . key_of($message) . ' ' . ($end - $lease) . " $end"
                . " {$message->queue} {$message->attempt} {$message->crashes} {$this->number}"]);
            if (--$left === 0 || $this->stopped()) {
                $consumer->stop();
            }
            if (rare(0.01)) {
                usleep((int) (chance() * 4_000_000));
            }
            if (rare(likely($message))) {
                $this->note(['retrying ' . key_of($message) . ' ' . nowMs() . ' backoff']);
                throw new ArithmeticError();
            }
            if (rare(0.02)) {
                $this->settle('release', $message, nowMs() + 100, fn () => $message->release(0.1));
            } elseif (rare(0.1)) {
                $this->succeed($message);
            } else {
                $this->note(['acking ' . key_of($message) . ' ' . nowMs() . ' -']);
                $noted[] = key_of($message);
            }
        };
        $consumer->work($handler, static fn () => null);
        $time = nowMs();
        $this->note($consumer->lost() ? [] : array_map(fn ($one) => "acked $one $time", $noted));
        $this->note(['empty']);
    }

    /**
     * Waits at times, settles some messages by other verbs than ack, and forgets some. Returns the
     * messages to acknowledge.
     *
     * @param list<Message> $messages
     * @return list<Message>
     */
    private function mischief(array $messages): array
    {
        $dawdle = chance();
        if ($dawdle < 0.1) {
            usleep((int) (chance() * ($dawdle < 0.02 ? 2_200_000 : 200_000)));
        }
        $rest = [];
        foreach ($messages as $message) {
            $crashes = $message->maxCrashes === 2 || $message->crashes ? 0.1 : 0.005;
            $delay = mt_rand(0, 1) * mt_rand(1, 1000);
            if (rare(likely($message))) {
                $byPolicy = rare(0.5);
                $action = fn () => $message->retry($byPolicy ? null : $delay / 1000, '?');
                $asked = $byPolicy ? 'backoff' : nowMs() + $delay;
                $this->settle('retry', $message, $asked, $action);
            } elseif (rare($crashes)) {
                continue;
            } elseif (rare(0.02)) {
                $action = fn () => $message->release($delay / 1000);
                $this->settle('release', $message, nowMs() + $delay, $action);
            } elseif (rare(0.03)) {
                $this->settle('bury', $message, '-', $message->bury(...));
            } elseif (rare(0.1)) {
                $this->succeed($message);
            } else {
                if (rare(0.01)) {
                    $lease = mt_rand(1000, 2000);
                    $action = fn () => $message->extend($lease / 1000);
                    $this->settle('extend', $message, nowMs() + $lease, $action);
                }
                $rest[] = $message;
            }
        }
        return $rest;
    }

    private function settle(
        string $verb,
        Message $message,
        string|int $asked,
        Closure $action,
    ): void {
        $doing = ($verb === 'release' ? 'releas' : $verb) . 'ing';
        $this->note(["$doing " . key_of($message) . ' ' . nowMs() . " $asked"]);
        [$status, $answer] = $this->call($verb, $action);
        $this->note(
            $this->settled($answer === false ? 'buried' : PAST[$verb], $status, key_of($message)),
        );
    }

    /** Acknowledges a message and pushes some in its place, one of them under its id. */
    private function succeed(Message $message): void
    {
        $target = one_of($this->names);
        $drafts = [];
        for ($i = rare(0.01) ? MOST - 1 : 1; $i > 0; $i--) {
            $drafts[] = $this->draft(rare(0.5));
        }
        if (rare(0.5)) {
            $own = str_starts_with($message->id, 'own-');
            $drafts[] = ['body' => padding(), 'id' => $own ? $message->id : null];
        }
        [$marks, $lines] = $this->intend($target, $drafts);
        $this->note([
            ...$lines,
            'acking ' . key_of($message) . ' ' . nowMs() . ' ' . implode(',', $marks),
        ]);
        [$status, $ids] = $this->call('ack', fn () => $message->ack(push: $drafts, to: $target));
        $this->note([
            ...$this->outcomes($marks, $status, $ids),
            ...$this->settled('acked', $status, key_of($message)),
        ]);
    }

    /** @param list<Message> $messages */
    private function ack(array $messages): void
    {
        if (count($messages) < 2) {
            foreach ($messages as $message) {
                $this->settle('ack', $message, '-', fn () => $message->ack());
            }
            return;
        }
        $begin = nowMs();
        $this->note(
            array_map(fn ($message) => 'acking ' . key_of($message) . " $begin -", $messages),
        );
        $queue = $this->queues[$messages[0]->queue];
        $tickets = array_map(fn ($message) => $message->ticket, $messages);
        [$status, $done] = $this->call('ack', fn () => $queue->ackMany($tickets));
        $lines = [];
        foreach ($messages as $i => $message) {
            $one = $status === 0 && !$done[$i] ? LEASE_LOST : $status;
            $lines = [...$lines, ...$this->settled('acked', $one, key_of($message))];
        }
        $this->note($lines);
    }
}

[, $role, $ledger, $url, $queue, $away, $far, $number, $seed, $rate, $stop] = $argv;
mt_srand((int) $seed);
$worker = new Worker($role, $ledger, $url, [$queue, $away, $far], $number, $stop);
if ($role === 'produce') {
    $worker->produce((float) $rate);
} else {
    $worker->consume($role === 'drain');
}
