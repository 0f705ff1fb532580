"""dueq: a reliable delayed message queue on Redis or Valkey."""

import logging

from dueq import _core
from dueq._job import JobDraft
from dueq._message import State
from dueq._push import Push
from dueq._shown import one_line
from dueq.backoff import Backoff
from dueq.consumer import Consumer
from dueq.draft import Draft
from dueq.errors import Duplicate, Error, LeaseLost
from dueq.laravel import Job, LaravelQueue
from dueq.lock import Lock
from dueq.message import Message
from dueq.pusher import Pusher
from dueq.queue import Queue, queues
from dueq.redisson import DelayedQueue
from dueq.source import Queues
from dueq.stats import Moved, Rate, Sizes, Stats
from dueq.values import Long, Unreadable

__all__ = [
    "Backoff",
    "Consumer",
    "DelayedQueue",
    "Draft",
    "Duplicate",
    "Error",
    "Job",
    "JobDraft",
    "LaravelQueue",
    "LeaseLost",
    "Lock",
    "Long",
    "Message",
    "Moved",
    "Push",
    "Pusher",
    "Queue",
    "Queues",
    "Rate",
    "Sizes",
    "State",
    "Stats",
    "Unreadable",
    "__version__",
    "queues",
]

__version__ = _core.version()

logging.getLogger("dueq").addHandler(logging.NullHandler())
logging.getLogger("dueq").addFilter(one_line)
