<?php

declare(strict_types=1);

namespace Dueq\Tests\Worker;

use App\Tasks\SendReceipt;
use Dueq\State;
use InvalidArgumentException;
use JsonException;

/** Tasks as messages, which Python and PHP write and read alike. */
final class WireTest extends WorkerTestCase
{
    public function testATaskIsAMessageOfTheAgreedBytes(): void
    {
        $this->tasks->push(
            'send_receipt',
            [17, 'copy' => true, 1.0, 'to' => 'Zoë/"ü"'],
            queue: 'mail',
        );
        $message = $this->queue('mail')->reserve();
        $this->assertSame(
            '{"args":[17,1.0],"kwargs":{"copy":true,"to":"Zoë/\"ü\""}}',
            $message->body,
        );
        $this->assertSame(['task' => 'send_receipt'], $message->headers);
        $this->tasks->push('nothing');
        $this->assertSame('{"args":[],"kwargs":{}}', $this->queue()->reserve()->body);
    }

    public function testPythonReadsWhatPhpPushes(): void
    {
        $arguments = [17, 1.5, null, true, "Zoë\u{2028}/", ['a' => [1, []]], 'copy' => 2.0];
        $this->tasks->push('send_receipt', $arguments);
        $read = $this->python(<<<'END'
            import json, os, dueq
            message = dueq.Queue("default", os.environ["DUEQ_URL"]).reserve()
            task = json.loads(message.body)
            compact = {"separators": (",", ":"), "ensure_ascii": False, "allow_nan": False}
            same = json.dumps(task, **compact).encode()
            print(message.headers["task"], task["args"], task["kwargs"], same == message.body)
            END);
        $list = "[17, 1.5, None, True, 'Zoë\\u2028/', {'a': [1, []]}]";
        $this->assertSame("send_receipt $list {'copy': 2.0} True\n", $read);
    }

    public function testATaskThatPythonPushesRunsByItsName(): void
    {
        $this->python(<<<'END'
            import json, os, dueq
            body = json.dumps({"args": [17], "kwargs": {"copy": True}}, separators=(",", ":"))
            dueq.Queue("mail", os.environ["DUEQ_URL"]).push(body, headers={"task": "send_receipt"})
            own = '{"args":[18]}'
            dueq.Queue("mail", os.environ["DUEQ_URL"]).push(own, headers={"task": "send_receipt"})
            END);
        $worker = $this->start('--queues', 'mail');
        $this->assertSame('receipt 17 and a copy', $this->heard());
        $this->assertSame('receipt 18', $this->heard());
        $this->assertSame(0, $worker->stop());
        $this->awaitEmpty('mail');
    }

    public function testAClassIsPushedWithTheOptionsOfItsAttribute(): void
    {
        $id = $this->tasks->push(SendReceipt::class, [17], delay: 60.0, maxAttempts: 7);
        $message = $this->queue('mail')->find($id);
        $this->assertSame(
            [State::Delayed, 'send_receipt', 7],
            [$message->state, $message->headers['task'], $message->maxAttempts],
        );
    }

    public function testAUniqueTaskGetsItsIdFromItsNameAndArguments(): void
    {
        $id = $this->tasks->push('report', [2026], unique: 60.0);
        $this->assertSame(
            'report:' . substr(hash('sha256', '{"args":[2026],"kwargs":{}}'), 0, 32),
            $id,
        );
        $this->assertNotSame($id, $this->tasks->push('report', [2027], unique: 60.0));
        $this->assertSame('mine', $this->tasks->push('report', [2026], id: 'mine', unique: 60.0));
        $this->expectException(\Dueq\Exception\DuplicateException::class);
        $this->tasks->push('report', [2026], unique: 60.0);
    }

    public function testDraftsAreForManyAndForSuccessors(): void
    {
        $this->assertCount(
            2,
            $this->queue()->pushMany([
                $this->tasks->draft('say', [1]),
                $this->tasks->draft('say', [2]),
            ]),
        );
        $message = $this->queue()->reserve();
        $message->ack([$this->tasks->draft('say', [3]) + ['delay' => 60.0]]);
        $this->assertSame(
            [1, 1],
            [$this->queue()->stats()->ready, $this->queue()->stats()->delayed],
        );
    }

    /** @dataProvider refused */
    #[\PHPUnit\Framework\Attributes\DataProvider('refused')]
    public function testWhatIsNoTaskIsRefused(string $error, string $text, array $arguments): void
    {
        $this->expectException($error);
        $this->expectExceptionMessageMatches($text);
        $this->tasks->push(...$arguments);
    }

    /** @return iterable<string, array<mixed>> */
    public static function refused(): iterable
    {
        yield 'a name' => [InvalidArgumentException::class, '/1 to 255 bytes/', ["a\nb"]];
        yield 'no name' => [InvalidArgumentException::class, '/1 to 255 bytes/', ['']];
        yield 'an option' => [
            InvalidArgumentException::class,
            '/no option maxAtempts; there are: .*maxAttempts/',
            ['a', 'maxAtempts' => 3],
        ];
        yield 'a header' => [
            InvalidArgumentException::class,
            '/a push cannot set the headers task, .*: the worker needs them/',
            ['a', 'headers' => ['cursor' => '1']],
        ];
        yield 'a class without the attribute' => [
            InvalidArgumentException::class,
            '/App.Services is no class with/',
            ['App\Services'],
        ];
        yield 'what JSON has not' => [JsonException::class, '/Inf and NaN/', ['a', [NAN]]];
    }
}
