# mypy: ignore-errors
"""Huey."""

import logging
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import harness
import redis
from huey import RedisHuey

logging.getLogger("huey").setLevel(logging.WARNING)

huey = RedisHuey(
    "bench",
    results=False,
    connection_pool=redis.ConnectionPool(
        connection_class=redis.UnixDomainSocketConnection, path=os.environ["PEER_REDIS_SOCKET"]
    ),
)


@huey.task()
def job(body: str) -> None:
    harness.handled(body)


class Huey(harness.Peer):
    no_bulk = "it enqueues tasks one by one"
    no_cancel = "revoke is a note for workers; the task stays until it is due and one drops it"

    def push(self, body: str) -> None:
        job(body)

    def delay(self, jobs: Sequence[tuple[str, float]]) -> None:
        for body, due in jobs:
            job.schedule((body,), eta=datetime.fromtimestamp(due, UTC))

    def work(self, options: harness.Options, handle: harness.Handle) -> None:
        huey.create_consumer(workers=options["workers"], worker_type="thread").run()


if __name__ == "__main__":
    harness.main(Huey())
