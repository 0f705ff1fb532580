<?php

declare(strict_types=1);

namespace Dueq\Worker;

use Closure;
use Dueq\Task;
use InvalidArgumentException;
use Psr\Container\ContainerInterface;
use ReflectionFunction;
use ReflectionFunctionAbstract;
use ReflectionMethod;
use ReflectionNamedType;

/**
 * Runs the jobs of a task, or of a queue.
 *
 * @internal
 */
final class Handler
{
    /**
     * @param Task $task has the time limits of the jobs
     * @param callable|class-string $handler as for Worker::on()
     * @throws InvalidArgumentException if $handler is neither a callable nor a class
     */
    public function __construct(
        public readonly Task $task,
        private readonly mixed $handler,
        private readonly ?ContainerInterface $container,
    ) {
        if (!is_callable($handler) && !class_exists($handler)) {
            throw new InvalidArgumentException(
                "the handler of {$task->name} is neither a callable nor a class: $handler",
            );
        }
    }

    public function call(Job $job): mixed
    {
        $handler = is_callable($this->handler)
            ? ($this->handler)(...)
            : self::made($this->handler, $this->container);

        return self::takesJob(new ReflectionFunction($handler))
            ? $handler($job, ...$job->arguments)
            : $handler(...$job->arguments);
    }

    /**
     * Makes an object of a class, and returns its method __invoke() or handle().
     *
     * @param class-string $class
     * @return Closure(mixed...): mixed
     * @throws InvalidArgumentException if the class has neither method
     */
    public static function made(string $class, ?ContainerInterface $container): Closure
    {
        $object = $container !== null ? $container->get($class) : new $class();
        $method = self::methodOf($object);
        if (!is_callable([$object, $method])) {
            throw new InvalidArgumentException("$class has neither __invoke() nor handle()");
        }

        return $object->$method(...);
    }

    /** Whether the handler has a parameter that a task without arguments does not give. */
    public function needsArguments(): bool
    {
        $given = $this->handler;
        $function = is_callable($given)
            ? new ReflectionFunction($given(...))
            : new ReflectionMethod($given, self::methodOf($given));

        return $function->getNumberOfRequiredParameters() > (self::takesJob($function) ? 1 : 0);
    }

    private static function methodOf(object|string $class): string
    {
        return method_exists($class, '__invoke') ? '__invoke' : 'handle';
    }

    private static function takesJob(ReflectionFunctionAbstract $handler): bool
    {
        $type = ($handler->getParameters()[0] ?? null)?->getType();

        return $type instanceof ReflectionNamedType && $type->getName() === Job::class;
    }
}
