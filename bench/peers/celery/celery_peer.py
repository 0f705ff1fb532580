# mypy: ignore-errors
"""Celery."""

import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import harness
from celery import Celery
from celery.result import AsyncResult

app = Celery("bench", broker=f"redis+socket://{os.environ['PEER_REDIS_SOCKET']}")
app.conf.update(
    task_ignore_result=True,
    task_acks_late=True,
    broker_connection_retry_on_startup=True,
    task_default_queue="bench",
)


@app.task(name="bench.job")
def job(body: str) -> None:
    harness.handled(body)


@app.task(name="bench.kept", ignore_result=False)
def kept(body: str) -> str:
    harness.handled(body)
    return harness.RESULT


class CeleryPeer(harness.Peer):
    no_bulk = "a group sends its tasks one by one"
    no_cancel = "revoke is a broadcast that workers remember; the task stays until one drops it"

    def connect(self) -> None:
        if self.tasks == "kept":
            app.conf.update(
                result_backend=f"redis+socket://{os.environ['PEER_REDIS_SOCKET']}",
                result_expires=harness.KEEP_S,
            )

    def push(self, body: str) -> None:
        job.delay(body)

    def push_task(self, body: str) -> AsyncResult:
        return (kept if self.tasks == "kept" else job).delay(body)

    def ask(self, task: AsyncResult) -> object:
        return task.get(timeout=60)

    def delay(self, jobs: Sequence[tuple[str, float]]) -> None:
        for body, due in jobs:
            job.apply_async((body,), eta=datetime.fromtimestamp(due, UTC))

    def work(self, options: harness.Options, handle: harness.Handle) -> None:
        app.conf.worker_prefetch_multiplier = options["prefetch_multiplier"]
        app.Worker(pool="solo", loglevel="ERROR", hostname=f"bench-{os.getpid()}@localhost").start()


if __name__ == "__main__":
    harness.main(CeleryPeer())
