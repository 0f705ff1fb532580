<?php

declare(strict_types=1);

namespace Dueq\Worker;

/**
 * One end of the socket from a worker's process to its parent, which carries events as lines of
 * JSON.
 *
 * @internal
 */
final class Channel
{
    private string $read = '';

    /** @param resource $stream */
    private function __construct(public readonly mixed $stream)
    {
    }

    /** @return array{self, self} the receiving end, then the sending end */
    public static function pair(): array
    {
        [$receives, $sends] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        stream_set_blocking($receives, false);

        return [new self($receives), new self($sends)];
    }

    /**
     * Sends an event. If the parent is gone, the event is lost.
     *
     * @param array<string, mixed> $event
     */
    public function send(array $event): void
    {
        $line = json_encode($event, JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE) . "\n";
        while ($line !== '' && ($sent = @fwrite($this->stream, $line))) {
            $line = substr($line, $sent);
        }
    }

    /** @return list<array<string, mixed>> the events that have arrived since the last call */
    public function receive(): array
    {
        while (($read = fread($this->stream, 65536)) !== false && $read !== '') {
            $this->read .= $read;
        }
        $lines = explode("\n", $this->read);
        $this->read = array_pop($lines);

        return array_map(fn (string $line) => json_decode($line, true), $lines);
    }

    public function close(): void
    {
        fclose($this->stream);
    }
}
