"""
dueq for asyncio: the names of dueq, with coroutines for verbs.

The event loop watches one descriptor of each call under way; there are no threads and no polling.
"""

from dueq.aio.consumer import Consumer
from dueq.aio.laravel import Job, LaravelQueue
from dueq.aio.message import Lock, Message
from dueq.aio.pusher import Pusher
from dueq.aio.queue import Queue, Queues, queues
from dueq.aio.redisson import DelayedQueue

__all__ = [
    "Consumer",
    "DelayedQueue",
    "Job",
    "LaravelQueue",
    "Lock",
    "Message",
    "Pusher",
    "Queue",
    "Queues",
    "queues",
]
