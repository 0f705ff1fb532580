<?php

declare(strict_types=1);

namespace Dueq\Tests;

/** A private php-fpm of one worker, with this extension. */
final class Fpm
{
    private readonly string $directory;

    /** @var resource */
    private $process;

    /** @param list<string> $settings of php.ini, NAME=VALUE */
    public function __construct(string $url, array $settings = [])
    {
        $this->directory = sys_get_temp_dir() . '/dueq-fpm-' . bin2hex(random_bytes(6));
        mkdir($this->directory, 0700);
        file_put_contents("{$this->directory}/app.php", '<?php eval($_SERVER["CODE"]);');
        file_put_contents("{$this->directory}/conf", <<<END
            [global]
            error_log = {$this->directory}/log
            [pool]
            user = root
            group = root
            listen = {$this->directory}/socket
            pm = static
            pm.max_children = 1
            env[DUEQ_URL] = $url

            END);
        preg_match('~/\S*/dueq\.so~', file_get_contents('/proc/self/maps'), $match);
        $command = [
            self::program(), '-n', '-F', '-R', '-y',
            "{$this->directory}/conf", '-d', "extension=$match[0]",
        ];
        foreach ([...$settings, 'display_errors=1', 'html_errors=0', 'log_errors=0'] as $setting) {
            array_push($command, '-d', $setting);
        }
        $quiet = [1 => ['file', '/dev/null', 'w'], 2 => ['file', '/dev/null', 'w']];
        $this->process = proc_open($command, $quiet, $pipes, null, ['DUEQ_URL' => $url] + getenv());
        for ($end = microtime(true) + 20; microtime(true) < $end; usleep(5000)) {
            if (@stream_socket_client("unix://{$this->directory}/socket") !== false) {
                return;
            }
        }
        throw new \RuntimeException('no php-fpm: ' . file_get_contents("{$this->directory}/log"));
    }

    public static function program(): string
    {
        foreach (['php-fpm' . PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION, 'php-fpm'] as $name) {
            $path = trim((string) shell_exec("PATH=\$PATH:/usr/sbin command -v $name"));
            if ($path !== '') {
                return $path;
            }
        }
        throw new \RuntimeException('there is no php-fpm: install the package php-fpm');
    }

    /** Writes a file beside the application, and returns its path. */
    public function file(string $name, string $text): string
    {
        file_put_contents("{$this->directory}/$name", $text);
        return "{$this->directory}/$name";
    }

    /** A request that runs this code; what it printed. */
    public function request(string $code): string
    {
        $command = ['cgi-fcgi', '-bind', '-connect', "{$this->directory}/socket"];
        $environment = ['PATH' => getenv('PATH'), 'SCRIPT_FILENAME' => "{$this->directory}/app.php",
            'REQUEST_METHOD' => 'GET', 'CODE' => $code];
        $process = proc_open(
            $command,
            [0 => ['file', '/dev/null', 'r'], 1 => ['pipe', 'w']],
            $pipes,
            null,
            $environment,
        );
        $output = stream_get_contents($pipes[1]);
        proc_close($process);
        return explode("\r\n\r\n", $output, 2)[1] ?? $output;
    }

    public function end(): void
    {
        proc_terminate($this->process);
        proc_close($this->process);
        array_map(unlink(...), glob("{$this->directory}/*"));
        rmdir($this->directory);
    }
}
