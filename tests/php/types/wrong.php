<?php

declare(strict_types=1);

namespace Dueq\Tests\Types;

use Dueq\Backoff;
use Dueq\CatchUp;
use Dueq\Consumer;
use Dueq\Message;
use Dueq\Queue;
use Dueq\State;
use Dueq\Worker;

/*
 * Each line with a comment behind it is wrong, and an analyser reports what the comment names
 * (tests/test_php_types.py).
 */

function states(Queue $queue, Message $message): void
{
    $queue->peek('ready'); // invalid-argument
    $queue->purge(CatchUp::All); // invalid-argument
    if ($message->state === 'dead') { // redundant-comparison
        $message->bury();
    }
    echo match ($message->state) { // match-not-exhaustive
        State::Ready => 'ready',
    };
}

function drafts(Queue $queue): void
{
    $queue->pushMany([['body' => 'x', 'dalay' => 5]]); // possibly-invalid-argument
    $queue->pushMany([['body' => 'x', 'replace' => 'body']]); // possibly-invalid-argument
    $queue->pushMany([['id' => 'x']]); // possibly-invalid-argument
    $queue->push('x', headers: ['attempt' => 1]); // possibly-invalid-argument
    $queue->push('x', backoff: ['1s']); // invalid-argument
    Backoff::fixed(1, 'full'); // invalid-argument
}

function callables(Consumer $consumer, Queue $queue): void
{
    $consumer->work(static fn (string $message): string => $message); // invalid-argument
    $queue->purge(State::Dead, static fn (string $total): string => $total); // invalid-argument
    (new Worker())->middleware(static fn (string $job): string => $job); // invalid-argument
}

function results(Queue $queue): void
{
    echo $queue->reserveMany(2)[0]->boddy; // non-existent-property
    foreach ($queue->consume() as $message) {
        echo $message->boddy; // non-existent-property
    }
    echo $queue->reserveStart()->result()?->boddy; // non-existent-property
    echo $queue->cancel('x'); // possibly-invalid-argument
}
