<?php

declare(strict_types=1);

/*
 * The stamps of Messenger's bridge to Amazon SQS: those of the distribution's package, if it is
 * installed (Debian: php-symfony-amazon-sqs-messenger), else classes of the same names with the
 * method that the transport reads. AmazonSqsFairQueueStamp is in Symfony 8.1.
 */

namespace Symfony\Component\Messenger\Bridge\AmazonSqs\Transport;

use Symfony\Component\Messenger\Stamp\NonSendableStampInterface;

$file = strtr(AmazonSqsFifoStamp::class, '\\', '/') . '.php';
if (stream_resolve_include_path($file) !== false) {
    require_once $file;
}

if (!class_exists(AmazonSqsFifoStamp::class)) {
    final class AmazonSqsFifoStamp implements NonSendableStampInterface
    {
        public function __construct(private ?string $group = null)
        {
        }

        public function getMessageGroupId(): ?string
        {
            return $this->group;
        }
    }
}

if (!class_exists(AmazonSqsFairQueueStamp::class)) {
    final class AmazonSqsFairQueueStamp implements NonSendableStampInterface
    {
        public function __construct(private string $group)
        {
        }

        public function getMessageGroupId(): string
        {
            return $this->group;
        }
    }
}
