<?php

declare(strict_types=1);

namespace Dueq\Worker;

use Dueq\Client;
use Dueq\Consumer;

/**
 * Where a process takes messages from.
 *
 * @internal
 */
final class Source
{
    /** Seconds: the longest time that dueq knows. A job's lease is kept as long as its process lives. */
    private const WITHOUT_END = 4102444800.0;

    /** @var list<string> */
    private readonly array $queues;

    /**
     * @param list<string> $known the queues of the worker
     * @param float $timeout seconds without a message after which a consumer's loop ends
     */
    public function __construct(
        private readonly Client $client,
        private readonly Options $options,
        array $known,
        private readonly float $timeout,
    ) {
        $this->queues = $options->queues ?? ($known ?: ['default']);
    }

    /** A consumer, which goes on until it is stopped. With weights each looks at another queue first. */
    public function open(): Consumer
    {
        $order = $this->options->queues === null ? 'round robin' : 'preference';

        return $this->client->queues($this->weighted(), $order)->consume(
            prefetch: $this->options->prefetch,
            lease: $this->options->lease,
            maxRun: self::WITHOUT_END,
            timeout: $this->timeout,
        );
    }

    /** After how many messages the next consumer's turn comes; null: there are no turns. */
    public function turn(): ?int
    {
        return $this->options->weights === null ? null : $this->options->prefetch;
    }

    /** @return list<string> the queues, the first of which is chosen by its weight, and so is the second of the rest ... */
    private function weighted(): array
    {
        $weights = $this->options->weights ?? [];
        $order = [];
        while ($weights !== []) {
            $at = random_int(1, array_sum($weights));
            foreach ($weights as $name => $weight) {
                $at -= $weight;
                if ($at <= 0) {
                    break;
                }
            }
            $order[] = (string) $name;
            unset($weights[$name]);
        }

        return $order ?: $this->queues;
    }
}
