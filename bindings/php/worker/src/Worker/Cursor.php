<?php

declare(strict_types=1);

namespace Dueq\Worker;

use InvalidArgumentException;

/**
 * What a job keeps in the header `cursor` of its message: its checkpoint, its steps and its
 * progress (docs/internals/protocol.md, The cursor of a job).
 *
 * @internal
 */
final class Cursor
{
    /** The first word of a cursor with steps or a progress. No JSON begins with it. */
    private const MARK = 'dueq';

    private const MOST_NAME = 255;

    private const MOST_NOTE = 255;

    /**
     * @param string $checkpoint as JSON; '': there was none
     * @param string $progress the share, and behind a space the note; '': there was none
     * @param list<string> $steps of each step its name and its value as JSON, in their order:
     *     {"charge":17}
     */
    private function __construct(
        public readonly string $checkpoint = '',
        public readonly string $progress = '',
        private readonly array $steps = [],
    ) {
    }

    /** @param string|null $text the header; null: the message has none */
    public static function read(?string $text): self
    {
        $lines = explode("\n", $text ?? '');
        [$mark, $progress] = explode(' ', $lines[0], 2) + ['', ''];

        return $mark === self::MARK && count($lines) > 1
            ? new self($lines[1], $progress, array_slice($lines, 2))
            : new self($text ?? '');
    }

    /** The header. */
    public function text(): string
    {
        if ($this->progress === '' && $this->steps === []) {
            return $this->checkpoint;
        }
        $first = self::MARK . ($this->progress === '' ? '' : " {$this->progress}");

        return implode("\n", [$first, $this->checkpoint, ...$this->steps]);
    }

    /**
     * The value of the checkpoint; null: there was none.
     *
     * @throws \JsonException
     */
    public function value(): mixed
    {
        return $this->checkpoint === '' ? null : Json::read($this->checkpoint);
    }

    /** @throws \JsonException if JSON cannot express the value */
    public function withCheckpoint(mixed $value): self
    {
        return new self(Json::write($value), $this->progress, $this->steps);
    }

    /** @param string $step as madeStep() makes it */
    public function withStep(string $step): self
    {
        return new self($this->checkpoint, $this->progress, [...$this->steps, $step]);
    }

    public function withProgress(string $progress): self
    {
        return new self($this->checkpoint, $progress, $this->steps);
    }

    /**
     * The value of a step, in an array; []: there is none of this name.
     *
     * @return array{}|array{mixed}
     * @throws \JsonException
     */
    public function step(string $name): array
    {
        foreach ($this->steps as $step) {
            $kept = Json::read($step);
            if (is_array($kept) && array_key_exists($name, $kept)) {
                return [$kept[$name]];
            }
        }

        return [];
    }

    /** @throws \JsonException if JSON cannot express the value */
    public static function madeStep(string $name, mixed $value): string
    {
        try {
            return Json::write((object) [$name => $value]);
        } catch (\JsonException $error) {
            throw new \JsonException(
                "step $name: what the function returned: {$error->getMessage()}",
                $error->getCode(),
                $error,
            );
        }
    }

    /** @throws InvalidArgumentException for a name that a step cannot have */
    public static function checkStep(string $name): void
    {
        if ($name === '' || strlen($name) > self::MOST_NAME || preg_match('//u', $name) !== 1) {
            throw new InvalidArgumentException(
                'step: a name has 1 to ' . self::MOST_NAME . ' bytes of UTF-8',
            );
        }
    }

    /** @throws InvalidArgumentException if the share is not 0 to 1 */
    public static function madeProgress(float $share, string $note): string
    {
        if (!($share >= 0.0 && $share <= 1.0)) {
            throw new InvalidArgumentException("progress: $share is not 0 to 1");
        }
        $number = rtrim(rtrim(sprintf('%.4F', $share), '0'), '.');
        $line = preg_replace('/[\x00-\x1f\x7f]/', ' ', $note) ?? '';
        $cut = substr($line, 0, self::MOST_NOTE);
        // A character that was cut leaves up to 3 bytes.
        for ($left = $cut === $line ? 0 : 3; $left > 0 && preg_match('//u', $cut) !== 1; $left--) {
            $cut = substr($cut, 0, -1);
        }

        return rtrim("$number $cut", ' ');
    }
}
