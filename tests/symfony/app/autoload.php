<?php

declare(strict_types=1);

/*
 * Loads Symfony from PHP's include path (the distribution's packages), the transport, and the
 * application.
 */

// Symfony 5.4 is older than the deprecations of PHP 8.2.
error_reporting(E_ALL & ~E_DEPRECATED & ~E_USER_DEPRECATED);

// Symfony asks Composer which of its parts are installed.
require_once 'Composer/InstalledVersions.php';
$parts = [
    'Bundle/FrameworkBundle', 'Component/Console', 'Component/Messenger',
    'Component/PropertyAccess', 'Component/Serializer',
];
foreach ($parts as $part) {
    require_once "Symfony/$part/autoload.php";
}

spl_autoload_register(function (string $class): void {
    foreach ([
        'Dueq\SymfonyMessenger\\' => __DIR__ . '/../../../bindings/php/symfony/src/',
        'App\\' => __DIR__ . '/',
        'Dueq\\' => __DIR__ . '/../../../bindings/php/worker/src/',
    ] as $prefix => $folder) {
        $file = $folder . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
        if (str_starts_with($class, $prefix) && is_file($file)) {
            require $file;
        }
    }
});
