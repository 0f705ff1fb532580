<?php

declare(strict_types=1);

namespace Dueq\Tests\Laravel;

use Dueq\State;

/** Laravel's own commands on a connection of this driver. */
final class ConsoleTest extends LaravelTestCase
{
    public function testQueueWorkAndRetry(): void
    {
        $job = new Act('a', 'throw');
        $job->tries = 1;
        $id = $this->queue()->push($job);
        $this->artisanWork();
        $this->assertSame('a 1', Journal::read());
        $this->assertStringStartsWith('a failed', Journal::read());
        $this->assertCount(1, $this->app->failed());
        $this->assertStringContainsString($id, $this->app->artisan('queue:failed'));

        $this->app->artisan('queue:retry', ['id' => [$id]]);
        $this->assertSame([], $this->app->failed());
        $this->assertSame(State::Ready, $this->queue()->messages()->find($id)->state);
        $this->assertSame(1, $this->queue()->pop()->attempts());
    }

    public function testQueueWorkWithTriesAndBackoff(): void
    {
        $id = $this->queue()->push(new Act('a', 'throw', 'throw'));
        $this->artisanWork(['--tries' => 2, '--backoff' => 60]);
        $this->assertSame('a 1', Journal::read());
        $this->assertSame(State::Delayed, $this->queue()->messages()->find($id)->state);
        $this->queue()->messages()->reschedule($id);
        $this->artisanWork(['--tries' => 2]);
        $this->assertSame('a 2', Journal::read());
        $this->assertCount(1, $this->app->failed());
    }

    public function testQueueClear(): void
    {
        $this->queue()->push(new Act('a'));
        $this->queue()->later(60, new Act('b'));
        $output = $this->app->artisan('queue:clear', ['connection' => 'dueq', '--force' => true]);
        $this->assertStringContainsString('Cleared 2 jobs', $output);
        $this->assertSame(0, $this->queue()->size());
    }

    public function testQueueMonitor(): void
    {
        $this->queue()->push(new Act('a'));
        $this->queue()->later(60, new Act('b'));
        $output = $this->app->artisan('queue:monitor', ['queues' => 'dueq:default', '--max' => 2]);
        $this->assertMatchesRegularExpression('/default.*2.*ALERT/s', $output);
    }

    /** @param array<string, mixed> $options */
    private function artisanWork(array $options = []): void
    {
        $this->app->artisan('queue:work', $options + [
            'connection' => 'dueq', '--stop-when-empty' => true,
            '--sleep' => '0.1', '--force' => true,
        ]);
    }
}
