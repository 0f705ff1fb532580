<?php
/* What the adapters of peers in PHP have in common: the words of the contract (README.md). */

declare(strict_types=1);

const BODY_SIZE = 200;
const BULK = 500;

/** A queue, as a peer's adapter makes it. */
interface Peer
{
    public function push(string $body): void;

    /** @param list<string> $bodies */
    public function pushMany(array $bodies): void;

    /** Returns when all that pushMany() was given is stored. */
    public function flush(): void;

    public function delay(string $body, int $dueMs): void;

    /**
     * Works until a job was the last that is wanted, and acknowledges what it has.
     *
     * @param string $setting "one", "best", "wait" or "rescue"
     * @param callable(string): bool $handle whether more are wanted
     */
    public function work(string $setting, callable $handle): void;
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

function pushJobs(Peer $peer, int $count, bool $bulk): void
{
    $body = str_repeat('x', BODY_SIZE);
    if ($bulk) {
        $peer->pushMany([$body]);
        $peer->flush();
    } else {
        $peer->push($body);
    }
    say(['ready' => true]);
    fgets(STDIN);
    $begin = nowSeconds();
    $cpu = cpuSeconds();
    for ($left = $count - 1; $left > 0; $left -= $bulk ? BULK : 1) {
        $bulk ? $peer->pushMany(array_fill(0, min($left, BULK), $body)) : $peer->push($body);
    }
    if ($bulk) {
        $peer->flush();
    }
    $seconds = nowSeconds() - $begin;
    say(['count' => $count - 1, 'seconds' => $seconds, 'cpu' => cpuSeconds() - $cpu]);
}

function delayJobs(Peer $peer, int $count, float $spreadMs, float $baseMs): void
{
    for ($index = 0; $index < $count; $index++) {
        $dueMs = (int) ($baseMs + $index * $spreadMs / $count);
        $peer->delay(str_pad((string) $dueMs, BODY_SIZE), $dueMs);
    }
    say(['pushed' => $count]);
}

function countJobs(Peer $peer, int $count, string $setting): void
{
    $done = 0;
    $first = $cpu = 0.0;
    say(['ready' => true]);
    $peer->work($setting, function (string $body) use (&$done, &$first, &$cpu, $count): bool {
        if (++$done === 1) {
            $first = nowSeconds();
            $cpu = cpuSeconds();
        }
        if ($done === $count) {
            $last = nowSeconds();
            say(['first' => $first, 'last' => $last, 'count' => $done, 'cpu' => cpuSeconds() - $cpu]);
        }
        return $done < $count;
    });
}

function listenJobs(Peer $peer, int $count): void
{
    $late = [];
    say(['ready' => true]);
    $peer->work('wait', function (string $body) use (&$late, $count): bool {
        $late[] = round(microtime(true) * 1000 - (int) $body, 3);
        if (count($late) === $count) {
            say(['late_ms' => $late]);
        }
        return count($late) < $count;
    });
}

function waitForJobs(Peer $peer, string $setting): void
{
    say(['ready' => true]);
    $peer->work($setting, function (string $body): bool {
        say(['handled' => true, 'at' => nowSeconds()]);
        return true;
    });
}

function holdJob(Peer $peer, int $seconds): void
{
    $peer->work('wait', function (string $body) use ($seconds): bool {
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
        'push' => pushJobs($peer, (int) $words[0], $words[1] === 'bulk'),
        'delay' => delayJobs($peer, (int) $words[0], (float) $words[1], (float) $words[2]),
        'work' => countJobs($peer, (int) $words[0], $words[1]),
        'listen' => listenJobs($peer, (int) $words[0]),
        'idle' => waitForJobs($peer, 'wait'),
        'rescue' => waitForJobs($peer, 'rescue'),
        'hold' => holdJob($peer, (int) $words[0]),
    };
}
