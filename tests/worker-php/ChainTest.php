<?php

declare(strict_types=1);

namespace Dueq\Tests\Worker;

use Closure;
use DateInterval;
use DateTimeImmutable;
use Dueq\Backoff;
use Dueq\Chain;
use Dueq\Exception\TooLargeException;
use Dueq\Jitter;
use Dueq\Replace;
use Dueq\Task;
use Dueq\Testing\Drain;
use Dueq\Worker;
use Dueq\Worker\Job;
use InvalidArgumentException;
use JsonException;
use PHPUnit\Framework\Attributes\DataProvider;
use RuntimeException;
use stdClass;
use UnexpectedValueException;

/** Chains: tasks that run one after the other, and what happens when one of them fails. */
final class ChainTest extends WorkerTestCase
{
    public function testAChainHasTheFormOfEveryLanguage(): void
    {
        $golden = [];
        foreach (file(__DIR__ . '/../golden/chains.tsv', FILE_IGNORE_NEW_LINES) as $line) {
            if ($line[0] !== '#') {
                [$name, $text] = explode("\t", $line);
                $golden[$name] = json_decode($text);
            }
        }
        $previous = Chain::PREVIOUS;
        $charge = fn (mixed ...$arguments): Chain => $this->tasks->chain('charge', $arguments);
        $made = [
            'two links' => $charge(17)->then('pack', [17]),
            'a link of another queue' => $charge(17)->then('pack', queue: 'parcels'),
            'previous' => $charge(17)
                ->then('pack', [$previous, 'x', 'again' => $previous, 'copy' => true])
                ->then('ship', ["Zoë/\u{2028}", 1.0, new stdClass(), []]),
            'a catch' => $charge(17)
                ->catch('refund', [17, Chain::FAILURE], queue: 'bank', maxAttempts: 5)
                ->then('pack'),
            'a catch alone' => $charge()->catch('refund'),
            'every option' => $charge()->then(
                'pack',
                delay: 60.0,
                id: 'o-17',
                maxAttempts: null,
                lease: new DateInterval('PT90S'),
                priority: 1,
                ttl: 3600.0,
                backoff: Backoff::exponential(1.0, 60.0, Jitter::Full),
                maxCrashes: 3,
                drop: true,
                unique: 0.25,
                replace: Replace::Message,
                replicas: 1,
                disk: true,
                durableTimeout: 5.0,
                key: 'k',
            ),
            'a replaced body, a dead letter and a group' => $charge()->then(
                'pack',
                id: 'p',
                replace: Replace::Body,
                deadLetter: 'dead',
                group: 'acme',
            ),
            'a fixed backoff' => $charge()->then('pack', backoff: 0.5),
            'a backoff of a list' => $charge()->then(
                'pack',
                backoff: Backoff::list([1, 60.0], Jitter::Equal),
            ),
            'a time' => $charge()->then('pack', at: new DateTimeImmutable('2026-11-28T17:30:00Z')),
            'a kept end' => $charge()->then('pack', keep: 60),
        ];
        $this->assertSame($golden, array_map(
            fn (Chain $chain) => $chain->draft()['headers']['dueq-chain'],
            $made,
        ));
    }

    public function testALinkIsPushedAsItWasDrafted(): void
    {
        $options = [
            'delay' => 60.0,
            'id' => 'o-17',
            'maxAttempts' => null,
            'lease' => 90.0,
            'headers' => ['tenant' => 'gruyère'],
            'ttl' => 3600.0,
            'backoff' => Backoff::list([1, 60.0], Jitter::Equal),
            'maxCrashes' => 3,
            'deadLetter' => 'dead',
            'group' => 'acme',
        ];
        $worker = $this->worker()->on('charge', fn () => null);
        $this->tasks->chain('charge')->then('pack', [17], ...$options)->push();
        $this->drain($worker);
        $this->tasks->push('pack', [17], ...['id' => 'twin'] + $options);
        $pushed = $this->queue()->find('o-17');
        $twin = $this->queue()->find('twin');
        foreach (['body', 'maxAttempts', 'maxCrashes', 'deadLetter', 'group'] as $property) {
            $this->assertSame($twin->$property, $pushed->$property);
        }
        $this->assertEquals($twin->headers, $pushed->headers);
        $this->assertEqualsWithDelta($twin->time, $pushed->time, 30.0);
    }

    public function testAChainRunsItsLinksInOrder(): void
    {
        $done = [];
        $worker = $this->worker()
            ->middleware(function (Job $job, callable $next): void {
                $next($job);
            })
            ->on('charge', function (int $order) use (&$done): array {
                $done[] = "charge $order";

                return ['payment' => $order * 100];
            }, queue: 'bank')
            ->on('pack', function (int $order, array $payment) use (&$done): DateTimeImmutable {
                $done[] = "pack $order {$payment['payment']}";

                return new DateTimeImmutable('2026-11-28T17:30:00Z');
            }, queue: 'parcels')
            ->on('ship', function (DateTimeImmutable $at, stdClass|array $rest) use (&$done): void {
                $done[] = 'ship ' . $at->format('c') . ' ' . json_encode($rest);
            });
        $worker->tasks->chain('charge', [17])
            ->then('pack', [17, 'payment' => Chain::PREVIOUS])
            ->then('ship', [Chain::PREVIOUS, new stdClass()])
            ->push();
        $this->drain($worker);
        $this->assertSame(
            ['charge 17', 'pack 17 1700', 'ship 2026-11-28T17:30:00+00:00 []'],
            $done,
        );
    }

    public function testAResultThatJsonDoesNotHaveFailsTheLink(): void
    {
        $worker = $this->worker()
            ->on('make', fn () => $this, maxAttempts: 1)
            ->on('take', fn (mixed $value) => null);
        $worker->tasks->chain('make')->then('take', [Chain::PREVIOUS])->push();
        try {
            $this->drain($worker);
            $this->fail('it did not throw');
        } catch (JsonException $error) {
            $this->assertStringStartsWith(
                'what the handler returned goes to the next link of the chain, the task take: ',
                $error->getMessage(),
            );
        }
        $worker->tasks->chain('make')->then('take', [1])->push();
        $this->assertCount(2, $this->drain($worker));
    }

    public function testAFailureEndsTheChainAndIsCaught(): void
    {
        $caught = [];
        $worker = $this->worker()
            ->on('charge', fn () => 17)
            ->on('pack', function (Job $job, string $how): void {
                $how === 'fail' ? $job->fail('no paper') : throw new RuntimeException('no paper');
            }, queue: 'parcels', maxAttempts: 1)
            ->on('ship', fn () => null)
            ->on('refund', function (int $order, array $failure) use (&$caught): void {
                unset($failure['id']);
                $caught[] = [$order, $failure];
            }, queue: 'parcels');
        $errors = ['fail' => 'no paper', 'throw' => 'RuntimeException: no paper'];
        foreach ($errors as $how => $error) {
            $worker->tasks->chain('charge')
                ->then('pack', [$how])
                ->then('ship')
                ->catch('refund', [17, Chain::FAILURE])
                ->push();
            try {
                $this->drain($worker);
            } catch (RuntimeException) {
                $this->drain($worker);
            }
            $failure = ['link' => 2, 'task' => 'pack', 'queue' => 'parcels', 'error' => $error];
            $this->assertSame([[17, $failure]], $caught);
            $caught = [];
        }
        $this->assertSame(2, $this->queue('parcels')->stats()->dead);
    }

    public function testAChainGoesOnlyWhereItsQueueAllows(): void
    {
        $ran = [];
        $worker = $this->worker()
            ->on('charge', function () use (&$ran): void {
                $ran[] = 'charge';
            }, maxAttempts: 1)
            ->on('pack', function () use (&$ran): void {
                $ran[] = 'pack';
            }, queue: 'parcels');
        $this->queue()->allow(['elsewhere']);
        $worker->tasks->chain('charge')->then('pack')->push();
        try {
            $this->drain($worker);
            $this->fail('it did not throw');
        } catch (InvalidArgumentException $error) {
            $this->assertStringContainsString('the queue parcels, and the', $error->getMessage());
        }
        $this->assertSame([], $ran);
        $this->queue()->allow(['parcels']);
        $worker->tasks->chain('charge')->then('pack')->push();
        $this->drain($worker);
        $this->assertSame(['charge', 'pack'], $ran);
    }

    public function testALinkMayPushSuccessorsOfItsOwn(): void
    {
        $ran = [];
        $worker = $this->worker()
            ->on('charge', function (Job $job) use (&$ran): void {
                $job->push('tell', ['own']);
                $job->pushChain($this->tasks->chain('tell', ['one'])->then('tell', ['two']));
                try {
                    $job->push('tell', ['mail'], queue: 'mail');
                } catch (InvalidArgumentException $error) {
                    $ran[] = $error->getMessage();
                }
            })
            ->on('tell', function (string $what) use (&$ran): void {
                $ran[] = $what;
            });
        $worker->tasks->chain('charge')->then('tell', ['next'])->push();
        $this->drain($worker);
        $this->assertSame([
            'the successors of a job, and the next link of its chain, go to one queue: default, '
                . 'not mail',
            'next',
            'own',
            'one',
            'two',
        ], $ran);
    }

    /** @return iterable<string, array{Closure(Worker): mixed, class-string, string}> */
    public static function wrongChains(): iterable
    {
        [$previous, $failure] = [Chain::PREVIOUS, Chain::FAILURE];
        yield 'previous of the first' => [
            fn (Worker $w) => $w->tasks->chain('take', [$previous])->push(),
            JsonException::class,
            'JSON has no form for an object of Dueq\Gap',
        ];
        yield 'a failure in a link' => [
            fn (Worker $w) => $w->tasks->chain('take', [1])->then('take', [$failure]),
            InvalidArgumentException::class,
            'the task take: here only Chain::PREVIOUS stands for an argument',
        ];
        yield 'previous in the catch' => [
            fn (Worker $w) => $w->tasks->chain('take', [1])->catch('take', [$previous]),
            InvalidArgumentException::class,
            'the task take: here only Chain::FAILURE stands for an argument',
        ];
        yield 'unique' => [
            fn (Worker $w) => $w->tasks->chain('take', [1])->then('take', [$previous], unique: 5.0),
            InvalidArgumentException::class,
            'unique: not all arguments are known',
        ];
        yield 'too large' => [
            fn (Worker $w) => $w->tasks->chain('take', [1])
                ->then('take', [str_repeat('x', 32768)])
                ->push(),
            TooLargeException::class,
            'bytes; 32768 are allowed: push large values to a database',
        ];
        yield 'an unknown argument' => [
            fn (Worker $w) => $w->tasks->chain('take', [1])->then('take', [$previous, 'no' => 1]),
            InvalidArgumentException::class,
            'the task take takes no argument no',
        ];
    }

    /**
     * @dataProvider wrongChains
     * @param Closure(Worker): mixed $make
     */
    #[DataProvider('wrongChains')]
    public function testWrongChainsAreRefused(Closure $make, string $class, string $text): void
    {
        $worker = $this->worker()->on('take', fn (mixed $value) => null);
        try {
            $make($worker);
            $this->fail('it did not throw');
        } catch (InvalidArgumentException | JsonException | TooLargeException $error) {
            $this->assertInstanceOf($class, $error);
            $this->assertStringContainsString($text, $error->getMessage());
        }
    }

    public function testAHeaderThatIsNoChainFailsBeforeTheJob(): void
    {
        $ran = 0;
        $worker = $this->worker()->on('task', function () use (&$ran): void {
            $ran++;
        });
        $headers = [
            '',
            "\n1 2 x",
            "\n1 x\n",
            "\none two x\n",
            "\n1 2 x\n\nno json",
            "\n1 2 x\n\n[]",
            "\n1 2 x\n\n{\"queue\":\"a\"}",
            "\n1 2 x\n\n{\"queue\":\"a\",\"body\":7}",
            "\n1 2 x\n\n{\"queue\":\"a\",\"body\":\"{}\",\"other\":1}",
            "\n1 2 x\n\n{\"queue\":\"a\",\"body\":\"{}\",\"gaps\":[0]}",
            "\n1 2 x\n\n{\"queue\":\"a\",\"body\":\"{}\",\"backoff\":{\"kind\":\"none\"}}",
        ];
        foreach ($headers as $header) {
            $this->queue()->push('{}', headers: ['task' => 'task', 'dueq-chain' => $header]);
            try {
                $this->drain($worker);
                $this->fail('it did not throw: ' . $header);
            } catch (UnexpectedValueException $error) {
                $this->assertStringContainsString('dueq-chain', $error->getMessage());
            }
        }
        $this->assertSame(0, $ran);
    }

    public function testAChainRunsInBothLanguages(): void
    {
        $this->python(<<<'END'
            import os, dueq, dueq.testing
            app = dueq.App(os.environ["DUEQ_URL"])
            @app.task(queue="bank")
            def charge(order):
                return {"payment": order * 100, "parts": [], "more": {}}
            dueq.chain(
                charge.draft(17),
                app.draft("pack", [17, dueq.PREVIOUS], queue="parcels"),
                app.draft("print_label", [dueq.PREVIOUS, {}, []], queue="labels"),
                catch=app.draft("refund", [17, dueq.FAILURE], queue="bank"),
            ).push()
            dueq.testing.drain(app, server=app.url, queues=["bank"])
            END);
        $worker = $this->startWith('chain.php');
        $this->assertSame('pack 17 1700', $this->heard());
        $this->awaitEmpty('parcels');
        $this->assertSame(0, $worker->stop());
        $said = $this->python(<<<'END'
            import os, dueq, dueq.testing
            app = dueq.App(os.environ["DUEQ_URL"])
            @app.task(queue="labels", max_attempts=1)
            def print_label(parcel, empty, none):
                print(parcel, empty, none)
                dueq.current_job().fail("no paper")
            dueq.testing.drain(app, server=app.url, queues=["labels"])
            END);
        $this->assertSame("parcel 17 {} []\n", $said);
        $worker = $this->startWith('chain.php');
        $this->assertSame('refund 17 3 print_label no paper', $this->heard());
        $this->awaitEmpty('bank');
        $this->assertSame(0, $worker->stop());
        $this->assertMatchesRegularExpression(
            '/chain: link 3 of 3 failed, the task print_label \w{22}: the catch is pushed to bank/',
            $worker->log(),
        );
    }

    public function testAProcessThatIsKilledIsCaught(): void
    {
        $this->tasks->chain('dies', queue: 'parcels', maxCrashes: 1)
            ->then('pack', [1, []], queue: 'parcels')
            ->catch('refund', [17, Chain::FAILURE], queue: 'bank')
            ->push();
        $worker = $this->startWith('chain.php', '--lease', '1s');
        $this->assertSame('dies', $this->heard());
        $this->assertSame('refund 17 1 dies ', $this->heard());
        $this->awaitEmpty('bank');
        $this->assertSame(0, $worker->stop());
        $this->assertSame(1, $this->queue('parcels')->stats()->dead);
    }

    private function worker(): Worker
    {
        return new Worker($this->server->url());
    }

    /** @return list<Job> */
    private function drain(Worker $worker): array
    {
        return Drain::run($worker, server: $this->server->url());
    }
}
