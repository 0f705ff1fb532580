"""dueq: a reliable delayed message queue on Redis or Valkey."""

import logging

from dueq import _core
from dueq._message import State
from dueq._push import Push
from dueq.backoff import Backoff
from dueq.consumer import Consumer
from dueq.draft import Draft
from dueq.errors import Duplicate, Error, LeaseLost
from dueq.lock import Lock
from dueq.message import Message
from dueq.pusher import Pusher
from dueq.queue import Queue, queues
from dueq.source import Queues
from dueq.stats import Rate, Stats

__all__ = [
    "Backoff",
    "Consumer",
    "Draft",
    "Duplicate",
    "Error",
    "LeaseLost",
    "Lock",
    "Message",
    "Push",
    "Pusher",
    "Queue",
    "Queues",
    "Rate",
    "State",
    "Stats",
    "__version__",
    "queues",
]

__version__ = _core.version()

logging.getLogger("dueq").addHandler(logging.NullHandler())
