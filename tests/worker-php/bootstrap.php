<?php

declare(strict_types=1);

/* An application into which Composer has installed the package, and what the tests share. */

if (!extension_loaded('dueq')) {
    fwrite(STDERR, "The tests need the extension: php -d extension=.../dueq.so\n");
    exit(1);
}

require_once __DIR__ . '/../php/Server.php';
require_once __DIR__ . '/Application.php';
require_once __DIR__ . '/Process.php';
require_once __DIR__ . '/WorkerTestCase.php';

require_once Dueq\Tests\Worker\Application::shared()->folder . '/vendor/autoload.php';
