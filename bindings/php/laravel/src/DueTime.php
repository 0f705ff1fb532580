<?php

declare(strict_types=1);

namespace Dueq\LaravelDriver;

use DateInterval;
use DateTimeImmutable;
use DateTimeInterface;

/** Laravel's ways to say when a job is due, in dueq's words. */
final class DueTime
{
    /**
     * The named argument of Dueq\Queue::push(): a point of time stays one, to its millisecond.
     *
     * @return array{at: DateTimeInterface}|array{delay: float}
     */
    public static function argument(DateTimeInterface|DateInterval|float|int|string|null $when): array
    {
        return $when instanceof DateTimeInterface ? ['at' => $when] : ['delay' => self::seconds($when)];
    }

    /** Seconds from now; 0 for what is past. */
    public static function seconds(DateTimeInterface|DateInterval|float|int|string|null $when): float
    {
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
