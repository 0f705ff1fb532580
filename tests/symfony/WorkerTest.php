<?php

declare(strict_types=1);

namespace Dueq\Tests\Symfony;

use App\Kernel;
use App\Note;
use App\Telemetry;
use Dueq\Tests\Worker\Process;
use Dueq\Tests\Server;
use RuntimeException;
use Symfony\Bundle\FrameworkBundle\Console\Application;
use Symfony\Component\Console\Input\ArrayInput;
use Symfony\Component\Console\Output\BufferedOutput;
use Symfony\Component\Messenger\MessageBusInterface;
use Symfony\Component\Messenger\Stamp\DelayStamp;
use Symfony\Component\Messenger\Stamp\TransportMessageIdStamp;

require_once __DIR__ . '/../worker-php/app/telemetry.php';

/** The whole of Symfony: an application with the bundle, and its messenger:consume as a process. */
final class WorkerTest extends SymfonyTestCase
{
    private string $folder;

    private Kernel $kernel;

    protected function setUp(): void
    {
        parent::setUp();
        $this->folder = sys_get_temp_dir() . '/dueq-symfony-' . getmypid();
        @mkdir($this->folder);
        foreach ($this->environment() as $name => $value) {
            putenv("$name=$value");
        }
        $this->kernel = new Kernel('prod', false);
        $this->kernel->boot();
    }

    protected function tearDown(): void
    {
        $this->kernel->shutdown();
        array_map(fn (string $name) => putenv($name), array_keys($this->environment()));
    }

    public static function tearDownAfterClass(): void
    {
        exec('rm -rf ' . escapeshellarg(sys_get_temp_dir() . '/dueq-symfony-' . getmypid()));
    }

    public function testHandlesMessagesAndStopsOnSigterm(): void
    {
        $worker = $this->consume();
        $this->dispatch(new Note('now'));
        $this->assertSame('now', $this->heard());
        $begun = microtime(true);
        $this->dispatch(new Note('later'), new DelayStamp(400));
        $this->assertSame('later', $this->heard());
        $this->assertGreaterThanOrEqual(0.4, microtime(true) - $begun);
        $this->await([0, 0, 0, 0], fn () => $this->counts());
        $this->assertSame(0, $worker->stop());
    }

    public function testRetriesThenFailsThenIsRetriedByHand(): void
    {
        $worker = $this->consume();
        $this->dispatch(new Note('x', 'fail'));
        $this->assertSame(['x', 'x', 'x'], [$this->heard(), $this->heard(), $this->heard()]);
        $this->await([1, 0, 0, 0], fn () => $this->counts('failed'));
        $this->await([0, 0, 0, 0], fn () => $this->counts());
        $this->assertSame(0, $worker->stop());
        [$found] = iterator_to_array($this->transport(['queue' => 'failed'])->all());
        $id = $found->last(TransportMessageIdStamp::class)->getId();
        $this->assertStringContainsString(
            'x fails',
            $this->console('messenger:failed:show', ['id' => $id]),
        );
        $this->queue('journal')->push('', id: 'well', delay: 3600.0);
        $this->console('messenger:failed:retry', ['id' => [$id], '--force' => true]);
        $this->assertSame('x', $this->heard());
        $this->assertSame([0, 0, 0, 0], $this->counts('failed'));
    }

    public function testAnotherWorkerSoonGetsTheMessageOfAKilledWorker(): void
    {
        $worker = $this->consume();
        $this->dispatch(new Note('x', 'sleep'));
        $this->assertSame('x', $this->heard());
        $worker->signal(SIGKILL);
        $worker->wait();
        $other = $this->consume();
        $this->assertSame(['x', 'x: awake'], [$this->heard(), $this->heard()]);
        $this->await([0, 0, 0, 0], fn () => $this->counts());
        $this->assertSame(0, $other->stop());
        $this->assertSame(2, $this->queue()->stats()->reserved);
    }

    public function testHandlerThatTakesLongerThanTheLeaseRunsOnceAndEndsBeforeTheStop(): void
    {
        [$worker, $other] = [$this->consume(), $this->consume()];
        $this->dispatch(new Note('x', 'sleep'));
        $this->assertSame('x', $this->heard());
        $worker->signal(SIGTERM);
        $other->signal(SIGTERM);
        $this->assertSame('x: awake', $this->heard());
        $this->assertSame([0, 0], [$worker->wait(), $other->wait()]);
        $this->assertSame([0, 0, 0, 0], $this->counts());
        $this->assertSame(1, $this->queue()->stats()->reserved);
    }

    public function testMessageThatIsDoneInAnOutageIsDoneAndTheWorkerLives(): void
    {
        $this->server = new Server('--appendonly', 'yes', '--appendfsync', 'always');
        $this->timeout = '3s';
        $worker = $this->consume();
        $this->transport()->send(self::note('x', 'quiet'));
        $this->assertSame('x', $this->heard());
        $this->server->kill();
        $worker->awaitLog('/is done, which the server is told when it is back/');
        $this->server->start();
        $this->await(1, fn () => $this->queue()->stats()->acked);
        $this->assertSame(1, $this->queue()->stats()->reserved);
        $this->transport()->send(self::note('y'));
        $this->assertSame('y', $this->heard());
        $this->assertSame(0, $worker->stop());
        $this->server->remove();
    }

    public function testExitInAHandlerIsACrash(): void
    {
        $worker = $this->consume();
        $this->dispatch(new Note('x', 'exit'));
        $this->assertSame('x', $this->heard());
        $this->assertSame(0, $worker->wait());
        $this->assertSame(1, $this->queue()->reserve(timeout: 5.0)?->crashes);
    }

    public function testATraceGoesFromTheDispatchToTheHandlerAndItsRetries(): void
    {
        $telemetry = new Telemetry();
        try {
            $this->dispatch(new Note('x', 'fail'));
            $this->console('messenger:consume', ['receivers' => ['async'], '--limit' => 3]);
        } finally {
            $telemetry->end();
        }
        $send = $telemetry->span('send async');
        $deliveries = $telemetry->spans('process async');
        $this->assertCount(3, $deliveries);
        foreach ($deliveries as $span) {
            $this->assertSame($send->getSpanId(), $span->getParentSpanId());
            $this->assertSame($send->getSpanId(), Telemetry::linked($span));
            $about = $span->getAttributes()->toArray();
            $this->assertSame(RuntimeException::class, $about['error.type']);
            $this->assertSame($this->server->socket, $about['server.address']);
        }
        $settled = [...$telemetry->spans('retry async'), $telemetry->span('bury async')];
        $this->assertSame(
            array_map(fn (object $span) => $span->getSpanId(), $deliveries),
            array_map(fn (object $span) => $span->getParentSpanId(), $settled),
        );
        // The message is on the failure transport, with the same trace.
        $failed = $this->queue('failed')->reserve();
        $this->assertSame($send->getTraceId(), substr($failed->headers['traceparent'], 3, 32));
    }

    public function testSetsUpTheTransports(): void
    {
        $this->assertStringContainsString('"async"', $this->console('messenger:setup-transports'));
    }

    /** @return array<string, string> */
    private function environment(): array
    {
        return [
            'APP_FOLDER' => $this->folder,
            'MESSENGER_DSN' => $this->dsn(),
            'DUEQ_URL' => $this->server->url(),
        ];
    }

    private function dispatch(Note $note, DelayStamp ...$stamps): void
    {
        $bus = $this->kernel->getContainer()->get('test.bus');
        $this->assertInstanceOf(MessageBusInterface::class, $bus);
        $bus->dispatch($note, $stamps);
    }

    private function consume(): Process
    {
        $process = new Process($this->folder, [
            '-d', 'include_path=' . get_include_path(), __DIR__ . '/app/console',
            'messenger:consume', 'async', '-vv', '--no-ansi',
        ], $this->environment());
        // Symfony ignores a signal that comes before it first looks for a message.
        $this->await(
            true,
            fn () => in_array($process->pid, array_column($this->queue()->workers(), 'pid'), true),
        );

        return $process;
    }

    /** @param array<string, mixed> $arguments */
    private function console(string $command, array $arguments = []): string
    {
        $application = new Application($this->kernel);
        $application->setAutoExit(false);
        $application->setCatchExceptions(false);
        $output = new BufferedOutput();
        $input = new ArrayInput(['command' => $command] + $arguments);
        $input->setInteractive(false);
        $status = $application->run($input, $output);
        $text = $output->fetch();
        $this->assertSame(0, $status, $text);

        return $text;
    }
}
