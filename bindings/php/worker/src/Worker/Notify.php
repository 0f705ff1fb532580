<?php

declare(strict_types=1);

namespace Dueq\Worker;

/**
 * Sends states to systemd (sd_notify). Does nothing in a process that systemd does not supervise.
 *
 * @internal
 */
final class Notify
{
    private readonly string $socket;

    /** Seconds between two WATCHDOG=1, half of systemd's limit; null: systemd wants none. */
    public readonly ?float $watchdog;

    public function __construct()
    {
        $this->socket = (string) getenv('NOTIFY_SOCKET');
        $micros = (int) getenv('WATCHDOG_USEC');
        $ours = in_array(getenv('WATCHDOG_PID'), [false, (string) getmypid()], true);
        $this->watchdog = $this->socket !== '' && $micros > 0 && $ours ? $micros / 2e6 : null;
        foreach (['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID'] as $name) {
            // The programs that jobs start must not answer for this process.
            putenv($name);
        }
    }

    /** @param string $state such as READY=1 */
    public function tell(string $state): void
    {
        if ($this->socket === '') {
            return;
        }
        // An abstract socket's name begins with a NUL byte, which is written as @.
        $stream = @stream_socket_client('udg://' . preg_replace('/^@/', "\0", $this->socket));
        if ($stream !== false) {
            fwrite($stream, $state);
            fclose($stream);
        }
    }
}
