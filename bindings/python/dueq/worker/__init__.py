"""The worker process: `dueq-worker module:app`, or `python -m dueq module:app`."""

from dueq.worker.command import main

__all__ = ["main"]
