<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Exception\NameException;
use Dueq\Exception\UrlException;
use Dueq\Queue;

final class ConstructTest extends QueueTestCase
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
        foreach (['', 'nonsense', 'http://x', 'redis://h:99999', "redis://h\0", 'redis://h?no=1'] as $url) {
            $this->assertThrows(UrlException::class, fn () => new Queue('q', $url));
        }
    }

    public function test_construct_without_a_url_takes_that_of_the_environment(): void
    {
        putenv('DUEQ_URL=' . $this->server->url());
        (new Queue('q'))->push('by the environment');
        $this->assertSame('by the environment', $this->queue()->reserve()->body);
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
