<?php

/** Runs verbs for the model by the PHP extension. A request is a line of JSON, as is its answer. */

declare(strict_types=1);

use Dueq\Backoff;
use Dueq\BatchStatus;
use Dueq\End;
use Dueq\Exception\BacklogException;
use Dueq\Exception\LeaseLostException;
use Dueq\Exception\NotFoundException;
use Dueq\Jitter;
use Dueq\Lock;
use Dueq\Message;
use Dueq\Queue;
use Dueq\Queues;
use Dueq\Replace;
use Dueq\State;

/** Pages are small, so that there are several. */
const PAGE = 2;
const COUNTS = [
    'ready', 'delayed', 'leased', 'dead', 'pushed',
    'reserved', 'acked', 'retried', 'expired', 'died',
    'cancelled', 'purged', 'quarantined', 'paused',
];

final class Driver
{
    /** @var array<string, Queue> by name */
    private array $queues = [];
    /** @var array<string, Queues> by their names */
    private array $several = [];
    /** @var array<string, Message> by ticket */
    private array $taken = [];
    /** @var array<string, Lock> by token */
    private array $locks = [];

    public function __construct(private string $url, array $names)
    {
        foreach ($names as $name) {
            $this->queues[$name] = new Queue($name, $url);
        }
    }

    public function run(array $request): array|object
    {
        $queue = $this->queues[$request['queue'] ?? ''] ?? null;
        switch ($request['do']) {
            case 'forget':
                $this->taken = $this->locks = [];
                return (object) [];
            case 'push':
                return $this->push($queue, $request['drafts']);
            case 'ack_push':
                return $this->ackPush($queue, $request);
            case 'reserve':
                return $this->reserve($request);
            case 'ack':
                return words($queue->ackMany($request['tickets']), 'LEASE_LOST');
            case 'cancel':
                return ['states' => $queue->cancelMany($request['ids'])];
            case 'kick':
                return words($queue->kickMany($request['ids']), 'NOT_FOUND');
            case 'kick_all':
                return ['kicked' => $queue->kickAll(
                    $request['error'] !== '' ? $request['error'] : null,
                    seconds($request['since_ms']),
                    seconds($request['until_ms']),
                )];
            case 'reschedule':
                $delay = seconds($request['delay_ms']);
                $done = $queue->reschedule($request['id'], $delay, seconds($request['at_ms']));
                return words([$done], 'NOT_FOUND');
            case 'pause':
                $queue->pause();
                return words([true], '');
            case 'resume':
                $queue->resume();
                return words([true], '');
            case 'limit':
                $queue->limit(...limits($request));
                return words([true], '');
            case 'hold':
                $queue->hold($request['group'], $request['ms'] / 1000);
                return words([true], '');
            case 'hold_group':
                return $this->settle($queue, $request, fn (Message $message) =>
                    $message->holdGroup($request['ms'] / 1000));
            case 'purge':
                return ['purged' => $queue->purge(State::from($request['state']))];
            case 'peek':
                $messages = iterator_to_array(
                    $queue->peek(State::from($request['state']), PAGE),
                    false,
                );
                return ['messages' => array_map(shown(...), $messages)];
            case 'retry':
                $delay = $request['delay_ms'] >= 0 ? $request['delay_ms'] / 1000 : null;
                return $this->settle($queue, $request, fn (Message $message) =>
                    $message->retry($delay, $request['error']));
            case 'release':
                return $this->settle($queue, $request, fn (Message $message) =>
                    $message->release($request['delay_ms'] / 1000));
            case 'extend':
                return $this->settle($queue, $request, fn (Message $message) =>
                    $message->extend($request['lease_ms'] / 1000));
            case 'checkpoint':
                return $this->settle($queue, $request, fn (Message $message) =>
                    $message->checkpoint($request['cursor']));
            case 'bury':
                return $this->settle($queue, $request, fn (Message $message) =>
                    $message->bury($request['error']));
            case 'lock':
                $lock = $queue->lock($request['name'], $request['ttl_ms'] / 1000);
                if ($lock) {
                    $this->locks[$lock->token] = $lock;
                }
                return words([$lock !== null], 'TAKEN') + ['token' => $lock?->token ?? ''];
            case 'relock':
                return $this->settleLock(
                    $request,
                    fn (Lock $lock) => $lock->extend($request['ttl_ms'] / 1000),
                );
            case 'unlock':
                return $this->settleLock($request, fn (Lock $lock) => $lock->release());
            case 'ack_result':
                return $this->settle($queue, $request, fn (Message $message) =>
                    $message->ack(result: $request['result']));
            case 'outcome':
                return ['end' => $this->outcome($queue, $request['id'])];
            case 'kill':
                return words($queue->killMany($request['ids']), 'NOT_FOUND');
            case 'push_to':
                $drafts = array_map(draft(...), $request['drafts']);
                return stored($request['drafts'], $queue->pushTo($request['target'], $drafts));
            case 'open_batch':
                return words([$queue->openBatch($request['id'], ...called($request))], 'DUPLICATE');
            case 'close_batch':
                return words([$queue->closeBatch($request['id'])], 'NOT_FOUND');
            case 'find_batch':
                return ['batch' => shownBatch($queue->findBatch($request['id']))];
            case 'cancel_batch':
                $of = $request['of'] !== '' ? $request['of'] : null;
                return ['cancelled' => $queue->cancelBatch($request['id'], $of)];
            case 'look':
                return $this->look($request['ids']);
        }
        return ['failure' => "there is no '{$request['do']}'"];
    }

    private function push(Queue $queue, array $rows): array
    {
        try {
            return stored($rows, $queue->pushMany(array_map(draft(...), $rows)));
        } catch (BacklogException $error) {
            return stored($rows, $error->ids, 'BACKLOG');
        }
    }

    private function reserve(array $request): array
    {
        $source = $this->queues[$request['queues'][0]];
        if (count($request['queues']) > 1) {
            $key = implode(' ', $request['queues']);
            $source = $this->several[$key] ??= new Queues($request['queues'], $this->url);
        }
        $messages = $source->reserveMany($request['count'], 0.0, seconds($request['lease_ms']));
        foreach ($messages as $message) {
            $this->taken[$message->ticket] = $message;
        }
        return [
            'messages' => array_map(shown(...), $messages),
            'queue' => $messages ? $messages[0]->queue : '',
        ];
    }

    private function ackPush(Queue $queue, array $request): array
    {
        $rows = $request['drafts'];
        $drafts = array_map(draft(...), $rows);
        $target = $request['target'] !== $request['queue'] ? $request['target'] : null;
        $ids = [];
        $ack = function (Message $message) use ($drafts, $target, &$ids): void {
            $ids = $message->ack($drafts, $target);
        };
        $answer = $this->settle($queue, $request, $ack);
        if ($answer['statuses'] === ['OK']) {
            $answer = stored($rows, $ids);
            array_unshift($answer['statuses'], 'OK');
        } else {
            // The server stored nothing: the answer has the ids of the request.
            $count = $answer['statuses'] !== ['FOREIGN'] ? 1 + count($rows) : 1;
            $answer = [
                'statuses' => array_fill(0, $count, $answer['statuses'][0]),
                'ids' => array_column($rows, 'id'),
            ];
        }
        return $answer;
    }

    /** Settles the message that has the ticket: reserved here, or found. "FOREIGN": none has it. */
    private function settle(Queue $queue, array $request, callable $verb): array
    {
        $message = $this->taken[$request['ticket']] ?? $queue->find($request['id']);
        if ($message?->ticket !== $request['ticket']) {
            return ['statuses' => ['FOREIGN']];
        }
        try {
            return ['statuses' => [$verb($message) === false ? 'EXHAUSTED' : 'OK']];
        } catch (LeaseLostException) {
            return ['statuses' => ['LEASE_LOST']];
        } catch (BacklogException) {
            return ['statuses' => ['BACKLOG']];
        }
    }

    private function outcome(Queue $queue, string $id): ?array
    {
        try {
            return shownEnd($queue->outcome($id));
        } catch (NotFoundException) {
            return null;
        }
    }

    private function settleLock(array $request, callable $verb): array
    {
        $lock = $this->locks[$request['token']] ?? null;
        if (!$lock) {
            return ['statuses' => ['FOREIGN']];
        }
        try {
            $verb($lock);
        } catch (LeaseLostException) {
            return ['statuses' => ['LEASE_LOST']];
        }
        return ['statuses' => ['OK']];
    }

    private function look(array $wanted): array
    {
        $found = $counts = [];
        foreach ($wanted as $name => $ids) {
            $queue = $this->queues[$name];
            $found[$name] = array_map(fn (string $id) => shown($queue->find($id)), $ids);
            $stats = $queue->stats();
            foreach (COUNTS as $each) {
                $counts[$name][$each] = (int) $stats->$each;
            }
            $counts[$name]['next_event_ms'] = milliseconds($stats->nextEvent);
        }
        return ['found' => $found, 'counts' => $counts];
    }
}

function draft(array $row): array
{
    $draft = [
        'body' => base64_decode($row['body'], true),
        'headers' => array_column($row['headers'], 1, 0),
        'maxAttempts' => $row['max_attempts'] ?: null,
        'priority' => $row['priority'],
        'maxCrashes' => $row['max_crashes'] ?: null,
        'drop' => $row['drop'],
        'replace' => [
            'refuse' => null,
            'replace' => Replace::Message,
            'replace_body' => Replace::Body,
        ][$row['replace']],
    ];
    $times = [
        'delay' => 'delay_ms',
        'at' => 'at_ms',
        'lease' => 'lease_ms',
        'ttl' => 'ttl_ms',
        'unique' => 'unique_ms',
        'keep' => 'keep_ms',
    ];
    foreach ($times as $option => $key) {
        if ($row[$key]) {
            $draft[$option] = $row[$key] / 1000;
        }
    }
    $texts = ['id' => 'id', 'deadLetter' => 'dead_letter', 'group' => 'group', 'batch' => 'batch'];
    foreach ($texts as $option => $key) {
        if ($row[$key] !== '') {
            $draft[$option] = $row[$key];
        }
    }
    if ($row['backoff']) {
        $draft['backoff'] = backoff($row['backoff']);
    }
    return $draft;
}

function backoff(array $row): Backoff
{
    $base = $row['base_ms'] / 1000;
    $jitter = Jitter::from($row['jitter']);
    return match ($row['kind']) {
        'fixed' => Backoff::fixed($base, $jitter),
        'linear' => Backoff::linear($base, seconds($row['cap_ms']), $jitter),
        'exponential' => Backoff::exponential($base, seconds($row['cap_ms']), $jitter),
        'list' => Backoff::list(array_map(fn (int $ms) => $ms / 1000, $row['list_ms']), $jitter),
    };
}

function limits(array $request): array
{
    $group = $request['group'];
    $limits = ['clear' => $request['clear']] + ($group !== '' ? ['group' => $group] : []);
    foreach (['concurrency', 'rate', 'burst', 'backlog', 'weight'] as $name) {
        $number = $request[$name];
        if ($number >= 0) {
            $option = $group !== '' ? $name : 'eachGroup' . ucfirst($name);
            $hourly = $number > 0 ? "$number/h" : 'none';
            $limits[$option] = $name === 'rate' ? $hourly : $number;
        }
    }
    if ($request['order'] !== '') {
        $limits['order'] = $request['order'];
    }
    return $limits;
}

function stored(array $rows, array $ids, string $otherwise = 'DUPLICATE'): array
{
    return [
        'statuses' => array_map(fn (?string $id) => $id === null ? $otherwise : 'OK', $ids),
        'ids' => array_map(fn (?string $id, array $row) => $id ?? $row['id'], $ids, $rows),
    ];
}

function seconds(int $ms): ?float
{
    return $ms ? $ms / 1000 : null;
}

function milliseconds(?float $seconds): int
{
    return (int) round(($seconds ?? 0) * 1000);
}

function shown(?Message $message): ?array
{
    if (!$message) {
        return null;
    }
    $headers = [];
    foreach ($message->headers as $header => $value) {
        $headers[] = [(string) $header, $value];
    }
    return [
        'id' => $message->id,
        'ticket' => $message->ticket,
        'body' => base64_encode($message->body),
        'headers' => $headers,
        'attempt' => $message->attempt,
        'max_attempts' => $message->maxAttempts ?? 0,
        'crashes' => $message->crashes,
        'max_crashes' => $message->maxCrashes ?? 0,
        'deliveries' => $message->deliveries,
        'priority' => $message->priority,
        'group' => $message->group ?? '',
        'state' => $message->state->value,
        'time_ms' => milliseconds($message->time),
        'created_ms' => milliseconds($message->created),
        'expires_ms' => milliseconds($message->expires),
        'error' => $message->error,
        'drop' => $message->drop,
        'dead_letter' => $message->deadLetter ?? '',
        'keep_ms' => milliseconds($message->keep),
        'batch' => $message->batch ?? '',
        'batch_queue' => $message->batchQueue ?? '',
    ];
}

function shownEnd(?End $end): ?array
{
    return $end ? [
        'outcome' => $end->outcome,
        'time_ms' => milliseconds($end->time),
        'until_ms' => milliseconds($end->until),
        'deliveries' => $end->deliveries,
        'ran' => $end->ran !== null,
        'is_by_known' => $end->host !== null,
        'has_result' => $end->hasResult,
        'result' => $end->result,
        'error' => $end->error,
    ] : null;
}

function shownBatch(?BatchStatus $batch): ?array
{
    return $batch ? [
        'state' => $batch->state,
        'pushed' => $batch->pushed,
        'acked' => $batch->acked,
        'dead' => $batch->dead,
        'cancelled' => $batch->cancelled,
        'expired' => $batch->expired,
        'purged' => $batch->purged,
        'left' => $batch->left,
        'opened_ms' => milliseconds($batch->opened),
        'closes_ms' => milliseconds($batch->closes),
        'ended_ms' => milliseconds($batch->ended),
    ] : null;
}

/** The callbacks of a batch, and when it closes and is forgotten, as openBatch() takes them. */
function called(array $request): array
{
    $options = ['open' => $request['open_ms'] / 1000, 'keep' => $request['keep_ms'] / 1000];
    foreach ($request['callbacks'] as $name => $row) {
        $options[$name] = draft($row);
        $options["{$name}Queue"] = $row['queue'] !== '' ? $row['queue'] : null;
    }
    return $options;
}

function words(array $done, string $otherwise): array
{
    return ['statuses' => array_map(fn (bool $each) => $each ? 'OK' : $otherwise, $done)];
}

$driver = new Driver($argv[1], array_slice($argv, 2));
while (($line = fgets(STDIN)) !== false) {
    try {
        $answer = $driver->run(json_decode($line, true, 64, JSON_THROW_ON_ERROR));
    } catch (Throwable $failure) {
        $answer = ['failure' => $failure::class . ': ' . $failure->getMessage()];
    }
    echo json_encode($answer, JSON_THROW_ON_ERROR), "\n";
}
