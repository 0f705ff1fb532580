<?php

declare(strict_types=1);

namespace Dueq\Tests;

use BackedEnum;
use Dueq\Backoff;
use Dueq\BackoffKind;
use Dueq\CatchUp;
use Dueq\Client;
use Dueq\FailureKind;
use Dueq\Jitter;
use Dueq\Order;
use Dueq\Queues;
use Dueq\Redisson\Codec;
use Dueq\Redisson\DelayedQueue;
use Dueq\Redisson\Layout;
use Dueq\Replace;
use Dueq\State;

/** The enums: their cases, and that no method accepts another value in their place. */
final class EnumsTest extends QueueTestCase
{
    /** Each case of each enum, with its value, in the order of the values in C. */
    private const CASES = [
        State::class => [
            'Ready' => 'ready',
            'Delayed' => 'delayed',
            'Leased' => 'leased',
            'Dead' => 'dead',
            'Outbox' => 'outbox',
        ],
        Order::class => ['Preference' => 'preference', 'RoundRobin' => 'round robin'],
        Replace::class => ['Message' => 'message', 'Body' => 'body'],
        BackoffKind::class => [
            'Fixed' => 'fixed',
            'Linear' => 'linear',
            'Exponential' => 'exponential',
            'List' => 'list',
        ],
        Jitter::class => ['None' => 'none', 'Full' => 'full', 'Equal' => 'equal'],
        CatchUp::class => ['Once' => 'once', 'Skip' => 'skip', 'All' => 'all'],
        FailureKind::class => [
            'Failed' => 'failed',
            'Crashed' => 'crashed',
            'Buried' => 'buried',
            'Died' => 'died',
        ],
        Codec::class => [
            'Kryo5' => 'kryo5',
            'Bytes' => 'bytes',
            'String' => 'string',
            'Long' => 'long',
            'Jackson' => 'jackson',
            'TypedJson' => 'typed json',
            'Jackson3' => 'jackson3',
            'TypedJson3' => 'typed json3',
        ],
        Layout::class => ['New' => 'new', 'Old' => 'old'],
    ];

    public function test_each_enum_has_its_cases(): void
    {
        $enums = array_filter(
            (new \ReflectionExtension('dueq'))->getClassNames(),
            enum_exists(...),
        );
        $this->assertEqualsCanonicalizing(array_keys(self::CASES), array_values($enums));
        foreach (self::CASES as $enum => $cases) {
            $this->assertSame($cases, array_column($enum::cases(), 'value', 'name'));
            foreach ($enum::cases() as $case) {
                $this->assertInstanceOf(BackedEnum::class, $case);
                $this->assertSame($case, $enum::from($case->value));
                $this->assertSame($case, unserialize(serialize($case)));
                $this->assertSame(json_encode($case->value), json_encode($case));
            }
        }
    }

    /** The process gets a case from the server before the program names any case. */
    public function test_a_case_from_the_server_is_the_one_that_a_program_names(): void
    {
        $url = var_export($this->server->url(), true);
        $code = "\$queue = new Dueq\\Queue('q', $url);"
            . ' $id = $queue->push("x"); $state = $queue->find($id)->state; var_dump($state);'
            . ' exit((int) ($state !== Dueq\State::Ready || $queue->cancel($id) !== $state));';
        exec(escapeshellarg(PHP_BINARY) . ' -r ' . escapeshellarg($code), $lines, $status);
        $this->assertSame([['enum(Dueq\State::Ready)'], 0], [$lines, $status]);
    }

    public function test_a_text_or_another_enum_is_no_case(): void
    {
        $queue = $this->queue();
        $queue->push('x', id: 'one');
        $url = $this->server->url();
        $client = new Client($url);
        $takers = [
            ['state', 'ready', $queue->peek(...)],
            ['state', 'ready', $queue->purge(...)],
            ['order', 'preference', fn (mixed $order) => new Queues(['a'], $url, $order)],
            ['order', 'preference', fn (mixed $order) => $client->queues(['a'], $order)],
            [
                'replace',
                'body',
                fn (mixed $replace) => $queue->push('y', id: 'one', replace: $replace),
            ],
            [
                'catchup',
                'once',
                fn (mixed $catchup) => $queue->schedule('s', '@daily', 'x', catchup: $catchup),
            ],
            ['jitter', 'full', fn (mixed $jitter) => Backoff::fixed(1, $jitter)],
            ['codec', 'kryo5', fn (mixed $codec) => new DelayedQueue('d', $url, $codec)],
            ['layout', 'new', fn (mixed $layout) => new DelayedQueue('d', $url, layout: $layout)],
        ];
        foreach ($takers as [$name, $text, $take]) {
            foreach ([$text, '', 0, false, FailureKind::Failed, new \stdClass()] as $value) {
                $this->assertTypeError("(\$$name) must be of type", fn () => $take($value));
            }
        }
        $this->assertSame([1, 1], [$queue->stats()->pushed, $queue->stats()->ready]);
    }

    public function test_what_a_program_leaves_out_is_the_first_case(): void
    {
        $default = fn (string $class, string $method, string $name) =>
            (new \ReflectionParameter([$class, $method], $name))->getDefaultValue();
        $this->assertSame(Order::Preference, $default(Queues::class, '__construct', 'order'));
        $this->assertSame(
            Order::Preference,
            (new Queues(['a'], $this->server->url(), persistent: false))->order,
        );
        $this->assertSame(CatchUp::Once, $default(\Dueq\Queue::class, 'schedule', 'catchup'));
        $this->assertSame(Jitter::None, $default(Backoff::class, 'linear', 'jitter'));
        $this->assertSame(
            Codec::Kryo5,
            (new DelayedQueue('d', $this->server->url(), layout: Layout::Old))->codec,
        );
    }
}
