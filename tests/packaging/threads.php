<?php
// One request of threads.c, in thread $thread: it pushes to a queue of its own and to one that all
// threads share, consumes as many messages as it pushed, and looks at those of its own.
const MESSAGES = 100;

$own = new Dueq\Queue("own-$thread");
$shared = new Dueq\Queue('shared');
for ($i = 0; $i < MESSAGES; $i++) {
    $own->push("$thread $i", id: "own-$thread-$i");
    $shared->push("$thread $i");
}
$seen = [];
$own->consume(timeout: 1.0)->work(function (Dueq\Message $message) use (&$seen): void {
    $seen[] = $message->body;
});
sort($seen, SORT_NATURAL);
if ($seen !== array_map(fn (int $i): string => "$thread $i", range(0, MESSAGES - 1))) {
    throw new Exception("thread $thread got other messages: " . implode(', ', $seen));
}
for ($i = 0; $i < MESSAGES; $i++) {
    $message = $shared->reserve(timeout: 10.0);
    if ($message === null) {
        throw new Exception("thread $thread waits for a shared message in vain");
    }
    $message->ack();
}
