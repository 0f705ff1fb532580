<?php

declare(strict_types=1);

namespace Dueq\Testing;

use Dueq\Queue;
use Dueq\Worker;
use Dueq\Worker\Job;
use PHPUnit\Framework\Attributes\After;
use PHPUnit\Framework\Attributes\Before;

/**
 * For a test case of PHPUnit: a private server, whose queues are empty when a test begins. While the test runs, the
 * environment's DUEQ_URL names it, so that the program under test uses it.
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

    /** Where the test's server is, as of Dueq\Queue::__construct(). */
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
     * Runs the tasks of a worker that wait on the test's server, as Drain::run().
     *
     * @param Worker $worker made within the test, without a URL
     * @param list<string>|null $queues
     * @return list<Job>
     * @throws \LogicException the worker is of another server
     * @throws \Throwable what a job throws
     */
    protected function drain(Worker $worker, ?array $queues = null, bool $delayed = false, int $most = 1000): array
    {
        return Drain::run($worker, $queues, $delayed, $most);
    }
}
