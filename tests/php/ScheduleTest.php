<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\CatchUp;
use Dueq\Exception\InvalidException;
use Dueq\Exception\LeaseLostException;
use Dueq\Queue;
use Dueq\State;

final class ScheduleTest extends QueueTestCase
{
    public function test_schedule_is_due_as_golden(): void
    {
        foreach (file(__DIR__ . '/../golden/schedules.tsv', FILE_IGNORE_NEW_LINES) as $line) {
            if ($line[0] === '#') {
                continue;
            }
            [$name, $expression, $zone, $at, $times] = explode("\t", $line);
            $expression = str_replace("''", '', $expression);
            $at = (float) $at;
            if ($times === 'invalid') {
                $this->assertThrows(
                    InvalidException::class,
                    fn () => Queue::nextTime($expression, $zone, $at),
                );
                continue;
            }
            foreach (explode(',', $times) as $time) {
                $next = Queue::nextTime($expression, $zone, $at);
                $this->assertSame($time === '-' ? null : (float) $time, $next, "$name $expression");
                $at = $next;
            }
        }
    }

    public function test_next_time_of_now(): void
    {
        $this->assertEqualsWithDelta(microtime(true) + 1800, Queue::nextTime('every 1h'), 1801);
        $this->assertSame(
            1798761600.0,
            Queue::nextTime('@yearly', after: new \DateTimeImmutable('2026-05-01T00:00:00Z')),
        );
    }

    public function test_fire_pushes_the_job_and_the_next_message(): void
    {
        $queue = $this->queue();
        $draft = ['body' => 'x', 'headers' => ['task' => 'report']];
        $schedule = ['a', '@yearly', $draft, 'Europe/Berlin', CatchUp::Skip];
        $this->assertTrue($queue->schedule(...$schedule));
        $this->assertFalse($queue->schedule(...$schedule));
        $this->assertTrue($queue->reschedule('schedule:a'));
        $message = $queue->reserve();
        $at = (int) $message->headers['time'];
        $this->assertTrue($message->isSchedule());
        $this->assertSame(["a:$at"], $message->fire());
        $this->assertThrows(LeaseLostException::class, fn () => $message->fire());
        $job = $queue->find("a:$at");
        $this->assertFalse($job->isSchedule());
        $this->assertSame(
            [$at / 1000.0, 'x', ['task' => 'report']],
            [$job->time, $job->body, $job->headers],
        );
        $next = $queue->find('schedule:a');
        $this->assertSame(Queue::nextTime('@yearly', 'Europe/Berlin', $at / 1000), $next->time);
        $this->assertSame(State::Delayed, $queue->cancel('schedule:a'));
    }

    public function test_schedule_that_cannot_be(): void
    {
        $queue = $this->queue();
        foreach ([
            fn () => $queue->schedule('', '@daily', 'x'),
            fn () => $queue->schedule('a', 'daily', 'x'),
            fn () => $queue->schedule('a', '@daily', 'x', 'Mars'),
            fn () => $queue->schedule('a', '@daily', ['body' => 'x', 'id' => 'y']),
            fn () => $queue->schedule('a', '@daily', ['headers' => []]),
        ] as $call) {
            $this->assertThrows(InvalidException::class, $call);
        }
        $this->assertTypeError('($job)', fn () => $queue->schedule('a', '@daily', null));
        $queue->push('x');
        $this->assertThrows(InvalidException::class, fn () => $queue->reserve()->fire());
    }
}
