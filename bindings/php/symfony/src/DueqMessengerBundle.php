<?php

declare(strict_types=1);

namespace Dueq\SymfonyMessenger;

use Symfony\Component\DependencyInjection\Compiler\CompilerPassInterface;
use Symfony\Component\DependencyInjection\Compiler\PassConfig;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\ContainerInterface;
use Symfony\Component\DependencyInjection\Reference;
use Symfony\Component\HttpKernel\Bundle\Bundle;

/**
 * Registers the transport in an application. List this bundle in config/bundles.php. It needs no
 * configuration.
 */
final class DueqMessengerBundle extends Bundle implements CompilerPassInterface
{
    public function build(ContainerBuilder $container): void
    {
        parent::build($container);
        $container->register('dueq.messenger.transport_factory', DueqTransportFactory::class)
            ->addArgument(new Reference('logger', ContainerInterface::NULL_ON_INVALID_REFERENCE))
            ->addTag('monolog.logger', ['channel' => 'messenger'])
            ->addTag('messenger.transport_factory');
        $container->register('dueq.messenger.trace', TraceMiddleware::class);
        // Must run before Messenger's own pass, which makes the buses.
        $container->addCompilerPass($this, PassConfig::TYPE_BEFORE_OPTIMIZATION, 10);
    }

    /** Puts the tracing middleware in front of each bus. */
    public function process(ContainerBuilder $container): void
    {
        foreach (array_keys($container->findTaggedServiceIds('messenger.bus')) as $bus) {
            if ($container->hasParameter("$bus.middleware")) {
                $middleware = (array) $container->getParameter("$bus.middleware");
                $container->setParameter(
                    "$bus.middleware",
                    [['id' => 'dueq.messenger.trace'], ...$middleware],
                );
            }
        }
    }
}
