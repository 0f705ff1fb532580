<?php
/* dueq from PHP. */

declare(strict_types=1);

require __DIR__ . '/../harness.php';

const PREFETCH = 100;

final class DueqPeer implements Peer
{
    private Dueq\Queue $queue;
    private Dueq\Pusher $pusher;

    public function __construct()
    {
        $this->queue = new Dueq\Queue('bench', 'unix://' . getenv('PEER_REDIS_SOCKET'));
        $this->pusher = $this->queue->pusher();
    }

    public function push(string $body): void
    {
        $this->queue->push($body);
    }

    public function pushMany(array $bodies): void
    {
        foreach ($bodies as $body) {
            $this->pusher->push($body);
        }
    }

    public function flush(): void
    {
        foreach ($this->pusher->flush() as $error) {
            throw $error;
        }
    }

    public function delay(string $body, int $dueMs): void
    {
        $this->queue->push($body, at: $dueMs / 1000);
    }

    public function work(string $setting, callable $handle): void
    {
        $consumer = $this->queue->consume(prefetch: $setting === 'best' ? PREFETCH : 1);
        $consumer->work(function (Dueq\Message $message) use ($handle, $consumer): void {
            if (!$handle($message->body)) {
                $consumer->stop();
            }
        });
    }
}

runPeer(new DueqPeer(), $argv);
