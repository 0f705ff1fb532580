<?php

declare(strict_types=1);

namespace Dueq\SymfonyMessenger;

use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Exception\HandlerFailedException;
use Symfony\Component\Messenger\Middleware\MiddlewareInterface;
use Symfony\Component\Messenger\Middleware\StackInterface;
use Symfony\Component\Messenger\Stamp\ReceivedStamp;
use Throwable;

/**
 * Traces the handling of messages that come from a dueq transport. The bundle puts this middleware
 * in front of each bus.
 */
final class TraceMiddleware implements MiddlewareInterface
{
    public function handle(Envelope $envelope, StackInterface $stack): Envelope
    {
        $delivery = $envelope->last(DueqReceivedStamp::class)?->delivery;
        if ($delivery === null || $envelope->last(ReceivedStamp::class) === null) {
            return $stack->next()->handle($envelope, $stack);
        }
        $failed = null;
        try {
            return $delivery->process(function () use ($envelope, $stack, &$failed): Envelope {
                try {
                    return $stack->next()->handle($envelope, $stack);
                } catch (HandlerFailedException $failed) {
                    throw $failed->getPrevious() ?? $failed;
                }
            });
        } catch (Throwable $error) {
            // The span records what the handler threw. Messenger gets its own exception.
            throw $failed ?? $error;
        }
    }
}
