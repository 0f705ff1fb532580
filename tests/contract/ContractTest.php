<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\BatchStatus;
use Dueq\CatchUp;
use Dueq\Exception\BacklogException;
use Dueq\Exception\DueqException;
use Dueq\FailureKind;
use Dueq\Laravel\Queue as LaravelQueue;
use Dueq\Lock;
use Dueq\Message;
use Dueq\Messages;
use Dueq\Order;
use Dueq\Queue;
use Dueq\Queues;
use Dueq\Lease;
use Dueq\Rate;
use Dueq\Redisson\DelayedQueue;
use Dueq\State;
use Dueq\WorkerInfo;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

require_once __DIR__ . '/../php/Server.php';
require_once __DIR__ . '/Values.php';
require_once __DIR__ . '/Expectations.php';
require_once __DIR__ . '/Redisson.php';
require_once __DIR__ . '/Laravel.php';

/** Runs the situations of this folder (README.md has their format) on the PHP extension. */
final class ContractTest extends TestCase
{
    use Values;
    use Expectations;
    use Redisson;
    use Laravel;

    private static ?Server $server = null;

    /** @var array<int, string> names of the statuses by number */
    private static array $statuses = [];

    private Queue $queue;

    /** @var array<string, Queues> */
    private array $several = [];

    /** @var array<string, Messages> */
    private array $looks = [];

    /** @var array<string, Lock> */
    private array $locks = [];

    public static function setUpBeforeClass(): void
    {
        self::$server ??= new Server();
        $header = (string) file_get_contents(__DIR__ . '/../../core/dueq.h');
        preg_match_all('/^ +X\((-?\d+), (\w+),/m', $header, $rows, PREG_SET_ORDER);
        foreach ($rows as [, $number, $name]) {
            self::$statuses[(int) $number] = $name;
        }
    }

    /** @return iterable<string, array{string, ?string, bool, list<array>}> */
    public static function situations(): iterable
    {
        $only = getenv('DUEQ_CONTRACT_ONLY');
        foreach (glob(__DIR__ . '/*.json') as $path) {
            $text = (string) file_get_contents($path);
            foreach (json_decode($text, true, 64, JSON_THROW_ON_ERROR) as $found) {
                foreach ($found['ways'] ?? ['' => []] as $way => $parts) {
                    $steps = array_merge(...array_map(
                        fn ($step) => $step['do'] === 'way'
                            ? $parts[$step['part'] ?? 0] ?? []
                            : [$step],
                        $found['steps'],
                    ));
                    foreach ($found['each'] ?? [null] as $index => $each) {
                        $number = $each === null ? '' : (string) ($index + 1);
                        $words = ['test', $found['name'], $way, $number];
                        $name = implode('_', array_filter($words, 'strlen'));
                        if ($only === false || str_contains(" $only", " $name ")) {
                            yield $name => [$name, $each, $found['damaged'] ?? false, $steps];
                        }
                    }
                }
            }
        }
    }

    /**
     * @dataProvider situations
     * @param list<array> $steps
     */
    #[DataProvider('situations')]
    public function testContract(
        string $situation,
        ?string $each,
        bool $damaged,
        array $steps,
    ): void {
        $this->situation = $this->name = $situation;
        $this->names = [$situation => true];
        $this->each = $each;
        $this->queue = new Queue($situation, self::url());
        $this->redisson = new DelayedQueue($situation, self::url());
        $this->laravel = new LaravelQueue($situation, self::$server->url());
        foreach ($steps as $index => $step) {
            $where = 'each ' . json_encode($each)
                . ', step ' . ($index + 1) . ': ' . json_encode($step);
            $this->step($step, $where);
        }
        $this->assertSame([], $this->script('consistent', $damaged ? '1' : '0'));
    }

    // The server beside the extension

    /** The URL of the server that the extension uses. */
    private static function url(): string
    {
        return getenv('DUEQ_CONTRACT_URL') ?: self::$server->url();
    }

    private function command(string ...$words): mixed
    {
        $reply = self::$server->command(...$words);
        if (is_string($reply) && preg_match('/^-[A-Z]+ /', $reply)) {
            $this->fail($reply);
        }
        return $reply;
    }

    private function script(string $name, string ...$arguments): mixed
    {
        $source = (string) file_get_contents(__DIR__ . "/$name.lua");
        $names = array_keys([$this->name => true] + $this->names);
        $keys = array_map(fn ($name) => "dueq:{{$name}}:", $names);
        return $this->command('EVAL', $source, (string) count($keys), ...$keys, ...$arguments);
    }

    private function serverMs(): int
    {
        [$seconds, $micros] = $this->command('TIME');
        return $seconds * 1000 + intdiv((int) $micros, 1000);
    }

    // Steps

    // Made from core/verbs.toml by core/verbs.py: the verbs.
    private const MADE = [
        'retry' => 'EXHAUSTED',
        'release' => 'OK',
        'hold_group' => 'OK',
        'extend' => 'OK',
        'bury' => 'OK',
        'kick' => 'NOT_FOUND',
        'kill' => 'NOT_FOUND',
        'cancel' => 'NOT_FOUND',
        'reschedule' => 'NOT_FOUND',
        'pause' => 'OK',
        'resume' => 'OK',
        'hold' => 'OK',
        'limit' => 'OK',
        'close_batch' => 'NOT_FOUND',
    ];
    // The end of what was made.

    private function step(array $step, string $where): void
    {
        $expect = $step['expect'] ?? [];
        if ($step['do'] === 'redis' || is_file(__DIR__ . "/{$step['do']}.lua")) {
            $reply = $step['do'] === 'redis'
                ? $this->command(...$this->values($step['command']))
                : $this->script($step['do'], ...$this->values($step['args'] ?? []));
            if (array_key_exists('reply', $expect)) {
                $this->assertReply($expect['reply'], $reply, $where);
            }
            return;
        }
        // A test case of PHPUnit has methods of its own, such as groups().
        $verb = isset(self::MADE[$step['do']]) ? 'made' : $step['do'];
        $do = 'do' . ucfirst(self::camel($verb));
        try {
            $outcomes = $this->$do($step, $expect, $where) ?? ['OK'];
        } catch (DueqException $e) {
            $this->assertNotSame('', $e->getMessage(), $where);
            if (isset($e->ids, $expect['stored'])) {
                $stored = array_map(
                    fn ($id) => $id === null ? null : $this->value($id),
                    $expect['stored'],
                );
                $this->assertSame($stored, $e->ids, $where);
            }
            $count = $verb === 'ack_push' && $e->getCode() > 0 ? 1 + count(self::found($step)) : 1;
            $outcomes = array_fill(0, $count, self::$statuses[$e->getCode()]);
            if ($e instanceof BacklogException) {
                $outcomes = array_map(fn ($id) => $id === null ? 'BACKLOG' : 'OK', $e->ids);
                $outcomes = [...($verb === 'ack_push' ? ['BACKLOG'] : []), ...$outcomes];
            }
        }
        $others = array_values(array_diff($outcomes, ['OK']));
        $this->assertContains($others[0] ?? 'OK', (array) ($expect['status'] ?? 'OK'), $where);
        $wanted = $expect['statuses'] ?? null;
        if ($wanted !== null) {
            $this->assertEquals(
                $wanted,
                array_is_list($wanted) ? $outcomes : array_count_values($outcomes),
                $where,
            );
        }
    }

    private static function camel(string $words): string
    {
        return lcfirst(str_replace(['_', ' '], '', ucwords($words, '_ ')));
    }

    private function doOpen(array $step): void
    {
        $name = $this->value($step['name']);
        $this->queue = new Queue($name, self::url(), partitions: $step['partitions'] ?? null);
        $this->name = $this->queueName($step['name']);
    }

    /** The drafts of a step, as the step's JSON has them. */
    private static function found(array $step): array
    {
        return array_merge(...array_fill(0, $step['times'] ?? 1, $step['drafts'] ?? [$step]));
    }

    private function doPush(array $step, array $expect, string $where): array
    {
        $drafts = array_map($this->draft(...), self::found($step));
        $ids = isset($step['drafts'])
            ? $this->queue->pushMany($drafts)
            : [$this->queue->push(...$drafts[0])];
        return $this->noteIds($step, $ids, $where);
    }

    private function doAckPush(array $step, array $expect, string $where): array
    {
        $drafts = array_map($this->draft(...), self::found($step));
        $to = isset($step['to']) ? $this->queueName($step['to']) : null;
        $result = isset($step['result']) ? $this->value($step['result']) : null;
        $ids = $this->message($step)->ack($drafts, $to, result: $result);
        return ['OK', ...$this->noteIds($step, $ids, $where)];
    }

    private function doSchedule(array $step): array
    {
        $texts = ['zone' => 0, 'app' => 0, 'release' => 0];
        $more = array_map($this->value(...), array_intersect_key($step, $texts));
        if (isset($step['catchup'])) {
            $more['catchup'] = CatchUp::from($this->value($step['catchup']));
        }
        $done = $this->queue->schedule(
            $this->value($step['name']),
            $this->value($step['expression']),
            $this->draft($step['job']),
            ...$more,
        );
        return [$done ? 'OK' : 'DUPLICATE'];
    }

    private function doFire(array $step): void
    {
        $this->message($step)->fire();
    }

    private function noteIds(array $step, array $ids, string $where): array
    {
        $found = self::found($step);
        $this->assertCount(count($found), $ids, $where);
        foreach ($ids as $index => $id) {
            if ($id !== null) {
                $own = $found[$index]['id'] ?? null;
                $this->assertSame(
                    $own === null ? 22 : $this->value($own),
                    $own === null ? strlen($id) : $id,
                    $where,
                );
                $this->ids[$found[$index]['as'] ?? ''] = $id;
            }
        }
        return array_map(fn ($id) => $id === null ? 'DUPLICATE' : 'OK', $ids);
    }

    private function consumer(array $step): Queue|Queues
    {
        if (!isset($step['queues'])) {
            return $this->queue;
        }
        $names = array_map($this->queueName(...), $step['queues']);
        $order = Order::from($this->value($step['order'] ?? 'preference'));
        return $this->several[implode("\n", [...$names, $order->value])] ??= new Queues(
            $names,
            self::url(),
            $order,
        );
    }

    private function doReserve(array $step, array $expect, string $where): array
    {
        $options = $this->options('reserve', $step);
        $consumer = $this->consumer($step);
        $messages = isset($step['count'])
            ? $consumer->reserveMany($step['count'], ...$options)
            : array_filter([$consumer->reserve(...$options)]);
        if (isset($step['as'])) {
            $this->captures[$step['as']] = $messages;
        }
        foreach (isset($expect['queue']) ? $messages : [] as $message) {
            $this->assertSame($this->value($expect['queue']), $message->queue, $where);
        }
        $this->assertMessages($expect, $messages, $where);
        return [$messages ? 'OK' : 'EMPTY'];
    }

    private function doAck(array $step): array
    {
        $messages = isset($step['message'])
            ? $this->captures[$step['message']]
            : $this->values($step['tickets']);
        if (isset($step['message']) && count($messages) === 1) {
            $messages[0]->ack(
                result: isset($step['result']) ? $this->value($step['result']) : null,
            );
            return ['OK'];
        }
        return array_map(
            fn ($done) => $done ? 'OK' : 'LEASE_LOST',
            $this->queue->ackMany($messages),
        );
    }

    private function doCheckpoint(array $step): void
    {
        $this->message($step)->checkpoint($this->value($step['cursor']));
    }

    /** A verb whose methods are made from core/verbs.toml: a field of the step is a parameter. */
    private function doMade(array $step, array $expect, string $where): array
    {
        $verb = $step['do'];
        $on = isset($step['message']) ? $this->message($step) : $this->queue;
        $given = [];
        $fields = array_diff_key($step, ['do' => 0, 'message' => 0, 'expect' => 0]);
        foreach ($fields as $name => $value) {
            $given[self::camel(preg_replace('/_ms$/', '', $name))] = match (true) {
                str_ends_with($name, '_ms') => $value / 1000,
                is_int($value), is_bool($value) => $value,
                default => $name === 'ids' ? $this->values($value) : $this->value($value),
            };
        }
        $done = isset($step['ids'])
            ? $on->{self::camel($verb) . 'Many'}(...$given)
            : [$on->{self::camel($verb)}(...$given)];
        if (isset($expect['states'])) {
            $states = array_map(fn (?State $state) => $state?->value, $done);
            $this->assertSame($expect['states'], $states, $where);
        }
        return array_map(fn ($each) => ($each ?? false) ? 'OK' : self::MADE[$verb], $done);
    }

    private function doKickAll(array $step, array $expect, string $where): void
    {
        foreach (['since', 'until'] as $name) {
            if (isset($step["{$name}_in_ms"])) {
                $step["{$name}_ms"] = $this->serverMs() + $step["{$name}_in_ms"];
            }
        }
        $times = self::seconds($step, ['since_ms' => 'since', 'until_ms' => 'until']);
        $error = isset($step['error']) ? $this->value($step['error']) : null;
        $kicked = $this->queue->kickAll($error, ...$times);
        $this->assertSame($expect['kicked'] ?? $kicked, $kicked, $where);
    }

    private function doPurge(array $step, array $expect, string $where): void
    {
        $purged = $this->queue->purge(State::from($this->value($step['state'])));
        $this->assertSame($expect['purged'] ?? $purged, $purged, $where);
    }

    private function doRemove(array $step, array $expect, string $where): void
    {
        $removed = $this->queue->remove(isset($step['force']));
        $this->assertSame($expect['removed'] ?? $removed, $removed, $where);
    }

    private function doCheck(array $step, array $expect, string $where): void
    {
        $found = $this->queue->check($step['repair'] ?? false);
        $this->assertCount(count($expect['findings'] ?? $found), $found, $where);
        foreach ($expect['findings'] ?? [] as $index => $fields) {
            foreach ($fields as $name => $value) {
                $value = is_array($value) ? $this->values($value) : $value;
                $this->assertSame($value, $found[$index]->$name, "$name, $where");
            }
        }
    }

    private function doFind(array $step, array $expect, string $where): array
    {
        $message = $this->queue->find($this->value($step['id']));
        if ($message === null) {
            return ['NOT_FOUND'];
        }
        $this->assertSame($this->value($step['id']), $message->id, $where);
        $this->assertMessage($expect['message'] ?? [], $message, $where);
        return ['OK'];
    }

    private function doPeek(array $step, array $expect, string $where): void
    {
        $look = isset($step['more'])
            ? $this->looks[$step['more']]
            : $this->queue->peek(State::from($this->value($step['state'])), $step['page'] ?? 100);
        $messages = [];
        for (
            $begun = isset($step['more']);
            count($messages) < ($step['count'] ?? PHP_INT_MAX);
            $begun = true
        ) {
            if ($begun) {
                $look->next();
            }
            if (!$look->valid()) {
                break;
            }
            $messages[] = $look->current();
        }
        $this->assertMessages($expect, $messages, $where);
        $this->looks[$step['as'] ?? ''] = $look;
    }

    private function doStats(array $step, array $expect, string $where): void
    {
        unset($expect['status']);
        $this->assertFields($expect, $this->queue->stats(), $where);
    }

    private function doLimits(array $step, array $expect, string $where): void
    {
        $limits = $this->queue->limits();
        $groups = $expect['groups'] ?? null;
        unset($expect['status'], $expect['groups']);
        $this->assertFields($expect, $limits, $where);
        $this->assertCount(count($groups ?? $limits->groups), $limits->groups, $where);
        foreach ($groups ?? [] as $i => $wanted) {
            $this->assertFields($wanted, $limits->groups[$i], $where);
        }
    }

    private function doWorkers(array $step, array $expect, string $where): void
    {
        $workers = $this->queue->workers();
        $this->assertCount(count($expect['workers'] ?? $workers), $workers, $where);
        foreach ($expect['workers'] ?? [] as $i => $wanted) {
            $this->compareWorker($workers[$i], $wanted, $where);
        }
    }

    private function compareWorker(WorkerInfo|Lease $found, array $wanted, string $where): void
    {
        foreach ($wanted as $name => $value) {
            $got = $found->{preg_replace('/_ms$/', '', $name)};
            if ($name === 'leases') {
                $this->assertCount(count($value), $got, $where);
                array_map(
                    fn ($lease, $fields) => $this->compareWorker($lease, $fields, $where),
                    $got,
                    $value,
                );
            } elseif (str_ends_with($name, '_ms')) {
                $this->assertSame($value, (int) round($got * 1000), "$name, $where");
            } else {
                $this->assertSame($value, $got, "$name, $where");
            }
        }
    }

    private function doAllow(array $step, array $expect, string $where): void
    {
        $targets = isset($step['dead_letter'])
            ? array_map($this->value(...), $step['dead_letter'])
            : null;
        $names = $this->queue->allow($targets, (bool) ($step['any'] ?? false));
        if (isset($expect['names'])) {
            $this->assertSame(array_map($this->value(...), $expect['names']), $names, $where);
        }
    }

    private function doFailures(array $step, array $expect, string $where): void
    {
        $failures = $this->queue->failures(isset($step['id']) ? $this->value($step['id']) : null);
        $this->assertCount(count($expect['failures'] ?? $failures), $failures, $where);
        foreach ($expect['failures'] ?? [] as $i => $wanted) {
            foreach ($wanted as $name => $value) {
                $got = $failures[$i]->{preg_replace('/_ms$/', '', $name)};
                $got = $got instanceof FailureKind ? $got->value : $got;
                $got = str_ends_with($name, '_ms') ? (int) round($got * 1000) : $got;
                $this->assertSame(
                    is_array($value) || is_string($value) ? $this->value($value) : $value,
                    $got,
                    "$name, $where",
                );
            }
        }
    }

    private function doOutcome(array $step, array $expect, string $where): array
    {
        $end = $this->queue->outcome(
            $this->value($step['id']),
            ($step['timeout_ms'] ?? 0) / 1000,
        );
        $this->assertTrue($end !== null || !isset($expect['end']), $where);
        foreach ($end ? $expect['end'] ?? [] : [] as $name => $value) {
            $field = preg_replace('/(_in)?_ms$/', '', $name);
            $field = lcfirst(str_replace('_', '', ucwords($field, '_')));
            $got = $end->$field;
            if (str_ends_with($name, '_in_ms')) {
                $this->assertTrue($this->isIn($value, $got), "$name, $where");
                continue;
            }
            if (str_ends_with($name, '_ms')) {
                $this->assertEquals($value ? $value / 1000 : null, $got, "$name, $where");
                continue;
            }
            $this->assertSame(
                is_array($value) || is_string($value) ? $this->value($value) : $value,
                is_bool($got) ? (int) $got : $got,
                "$name, $where",
            );
        }
        return [$end ? 'OK' : 'EMPTY'];
    }

    private function doOpenBatch(array $step): array
    {
        $more = [];
        foreach (['then', 'catch', 'finally'] as $name) {
            if (isset($step[$name])) {
                $more[$name] = $this->draft($step[$name]);
            }
            if (isset($step["{$name}_queue"])) {
                $more["{$name}Queue"] = $this->queueName($step["{$name}_queue"]);
            }
        }
        foreach (['open', 'keep'] as $name) {
            if (isset($step["{$name}_ms"])) {
                $more[$name] = $step["{$name}_ms"] / 1000;
            }
        }
        $done = $this->queue->openBatch($this->value($step['id']), ...$more);
        return [$done ? 'OK' : 'DUPLICATE'];
    }

    private function compareBatch(BatchStatus $batch, array $wanted, string $where): void
    {
        foreach ($wanted as $name => $value) {
            $got = $batch->{self::camel(preg_replace('/(_in)?_ms$/', '', $name))};
            if (str_ends_with($name, '_in_ms')) {
                $this->assertTrue($this->isIn($value, $got), "$name, $where");
            } elseif (str_ends_with($name, '_ms')) {
                $this->assertSame($value, (int) round(($got ?? 0) * 1000), "$name, $where");
            } else {
                $meant = is_string($value) ? $this->value($value) : $value;
                $this->assertSame($meant, $got, "$name, $where");
            }
        }
    }

    private function doFindBatch(array $step, array $expect, string $where): array
    {
        $batch = $this->queue->findBatch($this->value($step['id']));
        if ($batch !== null) {
            $this->compareBatch($batch, $expect['batch'] ?? [], $where);
        }
        return [$batch === null ? 'NOT_FOUND' : 'OK'];
    }

    private function doBatches(array $step, array $expect, string $where): void
    {
        $found = array_column($this->queue->batches(), null, 'id');
        $this->assertCount(count($expect['batches'] ?? $found), $found, $where);
        foreach ($expect['batches'] ?? [] as $id => $wanted) {
            $this->compareBatch($found[$id], $wanted, $where);
        }
    }

    private function doPushTo(array $step, array $expect, string $where): array
    {
        $drafts = array_map($this->draft(...), self::found($step));
        $ids = $this->queue->pushTo($this->queueName($step['to']), $drafts);
        return $this->noteIds($step, $ids, $where);
    }

    private function doCancelBatch(array $step, array $expect, string $where): void
    {
        $home = isset($step['of']) ? $this->queueName($step['of']) : null;
        $cancelled = $this->queue->cancelBatch($this->value($step['id']), $home);
        $this->assertSame($expect['cancelled'] ?? $cancelled, $cancelled, $where);
    }

    private function doGroups(array $step, array $expect, string $where): void
    {
        $groups = $this->queue->groups(...array_intersect_key($step, ['most' => 0]));
        $this->assertCount(count($expect['groups'] ?? $groups), $groups, $where);
        foreach ($expect['groups'] ?? [] as $i => $wanted) {
            foreach ($wanted as $name => $value) {
                if ($name === 'oldest_in_ms') {
                    $this->assertTrue($this->isIn($value, $groups[$i]->oldest), "$name, $where");
                } elseif ($name === 'held_in_ms') {
                    $this->assertTrue($this->isIn($value, $groups[$i]->heldUntil), "$name, $where");
                } elseif ($name === 'oldest_ms') {
                    $oldest = (int) round(($groups[$i]->oldest ?? 0) * 1000);
                    $this->assertSame($value, $oldest, "$name, $where");
                } else {
                    $meant = is_int($value) || $value === null ? $value : $this->value($value);
                    $property = lcfirst(str_replace('_', '', ucwords($name, '_')));
                    $this->assertSame($meant, $groups[$i]->$property, "$name, $where");
                }
            }
        }
    }

    private function doPurgeGroup(array $step, array $expect, string $where): void
    {
        $purged = $this->queue->purgeGroup($this->value($step['group']));
        $this->assertSame($expect['purged'] ?? $purged, $purged, $where);
    }

    private function doRates(array $step, array $expect, string $where): void
    {
        $rates = $this->queue->rates(...array_intersect_key($step, ['minutes' => 0, 'hours' => 0]));
        $found = 0;
        foreach ($expect['rates'] ?? [] as $wanted) {
            $these = array_filter(
                $rates,
                fn (Rate $rate) => $this->isIn($wanted['start_in_ms'], $rate->start),
            );
            $found += count($these);
            unset($wanted['start_in_ms']);
            foreach ($wanted as $name => $value) {
                $this->assertSame(
                    $value,
                    array_sum(array_map(fn (Rate $rate) => $rate->$name, $these)),
                    "$name, $where",
                );
            }
        }
        if (isset($expect['rates'])) {
            $this->assertCount($found, $rates, $where);
        }
    }

    private function doQueues(array $step, array $expect, string $where): void
    {
        $names = Queue::names(self::url());
        $this->assertSame([], array_diff($this->values($expect['names'] ?? []), $names), $where);
        $this->assertSame(
            [],
            array_intersect($this->values($expect['without'] ?? []), $names),
            $where,
        );
    }

    private function doLock(array $step): array
    {
        $name = $this->value($step['name']);
        $lock = $this->queue->lock(
            $name,
            $step['ttl_ms'] / 1000,
            ($step['timeout_ms'] ?? 0) / 1000,
        );
        if ($lock === null) {
            return ['TAKEN'];
        }
        $this->locks[$step['as'] ?? ''] = $lock;
        return ['OK'];
    }

    private function doRelock(array $step): void
    {
        $this->locks[$step['lock']]->extend($step['ttl_ms'] / 1000);
    }

    private function doUnlock(array $step): void
    {
        $this->locks[$step['lock']]->release();
    }

    private function message(array $step): Message
    {
        return end($this->captures[$step['message']]);
    }
}
