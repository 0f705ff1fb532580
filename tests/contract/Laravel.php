<?php

declare(strict_types=1);

namespace Dueq\Tests;

use Dueq\Laravel\Job as LaravelJob;
use Dueq\Laravel\Queue as LaravelQueue;

/** The steps on a queue of Laravel's. */
trait Laravel
{
    private LaravelQueue $laravel;

    /** @var array<string, LaravelJob> */
    private array $jobs = [];

    private function doLaravelOpen(array $step): void
    {
        $name = $this->value($step['name'] ?? '${queue}');
        $this->laravel = new LaravelQueue(
            $name,
            self::$server->url(),
            $this->value($step['prefix'] ?? ''),
        );
    }

    private function doLaravelPush(array $step, array $expect, string $where): array
    {
        $jobs = array_map($this->job(...), self::found($step));
        $ids = match (true) {
            isset($step['drafts']) => $this->laravel->pushMany($jobs),
            isset($step['payload']) => [$this->laravel->pushRaw(...$jobs[0])],
            isset($step['command']) => [$this->laravel->pushObject(...$jobs[0])],
            default => [$this->laravel->push(...$jobs[0])],
        };
        return $this->noteJobs($step, $ids, $expect, $where);
    }

    private function doLaravelLater(array $step, array $expect, string $where): array
    {
        return $this->noteJobs(
            $step,
            [$this->laravel->later(...$this->job($step))],
            $expect,
            $where,
        );
    }

    private function noteJobs(array $step, array $ids, array $expect, string $where): array
    {
        $found = self::found($step);
        $this->assertCount(count($found), $ids, $where);
        foreach ($ids as $index => $id) {
            $this->ids[$found[$index]['as'] ?? ''] = $id ?? '';
            if (isset($expect['id'])) {
                $this->assertSame($this->value($expect['id']), $id, $where);
            }
        }
        return array_map(fn ($id) => $id === null ? 'DUPLICATE' : 'OK', $ids);
    }

    /** The arguments of push(), pushRaw() and pushObject(). */
    private function job(array $found): array
    {
        $job = self::seconds($found, ['delay_ms' => 'delay', 'at_ms' => 'at']);
        $names = [
            'payload' => 'payload',
            'job' => 'job',
            'command_name' => 'commandName',
            'command' => 'command',
            'display_name' => 'displayName',
        ];
        foreach ($names as $key => $name) {
            if (isset($found[$key])) {
                $job[$name] = $this->value($found[$key]);
            }
        }
        if (isset($found['data'])) {
            $job['data'] = $this->json($found['data'], false);
        }
        $names = [
            'timeout_s' => 'timeout',
            'backoff_s' => 'backoff',
            'retry_until_s' => 'retryUntil',
            'max_tries' => 'maxTries',
            'max_exceptions' => 'maxExceptions',
            'fail_on_timeout' => 'failOnTimeout',
        ];
        foreach ($names as $key => $name) {
            if (isset($found[$key])) {
                $job[$name] = $found[$key];
            }
        }
        return $job;
    }

    private function doLaravelPop(array $step, array $expect, string $where): array
    {
        $timeout = ($step['timeout_ms'] ?? 0) / 1000;
        $retryAfter = isset($step['retry_after_ms']) ? $step['retry_after_ms'] / 1000 : null;
        $jobs = isset($step['count'])
            ? $this->laravel->popMany($step['count'], $timeout, $retryAfter)
            : array_filter([$this->laravel->pop($timeout, $retryAfter)]);
        $this->assertCount($expect['count'] ?? count($expect['jobs'] ?? $jobs), $jobs, $where);
        foreach ($expect['jobs'] ?? [] as $index => $wanted) {
            $this->assertJob($wanted, $jobs[$index], $where);
        }
        return [$jobs ? 'OK' : 'EMPTY'];
    }

    private function assertJob(array $expected, LaravelJob $job, string $where): void
    {
        foreach ($expected as $key => $wanted) {
            $name = lcfirst(
                str_replace(
                    '_',
                    '',
                    ucwords((string) preg_replace('/_(in_ms|s)$/', '', $key), '_'),
                ),
            );
            if ($key === 'as') {
                $this->jobs[$wanted] = $job;
                $this->ids[$wanted] = $job->uuid ?? $job->id ?? '';
            } elseif ($key === 'until_in_ms') {
                $this->assertTrue($this->isIn($wanted, $job->until), "$key, $where");
            } elseif ($key === 'data') {
                $data = $wanted === null ? null : $this->json($wanted, true);
                $this->assertSame(
                    var_export($data, true),
                    var_export($job->data, true),
                    "$key, $where",
                );
            } elseif ($key === 'backoff_s') {
                $this->assertSame($wanted, $job->backoff, "$key, $where");
            } elseif (is_int($wanted) && !is_string($job->$name)) {
                $this->assertEquals($wanted, $job->$name ?? 0, "$key, $where");
            } else {
                $this->assertSame($this->value($wanted), $job->$name ?? '', "$key, $where");
            }
        }
    }

    private function doLaravelDelete(array $step): array
    {
        if (isset($step['job'])) {
            $this->jobs[$step['job']]->delete();
            return ['OK'];
        }
        $done = $this->laravel->deleteMany($this->values($step['reserved']));
        return array_map(fn ($each) => $each ? 'OK' : 'LEASE_LOST', $done);
    }

    private function doLaravelRelease(array $step): void
    {
        $this->jobs[$step['job']]->release(($step['delay_ms'] ?? 0) / 1000);
    }

    private function doLaravelMigrate(array $step, array $expect, string $where): array
    {
        $moved = $this->laravel->migrate(($step['timeout_ms'] ?? 0) / 1000, $step['most'] ?? 200);
        return $this->moved($moved, $expect, $where);
    }

    private function doLaravelSize(array $step, array $expect, string $where): void
    {
        $this->assertFigures($expect, $this->laravel->size(), $where);
    }

    private function doLaravelClear(array $step, array $expect, string $where): void
    {
        $cleared = $this->laravel->clear();
        $this->assertSame($expect['cleared'] ?? $cleared, $cleared, $where);
    }
}
