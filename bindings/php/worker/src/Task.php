<?php

declare(strict_types=1);

namespace Dueq;

use InvalidArgumentException;
use ReflectionMethod;

/**
 * The name and the options of a task. As an attribute it makes a class the handler of the task:
 *
 *     #[Dueq\Task('send_receipt', queue: 'mail', maxAttempts: 5, timeout: 30)]
 *     final class SendReceipt
 *     {
 *         public function __invoke(int $order, bool $copy = false): void { ... }
 *     }
 */
#[\Attribute(\Attribute::TARGET_CLASS)]
final class Task
{
    /** Seconds after its timeout when the worker kills the process of a job that has not ended. */
    public const GRACE = 10.0;

    /** @var array<string, mixed> */
    public readonly array $options;

    /** Seconds from the begin of a job until the worker kills its process; null: never. */
    public readonly ?float $killAfter;

    /** Names of options in other libraries, and what they are called here. */
    private const ELSEWHERE = [
        'maxRetries' => 'maxAttempts, which counts the first run too',
        'retries' => 'maxAttempts, which counts the first run too',
        'tries' => 'maxAttempts',
        'maxTries' => 'maxAttempts',
        'attempts' => 'maxAttempts',
        'retryDelay' => 'backoff',
        'expires' => 'ttl',
        'uniqueFor' => 'unique',
    ];

    /** When the workers push the task by themselves, as for Queue::schedule(); null: never. */
    public readonly ?string $expression;

    /** @var list<class-string>|null */
    private readonly ?array $retryOn;

    /** @var list<class-string> */
    private readonly array $failOn;

    /**
     * @param string $name 1 to 255 bytes of UTF-8 without control characters
     * @param string $queue the queue to which the task is pushed
     * @param float|null $timeout seconds, more than 0, after which the worker throws a
     *     TimeLimitExceeded into the handler; fractions are rounded up to whole seconds. null: no
     *     limit
     * @param float|null $killAfter seconds, $timeout at least, after which the worker kills the
     *     process of the job: this also ends a handler that is inside a function of PHP. null: 10 s
     *     after $timeout, or never without a timeout
     * @param string|null $serializer the name of a serializer that the producer and the worker
     *     know; null: JSON
     * @param class-string|list<class-string>|null $retryOn a job that throws an object of any other
     *     class has failed for good, as by Job::fail(); null: all failures are retried
     * @param class-string|list<class-string> $failOn classes: a job that throws an object of
     *     one has failed for good, even if $retryOn names a parent of that class
     * @param (callable(Worker\Job, \Throwable): mixed)|class-string|null $onExhausted as for
     *     Worker::onExhausted(): replaces the worker's hook for this task
     * @param string|null $cron when the workers push the task by themselves, without arguments: an
     *     expression as for Queue::schedule(), such as "30 2 * * mon-fri"
     * @param float|null $every the same as an interval: seconds, 1 at least
     * @param string $tz the time zone of $cron, such as "Europe/Berlin"
     * @param CatchUp $catchup for $cron and $every, as for Queue::schedule()
     * @param mixed ...$options options of the task's messages, as named arguments of Queue::push():
     *     maxAttempts, backoff, ttl, priority, unique and others
     * @throws InvalidArgumentException for a wrong name, limit, class or option
     */
    public function __construct(
        public readonly string $name,
        public readonly string $queue = 'default',
        public readonly ?float $timeout = null,
        ?float $killAfter = null,
        public readonly ?string $serializer = null,
        string|array|null $retryOn = null,
        string|array $failOn = [],
        public readonly mixed $onExhausted = null,
        ?string $cron = null,
        ?float $every = null,
        public readonly string $tz = 'UTC',
        public readonly CatchUp $catchup = CatchUp::Once,
        mixed ...$options,
    ) {
        if (strlen($name) > 255 || !preg_match('/^[^\x00-\x1f\x7f]+$/Du', $name)) {
            throw new InvalidArgumentException(
                'the name of a task is 1 to 255 bytes of UTF-8 without control characters',
            );
        }
        if (($timeout ?? 1.0) <= 0.0 || ($killAfter ?? INF) < ($timeout ?? 0.001)) {
            throw new InvalidArgumentException(
                "the task $name: timeout must be more than 0, and killAfter at least timeout",
            );
        }
        self::check($name, $options);
        foreach ([...(array) $retryOn, ...(array) $failOn] as $class) {
            if (!is_string($class) || !(class_exists($class) || interface_exists($class))) {
                throw new InvalidArgumentException(
                    "the task $name: retryOn and failOn name classes, and there is no class "
                        . json_encode($class),
                );
            }
        }
        if (
            $onExhausted !== null
            && !is_callable($onExhausted)
            && !(is_string($onExhausted) && class_exists($onExhausted))
        ) {
            throw new InvalidArgumentException(
                "the task $name: onExhausted is neither a callable nor a class",
            );
        }
        $this->retryOn = $retryOn === null ? null : array_values((array) $retryOn);
        $this->failOn = array_values((array) $failOn);
        $this->killAfter = $killAfter ?? ($timeout === null ? null : $timeout + self::GRACE);
        $this->options = $options;
        $this->expression = $this->expressionOf($cron, $every);
    }

    /** Whether a job that throws $error has failed for good, by $retryOn or $failOn. */
    public function isFinal(\Throwable $error): bool
    {
        /** @param list<class-string> $classes */
        $is = fn (array $classes): bool => array_filter(
            $classes,
            fn (string $class) => $error instanceof $class,
        ) !== [];

        return ($this->retryOn !== null && !$is($this->retryOn)) || $is($this->failOn);
    }

    /**
     * The attribute Task of a class.
     *
     * @param class-string $class
     * @return self|null null: the class has no such attribute
     */
    public static function of(string $class): ?self
    {
        $attributes = (new \ReflectionClass($class))->getAttributes(self::class);

        return $attributes === [] ? null : $attributes[0]->newInstance();
    }

    /** @throws InvalidArgumentException for what is no schedule */
    private function expressionOf(?string $cron, ?float $every): ?string
    {
        $wrong = match (true) {
            $cron !== null && $every !== null => 'cron, every: give one of them',
            $cron === null && $every === null
                => $this->tz !== 'UTC' || $this->catchup !== CatchUp::Once
                    ? 'tz and catchup say more about cron or every, which is not given'
                    : null,
            $every !== null && !($every >= 1.0 && $every <= 86400.0 * 366)
                => 'every: an interval has 1 second to 366 days',
            isset($this->options['unique']) || isset($this->options['replace'])
                => 'unique, replace: the schedule gives each push its id and time',
            default => null,
        };
        if ($wrong !== null) {
            throw new InvalidArgumentException("the task {$this->name}: $wrong");
        }
        if ($every !== null) {
            $ms = (int) ceil(round($every * 1000, 3));
            $cron = $ms % 1000 === 0 ? 'every ' . intdiv($ms, 1000) . 's' : "every {$ms}ms";
        }
        if ($cron === null) {
            return null;
        }
        try {
            $next = Queue::nextTime($cron, $this->tz);
        } catch (Exception\DueqException $error) {
            throw new InvalidArgumentException(
                "the task {$this->name}: {$error->getMessage()}",
                0,
                $error,
            );
        }

        return $next === null
            ? throw new InvalidArgumentException("the task {$this->name}: $cron is never due")
            : $cron;
    }

    /**
     * @internal
     * @param array<int|string, mixed> $options
     * @throws InvalidArgumentException if an option is no parameter of Queue::push(), or one that
     *     belongs to a single push (delay, at, id)
     */
    public static function check(string $task, array $options): void
    {
        static $known;
        $known ??= array_diff(
            array_column((new ReflectionMethod(Queue::class, 'push'))->getParameters(), 'name'),
            ['body', 'delay', 'at', 'id'],
        );
        foreach ($options as $name => $value) {
            if (!in_array($name, $known, true)) {
                $meant = self::ELSEWHERE[$name] ?? null;
                $hint = $meant === null
                    ? 'there are: ' . implode(', ', $known)
                    : "do you mean $meant?";
                throw new InvalidArgumentException("the task $task has no option $name; $hint");
            }
        }
    }
}
