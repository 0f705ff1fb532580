<?php

namespace App\Jobs;

use Illuminate\Contracts\Queue\Job;

final class CancelOrder
{
    /** @param array{order: int} $data */
    public function handle(Job $job, array $data): void
    {
        echo "Laravel cancels order {$data['order']}, attempt {$job->attempts()}\n";
        $job->delete();
    }
}
