<?php

declare(strict_types=1);

namespace Dueq\Worker;

use BackedEnum;
use DateInterval;
use DateTime;
use DateTimeImmutable;
use DateTimeInterface;
use DateTimeZone;
use JsonException;
use ReflectionClass;
use ReflectionNamedType;
use ReflectionParameter;
use ReflectionType;
use ReflectionUnionType;
use Symfony\Component\Serializer\Normalizer\DenormalizerInterface;
use Symfony\Component\Serializer\Normalizer\NormalizerInterface;
use Throwable;
use UnexpectedValueException;

/**
 * The JSON forms of arguments that JSON does not have, as docs/internals/protocol.md lists them.
 *
 * @internal
 */
final class Forms
{
    /** How deep values may be nested: the limit of json_encode(). */
    private const DEPTH = 512;

    private const MOMENT = '/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/D';

    /**
     * @param (NormalizerInterface&DenormalizerInterface)|null $normalizer writes and reads classes;
     *     null: only those of which the constructor promotes every parameter have a form
     */
    public function __construct(
        private readonly (NormalizerInterface&DenormalizerInterface)|null $normalizer = null,
    ) {
    }

    /**
     * What JSON has for a value and for what is inside it. An object without a form is returned as
     * it is.
     *
     * @throws JsonException for an interval of months or years, or values that are nested too deep
     * @throws Throwable what the normalizer throws
     */
    public function write(mixed $value, int $depth = 0): mixed
    {
        if ($depth > self::DEPTH) {
            throw new JsonException('Maximum stack depth exceeded');
        }
        if (is_array($value)) {
            return array_map(fn (mixed $inner) => $this->write($inner, $depth + 1), $value);
        }
        if ($value instanceof DateTimeInterface) {
            $utc = DateTimeImmutable::createFromInterface($value)
                ->setTimezone(new DateTimeZone('UTC'));

            $fraction = $utc->format('u') === '000000' ? '' : '.u';

            return $utc->format("Y-m-d\\TH:i:s$fraction\\Z");
        }
        if ($value instanceof DateInterval) {
            return self::seconds($value);
        }
        if (!is_object($value) || Json::has($value)) {
            return $value;
        }
        if ($this->normalizer !== null) {
            return $this->normalizer->normalize($value, 'json');
        }
        $promoted = self::promoted($value::class);
        if ($promoted === null) {
            return $value;
        }
        $fields = [];
        foreach ($promoted as $name => $parameter) {
            $property = $parameter->getDeclaringClass()?->getProperty($name);
            $fields[$name] = $this->write($property?->getValue($value), $depth + 1);
        }

        return (object) $fields;
    }

    /** Whether values of a type may have another form in JSON. */
    public function has(?ReflectionType $type): bool
    {
        foreach (self::named($type) as $one) {
            if (!$one->isBuiltin() && $this->reads($one->getName())) {
                return true;
            }
        }

        return false;
    }

    /**
     * The value of a type that write() wrote. A value of the type, and of a type without a form,
     * is returned as it is.
     *
     * @throws UnexpectedValueException for anything else
     * @throws Throwable what the normalizer or a constructor throws
     */
    public function read(?ReflectionType $type, mixed $value): mixed
    {
        if (!$this->has($type) || ($value === null && $type?->allowsNull())) {
            return $value;
        }
        $failure = null;
        $others = false;
        foreach (self::named($type) as $one) {
            $class = $one->getName();
            if ($one->isBuiltin() || !$this->reads($class)) {
                $others = $others || $class !== 'null';
                continue;
            }
            try {
                return $value instanceof $class ? $value : $this->readAs($class, $value);
            } catch (Throwable $error) {
                $failure ??= $error;
            }
        }

        return $others || $failure === null ? $value : throw $failure;
    }

    private function reads(string $class): bool
    {
        return is_a($class, DateTimeInterface::class, true)
            || $class === DateInterval::class
            || self::isEnum($class)
            || ($this->normalizer !== null && class_exists($class))
            || self::promoted($class) !== null;
    }

    /** @throws Throwable */
    private function readAs(string $class, mixed $value): mixed
    {
        if (is_a($class, DateTimeInterface::class, true)) {
            return self::moment($class, $value);
        }
        if ($class === DateInterval::class) {
            return self::interval($value);
        }
        if (self::isEnum($class)) {
            foreach ($class::cases() as $case) {
                if ($case->value === $value) {
                    return $case;
                }
            }
            throw new UnexpectedValueException(self::shown($value) . " is no value of $class");
        }
        if ($this->normalizer !== null) {
            return $this->normalizer->denormalize($value, $class, 'json');
        }

        return $this->object($class, $value);
    }

    /** @throws Throwable */
    private function object(string $class, mixed $value): object
    {
        if (!is_array($value) || ($value !== [] && array_is_list($value))) {
            throw new UnexpectedValueException(
                self::shown($value) . " is not an object with the fields of $class",
            );
        }
        $promoted = self::promoted($class) ?? [];
        $unknown = array_diff_key($value, $promoted);
        if ($unknown !== []) {
            throw new UnexpectedValueException(
                "$class has no field " . implode(', ', array_keys($unknown)),
            );
        }
        foreach ($promoted as $name => $parameter) {
            if (array_key_exists($name, $value)) {
                try {
                    $value[$name] = $this->read($parameter->getType(), $value[$name]);
                } catch (Throwable $error) {
                    throw new UnexpectedValueException("$name: {$error->getMessage()}", 0, $error);
                }
            } elseif (!$parameter->isOptional()) {
                throw new UnexpectedValueException("the field $name of $class is missing");
            }
        }

        return new $class(...$value);
    }

    private static function isEnum(string $class): bool
    {
        return enum_exists($class) && is_a($class, BackedEnum::class, true);
    }

    /**
     * The parameters of a constructor by their names.
     *
     * @return array<string, ReflectionParameter>|null null: the class has no constructor, or one
     *     with a parameter that is no property
     */
    private static function promoted(string $class): ?array
    {
        /** @var array<string, array<string, ReflectionParameter>|null> $known */
        static $known = [];
        if (array_key_exists($class, $known)) {
            return $known[$class];
        }
        $found = [];
        $reflection = class_exists($class) ? new ReflectionClass($class) : null;
        if ($reflection?->isInstantiable()) {
            foreach ($reflection->getConstructor()?->getParameters() ?? [] as $parameter) {
                if (!$parameter->isPromoted()) {
                    return $known[$class] = null;
                }
                $found[$parameter->getName()] = $parameter;
            }
        }

        return $known[$class] = $found === [] ? null : $found;
    }

    /** @return list<ReflectionNamedType> */
    private static function named(?ReflectionType $type): array
    {
        $types = match (true) {
            $type instanceof ReflectionNamedType => [$type],
            $type instanceof ReflectionUnionType => $type->getTypes(),
            default => [],
        };

        return array_values(array_filter(
            $types,
            fn (ReflectionType $one) => $one instanceof ReflectionNamedType,
        ));
    }

    /** @throws Throwable */
    private static function moment(string $class, mixed $value): DateTimeInterface
    {
        if (!is_string($value) || preg_match(self::MOMENT, $value) !== 1) {
            throw new UnexpectedValueException(
                self::shown($value)
                    . ' is not a point of time with its zone, such as "2026-11-28T17:30:00Z"',
            );
        }
        $class = $class === DateTimeInterface::class ? DateTimeImmutable::class : $class;
        $read = new $class($value);

        return $read instanceof DateTime || $read instanceof DateTimeImmutable
            ? $read->setTimezone(new DateTimeZone('UTC'))
            : $read;
    }

    /** @throws UnexpectedValueException */
    private static function interval(mixed $value): DateInterval
    {
        if ((!is_int($value) && !is_float($value)) || abs($value) > 1e12) {
            throw new UnexpectedValueException(self::shown($value) . ' is not a number of seconds');
        }
        $whole = (int) abs($value);
        $interval = new DateInterval("PT{$whole}S");
        $interval->f = round(abs($value) - $whole, 6);
        $interval->invert = $value < 0 ? 1 : 0;

        return $interval;
    }

    /** @throws JsonException */
    private static function seconds(DateInterval $value): int|float
    {
        if ($value->days === false && ($value->y !== 0 || $value->m !== 0)) {
            throw new JsonException(
                'an interval of months or years has no fixed length: give days, or a point of time',
            );
        }
        $days = $value->days === false ? $value->d : $value->days;
        $seconds = $days * 86400 + $value->h * 3600 + $value->i * 60 + $value->s;
        $seconds = $value->f == 0.0 ? $seconds : $seconds + $value->f;

        return $value->invert === 1 ? -$seconds : $seconds;
    }

    private static function shown(mixed $value): string
    {
        $text = json_encode($value, JSON_PARTIAL_OUTPUT_ON_ERROR | JSON_UNESCAPED_SLASHES);

        return strlen((string) $text) > 60 ? substr((string) $text, 0, 57) . '...' : (string) $text;
    }
}
