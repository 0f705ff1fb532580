# mypy: ignore-errors
"""SAQ."""

import asyncio
import math
import os
import sys
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import harness
import saq
from saq.queue.redis import RedisQueue

URL = f"unix://{os.environ['PEER_REDIS_SOCKET']}"
KEPT = {"ttl": -1, "retries": 3}
"""A job without a result that outlives it; a dead worker's job is run again, not failed."""


async def job(_: dict, *, body: str) -> None:
    harness.handled(body)


class Saq(harness.Peer):
    no_bulk = "it enqueues jobs one by one"

    def connect(self) -> None:
        self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)
        self.queue = RedisQueue.from_url(URL, name="bench")
        self.run(self.queue.connect())

    def run(self, steps: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(steps)

    def push(self, body: str) -> None:
        self.run(self.queue.enqueue("job", body=body, **KEPT))

    def delay(self, jobs: Sequence[tuple[str, float]]) -> Sequence[saq.Job]:
        # SAQ takes whole seconds: the next one, so that no job comes before its time.
        return [
            self.run(self.queue.enqueue("job", body=body, scheduled=math.ceil(due), **KEPT))
            for body, due in jobs
        ]

    def cancel(self, job: saq.Job) -> None:
        self.run(self.queue.abort(job, "cancelled"))

    def work(self, options: harness.Options, handle: harness.Handle) -> None:
        worker = saq.Worker(
            self.queue,
            [job],
            concurrency=options["concurrency"],
            timers={"schedule": options["schedule_seconds"]},
        )
        self.run(worker.start())


if __name__ == "__main__":
    harness.main(Saq())
