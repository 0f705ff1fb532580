<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\State;

/** Persistent clients over requests of a real php-fpm. */
final class FpmTest extends QueueTestCase
{
    private const PUSH = '(new Dueq\Queue("q", persistent: true))->push("x"); echo getmypid();';

    private ?Fpm $fpm = null;

    protected function tearDown(): void
    {
        $this->fpm?->end();
        $this->fpm = null;
    }

    private function fpm(string ...$settings): Fpm
    {
        return $this->fpm = new Fpm($this->server->url(), $settings);
    }

    /** @return list<string> the ids of the connections of dueq */
    private function connections(): array
    {
        $clients = $this->server->command('CLIENT', 'LIST');
        preg_match_all('/^id=(\d+) .* name=dueq-/m', $clients, $match);
        return $match[1];
    }

    /** @return list<string> once there are so many */
    private function awaitConnections(int $count, array $others): array
    {
        $this->await(fn () => count(array_diff($this->connections(), $others)) === $count);
        return array_values(array_diff($this->connections(), $others));
    }

    public function test_one_connection_serves_all_requests_of_a_worker(): void
    {
        $others = $this->connections();
        $fpm = $this->fpm();
        $worker = $fpm->request(self::PUSH);
        $first = $this->awaitConnections(1, $others);
        for ($i = 0; $i < 20; $i++) {
            $this->assertSame($worker, $fpm->request(self::PUSH));
        }
        $this->assertSame($first, $this->awaitConnections(1, $others));
        $this->assertSame(21, $this->queue()->stats()->pushed);
        $fpm->request('(new Dueq\Queue("q", persistent: false))->push("x");');
        $this->assertSame($first, $this->awaitConnections(1, $others));
        posix_kill((int) $worker, SIGTERM);
        // The answer to a request is empty if the old worker ends before it answers.
        $this->await(fn () => !in_array($fpm->request(self::PUSH), ['', $worker], true));
        $this->assertNotSame($first, $this->awaitConnections(1, $others));
    }

    public function test_the_setting_makes_all_persistent(): void
    {
        $others = $this->connections();
        $fpm = $this->fpm('dueq.persistent=1');
        $push = '(new Dueq\Queue("q"))->push("x");';
        $fpm->request($push);
        $first = $this->awaitConnections(1, $others);
        $fpm->request($push);
        $this->assertSame($first, $this->awaitConnections(1, $others));
        $this->assertSame('1', $fpm->request('echo ini_get("dueq.persistent");'));
    }

    public function test_a_request_after_a_restart_or_an_idle_timeout_of_the_server(): void
    {
        $server = new Server();
        $fpm = $this->fpm = new Fpm($server->url());
        $worker = $fpm->request(self::PUSH);
        $server->kill();
        $server->start();
        $this->assertSame($worker, $fpm->request(self::PUSH));
        $server->command('CONFIG', 'SET', 'timeout', '1');
        $this->await(fn () => !str_contains($server->command('CLIENT', 'LIST'), ' name=dueq-'));
        $this->assertSame($worker, $fpm->request(self::PUSH));
        $this->assertSame(2, (new \Dueq\Queue('q', $server->url()))->stats()->pushed);
        $server->remove();
    }

    /** @return iterable<string, array{string, string}> what a request leaves, and what it prints */
    public static function ends(): iterable
    {
        $queue = '$queue = new Dueq\Queue("q", persistent: true); ';
        yield 'exit' => [$queue . '$queue->push("x"); exit;', ''];
        yield 'a wait' => [
            $queue . '$GLOBALS["p"] = $queue->reserveStart(); $GLOBALS["p"]->poll();',
            '',
        ];
        yield 'a consumer' => [
            $queue . '$GLOBALS["c"] = $queue->consume(); $GLOBALS["c"]->poll();',
            '',
        ];
        yield 'an exception' => [
            $queue . '$queue->push("x", id: "same"); $queue->push("x", id: "same");',
            'DuplicateException',
        ];
        yield 'out of memory in a call' => [
            $queue . '$queue->remove(); $queue->push(str_repeat("x", 12 << 20));
                ini_set("memory_limit", "8M"); $queue->reserve();',
            'Allowed memory size',
        ];
        yield 'out of memory in a handler' => [
            $queue . '$queue->push("y", id: "held", backoff: 60);
                $queue->consume()->work(fn () => str_repeat("x", 1 << 30));',
            'Allowed memory size',
        ];
        yield 'out of time in a wait' => [
            $queue . 'set_time_limit(1);
                while (true) { $queue->reserve(); for ($i = 0; $i < 1e6; $i++); }',
            'Maximum execution time',
        ];
    }

    /** @dataProvider ends */
    #[\PHPUnit\Framework\Attributes\DataProvider('ends')]
    public function test_a_request_gets_no_state_of_an_earlier_one(
        string $code,
        string $text,
    ): void {
        $others = $this->connections();
        $fpm = $this->fpm();
        $worker = $fpm->request(self::PUSH);
        $output = $fpm->request($code);
        $this->assertStringContainsString($text, $output);
        $text || $this->assertSame('', $output);
        $this->queue()->remove();
        $this->assertSame("$worker 1 none", $fpm->request(
            'echo getmypid(), " ";
            $queue = new Dueq\Queue("q", persistent: true);
            $queue->push("x", id: "same");
            echo $queue->stats()->ready, " ";
            $queue->reserve()->ack();
            echo $queue->reserve(0.05)?->body ?? "none";'
        ));
        $this->awaitConnections(1, $others);
    }

    public function test_a_fatal_error_is_the_error_of_the_message_here_too(): void
    {
        $this->queue()->push('y', id: 'held', backoff: 60);
        $this->fpm()->request(
            '(new Dueq\Queue("q"))->consume()->work(fn () => str_repeat("x", 1 << 30));',
        );
        $message = $this->queue()->find('held');
        $this->assertSame([State::Delayed, 1], [$message->state, $message->attempt]);
        $this->assertStringContainsString('Allowed memory size', $message->error);
    }

    public function test_preload(): void
    {
        $others = $this->connections();
        $preload = tempnam(sys_get_temp_dir(), 'dueq-preload-');
        file_put_contents($preload, '<?php
            final class Preloaded {
                public function __construct(
                    private readonly Dueq\QueueInterface $queue
                        = new Dueq\Queue("q", persistent: true),
                ) {}
                public function push(string $body): string { return $this->queue->push($body); }
            }
            (new Preloaded())->push("of the preload");');
        try {
            $fpm = $this->fpm(
                'zend_extension=opcache',
                "opcache.preload=$preload",
                'opcache.preload_user=' . posix_getpwuid(posix_geteuid())['name'],
            );
            $push = '(new Preloaded())->push("x"); echo getmypid();';
            $worker = $fpm->request($push);
            // If the parent process ran the preload itself, it has a connection, too.
            $first = array_diff($this->connections(), $others);
            $this->assertContains(count($first), [1, 2]);
            $this->assertSame($worker, $fpm->request($push));
            $this->assertSame($first, array_diff($this->connections(), $others));
            $this->assertSame(['of the preload', 'x', 'x'],
                array_map(fn ($message) => $message->body, $this->queue()->reserveMany(9)));
        } finally {
            unlink($preload);
        }
    }
}
