<?php

declare(strict_types=1);

namespace Dueq\SymfonyMessenger;

use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\ContainerInterface;
use Symfony\Component\DependencyInjection\Reference;
use Symfony\Component\HttpKernel\Bundle\Bundle;

/** Makes the transport known to an application: it goes into config/bundles.php, and needs no configuration. */
final class DueqMessengerBundle extends Bundle
{
    public function build(ContainerBuilder $container): void
    {
        parent::build($container);
        $container->register('dueq.messenger.transport_factory', DueqTransportFactory::class)
            ->addArgument(new Reference('logger', ContainerInterface::NULL_ON_INVALID_REFERENCE))
            ->addTag('monolog.logger', ['channel' => 'messenger'])
            ->addTag('messenger.transport_factory');
    }
}
