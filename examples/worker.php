<?php

/*
 * Cancels orders whose payment deadline has passed, up to five at a time.
 *
 *     php worker.php LEDGER
 *
 * Writes a line for each step to the file LEDGER, by which the demo checks the worker.
 */

declare(strict_types=1);

const LEASE = 2.0; // seconds after which another worker gets the message of a killed worker

/**
 * A real shop would return the goods to the stock and release the card here. Two kinds of orders
 * fail.
 */
function cancelOrder(array $order, int $attempt): void
{
    usleep(5_000);
    if ((float) $order['amount'] === 0.0) {
        throw new DomainException('nothing to release: paid by voucher');
    }
    if ($attempt === 1 && (int) substr($order['number'], -2) % 20 === 7) {
        throw new RuntimeException('the stock service did not answer');
    }
}

$ledger = fopen($argv[1], 'ab');
$note = function (string $what, Dueq\Message $message, array $more = []) use ($ledger): void {
    $entry = ['what' => $what, 'order' => $message->id, 'delivery' => $message->deliveries] + $more;
    fwrite($ledger, json_encode($entry, JSON_THROW_ON_ERROR) . "\n");
};

$running = true;
pcntl_async_signals(true);
pcntl_signal(SIGTERM, function () use (&$running): void {
    $running = false;
});

$queue = new Dueq\Queue('deadlines');
while ($running) {
    $messages = $queue->reserveMany(5, timeout: 5.0, lease: LEASE);
    foreach ($messages as $message) {
        $note('taken', $message, ['until' => $message->time, 'lease' => LEASE]);
    }
    foreach ($messages as $message) {
        try {
            try {
                $order = json_decode($message->body, true, flags: JSON_THROW_ON_ERROR);
                cancelOrder($order, $message->attempt);
            } catch (Exception $error) {
                $now = microtime(true);
                $again = $message->retry(delay: 0.5, error: $error->getMessage());
                $note($again ? 'retried' : 'exhausted', $message, ['at' => $now, 'delay' => 0.5]);
                continue;
            }
            $message->ack();
            $note('cancelled', $message);
        } catch (Dueq\Exception\LeaseLostException) {
            $note('taken back', $message); // the payment came meanwhile
        }
    }
}
