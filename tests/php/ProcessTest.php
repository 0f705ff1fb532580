<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Backoff;
use Dueq\Exception\DueqException;
use Dueq\Exception\FlushException;
use Dueq\Queue;
use Dueq\Queues;
use Dueq\Replace;
use Dueq\State;

/** Signals, forks, limits and memory: how the extension lives in a process. */
final class ProcessTest extends QueueTestCase
{
    protected function tearDown(): void
    {
        pcntl_async_signals(false);
        pcntl_signal(SIGUSR1, SIG_DFL);
        pcntl_signal(SIGALRM, SIG_DFL);
    }

    /** Sends the signal to this process once its reserve is blocked in the server. */
    private function signalWhenBlocked(int $signal): int
    {
        $me = getmypid();
        return $this->besides(function () use ($me, $signal) {
            $this->server->awaitBlocked();
            posix_kill($me, $signal);
        });
    }

    public function test_a_wait_ends_at_a_signal_and_its_handler_runs(): void
    {
        $queue = $this->queue();
        $queues = new Queues(['a', 'b'], $this->server->url());
        $held = $queue->lock('l', 600);
        $seen = 0;
        pcntl_async_signals(true);
        pcntl_signal(SIGUSR1, function () use (&$seen) {
            $seen++;
        });
        $waits = [
            fn () => $queue->reserve(INF), fn () => $queue->reserveMany(5, INF),
            fn () => $queues->reserve(INF),
            fn () => $queues->reserveMany(5, INF), fn () => $queue->lock('l', 60, INF),
        ];
        foreach ($waits as $i => $wait) {
            $sender = $this->signalWhenBlocked(SIGUSR1);
            $this->assertContains($wait(), [null, []]);
            $this->assertSame($i + 1, $seen);
            pcntl_waitpid($sender, $status);
        }
        $queue->push('after');
        $this->assertSame('after', $queue->reserve()->body);
        $this->queue('b')->push('after');
        $this->assertSame('after', $queues->reserve()->body);
        $held->release();
        $this->assertNotNull($queue->lock('l', 60));
    }

    public function test_reserve_ends_at_a_signal_that_is_dispatched_by_hand(): void
    {
        $queue = $this->queue();
        $seen = 0;
        pcntl_signal(SIGUSR1, function () use (&$seen) {
            $seen++;
        });
        $sender = $this->signalWhenBlocked(SIGUSR1);
        $this->assertNull($queue->reserve(INF));
        pcntl_signal_dispatch();
        $this->assertSame(1, $seen);
        pcntl_waitpid($sender, $status);
    }

    public function test_reserve_lets_an_exception_of_a_handler_through(): void
    {
        $queue = $this->queue();
        pcntl_async_signals(true);
        pcntl_signal(SIGUSR1, function () {
            throw new \LogicException('from the handler');
        });
        $sender = $this->signalWhenBlocked(SIGUSR1);
        try {
            $queue->reserve(INF);
            $this->fail('the exception is lost');
        } catch (\LogicException $e) {
            $this->assertSame('from the handler', $e->getMessage());
        }
        pcntl_waitpid($sender, $status);
        $queue->push('after');
        $this->assertSame('after', $queue->reserve()->body);
    }

    public function test_push_goes_on_through_signals(): void
    {
        $queue = $this->queue();
        $seen = 0;
        pcntl_async_signals(true);
        pcntl_signal(SIGUSR1, function () use (&$seen) {
            $seen++;
        });
        $this->server->command('CLIENT', 'PAUSE', '600', 'ALL');
        $me = getmypid();
        $sender = $this->besides(function () use ($me) {
            for ($i = 0; $i < 5; $i++) {
                usleep(100000);
                posix_kill($me, SIGUSR1);
            }
        });
        $id = $queue->push('through');
        $this->assertGreaterThan(0, $seen);
        pcntl_waitpid($sender, $status);
        $this->assertSame('through', $queue->find($id)->body);
        $this->assertSame(1, $queue->stats()->ready);
    }

    public function test_fork_the_child_uses_the_queue_of_its_parent(): void
    {
        $queue = $this->queue();
        $queue->push('for the child');
        $body = $this->inChild(function () use (&$queue) {
            $message = $queue->reserve();
            $message->ack();
            $body = $message->body;
            unset($message, $queue);
            return $body;
        });
        $this->assertSame('for the child', $body);
        $this->assertSame(1, $queue->stats()->acked);
        $queue->push('for the parent');
        $this->assertSame('for the parent', $queue->reserve()->body);
    }

    public function test_fork_the_child_drops_the_queue_unused(): void
    {
        $queue = $this->queue();
        $queue->push('x');
        $message = $queue->reserve();
        $this->inChild(function () use (&$queue, &$message) {
            unset($message, $queue);
            return gc_collect_cycles();
        });
        $message->ack();
        $this->assertSame(1, $queue->stats()->acked);
    }

    public function test_fork_the_child_acks_what_the_parent_holds(): void
    {
        $queue = $this->queue();
        $queue->push('x');
        $message = $queue->reserve();
        $this->assertTrue($this->inChild(function () use ($message) {
            $message->ack();
            return true;
        }));
        $this->assertThrows(\Dueq\Exception\LeaseLostException::class, fn () => $message->ack());
    }

    public function test_a_message_that_kills_its_process_kills_no_other(): void
    {
        $queue = $this->queue();
        $draft = ['body' => 'healthy', 'maxCrashes' => 3, 'backoff' => [0.05]];
        $queue->pushMany([
            ...array_fill(0, 7, $draft),
            ['body' => 'poison'] + $draft,
            ...array_fill(0, 13, $draft),
        ]);
        for ($end = microtime(true) + 20; $queue->stats()->dead === 0 && microtime(true) < $end;) {
            pcntl_waitpid($this->besides(function () {
                $this->queue()->consume(20, timeout: 1.0, lease: 0.3)->work(
                    fn ($message) => $message->body === 'poison' && posix_kill(getmypid(), SIGKILL)
                );
            }), $status);
        }
        $stats = $queue->stats();
        $this->assertSame([1, 20], [$stats->dead, $stats->acked]);
    }

    public function test_memory_stays_flat_over_many_cycles(): void
    {
        $queue = $this->queue();
        $cycle = function () use ($queue) {
            $queue->push('body', headers: ['a' => 'b']);
            $message = $queue->reserve();
            $message->extend(60);
            $message->ack();
            $queue->find($message->id);
            try {
                $message->ack();
            } catch (\Dueq\Exception\LeaseLostException) {
            }
        };
        for ($i = 0; $i < 1000; $i++) {
            $cycle();
        }
        [$php, $all] = [memory_get_usage(), self::resident()];
        for ($i = 0; $i < 20000; $i++) {
            $cycle();
        }
        $this->assertLessThan(64 * 1024, memory_get_usage() - $php);
        $this->assertLessThan(1024, self::resident() - $all, 'KiB resident');
    }

    public function test_memory_stays_flat_over_many_objects(): void
    {
        gc_collect_cycles(); // frees what other tests left
        $url = $this->server->url();
        $cycle = function () use ($url) {
            $queues = new Queues(['a', 'b'], $url);
            $queue = new Queue('a', $url);
            $queue->push(
                'x',
                backoff: Backoff::list([1, 2]),
                deadLetter: 'b',
                headers: ['a' => 'b'],
            );
            $queue->pushMany([[
                'body' => 'y',
                'backoff' => [1, 2],
                'id' => 'one',
                'replace' => Replace::Message,
            ]]);
            foreach ($queue->peek(State::Ready, 1) as $message) {
                $queue->find($message->id);
            }
            $lock = $queue->lock('l', 60);
            $lock->extend(60);
            $lock->release();
            $queues->reserve()->ack(push: ['z'], to: 'b');
            foreach ([...$queues->reserveMany(5), ...$queues->reserveMany(5)] as $message) {
                $message->ack();
            }
            $pending = $queue->reserveStart(0.0);
            $stream = $pending->stream();
            while (!$pending->poll()) {
                [$read, $write, $except] = [[$stream], [], []];
                stream_select($read, $write, $except, 1);
            }
            $pending->result()?->ack();
            $queue->reserveStart()->poll();
            $pusher = $queue->pusher();
            foreach (['x', 'y', 'x'] as $id) {
                $pusher->push($id, id: "p$id", ttl: 1);
            }
            try {
                $pusher->flush();
                $this->fail('the duplicate');
            } catch (FlushException $failed) {
                count($failed->failures) === 1 || $this->fail('the others');
                unset($failed);
            }
            foreach ($queue->consume(timeout: 0.0) as $held) {
                $held->ack();
                break;
            }
            $queue->consume(5, timeout: 0.0)->work(
                fn () => throw new \LogicException(),
                fn ($message, $error) => $message->ack()
            );
            $held->queue === 'a' || $this->fail();
            $queue->rates();
            Queue::names($url);
            $bad = [
                fn () => Backoff::list([1, -1]),
                fn () => new Queues(['a', 'a'], $url), fn () => $lock->release(),
                fn () => $queue->push('x', backoff: [-1]),
                fn () => $message->ack(push: ['x', ['ttl' => -1]]),
                fn () => $message->ack(push: ['x']), fn () => $queue->kickAll(since: -1),
                fn () => $queue->peek(State::Ready, 0),
            ];
            foreach ($bad as $run) {
                try {
                    $run();
                    $this->fail('no exception');
                } catch (DueqException) {
                }
            }
        };
        for ($i = 0; $i < 100; $i++) {
            $cycle();
        }
        [$php, $all] = [memory_get_usage(), self::resident()];
        for ($i = 0; $i < 1000; $i++) {
            $cycle();
        }
        $this->assertLessThan(64 * 1024, memory_get_usage() - $php);
        $this->assertLessThan(1024, self::resident() - $all, 'KiB resident');
        $this->assertSame(0, gc_collect_cycles());
    }

    public function test_memory_limit_in_mid_reserve_ends_the_script_only(): void
    {
        $this->queue()->push(str_repeat('x', 12 * 1024 * 1024));
        $url = var_export($this->server->url(), true);
        [$code, $output] = $this->php(
            "\$q = new Dueq\\Queue('q', $url); \$q->stats(); \$q->reserve(); echo 'not reached';",
            'memory_limit=8M'
        );
        $this->assertSame(255, $code, $output);
        $this->assertStringContainsString('Allowed memory size', $output);
        $this->assertStringNotContainsString('not reached', $output);
        $this->assertSame(1, $this->queue()->stats()->leased);
    }

    public function test_reserve_ends_at_the_limit_of_execution_time(): void
    {
        $url = var_export($this->server->url(), true);
        [$code, $output] = $this->php(
            "\$q = new Dueq\\Queue('q', $url);
            while (true) { \$q->reserve(); for (\$i = 0; \$i < 1e6; \$i++); }",
            'max_execution_time=1',
        );
        $this->assertSame(255, $code, $output);
        $this->assertStringContainsString('Maximum execution time', $output);
    }

    public function test_reserve_in_a_script_that_ends_in_exit_and_shutdown(): void
    {
        $url = var_export($this->server->url(), true);
        [$code, $output] = $this->php(
            "\$q = new Dueq\\Queue('q', $url); \$q->push('x'); \$m = \$q->reserve();
            register_shutdown_function(function () use (\$m) { \$m->ack(); echo 'acked'; });
            exit(3);"
        );
        $this->assertSame([3, 'acked'], [$code, $output]);
    }

    public function test_a_name_that_resolves_when_the_extension_is_unloaded(): void
    {
        $folder = sys_get_temp_dir() . '/dueq-late-name-' . getmypid();
        mkdir($folder);
        exec("cc -shared -fPIC -o $folder/late.so " . __DIR__ . '/late_name.c', $output, $failed);
        $this->assertSame(0, $failed);
        /* The C library opens this file to resolve a name, and waits for a writer (hostname(7)). */
        posix_mkfifo("$folder/aliases", 0600);
        putenv("LD_PRELOAD=$folder/late.so");
        putenv("HOSTALIASES=$folder/aliases");
        try {
            [$code, $output] = $this->php(
                "try { (new Dueq\\Queue('q', 'redis://queues?timeout=200ms'))->push('x'); }
                catch (Exception \$e) { echo \$e->getMessage(); }"
            );
        } finally {
            putenv('LD_PRELOAD');
            putenv('HOSTALIASES');
            array_map(unlink(...), glob("$folder/*"));
            rmdir($folder);
        }
        if (!str_contains($output, 'the name resolution did not answer within 200 ms')) {
            $this->markTestSkipped("names do not wait for \$HOSTALIASES here: $output");
        }
        $this->assertSame(0, $code);
    }

    public function test_phpinfo_names_the_version(): void
    {
        [, $output] = $this->php('phpinfo(INFO_MODULES);');
        $this->assertStringContainsString('Version => ' . \Dueq\Queue::VERSION, $output);
    }
}
