<?php

declare(strict_types=1);

namespace Dueq\Tests\Laravel;

/** A process that runs Laravel's worker, as queue:work does. It ends with the test. */
final class WorkerProcess
{
    /** @var resource|null */
    private $process;

    private int $pid;

    /**
     * @param array<string, mixed> $entry of config/queue.php
     * @param array<string, mixed> $options properties of WorkerOptions
     */
    public function __construct(string $database, array $entry, array $options, string $queue)
    {
        $arguments = json_encode([$database, $entry, $options, $queue], JSON_THROW_ON_ERROR);
        $command = [PHP_BINARY, __DIR__ . '/worker.php', $arguments];
        $this->process = proc_open($command, [['file', '/dev/null', 'r'], STDOUT, STDERR], $pipes);
        $this->pid = proc_get_status($this->process)['pid'];
    }

    public function __destruct()
    {
        if ($this->process !== null) {
            $this->signal(SIGKILL);
            $this->wait();
        }
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
}
