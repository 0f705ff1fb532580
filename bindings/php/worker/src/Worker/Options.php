<?php

declare(strict_types=1);

namespace Dueq\Worker;

use Dueq\Client;
use Dueq\Order;
use InvalidArgumentException;

/**
 * The options of the command.
 *
 * @internal
 */
final class Options
{
    public const HELP = <<<'END'
        usage: dueq-worker BOOTSTRAP [OPTION...]

        Runs the tasks of the Dueq\Worker that the PHP file BOOTSTRAP returns.

          --queues LIST      the queues. high,low: the first that has a message; high:3,low:1: in
                             turn, by weights. Default: the queues of the tasks, in turn
          --concurrency N    how many jobs run at a time, each in its own process: 1 to 1000 (1)
          --prefetch N       how many messages a process reserves at a time: 1 to 200 (1)
          --lease DURATION   when a process is killed, other workers get its messages after this
                             time: 500ms, 8s, 2m; a number is seconds (the message's own, else 8s)
          --max-jobs N       replaces a process after this many jobs
          --max-time DURATION
                             replaces a process after this time, when its job has ended
          --memory MB        replaces a process that uses more memory than this after a job
          --grace DURATION   how long jobs may go on after the worker is told to stop (25s)
          --log text|json    the form of the log, which goes to standard error (text)
          --watch            replaces the processes when code changes: for development

        The worker declares the schedules of its tasks (cron, every) when it starts. A release of it
        that was replaced less than an hour ago declares nothing; DUEQ_RELEASE names the release.
        dueq schedules lists all schedules, dueq schedule prune removes those that the code no
        longer has.

        SIGTERM, SIGINT      stops: takes no new messages, waits for running jobs until the grace is
                             over, releases those that still run, and exits with 0. A second signal
                             ends the grace at once, and the exit status is 128 plus its number
        SIGTSTP, SIGCONT     stops taking messages, but runs on; takes messages again
        SIGUSR1              logs what each process does, since when, and its backtrace

        END;

    /**
     * @param list<string>|null $queues each name as often as its weight says; null: the queues of
     *     the worker
     * @param Order $order of the queues, as for Dueq\Queues
     */
    private function __construct(
        public readonly string $bootstrap,
        public readonly ?array $queues,
        public readonly Order $order,
        public readonly int $concurrency,
        public readonly int $prefetch,
        public readonly ?float $lease,
        public readonly ?int $maxJobs,
        public readonly ?float $maxTime,
        public readonly ?float $memory,
        public readonly float $grace,
        public readonly bool $json,
        public readonly bool $watch,
    ) {
    }

    /**
     * @param list<string> $arguments without the command's name
     * @throws InvalidArgumentException
     */
    public static function parse(array $arguments): self
    {
        $given = self::split($arguments);
        [$queues, $order] = self::queues($given['queues'] ?? null);
        $log = $given['log'] ?? 'text';
        if (!in_array($log, ['text', 'json'], true)) {
            throw new InvalidArgumentException("--log is text or json, not $log");
        }

        return new self(
            $given['bootstrap'] ?? throw new InvalidArgumentException(
                'which bootstrap file? dueq-worker --help tells more',
            ),
            $queues,
            $order,
            (int) self::number($given, 'concurrency', 1, 1000, true) ?: 1,
            (int) self::number($given, 'prefetch', 1, 200, true) ?: 1,
            self::duration($given, 'lease', 0.05, 4294967.0),
            ($jobs = self::number($given, 'max-jobs', 1, PHP_INT_MAX, true)) === null
                ? null
                : (int) $jobs,
            self::duration($given, 'max-time', 0.001),
            self::number($given, 'memory', 1.0),
            self::duration($given, 'grace', 0.0) ?? 25.0,
            $log === 'json',
            isset($given['watch']),
        );
    }

    /**
     * @param list<string> $arguments
     * @return array<string, string> the values of the options by their names, and of "bootstrap"
     */
    private static function split(array $arguments): array
    {
        $valued = [
            'queues',
            'concurrency',
            'prefetch',
            'lease',
            'max-jobs',
            'max-time',
            'memory',
            'grace',
            'log',
        ];
        $given = [];
        while (($word = array_shift($arguments)) !== null) {
            [$name, $value] = explode('=', substr($word, 2), 2) + [1 => null];
            if (!str_starts_with($word, '-')) {
                [$name, $value] = ['bootstrap', $word];
            } elseif (in_array($name, $valued, true)) {
                $value ??= array_shift($arguments)
                    ?? throw new InvalidArgumentException("--$name wants a value");
            } elseif ($word === '--watch') {
                $value = '';
            } else {
                throw new InvalidArgumentException(
                    "there is no option $word; dueq-worker --help lists them",
                );
            }
            if (isset($given[$name])) {
                throw new InvalidArgumentException("$word: $name is given twice");
            }
            $given[$name] = $value;
        }

        return $given;
    }

    /** @return array{list<string>|null, Order} the names of the queues, and their order */
    private static function queues(?string $list): array
    {
        if ($list === null) {
            return [null, Order::RoundRobin];
        }
        $entries = explode(',', $list);
        $weights = [];
        foreach ($entries as $entry) {
            if (preg_match('/^(.+):([0-9]{1,6})$/Ds', $entry, $found)) {
                $weights[$found[1]] = (int) $found[2];
            }
        }
        if ($weights === []) {
            return [$entries, Order::Preference];
        }
        if (count($weights) < count($entries) || min($weights) < 1) {
            throw new InvalidArgumentException(
                '--queues: all queues have a weight of at least 1, or none has one',
            );
        }

        return [self::turns($weights), Order::RoundRobin];
    }

    /**
     * @param non-empty-array<string, int> $weights
     * @return list<string> each name as often as its weight says, evenly spread
     */
    private static function turns(array $weights): array
    {
        $divisor = array_reduce($weights, self::gcd(...), 0);
        $weights = array_map(fn (int $weight) => intdiv($weight, $divisor), $weights);
        $total = array_sum($weights);
        if ($total > 1024) {
            throw new InvalidArgumentException(
                "--queues: the weights add up to $total, and not to at most 1,024",
            );
        }
        $credit = array_fill_keys(array_keys($weights), 0);
        for ($turns = []; count($turns) < $total;) {
            foreach ($weights as $name => $weight) {
                $credit[$name] += $weight;
            }
            $next = array_search(max($credit), $credit, true);
            $credit[$next] -= $total;
            $turns[] = (string) $next;
        }

        return $turns;
    }

    private static function gcd(int $a, int $b): int
    {
        return $b === 0 ? $a : self::gcd($b, $a % $b);
    }

    /** @param array<string, string> $given */
    private static function duration(
        array $given,
        string $name,
        float $least,
        float $most = 4e9,
    ): ?float {
        if (!isset($given[$name])) {
            return null;
        }
        $seconds = Client::duration($given[$name]);
        if ($seconds === null || $seconds < $least || $seconds > $most) {
            throw new InvalidArgumentException(
                "--$name is a duration of at least {$least}s (250ms, 1.5s, 30m, 1h30m), "
                    . "not {$given[$name]}",
            );
        }

        return $seconds;
    }

    /** @param array<string, string> $given */
    private static function number(
        array $given,
        string $name,
        float $least,
        float $most = 4e9,
        bool $whole = false,
    ): ?float {
        if (!isset($given[$name])) {
            return null;
        }
        $number = filter_var($given[$name], $whole ? FILTER_VALIDATE_INT : FILTER_VALIDATE_FLOAT);
        if ($number === false || $number < $least || $number > $most) {
            $kind = $whole ? 'a whole number' : 'a number';
            throw new InvalidArgumentException(
                "--$name is $kind of at least $least, not {$given[$name]}",
            );
        }

        return (float) $number;
    }
}
