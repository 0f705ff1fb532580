<?php

declare(strict_types=1);

namespace Dueq\Tests;

/** A private redis-server or valkey-server on a Unix socket in a directory of its own. */
final class Server
{
    public readonly string $socket;

    private readonly string $directory;

    private readonly int $owner;

    /** @var resource|null */
    private $process;

    /** @var list<string> */
    private array $options;

    public function __construct(string ...$options)
    {
        $this->owner = getmypid();
        $this->options = $options;
        $this->directory = sys_get_temp_dir() . '/dueq-php-' . bin2hex(random_bytes(6));
        mkdir($this->directory, 0700);
        $this->socket = $this->directory . '/s';
        $this->start();
        register_shutdown_function([$this, 'remove']);
    }

    public function url(string $parameters = ''): string
    {
        return "unix://{$this->socket}" . ($parameters === '' ? '' : "?$parameters");
    }

    /** Starts the server (again) and waits until it listens. */
    public function start(): void
    {
        $command = [self::program(), '--port', '0', '--unixsocket', $this->socket, '--save', '',
            '--dir', $this->directory, ...self::debugging(), ...$this->options];
        $log = ['file', $this->directory . '/log', 'a'];
        $this->process = proc_open($command, [['file', '/dev/null', 'r'], $log, $log], $pipes);
        for ($end = microtime(true) + 20; microtime(true) < $end; usleep(5000)) {
            if (@stream_socket_client("unix://{$this->socket}") !== false) {
                return;
            }
        }
        throw new \RuntimeException("no server:\n" . file_get_contents($this->directory . '/log'));
    }

    /** Ends the server at once; what it has not written to disk is lost. */
    public function kill(): void
    {
        if ($this->process !== null) {
            posix_kill($this->pid(), SIGKILL);
            proc_close($this->process);
            $this->process = null;
            @unlink($this->socket);
        }
    }

    public function pid(): int
    {
        return proc_get_status($this->process)['pid'];
    }

    /** Ends the server and removes its directory; a forked child does nothing. */
    public function remove(): void
    {
        if (getmypid() === $this->owner && is_dir($this->directory)) {
            $this->kill();
            $paths = [...glob("{$this->directory}/*/*"), ...glob("{$this->directory}/*")];
            foreach ($paths as $path) {
                is_dir($path) ? rmdir($path) : unlink($path);
            }
            rmdir($this->directory);
        }
    }

    /** Sends a command on a connection of its own and returns the answer; errors begin with "-". */
    public function command(string ...$words): mixed
    {
        return self::read($this->send(...$words));
    }

    /**
     * Sends a command without waiting for the answer.
     *
     * @return resource
     */
    public function send(string ...$words)
    {
        $stream = stream_socket_client("unix://{$this->socket}");
        stream_set_timeout($stream, 20);
        $text = '*' . count($words) . "\r\n";
        foreach ($words as $word) {
            $text .= '$' . strlen($word) . "\r\n$word\r\n";
        }
        fwrite($stream, $text);
        return $stream;
    }

    /** Waits until a client of the server is blocked in a command. */
    public function awaitBlocked(): void
    {
        for ($end = microtime(true) + 20; microtime(true) < $end; usleep(5000)) {
            if (preg_match('/^blocked_clients:[1-9]/m', $this->command('INFO', 'clients'))) {
                return;
            }
        }
        throw new \RuntimeException('no client has blocked');
    }

    /** @return list<string> The option that permits DEBUG, which Redis 6.2 does not know. */
    private static function debugging(): array
    {
        $version = (string) shell_exec(escapeshellarg(self::program()) . ' --version');
        return str_contains($version, 'v=6.') ? [] : ['--enable-debug-command', 'yes'];
    }

    private static function program(): string
    {
        $wanted = getenv('DUEQ_TEST_SERVER') ?: '';
        foreach ($wanted !== '' ? [$wanted] : ['redis-server', 'valkey-server'] as $name) {
            $path = trim((string) shell_exec('command -v ' . escapeshellarg($name)));
            if ($path !== '') {
                return $path;
            }
        }
        throw new \RuntimeException('neither redis-server nor valkey-server is on PATH');
    }

    /** @param resource $stream */
    private static function read($stream): mixed
    {
        $line = rtrim((string) fgets($stream), "\r\n");
        $rest = substr($line, 1);
        switch ($line[0] ?? '') {
            case ':':
                return (int) $rest;
            case '$':
                return $rest === '-1'
                    ? null
                    : substr((string) stream_get_contents($stream, (int) $rest + 2), 0, -2);
            case '*':
                for ($items = [], $left = (int) $rest; $left > 0; $left--) {
                    $items[] = self::read($stream);
                }
                return $items;
            case '+':
                return $rest;
            default:
                return $line;
        }
    }
}
