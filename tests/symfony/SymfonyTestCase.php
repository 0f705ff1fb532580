<?php

declare(strict_types=1);

namespace Dueq\Tests\Symfony;

use App\Note;
use Dueq\Message;
use Dueq\Queue;
use Dueq\SymfonyMessenger\DueqTransport;
use Dueq\SymfonyMessenger\DueqTransportFactory;
use Dueq\Tests\Server;
use PHPUnit\Framework\TestCase;
use Psr\Log\AbstractLogger;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Transport\Serialization\PhpSerializer;
use Symfony\Component\Messenger\Transport\Serialization\SerializerInterface;

/** Tests on an empty server that all of them share. */
abstract class SymfonyTestCase extends TestCase
{
    protected const PATIENCE = 20.0;

    private static ?Server $shared = null;

    protected Server $server;

    /** Of the transport's URL. */
    protected string $timeout = '2s';

    protected AbstractLogger $logger;

    protected function setUp(): void
    {
        $this->server = self::$shared ??= new Server();
        $this->server->command('FLUSHALL');
        $this->logger = new class () extends AbstractLogger {
            /** @var list<string> */
            public array $lines = [];

            public function log($level, $message, array $context = []): void
            {
                $this->lines[] = "$level: $message";
            }
        };
    }

    protected function dsn(): string
    {
        return "dueq+{$this->server->url("timeout={$this->timeout}")}";
    }

    /** @param array<string, mixed> $options */
    protected function transport(
        array $options = [],
        ?SerializerInterface $serializer = null,
    ): DueqTransport {
        $factory = new DueqTransportFactory($this->logger);

        return $factory->createTransport(
            $this->dsn(),
            $options + ['queue' => 'async'],
            $serializer ?? new PhpSerializer(),
        );
    }

    protected function queue(string $name = 'async'): Queue
    {
        return new Queue($name, $this->server->url());
    }

    /** The next line of the journal. */
    protected function heard(): string
    {
        $message = $this->queue('journal')->reserve(timeout: self::PATIENCE);
        $this->assertInstanceOf(Message::class, $message, 'nothing came to the journal');
        $message->ack();

        return $message->body;
    }

    /** @return list<Envelope> */
    protected static function got(DueqTransport $transport, int $count = 1): array
    {
        $envelopes = [];
        foreach ($transport->get($count) as $envelope) {
            $envelopes[] = $envelope;
        }

        return $envelopes;
    }

    /** @param iterable<Envelope> $envelopes */
    protected static function texts(iterable $envelopes): array
    {
        $texts = [];
        foreach ($envelopes as $envelope) {
            $texts[] = $envelope->getMessage()->text;
        }

        return $texts;
    }

    /** @return array{int, int, int, int} ready, delayed, leased, dead */
    protected function counts(string $queue = 'async'): array
    {
        $stats = $this->queue($queue)->stats();

        return [$stats->ready, $stats->delayed, $stats->leased, $stats->dead];
    }

    /** Waits until $found returns $expected. */
    protected function await(mixed $expected, callable $found): void
    {
        for (
            $end = microtime(true) + self::PATIENCE;
            $found() != $expected && microtime(true) < $end;
            usleep(10000)
        ) {
            // The next look follows.
        }
        $this->assertEquals($expected, $found());
    }

    protected static function note(string $text = 'a', string $does = ''): Envelope
    {
        return new Envelope(new Note($text, $does));
    }
}
