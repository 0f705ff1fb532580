<?php

declare(strict_types=1);

namespace Dueq\Worker;

/** Encodes the arguments of a task as the body of a message, and decodes them. */
interface Serializer
{
    /**
     * @param list<mixed> $args arguments by position
     * @param array<string, mixed> $kwargs arguments by name
     * @return string the body of the message
     * @throws \Throwable if an argument cannot be encoded
     */
    public function encode(array $args, array $kwargs): string;

    /**
     * @return array{list<mixed>, array<string, mixed>} the two arguments of encode()
     * @throws \Throwable if $body was not made by encode()
     */
    public function decode(string $body): array;
}
