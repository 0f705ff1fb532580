<?php

declare(strict_types=1);

namespace Dueq;

use RuntimeException;

/**
 * The job whose result was asked for has none: it failed for good, or its message was cancelled,
 * purged, or expired.
 */
final class TaskFailed extends RuntimeException
{
    /** Of a job that failed: its last error, as the worker reported it. It may be empty. */
    public readonly string $error;

    /** @param End $end how the message ended */
    public function __construct(public readonly End $end)
    {
        $this->error = $end->error;
        $word = $end->outcome === 'expired' ? 'not delivered in its time to live' : $end->outcome;
        parent::__construct(
            $end->outcome === 'dead'
                ? "the job {$end->id} failed: {$end->error}"
                : "the message of the job {$end->id} was $word",
        );
    }
}
