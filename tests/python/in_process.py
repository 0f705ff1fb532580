"""Runs the jobs of an app in the process of the test."""

from __future__ import annotations

import dueq
from dueq.testing import drain


def run(app: dueq.App) -> list[str | None]:
    """Runs the app's jobs, and returns their tasks. Raises what a handler raises."""
    assert app.url
    return [job.task for job in drain(app, server=app.url)]
