<?php
/* dueq from PHP. */

declare(strict_types=1);

require __DIR__ . '/../harness.php';

final class DueqPeer implements Peer
{
    private Dueq\Queue $queue;
    private Dueq\Pusher $pusher;

    public function __construct()
    {
        $this->queue = new Dueq\Queue('bench', 'unix://' . getenv('PEER_REDIS_SOCKET'));
        $this->pusher = $this->queue->pusher();
    }

    public function push(string $body, ?int $dueMs = null): string
    {
        return $this->queue->push($body, at: $dueMs === null ? null : $dueMs / 1000);
    }

    public function pushMany(array $jobs): void
    {
        foreach ($jobs as [$body, $dueMs]) {
            $this->pusher->push($body, at: $dueMs === null ? null : $dueMs / 1000);
        }
    }

    public function flush(): void
    {
        $this->pusher->flush();
    }

    public function cancel(string $id): void
    {
        $this->queue->cancel($id) || throw new RuntimeException("$id was not there");
    }

    public function work(array $options, callable $handle): void
    {
        $consumer = $this->queue->consume(
            prefetch: $options['prefetch'],
            slack: $options['slack_ms'] / 1000,
        );
        $consumer->work(function (Dueq\Message $message) use ($handle, $consumer): void {
            if (!$handle($message->body)) {
                $consumer->stop();
            }
        });
    }
}

runPeer(new DueqPeer(), $argv);
