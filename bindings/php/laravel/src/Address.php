<?php

declare(strict_types=1);

namespace Dueq\LaravelDriver;

use Illuminate\Contracts\Container\Container;
use Illuminate\Support\ConfigurationUrlParser;
use InvalidArgumentException;

/**
 * The server and the prefix of a connection of config/queue.php. The names of the connection's
 * queues on the server begin with the prefix.
 */
final class Address
{
    public function __construct(private readonly Container $app)
    {
    }

    /**
     * @param array<string, mixed> $config the connection
     * @return string|null the server's URL for Dueq\Client::__construct(); null: DUEQ_URL, or the
     *     user's private server
     * @throws InvalidArgumentException if the connection names no server, DUEQ_URL is not set, and
     *     the environment is neither local nor testing; or as redis()
     */
    public function url(#[\SensitiveParameter] array $config): ?string
    {
        if (($config['url'] ?? '') !== '') {
            return $config['url'];
        }
        $redis = $this->redis($config);
        if ($redis !== null) {
            return self::urlOf($redis);
        }
        if ((string) getenv('DUEQ_URL') === '' && !$this->isLocal()) {
            throw new InvalidArgumentException(
                'A queue connection of the driver dueq names no server: set DUEQ_URL in .env '
                    . '(redis://host:6379/0), or "url", or "connection" (a Redis connection of '
                    . 'config/database.php), in config/queue.php. Only the environments local and '
                    . 'testing need none: there each user gets a private server.',
            );
        }

        return null;
    }

    /** @param array<string, mixed> $config the connection */
    public function prefix(#[\SensitiveParameter] array $config): string
    {
        $redis = isset($config['prefix']) ? null : $this->redis($config);

        return $redis === null
            ? $config['prefix'] ?? ''
            : (string) (
                $redis['prefix']
                ?? $redis['options']['prefix']
                ?? $this->config()['options']['prefix']
                ?? ''
            );
    }

    /**
     * Refuses a prefix that is the beginning of another connection's prefix on the same server, or
     * the other way round: totals and lists of the shorter prefix would include the queues of the
     * longer one.
     *
     * @param array<string, mixed> $config the connection
     * @throws InvalidArgumentException
     */
    public function refuseNestedPrefix(#[\SensitiveParameter] array $config): void
    {
        $prefix = $this->prefix($config);
        foreach ($this->app->make('config')->get('queue.connections') ?? [] as $name => $other) {
            if (($other['driver'] ?? '') !== 'dueq' || !$this->isOnServerOf($config, $other)) {
                continue;
            }
            [$short, $long] = [$prefix, $this->prefix($other)];
            if (strlen($short) > strlen($long)) {
                [$short, $long] = [$long, $short];
            }
            if ($short !== '' && $short !== $long && str_starts_with($long, $short)) {
                throw new InvalidArgumentException(
                    "A queue connection of the driver dueq has the prefix \"$prefix\", and the "
                        . "connection [$name] has \"{$this->prefix($other)}\" on the same server: "
                        . "one begins with the other, so the totals of \"$short\" would count the "
                        . 'queues of both. Change one in config/queue.php, for example by a ":" at '
                        . 'the end of each.',
                );
            }
        }
    }

    /**
     * @param array<string, mixed> $config a connection
     * @param array<string, mixed> $other another connection, which may be invalid
     */
    private function isOnServerOf(
        #[\SensitiveParameter] array $config,
        #[\SensitiveParameter] array $other,
    ): bool {
        try {
            return $this->url($config) === $this->url($other);
        } catch (InvalidArgumentException) {
            return false;
        }
    }

    private function isLocal(): bool
    {
        return method_exists($this->app, 'environment')
            && $this->app->environment('local', 'testing');
    }

    /** @return array<string, mixed> the Redis part of config/database.php */
    private function config(): array
    {
        return $this->app->make('config')->get('database.redis') ?? [];
    }

    /**
     * The Redis connection that a queue connection names, its URL taken apart as Laravel does;
     * null: the queue connection names none.
     *
     * @param array<string, mixed> $connection
     * @return array<string, mixed>|null
     * @throws InvalidArgumentException if that Redis connection is a cluster, or is not configured
     */
    private function redis(#[\SensitiveParameter] array $connection): ?array
    {
        $name = $connection['connection'] ?? '';
        if ($name === '' || ($connection['url'] ?? '') !== '') {
            return null;
        }
        $config = $this->config();
        if (isset($config[$name])) {
            return (new ConfigurationUrlParser())->parseConfiguration($config[$name]);
        }
        throw new InvalidArgumentException(
            isset($config['clusters'][$name])
                ? "The Redis connection [$name] is a cluster, which the queue driver dueq does not "
                    . 'support: set "url" instead of "connection".'
                : "The Redis connection [$name], which a queue connection of the driver dueq "
                    . 'names, is not configured.',
        );
    }

    /**
     * @param array<string, mixed> $redis a Redis connection, read as Laravel's two Redis clients
     *     read it
     */
    private static function urlOf(#[\SensitiveParameter] array $redis): string
    {
        $host = (string) ($redis['host'] ?? '127.0.0.1');
        // parseConfiguration() puts the scheme of a URL into "driver".
        $scheme = strtolower($redis['driver'] ?? $redis['scheme'] ?? 'tcp');
        if (preg_match('~^([a-z]+)://(.*)$~i', $host, $parts)) {
            [$scheme, $host] = [strtolower($parts[1]), $parts[2]];
        }
        $login = self::login($redis);
        $database = (int) ($redis['database'] ?? 0);
        if ($scheme === 'unix' || str_starts_with($host, '/')) {
            $path = (string) ($redis['path'] ?? $host);

            return "unix://$login" . str_replace('%2F', '/', rawurlencode($path)) . "?db=$database";
        }
        $secure = in_array($scheme, ['tls', 'ssl', 'rediss'], true);
        $host = trim($host, '[]');
        $host = str_contains($host, ':') ? "[$host]" : rawurlencode($host);
        $port = (int) ($redis['port'] ?? 6379);

        return ($secure ? 'rediss' : 'redis')
            . "://$login$host:$port/$database"
            . ($secure ? self::files($redis) : '');
    }

    /** @param array<string, mixed> $redis */
    private static function login(#[\SensitiveParameter] array $redis): string
    {
        $password = $redis['password'] ?? '';
        [$user, $password] = is_array($password)
            ? $password
            : [$redis['username'] ?? '', $password];

        return (string) $password === ''
            ? ''
            : rawurlencode((string) $user) . ':' . rawurlencode((string) $password) . '@';
    }

    /**
     * @param array<string, mixed> $redis a Redis connection, with its TLS files under the names of
     *     PHP's stream contexts
     */
    private static function files(#[\SensitiveParameter] array $redis): string
    {
        $context = $redis['context'] ?? [];
        $context = $redis['ssl'] ?? $context['stream'] ?? $context['ssl'] ?? $context;
        $certificate = $context['local_cert'] ?? null;
        $query = http_build_query([
            'ca' => $context['cafile'] ?? null,
            'cert' => $certificate,
            'key' => $context['local_pk'] ?? $certificate,
        ], '', '&', PHP_QUERY_RFC3986);

        return $query === '' ? '' : "?$query";
    }
}
