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
    ->middleware(function (Job $job, callable $next) use ($note): void {
        $note('begins', $job);
        try {
            $next($job);
        } catch (Stop $stop) {
            $note('released', $job);
            throw $stop;
        } catch (Throwable $error) {
            $note('failed', $job, error: $error->getMessage());
            throw $error;
        }
        $note('done', $job);
    })
    // Takes the money. front.py pushes it.
    ->on('charge', function (Job $job, string $order, int $cents) use ($worker, $note): void {
        // A run that comes after a kill, a deploy or a failure does not take the money again.
        $job->step('take the money', function () use ($job, $cents, $note): void {
            usleep(50_000);
            if ($job->message->attempt === 1 && $cents % 10 === 9) {
                throw new RuntimeException('the bank does not answer');
            }
            $note('charged', $job);
        });
        // In one step: ends this job, and pushes the next one, which Python runs a second later.
        $ship = $worker->tasks->draft('ship', [$order], id: $order) + ['delay' => 1.0];
        $job->message->ack(push: [$ship], to: 'parcels');
    }, queue: 'payments');
