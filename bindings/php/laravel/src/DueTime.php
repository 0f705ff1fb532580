<?php

declare(strict_types=1);

namespace Dueq\LaravelDriver;

use DateInterval;
use DateTimeImmutable;
use DateTimeInterface;

/** Converts Laravel's delays and times for dueq. */
final class DueTime
{
    /**
     * The named argument for Dueq\Queue::push(). A point in time stays one, exact to the
     * millisecond.
     *
     * @return array{at: DateTimeInterface}|array{delay: float}
     */
    public static function argument(
        DateTimeInterface|DateInterval|float|int|string|null $when,
    ): array {
        return $when instanceof DateTimeInterface
            ? ['at' => $when]
            : ['delay' => self::seconds($when)];
    }

    /** How many seconds from now $when is; 0 if $when is in the past. */
    public static function seconds(
        DateTimeInterface|DateInterval|float|int|string|null $when,
    ): float {
        if ($when instanceof DateInterval) {
            $now = new DateTimeImmutable();

            return self::between($now, $now->add($when));
        }
        if ($when instanceof DateTimeInterface) {
            return self::between(new DateTimeImmutable(), $when);
        }

        return max(0.0, (float) $when);
    }

    private static function between(DateTimeInterface $from, DateTimeInterface $to): float
    {
        return max(0.0, (float) $to->format('U.u') - (float) $from->format('U.u'));
    }
}
