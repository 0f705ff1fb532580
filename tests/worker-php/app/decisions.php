<?php

declare(strict_types=1);

use App\Services;
use Dueq\Worker;
use Dueq\Worker\Job;

$services = new Services();
$say = $services->journal->push(...);
$told = function (Job $job, Throwable $error) use ($say): void {
    $what = $job->arguments[0];
    $say("exhausted {$job->task} $what " . $error::class . " {$error->getMessage()}");
    if ($what === 'stubborn') {
        $job->retry();
    }
};

return (new Worker(container: $services))
    ->on('decide', function (Job $job, string $what) use ($say): void {
        switch ($what) {
            case 'retry':
                if ($job->message->attempt === 1) {
                    $job->push('decide', ['never']);
                    $job->retry(delay: 0.01, error: 'not yet');
                }
                break;
            case 'exhaust':
                $job->retry(delay: 60.0, error: new DomainException('bank'));
                // no break
            case 'fail':
                $job->fail('no such order');
                // no break
            case 'release':
                $job->release(delay: 3600.0);
                // no break
            case 'push':
                $job->push('decide', ['successor'], id: 'twin');
                $job->push('decide', ['successor'], id: 'twin');
                break;
            case 'elsewhere':
                $job->push('decide', ['successor'], delay: 0.01, queue: 'rare');
                break;
            case 'late':
                $queue = new Dueq\Queue('decide');
                $queue->cancel($job->message->id);
                $say('late');
                $job->retry(error: 'too late');
                // no break
            case 'hush':
                try {
                    $job->fail('hushed up');
                } catch (Throwable) {
                }
        }
        $say("$what at {$job->message->attempt}");
    }, queue: 'decide', maxAttempts: 3)
    ->on(
        'choose',
        function (Job $job, string $what) use ($say): void {
            $say("$what at {$job->message->attempt}");
            match ($what) {
                'busy' => throw new RuntimeException('busy'),
                'away' => throw new OverflowException('away'),
                'fail' => $job->fail('no such order'),
                'stuck' => sleep(60),
                default => throw new DomainException($what),
            };
        },
        queue: 'decide',
        killAfter: 0.5,
        retryOn: RuntimeException::class,
        failOn: [OverflowException::class],
        maxAttempts: 2,
        backoff: 0.0,
    )
    ->on(
        'own',
        fn (string $what) => throw new DomainException($what),
        queue: 'decide',
        maxAttempts: 1,
        onExhausted: fn () => throw new LogicException('the hook fails'),
    )
    ->onQueue('rare', fn () => null)
    ->onExhausted($told);
