<?php

declare(strict_types=1);

namespace Dueq\Tests\Worker;

use ArrayObject;
use DateInterval;
use DateTime;
use DateTimeImmutable;
use DateTimeInterface;
use DateTimeZone;
use Dueq\Provided;
use Dueq\State;
use Dueq\Task;
use Dueq\Testing\Drain;
use Dueq\Worker;
use Dueq\Worker\Job;
use InvalidArgumentException;
use JsonException;
use LogicException;
use PHPUnit\Framework\Attributes\DataProvider;
use stdClass;
use Symfony\Component\PropertyInfo\Extractor\ReflectionExtractor;
use Symfony\Component\Serializer\Encoder\JsonEncoder;
use Symfony\Component\Serializer\Normalizer\ArrayDenormalizer;
use Symfony\Component\Serializer\Normalizer\DateTimeNormalizer;
use Symfony\Component\Serializer\Normalizer\ObjectNormalizer;
use Symfony\Component\Serializer\Serializer;
use Throwable;
use UnexpectedValueException;

require_once __DIR__ . '/order.php';
// As the distribution installs them.
require_once 'Symfony/Component/PropertyAccess/autoload.php';
require_once 'Symfony/Component/PropertyInfo/autoload.php';
require_once 'Symfony/Component/Serializer/autoload.php';

/** Arguments that JSON does not have, and those that a middleware gives. */
final class ArgumentsTest extends WorkerTestCase
{
    private Worker $worker;

    /** @var list<mixed> what the handlers got */
    private array $got = [];

    protected function setUp(): void
    {
        parent::setUp();
        $this->worker = new Worker($this->server->url());
    }

    /** @return iterable<string, array{string, mixed, string}> the type, a value, its JSON */
    public static function golden(): iterable
    {
        $noon = new DateTimeImmutable('2026-11-28T18:30:00+01:00');
        $values = [
            'moment' => [$noon, $noon->modify('+250 milliseconds')],
            'duration' => [
                new DateInterval('PT1M30S'),
                self::fraction('PT90S', 0.5),
                (new DateTime('@86400'))->diff(new DateTime('@0')),
            ],
            'enum' => [Status::Paid, Level::High],
            'class' => [new Order(7, $noon, Status::Paid, new Line('a-1', '1.50'))],
        ];
        $file = file(__DIR__ . '/../golden/arguments.tsv', FILE_IGNORE_NEW_LINES);
        foreach ($file as $line) {
            if ($line[0] === '#') {
                continue;
            }
            [$type, $number, $json] = explode("\t", $line);
            // PHP has no such type: a handler takes the text.
            $value = $values[$type][$number - 1] ?? json_decode($json);
            yield "$type $number" => [get_debug_type($value), $value, $json];
        }
    }

    /** @dataProvider golden */
    #[DataProvider('golden')]
    public function testEachTypeHasTheFormOfEveryLanguage(
        string $type,
        mixed $value,
        string $json,
    ): void {
        $this->worker->on('take', eval("return fn ($type \$value) => \$this->keep(\$value);"));
        $this->worker->push('take', [$value]);
        $this->assertSame(
            "{\"args\":[$json],\"kwargs\":{}}",
            $this->waiting(),
        );
        $this->worker->push('take', ['value' => $value]);
        $this->worker->push('take', ['value' => json_decode($json, true)]);
        $this->drain();
        $this->assertCount(3, $this->got);
        foreach ($this->got as $got) {
            $this->assertSame($type, get_debug_type($got));
            $this->assertEquals(self::plain($value), self::plain($got));
        }
    }

    public function testEachTypeComesFromPythonAndGoesBack(): void
    {
        $code = <<<'END'
            import enum
            from dataclasses import dataclass
            from datetime import UTC, date, datetime, timedelta
            from decimal import Decimal
            from uuid import UUID
            import dueq
            from dueq.testing import drain

            class Status(enum.Enum):
                OPEN = "open"
                PAID = "paid"

            @dataclass
            class Line:
                sku: str
                price: Decimal

            @dataclass
            class Order:
                id: int
                placed: datetime
                status: Status
                first: Line | None = None

            PLACED = datetime(2026, 11, 28, 17, 30, 0, 250000, tzinfo=UTC)
            ORDER = Order(7, PLACED, Status.PAID, Line("a-1", Decimal("1.50")))
            SENT = (
                PLACED, date(2026, 11, 28), timedelta(seconds=90.5),
                UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8"), Decimal("12.50"), Status.OPEN,
                b"\x00\xff", ORDER, None,
            )
            app = dueq.App()

            @app.task(queue="back")
            def back(
                moment: datetime, day: date, duration: timedelta, id: UUID, price: Decimal,
                status: Status, data: bytes, order: Order, nothing: datetime | None,
            ) -> None:
                got = (moment, day, duration, id, price, status, data, order, nothing)
                print("the same" if got == SENT else got)

            END;
        $this->python("$code\napp.push('there', SENT)\n");
        $this->worker->on('there', function (
            DateTimeImmutable $moment,
            string $day,
            DateInterval $duration,
            string $id,
            string $price,
            Status $status,
            string $data,
            Order $order,
            ?DateTimeInterface $nothing,
        ): void {
            $this->assertSame("\x00\xff", base64_decode($data));
            $this->keep($order->first?->getPrice());
            $this->worker->push('back', func_get_args(), queue: 'back');
        });
        $this->drain();
        $this->assertSame(['1.50'], $this->got);
        $drain = "print(len(drain(app, server=app.queue('back').url)))";
        $this->assertSame("the same\n1\n", $this->python("$code\n$drain\n"));
    }

    public function testTypesWithinTypes(): void
    {
        $noon = new DateTimeImmutable('2026-11-28T12:00:00Z');
        $keep = fn (mixed ...$values) => $this->keep($values);
        $this->worker
            ->on('union', fn (Status|string|int $a, DateTime|null $b = null) => $keep($a, $b))
            ->on('many', fn (string $a, DateTimeInterface ...$more) => $keep($a, ...$more))
            ->on('open', fn (\BackedEnum|string $a, stdClass|array|null $b = null) => $keep($a))
            ->on('untyped', fn ($a) => $keep($a))
            ->on('job', fn (Job $job, DateTimeImmutable $at) => $keep($job->arguments, $at));
        $this->worker->push('union', [Status::Paid, DateTime::createFromImmutable($noon)]);
        $this->worker->push('union', ['lost']);
        $this->worker->push('union', [7, 'b' => null]);
        $this->worker->push('many', ['a', $noon, $noon]);
        $this->worker->push('open', [Status::Paid]);
        $this->worker->push('untyped', [['at' => [$noon]]]);
        $this->worker->push('job', ['at' => $noon]);
        $this->drain();
        $this->assertEquals([
            [Status::Paid, DateTime::createFromImmutable($noon)],
            ['lost', null],
            [7, null],
            ['a', $noon, $noon],
            ['paid'],
            [['at' => ['2026-11-28T12:00:00Z']]],
            [['at' => $noon], $noon],
        ], $this->got);
    }

    /** @return iterable<string, array{class-string<Throwable>, string, array<mixed>}> */
    public static function wrong(): iterable
    {
        $refused = InvalidArgumentException::class;
        $noon = new DateTimeImmutable('2026-11-28T12:00:00Z');
        yield 'no time' => [$refused, 'at: "soon" is not a point of time with its zone', ['soon']];
        yield 'no zone' => [$refused, 'at: "2026-11-28T12:00:00" is not', ['2026-11-28T12:00:00']];
        yield 'a null' => [$refused, 'at: null is not a point of time', [null]];
        yield 'no interval' => [$refused, 'for: "90" is not a number of', [$noon, 'for' => '90']];
        yield 'no value' => [
            $refused,
            'status: "lost" is no value of ',
            [$noon, 'status' => 'lost'],
        ];
        yield 'no object' => [
            $refused,
            'order: [1] is not an object with the fields of ',
            [$noon, 'order' => [1]],
        ];
        yield 'a field' => [
            $refused,
            'order: the field placed of',
            [$noon, 'order' => ['id' => 1]],
        ];
        yield 'an unknown field' => [
            $refused,
            'Order has no field size',
            [$noon, 'order' => ['size' => 1]],
        ];
        yield 'a wrong field' => [
            $refused,
            'order: placed: "soon" is not a point of time',
            [$noon, 'order' => ['id' => 1, 'placed' => 'soon']],
        ];
        yield 'another class' => [$refused, 'order: ', [$noon, 'order' => new Line('a', '1')]];
        yield 'none' => [$refused, 'at is missing', []];
        yield 'an unknown one' => [$refused, 'takes no argument too', [$noon, 'too' => 1]];
        yield 'a provided one' => [
            $refused,
            'only a middleware may provide db',
            [$noon, 'db' => new stdClass()],
        ];
        $no = JsonException::class;
        yield 'months' => [$no, 'argument 1: an interval of months', [new DateInterval('P1M')]];
        yield 'no form' => [$no, 'JSON has no form for an object of', [new ArrayObject()]];
        $ring = new Node();
        $ring->next = $ring;
        yield 'a ring' => [$no, 'argument 1: Maximum stack depth exceeded', [$ring]];
        yield 'a nameless enum' => [$no, 'JSON has no form for', [Nameless::One]];
    }

    /** @dataProvider wrong */
    #[DataProvider('wrong')]
    public function testAWrongArgumentIsAnErrorOfThePush(
        string $error,
        string $text,
        array $arguments,
    ): void {
        $this->expectException($error);
        $this->expectExceptionMessageMatches('/^the task take.*' . preg_quote($text, '/') . '/');
        $this->tasks->push(Take::class, $arguments);
    }

    public function testAWrongArgumentOfAMessageIsAnErrorOfTheWorker(): void
    {
        $this->worker->tasks(Take::class);
        foreach ([
            'the task take: at: "soon" is not a point' => ['soon'],
            'the task take: only a middleware may provide db' => ['at' => 'soon', 'db' => 1],
        ] as $text => $arguments) {
            $this->tasks->push('take', $arguments, maxAttempts: 1);
            try {
                $this->drain();
                $this->fail('it was taken');
            } catch (UnexpectedValueException $error) {
                $this->assertStringStartsWith($text, $error->getMessage());
            }
        }
        $this->assertSame(2, $this->queue()->stats()->dead);
    }

    public function testAMiddlewareProvidesWhatHandlersAskFor(): void
    {
        $this->worker
            ->middleware(function (Job $job, callable $next): mixed {
                $job->provide(db: 'outer', user: 'Ada', other: 1);

                return $next($job);
            }, function (Job $job, callable $next): mixed {
                $job->provide(db: "inner {$job->task}");

                return $next($job);
            })
            ->on('a', fn (int $order, #[Provided] string $db) => $this->keep([$order, $db]))
            ->on('b', fn (Job $job, string $user = '', int $n = 1) => $this->keep([$user, $n]))
            ->on('late', fn (Job $job) => $job->provide(db: 1))
            ->onQueue('orders', fn (Job $job, #[Provided] string $db) => $this->keep($db));
        $this->worker->push('a', [1]);
        $this->worker->push('b');
        $this->queue('orders')->push('x');
        $this->drain();
        $this->assertSame([[1, 'inner a'], ['Ada', 1], 'inner '], $this->got);
        $this->worker->push('late', maxAttempts: 1);
        $this->expectException(LogicException::class);
        $this->expectExceptionMessage('has begun: a middleware provides before $next()');
        $this->drain();
    }

    public function testWhatNobodyProvidesIsNamed(): void
    {
        $this->worker->on('a', fn (#[Provided] string $db) => null, maxAttempts: 1);
        $this->worker->push('a');
        $this->expectException(LogicException::class);
        $this->expectExceptionMessage('the task a: no middleware provides db');
        $this->drain();
    }

    public function testValuesAreProvidedByName(): void
    {
        $this->worker->middleware(fn (Job $job, callable $next) => $job->provide('db'));
        $this->worker->on('a', fn () => null, maxAttempts: 1);
        $this->worker->push('a');
        $this->expectException(InvalidArgumentException::class);
        $this->expectExceptionMessage('provide: name each value');
        $this->drain();
    }

    public function testANormalizerOfSymfonyWritesAndReadsClasses(): void
    {
        $types = new ReflectionExtractor();
        $this->worker = new Worker($this->server->url(), normalizer: new Serializer(
            [
                new DateTimeNormalizer(),
                new ArrayDenormalizer(),
                new ObjectNormalizer(propertyTypeExtractor: $types),
            ],
            [new JsonEncoder()],
        ));
        $this->worker->on('take', fn (Loose $loose, ?Plain $plain = null) => $this->keep($loose));
        $loose = new Loose();
        $loose->addLine(new Line('a', '1'));
        $this->worker->push('take', [$loose, new Plain()]);
        $body = json_decode($this->waiting(), true);
        $this->assertSame('a', $body['args'][0]['lines'][0]['sku']);
        $this->assertSame(['word' => 'x'], $body['args'][1]);
        $this->drain();
        $this->assertEquals([$loose], $this->got);
    }

    public function keep(mixed $value): void
    {
        $this->got[] = $value;
    }

    /** The body of the message that waits. */
    private function waiting(): string
    {
        foreach ($this->queue()->peek(State::Ready) as $message) {
            return $message->body;
        }
        $this->fail('none waits');
    }

    private function drain(): void
    {
        Drain::run($this->worker, server: $this->server->url());
    }

    private static function fraction(string $text, float $fraction): DateInterval
    {
        $interval = new DateInterval($text);
        $interval->f = $fraction;

        return $interval;
    }

    /** An interval as its seconds: PHP compares no intervals. */
    private static function plain(mixed $value): mixed
    {
        if (!$value instanceof DateInterval) {
            return $value;
        }
        $zero = new DateTimeImmutable('@0', new DateTimeZone('UTC'));

        return (float) $zero->add($value)->format('U.u');
    }
}

#[Task('take')]
final class Take
{
    public function __invoke(
        DateTimeImmutable $at,
        ?DateInterval $for = null,
        Status $status = Status::Open,
        ?Order $order = null,
        #[Provided] ?stdClass $db = null,
    ): void {
    }
}

final class Plain
{
    public string $word = 'x';
}
