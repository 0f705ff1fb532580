<?php

declare(strict_types=1);

/* The tasks that PHP runs in the shop. Its worker: vendor/bin/dueq-worker worker.php, which loads
   Composer's autoloader. */

use Dueq\Worker;
use Dueq\Worker\Job;
use Dueq\Worker\Stop;

/** Appends a line to the order book, as book.py. */
$note = function (string $what, Job $job, mixed ...$more): void {
    $line = json_encode([
        'at' => (int) (microtime(true) * 1000),
        'what' => $what,
        'task' => $job->task,
        'id' => $job->message->id,
        'attempt' => $job->message->attempt,
        'crashes' => $job->message->crashes,
        'worker' => getenv('SHOP_WORKER') ?: 'php',
        'slot' => (string) getmypid(),
    ] + $more, JSON_THROW_ON_ERROR);
    file_put_contents(getenv('SHOP_BOOK') ?: 'book.jsonl', $line . "\n", FILE_APPEND);
};

$worker = new Worker();

return $worker
    ->middleware(function (Job $job, callable $next) use ($note): mixed {
        $note('begins', $job);
        try {
            $result = $next($job);
        } catch (Stop $stop) {
            $note('released', $job);
            throw $stop;
        } catch (Throwable $error) {
            $note('failed', $job, error: $error->getMessage());
            throw $error;
        }
        $note('done', $job);

        return $result;
    })
    // Takes the money, has the parcels packed, and returns the receipt. front.py pushes it.
    ->on('charge', function (
        Job $job,
        string $order,
        int $cents,
        int $parcels,
    ) use (
        $worker,
        $note,
    ): string {
        // A run that comes after a kill, a deploy or a failure does not take the money again.
        $receipt = $job->step('take the money', function () use ($job, $order, $cents, $note) {
            usleep(50_000);
            if ($job->message->attempt === 1 && $cents % 10 === 9) {
                throw new RuntimeException('the bank does not answer');
            }
            $note('charged', $job);

            return "receipt of $order";
        });
        // The parcels are members of a batch. When all of them are done, it pushes `shipped`.
        $queue = $worker->tasks->queue('parcels');
        $shipped = $worker->tasks->draft('shipped', [$order, $parcels], id: $order);
        $isNew = $queue->openBatch($order, then: $shipped, thenQueue: 'orders');
        // A run that was killed may have opened the batch, and pushed some parcels or all: `unique`
        // refuses these. After the close all are pushed.
        if ($isNew || $queue->findBatch($order)?->state === 'open') {
            $ship = fn (int $parcel) => $worker->tasks->draft(
                'ship',
                [$order, $parcel],
                id: "$order/$parcel",
                batch: $order,
                unique: 3600.0,
                keep: 86400.0,
            ) + ['delay' => 1.0];
            $queue->pushMany(array_map($ship, range(1, $parcels)));
            $queue->closeBatch($order);
        }

        return $receipt;
    }, queue: 'payments')
    // Marks an order as shipped, with the labels that Python's jobs have returned.
    ->on('shipped', function (
        Job $job,
        string $order,
        int $parcels,
    ) use (
        $worker,
        $note,
    ): void {
        $label = fn (int $parcel) => $worker->tasks->result("$order/$parcel", queue: 'parcels');
        $note('labels', $job, labels: array_map($label, range(1, $parcels)));
    }, queue: 'orders');
