<?php

declare(strict_types=1);

namespace Dueq\Testing;

use Dueq\Client;
use RuntimeException;

/**
 * The embedded server of this process's tests. Its folder is for no other process as long as this one lives, and then
 * for the next that tests.
 *
 * @internal
 */
final class PrivateServer
{
    /** How many processes may test at the same time. */
    private const MOST = 1000;

    private static ?string $url = null;

    /** @var resource it is locked as long as this process lives */
    private static $lock;

    private static Client $client;

    public static function url(): string
    {
        return self::$url ??= 'embedded:' . self::folder();
    }

    /** The same; null: no test has begun it. */
    public static function begun(): ?string
    {
        return self::$url;
    }

    /** Removes all queues. */
    public static function clear(): void
    {
        self::$client ??= new Client(self::url());
        foreach (self::$client->names() as $name) {
            self::$client->queue($name)->remove();
        }
    }

    private static function folder(): string
    {
        $root = sys_get_temp_dir() . '/dueq-tests-' . posix_geteuid();
        is_dir($root) || mkdir($root, 0700);
        for ($number = 0; $number < self::MOST; $number++) {
            // What this process starts does not inherit it.
            $lock = fopen("$root/$number.lock", 'ce');
            if ($lock !== false && flock($lock, LOCK_EX | LOCK_NB)) {
                self::$lock = $lock;

                return "$root/$number";
            }
        }
        throw new RuntimeException("all servers in $root are in use");
    }
}
