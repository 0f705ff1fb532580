"""dueq from Python."""

import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import harness

import dueq


class Dueq(harness.Peer):
    def connect(self) -> None:
        self.queue = dueq.Queue("bench", url=f"unix://{os.environ['PEER_REDIS_SOCKET']}")
        self.pusher = self.queue.pusher()

    def push(self, body: str) -> None:
        self.queue.push(body)

    def push_to(self, body: str, group: str) -> None:
        self.queue.push(body, group=group)

    def push_many(self, bodies: Sequence[str]) -> None:
        for body in bodies:
            self.pusher.push(body)

    def flush(self) -> None:
        self.pusher.flush()

    def delay(self, jobs: Sequence[tuple[str, float]]) -> Sequence[str | None]:
        if len(jobs) == 1:
            [(body, due)] = jobs
            return [self.queue.push(body, at=due)]
        return self.queue.push_many(dueq.Draft(body, at=due) for body, due in jobs)

    def cancel(self, job: str) -> None:
        if not self.queue.cancel(job):
            raise RuntimeError(f"{job} was not there")

    def push_task(self, body: str) -> Any:
        import dueq_tasks

        if self.tasks == "kept":
            return dueq_tasks.kept.push(body)
        return dueq_tasks.plain.push(body)

    def ask(self, task: Any) -> object:
        return task.result(timeout=60)

    def run_tasks(self, options: harness.Options) -> None:
        from dueq.worker import command

        # Without a line for each job, as the other workers here.
        logging.getLogger("dueq.worker").setLevel(logging.WARNING)
        command.main(
            ["dueq_tasks:app", "--concurrency", "1", "--prefetch", str(options["prefetch"])]
        )

    def work(self, options: harness.Options, handle: harness.Handle) -> None:
        if self.tasks:
            self.run_tasks(options)
            return
        slack = options["slack_ms"] / 1000
        for message in self.queue.consume(prefetch=options["prefetch"], slack=slack):
            with message:
                handle(message.body.decode())


harness.main(Dueq())
