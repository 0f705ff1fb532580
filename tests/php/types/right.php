<?php

declare(strict_types=1);

namespace Dueq\Tests\Types;

use Closure;
use DateInterval;
use DateTimeImmutable;
use Dueq\Backoff;
use Dueq\BackoffKind;
use Dueq\CatchUp;
use Dueq\Client;
use Dueq\ClientInterface;
use Dueq\Consumer;
use Dueq\Exception\FlushException;
use Dueq\Failure;
use Dueq\FailureKind;
use Dueq\Finding;
use Dueq\Jitter;
use Dueq\Laravel\Job as LaravelJob;
use Dueq\Laravel\Queue as LaravelQueue;
use Dueq\Message;
use Dueq\MessageInterface;
use Dueq\OpenTelemetry;
use Dueq\Order;
use Dueq\Queue;
use Dueq\QueueInterface;
use Dueq\Queues;
use Dueq\Rate;
use Dueq\Redisson\Codec;
use Dueq\Redisson\DelayedQueue;
use Dueq\Redisson\Layout;
use Dueq\Replace;
use Dueq\Settlement;
use Dueq\State;
use Dueq\Tasks;
use Dueq\Worker;
use Dueq\Worker\Job;
use Dueq\WorkerInfo;
use Throwable;

/*
 * An analyser at its highest level finds nothing wrong in this program (tests/test_php_types.py).
 * Each of the small functions takes one type, so that the analyser checks what the program passes.
 * Nobody runs the program.
 */

function text(string ...$texts): void
{
    echo implode(' ', $texts);
}

function number(float ...$numbers): void
{
    echo array_sum($numbers);
}

/** @param list<string|null> $ids */
function ids(array $ids): void
{
    echo count($ids);
}

/** @param list<bool> $done */
function outcomes(array $done): void
{
    echo count($done);
}

function message(Message $message): void
{
    foreach ($message->headers as $value) {
        text($value);
    }
    text($message->id, $message->state->value, $message->headers['trace'] ?? '');
    number($message->time ?? 0.0, $message->attempt);
}

function state(State $state): string
{
    return match ($state) {
        State::Ready, State::Delayed => 'waits',
        State::Leased => 'is at work',
        State::Dead => 'is dead',
        State::Outbox => 'moves',
    };
}

function backoff(Backoff $backoff): string
{
    number(...$backoff->delays);

    return match ($backoff->kind) {
        BackoffKind::Fixed, BackoffKind::List => $backoff->jitter->value,
        BackoffKind::Linear,
        BackoffKind::Exponential => $backoff->jitter === Jitter::None ? 'grows' : 'grows at random',
    };
}

/** @param array<string, string> $headers */
function pushes(Queue $queue, array $headers): void
{
    text(
        $queue->push(
            'body',
            headers: $headers,
            replace: Replace::Body,
            id: 'one',
            backoff: [1, 2.5, new DateInterval('PT5S')],
        ),
    );
    ids(
        $queue->pushMany([
            'body',
            ['body' => 'x', 'delay' => 5, 'headers' => $headers, 'replace' => Replace::Message],
        ]),
    );
    $queue->schedule(
        'report',
        '30 9 * * mon-fri',
        ['body' => 'x', 'ttl' => 60.0],
        'Europe/Berlin',
        CatchUp::Skip,
    );
    $queue->push(
        'body',
        backoff: Backoff::exponential(1, 60, Jitter::Full),
        at: new DateTimeImmutable('tomorrow'),
    );
    $pusher = $queue->pusher();
    try {
        $pusher->push('body', headers: $headers);
        $pusher->flush();
    } catch (FlushException $error) {
        foreach ($error->failures as $number => $failure) {
            text((string) $number, $failure->getMessage());
        }
    }
}

function loops(Queue $queue, Queues $queues): void
{
    foreach ($queue as $message) {
        message($message);
    }
    foreach ($queue->consume() as $message) {
        message($message);
    }
    foreach ($queues as $message) {
        message($message);
    }
    foreach ($queue->peek(State::Dead) as $number => $message) {
        number($number);
        message($message);
    }
    array_map(message(...), $queue->reserveMany(10));
    $waiting = $queue->reserveStart();
    $message = $waiting->poll() ? $waiting->result() : null;
    if ($message !== null) {
        message($message);
        ids($message->ack(['next', ['body' => 'x', 'key' => 'k']]) ?? []);
        ids($message->isSchedule() ? $message->fire() : []);
    }
}

function works(Consumer $consumer): void
{
    $consumer->work(message(...));
    $consumer->work(
        static function (Message $message): bool {
            return $message->retry();
        },
        static function (Message $message, Throwable $error): void {
            $message->bury($error->getMessage());
        },
    );
}

function administers(Queue $queue): void
{
    $state = $queue->cancel('one');
    text($state === null ? 'not found' : state($state));
    foreach ($queue->cancelMany(['one', 'two']) as $state) {
        text($state === null ? 'not found' : state($state));
    }
    outcomes($queue->kickMany(['one']));
    outcomes($queue->ackMany($queue->reserveMany(2)));
    number($queue->purge(State::Ready, static function (int $total): void {
        number($total);
    }));
    array_map(
        static fn (Finding $finding): string => implode(' ', $finding->examples),
        $queue->check(progress: static fn (int $total): int => $total),
    );
    array_map(static fn (Rate $rate): ?float => $rate->lateP99, $queue->rates());
    array_map(static fn (WorkerInfo $worker): string => $worker->host, $queue->workers());
    array_map(
        static fn (Failure $failure): bool => $failure->kind === FailureKind::Crashed,
        $queue->failures(),
    );
    text(...$queue->allow(['dead letters']), ...Queue::names());
}

/** A program that names interfaces only, so that a test can give it other objects. */
function interfaces(ClientInterface $client): void
{
    $queue = $client->queue('orders');
    text(...$client->names());
    foreach ($client->queues(['a', 'b'], Order::RoundRobin) as $message) {
        message($message);
    }
    $queue->consume()->work(static function (MessageInterface $message): void {
        $message->ack(['next']);
    });
    outcomes($queue->ackMany($queue->reserveMany(2)));
    foreach ($queue->peek(State::Ready) as $message) {
        $message->bury();
    }
    other($queue);
}

function other(QueueInterface $queue): void
{
    foreach ($queue as $message) {
        $message->release();
    }
}

function redisson(string $url): void
{
    $delayed = new DelayedQueue('reminders', $url, Codec::TypedJson, Layout::Old);
    $delayed->offerMany([1, 'two', ['three' => null]], delay: 5);
    text($delayed->codec->value, $delayed->layout->value ?? 'found');
    $delayed->runTransfer(static fn (): bool => count($delayed) === 0);
    $moved = $delayed->transferStart()->result();
    number($moved->moved ?? 0);
}

function laravel(LaravelQueue $queue): void
{
    ids(
        $queue->pushMany([
            'Job',
            ['job' => 'Job@method', 'data' => [1], 'backoff' => [1, 2]],
            ['payload' => '{}', 'delay' => 1],
        ]),
    );
    outcomes($queue->deleteMany($queue->popMany(5)));
    array_map(static fn (LaravelJob $job): string => $job->name, $queue->popMany(5));
}

function tasks(Tasks $tasks, Queue $queue, Message $message): void
{
    text($tasks->push('send_receipt', [17, 'copy' => true], queue: 'mail'));
    ids($queue->pushMany([$tasks->draft('send_receipt', [17])]));
    $message->ack([$tasks->draft('send_receipt', [18])]);
    text(
        OpenTelemetry::send(
            $queue,
            static fn (): string => $queue->push('x', headers: OpenTelemetry::headers()),
        ),
    );
    OpenTelemetry::settle($message, Settlement::Bury, static function () use ($message): void {
        $message->bury('not wanted');
    });
}

function worker(Client $client): Worker
{
    return (new Worker($client))
        ->on('send_receipt', static function (int $order, bool $copy = false): void {
            number($order, (int) $copy);
        }, queue: 'mail', retryOn: [\RuntimeException::class])
        ->onQueue('plain', static function (Job $job): void {
            message($job->message);
        })
        ->middleware(static function (Job $job, Closure $next): mixed {
            return $next($job);
        })
        ->onExhausted(static function (Job $job, Throwable $error): void {
            text((string) $job, $error->getMessage());
        });
}
