<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Exception\NameException;
use Dueq\Exception\UrlException;
use Dueq\Queue;

final class ConstructorTest extends QueueTestCase
{
    protected function tearDown(): void
    {
        putenv('DUEQ_URL');
    }

    public function test_construct_with_a_bad_name(): void
    {
        foreach (['', 'a{b', 'a}b', "a\nb", "a\0b", "\xff", str_repeat('x', 256)] as $name) {
            $e = $this->assertThrows(NameException::class, fn () => $this->queue($name));
            $this->assertSame(-2, $e->getCode());
        }
        foreach (['with space', "\u{1F4E6}", str_repeat('x', 255), 'a:b'] as $name) {
            $queue = $this->queue($name);
            $this->assertSame($name, $queue->name);
            $queue->push($name);
            $this->assertSame($name, $queue->reserve()->body);
        }
    }

    public function test_construct_with_a_bad_url(): void
    {
        $urls = ['', 'nonsense', 'http://x', 'redis://h:99999', "redis://h\0", 'redis://h?no=1'];
        foreach ($urls as $url) {
            $this->assertThrows(UrlException::class, fn () => new Queue('q', $url));
        }
    }

    public function test_construct_without_a_url_takes_that_of_the_environment(): void
    {
        putenv('DUEQ_URL=' . $this->server->url());
        (new Queue('q'))->push('by the environment');
        $this->assertSame('by the environment', $this->queue()->reserve()->body);
    }

    public function test_construct_without_any_url_says_which_server_it_is(): void
    {
        $home = sys_get_temp_dir() . '/dueq-php-' . bin2hex(random_bytes(6));
        $begin = "putenv('DUEQ_URL'); putenv('XDG_STATE_HOME=$home');";
        $use = '$q = new Dueq\Queue("q"%s); $q->push("x"); $q->reserve()->ack();';
        [$code, $said] = $this->php($begin . sprintf($use, '') . sprintf($use, ''), 'log_errors=1');
        $this->assertSame([0, 1], [$code, substr_count($said, "\n")], $said);
        $this->assertStringContainsString(
            "dueq: no DUEQ_URL: this is the private server embedded:$home/dueq, "
                . "which only this user's programs ",
            $said,
        );
        $this->assertSame(
            [0, ''],
            $this->php($begin . sprintf($use, ", 'embedded:$home/dueq'"), 'log_errors=1')
        );
        [$code, $said] = $this->php("putenv('DUEQ_REQUIRE_URL=1');" . $begin . sprintf($use, ''));
        $this->assertSame(255, $code);
        $this->assertStringContainsString(
            'UrlException: no server is named, and DUEQ_REQUIRE_URL=1',
            $said,
        );
        exec('rm -rf ' . escapeshellarg($home));
    }

    public function test_construct_connects_at_the_first_call_only(): void
    {
        $queue = new Queue('q', 'unix:///nonexistent/socket?timeout=200ms');
        $this->assertSame('q', $queue->name);
        $this->assertSame(22, strlen($queue->newId()));
        $this->assertStringContainsString('/nonexistent/socket', $queue->url());
    }

    public function test_construct_an_embedded_server_that_processes_share(): void
    {
        $directory = sys_get_temp_dir() . '/dueq-php-' . bin2hex(random_bytes(6));
        $queue = new Queue('q', "embedded:$directory");
        $this->assertStringContainsString($directory, $queue->url());
        $body = str_repeat('kept ', 1000);
        $this->inChild(fn () => (new Queue('q', "embedded:$directory"))->push($body, id: 'one'));
        $message = $queue->reserve(10.0);
        $this->assertSame(['one', $body], [$message->id, $message->body]);
        $message->ack();
        unset($message, $queue);
        exec('rm -rf ' . escapeshellarg($directory));
    }

    public function test_two_queues_of_one_server_are_apart(): void
    {
        $this->queue('a')->push('for a');
        $this->assertNull($this->queue('b')->reserve());
        $this->assertSame('for a', $this->queue('a')->reserve()->body);
    }
}
