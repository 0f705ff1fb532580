<?php

declare(strict_types=1);

namespace Dueq\Worker;

/**
 * Tells systemd what it wants to know (sd_notify); without it, nothing.
 *
 * @internal
 */
final class Notify
{
    private readonly string $socket;

    /** Seconds between two signs of life; null: none is wanted. */
    public readonly ?float $watchdog;

    public function __construct()
    {
        $this->socket = (string) getenv('NOTIFY_SOCKET');
        $micros = (int) getenv('WATCHDOG_USEC');
        $ours = in_array(getenv('WATCHDOG_PID'), [false, (string) getmypid()], true);
        $this->watchdog = $this->socket !== '' && $micros > 0 && $ours ? $micros / 2e6 : null;
        foreach (['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID'] as $name) {
            // They are not for the programs that jobs start.
            putenv($name);
        }
    }

    /** @param string $state as READY=1 */
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
