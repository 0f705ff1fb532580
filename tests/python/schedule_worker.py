"""A worker of a queue with schedules that leaves their jobs there: URL QUEUE."""

import sys

import dueq

with dueq.Queue(sys.argv[2], sys.argv[1]) as queue:
    queue.schedule("tick", "every 1s", "x", catchup="all")
    for message in queue.consume(lease=1, timeout=60):
        try:
            if message.is_schedule:
                message.fire()
            else:
                message.release(delay=3600)
        except dueq.LeaseLost:
            pass
