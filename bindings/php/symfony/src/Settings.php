<?php

declare(strict_types=1);

namespace Dueq\SymfonyMessenger;

use Symfony\Component\Messenger\Exception\InvalidArgumentException;

/**
 * The settings of a transport, from its DSN and its options.
 *
 * @internal
 */
final class Settings
{
    private const NAMES = [
        'queue', 'lease', 'max_run', 'wait',
        'fetch_size', 'max_crashes', 'dead_letter', 'persistent',
    ];

    /** Seconds: the longest time that dueq accepts. */
    private const WITHOUT_END = 4102444800.0;

    /**
     * @param string|null $url the server's URL, as for Dueq\Client::__construct()
     * @param string $transport the transport's name in messenger.yaml
     * @param float $lease seconds after which other workers get the message of a killed worker
     * @param float $maxRun seconds for which a lease is extended while its worker lives
     * @param float $wait seconds for which get() waits for a message
     * @param int $fetchSize how many messages get() takes by default
     * @param int|null $maxCrashes as for Dueq\Queue::push(), like $deadLetter
     */
    private function __construct(
        #[\SensitiveParameter] public readonly ?string $url,
        public readonly string $transport,
        public readonly string $queue,
        public readonly float $lease,
        public readonly float $maxRun,
        public readonly float $wait,
        public readonly int $fetchSize,
        public readonly ?int $maxCrashes,
        public readonly ?string $deadLetter,
        public readonly ?bool $persistent,
    ) {
    }

    /**
     * @param string $dsn dueq://[user:password@]host[:port][/db]; dueq+URL with any URL of dueq; or
     *     "dueq://" alone for the server that DUEQ_URL names. Options may follow behind "?"
     * @param array<mixed> $options the options of the DSN override these
     * @throws InvalidArgumentException for a wrong option, or if no server is named
     */
    public static function of(
        #[\SensitiveParameter] string $dsn,
        #[\SensitiveParameter] array $options,
    ): self {
        [$place, $query] = explode('?', $dsn, 2) + [1 => ''];
        $rest = [];
        foreach (array_filter(explode('&', $query), fn (string $pair) => $pair !== '') as $pair) {
            [$name, $value] = array_map(urldecode(...), explode('=', $pair, 2) + [1 => '']);
            if (in_array($name, self::NAMES, true)) {
                $options[$name] = $value;
            } else {
                $rest[] = $pair;
            }
        }
        $transport = (string) ($options['transport_name'] ?? $options['queue'] ?? 'messages');
        $queue = (string) ($options['queue'] ?? $transport);
        unset($options['transport_name']);
        $unknown = array_diff(array_keys($options), self::NAMES);
        if ($unknown !== []) {
            self::refuse(
                'there is no option ' . implode(', ', $unknown)
                    . '; there are: ' . implode(', ', self::NAMES),
            );
        }

        return new self(
            self::url($place, $rest),
            $transport,
            $queue,
            self::number($options, 'lease', 0.05, 8.0),
            self::number($options, 'max_run', 0.0, self::WITHOUT_END),
            self::number($options, 'wait', 0.0, 0.0),
            (int) self::number($options, 'fetch_size', 1.0, 1.0),
            ($options['max_crashes'] ?? '') === 'none'
                ? null
                : (int) self::number($options, 'max_crashes', 1.0, 5.0),
            ($options['dead_letter'] ?? '') === '' ? null : (string) $options['dead_letter'],
            isset($options['persistent']) ? self::yes($options['persistent']) : null,
        );
    }

    /**
     * @param string $place the DSN up to "?"
     * @param list<string> $rest the options behind "?" that belong to the URL
     */
    private static function url(#[\SensitiveParameter] string $place, array $rest): ?string
    {
        $url = match (true) {
            str_starts_with($place, 'dueq+') => substr($place, strlen('dueq+')),
            in_array($place, ['dueq:', 'dueq://'], true) => null,
            default => 'redis' . substr($place, strlen('dueq')),
        };
        if ($url === null && (string) getenv('DUEQ_URL') === '') {
            self::refuse(
                'its DSN names no server, and DUEQ_URL is not set: use a DSN such as '
                    . 'dueq://host:6379/0, or dueq+embedded:DIR for a private server',
            );
        }
        if ($url === null && $rest !== []) {
            self::refuse(
                'a DSN without a server has options of the transport only, not '
                    . implode(', ', $rest),
            );
        }

        return $url === null || $rest === [] ? $url : $url . '?' . implode('&', $rest);
    }

    /** @param array<mixed> $options */
    private static function number(array $options, string $name, float $least, float $else): float
    {
        $given = $options[$name] ?? null;
        if ($given === null) {
            return $else;
        }
        $number = filter_var($given, FILTER_VALIDATE_FLOAT);
        if ($number === false || $number < $least) {
            self::refuse(
                "its option $name is a number of at least $least, not "
                    . get_debug_type($given)
                    . ' '
                    . json_encode($given),
            );
        }

        return $number;
    }

    private static function yes(mixed $given): bool
    {
        return filter_var($given, FILTER_VALIDATE_BOOL, FILTER_NULL_ON_FAILURE)
            ?? self::refuse('its option persistent is yes or no');
    }

    private static function refuse(string $why): never
    {
        throw new InvalidArgumentException("The dueq transport: $why.");
    }
}
