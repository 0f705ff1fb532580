"""The parts that dueq.redisson and dueq.laravel share."""

from dueq.interop.foreign import Moved, Sizes

__all__ = ["Moved", "Sizes"]
