<?php

declare(strict_types=1);

namespace Dueq;

use InvalidArgumentException;
use ReflectionMethod;

/**
 * What is known of a task beside its handler. As an attribute it makes a class the handler of the task:
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
    /** Seconds between the end of a time limit and the end of the process that did not heed it. */
    public const GRACE = 10.0;

    /** @var array<string, mixed> */
    public readonly array $options;

    /** Seconds until the process of the job is killed; null: never. */
    public readonly ?float $killAfter;

    /** What other libraries call an option, and which is meant. */
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

    /** @var list<class-string>|null */
    private readonly ?array $retryOn;

    /** @var list<class-string> */
    private readonly array $failOn;

    /**
     * @param string $name 1 to 255 bytes of UTF-8 without control characters
     * @param string $queue where its messages are pushed to
     * @param float|null $timeout seconds until a TimeLimitExceeded is thrown in the handler; parts of a second are
     *     rounded up. null: no limit
     * @param float|null $killAfter seconds until the process of the job is killed, which ends also a handler that
     *     waits inside of a function of PHP; null: 10 s after $timeout
     * @param string|null $serializer a serializer that producer and worker know by this name; null: JSON
     * @param class-string|list<class-string>|null $retryOn a job that throws something else has failed for good, as by
     *     Job::fail(); null: all is retried
     * @param class-string|list<class-string> $failOn a job that throws an object of one of these classes has failed for
     *     good, even if $retryOn names a parent of its class
     * @param (callable(Worker\Job, \Throwable): mixed)|class-string|null $onExhausted as of Worker::onExhausted(), in place of that of the worker
     * @param mixed ...$options of its messages, as named arguments of Queue::push(): maxAttempts, backoff, ttl,
     *     priority, unique ...
     * @throws InvalidArgumentException
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
        mixed ...$options,
    ) {
        if (strlen($name) > 255 || !preg_match('/^[^\x00-\x1f\x7f]+$/Du', $name)) {
            throw new InvalidArgumentException('the name of a task is 1 to 255 bytes of UTF-8 without control characters');
        }
        if (($timeout ?? 1.0) <= 0.0 || ($killAfter ?? INF) < ($timeout ?? 0.001)) {
            throw new InvalidArgumentException("the task $name: timeout is more than 0, and killAfter at least that");
        }
        self::check($name, $options);
        foreach ([...(array) $retryOn, ...(array) $failOn] as $class) {
            if (!is_string($class) || !(class_exists($class) || interface_exists($class))) {
                throw new InvalidArgumentException("the task $name: retryOn and failOn name classes, and there is none " . json_encode($class));
            }
        }
        if ($onExhausted !== null && !is_callable($onExhausted) && !(is_string($onExhausted) && class_exists($onExhausted))) {
            throw new InvalidArgumentException("the task $name: onExhausted is neither a callable nor a class");
        }
        $this->retryOn = $retryOn === null ? null : array_values((array) $retryOn);
        $this->failOn = array_values((array) $failOn);
        $this->killAfter = $killAfter ?? ($timeout === null ? null : $timeout + self::GRACE);
        $this->options = $options;
    }

    /** Whether a job that throws this is not retried. */
    public function isFinal(\Throwable $error): bool
    {
        /** @param list<class-string> $classes */
        $is = fn (array $classes): bool => array_filter($classes, fn (string $class) => $error instanceof $class) !== [];

        return ($this->retryOn !== null && !$is($this->retryOn)) || $is($this->failOn);
    }

    /**
     * The attribute of a class.
     *
     * @param class-string $class
     * @return self|null null: it has none
     */
    public static function of(string $class): ?self
    {
        $attributes = (new \ReflectionClass($class))->getAttributes(self::class);

        return $attributes === [] ? null : $attributes[0]->newInstance();
    }

    /**
     * @internal
     * @param array<int|string, mixed> $options
     * @throws InvalidArgumentException for a name that Queue::push() does not have, or that belongs to a single push
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
                $hint = $meant === null ? 'there are: ' . implode(', ', $known) : "do you mean $meant?";
                throw new InvalidArgumentException("the task $task has no option $name; $hint");
            }
        }
    }
}
