<?php

declare(strict_types=1);

namespace Dueq\Tests\Worker;

use Dueq\Tasks;
use Dueq\Testing\Drain;
use Dueq\Worker;
use Dueq\Worker\Job;
use InvalidArgumentException;
use PHPUnit\Framework\Attributes\DataProvider;

/** The queue of a task: that of the push, of the routes, of the task, or "default". */
final class RoutesTest extends WorkerTestCase
{
    private const ROUTES = ['send_receipt' => 'mail', 'resize' => 'images'];

    private string $file;

    protected function setUp(): void
    {
        parent::setUp();
        $this->file = tempnam(sys_get_temp_dir(), 'dueq-routes');
        file_put_contents($this->file, json_encode(self::ROUTES));
    }

    protected function tearDown(): void
    {
        putenv('DUEQ_ROUTES');
        unlink($this->file);
    }

    public function testBothLanguagesReadTheFileThatTheEnvironmentNames(): void
    {
        putenv("DUEQ_ROUTES={$this->file}");
        $tasks = new Tasks($this->server->url());
        foreach (['send_receipt', 'resize', 'pack'] as $task) {
            $tasks->push($task);
        }
        $this->python('import dueq; app = dueq.App(); app.push("send_receipt"); app.push("pack")');
        foreach (['mail' => 2, 'images' => 1, 'default' => 2] as $queue => $count) {
            $this->assertSame($count, $this->queue($queue)->stats()->pushed, $queue);
        }
    }

    public function testRoutesReplaceTheQueueOfATaskAndAPushReplacesThat(): void
    {
        $ran = [];
        $worker = new Worker($this->server->url(), routes: self::ROUTES);
        $worker
            ->on('send_receipt', function (Job $job, int $order) use (&$ran): void {
                $ran[] = $order;
                if ($order === 2) {
                    $job->push('send_receipt', [102]);
                }
            }, queue: 'late')
            ->on('pack', fn (int $order) => null);
        $this->assertSame(['mail', 'default', 'late'], $worker->queues());
        $worker->push('send_receipt', [1]);
        $worker->push('send_receipt', [2], queue: 'late');
        $worker->push('send_receipt', [3], queue: 'other');
        $worker->push('resize', ['a.png']);
        $worker->push('pack', [1]);
        foreach (['mail', 'late', 'other', 'images', 'default'] as $queue) {
            $this->assertSame(1, $this->queue($queue)->stats()->pushed, $queue);
        }
        Drain::run($worker, server: $this->server->url());
        sort($ran);
        // What an earlier version pushed to the task's own queue is done, too.
        $this->assertSame([1, 2, 102], $ran);
        $this->assertSame(2, $this->queue('mail')->stats()->acked);
    }

    public function testAFileAndAnEmptyTable(): void
    {
        $tasks = new Tasks($this->server->url(), routes: $this->file);
        $this->assertSame('mail', $tasks->queueOf('send_receipt'));
        putenv("DUEQ_ROUTES={$this->file}");
        $tasks = new Tasks($this->server->url(), routes: []);
        $this->assertSame('default', $tasks->queueOf('send_receipt'));
    }

    public function testAUrl(): void
    {
        $server = stream_socket_server('tcp://127.0.0.1:0');
        $url = 'http://' . stream_socket_get_name($server, false) . '/routes.json';
        $child = pcntl_fork();
        if ($child === 0) {
            $asked = stream_socket_accept($server, 20.0);
            fread($asked, 8192);
            fwrite($asked, "HTTP/1.0 200 OK\r\n\r\n" . json_encode(self::ROUTES));
            fclose($asked);
            // No destructor and no shutdown function of the tests runs in this process.
            posix_kill(getmypid(), SIGKILL);
        }
        $tasks = new Tasks($this->server->url(), routes: $url);
        $this->assertSame('images', $tasks->queueOf('resize'));
        pcntl_waitpid($child, $status);
    }

    /** @return iterable<string, array{string, string}> */
    public static function wrong(): iterable
    {
        yield 'a list' => ['[]', 'it is not an object such as {"send_receipt": "mail"}'];
        yield 'no JSON' => ['{', 'Syntax error'];
        yield 'a number' => ['{"a": 1}', 'the task a has no name of a queue, but 1'];
        yield 'no name' => ['{"a": ""}', 'the task a has no name of a queue, but ""'];
    }

    /** @dataProvider wrong */
    #[DataProvider('wrong')]
    public function testWrongRoutesAreRefused(string $json, string $says): void
    {
        file_put_contents($this->file, $json);
        $this->expectException(InvalidArgumentException::class);
        $this->expectExceptionMessage("routes: {$this->file}: $says");
        new Tasks($this->server->url(), routes: $this->file);
    }

    public function testRoutesThatCannotBeReadAreNamed(): void
    {
        foreach (["{$this->file}.none", 'http://127.0.0.1:1/'] as $where) {
            try {
                new Tasks($this->server->url(), routes: $where);
                $this->fail('they were read');
            } catch (InvalidArgumentException $error) {
                $this->assertStringStartsWith("routes: $where: ", $error->getMessage());
            }
        }
    }
}
