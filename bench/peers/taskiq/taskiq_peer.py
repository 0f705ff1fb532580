# mypy: ignore-errors
"""taskiq with taskiq-redis."""

import asyncio
import os
import sys
from collections.abc import Coroutine, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import harness
from taskiq import TaskiqScheduler
from taskiq.api import run_receiver_task, run_scheduler_task
from taskiq.scheduler.created_schedule import CreatedSchedule
from taskiq_redis import ListRedisScheduleSource, RedisStreamBroker

URL = f"unix://{os.environ['PEER_REDIS_SOCKET']}"


async def job(body: str) -> None:
    harness.handled(body)


class Taskiq(harness.Peer):
    no_bulk = "it enqueues tasks one by one"

    def connect(self) -> None:
        self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)
        self.source = ListRedisScheduleSource(URL)
        self.open()

    def open(self, **options: Any) -> None:
        self.broker = RedisStreamBroker(URL, **options)
        self.job = self.broker.task(task_name="job")(job)
        # Makes the group of consumers: it gets only tasks that are enqueued later.
        self.run(self.broker.startup())

    def run(self, steps: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(steps)

    def push(self, body: str) -> None:
        self.run(self.job.kiq(body))

    def delay(self, jobs: Sequence[tuple[str, float]]) -> Sequence[CreatedSchedule]:
        return [
            self.run(self.job.schedule_by_time(self.source, datetime.fromtimestamp(due, UTC), body))
            for body, due in jobs
        ]

    def cancel(self, job: CreatedSchedule) -> None:
        self.run(job.unschedule())

    def work(self, options: harness.Options, handle: harness.Handle) -> None:
        self.open(xread_count=options["xread_count"])
        tasks = [run_receiver_task(self.broker, max_async_tasks=options["max_async_tasks"])]
        if self.delayed:
            every = timedelta(seconds=options["update_seconds"])
            scheduler = TaskiqScheduler(self.broker, [self.source])
            tasks.append(run_scheduler_task(scheduler, interval=every))

        async def together() -> None:
            await asyncio.gather(*tasks)

        self.run(together())


if __name__ == "__main__":
    harness.main(Taskiq())
