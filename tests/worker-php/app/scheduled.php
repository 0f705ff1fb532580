<?php

declare(strict_types=1);

use App\Services;
use Dueq\Worker;
use Dueq\Worker\Job;

/* The environment variable TASKS says which tasks the worker has, as JSON: by name the options. */

$say = (new Services())->journal->push(...);
$worker = (new Worker(name: 'shop'))
    ->on('order', fn (int $number) => $say("order $number"), queue: 'orders')
    ->onStart(
        fn () => $say('start first'),
        fn () => getenv('BROKEN') ? throw new RuntimeException('the disk is not there') : null,
        fn () => $say('start second'),
    )
    ->onStop(
        fn () => throw new RuntimeException('cannot close'),
        fn () => $say('stop second'),
    );
foreach (json_decode(getenv('TASKS') ?: '[]', true) as $name => $options) {
    $handler = fn (Job $job) => $say("$name {$job->message->id}");
    $worker->on($name, $handler, ...['queue' => 'orders', ...$options]);
}

return $worker;
