<?php

declare(strict_types=1);

namespace Dueq\Worker;

use Closure;
use Dueq\Provided;
use InvalidArgumentException;
use LogicException;
use ReflectionFunction;
use ReflectionMethod;
use ReflectionNamedType;
use ReflectionParameter;
use Throwable;
use UnexpectedValueException;

/**
 * The arguments that a handler takes.
 *
 * @internal
 */
final class Arguments
{
    /** Whether the first parameter of the handler is the job. */
    public readonly bool $takesJob;

    /** @var list<ReflectionParameter> those behind the job, without a variadic one */
    private readonly array $places;

    private readonly ?ReflectionParameter $rest;

    /** @var array<string, ReflectionParameter> those of $places by name */
    private readonly array $names;

    /** @var list<string> the names of those that a middleware provides */
    private readonly array $provided;

    private readonly bool $hasForms;

    /**
     * @param string $task its name, for errors
     * @param (callable(mixed...): mixed)|class-string $handler
     */
    public function __construct(
        private readonly string $task,
        callable|string $handler,
        private readonly Forms $forms,
    ) {
        $places = self::parameters($handler);
        $type = ($places[0] ?? null)?->getType();
        $this->takesJob = $type instanceof ReflectionNamedType && $type->getName() === Job::class;
        if ($this->takesJob) {
            array_shift($places);
        }
        $last = $places === [] ? null : $places[array_key_last($places)];
        $this->rest = $last?->isVariadic() ? array_pop($places) : null;
        $this->places = $places;
        $this->names = array_column(
            array_map(fn (ReflectionParameter $one) => [$one->getName(), $one], $places),
            1,
            0,
        );
        $this->provided = array_keys(array_filter(
            $this->names,
            fn (ReflectionParameter $one) => $one->getAttributes(Provided::class) !== [],
        ));
        $this->hasForms = array_filter(
            [...$places, $this->rest],
            fn (?ReflectionParameter $one) => $forms->has($one?->getType()),
        ) !== [];
    }

    /** Whether a push must give some: there are others than those that a middleware provides. */
    public function areNeeded(): bool
    {
        $needed = array_filter($this->names, fn (ReflectionParameter $one) => !$one->isOptional());

        return array_diff(array_keys($needed), $this->provided) !== [];
    }

    /**
     * Checks the arguments of a push.
     *
     * @param array<mixed> $given
     * @param Closure(): array<mixed> $read reads the arguments from the body of the push
     * @throws InvalidArgumentException for a missing, an unknown or a wrong argument
     */
    public function check(array $given, Closure $read): void
    {
        $count = count(array_filter(array_keys($given), is_int(...)));
        foreach ($this->places as $place => $parameter) {
            $name = $parameter->getName();
            $isGiven = $place < $count || array_key_exists($name, $given);
            if (!$isGiven && !$parameter->isOptional() && !in_array($name, $this->provided, true)) {
                throw new InvalidArgumentException("the task {$this->task}: $name is missing");
            }
        }
        $unknown = array_diff_key(
            array_filter($given, is_string(...), ARRAY_FILTER_USE_KEY),
            $this->names,
        );
        if ($unknown !== [] && $this->rest === null) {
            throw new InvalidArgumentException(
                "the task {$this->task} takes no argument " . implode(', ', array_keys($unknown)),
            );
        }
        try {
            $this->refuseProvided($given);
            if ($this->hasForms) {
                $this->read($read());
            }
        } catch (UnexpectedValueException $error) {
            throw new InvalidArgumentException($error->getMessage(), 0, $error);
        }
    }

    /**
     * The arguments of a job, as the types of the handler's parameters say.
     *
     * @param array<mixed> $arguments as the body has them
     * @return array<mixed>
     * @throws UnexpectedValueException for a wrong argument
     */
    public function read(array $arguments): array
    {
        $this->refuseProvided($arguments);
        if (!$this->hasForms) {
            return $arguments;
        }
        foreach ($arguments as $key => $value) {
            $parameter = (is_int($key) ? $this->places : $this->names)[$key] ?? $this->rest;
            try {
                $arguments[$key] = $this->forms->read($parameter?->getType(), $value);
            } catch (Throwable $error) {
                $name = is_int($key) && $parameter === $this->rest
                    ? 'argument ' . ($key + 1)
                    : (is_int($key) ? $parameter?->getName() : $key);
                throw new UnexpectedValueException(
                    "the task {$this->task}: $name: {$error->getMessage()}",
                    0,
                    $error,
                );
            }
        }

        return $arguments;
    }

    /**
     * Of the values of Job::provide() those that the handler takes.
     *
     * @param array<string, mixed> $values
     * @return array<string, mixed>
     * @throws LogicException if the handler needs more
     */
    public function provided(array $values): array
    {
        $missing = array_diff($this->provided, array_keys($values));
        if ($missing !== []) {
            throw new LogicException(
                "the task {$this->task}: no middleware provides " . implode(', ', $missing),
            );
        }

        return array_intersect_key($values, $this->names);
    }

    /** The method of a handler's class that takes the arguments. */
    public static function methodOf(object|string $class): string
    {
        return method_exists($class, '__invoke') ? '__invoke' : 'handle';
    }

    /**
     * @param array<mixed> $arguments
     * @throws UnexpectedValueException
     */
    private function refuseProvided(array $arguments): void
    {
        foreach ($this->places as $place => $parameter) {
            $name = $parameter->getName();
            if (
                in_array($name, $this->provided, true)
                && (array_key_exists($place, $arguments) || array_key_exists($name, $arguments))
            ) {
                throw new UnexpectedValueException(
                    "the task {$this->task}: only a middleware may provide $name",
                );
            }
        }
    }

    /**
     * @param (callable(mixed...): mixed)|class-string $handler
     * @return list<ReflectionParameter>
     */
    private static function parameters(callable|string $handler): array
    {
        if (is_callable($handler)) {
            return (new ReflectionFunction($handler(...)))->getParameters();
        }
        $method = self::methodOf($handler);

        return method_exists($handler, $method)
            ? (new ReflectionMethod($handler, $method))->getParameters()
            : [];
    }
}
