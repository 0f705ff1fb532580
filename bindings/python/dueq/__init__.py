"""dueq: a reliable delayed message queue on Redis or Valkey."""

import logging

from dueq import _core
from dueq.draft import Draft
from dueq.errors import Duplicate, Error, LeaseLost
from dueq.message import Message, State
from dueq.queue import Queue
from dueq.stats import Stats

__all__ = [
    "Draft",
    "Duplicate",
    "Error",
    "LeaseLost",
    "Message",
    "Queue",
    "State",
    "Stats",
    "__version__",
]

__version__ = _core.version()

logging.getLogger("dueq").addHandler(logging.NullHandler())
