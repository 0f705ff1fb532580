<?php

declare(strict_types=1);

use Dueq\Worker;

$worker = new Worker();
$say = $worker->tasks->queue('journal')->push(...);

return $worker
    ->on('pack', function (int $order, array $payment) use ($say): string {
        $say("pack $order {$payment['payment']}");

        return "parcel $order";
    }, queue: 'parcels')
    ->on('dies', function () use ($say): void {
        $say('dies');
        posix_kill(getmypid(), SIGKILL);
        usleep(1000000);
    }, queue: 'parcels', maxCrashes: 1)
    ->on('refund', function (int $order, array $failure) use ($say): void {
        $say("refund $order {$failure['link']} {$failure['task']} {$failure['error']}");
    }, queue: 'bank');
