<?php

declare(strict_types=1);

namespace Dueq\Testing;

use Dueq\Client;
use RuntimeException;

/**
 * The embedded server for the tests of this process. Processes that test at the same time have
 * different folders. When a process has ended, the next one uses its folder again.
 *
 * @internal
 */
final class PrivateServer
{
    /** How many processes may test at the same time, at most. */
    private const MOST = 1000;

    private static ?string $url = null;

    /** @var resource the file whose lock reserves the folder while this process lives */
    private static $lock;

    private static Client $client;

    public static function url(): string
    {
        return self::$url ??= 'embedded:' . self::folder();
    }

    /** The URL, or null if no test has used the server yet. */
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
            // 'e' closes the file in programs that this process starts: they must not keep the
            // lock.
            $lock = fopen("$root/$number.lock", 'ce');
            if ($lock !== false && flock($lock, LOCK_EX | LOCK_NB)) {
                self::$lock = $lock;

                return "$root/$number";
            }
        }
        throw new RuntimeException("all servers in $root are in use");
    }
}
