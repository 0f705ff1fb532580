"""
dueq for asyncio: the classes of dueq, with coroutines as verbs.

The event loop watches one descriptor for each call in progress. There are no threads and no
polling.
"""

# bindings/python/blocking.py writes the modules of dueq.blocking from the modules of this package.
from dueq.aio.batch import Batch
from dueq.aio.consumer import Consumer
from dueq.aio.lock import Lock
from dueq.aio.message import Message
from dueq.aio.pusher import Pusher
from dueq.aio.queue import Queue, Queues, queues

__all__ = ["Batch", "Consumer", "Lock", "Message", "Pusher", "Queue", "Queues", "queues"]
