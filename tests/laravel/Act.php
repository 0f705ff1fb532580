<?php

declare(strict_types=1);

namespace Dueq\Tests\Laravel;

use Illuminate\Bus\Queueable;
use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Queue\InteractsWithQueue;
use RuntimeException;
use Throwable;

/** A job that writes "NAME ATTEMPT" to the journal and then does one of its acts. */
final class Act implements ShouldQueue
{
    use InteractsWithQueue;
    use Queueable;

    public ?int $tries = null;

    public ?int $maxExceptions = null;

    public ?int $timeout = null;

    public bool $failOnTimeout = false;

    public ?int $retryUntil = null;

    /** @var int|list<int>|null */
    public int|array|null $backoff = null;

    public bool $failsToFail = false;

    /**
     * @var list<string> what the job does on each attempt: done, throw, fail, hang, exit,
     * "release N", "last N", "quiet N" or "leave N". After the last of them: done.
     */
    private array $acts;

    public function __construct(private string $name, string ...$acts)
    {
        $this->acts = $acts;
    }

    public function handle(): void
    {
        $attempt = $this->attempts();
        Journal::write("{$this->name} $attempt");
        [$act, $seconds] = explode(' ', ($this->acts[$attempt - 1] ?? 'done') . ' 0');
        match ($act) {
            'done' => null,
            'throw' => throw new RuntimeException("thrown by {$this->name}"),
            'fail' => $this->fail(new RuntimeException("failed by {$this->name}")),
            'release' => $this->release((int) $seconds),
            'last', 'quiet', 'leave' => self::last((float) $seconds),
            'exit' => exit(0),
            'hang' => self::last(3600.0),
        };
        if ($act === 'leave') {
            exit(0);
        }
        if ($act === 'last') {
            Journal::write("{$this->name} over");
        }
    }

    public function failed(?Throwable $error): void
    {
        Journal::write("{$this->name} failed: {$error?->getMessage()}");
        if ($this->failsToFail) {
            throw new RuntimeException("failed() of {$this->name}");
        }
    }

    private static function last(float $seconds): void
    {
        // Like a handler that computes: signals interrupt it, but do not shorten it.
        for ($end = microtime(true) + $seconds; microtime(true) < $end;) {
            usleep(1000);
        }
    }
}
