<?php

declare(strict_types=1);

namespace Dueq\Worker;

use Closure;
use Dueq\Task;
use InvalidArgumentException;
use Psr\Container\ContainerInterface;

/**
 * Runs the jobs of a task, or of a queue.
 *
 * @internal
 */
final class Handler
{
    /** What the handler takes. */
    public readonly Arguments $arguments;

    /**
     * @param Task $task has the time limits of the jobs
     * @param callable|class-string $handler as for Worker::on()
     * @throws InvalidArgumentException if $handler is neither a callable nor a class
     */
    public function __construct(
        public readonly Task $task,
        private readonly mixed $handler,
        private readonly ?ContainerInterface $container,
        Forms $forms,
    ) {
        if (!is_callable($handler) && !class_exists($handler)) {
            throw new InvalidArgumentException(
                "the handler of {$task->name} is neither a callable nor a class: $handler",
            );
        }
        $this->arguments = new Arguments($task->name, $handler, $forms);
    }

    public function call(Job $job): mixed
    {
        $handler = is_callable($this->handler)
            ? ($this->handler)(...)
            : self::made($this->handler, $this->container);
        $arguments = array_replace(
            $job->arguments,
            $this->arguments->provided($job->handOver()),
        );

        return $this->arguments->takesJob
            ? $handler($job, ...$arguments)
            : $handler(...$arguments);
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
        $method = Arguments::methodOf($object);
        if (!is_callable([$object, $method])) {
            throw new InvalidArgumentException("$class has neither __invoke() nor handle()");
        }

        return $object->$method(...);
    }
}
