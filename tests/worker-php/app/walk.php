<?php

declare(strict_types=1);

use Dueq\Queue;
use Dueq\Worker;
use Dueq\Worker\Job;

return (new Worker())->on('walk', function (Job $job): void {
    $journal = new Queue('journal');
    for ($step = $job->cursor() ?? 0; $step <= 30; $step++) {
        $journal->push((string) $step);
        usleep(50000);
        $job->checkpoint($step + 1);
    }
});
