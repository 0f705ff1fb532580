<?php

declare(strict_types=1);

namespace Dueq;

/**
 * Marks a parameter of a handler whose argument a middleware gives, by Worker\Job::provide(). A
 * push cannot give it.
 *
 *     public function __invoke(int $order, #[Dueq\Provided] Connection $db): void { ... }
 */
#[\Attribute(\Attribute::TARGET_PARAMETER)]
final class Provided
{
}
