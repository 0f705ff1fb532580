<?php

/** An example: add this entry to "connections" in the application's config/queue.php. */
return [
    'dueq' => [
        'driver' => 'dueq',
        'url' => env('DUEQ_URL'),
        'connection' => env('DUEQ_CONNECTION'),
        'prefix' => env(
            'DUEQ_PREFIX',
            Illuminate\Support\Str::slug(env('APP_NAME', 'laravel')) . ':',
        ),
        'queue' => env('DUEQ_QUEUE', 'default'),
        'lease' => 8,
        'block_for' => 5,
        'after_commit' => false,
    ],
];
