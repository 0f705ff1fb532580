<?php

declare(strict_types=1);

namespace Dueq\Tests\Laravel;

use Dueq\LaravelDriver\Address;
use Dueq\Tests\Server;
use InvalidArgumentException;

/** Which server a connection of config/queue.php is on. */
final class ConnectionTest extends LaravelTestCase
{
    public function testTheRedisConnectionOfTheApplication(): void
    {
        $app = $this->application(['connection' => 'default'], [
            'options' => ['prefix' => 'shop-database-'],
            'default' => [
                'host' => $this->server->socket,
                'password' => null,
                'port' => 0,
                'database' => '3',
            ],
        ]);
        $app->container['queue']->connection()->push(new Act('a'));
        $this->assertSame(
            ['shop-database-default'],
            \Dueq\Queue::names($this->server->url('db=3')),
        );
    }

    public function testAPrefixThatBeginsAnotherOneIsRefused(): void
    {
        $entry = fn (string $prefix, string $query = '') => [
            'driver' => 'dueq', 'url' => $this->server->url($query), 'prefix' => $prefix,
        ];
        $connections = [
            'shop' => $entry('shop'),
            'admin' => $entry('shop-admin:'),
            'far' => $entry('shop-x:', 'db=3'),
            'all' => $entry(''),
        ];
        $app = new Application($this->database, $connections);
        foreach (['shop' => 'admin', 'admin' => 'shop'] as $name => $other) {
            try {
                $app->container['queue']->connection($name);
                $this->fail("the prefix of $name was taken");
            } catch (InvalidArgumentException $error) {
                $this->assertStringContainsString(
                    "the connection [$other] has",
                    $error->getMessage(),
                );
            }
        }
        foreach (['far', 'all'] as $name) {
            $this->assertSame(0, $app->container['queue']->connection($name)->size());
        }
    }

    public function testALoginToATcpPort(): void
    {
        $password = 'p@ss:w/rd %2F?#';
        $port = self::freePort();
        $server = new Server(
            '--port',
            (string) $port,
            '--bind',
            '127.0.0.1',
            '--requirepass',
            $password,
        );
        $app = $this->application(['connection' => 'jobs', 'prefix' => ''], [
            'jobs' => [
                'host' => '127.0.0.1',
                'port' => (string) $port,
                'username' => 'default',
                'password' => $password,
                'database' => 2,
            ],
        ]);
        $app->container['queue']->connection()->push(new Act('a'));
        $this->assertSame(1, $app->container['queue']->connection()->size());
        $this->assertSame(
            "redis://default:***@127.0.0.1:$port/2",
            $app->container['queue']->connection()->messages()->url(),
        );
        $server->remove();
    }

    /** @return array<string, array{array<string, mixed>, string}> */
    public static function connections(): array
    {
        return [
            'nothing' => [[], 'redis://127.0.0.1:6379/0'],
            'as in Laravel\'s own config' => [
                [
                    'url' => null,
                    'host' => 'cache',
                    'username' => null,
                    'password' => null,
                    'port' => '6380',
                    'database' => '1',
                ],
                'redis://cache:6380/1',
            ],
            'a password alone' => [['password' => 'a/b'], 'redis://:a%2Fb@127.0.0.1:6379/0'],
            'a user alone is no login' => [
                ['username' => 'shop', 'password' => ''],
                'redis://127.0.0.1:6379/0',
            ],
            'a user' => [
                ['username' => 'shop', 'password' => 'x'],
                'redis://shop:x@127.0.0.1:6379/0',
            ],
            'a login as a list' => [
                ['password' => ['shop', 'x']],
                'redis://shop:x@127.0.0.1:6379/0',
            ],
            'IPv6' => [['host' => '::1'], 'redis://[::1]:6379/0'],
            'a URL' => [
                [
                    'url' => 'redis://shop:a%2Fb@cache:6390/4',
                    'host' => '127.0.0.1',
                    'database' => '0',
                ],
                'redis://shop:a%2Fb@cache:6390/4',
            ],
            'a URL without a database' => [
                ['url' => 'redis://cache:6390', 'database' => '5'],
                'redis://cache:6390/5',
            ],
            'a URL of TLS' => [['url' => 'rediss://:x@cache:6390'], 'rediss://:x@cache:6390/0'],
            'TLS by its scheme' => [
                ['scheme' => 'tls', 'host' => 'cache'],
                'rediss://cache:6379/0',
            ],
            'TLS by its host' => [['host' => 'tls://cache'], 'rediss://cache:6379/0'],
            'the files of TLS' => [
                [
                    'host' => 'tls://cache',
                    'context' => [
                        'stream' => ['cafile' => '/a b/ca.pem', 'local_cert' => '/c.pem'],
                    ],
                ],
                'rediss://cache:6379/0?ca=%2Fa%20b%2Fca.pem&cert=%2Fc.pem&key=%2Fc.pem',
            ],
            'a socket of phpredis' => [
                ['host' => '/run/redis 1.sock', 'port' => 0, 'database' => 2],
                'unix:///run/redis%201.sock?db=2',
            ],
            'a socket with a login' => [
                ['host' => 'unix:///run/s', 'password' => 'x'],
                'unix://:x@/run/s?db=0',
            ],
            'a socket of Predis' => [
                ['scheme' => 'unix', 'path' => '/run/s'],
                'unix:///run/s?db=0',
            ],
        ];
    }

    /**
     * @dataProvider connections
     * @param array<string, mixed> $redis
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('connections')]
    public function testEveryFormOfARedisConnection(array $redis, string $url): void
    {
        $app = $this->application([], ['default' => $redis]);
        $this->assertSame($url, (new Address($app->container))->url(['connection' => 'default']));
        $app->container['queue']->connection();
    }

    public function testTheUrlGoesFirst(): void
    {
        $app = $this->application(['url' => $this->server->url(), 'connection' => 'none'], []);
        $app->container['queue']->connection()->messages('q')->push('x');
        $this->assertSame(['q'], \Dueq\Queue::names($this->server->url()));
    }

    public function testThePrefixOfTheRedisConnection(): void
    {
        $redis = [
            'options' => ['prefix' => 'all:'],
            'a' => [],
            'b' => ['prefix' => 'b:'],
            'c' => ['options' => ['prefix' => 'c:']],
        ];
        $address = new Address($this->application([], $redis)->container);
        $prefixes = array_map(
            fn ($name) => $address->prefix(['connection' => $name]),
            ['a', 'b', 'c'],
        );
        $this->assertSame(['all:', 'b:', 'c:'], $prefixes);
        $this->assertSame('', $address->prefix(['connection' => 'a', 'prefix' => '']));
        $this->assertSame('', $address->prefix(['url' => 'redis://host']));
    }

    public function testAConnectionThatNamesNoServerIsRefused(): void
    {
        $redis = ['clusters' => ['many' => [['host' => 'a']]]];
        $this->assertFails('[many] is a cluster', ['connection' => 'many'], $redis);
        $this->assertFails(
            '[other], which a queue connection of the driver dueq names, is not configured',
            ['connection' => 'other'],
            $redis,
        );
    }

    public function testWithoutAServerThereIsAnErrorButForLocal(): void
    {
        foreach (['production', 'staging'] as $environment) {
            foreach ([[], ['url' => null], ['url' => '', 'connection' => null]] as $entry) {
                $this->assertFails('set DUEQ_URL in .env', $entry, [], $environment);
            }
        }
        $before = ini_set('error_log', '/dev/null'); // the log names the private server
        foreach (['local', 'testing'] as $environment) {
            $this->application([], [], $environment)->container['queue']->connection();
        }
        ini_set('error_log', $before);
        putenv("DUEQ_URL={$this->server->url()}");
        try {
            $app = $this->application([], [], 'production');
        } finally {
            $app->container['queue']->connection()->push(new Act('a'));
            putenv('DUEQ_URL');
        }
        $this->assertSame(['default'], \Dueq\Queue::names($this->server->url()));
    }

    /** @param array<string, mixed> $entry of config/queue.php */
    private function assertFails(
        string $text,
        array $entry,
        array $redis,
        string $environment = 'testing',
    ): void {
        try {
            $this->application($entry, $redis, $environment)->container['queue']->connection();
        } catch (InvalidArgumentException $error) {
            $this->assertStringContainsString($text, $error->getMessage());

            return;
        }
        $this->fail("no exception: $text");
    }

    /**
     * @param array<string, mixed> $entry of config/queue.php
     * @param array<string, mixed> $redis of config/database.php
     */
    private function application(
        array $entry,
        array $redis,
        string $environment = 'testing',
    ): Application {
        return new Application(
            $this->database,
            ['dueq' => ['driver' => 'dueq'] + $entry],
            $redis,
            $environment,
        );
    }

    private static function freePort(): int
    {
        $socket = stream_socket_server('tcp://127.0.0.1:0');

        return (int) substr(strrchr(stream_socket_get_name($socket, false), ':'), 1);
    }
}
