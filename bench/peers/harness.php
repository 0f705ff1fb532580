<?php
/* What the adapters of peers in PHP have in common: the words of the contract (README.md). */

declare(strict_types=1);

const BODY_SIZE = 200;
const BULK = 500;

/** A queue, as a peer's adapter makes it. */
interface Peer
{
    /**
     * Enqueues a body; it is due at once, or at $dueMs since 1970.
     *
     * @return string what cancel() takes
     */
    public function push(string $body, ?int $dueMs = null): string;

    /** @param list<array{string, ?int}> $jobs bodies with their due times */
    public function pushMany(array $jobs): void;

    /** Returns when the server has stored all jobs that pushMany() got. */
    public function flush(): void;

    /** Takes back a job that is not due yet. */
    public function cancel(string $id): void;

    /**
     * Gives each job to $handle, and acknowledges it, until $handle wants no more jobs.
     *
     * @param array<string, mixed> $options a setting of peer.json
     * @param callable(string): bool $handle takes a body; returns whether it wants more jobs
     */
    public function work(array $options, callable $handle): void;
}

function say(array $line): void
{
    fwrite(STDOUT, json_encode($line) . "\n");
}

function nowSeconds(): float
{
    return hrtime(true) / 1e9;
}

function cpuSeconds(): float
{
    $used = getrusage();
    return $used['ru_utime.tv_sec'] + $used['ru_stime.tv_sec']
        + ($used['ru_utime.tv_usec'] + $used['ru_stime.tv_usec']) / 1e6;
}

/** Does the first of $count steps. Once it has read a line, does the others, $some a call. */
function timed(int $count, int $some, callable $step): void
{
    $step(0, 1);
    say(['ready' => true]);
    fgets(STDIN);
    $begin = nowSeconds();
    $cpu = cpuSeconds();
    for ($done = 1; $done < $count; $done += $some) {
        $step($done, min($some, $count - $done));
    }
    $seconds = nowSeconds() - $begin;
    say(['count' => $count - 1, 'seconds' => $seconds, 'cpu' => cpuSeconds() - $cpu]);
}

/** @param list<array{string, ?int}> $jobs */
function pushJobs(Peer $peer, array $jobs, bool $bulk): void
{
    $count = count($jobs);
    if (!$bulk) {
        timed($count, 1, fn (int $at) => $peer->push(...$jobs[$at]));
        return;
    }
    timed($count, BULK, function (int $at, int $some) use ($peer, $jobs, $count): void {
        $peer->pushMany(array_slice($jobs, $at, $some));
        if ($at === 0 || $at + $some === $count) {
            $peer->flush();
        }
    });
}

/** @return list<array{string, int}> */
function delayedJobs(int $count, float $spreadMs, float $baseMs): array
{
    $jobs = [];
    for ($index = 0; $index < $count; $index++) {
        $dueMs = (int) ($baseMs + $index * $spreadMs / $count);
        $jobs[] = [str_pad((string) $dueMs, BODY_SIZE), $dueMs];
    }
    return $jobs;
}

function cancelJobs(Peer $peer, int $count): void
{
    $ids = array_map(
        fn (array $job): string => $peer->push(...$job),
        delayedJobs($count, 1000.0, microtime(true) * 1000 + 3_600_000),
    );
    timed($count, 1, fn (int $at) => $peer->cancel($ids[$at]));
}

/** @return array<string, mixed> the setting of that name, from peer.json beside the adapter */
function optionsOf(string $setting): array
{
    $text = file_get_contents(dirname($_SERVER['SCRIPT_FILENAME']) . '/peer.json');
    $worker = json_decode($text, true, flags: JSON_THROW_ON_ERROR)['workers'][$setting];
    return array_diff_key($worker, ['label' => true, 'trial' => true]);
}

/** Says the setting of the worker, and runs the worker. */
function work(Peer $peer, string $setting, callable $handle): void
{
    $options = optionsOf($setting);
    say(['ready' => true, 'worker' => $options]);
    $peer->work($options, $handle);
}

function countJobs(Peer $peer, int $count, string $setting): void
{
    $done = 0;
    $first = $cpu = 0.0;
    work($peer, $setting, function (string $body) use (&$done, &$first, &$cpu, $count): bool {
        if (++$done === 1) {
            $first = nowSeconds();
            $cpu = cpuSeconds();
        }
        if ($done === $count) {
            $last = nowSeconds();
            say([
                'first' => $first,
                'last' => $last,
                'count' => $done,
                'cpu' => cpuSeconds() - $cpu,
            ]);
        }
        return $done < $count;
    });
}

function listenJobs(Peer $peer, int $count, string $setting): void
{
    $late = [];
    work($peer, $setting, function (string $body) use (&$late, $count): bool {
        $late[] = round(microtime(true) * 1000 - (int) $body, 3);
        if (count($late) === $count) {
            say(['late_ms' => $late]);
        }
        return count($late) < $count;
    });
}

function waitForJobs(Peer $peer): void
{
    work($peer, 'one', function (string $body): bool {
        say(['handled' => true, 'at' => nowSeconds()]);
        return true;
    });
}

function holdJob(Peer $peer, int $seconds): void
{
    $peer->work(optionsOf('one'), function (string $body) use ($seconds): bool {
        say(['took' => true, 'at' => nowSeconds()]);
        sleep($seconds);
        return true;
    });
}

/** Runs one command: adapter CACHE COMMAND ARGS... */
function runPeer(Peer $peer, array $words): void
{
    [, , $command] = $words;
    $words = array_slice($words, 3);
    match ($command) {
        'push' => pushJobs(
            $peer,
            array_fill(0, (int) $words[0], [str_repeat('x', BODY_SIZE), null]),
            $words[1] === 'bulk',
        ),
        'delay' => pushJobs(
            $peer,
            delayedJobs((int) $words[0], (float) $words[1], (float) $words[2]),
            $words[3] === 'bulk',
        ),
        'cancel' => cancelJobs($peer, (int) $words[0]),
        'work' => countJobs($peer, (int) $words[0], $words[1]),
        'listen' => listenJobs($peer, (int) $words[0], $words[1]),
        'idle', 'rescue' => waitForJobs($peer),
        'hold' => holdJob($peer, (int) $words[0]),
    };
}
