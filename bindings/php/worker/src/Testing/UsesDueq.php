<?php

declare(strict_types=1);

namespace Dueq\Testing;

use Dueq\Queue;
use Dueq\Worker;
use Dueq\Worker\Job;
use PHPUnit\Framework\Attributes\After;
use PHPUnit\Framework\Attributes\Before;

/**
 * For test cases of PHPUnit: a private server whose queues are empty when a test begins. During the
 * test the environment variable DUEQ_URL names this server, so that the program under test uses it.
 *
 *     final class ReceiptTest extends TestCase
 *     {
 *         use Dueq\Testing\UsesDueq;
 *
 *         public function testReceiptIsSent(): void
 *         {
 *             (new Dueq\Tasks())->push('send_receipt', [17], queue: 'mail');
 *             $this->assertCount(1, $this->drain(require __DIR__ . '/../worker.php'));
 *         }
 *     }
 */
trait UsesDueq
{
    private string|false $urlBeforeDueq = false;

    /**
     * @before
     * @internal
     */
    #[Before]
    protected function beginDueq(): void
    {
        PrivateServer::clear();
        $this->urlBeforeDueq = getenv('DUEQ_URL');
        putenv('DUEQ_URL=' . PrivateServer::url());
    }

    /**
     * @after
     * @internal
     */
    #[After]
    protected function endDueq(): void
    {
        putenv($this->urlBeforeDueq === false ? 'DUEQ_URL' : "DUEQ_URL={$this->urlBeforeDueq}");
    }

    /** The URL of the test's server, for Dueq\Queue::__construct(). */
    protected function dueqUrl(): string
    {
        return PrivateServer::url();
    }

    /** A queue of the test's server. */
    protected function dueqQueue(string $name = 'default'): Queue
    {
        return new Queue($name, PrivateServer::url());
    }

    /**
     * Runs the ready tasks of a worker on the test's server, as Drain::run().
     *
     * @param Worker $worker made within the test, without a URL
     * @param list<string>|null $queues as for Drain::run(), like $delayed and $most
     * @return list<Job>
     * @throws \LogicException if the worker uses another server
     * @throws \Throwable what a job throws
     */
    protected function drain(
        Worker $worker,
        ?array $queues = null,
        bool $delayed = false,
        int $most = 1000,
    ): array {
        return Drain::run($worker, $queues, $delayed, $most);
    }
}
