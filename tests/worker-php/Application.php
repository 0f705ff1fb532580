<?php

declare(strict_types=1);

namespace Dueq\Tests\Worker;

use Dueq\Tests\Server;
use RuntimeException;

/**
 * A copy of app/ with the package in its vendor/, as Composer installs it. Psr's interfaces come
 * from the distribution.
 */
final class Application
{
    private static ?self $shared = null;

    public readonly string $folder;

    private readonly int $owner;

    private function __construct()
    {
        $this->owner = getmypid();
        $this->folder = sys_get_temp_dir() . '/dueq-worker-' . bin2hex(random_bytes(6));
        self::run('cp', '-r', __DIR__ . '/app', $this->folder);
        $composer = [
            'repositories' => [
                ['type' => 'path', 'url' => realpath(__DIR__ . '/../../bindings/php/worker')],
                ['packagist' => false],
            ],
            'require' => ['dueq/worker' => '@dev'],
            'replace' => ['psr/log' => '1.1.4', 'psr/container' => '1.1.2'],
            'autoload' => [
                'psr-4' => ['App\\' => 'src/'],
                'classmap' => ['src/Mapped'],
                'files' => ['psr.php'],
            ],
        ];
        file_put_contents(
            "{$this->folder}/composer.json",
            json_encode($composer, JSON_THROW_ON_ERROR),
        );
        putenv("COMPOSER_HOME={$this->folder}/.composer");
        putenv('COMPOSER_ALLOW_SUPERUSER=1');
        putenv('COMPOSER_NO_AUDIT=1');
        self::run(
            'composer',
            'install',
            '--quiet',
            '--no-interaction',
            '--working-dir',
            $this->folder,
        );
        register_shutdown_function(
            fn () => getmypid() === $this->owner && self::run('rm', '-rf', $this->folder),
        );
    }

    public static function shared(): self
    {
        return self::$shared ??= new self();
    }

    /** Starts its dueq-worker. */
    public function start(Server $server, string $bootstrap, string ...$options): Process
    {
        return new Process(
            $this->folder,
            ['vendor/bin/dueq-worker', $bootstrap, ...$options],
            ['DUEQ_URL' => $server->url()],
        );
    }

    private static function run(string ...$command): void
    {
        $process = proc_open($command, [['file', '/dev/null', 'r'], STDERR, STDERR], $pipes);
        if (proc_close($process) !== 0) {
            throw new RuntimeException(implode(' ', $command));
        }
    }
}
