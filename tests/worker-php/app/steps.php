<?php

declare(strict_types=1);

use Dueq\Worker;
use Dueq\Worker\Job;

/**
 * A job of two steps. The process of the first run dies in the second step, where it is told to.
 */

$worker = new Worker();

return $worker->on('ship', function (Job $job, int $order, bool $dies) use ($worker): void {
    $journal = $worker->tasks->queue('journal');
    $payment = $job->step('charge', function () use ($order, $journal): array {
        $journal->push("charge $order");

        return ['payment' => $order * 100];
    });
    $job->progress(0.5, 'charged');
    $parcel = $job->step('pack', function () use ($order, $dies, $job, $journal): string {
        $journal->push("pack $order");
        if ($dies && $job->message->deliveries === 1) {
            posix_kill(getmypid(), SIGKILL);
        }

        return "parcel $order";
    });
    $journal->push("shipped {$payment['payment']} $parcel");
}, queue: 'orders', backoff: 0.05);
