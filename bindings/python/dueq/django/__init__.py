"""
A backend for Django's tasks. `dueq-worker dueq.django.worker:default` runs the tasks of the backend
that the setting TASKS names "default".

    TASKS = {
        "default": {
            "BACKEND": "dueq.django.DueqBackend",
            "QUEUES": ["default", "mail"],
            "OPTIONS": {"url": "redis://127.0.0.1:6379", "max_attempts": 10, "timeout": 60},
        }
    }
"""

from dueq.django.backend import DueqBackend, Task

__all__ = ["DueqBackend", "Task"]
