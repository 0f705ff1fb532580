<?php

/**
 * Pushes, reserves and acknowledges messages, and tells how much memory that kept:
 * php cycles.php URL CYCLES
 *
 * Prints one JSON object: cycles, and the growth in KiB between the end of a warm-up and the end.
 */

declare(strict_types=1);

use Dueq\Backoff;
use Dueq\Exception\DueqException;
use Dueq\Exception\LeaseLostException;
use Dueq\Jitter;
use Dueq\Laravel\Queue as LaravelQueue;
use Dueq\Message;
use Dueq\Queue;
use Dueq\Queues;
use Dueq\Redisson\Codec;
use Dueq\Redisson\DelayedQueue;
use Dueq\Replace;
use Dueq\State;

const BATCH = 100;

function check(bool $holds, string $what): void
{
    if (!$holds) {
        throw new \LogicException($what);
    }
}

/** @return array{resident: int, heap: int} in KiB */
function memory(): array
{
    gc_collect_cycles();
    preg_match('/^VmRSS:\s+(\d+) kB/m', (string) file_get_contents('/proc/self/status'), $found);
    return ['resident' => (int) $found[1], 'heap' => intdiv(memory_get_usage(), 1024)];
}

function singles(Queue $queue, int $count): void
{
    for ($i = 0; $i < $count; $i++) {
        $id = $queue->push(str_repeat('x', 200));
        $message = one($queue);
        check($message->id === $id, 'what was pushed is delivered');
        $message->ack();
    }
}

function batches(Queue $queue, int $count): void
{
    for ($i = 0; $i < intdiv($count, BATCH); $i++) {
        $draft = ['body' => str_repeat('x', 200), 'headers' => ['name' => 'value']];
        $queue->pushMany(array_fill(0, BATCH, $draft));
        $done = $queue->ackMany($queue->reserveMany(BATCH, 1.0));
        check($done === array_fill(0, BATCH, true), 'a batch is delivered and acknowledged');
    }
}

function one(Queue|Queues $queue): Message
{
    $message = $queue->reserve(1.0);
    check($message !== null, 'a message is ready');
    return $message;
}

/** Checks that the call throws an exception of dueq. */
function fails(callable $call): void
{
    try {
        $call();
    } catch (DueqException) {
        return;
    }
    check(false, 'it fails');
}

/** Calls each method of a queue, with each outcome and failure. Leaves both queues empty. */
function everyVerb(Queue $queue, Queue $other, string $url): void
{
    $queue->push(
        str_repeat('x', 200),
        id: 'one',
        priority: 1,
        headers: ['name' => 'value'],
        lease: 60.0,
        ttl: 600.0,
        backoff: Backoff::exponential(0.001, cap: 0.001, jitter: Jitter::Full),
        maxAttempts: 2,
        maxCrashes: 2
    );
    fails(fn () => $queue->push('two', id: 'one'));
    fails(fn () => $queue->push('two', backoff: [-1.0]));
    fails(fn () => $queue->push('x', id: str_repeat('x', 300)));
    fails(fn () => new Queue('a{b', $url));
    $queue->push(
        'three',
        id: 'one',
        replace: Replace::Body,
        priority: 1,
        maxAttempts: 2,
        backoff: [0.001],
    );
    check($queue->find('one')?->id === 'one', 'it is found');
    check($queue->find('none') === null, 'it is not found');
    one($queue)->release();
    one($queue)->retry(error: 'tried in vain');
    $message = one($queue);
    $message->extend(30.0);
    $message->checkpoint('5');
    $message->checkpoint('käse');
    check(!$message->retry(error: str_repeat('e', 4096)), 'its attempts are used up');
    fails(fn () => $message->ack());
    foreach ($queue->peek(State::Dead) as $dead) {
        check($dead->error === str_repeat('e', 4096), 'its error is kept');
    }
    check($queue->kick('one'), 'it is kicked');
    one($queue)->bury('again');
    check($queue->kickAll(error: 'again') === 1, 'all are kicked');
    one($queue)->ack(push: ['next', ['body' => 'own', 'id' => 'own']], to: $other->name);

    $job = ['body' => 'x', 'headers' => ['a' => 'b'], 'backoff' => [1, 2], 'ttl' => 60];
    check($queue->schedule('s', '0 2 * * *', $job, 'Europe/Berlin'), 'it is declared');
    check(!$queue->schedule('s', '0 2 * * *', $job, 'Europe/Berlin'), 'it is declared already');
    fails(fn () => $queue->schedule('s', '61 * * * *', 'x'));
    fails(fn () => $queue->schedule('s', '@daily', ['headers' => []]));
    fails(fn () => Queue::nextTime('@daily', 'Mars'));
    check(Queue::nextTime('@daily', 'Europe/Berlin') > 0, 'it has a next time');
    check($queue->reschedule('schedule:s'), 'it is rescheduled');
    $message = one($queue);
    check($message->isSchedule(), 'it is a schedule');
    [$id] = $message->fire();
    check(
        $queue->cancelMany([$id, 'schedule:s']) === [State::Delayed, State::Delayed],
        'they are cancelled',
    );

    $both = new Queues([$queue->name, $other->name], $url);
    one($both)->ack();
    one($both)->ack();

    $other->push('of its own', delay: 0.001);
    $queue->push('dead letter', deadLetter: $other->name);
    one($queue)->bury('to the other');
    check($other->ackMany([one($other), one($other)]) === [true, true], 'both are acknowledged');

    $queue->push('later', id: 'later', delay: 600.0, unique: 0.001);
    check($queue->reschedule('later', delay: 700.0), 'it is rescheduled');
    check($queue->cancel('later') === State::Delayed, 'it is cancelled');
    check($queue->cancelMany(['later']) === [null], 'it is gone');
    $queue->pushMany(['a', 'b', 'c']);
    $queue->pause();
    check($queue->reserve() === null, 'it is paused');
    $queue->resume();
    check($queue->purge(State::Ready) === 3, 'it is purged');
    foreach (['acme', 'globex', 'acme'] as $group) {
        $queue->push('x', group: $group);
    }
    check(array_column($queue->groups(), 'name') === ['acme', 'globex'], 'the groups are there');
    check($queue->purgeGroup('acme') + $queue->purgeGroup('globex') === 3, 'they are purged');

    $lock = $queue->lock('door', 30.0);
    check($queue->lock('door', 30.0) === null, 'it is locked');
    $lock->extend(60.0);
    $lock->release();
    check($queue->stats()->ready === 0, 'it is empty');
    check(count($queue->rates(5)) > 0, 'it has rates');
    check(count($queue->failures()) > 0, 'it has failures');
    check(in_array($queue->name, Queue::names($url), true), 'it is among the queues');
    $queue->push('last');
    check($queue->remove() === 1, 'it is removed');
}

/** Offers values of all types by each codec, and takes them. Leaves the queue empty. */
function redisson(string $url): void
{
    $codecs = [
        Codec::Kryo5, Codec::Bytes, Codec::String, Codec::Long, Codec::Jackson, Codec::TypedJson,
    ];
    foreach ($codecs as $codec) {
        $queue = new DelayedQueue('leaks', $url, $codec);
        foreach (['text', 7, 1 << 40, 1.5, true, null, ['list' => [1, 'two']]] as $value) {
            try {
                $queue->offer($value, delay: 600.0);
                $queue->offer($value);
                check($queue->contains($value) && $queue->remove($value), 'it is there');
            } catch (DueqException) {
                continue;
            }
        }
        check($queue->size()->delayed === count($queue->peek(20)), 'all are seen');
        $queue->poll();
        while ($queue->transfer()->moved > 0);
        $queue->takeMany(20, 0.0);
        check($queue->take(0.0) === null, 'all were taken');
        $queue->destroy();
    }
    $queue = new DelayedQueue('leaks', $url, Codec::String);
    $queue->offer('soon', delay: 0.001);
    $queue->transfer(10.0);
    check($queue->take(10.0) === 'soon', 'it has come');
}

/** Calls each method of a queue of Laravel. Leaves the queue empty. */
function laravel(string $url): void
{
    $queue = new LaravelQueue('leaks', $url);
    $queue->push('Job@run', ['order' => [17, null]], maxTries: 3, backoff: [1, 2]);
    $queue->pushObject('Job', 'O:3:"Job":0:{}');
    $queue->pushRaw('{"job":"A","attempts":0}');
    fails(fn () => $queue->pushRaw('{'));
    fails(fn () => $queue->pushRaw(str_repeat('[', 3000)));
    $queue->later(600.0, 'Job@run');
    [$first, $second, $third] = $queue->popMany(10);
    check(
        $first->data === ['order' => [17, null]] && $third->attempts === 1,
        'they are as they were',
    );
    $first->release(600.0);
    fails(fn () => $first->delete());
    check($queue->deleteMany([$second, $third, $first]) === [true, true, false], 'two are deleted');
    check($queue->migrate()->moved === 0, 'nothing is due');
    check($queue->pop(0.002) === null, 'nothing is there');
    $queue->push('Job@run');
    $queue->pop(10.0)->delete();
    check($queue->size()->delayed === 2, 'two are delayed');
    check($queue->clear() === 2, 'it is cleared');
}

function run(Queue $queue, Queue $other, string $url, int $cycles): void
{
    singles($queue, intdiv($cycles, 10));
    batches($queue, $cycles - intdiv($cycles, 10));
    for ($i = 0; $i < intdiv($cycles, 500); $i++) {
        everyVerb($queue, $other, $url);
        redisson($url);
        laravel($url);
    }
}

[, $url, $cycles] = $argv;
$queue = new Queue('leaks', $url);
$other = new Queue('leaks-other', $url);
memory();
run($queue, $other, $url, max(intdiv((int) $cycles, 20), 10000));
$warm = memory();
$grown = 0;
for ($tenth = 1; $tenth <= 10; $tenth++) {
    run($queue, $other, $url, intdiv((int) $cycles, 10));
    $now = memory();
    $grown = max($now['resident'] - $warm['resident'], $now['heap'] - $warm['heap']);
    fprintf(STDERR, "  php    %3d %%  %d KiB %+d\n", $tenth * 10, $warm['resident'], $grown);
}
echo json_encode(['cycles' => (int) $cycles, 'growth_kib' => $grown]), "\n";
