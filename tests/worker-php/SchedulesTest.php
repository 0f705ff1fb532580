<?php

declare(strict_types=1);

namespace Dueq\Tests\Worker;

use Dueq\CatchUp;
use Dueq\Task;
use Dueq\Worker;
use Dueq\Worker\Job;
use Dueq\Worker\Schedules;
use InvalidArgumentException;
use PHPUnit\Framework\Attributes\DataProvider;

/** Schedules in code, their declaration by several releases, and the hooks of a worker. */
final class SchedulesTest extends WorkerTestCase
{
    private const HOUR_MS = 3_600_000;

    protected function tearDown(): void
    {
        array_map(putenv(...), ['TASKS', 'BROKEN', 'DUEQ_RELEASE']);
    }

    public function testWorkerDeclaresAndRunsWhatTheCodeSays(): void
    {
        $worker = $this->declared([
            'tick' => ['every' => 1.0],
            'night' => ['cron' => '30 2 * * *', 'tz' => 'Europe/Berlin'],
        ], 'v1');
        $this->assertMatchesRegularExpression('/^tick tick:\d+$/', $this->heard());
        $this->assertSame(0, $worker->stop());
        $night = $this->found('night');
        $this->assertMatchesRegularExpression('~^v1@\d{13}/2$~', $night['release']);
        unset($night['time'], $night['release']);
        $this->assertSame(
            ['schedule' => '30 2 * * *', 'zone' => 'Europe/Berlin', 'app' => 'shop'],
            $night,
        );
        $this->assertSame('every 1s', $this->found('tick')['schedule']);
    }

    public function testHooksRunInOrderOnceInEachProcess(): void
    {
        $worker = $this->declared([]);
        $this->tasks->push('order', [7], queue: 'orders');
        $this->assertSame('order 7', $this->heard());
        $this->assertSame(0, $worker->stop());
        $this->assertSame('stop second', $this->heard());
        $this->assertStringContainsString('onStop: RuntimeException: cannot close', $worker->log());
        $this->awaitEmpty('journal');
    }

    public function testErrorInOnStartEndsTheWorker(): void
    {
        putenv('BROKEN=1');
        $worker = $this->startWith('scheduled.php', '--concurrency', '1');
        $this->assertSame(1, $worker->wait());
        $this->assertSame('start first', $this->heard());
        $this->assertStringContainsString(
            'onStart: the worker cannot start: RuntimeException: the disk is not there',
            $worker->log(),
        );
        $this->awaitEmpty('journal');
    }

    public function testRollingDeployDoesNotFlap(): void
    {
        $old = ['night' => ['cron' => '30 2 * * *'], 'gone' => ['every' => 3600.0]];
        $new = ['night' => ['cron' => '45 2 * * *'], 'fresh' => ['every' => 3600.0]];
        $first = $this->declared($old);
        $second = $this->declared($new);
        $this->assertSame('45 2 * * *', $this->found('night')['schedule']);
        $this->assertSame('shop', $this->found('gone')['app']);
        $again = $this->declared($old);
        $this->assertStringContainsString('to go back on purpose', $again->log());
        $this->assertSame('45 2 * * *', $this->found('night')['schedule']);
        $this->assertStringNotContainsString('to go back', $second->log());
        $pushed = $this->queue('orders')->stats()->pushed;
        $third = $this->declared($new);
        $this->assertSame($pushed, $this->queue('orders')->stats()->pushed);
        $back = $this->declared($old, 'back');
        $this->assertSame('30 2 * * *', $this->found('night')['schedule']);
        foreach ([$first, $second, $again, $third, $back] as $worker) {
            $this->assertSame(0, $worker->stop());
        }
    }

    public function testPythonAndPhpReadTheSameReleases(): void
    {
        $text = Schedules::renewed(Schedules::renewed('', 'v1', 1, 1000), 'v2', 2, 2000);
        $this->assertSame('v2@2000/2 v1@1000/1', $text);
        $this->assertSame('v2', Schedules::replacedBy($text, 'v1', 1999 + self::HOUR_MS));
        $this->assertNull(Schedules::replacedBy($text, 'v1', 2000 + self::HOUR_MS));
        $this->assertNull(Schedules::replacedBy($text, 'v2', 2000));
        $this->assertNull(Schedules::replacedBy($text, 'v3', 2000));
        $this->assertSame('v2@2000/3 v1@1000/1', Schedules::renewed($text, 'v2', 3, 9000));
        $this->assertSame('v1@9000/1 v2@2000/2', Schedules::renewed($text, 'v1', 1, 9000));
        for ($number = 0; $number < 20; $number++) {
            $text = Schedules::renewed($text, "w$number", 1, $number);
        }
        $this->assertSame(8, substr_count($text, '@'));
        $this->assertNull(Schedules::replacedBy('damaged @/ x@y', 'v1', 0));
    }

    public function testScheduleOfAnotherAppStays(): void
    {
        $this->queue('orders')->schedule('night', '@daily', 'x', app: 'bank');
        $worker = $this->declared(['night' => ['every' => 60.0]]);
        $this->assertStringContainsString('that of the app bank', $worker->log());
        $this->assertSame('bank', $this->found('night')['app']);
        $this->assertSame(0, $worker->stop());
    }

    /** @return iterable<array{array<string, mixed>, string}> */
    public static function wrong(): iterable
    {
        yield [['cron' => '61 * * * *'], 'minute'];
        yield [['cron' => '@daily', 'every' => 60.0], 'one of them'];
        yield [['cron' => '0 0 31 2 *'], 'never due'];
        yield [['cron' => '@daily', 'tz' => 'Mars'], 'time zone'];
        yield [['every' => 0.5], 'every'];
        yield [['every' => NAN], 'every'];
        yield [['tz' => 'Europe/Berlin'], 'not given'];
        yield [['catchup' => CatchUp::Skip], 'not given'];
        yield [['every' => 60.0, 'unique' => 5.0], 'unique'];
    }

    /**
     * @dataProvider wrong
     * @param array<string, mixed> $options
     */
    #[DataProvider('wrong')]
    public function testWrongScheduleIsRefused(array $options, string $text): void
    {
        $this->expectException(InvalidArgumentException::class);
        $this->expectExceptionMessage($text);
        new Task('t', ...$options);
    }

    public function testScheduleNeedsANameAndNoArguments(): void
    {
        $this->assertSame('30 2 * * *', Task::of(Nightly::class)?->expression);
        $this->assertSame(CatchUp::Skip, Task::of(Nightly::class)->catchup);
        $this->assertSame('every 1500ms', (new Task('t', every: 1.5))->expression);
        $this->assertSame('every 300s', (new Task('t', every: 300))->expression);
        $refused = function (callable $call): string {
            try {
                $call();
            } catch (InvalidArgumentException $error) {
                return $error->getMessage();
            }

            return '';
        };
        $url = $this->server->url();
        $add = fn (callable $handler, ?string $name = 'shop') => $refused(
            fn () => (new Worker($url, name: $name))->on('t', $handler, every: 60.0),
        );
        $this->assertStringContainsString('has no name', $add(fn () => null, null));
        $this->assertStringContainsString('without arguments', $add(fn (int $a) => $a));
        $this->assertSame('', $add(fn (Job $job, int $more = 1) => null));
        $made = fn (string ...$words) => $refused(fn () => new Worker($url, ...$words));
        $this->assertStringContainsString('name', $made(name: 'a b'));
        $this->assertStringContainsString('release', $made(release: '@'));
    }

    /** @param array<string, array<string, mixed>> $tasks */
    private function declared(array $tasks, ?string $release = null): Process
    {
        putenv('TASKS=' . json_encode($tasks));
        putenv($release === null ? 'DUEQ_RELEASE' : "DUEQ_RELEASE=$release");
        $worker = $this->startWith('scheduled.php', '--concurrency', '1');
        $this->assertSame('start first', $this->heard());
        $this->assertSame('start second', $this->heard());

        return $worker;
    }

    /** @return array<string, string> */
    private function found(string $name): array
    {
        return $this->queue('orders')->find("schedule:$name")->headers ?? [];
    }
}

#[Task('nightly', queue: 'orders', cron: '30 2 * * *', tz: 'Europe/Berlin', catchup: CatchUp::Skip)]
final class Nightly
{
    public function __invoke(): void
    {
    }
}
