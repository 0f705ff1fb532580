# mypy: ignore-errors
"""arq."""

import asyncio
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import harness
from arq import create_pool
from arq.connections import RedisSettings
from arq.worker import Worker

SETTINGS = RedisSettings(unix_socket_path=os.environ["PEER_REDIS_SOCKET"])


async def job(_: dict, body: str) -> None:
    harness.handled(body)


class Arq(harness.Peer):
    no_bulk = "it enqueues jobs one by one"
    no_cancel = "abort is a note for workers, one of which takes the job and drops it"

    def connect(self) -> None:
        self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)
        self.pool = self.loop.run_until_complete(create_pool(SETTINGS))

    def push(self, body: str) -> None:
        self.loop.run_until_complete(self.pool.enqueue_job("job", body))

    def delay(self, jobs: Sequence[tuple[str, float]]) -> None:
        async def enqueue() -> None:
            for body, due in jobs:
                await self.pool.enqueue_job(
                    "job", body, _defer_until=datetime.fromtimestamp(due, UTC)
                )

        self.loop.run_until_complete(enqueue())

    def work(self, options: harness.Options, handle: harness.Handle) -> None:
        Worker(
            functions=[job],
            redis_settings=SETTINGS,
            max_jobs=options["max_jobs"],
            poll_delay=options["poll_seconds"],
            keep_result=0,
            handle_signals=False,
        ).run()


if __name__ == "__main__":
    harness.main(Arq())
