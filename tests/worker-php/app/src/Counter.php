<?php

declare(strict_types=1);

namespace App;

/** No task, although it says Task: discover() passes it over. */
final class Counter
{
}
