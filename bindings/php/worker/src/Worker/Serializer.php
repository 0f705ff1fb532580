<?php

declare(strict_types=1);

namespace Dueq\Worker;

/** How the arguments of a task are bytes. */
interface Serializer
{
    /**
     * @param list<mixed> $args arguments by their order
     * @param array<string, mixed> $kwargs arguments by their names
     */
    public function encode(array $args, array $kwargs): string;

    /**
     * @return array{list<mixed>, array<string, mixed>} what encode() got
     * @throws \Throwable when these are not the bytes of arguments
     */
    public function decode(string $body): array;
}
