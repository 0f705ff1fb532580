<?php

declare(strict_types=1);

/* The application, and what the tests share. */

if (!extension_loaded('dueq')) {
    fwrite(STDERR, "The tests need the extension: php -d extension=.../dueq.so\n");
    exit(1);
}

require_once __DIR__ . '/app/autoload.php';
require_once __DIR__ . '/../php/Server.php';
require_once __DIR__ . '/../worker-php/Process.php';
require_once __DIR__ . '/SymfonyTestCase.php';
require_once __DIR__ . '/sqs_stamps.php';
