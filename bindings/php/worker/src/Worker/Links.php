<?php

declare(strict_types=1);

namespace Dueq\Worker;

use DateInterval;
use DateTimeImmutable;
use DateTimeInterface;
use Dueq\Backoff;
use Dueq\BackoffKind;
use Dueq\Jitter;
use Dueq\Message;
use Dueq\Replace;
use Dueq\Settlement;
use stdClass;
use Throwable;
use UnexpectedValueException;

/**
 * The header of a link of a chain (docs/internals/protocol.md, Chains).
 *
 * @internal
 * @phpstan-import-type Draft from \Dueq\QueueInterface
 */
final class Links
{
    public const CHAIN = 'dueq-chain';

    public const FAILED = 'dueq-failed';

    /** The options of a draft in the order of the form, and their names in it. */
    private const OPTIONS = [
        'delay' => 'delay_ms',
        'at' => 'at_ms',
        'id' => 'id',
        'maxAttempts' => 'max_attempts',
        'lease' => 'lease_ms',
        'headers' => 'headers',
        'priority' => 'priority',
        'ttl' => 'ttl_ms',
        'backoff' => 'backoff',
        'maxCrashes' => 'max_crashes',
        'drop' => 'drop',
        'deadLetter' => 'dead_letter',
        'unique' => 'unique_ms',
        'replace' => 'replace',
        'replicas' => 'replicas',
        'disk' => 'disk',
        'durableTimeout' => 'durable_timeout_ms',
        'key' => 'key',
        'group' => 'group',
        'keep' => 'keep_ms',
    ];

    private const DURATIONS = ['delay', 'at', 'lease', 'ttl', 'unique', 'durableTimeout', 'keep'];

    /** What a draft has that names no such option. */
    private const DEFAULTS = [
        'maxAttempts' => 16,
        'maxCrashes' => 5,
        'headers' => [],
        'priority' => 0,
        'drop' => false,
        'replicas' => 0,
        'disk' => false,
    ];

    /** The queue of the next link; null: this is the last one. */
    public readonly ?string $nextQueue;

    private readonly ?stdClass $next;

    /** @param list<string> $rest the links behind this one */
    private function __construct(
        public readonly int $link,
        public readonly int $links,
        public readonly string $task,
        public readonly string $catchQueue,
        private readonly string $catch,
        private readonly array $rest,
    ) {
        $this->next = $rest === [] ? null : self::read($rest[0]);
        $this->nextQueue = $this->next?->queue;
    }

    /**
     * The chain of a message.
     *
     * @return self|null null: the message is no link of a chain
     * @throws UnexpectedValueException if the header cannot be read
     */
    public static function of(Message $message): ?self
    {
        $text = $message->headers[self::CHAIN] ?? null;
        if ($text === null) {
            return null;
        }
        $lines = explode("\n", $text);
        if (count($lines) < 3 || preg_match('/^(\d+) (\d+) (.*)$/sD', $lines[1], $found) !== 1) {
            throw new UnexpectedValueException('the header ' . self::CHAIN . ' is not a chain');
        }

        return new self(
            (int) $found[1],
            (int) $found[2],
            $found[3],
            $lines[0],
            $lines[2],
            array_slice($lines, 3),
        );
    }

    /** @param list<string> $rest */
    public static function made(
        int $link,
        int $links,
        string $task,
        string $catchQueue,
        string $catch,
        array $rest,
    ): string {
        return implode("\n", [$catchQueue, "$link $links $task", $catch, ...$rest]);
    }

    /**
     * The message of the next link.
     *
     * @param mixed $result what the handler has returned
     * @return Draft
     * @throws \JsonException if JSON cannot express the result
     */
    public function following(mixed $result, Forms $forms): array
    {
        assert($this->next !== null);
        $task = $this->next->headers->task ?? '';
        try {
            $draft = self::draft($this->next, $result, $forms);
        } catch (\JsonException $error) {
            throw new \JsonException(
                'what the handler returned goes to the next link of the chain, the task '
                    . "$task: {$error->getMessage()}",
                $error->getCode(),
                $error,
            );
        }
        $rest = array_slice($this->rest, 1);
        if ($rest !== [] || $this->catchQueue !== '') {
            $draft['headers'] = ($draft['headers'] ?? []) + [self::CHAIN => self::made(
                $this->link + 1,
                $this->links,
                $task,
                $this->catchQueue,
                $this->catch,
                $rest,
            )];
        }

        return $draft;
    }

    /**
     * How to settle a message that says that a link of a chain has failed: it pushes the task of
     * catch().
     *
     * @return array{Decision, string}|null the decision, and what the log says; null: the message
     *     is another one
     * @throws UnexpectedValueException if the message cannot be read
     */
    public static function caught(Message $message, Forms $forms): ?array
    {
        if (!isset($message->headers[self::FAILED]) || isset($message->headers['task'])) {
            return null;
        }
        $chain = self::of($message)
            ?? throw new UnexpectedValueException('the message has no header ' . self::CHAIN);
        [$id, $queue, $error] = explode("\n", $message->headers[self::FAILED], 3) + ['', '', ''];
        $link = self::read($chain->catch);
        $draft = self::draft($link, [
            'link' => $chain->link,
            'task' => $chain->task,
            'queue' => $queue,
            'id' => $id,
            'error' => $error,
        ], $forms);
        $to = $link->queue === $message->queue ? null : $link->queue;

        return [
            new Decision(Settlement::Ack, successors: [$draft], to: $to),
            "chain: link {$chain->link} of {$chain->links} failed, the task {$chain->task} $id: "
                . "the catch is pushed to {$link->queue}",
        ];
    }

    /**
     * A draft as JSON.
     *
     * @param array<string, mixed> $draft
     * @param list<int|string> $gaps the places of the arguments that are not known yet
     */
    public static function write(string $queue, array $draft, array $gaps): string
    {
        $link = ['queue' => $queue, 'body' => $draft['body']];
        if ($gaps !== []) {
            $link['gaps'] = $gaps;
        }
        foreach (self::OPTIONS as $name => $wire) {
            if (!array_key_exists($name, $draft)) {
                continue;
            }
            $value = $draft[$name];
            if ($value === (self::DEFAULTS[$name] ?? null)) {
                continue;
            }
            $link[$wire] = match (true) {
                $name === 'maxAttempts' || $name === 'maxCrashes' => $value ?? 0,
                in_array($name, self::DURATIONS, true) => self::ms($value),
                $name === 'headers' => (object) $value,
                $name === 'backoff' => self::backoffJson($value),
                $name === 'replace' => $value === Replace::Body ? 'replace_body' : 'replace',
                default => $value,
            };
        }

        return Json::write($link);
    }

    /** @throws UnexpectedValueException */
    private static function read(string $text): stdClass
    {
        try {
            $link = json_decode($text, false, 512, JSON_THROW_ON_ERROR);
            $known = ['queue', 'body', 'gaps', ...self::OPTIONS];
            $sound = $link instanceof stdClass && is_string($link->queue ?? null)
                && is_string($link->body ?? null)
                && array_diff(array_keys((array) $link), $known) === [];
            if (!$sound) {
                throw new UnexpectedValueException('it is no draft');
            }
            if (($link->gaps ?? []) !== []) {
                $body = self::body($link);
                foreach ($link->gaps as $place) {
                    $there = is_int($place)
                        ? array_key_exists($place, $body->args)
                        : property_exists($body->kwargs, $place);
                    if (!$there) {
                        throw new UnexpectedValueException("there is no argument $place");
                    }
                }
            }
            // What is no option of a draft shows before the job runs.
            self::options($link);

            return $link;
        } catch (Throwable $error) {
            throw new UnexpectedValueException(
                'a link in the header ' . self::CHAIN . " cannot be read: {$error->getMessage()}",
                0,
                $error,
            );
        }
    }

    /**
     * @param mixed $value of the arguments that were not known
     * @return Draft
     */
    private static function draft(stdClass $link, mixed $value, Forms $forms): array
    {
        $text = $link->body;
        if (($link->gaps ?? []) !== []) {
            $body = self::body($link);
            $written = $forms->write($value);
            foreach ($link->gaps as $place) {
                if (is_int($place)) {
                    $body->args[$place] = $written;
                } else {
                    $body->kwargs->$place = $written;
                }
            }
            $text = Json::write($body);
        }

        /** @var Draft */
        return ['body' => $text] + self::options($link);
    }

    private static function body(stdClass $link): stdClass
    {
        return json_decode($link->body, false, 512, JSON_THROW_ON_ERROR | JSON_BIGINT_AS_STRING);
    }

    /** @return array<string, mixed> */
    private static function options(stdClass $link): array
    {
        $options = [];
        foreach (self::OPTIONS as $name => $wire) {
            if (!isset($link->$wire)) {
                continue;
            }
            $value = $link->$wire;
            $options[$name] = match (true) {
                $name === 'maxAttempts' || $name === 'maxCrashes' => $value === 0 ? null : $value,
                in_array($name, self::DURATIONS, true) => $value / 1000,
                $name === 'headers' => (array) $value,
                $name === 'backoff' => self::backoff($value),
                $name === 'replace' => $value === 'replace_body'
                    ? Replace::Body
                    : Replace::Message,
                default => $value,
            };
        }

        return $options;
    }

    /** Whole milliseconds, rounded up, of seconds, an interval or a time. */
    private static function ms(float|int|DateInterval|DateTimeInterface $value): int
    {
        if ($value instanceof DateInterval) {
            $start = new DateTimeImmutable('@0');
            $value = $start->add($value);
        }
        $seconds = $value instanceof DateTimeInterface ? (float) $value->format('U.u') : $value;

        // A float's own error must not count as one more millisecond.
        return (int) ceil(round($seconds * 1000, 3));
    }

    /** @return array<string, mixed> */
    private static function backoffJson(mixed $value): array
    {
        $backoff = match (true) {
            $value instanceof Backoff => $value,
            is_array($value) => Backoff::list($value),
            default => Backoff::fixed($value instanceof DateInterval ? $value : (float) $value),
        };
        $made = ['kind' => $backoff->kind->value];
        if ($backoff->jitter !== Jitter::None) {
            $made['jitter'] = $backoff->jitter->value;
        }
        if ($backoff->kind === BackoffKind::List) {
            $made['list_ms'] = array_map(self::ms(...), $backoff->delays);
        } else {
            $made['base_ms'] = self::ms($backoff->base ?? 0.0);
        }
        if ($backoff->cap !== null) {
            $made['cap_ms'] = self::ms($backoff->cap);
        }

        return $made;
    }

    private static function backoff(stdClass $made): Backoff
    {
        $jitter = Jitter::from($made->jitter ?? 'none');
        $base = ($made->base_ms ?? 0) / 1000;
        $cap = isset($made->cap_ms) ? $made->cap_ms / 1000 : null;

        return match (BackoffKind::from($made->kind)) {
            BackoffKind::Fixed => Backoff::fixed($base, $jitter),
            BackoffKind::Linear => Backoff::linear($base, $cap, $jitter),
            BackoffKind::Exponential => Backoff::exponential($base, $cap, $jitter),
            BackoffKind::List => Backoff::list(
                array_map(fn (int $ms) => $ms / 1000, $made->list_ms),
                $jitter,
            ),
        };
    }
}
