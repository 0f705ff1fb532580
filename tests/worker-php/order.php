<?php

declare(strict_types=1);

namespace Dueq\Tests\Worker;

use DateTimeImmutable;

enum Status: string
{
    case Open = 'open';
    case Paid = 'paid';
}

enum Level: int
{
    case Low = 1;
    case High = 2;
}

enum Nameless
{
    case One;
}

final class Line
{
    public function __construct(public readonly string $sku, private readonly string $price)
    {
    }

    public function getPrice(): string
    {
        return $this->price;
    }
}

final class Order
{
    public function __construct(
        public readonly int $id,
        public readonly DateTimeImmutable $placed,
        public readonly Status $status,
        public readonly Line|null $first = null,
    ) {
    }
}

final class Node
{
    public function __construct(public ?Node $next = null)
    {
    }
}

final class Loose
{
    /** @var list<Line> */
    public array $lines = [];

    public function addLine(Line $line): void
    {
        $this->lines[] = $line;
    }

    public function removeLine(Line $line): void
    {
    }
}
