<?php

declare(strict_types=1);

namespace Dueq\LaravelDriver;

use Dueq\Client;
use Illuminate\Contracts\Container\Container;
use Illuminate\Queue\Connectors\ConnectorInterface;

/** Makes the queue of a connection of config/queue.php. */
final class DueqConnector implements ConnectorInterface
{
    /**
     * The lease where the configuration sets none: seconds after which another worker gets the job
     * of a killed worker.
     */
    private const LEASE = 8.0;

    public function __construct(private readonly Container $app)
    {
    }

    /**
     * @param array{
     *     url?: string|null,
     *     connection?: string|null,
     *     prefix?: string|null,
     *     persistent?: bool|null,
     *     queue?: string,
     *     lease?: float|int|null,
     *     retry_after?: float|int|null,
     *     max_run?: float|int|null,
     *     block_for?: float|int|null,
     *     after_commit?: bool|null
     * } $config times in seconds. README.md explains each key
     */
    public function connect(#[\SensitiveParameter] array $config): DueqQueue
    {
        $address = new Address($this->app);
        $address->refuseNestedPrefix($config);

        return new DueqQueue(
            new Client($address->url($config), $config['persistent'] ?? null),
            $address->prefix($config),
            $config['queue'] ?? 'default',
            (float) ($config['lease'] ?? $config['retry_after'] ?? self::LEASE),
            isset($config['max_run']) ? (float) $config['max_run'] : null,
            self::timeout($config['block_for'] ?? null),
            (bool) ($config['after_commit'] ?? false),
        );
    }

    /** As in Laravel's redis driver, null does not wait, and 0 waits without end. */
    private static function timeout(float|int|null $blockFor): float
    {
        return match (true) {
            $blockFor === null => 0.0,
            $blockFor == 0 => INF,
            default => (float) $blockFor,
        };
    }
}
