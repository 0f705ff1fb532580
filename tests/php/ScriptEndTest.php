<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\State;

/**
 * A script that ends by exit() releases its message. A script that ends by a fatal error retries
 * its message with the error's text.
 */
final class ScriptEndTest extends QueueTestCase
{
    private const LOOPS = [
        'work' => '$queue->consume(5)->work($handler);',
        'foreach' => 'foreach ($queue->consume(5) as $message) {
            $handler($message); $message->ack();
        }',
    ];

    /** Runs a script with $queue, whose loop calls this code for the message 2. */
    private function script(string $loop, string $end, string $begin = ''): array
    {
        $url = var_export($this->server->url(), true);
        return $this->php(
            "\$queue = new Dueq\\Queue('q', $url); $begin
            \$handler = function (\$message) use (\$queue) {
                if (\$message->body === '2') { $end }
            };
            {$loop} echo 'not reached';"
        );
    }

    /** @param array<string, mixed> $options of the message 2 */
    private function push(array $options = []): void
    {
        $this->server->command('FLUSHALL');
        $this->queue()->pushMany(['1', ['body' => '2', 'id' => '2'] + $options, '3', '4', '5']);
    }

    /** @return iterable<string, array{string, string, int}> a loop, code to end it, the status */
    public static function ends(): iterable
    {
        $ways = [
            'exit' => ['exit(3);', 3],
            'exit in a callback' => ['array_map(fn () => exit(3), [1]);', 3],
            'exit in a signal handler' => [
                'pcntl_async_signals(true); pcntl_signal(SIGALRM, fn () => exit(3));
                pcntl_alarm(1); sleep(20);',
                3,
            ],
        ];
        foreach (self::LOOPS as $name => $loop) {
            foreach ($ways as $way => [$end, $code]) {
                yield "$name, $way" => [$loop, $end, $code];
            }
        }
    }

    /** @dataProvider ends */
    #[\PHPUnit\Framework\Attributes\DataProvider('ends')]
    public function test_exit_in_a_handler_is_no_failure(
        string $loop,
        string $end,
        int $expected,
    ): void {
        $this->push(['maxAttempts' => 1]);
        [$code, $output] = $this->script($loop, $end);
        $this->assertSame([$expected, ''], [$code, $output]);
        $stats = $this->queue()->stats();
        $this->assertSame(
            [4, 0, 0, 1, 0],
            [$stats->ready, $stats->leased, $stats->delayed, $stats->acked, $stats->retried],
        );
        $messages = $this->queue()->reserveMany(5);
        $this->assertSame(
            ['2', '3', '4', '5'],
            array_map(fn ($message) => $message->body, $messages),
        );
        $this->assertSame(
            ['', 1, 0, 2],
            [
                $messages[0]->error, $messages[0]->attempt,
                $messages[0]->crashes, $messages[0]->deliveries,
            ],
        );
    }

    /** @return iterable<string, array{string, string, string}> a loop, code to end it, the error */
    public static function failures(): iterable
    {
        $ways = [
            'memory' => [
                'str_repeat("x", 1 << 30);',
                'Fatal error: Allowed memory size of 134217728 bytes exhausted',
            ],
            'memory by and by' => [
                'for ($all = [];;) { $all[] = str_repeat("x", 1000); }',
                'Fatal error: Allowed memory size of 134217728 bytes exhausted',
            ],
            'time' => [
                'set_time_limit(1); array_map(function () { while (true); }, [1]);',
                'Fatal error: Maximum execution time of 1 second exceeded',
            ],
            'its own' => ['trigger_error("no more", E_USER_ERROR);', 'Fatal error: no more'],
        ];
        foreach (self::LOOPS as $name => $loop) {
            foreach ($ways as $way => [$end, $text]) {
                yield "$name, $way" => [$loop, $end, $text];
            }
        }
    }

    /** @dataProvider failures */
    #[\PHPUnit\Framework\Attributes\DataProvider('failures')]
    public function test_a_fatal_error_is_the_error_of_the_message(
        string $loop,
        string $end,
        string $text,
    ): void {
        $this->push(['backoff' => 60]);
        [$code, $output] = $this->script($loop, $end);
        $this->assertSame(255, $code, $output);
        $this->assertStringNotContainsString('not reached', $output);
        $message = $this->queue()->find('2');
        $this->assertStringStartsWith($text, $message->error);
        $this->assertStringContainsString('in Command line code on line', $message->error);
        $this->assertSame(
            [State::Delayed, 1, 0],
            [$message->state, $message->attempt, $message->crashes],
        );
        $stats = $this->queue()->stats();
        $this->assertSame(
            [3, 0, 1, 1],
            [$stats->ready, $stats->leased, $stats->acked, $stats->retried],
        );
    }

    public function test_the_last_attempt_dies_of_a_fatal_error(): void
    {
        $this->push(['maxAttempts' => 1]);
        $this->script(self::LOOPS['work'], 'str_repeat("x", 1 << 30);');
        $message = $this->queue()->find('2');
        $this->assertSame(State::Dead, $message->state);
        $this->assertStringContainsString('Allowed memory size', $message->error);
    }

    public function test_exit_after_a_handled_error_is_no_failure(): void
    {
        $this->push();
        [$code] = $this->script(
            self::LOOPS['work'],
            'set_error_handler(fn () => true); trigger_error("handled", E_USER_ERROR); exit(3);'
        );
        $this->assertSame(3, $code);
        $message = $this->queue()->find('2');
        $this->assertSame(
            [State::Ready, 0, ''],
            [$message->state, $message->attempt, $message->error],
        );
    }

    public function test_a_fatal_error_outside_of_a_loop_is_nobodys(): void
    {
        $this->push();
        [$code] = $this->script(
            'foreach ($queue->consume(1) as $message) { $message->release(); break; }
            str_repeat("x", 1 << 30);',
            '',
        );
        $this->assertSame(255, $code);
        $stats = $this->queue()->stats();
        $this->assertSame([5, 0, 0], [$stats->ready, $stats->leased, $stats->retried]);
    }

    public function test_a_child_that_ends_in_the_loop_leaves_the_message_to_its_parent(): void
    {
        foreach (['exit(0);', 'str_repeat("x", 1 << 30);'] as $end) {
            foreach (self::LOOPS as $name => $loop) {
                $this->push();
                [$code, $output] = $this->script(
                    str_replace('consume(5)', 'consume(5, timeout: 0.0)', $loop),
                    "ini_set('display_errors', '0'); ini_set('log_errors', '0');
                    \$child = pcntl_fork(); if (!\$child) { $end }
                    pcntl_waitpid(\$child, \$status);"
                );
                $this->assertSame([0, 'not reached'], [$code, $output], "$name $end");
                $stats = $this->queue()->stats();
                $this->assertSame(
                    [0, 0, 5, 5, 0],
                    [
                        $stats->ready, $stats->leased, $stats->acked,
                        $stats->reserved, $stats->retried,
                    ],
                    "$name $end",
                );
            }
        }
    }

    public function test_a_loop_that_forgets_messages_is_told_once(): void
    {
        $queue = $this->queue();
        $queue->pushMany([['body' => 'x', 'id' => 'first'], 'y', 'z']);
        $log = $this->logged(function () use ($queue) {
            foreach ($queue->consume(timeout: 0.0) as $message) {
                $message->body;
            }
        });
        $this->assertSame(1, substr_count($log, 'has delivered 1 that nobody has settled'));

        $this->server->command('FLUSHALL');
        $queue->pushMany(['a', 'b', 'c', 'd']);
        $log = $this->logged(function () use ($queue) {
            foreach ($queue->consume(timeout: 0.0, concurrency: 4) as $message) {
                $kept[] = $message;
                if ($message->body === 'd') {
                    break;
                }
            }
            $queue->ackMany($kept);
        });
        $this->assertSame('', $log);
        $this->assertSame(4, $queue->stats()->acked);
    }
}
