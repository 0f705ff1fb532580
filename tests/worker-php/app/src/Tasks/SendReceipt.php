<?php

declare(strict_types=1);

namespace App\Tasks;

use Dueq\Queue;
use Dueq\Task;

#[Task('send_receipt', queue: 'mail', maxAttempts: 3, backoff: [0.05, 0.1])]
final class SendReceipt
{
    public function __construct(private readonly Queue $journal)
    {
    }

    public function __invoke(int $order, bool $copy = false): void
    {
        $this->journal->push("receipt $order" . ($copy ? ' and a copy' : ''));
    }
}
