<?php

declare(strict_types=1);

namespace App;

use Dueq\Queue;
use Psr\Container\ContainerInterface;

/** A container that makes each class with the journal. */
final class Services implements ContainerInterface
{
    public readonly Queue $journal;

    public function __construct()
    {
        $this->journal = new Queue('journal');
    }

    public function get($id)
    {
        return new $id($this->journal);
    }

    public function has($id): bool
    {
        return class_exists($id);
    }
}
