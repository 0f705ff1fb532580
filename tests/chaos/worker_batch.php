<?php

/*
 * The worker of a chaos run with kept ends and batches, in PHP:
 * php worker_batch.php ROLE LEDGER URL QUEUE OTHER NUMBER SEED RATE STOP
 *
 * ROLE is open (open batches in QUEUE and OTHER, and push their members to both), member (end the
 * members, and note the callbacks), or finish (the same as member, without mischief). The worker
 * ends when the file STOP exists. README.md says what it writes to LEDGER.
 */

declare(strict_types=1);

use Dueq\Backoff;
use Dueq\Exception\InvalidException;
use Dueq\Message;
use Dueq\Order;
use Dueq\Queue;
use Dueq\Queues;

require __DIR__ . '/worker_common.php';

const MEMBERS_A_SECOND = 12;
const MOST_SECONDS = 1; // the longest pause
const TRIES = 3;
// How long ends are kept: the long time is over after each run. Members of batches have it.
const LONG_MS = 86_400_000;
const SHORT_MS = 3000;

/** Whether the message is a member, or was pushed for itself. The others are callbacks. */
function is_member(Message $message): bool
{
    return str_starts_with($message->id, 'm-');
}

function key_of(Message $message): string
{
    return "{$message->id} {$message->deliveries}";
}

final class BatchWorker extends WorkerBase
{
    /** @var array<string, Queue> by name */
    private array $queues = [];
    /** @var list<Queue|Queues> */
    private array $sources;
    private int $made = 0;

    /** @param list<string> $names two queues */
    public function __construct(
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
        $this->sources = [
            ...array_values($this->queues),
            new Queues($names, $url),
            new Queues($names, $url, Order::RoundRobin),
        ];
    }

    private function name(string $kind): string
    {
        return "$kind-{$this->number}-" . ++$this->made;
    }

    public function open(): void
    {
        while (!$this->stopped()) {
            $count = rare(0.3) ? $this->push(null, one_of($this->names)) : $this->batch();
            $this->note(['empty']);
            usleep((int) (1e6 * min($count / MEMBERS_A_SECOND, MOST_SECONDS)));
        }
    }

    /** Returns the number of members. */
    private function batch(): int
    {
        [$home, $other] = rare(0.5) ? $this->names : array_reverse($this->names);
        $id = $this->name('b');
        $queue = $this->queues[$home];
        $options = ['open' => 2 + 4 * chance()];
        foreach (['then', 'catch', 'finally'] as $name) {
            $own = rare(0.5) ? "c-$id-$name" : null;
            $options[$name] = ['body' => "$name $id", 'id' => $own];
            $options["{$name}Queue"] = rare(0.5) ? $other : null;
        }
        $this->note(["opening $id " . nowMs() . " $home"]);
        if (!$this->tryTo('open_batch', fn () => $queue->openBatch($id, ...$options))) {
            return 1;
        }
        $this->note(["opened $id " . nowMs()]);
        $count = 0;
        for ($i = one_of([0, 1, 1, 2, 3]); $i > 0; $i--) {
            $count += $this->push([$id, $home], one_of($this->names));
        }
        if (rare(0.05)) {
            [$target, $batchQueue] = one_of([[$home, null], [$other, $home]]);
            $action = fn () => $this->queues[$target]->cancelBatch($id, $batchQueue);
            $this->call('cancel_batch', $action);
        }
        // Some batches close by their own time limit.
        if (rare(0.9)) {
            $this->tryTo('close_batch', fn () => $queue->closeBatch($id));
        }
        return max($count, 1);
    }

    /** Makes a call that may run more than once. Returns whether it was answered. */
    private function tryTo(string $verb, Closure $action): bool
    {
        for ($tries = 0; $tries < TRIES; $tries++) {
            if ($this->call($verb, $action)[0] === 0) {
                return true;
            }
        }
        return false;
    }

    /**
     * Pushes messages whose ends are kept, and returns their number.
     *
     * @param ?array{string, string} $batch the id and the queue of the batch of the messages
     */
    private function push(?array $batch, string $target, int $most = 5): int
    {
        $count = $most > 1 && rare(0.01) ? 200 : mt_rand(1, $most);
        $keep = $batch === null && rare(0.3) ? SHORT_MS : LONG_MS;
        $drafts = $lines = [];
        $asked = ($batch[0] ?? '-') . " $target $keep " . nowMs();
        for ($i = 0; $i < $count; $i++) {
            $drafts[] = $draft = $this->draft($keep) + ['batch' => $batch[0] ?? null];
            $lines[] = "member {$draft['id']} $asked";
        }
        $this->note($lines);
        [, $ids] = $this->call('push', fn () => $this->store($batch, $target, $drafts));
        $end = nowMs();
        $this->note(array_map(fn (string $id) => "stored $id $end", array_filter($ids ?? [])));
        return $count;
    }

    private function draft(int $keep): array
    {
        return [
            'body' => padding(),
            'id' => $this->name('m'),
            'keep' => $keep / 1000,
            'delay' => rare(0.3) ? mt_rand(20, 1000) / 1000 : null,
            'ttl' => rare(0.03) ? 1.5 : null,
            'maxAttempts' => one_of([16, 16, 1, 2]),
            'maxCrashes' => one_of([16, 16, 1, 2]),
            'priority' => one_of([1, 0, 0, -1]),
            'backoff' => Backoff::fixed(0.15),
        ];
    }

    /**
     * @param ?array{string, string} $batch
     * @return list<?string> the ids of the stored messages
     */
    private function store(?array $batch, string $target, array $drafts): array
    {
        $home = $batch[1] ?? $target;
        try {
            return $home === $target
                ? $this->queues[$home]->pushMany($drafts)
                : $this->queues[$home]->pushTo($target, $drafts);
        } catch (InvalidException $error) {
            // The batch has ended: by its time limit, or as this worker's lease was lost.
            if (!str_contains($error->getMessage(), 'no such batch')) {
                throw $error;
            }
            return [];
        }
    }

    public function consume(bool $calm): void
    {
        while (!$this->stopped()) {
            $source = one_of($this->sources);
            if (rare(0.4)) {
                $this->call('loop', fn () => $this->loop($source, $calm));
                continue;
            }
            $lease = mt_rand(1000, 2000);
            $count = one_of([1, 1, 10, 50]);
            $wait = one_of([0.0, chance(), 2.0]);
            [, $messages] = $this->call(
                'reserve',
                fn () => $source->reserveMany($count, timeout: $wait, lease: $lease / 1000),
            );
            if (!$messages) {
                $this->note(['empty']);
                continue;
            }
            if (!$calm && rare(0.05)) {
                usleep((int) (chance() * 2_200_000));
            }
            $members = array_values(array_filter($messages, is_member(...)));
            if (count($members) > 1 && rare(0.2)) {
                $this->ackMany($members);
                $messages = array_filter($messages, fn ($message) => !is_member($message));
            }
            foreach ($messages as $message) {
                $this->end($message, $lease, $calm);
            }
        }
    }

    private function loop(Queue|Queues $source, bool $calm): void
    {
        $lease = mt_rand(1500, 2500);
        $left = mt_rand(1, 50);
        foreach ($source->consume(mt_rand(1, 20), $lease / 1000, timeout: 0.5) as $message) {
            if (is_member($message) && rare(0.4)) {
                // This ack goes with the consumer's next request.
                $this->note(['giving ' . key_of($message) . ' ' . nowMs() . ' -']);
                $this->call('ack', fn () => $message->ack(wait: false));
            } else {
                $this->end($message, $lease, $calm);
            }
            if (--$left === 0 || $this->stopped()) {
                break;
            }
        }
        $this->note(['empty']);
    }

    private function end(Message $message, int $lease, bool $calm): void
    {
        if (!is_member($message)) {
            $this->hear($message, (int) round($message->time * 1000) - $lease, $calm);
            return;
        }
        $kind = $calm ? 1 : chance();
        if ($kind < 0.03) {
            $this->call('bury', fn () => $message->bury('?'));
        } elseif ($kind < 0.07) {
            $this->call('retry', fn () => $message->retry(0.05, '?'));
        } elseif ($kind < 0.09) {
            // The lease of this message ends, or its loop.
        } elseif ($kind < 0.11) {
            $this->call('release', fn () => $message->release());
        } else {
            if ($kind < 0.2 && $message->batch !== null) {
                $batch = [$message->batch, $message->batchQueue ?? $message->queue];
                $this->push($batch, one_of($this->names), 2);
            }
            $this->ack($message);
        }
    }

    private function ack(Message $message): void
    {
        $result = rare(0.7) ? $this->name('r') : null;
        $this->note(['giving ' . key_of($message) . ' ' . nowMs() . ' ' . ($result ?? '-')]);
        $text = $result === null ? null : "$result " . padding();
        if ($this->call('ack', fn () => $message->ack(result: $text))[0] === 0) {
            $this->note(['given ' . key_of($message) . ' ' . nowMs()]);
        }
    }

    /** @param list<Message> $members of one queue */
    private function ackMany(array $members): void
    {
        $begin = nowMs();
        $this->note(array_map(fn ($member) => 'giving ' . key_of($member) . " $begin -", $members));
        $this->call('ack', fn () => $this->queues[$members[0]->queue]->ackMany($members));
    }

    /** Notes a callback. $time: when it was delivered, in ms by the server's clock. */
    private function hear(Message $message, int $time, bool $calm): void
    {
        [$name, $batch] = explode(' ', $message->body);
        $callback = "$batch $name " . key_of($message);
        $this->note(["called $callback $time {$message->queue}"]);
        if (!$calm && rare(0.05)) {
            $this->call('release', fn () => $message->release());
        } elseif ($this->call('ack', fn () => $message->ack())[0] === 0) {
            $this->note(["heard $callback " . nowMs()]);
        }
    }
}

[, $role, $ledger, $url, $queue, $other, $number, $seed, , $stop] = $argv;
mt_srand((int) $seed);
$worker = new BatchWorker($ledger, $url, [$queue, $other], $number, $stop);
if ($role === 'open') {
    $worker->open();
} else {
    $worker->consume($role === 'finish');
}
