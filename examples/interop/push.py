"""Pushes a job that a Laravel worker runs."""

import dueq.laravel

queue = dueq.laravel.Queue("default")
queue.push(r"App\Jobs\CancelOrder@handle", {"order": 17}, delay=2, max_tries=3)
print("Python pushed a job for Laravel")
