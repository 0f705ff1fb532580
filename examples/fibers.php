<?php

/**
 * Two fibers work on two queues in one process, while a timer ticks: nothing blocks.
 *
 *     ./dev run php examples/fibers.php
 *
 * With an event loop such as Revolt, await() watches the stream by EventLoop::onReadable(), and
 * suspends its fiber. EventLoop::run() then replaces the loop at the end.
 */

declare(strict_types=1);

function await(Dueq\Pending $pending): ?Dueq\Message
{
    while (!$pending->poll()) {
        Fiber::suspend($pending->stream());
    }
    return $pending->result();
}

function work(string $name, int $count): void
{
    $queue = new Dueq\Queue($name);
    for (; $count > 0; $count--) {
        $message = await($queue->reserveStart());
        echo "$name: $message->body\n";
        $message->ack();
    }
}

foreach (['mail', 'bills'] as $i => $name) {
    (new Dueq\Queue($name))->pushMany(array_map(
        fn ($number) => ['body' => "number $number", 'delay' => 0.2 * $number + 0.1 * $i],
        range(1, 3)
    ));
}

$fibers = $waiting = [];
foreach (['mail', 'bills'] as $name) {
    $fibers[$name] = new Fiber(work(...));
    $waiting[$name] = $fibers[$name]->start($name, 3);
}
for ($ticks = 0; $waiting = array_filter($waiting); $ticks += (int) !$read) {
    [$read, $write, $except] = [$waiting, [], []];
    stream_select($read, $write, $except, 0, 10_000);
    foreach (array_keys($read) as $name) {
        $waiting[$name] = $fibers[$name]->resume();
    }
}
echo $ticks > 20 ? "and the timer ticked\n" : "the timer hardly ticked: $ticks\n";
