"""
Laravel's Redis queues, shared with its workers and producers. dueq.laravel.aio has the same for
asyncio.
"""

from dueq.interop.foreign import Moved, Sizes
from dueq.laravel.blocking import Job, Queue
from dueq.laravel.jobs import JobDraft

__all__ = ["Job", "JobDraft", "Moved", "Queue", "Sizes"]
