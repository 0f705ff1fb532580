<?php

declare(strict_types=1);

ini_set('memory_limit', '32M');

return require __DIR__ . '/bootstrap.php';
