<?php

declare(strict_types=1);

namespace Dueq\Tests\Worker;

use Dueq\State;
use PHPUnit\Framework\Attributes\DataProvider;

/** The command: jobs, failures, limits, and processes that end. */
final class ProcessTest extends WorkerTestCase
{
    public function testTasksOfAllKindsRun(): void
    {
        $worker = $this->start();
        $this->tasks->push('say', [1, 'b' => 2.0]);
        $this->assertSame('{"0":1,"b":2.0}', $this->heard());
        $this->tasks->push('send_receipt', [17, 'copy' => true], queue: 'mail');
        $this->assertSame('receipt 17 and a copy', $this->heard());
        $this->tasks->push('from_the_map', ['x']);
        $this->assertSame('from the map: x', $this->heard());
        $this->queue('plain')->push('text');
        $this->assertSame('plain text', $this->heard());
        $this->assertSame(0, $worker->stop());
        foreach (['default', 'mail', 'plain'] as $name) {
            $this->awaitEmpty($name);
        }
        $this->assertMatchesRegularExpression(
            '/ info +\[\d+\] say \S{22} done in 0\.\d{3} s\n/',
            $worker->log(),
        );
    }

    public static function clocks(): array
    {
        return ['right' => [0], 'a day ahead' => [86400], 'a day behind' => [-86400]];
    }

    /**
     * Schedules fire by the server's clock, also if the worker's clock is wrong.
     *
     * @dataProvider clocks
     */
    #[DataProvider('clocks')]
    public function testSchedulesFire(int $ahead): void
    {
        $job = ['body' => '{"args":[1],"kwargs":{"b":2.0}}', 'headers' => ['task' => 'say']];
        $this->assertTrue($this->queue()->schedule('words', 'every 1s', $job));
        $worker = $this->startAhead($ahead);
        $this->assertSame('{"0":1,"b":2.0}', $this->heard());
        $this->assertSame('{"0":1,"b":2.0}', $this->heard());
        $this->assertSame(0, $worker->stop());
        $stats = $this->queue()->stats();
        $this->assertSame([0, 1, 0], [$stats->retried, $stats->delayed, $stats->dead]);
    }

    private function startAhead(int $seconds): Process
    {
        $library = Application::shared()->folder . '/shifted_clock.so';
        exec("cc -shared -fPIC -o $library " . __DIR__ . '/../shifted_clock.c', $output, $failed);
        $this->assertSame(0, $failed, implode("\n", $output));
        putenv("LD_PRELOAD=$library");
        putenv("CLOCK_AHEAD=$seconds");
        try {
            return $this->start();
        } finally {
            putenv('LD_PRELOAD');
            putenv('CLOCK_AHEAD');
        }
    }

    public function testAFailingHandlerIsLoggedWithItsTraceAndTheWorkerGoesOn(): void
    {
        $worker = $this->start();
        $this->tasks->push('fail', ['no ink', 'times' => 2], maxAttempts: 3, backoff: 0.05);
        $this->assertSame('done at 3', $this->heard());
        $worker->stop();
        $this->assertMatchesRegularExpression(
            '/ error +\[(\d+)\] fail \S{22} failed \(attempt 1 of 3\): DomainException: no ink\n'
                . '    DomainException: no ink in .*bootstrap.php:\d+\n    Stack trace:\n    #0 /',
            $worker->log(),
        );
        $this->assertStringContainsString('failed (attempt 2 of 3)', $worker->log());
        $this->awaitEmpty();
    }

    public function testLogsAreLinesOfJson(): void
    {
        $id = $this->tasks->push('fail', ["no\nink"], maxAttempts: 1);
        $worker = $this->start('--log', 'json');
        $this->await(1, fn () => $this->queue()->stats()->dead);
        $worker->stop();
        $lines = array_map(
            fn ($line) => json_decode($line, true, 512, JSON_THROW_ON_ERROR),
            explode("\n", trim($worker->log())),
        );
        [$failed] = array_values(array_filter($lines, fn ($line) => $line['level'] === 'error'));
        $this->assertSame(
            ['default', 'fail', $id, 1, 'DomainException'],
            [
                $failed['queue'], $failed['task'], $failed['id'],
                $failed['attempt'], $failed['exception'],
            ],
        );
        $this->assertStringContainsString("no\nink", $failed['message']);
        $this->assertStringContainsString('bootstrap.php', $failed['trace']);
        $this->assertSame("DomainException: no\nink", $this->queue()->find($id)->error);
    }

    /** @return list<array{string}> */
    public static function kindsOfLogs(): array
    {
        return [['text'], ['json']];
    }

    /** @dataProvider kindsOfLogs */
    #[DataProvider('kindsOfLogs')]
    public function testForeignTextForgesNoLineOfALogAndSteersNoTerminal(string $kind): void
    {
        // The test of Python's worker has the same characters.
        $obeyed = "\x00\x07\n\r\x1b\x7f\u{80}\u{9b}\u{9f}\u{61c}"
            . "\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202e}\u{2066}\u{2069}";
        $forged = '2026-01-01 00:00:00 INFO all is well';
        $characters = preg_split('//u', $obeyed, -1, PREG_SPLIT_NO_EMPTY);
        $text = implode('', array_map(fn ($one) => "a$one", $characters)) . "ü\n$forged";
        $this->tasks->push('fail', [$text], maxAttempts: 1);
        $worker = $this->start('--log', $kind);
        $this->await(1, fn () => $this->queue()->stats()->dead);
        $worker->stop();
        $log = $worker->log();
        $this->assertStringContainsString('ü', $log);
        $raw = array_filter(
            preg_split('//u', str_replace("\n", '', $obeyed), -1, PREG_SPLIT_NO_EMPTY),
            fn ($one) => str_contains($log, $one),
        );
        $this->assertSame([], array_map(bin2hex(...), array_values($raw)));
        $this->assertSame([], preg_grep('/^(2026-01-01|a)/', explode("\n", $log)));
        if ($kind === 'json') {
            $lines = array_map(fn ($line) => json_decode($line, true), explode("\n", trim($log)));
            $errors = array_filter($lines, fn ($line) => $line['level'] === 'error');
            [$failed] = array_values($errors);
            $this->assertStringContainsString($text, $failed['trace']);
        } else {
            $this->assertMatchesRegularExpression("/^    $forged in /m", $log);
            $this->assertStringContainsString('\x1b', $log);
            $this->assertStringContainsString('\u202e', $log);
        }
    }

    public function testAnUnknownTaskIsRetriedWithAnErrorThatNamesIt(): void
    {
        $worker = $this->start();
        $unknown = $this->tasks->push('future', backoff: 3600.0);
        $foreign = $this->queue()->push('hello', headers: ['task' => 'say'], backoff: 3600.0);
        $plain = $this->queue()->push('hello', backoff: 3600.0);
        $this->await(3, fn () => $this->queue()->stats()->delayed);
        $worker->stop();
        $this->assertMatchesRegularExpression(
            '/^Dueq.Worker.UnknownTask: there is no task future here; there are: .*say/',
            $this->queue()->find($unknown)->error,
        );
        $this->assertStringStartsWith('JsonException: ', $this->queue()->find($foreign)->error);
        $this->assertStringContainsString(
            'the queue default has no handler here',
            $this->queue()->find($plain)->error,
        );
        $this->assertSame(1, $this->queue()->find($unknown)->attempt);
    }

    public function testALimitIsAnExceptionInTheHandler(): void
    {
        $worker = $this->start();
        $id = $this->tasks->push('limited', [true], backoff: 3600.0);
        $this->assertSame('over', $this->heard());
        $this->await(State::Delayed, fn () => $this->queue()->find($id)?->state);
        $this->assertSame(
            'Dueq\Worker\TimeLimitExceeded: 0.5 s are over',
            $this->queue()->find($id)->error,
        );
        $this->assertSame(0, $worker->stop());
    }

    public function testAHandlerThatDoesNotHeedItsLimitIsKilledAndItsMessageFails(): void
    {
        $worker = $this->start();
        $id = $this->tasks->push('limited', [false], backoff: 3600.0);
        $this->assertSame('over', $this->heard());
        $this->await(State::Delayed, fn () => $this->queue()->find($id)?->state);
        $message = $this->queue()->find($id);
        $this->assertSame(
            [1, 0, 'its process was killed after 1.5 s'],
            [$message->attempt, $message->crashes, $message->error],
        );
        $this->tasks->push('say', [1]);
        $this->assertSame('[1]', $this->heard());
        $this->assertMatchesRegularExpression(
            '/error .* worker 1 \(pid \d+\): limited \S+ of default for 1\.\d s: '
                . 'killed, as its time is over/',
            $worker->log(),
        );
        $this->assertSame(0, $worker->stop());
    }

    public function testAJobThatKillsItsChildKillsNoOther(): void
    {
        $poison = $this->tasks->push('die', [SIGKILL], maxCrashes: 3, backoff: 0.05);
        for ($i = 0; $i < 10; $i++) {
            $this->tasks->push('say', [$i], maxCrashes: 3);
        }
        $worker = $this->start('--lease', '400ms', '--prefetch', '20', '--concurrency', '2');
        $this->await(
            [10, 1],
            fn () => [$this->queue()->stats()->acked, $this->queue()->stats()->dead],
        );
        $this->assertSame(State::Dead, $this->queue()->find($poison)?->state);
        $this->assertSame(0, $worker->stop());
    }

    public function testALostJobIsLoggedAsLostAndNotAsDone(): void
    {
        $worker = $this->start('--lease', '0.6');
        $id = $this->tasks->push('lose');
        $this->assertSame('begins', $this->heard());
        $this->queue()->cancel($id);
        $worker->awaitLog("/lose $id ended after \S+ s, but its lease was lost before/");
        $this->assertSame(0, $worker->stop());
        $this->assertStringNotContainsString('done in', $worker->log());
    }

    public function testAChildThatIsKilledIsReplaced(): void
    {
        $worker = $this->start('--lease', '0.5');
        $this->tasks->push('die', [SIGKILL], maxCrashes: 2);
        $first = $this->heard();
        $this->assertNotSame($first, $this->heard());
        $this->await(1, fn () => $this->queue()->stats()->dead);
        $worker->awaitLog(
            "/error .* worker 1 \(pid $first\) was ended by the signal 9 in die \S{22}/",
        );
        $this->assertSame(0, $worker->stop());
    }

    public function testChildrenThatDieAtOnceAreReplacedEverSlower(): void
    {
        $id = $this->tasks->push('exit', maxCrashes: 2);
        $worker = $this->start();
        $this->assertSame(['attempt 1', 'attempt 1'], [$this->heard(), $this->heard()]);
        $this->await(State::Dead, fn () => $this->queue()->find($id)?->state);
        $this->assertSame(2, $this->queue()->find($id)->crashes);
        $this->tasks->push('exit');
        $worker->awaitLog(
            '/ended with 0 in exit \S+: exit\(\) was called; the next one starts in 1 s\n'
                . '(.*\n)*.*starts in 2 s\n/',
        );
        $this->assertSame(0, $worker->stop());
    }

    public function testAFatalErrorIsKeptWithTheMessage(): void
    {
        $worker = $this->startWith('small.php');
        $id = $this->tasks->push('eat', [64], backoff: 3600.0);
        $this->await(State::Delayed, fn () => $this->queue()->find($id)?->state);
        $this->assertMatchesRegularExpression(
            '/Allowed memory size of \d+ bytes exhausted/',
            $this->queue()->find($id)->error,
        );
        $this->assertSame(
            [1, 0],
            [$this->queue()->find($id)->attempt, $this->queue()->find($id)->crashes],
        );
        $worker->awaitLog(
            '/error .* worker 1 \(pid \d+\) ended with 255 in eat \S+: Allowed memory size/',
        );
        $this->assertSame(0, $worker->stop());
    }

    /** @dataProvider shares */
    #[DataProvider('shares')]
    public function testAChildThatReachesALimitIsReplaced(
        string $option,
        string $value,
        string $why,
    ): void {
        $worker = $this->start($option, $value, '--log', 'json');
        $this->tasks->push('eat', [24]);
        $first = $this->heard();
        do {
            $this->tasks->push('pid');
        } while ($this->heard() === $first);
        $this->awaitEmpty();
        $this->assertSame(0, $worker->stop());
        $this->assertMatchesRegularExpression(
            '/"message":"worker 1 \(pid ' . $first . '\) ended with 0: ' . $why . '/',
            $worker->log(),
        );
    }

    /** @return iterable<array{string, string, string}> */
    public static function shares(): iterable
    {
        yield ['--max-jobs', '2', '2 jobs done'];
        yield ['--max-time', '1', 'its time is over'];
        yield ['--memory', '20', 'its memory is \d+\.\d MB'];
    }

    public function testJobsRunAtTheSameTime(): void
    {
        $worker = $this->start('--concurrency', '2');
        $this->tasks->push('meet', ['a', 'b']);
        $this->tasks->push('meet', ['b', 'a']);
        $heard = [$this->heard(), $this->heard()];
        sort($heard);
        $this->assertSame(['a met b', 'b met a'], $heard);
        $this->assertSame(0, $worker->stop());
    }

    public function testTheFirstQueueGoesFirst(): void
    {
        $this->pushTo(['low' => 3, 'high' => 3]);
        $worker = $this->start('--queues', 'high,low');
        $heard = array_map(fn () => $this->heard(), range(1, 6));
        $this->assertSame(
            ['["high"]', '["high"]', '["high"]', '["low"]', '["low"]', '["low"]'],
            $heard,
        );
        $this->assertSame(0, $worker->stop());
    }

    public function testQueuesHaveWeights(): void
    {
        $this->pushTo(['low' => 60, 'high' => 60]);
        $worker = $this->start('--queues', 'low:1,high:9');
        $counts = array_count_values(array_map(fn () => $this->heard(), range(1, 60)));
        $this->assertGreaterThan(40, $counts['["high"]']);
        $this->assertGreaterThan(0, $counts['["low"]'] ?? 0);
        array_map(fn () => $this->heard(), range(1, 60));
        $this->assertSame(0, $worker->stop());
        $this->awaitEmpty('low');
    }

    public function testAWorkerOutlivesItsServerAndSaysSoOnce(): void
    {
        $worker = $this->start('--concurrency', '2');
        $worker->awaitReady();
        $this->server->kill();
        $worker->awaitLog('/ warning .* dueq: unix:.* it is tried again: /');
        $this->server->start();
        $worker->awaitLog(
            '/ warning .* dueq: unix:.* it answers again, after \d+\.\d s and \d+ tries/',
        );
        $this->tasks->push('say', [1]);
        $this->assertSame('[1]', $this->heard());
        $this->assertSame(0, $worker->stop());
        $this->assertSame(
            [1, 1],
            [
                substr_count($worker->log(), 'tried again'),
                substr_count($worker->log(), 'answers again'),
            ],
        );
    }

    public function testAWorkerStartsBeforeItsServer(): void
    {
        $this->server->kill();
        $worker = $this->start();
        $worker->awaitLog('/ warning .* dueq: unix:.* it is tried again: cannot reach/');
        $this->assertStringNotContainsString('ready: ', $worker->log());
        $this->server->start();
        $worker->awaitReady();
        $this->tasks->push('say', [1]);
        $this->assertSame('[1]', $this->heard());
        $this->assertSame(0, $worker->stop());
        $worker->awaitLog(
            '/ warning .* dueq: unix:.* it answers again, after \d+\.\d s and \d+ tries/',
        );
        $this->assertSame(1, substr_count($worker->log(), 'tried again'));
    }

    public function testAWorkerThatWaitsForItsServerEndsAtASignal(): void
    {
        $this->server->kill();
        try {
            $worker = $this->start('--concurrency', '2');
            $worker->awaitLog('/ warning .* it is tried again: /');
            $this->assertSame(0, $worker->stop());
            $this->assertStringNotContainsString('ready: ', $worker->log());
        } finally {
            $this->server->start();
        }
    }

    public function testChangedCodeIsLoadedAnew(): void
    {
        $file = Application::shared()->folder . '/watched.php';
        $code = '<?php return (new Dueq\Worker())
            ->on("version", fn () => (new Dueq\Queue("journal"))->push("%s"));';
        file_put_contents($file, sprintf($code, 'one'));
        $worker = $this->startWith('watched.php', '--watch', '--log', 'json');
        $this->tasks->push('version');
        $this->assertSame('one', $this->heard());
        // This code does not compile; the next one does.
        file_put_contents($file, '<?php return (new');
        $worker->awaitLog('/"error".*ParseError: .*watched.php.*; the next one starts in 1 s/');
        file_put_contents($file, sprintf($code, 'number two'));
        $this->tasks->push('version');
        $this->assertSame('number two', $this->heard());
        $this->assertStringContainsString('watched.php has changed', $worker->log());
        $this->assertSame(0, $worker->stop());
    }

    /** @dataProvider broken */
    #[DataProvider('broken')]
    public function testAWorkerThatCannotStartSaysWhyAndExits(string $code, string $text): void
    {
        $this->server->command('ACL', 'SETUSER', 'nothing', 'on', '>secret', '+@connection');
        $rules = ['on', '>secret', '+@all', '~dueq:{default}*', '&*'];
        $this->server->command('ACL', 'SETUSER', 'one_queue', ...$rules);
        file_put_contents(Application::shared()->folder . '/broken.php', "<?php $code");
        $worker = $this->startWith('broken.php', '--concurrency', '2');
        $this->assertSame(1, $worker->wait());
        $this->assertMatchesRegularExpression("/critical .*cannot start: .*$text/", $worker->log());
        $this->assertSame(1, substr_count($worker->log(), "\n"));
    }

    /** @return iterable<array{string, string}> */
    public static function broken(): iterable
    {
        yield ['return 7;', 'broken.php returns no Dueq.Worker'];
        yield ['throw new DomainException("no");', 'DomainException: no in .*broken.php:1'];
        yield ['return (', 'ParseError'];
        yield ['return (new Dueq\Worker())->on("a", "strlen", queue: "{}");', 'NameException'];
        yield ['return new Dueq\Worker("redis://nowhere:70000");', 'UrlException'];
        $as = fn (string $user) => 'return (new Dueq\Worker('
            . 'str_replace("//", "//' . $user . '@", getenv("DUEQ_URL"))'
            . '))->on("a", "strlen")->on("b", "strlen", queue: "b");';
        yield [$as(':wrong'), 'AuthException: .*another user or password'];
        yield [$as('nothing:secret'), 'DeniedException: .*NOPERM'];
        yield [$as('one_queue:secret'), 'DeniedException: .*NOPERM'];
        yield ['return new Dueq\Worker(getenv("DUEQ_URL") . "?db=99");', 'DatabaseException: '];
    }

    public function testWrongOptionsAreRefused(): void
    {
        foreach ([
            'which bootstrap file' => [],
            '--lease wants a value' => ['x.php', '--lease'],
            '--lease is a duration of at least 0.05s .*, not soon' => ['x.php', '--lease', 'soon'],
            'there is no option --fast' => ['x.php', '--fast'],
            'bootstrap is given twice' => ['x.php', 'y.php'],
            '--log is text or json, not xml' => ['x.php', '--log=xml'],
            '--concurrency is a whole number of at least 1, not 0' => [
                'x.php',
                '--concurrency',
                '0',
            ],
            'all queues have a weight of at least 1, or none has one' => [
                'x.php',
                '--queues',
                'a:1,b',
            ],
            'the weights add up to 1025, and not to at most 1,024' => [
                'x.php',
                '--queues',
                'a:1024,b:1',
            ],
        ] as $text => $arguments) {
            $worker = new Process(
                Application::shared()->folder,
                ['vendor/bin/dueq-worker', ...$arguments],
                [],
            );
            $this->assertSame(2, $worker->wait());
            $this->assertMatchesRegularExpression("/^dueq-worker: .*$text.*\n$/", $worker->log());
        }
        $worker = new Process(
            Application::shared()->folder,
            ['vendor/bin/dueq-worker', '--help'],
            [],
        );
        $this->assertSame(0, $worker->wait());
        $this->assertStringContainsString('--concurrency N', $worker->log());
    }

    /** @param array<string, int> $counts of messages by queue */
    private function pushTo(array $counts): void
    {
        foreach ($counts as $name => $count) {
            $this->queue($name)->pushMany(
                array_fill(0, $count, $this->tasks->draft('say', [$name])),
            );
        }
    }
}
