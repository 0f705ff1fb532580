"""
dueq for asyncio: the names of dueq, with coroutines for verbs.

The event loop watches one descriptor of each call under way; there are no threads and no polling.
"""

# What bindings/python/blocking.py lists is the source of the blocking face, too.
from dueq.aio.consumer import Consumer
from dueq.aio.lock import Lock
from dueq.aio.message import Message
from dueq.aio.pusher import Pusher
from dueq.aio.queue import Queue, Queues, queues

__all__ = ["Consumer", "Lock", "Message", "Pusher", "Queue", "Queues", "queues"]
