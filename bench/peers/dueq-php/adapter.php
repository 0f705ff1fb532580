<?php
/* dueq from PHP. */

declare(strict_types=1);

require __DIR__ . '/../harness.php';

const PREFETCH = 100;

final class DueqPeer implements Peer
{
    private Dueq\Queue $queue;

    public function __construct()
    {
        $this->queue = new Dueq\Queue('bench', 'unix://' . getenv('PEER_REDIS_SOCKET'));
    }

    public function push(string $body): void
    {
        $this->queue->push($body);
    }

    public function pushMany(array $bodies): void
    {
        $this->queue->pushMany($bodies);
    }

    public function delay(string $body, int $dueMs): void
    {
        $this->queue->push($body, at: $dueMs / 1000);
    }

    public function work(string $setting, callable $handle): void
    {
        $most = $setting === 'best' ? PREFETCH : 1;
        for ($more = true; $more;) {
            $messages = $this->queue->reserveMany($most, timeout: INF);
            foreach ($messages as $message) {
                $more = $handle($message->body) && $more;
            }
            $this->queue->ackMany($messages);
        }
    }
}

runPeer(new DueqPeer(), $argv);
