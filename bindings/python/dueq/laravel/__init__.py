"""
Laravel's Redis queues, shared with Laravel's workers and producers. dueq.laravel.aio has the same
classes for asyncio.
"""

from dueq.laravel.blocking import Job, Queue
from dueq.laravel.jobs import JobDraft

__all__ = ["Job", "JobDraft", "Queue"]
