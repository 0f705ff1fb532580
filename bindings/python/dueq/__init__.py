"""
A reliable delayed message queue on Redis or Valkey. dueq.aio has the same classes for asyncio.
dueq.redisson and dueq.laravel work on the queues of Redisson and Laravel.
"""

from dueq import _core, _fallbacks
from dueq._arguments import PROVIDED
from dueq._decision import Decided
from dueq._gaps import FAILURE, PREVIOUS
from dueq._inflight import Push
from dueq._message import State
from dueq.app import App, Task
from dueq.backoff import Backoff
from dueq.blocking.batch import Batch
from dueq.blocking.consumer import Consumer
from dueq.blocking.lock import Lock
from dueq.blocking.message import Message
from dueq.blocking.pusher import Pusher
from dueq.blocking.queue import Queue, Queues, queues
from dueq.chain import chain
from dueq.draft import Draft
from dueq.errors import (
    BacklogError,
    CursorTooLargeError,
    Duplicate,
    Error,
    LeaseLost,
    NotDurable,
    NotFound,
)
from dueq.handle import Handle, TaskFailed
from dueq.inspection import BatchStatus, End, Failure, Group, Lease, WorkerInfo
from dueq.job import Job, JobMessage, SoftTimeout, Stopped, current_job
from dueq.schedule import next_time
from dueq.stats import Finding, GroupLimits, Limits, Rate, Stats

__all__ = [
    "FAILURE",
    "PREVIOUS",
    "PROVIDED",
    "App",
    "BacklogError",
    "Backoff",
    "Batch",
    "BatchStatus",
    "Consumer",
    "CursorTooLargeError",
    "Decided",
    "Draft",
    "Duplicate",
    "End",
    "Error",
    "Failure",
    "Finding",
    "Group",
    "GroupLimits",
    "Handle",
    "Job",
    "JobMessage",
    "Lease",
    "LeaseLost",
    "Limits",
    "Lock",
    "Message",
    "NotDurable",
    "NotFound",
    "Push",
    "Pusher",
    "Queue",
    "Queues",
    "Rate",
    "SoftTimeout",
    "State",
    "Stats",
    "Stopped",
    "Task",
    "TaskFailed",
    "WorkerInfo",
    "__version__",
    "chain",
    "current_job",
    "next_time",
    "queues",
]

__version__ = _core.version()

_fallbacks.set_fallbacks()
