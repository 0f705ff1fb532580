"""Takes a reminder that a Redisson offered, and sees to it that it comes when it is due."""

import dueq.redisson

queue = dueq.redisson.DelayedQueue("reminders")
with queue.transferring():
    print("Python took:", queue.take(timeout=30))
