"""Takes a reminder that a Redisson offered, and sees to it that it comes when it is due."""

import dueq

queue = dueq.DelayedQueue("reminders")
with queue.transferring():
    print("Python took:", queue.take(timeout=30))
