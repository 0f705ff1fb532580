<?php

declare(strict_types=1);

namespace Dueq\Tests\Symfony;

use Dueq\SymfonyMessenger\DueqTransportFactory;
use Dueq\SymfonyMessenger\Settings;
use Symfony\Component\Messenger\Exception\InvalidArgumentException;
use Symfony\Component\Messenger\Transport\Serialization\PhpSerializer;

final class SettingsTest extends SymfonyTestCase
{
    protected function tearDown(): void
    {
        putenv('DUEQ_URL');
    }

    /** @return iterable<string, array{string, string|null, string}> */
    public static function dsns(): iterable
    {
        yield 'a server' => ['dueq://localhost', 'redis://localhost', 'async'];
        yield 'all of it' => [
            'dueq://u:p%40@h:6380/2?queue=mail&timeout=3s&lease=20',
            'redis://u:p%40@h:6380/2?timeout=3s',
            'mail',
        ];
        yield 'TLS' => ['dueq+rediss://h?queue=mail%20out', 'rediss://h', 'mail out'];
        yield 'a socket' => [
            'dueq+unix:///run/redis.sock?db=3&queue=mail',
            'unix:///run/redis.sock?db=3',
            'mail',
        ];
        yield 'a private server' => ['dueq+embedded:/tmp/x?queue=mail', 'embedded:/tmp/x', 'mail'];
    }

    /** @dataProvider dsns */
    #[\PHPUnit\Framework\Attributes\DataProvider('dsns')]
    public function testDsnNamesServerAndQueue(string $dsn, ?string $url, string $queue): void
    {
        $settings = Settings::of($dsn, ['transport_name' => 'async']);
        $this->assertSame([$url, $queue], [$settings->url, $settings->queue]);
        $this->assertTrue((new DueqTransportFactory())->supports($dsn, []));
    }

    public function testDsnAloneIsTheServerOfTheEnvironment(): void
    {
        putenv('DUEQ_URL=redis://elsewhere');
        $this->assertNull(Settings::of('dueq://?queue=mail', [])->url);
    }

    public function testOptionsOfTheDsnTakePrecedenceOverTheArray(): void
    {
        $settings = Settings::of(
            'dueq://h?wait=2.5&persistent=1&max_crashes=none',
            ['wait' => 1, 'lease' => 30, 'dead_letter' => 'failed'],
        );
        $this->assertSame([2.5, 30.0, true, null, 'failed'], [
            $settings->wait, $settings->lease, $settings->persistent,
            $settings->maxCrashes, $settings->deadLetter,
        ]);
        $this->assertSame([0.0, 8.0, null, 5, 'messages'], [
            ($settings = Settings::of('dueq://h', []))->wait, $settings->lease,
            $settings->persistent, $settings->maxCrashes, $settings->queue,
        ]);
    }

    /** @return iterable<string, array{string, array<string, mixed>, string}> */
    public static function mistakes(): iterable
    {
        yield 'an option' => ['dueq://h', ['stream' => 'x'], 'there is no option stream'];
        yield 'a number' => [
            'dueq://h?lease=soon',
            [],
            'lease is a number of at least 0.05, not string "soon"',
        ];
        yield 'a small number' => [
            'dueq://h',
            ['fetch_size' => 0],
            'fetch_size is a number of at least 1',
        ];
        yield 'no server' => ['dueq://', [], 'names no server'];
        yield 'a queue' => ['dueq://h?queue={x}', [], 'The dueq transport: '];
        yield 'a URL' => ['dueq+http://h', [], 'The dueq transport: '];
    }

    /**
     * @dataProvider mistakes
     * @param array<string, mixed> $options
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('mistakes')]
    public function testMistakesAreNamed(string $dsn, array $options, string $why): void
    {
        $this->expectException(InvalidArgumentException::class);
        $this->expectExceptionMessage($why);
        (new DueqTransportFactory())->createTransport($dsn, $options, new PhpSerializer());
    }

    public function testDsnsOfOthersAreNotSupported(): void
    {
        foreach (['redis://h', 'doctrine://default', 'dueque://h'] as $dsn) {
            $this->assertFalse((new DueqTransportFactory())->supports($dsn, []));
        }
    }
}
