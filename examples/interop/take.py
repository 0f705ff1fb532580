"""
Takes a reminder that Redisson offered. Transfers it itself, so that it arrives when it is due.
"""

import dueq.redisson

queue = dueq.redisson.DelayedQueue("reminders")
with queue.transferring():
    print("Python took:", queue.take(timeout=30))
