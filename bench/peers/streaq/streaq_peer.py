# mypy: ignore-errors
"""streaQ."""

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import harness
from streaq import Worker


def make(**options: Any) -> tuple[Worker, Any]:
    """A worker, whose queue others fill through it, and its task."""
    worker = Worker(
        redis_url=f"unix://{os.environ['PEER_REDIS_SOCKET']}",
        queue_name="bench",
        handle_signals=False,
        **options,
    )

    @worker.task(ttl=0)
    async def job(body: str) -> None:
        harness.handled(body)

    return worker, job


class Streaq(harness.Peer):
    def connect(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.worker, self.job = make()
        self.task: asyncio.Task | None = None

    def run(self, step: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        """Does all steps in one task, because the worker's connections belong to the task that
        opens them."""
        if not self.task:
            self.steps: asyncio.Queue = asyncio.Queue()
            self.task = self.loop.create_task(self.serve())
        done = self.loop.create_future()
        self.steps.put_nowait((step, done))
        return self.loop.run_until_complete(done)

    async def serve(self) -> None:
        async with self.worker:
            while True:
                step, done = await self.steps.get()
                try:
                    done.set_result(await step())
                except Exception as error:
                    done.set_exception(error)

    def close(self) -> None:
        if self.task:
            self.task.cancel()
            self.loop.run_until_complete(asyncio.wait([self.task]))

    def push(self, body: str) -> None:
        async def enqueue() -> None:
            await self.job.enqueue(body)

        self.run(enqueue)

    def push_many(self, bodies: Sequence[str]) -> None:
        self.run(lambda: self.worker.enqueue_many([self.job.enqueue(body) for body in bodies]))

    def delay(self, jobs: Sequence[tuple[str, float]]) -> Sequence[str]:
        tasks = [
            self.job.enqueue(body).start(schedule=datetime.fromtimestamp(due, UTC))
            for body, due in jobs
        ]
        if len(tasks) > 1:
            self.run(lambda: self.worker.enqueue_many(tasks))
        else:

            async def enqueue() -> None:
                await tasks[0]

            self.run(enqueue)
        return [task.id for task in tasks]

    def cancel(self, job: str) -> None:
        if not self.run(lambda: self.worker.abort_by_id(job)):
            raise RuntimeError(f"{job} was not there")

    def work(self, options: harness.Options, handle: harness.Handle) -> None:
        worker, _ = make(**options)
        worker.run_sync()


if __name__ == "__main__":
    harness.main(Streaq())
