"""
Django's tasks for dueq-worker. For each dueq backend in TASKS this module has the app, under the
backend's name:

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
