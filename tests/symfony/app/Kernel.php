<?php

declare(strict_types=1);

namespace App;

use Dueq\SymfonyMessenger\DueqMessengerBundle;
use Symfony\Bundle\FrameworkBundle\FrameworkBundle;
use Symfony\Component\Config\Loader\LoaderInterface;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\HttpKernel\Kernel as BaseKernel;

/**
 * An application with two transports of dueq: "async", and "failed" for messages that failed. Its
 * folder is $APP_FOLDER.
 */
final class Kernel extends BaseKernel
{
    public function registerBundles(): iterable
    {
        return [new FrameworkBundle(), new DueqMessengerBundle()];
    }

    public function registerContainerConfiguration(LoaderInterface $loader): void
    {
        $loader->load(function (ContainerBuilder $container): void {
            $container->loadFromExtension('framework', [
                'secret' => 'of the tests',
                'messenger' => [
                    'failure_transport' => 'failed',
                    'transports' => [
                        'async' => [
                            'dsn' => '%env(MESSENGER_DSN)%',
                            'options' => ['wait' => 1, 'lease' => 1],
                            'retry_strategy' => [
                                'max_retries' => 2,
                                'delay' => 100,
                                'multiplier' => 1,
                            ],
                        ],
                        'failed' => '%env(MESSENGER_DSN)%',
                    ],
                    'routing' => [Note::class => 'async'],
                ],
            ]);
            $container->register(NoteHandler::class)->addTag('messenger.message_handler');
            $container->setAlias('test.bus', 'messenger.default_bus')->setPublic(true);
        });
    }

    public function getProjectDir(): string
    {
        return (string) getenv('APP_FOLDER');
    }

    public function getCacheDir(): string
    {
        return $this->getProjectDir() . '/cache';
    }

    public function getLogDir(): string
    {
        return $this->getProjectDir() . '/log';
    }
}
