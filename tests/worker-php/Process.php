<?php

declare(strict_types=1);

namespace Dueq\Tests\Worker;

use RuntimeException;

/** A worker as a process, with what it says on standard error. It ends with the test. */
final class Process
{
    private const PATIENCE = 20.0;

    /** @var resource|null */
    private $process;

    public readonly int $pid;

    private readonly string $log;

    /**
     * @param list<string> $command of PHP
     * @param array<string, string> $environment beside that of this process
     */
    public function __construct(string $folder, array $command, array $environment)
    {
        $this->log = tempnam(sys_get_temp_dir(), 'dueq-worker-log-');
        $streams = [
            ['file', '/dev/null', 'r'],
            ['file', $this->log, 'a'],
            ['file', $this->log, 'a'],
        ];
        $this->process = proc_open(
            [PHP_BINARY, ...$command],
            $streams,
            $pipes,
            $folder,
            $environment + getenv(),
        );
        $this->pid = proc_get_status($this->process)['pid'];
    }

    public function __destruct()
    {
        if ($this->process !== null) {
            $this->signal(SIGKILL);
            $this->wait();
        }
        unlink($this->log);
    }

    public function signal(int $signal): void
    {
        posix_kill($this->pid, $signal);
    }

    /**
     * Waits for the end of the process. Returns its exit status, or the negative number of the
     * signal that ended it.
     */
    public function wait(): int
    {
        pcntl_waitpid($this->pid, $status);
        proc_close($this->process);
        $this->process = null;

        return pcntl_wifsignaled($status) ? -pcntl_wtermsig($status) : pcntl_wexitstatus($status);
    }

    public function stop(): int
    {
        $this->signal(SIGTERM);

        return $this->wait();
    }

    public function log(): string
    {
        return (string) file_get_contents($this->log);
    }

    /**
     * Waits until it has said something.
     *
     * @return list<string> of the match
     */
    public function awaitLog(string $pattern): array
    {
        for ($end = microtime(true) + self::PATIENCE; microtime(true) < $end; usleep(10000)) {
            if (preg_match($pattern, $this->log(), $found)) {
                return $found;
            }
        }
        throw new RuntimeException("$pattern is not in what it said:\n{$this->log()}");
    }

    public function awaitReady(): void
    {
        $this->awaitLog('/ready: /');
    }
}
