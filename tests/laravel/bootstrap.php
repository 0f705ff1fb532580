<?php

declare(strict_types=1);

/* Laravel from the distribution's packages, this driver, and what the tests share. */

if (!extension_loaded('dueq')) {
    fwrite(STDERR, "The tests need the extension: php -d extension=.../dueq.so\n");
    exit(1);
}

// Laravel 8 is older than the deprecations of PHP 8.2.
error_reporting(E_ALL & ~E_DEPRECATED);

foreach (['Queue', 'Bus', 'Cache', 'Config', 'Database', 'Events', 'Filesystem'] as $part) {
    require_once "Illuminate/$part/autoload.php";
}
require_once __DIR__ . '/../php/Server.php';

spl_autoload_register(function (string $class): void {
    foreach ([
        'Dueq\LaravelDriver\\' => __DIR__ . '/../../bindings/php/laravel/src/',
        'Dueq\Tests\Laravel\\' => __DIR__ . '/',
        'Dueq\\' => __DIR__ . '/../../bindings/php/worker/src/',
    ] as $prefix => $folder) {
        $file = $folder . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
        if (str_starts_with($class, $prefix) && is_file($file)) {
            require $file;
        }
    }
});
