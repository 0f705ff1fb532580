<?php

/** The entry of this driver for "connections" in an application's config/queue.php. */
return [
    'dueq' => [
        'driver' => 'dueq',
        'url' => env('DUEQ_URL'),
        'queue' => env('DUEQ_QUEUE', 'default'),
        'lease' => 8,
        'block_for' => 5,
        'after_commit' => false,
    ],
];
