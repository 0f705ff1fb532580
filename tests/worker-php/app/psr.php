<?php

declare(strict_types=1);

require_once 'Psr/Log/autoload.php';
require_once 'Psr/Container/autoload.php';
