<?php

declare(strict_types=1);

namespace Dueq\Tests\Laravel;

use Laravel\Horizon\Events\JobDeleted;
use Laravel\Horizon\Events\JobFailed;
use Laravel\Horizon\Events\JobPending;
use Laravel\Horizon\Events\JobPushed;
use Laravel\Horizon\Events\JobReleased;
use Laravel\Horizon\Events\JobReserved;

/** The events that tell Laravel Horizon of jobs, with Horizon's own classes. */
final class HorizonTest extends LaravelTestCase
{
    /** @var list<string> "NAME QUEUE ID-OF-THE-PAYLOAD" */
    private array $events = [];

    protected function setUp(): void
    {
        parent::setUp();
        $sources = getenv('DUEQ_HORIZON') ?: '';
        if ($sources === '') {
            $this->markTestSkipped(
                'Horizon is no package of Debian: DUEQ_HORIZON names a directory of its sources',
            );
        }
        spl_autoload_register(function (string $class) use ($sources): void {
            if (str_starts_with($class, 'Laravel\Horizon\\')) {
                $file = "$sources/src/"
                    . strtr(substr($class, strlen('Laravel\Horizon\\')), '\\', '/')
                    . '.php';
                is_file($file) && require $file;
            }
        });
        // A complete Laravel has this function. The distribution's does not.
        $config = 'function config($key, $default = null) { return $default; }';
        function_exists('config') || eval($config);
        $classes = [
            JobPending::class, JobPushed::class, JobReserved::class,
            JobReleased::class, JobDeleted::class, JobFailed::class,
        ];
        foreach ($classes as $class) {
            $this->app->container['events']->listen($class, function (object $event): void {
                $this->assertSame('dueq', $event->connectionName);
                $this->events[] = (new \ReflectionClass($event))->getShortName()
                    . " {$event->queue} {$event->payload->id()}";
            });
        }
    }

    public function testAJobThatIsReleasedAndDone(): void
    {
        $id = $this->queue()->pushOn('mails', new Act('a', 'release 0'));
        $this->work('mails', maxTries: 3);
        $this->work('mails', maxTries: 3);
        $this->assertSame([
            ...$this->pushed("mails $id"), "JobReserved mails $id",
            "JobReleased mails $id", "JobReserved mails $id", "JobDeleted mails $id",
        ], $this->events);
    }

    public function testAJobThatFails(): void
    {
        $id = $this->queue()->push(new Act('a', 'throw'));
        $this->work();
        $this->assertSame([
            ...$this->pushed("default $id"), "JobReserved default $id",
            "JobDeleted default $id", "JobFailed default $id",
        ], $this->events);
        $this->assertCount(1, $this->app->failed());
    }

    public function testJobsInBulkAndForLater(): void
    {
        $this->queue()->bulk([new Act('a'), new Act('b')]);
        $this->queue()->later(60, new Act('c'));
        $this->assertCount(3, preg_grep('/^JobPushed default/', $this->events));
    }

    public function testThePayloadHasWhatHorizonShows(): void
    {
        $this->queue()->push(new Act('a'));
        $payload = $this->queue()->pop()->payload();
        $this->assertSame(
            ['job', [], false],
            [$payload['type'], $payload['tags'], $payload['silenced']],
        );
        $this->assertEqualsWithDelta(microtime(true), (float) $payload['pushedAt'], 60.0);
    }

    public function testARawPayloadStaysUnchanged(): void
    {
        $payload = '{"uuid":"u-1","displayName":"X","job":"X@fire","data":{"a":1.0}}';
        $this->queue()->pushRaw($payload);
        $this->queue()->pushRaw('not JSON');
        $this->assertSame($payload, $this->queue()->pop()->getRawBody());
        $this->assertSame(
            [...$this->pushed('default u-1'), 'JobReserved default u-1'],
            $this->events,
        );
    }

    /** @return list<string> the events of a push: older versions of Horizon have no JobPending */
    private function pushed(string $what): array
    {
        return class_exists(JobPending::class)
            ? ["JobPending $what", "JobPushed $what"]
            : ["JobPushed $what"];
    }
}
