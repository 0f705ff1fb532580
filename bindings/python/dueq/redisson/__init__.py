"""
Redisson's delayed queues, shared with the Java programs that use them. dueq.redisson.aio has the
same classes for asyncio.
"""

from dueq.redisson.blocking import DelayedQueue
from dueq.redisson.codecs import Long, Unreadable

__all__ = ["DelayedQueue", "Long", "Unreadable"]
