<?php

/*
 * The worker of the chaos run in PHP: php worker.php ROLE LEDGER URL QUEUE NUMBER SEED RATE STOP
 *
 * ROLE is produce, consume, or drain (consume without mischief). It ends when the file STOP exists.
 * README.md says what it writes to LEDGER.
 */

declare(strict_types=1);

use Dueq\Exception\DueqException;
use Dueq\Message;
use Dueq\Queue;

const LEASE_LOST = 4;
const CONNECT = -10;
const UNKNOWN = [-11, -12]; // CLOSED, TIMEOUT

function nowMs(): int
{
    return intdiv((int) (new DateTimeImmutable())->format('Uu'), 1000);
}

function chance(): float
{
    return mt_rand() / mt_getrandmax();
}

function key_of(Message $message): string
{
    return strtok($message->body, ' ') . ' ' . $message->attempt;
}

final class Worker
{
    private Queue $queue;
    private int $pushes = 0;
    /** @var resource */
    private $ledger;

    public function __construct(string $ledger, string $url, string $queue, private string $number, private string $stop)
    {
        $this->ledger = fopen($ledger, 'ab');
        stream_set_write_buffer($this->ledger, 0);
        $this->queue = new Queue($queue, $url);
    }

    /** @param list<string> $lines */
    private function note(array $lines): void
    {
        fwrite($this->ledger, $lines ? implode("\n", $lines) . "\n" : '');
    }

    /** Runs a call. Returns its status, and its answer if that is 0. */
    private function call(string $verb, Closure $action): array
    {
        try {
            return [0, $action()];
        } catch (DueqException $error) {
            $status = $error->getCode();
            if ($status < 0) {
                $this->note(["error $status $verb " . strtr($error->getMessage(), "\n", ' ')]);
            }
            if ($status === CONNECT) {
                usleep(50_000);
            }
            return [$status, null];
        }
    }

    private function stopped(): bool
    {
        clearstatcache();
        return file_exists($this->stop);
    }

    public function produce(float $rate): void
    {
        $begin = microtime(true);
        while (!$this->stopped()) {
            $count = [1, 1, 5, 20, 50, 100][mt_rand(0, 5)];
            $plain = chance() < 0.4;
            $again = [];
            for ($i = 0; $i < $count; $i++) {
                $again[] = $this->draft($plain);
            }
            for ($tries = 0; $again && $tries < 4 && !$this->stopped(); $tries++) {
                $again = $this->push($again);
            }
            $begin = max($begin + $count / $rate, microtime(true) - 2);
            while (($left = $begin - microtime(true)) > 0 && !$this->stopped()) {
                usleep((int) (min($left, 0.5) * 1e6));
            }
        }
    }

    private function draft(bool $plain): array
    {
        $kind = $plain ? 1.0 : chance();
        $later = mt_rand(20, 2000);
        $draft = ['body' => str_repeat('x', mt_rand(0, 200)), 'maxAttempts' => null];
        $this->pushes++;
        if ($kind < 0.3) {
            $draft['delay'] = $later / 1000;
        } elseif ($kind < 0.4) {
            $draft['at'] = (nowMs() + $later) / 1000;
        } elseif ($kind > 0.6 && $kind < 0.7) {
            $draft['lease'] = 1.5;
        }
        if (!$plain && $kind <= 0.8) {
            $draft['id'] = "own-{$this->number}-{$this->pushes}";
        }
        return $draft;
    }

    /** Returns those to push again: of an id of their own, and an outcome that is not known. */
    private function push(array $drafts): array
    {
        $marks = $lines = [];
        foreach ($drafts as $i => $draft) {
            $mark = $marks[] = $this->number . '.' . ++$this->pushes;
            $text = strrchr($draft['body'], ' ');
            $drafts[$i]['body'] = $mark . ' ' . ($text === false ? $draft['body'] : substr($text, 1));
            $due = isset($draft['at'])
                ? (int) floor($draft['at'] * 1000)
                : nowMs() + (int) floor(($draft['delay'] ?? 0) * 1000);
            $lines[] = "intend $mark " . ($draft['id'] ?? '-') . " $due";
        }
        $this->note($lines);
        [$status, $ids] = $this->call('push', fn () => $this->queue->pushMany($drafts));
        $end = nowMs();
        $lines = [];
        foreach ($marks as $i => $mark) {
            $lines[] = match (true) {
                $status === 0 => isset($ids[$i]) ? 'accepted' : 'duplicate',
                in_array($status, UNKNOWN, true) => 'unknown',
                default => 'refused',
            } . " $mark $end";
        }
        $this->note($lines);
        return in_array($status, UNKNOWN, true)
            ? array_values(array_filter($drafts, fn (array $draft) => isset($draft['id'])))
            : [];
    }

    public function consume(bool $calm): void
    {
        while (!$this->stopped()) {
            $lease = mt_rand(1000, 2000);
            $count = [1, 10, 50, 100, 200][mt_rand(0, 4)];
            $wait = [0.0, chance(), 5.0][mt_rand(0, 2)];
            [, $messages] = $this->call(
                'reserve',
                fn () => $this->queue->reserveMany($count, timeout: $wait, lease: $lease / 1000),
            );
            if (!$messages) {
                $this->note(['empty']);
                continue;
            }
            $lines = [];
            foreach ($messages as $message) {
                $end = (int) round($message->time * 1000);
                $lines[] = 'got ' . key_of($message) . ' ' . ($end - $lease) . " $end";
            }
            $this->note($lines);
            $this->ack($calm ? $messages : $this->mischief($messages));
        }
    }

    /**
     * Dawdles, retries, extends and forgets some. Returns those to acknowledge.
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
            $what = chance();
            if ($what < 0.02) {
                $delay = mt_rand(0, 1) * mt_rand(1, 1000);
                $this->settle('retry', $message, $delay, fn () => $message->retry($delay / 1000, '?'));
            } elseif ($what >= 0.025) {
                if ($what < 0.035) {
                    $lease = mt_rand(1000, 2000);
                    $this->settle('extend', $message, $lease, fn () => $message->extend($lease / 1000));
                }
                $rest[] = $message;
            }
        }
        return $rest;
    }

    private function settle(string $verb, Message $message, int $later, Closure $action): void
    {
        $begin = nowMs();
        $this->note(["{$verb}ing " . key_of($message) . " $begin " . ($begin + $later)]);
        [$status] = $this->call($verb, $action);
        if ($status === 0) {
            $past = $verb === 'retry' ? 'retried' : "{$verb}ed";
            $this->note(["$past " . key_of($message) . ' ' . nowMs()]);
        } elseif ($status === LEASE_LOST) {
            $this->note(['lost ' . key_of($message) . ' ' . nowMs()]);
        } elseif (!in_array($status, UNKNOWN, true)) {
            $this->note(['undone ' . key_of($message)]);
        }
    }

    /** @param list<Message> $messages */
    private function ack(array $messages): void
    {
        if (count($messages) === 1) {
            $this->settle('ack', $messages[0], 0, $messages[0]->ack(...));
            return;
        }
        $begin = nowMs();
        $this->note(array_map(fn ($message) => 'acking ' . key_of($message) . " $begin 0", $messages));
        [$status, $done] = $this->call('ack', fn () => $this->queue->ackMany($messages));
        $end = nowMs();
        $lines = [];
        foreach ($messages as $i => $message) {
            if ($status === 0) {
                $lines[] = ($done[$i] ? 'acked ' : 'lost ') . key_of($message) . " $end";
            } elseif (!in_array($status, UNKNOWN, true)) {
                $lines[] = 'undone ' . key_of($message);
            }
        }
        $this->note($lines);
    }
}

[, $role, $ledger, $url, $queue, $number, $seed, $rate, $stop] = $argv;
mt_srand((int) $seed);
$worker = new Worker($ledger, $url, $queue, $number, $stop);
if ($role === 'produce') {
    $worker->produce((float) $rate);
} else {
    $worker->consume($role === 'drain');
}
