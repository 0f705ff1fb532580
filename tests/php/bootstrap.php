<?php

declare(strict_types=1);

if (!extension_loaded('dueq')) {
    fwrite(STDERR, "The tests need the extension: php -d extension=.../dueq.so\n");
    exit(1);
}

require_once __DIR__ . '/Server.php';
require_once __DIR__ . '/QueueTestCase.php';
require_once __DIR__ . '/Fpm.php';
