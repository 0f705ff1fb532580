"""Runs the jobs that a Laravel application dispatched, until none comes for five seconds."""

import dueq.laravel

queue = dueq.laravel.Queue("default", retry_after=60)
while job := queue.pop(timeout=5):
    print(f"Python works on {job.name} {job.data}, attempt {job.attempts}")
    job.delete()
