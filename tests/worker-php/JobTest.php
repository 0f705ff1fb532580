<?php

declare(strict_types=1);

namespace Dueq\Tests\Worker;

use App\Services;
use App\Tasks\SendReceipt;
use Dueq\Message;
use Dueq\Task;
use Dueq\Worker;
use Dueq\Worker\Job;
use Dueq\Worker\Json;
use Dueq\Worker\Serializer;
use Dueq\Worker\Stop;
use Dueq\Worker\UnknownTask;
use InvalidArgumentException;
use UnexpectedValueException;

/** What a worker does with a message, in this process. */
final class JobTest extends WorkerTestCase
{
    private Worker $worker;

    protected function setUp(): void
    {
        parent::setUp();
        $this->worker = new Worker($this->server->url());
    }

    public function testHandlersAreCallablesAndClasses(): void
    {
        $this->worker->on('closure', fn (string $a, string $b = 'b') => "$a $b")
            ->on('method', [new self('x'), 'joined'])
            ->on('static', self::class . '::of')
            ->on('function', 'strtoupper')
            ->on('class', Doubling::class);
        $this->assertSame('a c', $this->ran('closure', ['a', 'b' => 'c']));
        $this->assertSame('a-b', $this->ran('method', ['b' => 'b', 'a' => 'a']));
        $this->assertSame('of a', $this->ran('static', ['a']));
        $this->assertSame('A', $this->ran('function', ['a']));
        $this->assertSame(4, $this->ran('class', [2]));
    }

    public function joined(string $a, string $b): string
    {
        return "$a-$b";
    }

    public static function of(string $a): string
    {
        return "of $a";
    }

    public function testAHandlerGetsTheJobWhereItAsksForIt(): void
    {
        $this->worker->on(
            'job',
            fn (Job $job, int $a, int $b) => [$job->task, $job->message->attempt, $a, $b],
        );
        $this->assertSame(['job', 1, 7, 8], $this->ran('job', [7, 'b' => 8]));
    }

    public function testAContainerMakesTheClasses(): void
    {
        putenv("DUEQ_URL={$this->server->url()}");
        $worker = new Worker($this->server->url(), new Services());
        $this->worker = $worker->tasks(SendReceipt::class);
        $this->ran('send_receipt', [17]);
        $this->assertSame('receipt 17', $this->heard());
        $this->assertSame(['mail'], $this->worker->queues());
    }

    public function testMiddlewareIsAroundEachJob(): void
    {
        $said = [];
        $this->worker->on('say', function (string $word) use (&$said): string {
            $said[] = $word;

            return "$word!";
        })->middleware(function (Job $job, callable $next) use (&$said): string {
            $said[] = "begins {$job->task}";
            try {
                return strtoupper($next($job));
            } finally {
                $said[] = 'ends';
            }
        }, Emphasis::class);
        $this->assertSame('WELL!?', $this->ran('say', ['well']));
        $this->assertSame(['begins say', 'well', 'ends'], $said);
    }

    public function testMessagesThatAreNoTasksGoToTheHandlerOfTheirQueue(): void
    {
        $this->worker->on('a', fn () => 'task')->onQueue(
            'orders',
            fn (Job $job) => [$job->task, $job->message->body],
        );
        $this->queue('orders')->push('pack it');
        $this->assertSame([null, 'pack it'], $this->runNext('orders'));
        $this->tasks->push('a', queue: 'orders');
        $this->assertSame('task', $this->runNext('orders'));
        $this->assertSame(['default', 'orders'], $this->worker->queues());
        $this->queue('other')->push('pack it');
        $this->expectException(UnknownTask::class);
        $this->expectExceptionMessage(
            'the message has no header task, and the queue other has no handler here',
        );
        $this->runNext('other');
    }

    public function testAnUnknownTaskIsNamedBesideTheKnownOnes(): void
    {
        $this->worker->on('a', fn () => null)->on('b', fn () => null);
        $this->expectException(UnknownTask::class);
        $this->expectExceptionMessage('there is no task c here; there are: a, b');
        $this->ran('c');
    }

    public function testAnUnknownSerializerIsNamedBesideTheKnownOnes(): void
    {
        $this->worker->on('a', fn () => null);
        $this->queue()->push('x', headers: ['task' => 'a', 'serializer' => 'pickle']);
        $this->expectException(UnknownTask::class);
        $this->expectExceptionMessage(
            'the task a: there is no serializer pickle here; there are: json',
        );
        $this->runNext();
    }

    public function testAnotherSerializerTravelsByItsName(): void
    {
        $serializer = new class implements Serializer {
            public function encode(array $args, array $kwargs): string
            {
                return implode(',', $args) . ';' . implode(',', $kwargs);
            }

            public function decode(string $body): array
            {
                return [explode(',', explode(';', $body)[0]), []];
            }
        };
        $this->worker = new Worker($this->server->url(), serializers: ['commas' => $serializer]);
        $this->worker->on('a', fn (string ...$all) => $all, serializer: 'commas');
        $this->worker->push('a', ['x', 'y']);
        $message = $this->queue()->reserve();
        $this->assertSame(
            ['x,y;', ['task' => 'a', 'serializer' => 'commas']],
            [$message->body, $message->headers],
        );
        $this->assertSame(['x', 'y'], $this->worker->run($this->worker->job($message)));
    }

    /** @dataProvider bodies */
    #[\PHPUnit\Framework\Attributes\DataProvider('bodies')]
    public function testABodyThatIsNoTasksIsRefused(string $body, string $error): void
    {
        $this->worker->on('a', fn () => null);
        $this->queue()->push($body, headers: ['task' => 'a']);
        $this->expectException($error);
        $this->runNext();
    }

    /** @return iterable<array{string, class-string}> */
    public static function bodies(): iterable
    {
        yield ['', \JsonException::class];
        yield ["\xff", \JsonException::class];
        yield ['7', UnexpectedValueException::class];
        yield ['{"args":[],"more":1}', UnexpectedValueException::class];
        yield ['{"args":{"a":1}}', UnexpectedValueException::class];
        yield ['{"args":7}', UnexpectedValueException::class];
        yield ['{"kwargs":[1]}', UnexpectedValueException::class];
        yield ['{"kwargs":{"0":1}}', UnexpectedValueException::class];
    }

    public function testABodyMayOmitEmptyArgumentsAndHaveLargeNumbers(): void
    {
        $json = new Json();
        $this->assertSame([[], []], $json->decode('{}'));
        $this->assertSame([[1], []], $json->decode('{"args":[1]}'));
        $this->assertSame([[], ['a' => 1.0]], $json->decode('{"kwargs":{"a":1.0}}'));
        $this->assertSame(
            [['123456789012345678901'], []],
            $json->decode('{"args":[123456789012345678901]}'),
        );
    }

    public function testFoldersAreSearchedForTasks(): void
    {
        $this->worker->discover(Application::shared()->folder . '/src');
        $this->expectException(UnknownTask::class);
        $this->expectExceptionMessage('there are: from_the_map, send_receipt');
        $this->ran('c');
    }

    public function testWhatIsNoHandlerIsRefused(): void
    {
        foreach ([
            'is neither a callable nor a class: nothing'
                => fn () => $this->worker->on('a', 'nothing'),
            'has no attribute Dueq\Task' => fn () => $this->worker->tasks(self::class),
            'has two handlers' => fn () => $this->worker->on('b', 'strlen')->on('b', 'strlen'),
            'there is no folder /nowhere' => fn () => $this->worker->discover('/nowhere'),
            'timeout must be more than 0, and killAfter at least timeout'
                => fn () => $this->worker->on('c', 'strlen', timeout: 5, killAfter: 4),
            'has no option attempts' => fn () => $this->worker->on('c', 'strlen', attempts: 5),
        ] as $text => $call) {
            try {
                $call();
                $this->fail("not refused: $text");
            } catch (InvalidArgumentException $error) {
                $this->assertStringContainsString($text, $error->getMessage());
            }
        }
    }

    public function testTheLimitsOfATask(): void
    {
        $this->assertSame([null, null], [(new Task('a'))->timeout, (new Task('a'))->killAfter]);
        $this->assertSame(40.0, (new Task('a', timeout: 30))->killAfter);
        $this->assertSame(5.0, (new Task('a', killAfter: 5))->killAfter);
        $this->assertSame(['maxAttempts' => null], (new Task('a', maxAttempts: null))->options);
    }

    public function testAJobGoesOnFromItsCursor(): void
    {
        $stopping = false;
        $this->worker->on('walk', function (Job $job) use (&$stopping): void {
            for ($at = $job->cursor()['at'] ?? 0; $at < 4; $at++) {
                $stopping = $at === 1;
                $job->checkpoint(['at' => $at + 1]);
            }
        });
        $this->tasks->push('walk');
        $message = $this->queue()->reserve();
        $job = $this->worker->job($message, function () use (&$stopping): bool {
            return $stopping;
        });
        try {
            $this->worker->run($job);
            $this->fail('it did not stop');
        } catch (Stop) {
            $this->assertSame(['at' => 2], $job->cursor());
        }
        $message->release();
        $message = $this->queue()->reserve();
        $this->assertSame([1, '{"at":2}'], [$message->attempt, $message->headers['cursor']]);
        $job = $this->worker->job($message);
        $this->worker->run($job);
        $this->assertSame(['at' => 4], $job->cursor());
    }

    /** @param array<mixed> $arguments */
    private function ran(string $task, array $arguments = []): mixed
    {
        $queue = $this->worker->queues()[0] ?? 'default';
        $this->tasks->push($task, $arguments, queue: $queue);

        return $this->runNext($queue);
    }

    private function runNext(string $queue = 'default'): mixed
    {
        $message = $this->queue($queue)->reserve();
        $this->assertInstanceOf(Message::class, $message);
        try {
            return $this->worker->run($this->worker->job($message));
        } finally {
            $message->ack();
        }
    }
}

final class Doubling
{
    public function handle(int $number): int
    {
        return 2 * $number;
    }
}

final class Emphasis
{
    public function __invoke(Job $job, callable $next): string
    {
        return $next($job) . '?';
    }
}
