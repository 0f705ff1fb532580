"""What dueq.redisson and dueq.laravel share."""
