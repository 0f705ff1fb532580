"""
Django's tasks for dueq-worker. It has the app of each backend of dueq in TASKS, by its name there:

    DJANGO_SETTINGS_MODULE=shop.settings dueq-worker dueq.django.worker:default
"""

import django

from dueq.django.backend import DueqBackend
from dueq.django.framework import task_backends

django.setup()
globals().update(
    (backend.alias, backend.app)
    for backend in task_backends.all()
    if isinstance(backend, DueqBackend)
)
