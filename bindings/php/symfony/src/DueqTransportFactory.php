<?php

declare(strict_types=1);

namespace Dueq\SymfonyMessenger;

use Dueq\Exception\InvalidException;
use Psr\Log\LoggerInterface;
use Psr\Log\NullLogger;
use Symfony\Component\Messenger\Exception\InvalidArgumentException;
use Symfony\Component\Messenger\Transport\Serialization\SerializerInterface;
use Symfony\Component\Messenger\Transport\TransportFactoryInterface;
use Symfony\Component\Messenger\Transport\TransportInterface;

/**
 * Makes transports from DSNs that begin with "dueq:" or "dueq+", see Settings::of().
 *
 * @implements TransportFactoryInterface<DueqTransport>
 */
final class DueqTransportFactory implements TransportFactoryInterface
{
    /**
     * @param LoggerInterface|null $logger gets events that fail no call: a lost lease, a server
     *     that is away
     */
    public function __construct(private readonly ?LoggerInterface $logger = null)
    {
    }

    /**
     * @param array<mixed> $options as for Settings::of()
     * @throws InvalidArgumentException
     */
    public function createTransport(
        #[\SensitiveParameter] string $dsn,
        array $options,
        SerializerInterface $serializer,
    ): TransportInterface {
        $settings = Settings::of($dsn, $options);
        try {
            return new DueqTransport($settings, $serializer, $this->logger ?? new NullLogger());
        } catch (InvalidException $error) {
            throw new InvalidArgumentException(
                "The dueq transport: {$error->getMessage()}",
                0,
                $error,
            );
        }
    }

    /** @param array<mixed> $options */
    public function supports(#[\SensitiveParameter] string $dsn, array $options): bool
    {
        return preg_match('/^dueq[:+]/', $dsn) === 1;
    }
}
