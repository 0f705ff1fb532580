<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Consumer;
use Dueq\Exception\InvalidException;
use Dueq\Exception\TimeoutException;
use Dueq\Exception\WrongTypeException;
use Dueq\Message;
use Dueq\Queue;
use Dueq\Queues;
use Dueq\State;

/** consume(): the loop, how messages are settled in it, and how it ends. */
final class ConsumerTest extends QueueTestCase
{
    protected function tearDown(): void
    {
        pcntl_async_signals(false);
        pcntl_signal(SIGUSR1, SIG_DFL);
    }

    /** @return array{int, int, int, int} how many are ready, leased, acknowledged, retried */
    private function counts(string $name = 'q'): array
    {
        $stats = $this->queue($name)->stats();
        return [$stats->ready, $stats->leased, $stats->acked, $stats->retried];
    }

    /** Sends the signal to this process once its loop is blocked in the server. */
    private function signalWhenBlocked(): int
    {
        $me = getmypid();
        return $this->besides(function () use ($me) {
            $this->server->awaitBlocked();
            posix_kill($me, SIGUSR1);
        });
    }

    public function test_work_acknowledges_each_when_the_handler_returns(): void
    {
        $queue = $this->queue();
        foreach ([1, 3, 200] as $prefetch) {
            $this->server->command('FLUSHALL');
            $queue->pushMany(array_map(strval(...), range(1, 250)));
            $bodies = [];
            $consumer = $queue->consume($prefetch, timeout: 0.0);
            $consumer->work(function (Message $message) use (&$bodies) {
                $bodies[] = $message->body;
            });
            $this->assertSame(array_map(strval(...), range(1, 250)), $bodies);
            $this->assertSame([0, 0, 250, 0], $this->counts());
            $this->assertSame(0, $consumer->lost());
        }
    }

    public function test_work_costs_one_round_trip_for_each_batch(): void
    {
        $queue = $this->queue();
        foreach ([[1, 100], [10, 10]] as [$prefetch, $batches]) {
            $queue->pushMany(array_fill(0, 100, 'x'));
            $queue->consume(timeout: 0.0)->stop();
            $this->server->command('CONFIG', 'RESETSTAT');
            $queue->consume($prefetch, timeout: 0.0)->work(fn () => null);
            $info = $this->server->command('INFO', 'commandstats');
            preg_match('/cmdstat_evalsha:calls=(\d+)/', $info, $match);
            $this->assertLessThanOrEqual($batches + 3, (int) $match[1]);
        }
    }

    /** 100 messages in 50 ms; the body of each is when it is due. */
    public function test_an_ack_that_does_not_wait_goes_with_the_next_request(): void
    {
        $queue = $this->queue();
        $queue->pushMany(array_fill(0, 100, 'x'));
        $queue->consume(timeout: 0.0)->stop();
        $this->server->command('CONFIG', 'RESETSTAT');
        $consumer = $queue->consume(10, timeout: 0.0);
        foreach ($consumer as $message) {
            $this->assertNull($message->ack(wait: false));
            $this->assertTrue($message->isSettled());
        }
        $stats = $this->server->command('INFO', 'commandstats');
        preg_match('/cmdstat_evalsha:calls=(\d+)/', $stats, $match);
        $this->assertLessThanOrEqual(13, (int) $match[1]);
        $this->assertSame([0, 0, 100, 0], $this->counts());
        $this->assertSame(0, $consumer->lost());
    }

    public function test_an_ack_that_does_not_wait_and_is_too_late_counts_as_lost(): void
    {
        $queue = $this->queue();
        $queue->pushMany(['a', 'b']);
        $consumer = $queue->consume(2, timeout: 0.0);
        foreach ($consumer as $message) {
            if ($message->body === 'a') {
                $queue->cancel($message->id);
                $message->ack(wait: false);
            } else {
                try {
                    $message->ack(['next'], wait: false);
                    $this->fail('successors need an answer');
                } catch (InvalidException) {
                    $message->ack();
                }
            }
        }
        $this->assertSame(1, $consumer->lost());
        $this->assertSame([0, 0, 1, 0], $this->counts());
        $queue->push('c');
        $alone = $queue->reserve();
        $alone->ack(wait: false);
        $this->assertSame([0, 0, 2, 0], $this->counts());
    }

    public function test_work_with_slack_takes_all_that_falls_due_in_it(): void
    {
        $queue = $this->queue();
        $base = microtime(true) + 0.7;
        $due = array_map(fn (int $n) => round($base + $n / 2000, 3), range(0, 99));
        $queue->pushMany(array_map(fn (float $at) => ['body' => (string) $at, 'at' => $at], $due));
        $early = 0;
        $this->server->command('CONFIG', 'RESETSTAT');
        $consumer = $queue->consume(100, timeout: 1.0, slack: 0.1);
        $consumer->work(function (Message $message) use (&$early) {
            $early += microtime(true) < (float) $message->body ? 1 : 0;
        });
        $info = $this->server->command('INFO', 'commandstats');
        preg_match('/cmdstat_evalsha:calls=(\d+)/', $info, $match);
        // One reserve finds nothing, one takes all, one call settles. A slow machine needs more.
        $this->assertLessThanOrEqual(12, (int) $match[1]);
        $this->assertSame(0, $early);
        $this->assertSame([0, 0, 100, 0], $this->counts());
    }

    public function test_work_retries_what_threw_and_throws_it(): void
    {
        $queue = $this->queue();
        $queue->pushMany([
            ['body' => 'x', 'id' => 'x', 'backoff' => 0],
            ['body' => 'y', 'backoff' => 0],
            'z',
        ]);
        foreach ([new \DomainException("not\0so"), new \Error('nor so')] as $i => $error) {
            try {
                $queue->consume(3)->work(fn () => throw $error);
                $this->fail('nothing was thrown');
            } catch (\Throwable $e) {
                $this->assertSame($error, $e);
            }
            $this->assertSame([3, 0, 0, $i + 1], $this->counts());
        }
        $this->assertSame("DomainException: not\0so", $queue->find('x')->error);
        [$y, $z, $x] = array_map(fn () => $queue->reserve(), range(1, 3));
    }

    public function test_work_reports_what_threw_and_goes_on(): void
    {
        $queue = $this->queue();
        foreach (['good', 'bad', 'worse', 'good'] as $i => $body) {
            $queue->push($body, id: "$i", maxAttempts: 1);
        }
        $reported = [];
        $queue->consume(4, timeout: 0.0)->work(
            fn ($message) => $message->body === 'good' || throw new \LogicException($message->body),
            function (Message $message, \Throwable $error) use (&$reported) {
                $reported[$message->id] = $error->getMessage();
                if ($message->body === 'worse') {
                    $message->bury('hopeless');
                }
            }
        );
        $this->assertSame([1 => 'bad', 2 => 'worse'], $reported);
        $this->assertSame([0, 0, 2, 1], $this->counts());
        $this->assertSame(
            ['LogicException: bad', 'hopeless'],
            [$queue->find('1')->error, $queue->find('2')->error],
        );
        $queue->push('bad');
        $this->expectExceptionMessage('from the report');
        $queue->consume()->work(
            fn () => throw new \Error(),
            fn () => throw new \Error('from the report'),
        );
    }

    public function test_what_a_handler_settled_itself_is_left_so(): void
    {
        $queue = $this->queue();
        $queue->pushMany([
            ['body' => 'ack'], ['body' => 'retry'], ['body' => 'release'],
            ['body' => 'bury'], ['body' => 'many'],
        ]);
        $consumer = $queue->consume(5, lease: 0.3, timeout: 0.0);
        $consumer->work(function (Message $message) use ($queue) {
            match ($message->body) {
                'ack' => $message->ack(push: [['body' => 'next', 'delay' => 60]]),
                'retry' => $message->retry(60),
                'release' => $message->release(60),
                'bury' => $message->bury(),
                'many' => $queue->ackMany([$message]),
            };
            usleep(20000);
        });
        $stats = $queue->stats();
        $this->assertSame(
            [0, 3, 0, 1, 2],
            [$stats->ready, $stats->delayed, $stats->leased, $stats->dead, $stats->acked],
        );
        $this->assertSame(0, $consumer->lost());
    }

    /** Runs the code, and returns what PHP's log got meanwhile. */
    private function logOf(callable $run): string
    {
        $file = tempnam(sys_get_temp_dir(), 'dueq-log-');
        $before = ini_set('error_log', $file);
        try {
            $run();
            return file_get_contents($file);
        } finally {
            ini_set('error_log', $before);
            unlink($file);
        }
    }

    public function test_message_that_nobody_settles_is_logged_once(): void
    {
        foreach ([[1, 1], [2, 1], [3, 0], [null, 0]] as [$concurrency, $lines]) {
            $queue = $this->queue();
            $queue->pushMany(['0', '1', '2']);
            $kept = [];
            $log = $this->logOf(function () use ($queue, $concurrency, &$kept) {
                foreach ($queue->consume(timeout: 0.0, concurrency: $concurrency) as $message) {
                    $kept[] = $message;
                }
            });
            $this->assertSame($lines, substr_count($log, 'that nobody has settled'), $log);
            foreach ($kept as $message) {
                $message->ack();
            }
        }
    }

    public function test_log_has_nothing_that_a_terminal_obeys(): void
    {
        $server = new Server();
        $queue = new Queue('q', $server->url('timeout=300ms'));
        $queue->push('x', id: "a\u{9b}31mb\u{202e}c\u{2028}d\u{fc}");
        $consumer = $queue->consume(timeout: 0.0);
        $log = $this->logOf(fn () => $consumer->work(function (Message $message) use ($server) {
            posix_kill($server->pid(), SIGSTOP);
            try {
                $message->bury();
            } catch (TimeoutException) {
                // The outcome of bury() is unknown.
            } finally {
                posix_kill($server->pid(), SIGCONT);
            }
        }));
        $server->remove();
        $this->assertStringContainsString(
            'dueq: message a\u009b31mb\u202ec\u2028d' . "\u{fc}: its handler",
            $log,
        );
    }

    public function test_what_a_handler_failed_to_settle_is_left_to_its_lease(): void
    {
        $ways = [
            'retry' => fn (Message $message) => $message->retry(),
            'release' => fn (Message $message) => $message->release(),
            'bury' => fn (Message $message) => $message->bury(),
            'ack' => fn (Message $message) => $message->ack(push: ['next']),
        ];
        foreach ($ways as $way => $settle) {
            $server = new Server('--appendonly', 'yes', '--appendfsync', 'always');
            (new Queue('q', $server->url()))->push('x', id: 'one');
            $consumer = (new Queue('q', $server->url('timeout=300ms')))->consume(lease: 1.0);
            $handler = function (Message $message) use ($server, $settle, $consumer) {
                posix_kill($server->pid(), SIGSTOP);
                $this->assertThrows(TimeoutException::class, fn () => $settle($message));
                // The server dies before it reads the request, and comes back.
                $server->kill();
                $server->start();
                $consumer->stop();
            };
            $log = $this->logOf(fn () => $consumer->work($handler));
            $queue = new Queue('q', $server->url());
            $again = $queue->reserve(20.0);
            $this->assertSame(['x', 2], [$again?->body, $again?->deliveries], $way);
            $this->assertSame([0, 0], [$queue->stats()->acked, $consumer->lost()], $way);
            $this->assertStringContainsString('message one: ', $log, $way);
            $this->assertStringContainsString('so it is not acknowledged', $log, $way);
            $server->remove();
        }
    }

    public function test_what_a_handler_was_refused_to_settle_is_left_to_its_lease(): void
    {
        $queue = $this->queue();
        $ways = [
            WrongTypeException::class => fn (Message $message) => $message->bury(),
            InvalidException::class => fn (Message $message) => $message->retry(-1.0),
        ];
        foreach ($ways as $class => $settle) {
            $this->server->command('FLUSHALL');
            $queue->push('x', id: 'one');
            $this->server->command('SET', 'dueq:{q}:dead', 'foreign');
            $log = $this->logOf(fn () => $queue->consume(lease: 1.0, timeout: 0.0)->work(
                fn (Message $message) => $this->assertThrows($class, fn () => $settle($message))
            ));
            $this->server->command('DEL', 'dueq:{q}:dead');
            $this->assertStringContainsString('so it is not acknowledged', $log, $class);
            $this->assertSame(2, $queue->reserve(20.0)?->deliveries, $class);
        }
    }

    public function test_what_a_handler_settles_after_a_failure_counts(): void
    {
        $queue = $this->queue();
        $queue->push('x');
        $this->server->command('SET', 'dueq:{q}:dead', 'foreign');
        $queue->consume(timeout: 0.0)->work(function (Message $message) {
            $this->assertThrows(WrongTypeException::class, fn () => $message->bury());
            $message->ack();
            $this->server->command('DEL', 'dueq:{q}:dead');
        });
        $this->assertSame([0, 0, 1, 0], $this->counts());
    }

    public function test_a_message_that_was_cancelled_in_the_batch_is_not_begun(): void
    {
        $queue = $this->queue();
        $ids = $queue->pushMany(['0', '1', '2', '3']);
        $bodies = [];
        $consumer = $queue->consume(4, timeout: 0.0);
        $consumer->work(function (Message $message) use ($queue, $ids, &$bodies) {
            $bodies[] = $message->body;
            if ($message->body === '0') {
                $this->assertSame(
                    [State::Leased, State::Leased],
                    $queue->cancelMany([$ids[1], $ids[3]]),
                );
                usleep(500_000);
            }
        });
        $this->assertSame([['0', '2'], 2], [$bodies, $consumer->lost()]);
        $this->assertSame([0, 0, 2, 0], $this->counts());
        // The same in an event loop.
        $ids = $queue->pushMany(['0', '1', '2']);
        $consumer = $queue->consume(3, concurrency: null);
        $bodies = [];
        for (
            $end = microtime(true) + 20;
            count($bodies) < 2 && microtime(true) < $end;
            usleep(1000)
        ) {
            if ($message = $consumer->poll()) {
                $bodies[] = $message->body;
                $queue->cancel($ids[1]);
                usleep(500_000);
            }
        }
        $consumer->stop();
        $this->assertSame(['0', '2'], $bodies);
    }

    public function test_foreach_hands_out_what_its_body_settles(): void
    {
        $queue = $this->queue();
        $queue->pushMany(['a', 'b', 'c']);
        $taken = [];
        $consumer = $queue->consume(2, timeout: 0.2, concurrency: null);
        $this->logged(function () use ($consumer, &$taken) {
            foreach ($consumer as $number => $message) {
                $taken[$number] = $message->body;
                $message->body === 'b' || $message->ack();
            }
        });
        $this->assertSame(['a', 'b', 'c'], $taken);
        $this->assertSame([0, 1, 2, 0], $this->counts());
        $iterator = $queue->consume(timeout: 0.0)->getIterator();
        $queue->push('d');
        foreach ($iterator as $message) {
            $this->assertSame('d', $message->body);
            $message->ack();
        }
        $this->assertSame([0, 1, 3, 0], $this->counts());
    }

    public function test_foreach_over_a_queue_is_one_over_its_consumer(): void
    {
        $queue = $this->queue();
        $queue->pushMany(['a', 'b', 'c']);
        $queues = new Queues(['other', 'q'], $this->server->url());
        $taken = [];
        foreach ([$queue, $queues] as $of) {
            $this->assertInstanceOf(Consumer::class, $of->getIterator());
            foreach ($of as $number => $message) {
                $taken[] = [$number, $message->body];
                $message->ack();
                break;
            }
        }
        $this->assertSame([[0, 'a'], [0, 'b']], $taken);
        $this->assertSame([1, 0, 2, 0], $this->counts());
    }

    public function test_a_loop_gives_back_its_messages_however_it_ends(): void
    {
        $queue = $this->queue();
        $consumer = $queue->consume(5, timeout: 1.0);
        $ways = [
            'break' => function () use ($consumer) {
                foreach ($consumer as $message) {
                    $message->ack();
                    break;
                }
            },
            'return' => function () use ($queue) {
                foreach ($queue->consume(5) as $message) {
                    return $message->ack();
                }
            },
            'exception' => function () use ($consumer) {
                try {
                    foreach ($consumer as $message) {
                        $message->ack();
                        throw new \LogicException();
                    }
                } catch (\LogicException) {
                }
            },
            'generator' => function () use ($queue) {
                $generate = function () use ($queue) {
                    foreach ($queue->consume(5) as $message) {
                        yield $message;
                    }
                };
                $generator = $generate();
                $generator->current()->ack();
                unset($generator);
            },
            'stop in foreach' => function () use ($queue) {
                foreach ($consumer = $queue->consume(5) as $message) {
                    $message->ack();
                    $consumer->stop();
                }
            },
            'stop in work' => function () use ($queue) {
                $consumer = $queue->consume(5);
                $consumer->work(fn () => $consumer->stop());
            },
        ];
        foreach ($ways as $way => $run) {
            $this->server->command('FLUSHALL');
            $queue->pushMany(['1', '2', '3', '4', '5', '6']);
            $run();
            $this->assertSame([5, 0, 1, 0], $this->counts(), $way);
            $left = array_map(
                fn ($message) => [$message->body, $message->attempt, $message->crashes],
                $queue->reserveMany(10),
            );
            $this->assertSame(array_map(fn ($body) => ["$body", 1, 0], range(2, 6)), $left, $way);
        }
    }

    public function test_stop_is_for_good_and_there_is_one_loop_at_a_time(): void
    {
        $queue = $this->queue();
        $queue->pushMany(['1', '2']);
        $consumer = $queue->consume();
        foreach ($consumer as $message) {
            $runs = [
                fn () => $consumer->work(fn () => null),
                fn () => iterator_to_array($consumer),
            ];
            foreach ($runs as $run) {
                try {
                    $run();
                    $this->fail('no Error');
                } catch (\Error $e) {
                    $this->assertStringContainsString('in a loop already', $e->getMessage());
                }
            }
            $message->ack();
            $consumer->stop();
        }
        $consumer->work(fn () => $this->fail('it was stopped'));
        $this->assertSame([], iterator_to_array($consumer));
        $this->assertSame([1, 0, 1, 0], $this->counts());
    }

    public function test_several_queues(): void
    {
        foreach (['a', 'b'] as $name) {
            $this->queue($name)->pushMany(["{$name}1", "{$name}2"]);
        }
        $queues = new Queues(['a', 'b'], $this->server->url());
        $taken = [];
        $queues->consume(2, timeout: 0.0)->work(function (Message $message) use (&$taken) {
            $taken[] = "$message->queue $message->body";
        });
        $this->assertSame(['a a1', 'a a2', 'b b1', 'b b2'], $taken);
        $this->assertSame([[0, 0, 2, 0], [0, 0, 2, 0]], [$this->counts('a'), $this->counts('b')]);
    }

    public function test_the_queue_can_be_used_in_the_loop_and_after_it(): void
    {
        $queue = $this->queue();
        $queue->push('1');
        foreach ($queue->consume(10, timeout: 0.0, concurrency: null) as $message) {
            if ($message->body < 5) {
                $queue->push((string) ($message->body + 1));
                $message->ack();
            }
            $kept = $message;
        }
        unset($queue);
        $this->assertSame([0, 1, 4, 0], $this->counts());
        $kept->ack();
        $this->assertSame([0, 0, 5, 0], $this->counts());
    }

    public function test_a_message_that_outlives_its_consumer_is_kept(): void
    {
        $queue = $this->queue();
        $queue->pushMany(['1', '2']);
        foreach ($queue->consume(2, lease: 0.3) as $kept) {
            break;
        }
        unset($queue);
        $this->assertSame([1, 1, 0, 0], $this->counts());
        usleep(900000);
        $threads = count(glob('/proc/self/task/*'));
        $kept->ack();
        $this->assertSame([1, 0, 1, 0], $this->counts());
        $this->assertSame($threads - 1, count(glob('/proc/self/task/*')));
    }

    public function test_arguments_out_of_range(): void
    {
        $queue = $this->queue();
        $bad = [
            [0], [201], [1, 0], [1, 0.01], [1, INF], [1, null, -1],
            [1, null, 60, -1], [1, null, 60, NAN], [1, null, 60, 1, -0.01],
            [1, null, 60, 1, 0.101], [1, null, 60, 1, 0, 0],
        ];
        foreach ($bad as $arguments) {
            $this->assertThrows(InvalidException::class, fn () => $queue->consume(...$arguments));
        }
        $this->assertTypeError('lease', fn () => $queue->consume(lease: '1'));
        $this->assertTypeError('slack', fn () => $queue->consume(slack: '0.1'));
        $this->assertTypeError('maxRun', fn () => $queue->consume(maxRun: '1'));
        $this->assertTypeError('valid callback', fn () => $queue->consume()->work('no function'));
        $queue->consume(200, 0.01, null, new \DateInterval('PT0S'))->work(fn () => null);
    }

    public function test_a_signal_handler_runs_in_the_wait_and_may_stop_it(): void
    {
        $queue = $this->queue();
        $seen = 0;
        pcntl_async_signals(true);
        $loops = [
            fn ($consumer) => $consumer->work(fn () => $this->fail('nothing came')),
            fn ($consumer) => iterator_to_array($consumer),
        ];
        foreach ($loops as $loop) {
            $consumer = $queue->consume();
            pcntl_signal(SIGUSR1, function () use (&$seen, $consumer) {
                $seen++;
                $consumer->stop();
            });
            $sender = $this->signalWhenBlocked();
            $loop($consumer);
            pcntl_waitpid($sender, $status);
        }
        $this->assertSame(2, $seen);
    }

    public function test_a_signal_that_stops_nothing_ends_no_wait(): void
    {
        $queue = $this->queue();
        $seen = 0;
        pcntl_async_signals(true);
        pcntl_signal(SIGUSR1, function () use (&$seen, $queue) {
            if (++$seen === 3) {
                $queue->push('at last');
            }
        });
        $me = getmypid();
        $sender = $this->besides(function () use ($me) {
            for ($i = 0; $i < 3; $i++) {
                $this->server->awaitBlocked();
                usleep(50000);
                posix_kill($me, SIGUSR1);
            }
        });
        foreach ($queue->consume() as $message) {
            $this->assertSame(['at last', 3], [$message->body, $seen]);
            $message->ack();
            break;
        }
        pcntl_waitpid($sender, $status);
    }

    public function test_an_exception_of_a_signal_handler_ends_the_wait(): void
    {
        $queue = $this->queue();
        pcntl_async_signals(true);
        pcntl_signal(SIGUSR1, fn () => throw new \LogicException('from the handler'));
        $consumer = $queue->consume(5);
        $loops = [fn () => $consumer->work(fn () => null), fn () => iterator_to_array($consumer)];
        foreach ($loops as $loop) {
            $sender = $this->signalWhenBlocked();
            try {
                $loop();
                $this->fail('the exception is lost');
            } catch (\LogicException $e) {
                $this->assertSame('from the handler', $e->getMessage());
            }
            pcntl_waitpid($sender, $status);
        }
        $queue->push('after');
        foreach ($consumer as $message) {
            $this->assertSame(['after', 1], [$message->body, $message->deliveries]);
            break;
        }
    }

    public function test_fork_the_child_has_a_loop_of_its_own(): void
    {
        $queue = $this->queue();
        $queue->pushMany(['1', '2', '3', '4']);
        $consumer = $queue->consume(2, timeout: 0.0);
        $taken = [];
        foreach ($consumer as $message) {
            if ($message->body === '1') {
                $child = $this->inChild(function () use (&$consumer, &$queue) {
                    $taken = [];
                    foreach ($queue->consume(timeout: 0.0) as $message) {
                        $taken[] = $message->body;
                        $message->ack();
                        break;
                    }
                    unset($consumer, $queue, $message);
                    return $taken;
                });
                $this->assertSame(['3'], $child);
            }
            $taken[] = $message->body;
            $message->ack();
        }
        $this->assertSame(['1', '2', '4'], $taken);
        $this->assertSame([0, 0, 4, 0], $this->counts());
        $queue->pushMany(['5', '6']);
        $this->inChild(function () use ($consumer) {
            $consumer->work(fn () => $consumer->stop());
        });
        $this->assertSame([1, 0, 5, 0], $this->counts());
    }

    /** Waits until the stream is readable, as an event loop does. */
    private static function wait(mixed $stream, float $seconds = 20.0): bool
    {
        [$read, $write, $except] = [[$stream], [], []];
        return stream_select(
            $read,
            $write,
            $except,
            (int) $seconds,
            (int) (fmod($seconds, 1) * 1e6),
        ) > 0;
    }

    private function pollUntilBlocked(Consumer $consumer): void
    {
        do {
            $this->assertNull($consumer->poll());
        } while (self::wait($consumer->stream(), 0.3));
    }

    public function test_poll_in_an_event_loop(): void
    {
        $queue = $this->queue();
        $consumer = $queue->consume(3, lease: 0.4);
        $this->pollUntilBlocked($consumer);
        $producer = $this->besides(function () {
            $this->queue()->pushMany(['1', '2', '3', '4', ['body' => '5', 'delay' => 0.5]]);
        });
        $taken = [];
        for ($end = microtime(true) + 20; count($taken) < 5 && microtime(true) < $end;) {
            if ($message = $consumer->poll()) {
                $taken[] = $message->body;
                usleep(150000);
                $message->ack();
            } else {
                self::wait($consumer->stream());
            }
        }
        pcntl_waitpid($producer, $status);
        $this->assertSame(['1', '2', '3', '4', '5'], $taken);
        $this->assertSame(0, $consumer->lost());
        $cpu = getrusage();
        for (
            $wakes = 0, $end = microtime(true) + 0.7;
            microtime(true) < $end;
            $wakes += (int) $woken
        ) {
            $consumer->poll();
            $woken = self::wait($consumer->stream(), 0.2);
        }
        $this->assertLessThan(10, $wakes);
        $queue->pushMany(['6', '7', '8']);
        while (!($message = $consumer->poll())) {
            self::wait($consumer->stream());
        }
        $message->ack();
        $consumer->stop();
        $this->assertNull($consumer->poll());
        $this->assertSame([2, 0, 6, 0], $this->counts());
        $this->assertSame(
            [0, 0],
            array_map(fn ($message) => $message->crashes, $queue->reserveMany(2)),
        );
    }

    public function test_poll_that_is_given_up_loses_nothing(): void
    {
        $queue = $this->queue();
        foreach (['drop', 'stop'] as $way) {
            for ($polls = 0; $polls < 10; $polls++) {
                $consumer = $queue->consume(2);
                $consumer->poll();
                self::wait($consumer->stream(), 0.005);
                $queue->pushMany(['x', 'y', 'z']);
                $left = 3;
                for ($i = 0; $i < $polls; $i++) {
                    if ($message = $consumer->poll()) {
                        $message->ack();
                        $left--;
                    }
                    self::wait($consumer->stream(), 0.002);
                }
                $way === 'stop' && $consumer->stop();
                unset($consumer);
                $this->assertSame(
                    [$left, 0],
                    array_slice($this->counts(), 0, 2),
                    "$way after $polls polls",
                );
                foreach ($queue->reserveMany(10) as $message) {
                    $this->assertSame([1, 0], [$message->attempt, $message->crashes]);
                    $message->ack();
                }
            }
        }
    }

    public function test_poll_after_a_fork(): void
    {
        $queue = $this->queue();
        $consumer = $queue->consume(2);
        $this->pollUntilBlocked($consumer);
        $child = $this->inChild(function () use (&$consumer, &$queue) {
            $queue->push("the child's");
            while (!($message = $consumer->poll())) {
                self::wait($consumer->stream(), 0.1);
            }
            $message->ack();
            unset($consumer, $queue);
            return $message->body;
        });
        $this->assertSame("the child's", $child);
        $this->inChild(function () use (&$consumer, &$queue) {
            unset($consumer, $queue);
        });
        $queue->push("the parent's");
        while (!($message = $consumer->poll())) {
            self::wait($consumer->stream());
        }
        $this->assertSame("the parent's", $message->body);
        $message->ack();
        $this->assertSame([0, 0, 2, 0], $this->counts());
    }

    public function test_poll_goes_on_when_the_server_is_back(): void
    {
        $server = new Server();
        $queue = new Queue('q', $server->url('timeout=150ms'));
        $consumer = $queue->consume();
        $this->pollUntilBlocked($consumer);
        $server->kill();
        for (
            $end = microtime(true) + 0.7;
            microtime(true) < $end;
            self::wait($consumer->stream(), 0.1)
        ) {
            $this->assertNull($consumer->poll());
        }
        $server->start();
        $queue->push('x');
        while (!($message = $consumer->poll())) {
            self::wait($consumer->stream());
        }
        $this->assertSame('x', $message->body);
        $server->remove();
    }

    public function test_lost_connections_lose_and_double_nothing(): void
    {
        $queue = $this->queue();
        $queue->pushMany(array_map(strval(...), range(1, 600)));
        $taken = [];
        $consumer = $queue->consume(7, timeout: 0.0);
        $consumer->work(function (Message $message) use (&$taken) {
            $taken[] = $message->body;
            if (count($taken) % 60 === 30) {
                $this->server->command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
            }
        });
        $this->assertSame(array_map(strval(...), range(1, 600)), $taken);
        $this->assertSame([0, 0, 600, 0], $this->counts());
        $this->assertSame(0, $consumer->lost());
    }

    public function test_a_loop_outlives_its_server(): void
    {
        $server = new Server();
        $queue = new Queue('q', $server->url('timeout=150ms'));
        $outage = function () use ($server): void {
            $server->kill();
            pcntl_alarm(1); // long after the time of a call
        };
        $before = pcntl_async_signals(true);
        pcntl_signal(SIGALRM, function () use ($server): void {
            $server->start();
            (new Queue('q', $server->url()))->push('back');
        });
        try {
            $queue->push('work');
            $consumer = $queue->consume();
            $taken = [];
            $consumer->work(function (Message $message) use (&$taken, $consumer, $outage): void {
                $taken[] = $message->body;
                $message->ack();
                count($taken) === 1 ? $outage() : $consumer->stop();
            });
            $queue->push('foreach');
            foreach ($queue->consume() as $message) {
                $taken[] = $message->body;
                $message->ack();
                if ($message->body === 'back') {
                    break;
                }
                $outage();
            }
            $this->assertSame(['work', 'back', 'foreach', 'back'], $taken);
        } finally {
            pcntl_alarm(0);
            pcntl_signal(SIGALRM, SIG_DFL);
            pcntl_async_signals($before);
            $server->remove();
        }
    }

    public function test_a_loop_ends_at_its_timeout_with_the_error_of_an_outage(): void
    {
        $server = new Server();
        $queue = new Queue('q', $server->url('timeout=150ms'));
        $queue->pushMany(['1', '2', '3', '4']);
        $consumer = $queue->consume(2, timeout: 0.5);
        $loops = [
            fn () => $consumer->work(fn () => $server->kill()),
            fn () => iterator_to_array($consumer),
        ];
        foreach ($loops as $loop) {
            try {
                $loop();
                $this->fail('no exception');
            } catch (\Dueq\Exception\DueqException $e) {
                $this->assertTrue($e->isRetriable(), $e->getMessage());
            }
        }
        $server->remove();
    }
}
