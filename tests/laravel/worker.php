<?php

/** worker.php JSON: a worker process of the tests; WorkerProcess starts it. */

declare(strict_types=1);

namespace Dueq\Tests\Laravel;

use Dueq\Exception\ClosedException;
use Illuminate\Queue\MaxAttemptsExceededException;
use Illuminate\Queue\WorkerOptions;

require __DIR__ . '/bootstrap.php';

[$database, $entry, $options, $queue] = json_decode($argv[1], true, flags: JSON_THROW_ON_ERROR);
Journal::open($entry['url']);
$app = new Application($database, ['dueq' => $entry]);
$made = new WorkerOptions();
foreach ($options + ['sleep' => 0] as $name => $value) {
    $made->$name = $value;
}
$status = $app->worker()->daemon('dueq', $queue, $made);
foreach ($app->handler->reported as $error) {
    $expected = $error instanceof MaxAttemptsExceededException || $error instanceof ClosedException;
    if (!$expected && !str_starts_with($error->getMessage(), 'thrown by ')) {
        fwrite(STDERR, "$error\n");
    }
}
exit($status);
