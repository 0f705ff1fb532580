"""dueq from Python."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

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

    def work(self, options: harness.Options, handle: harness.Handle) -> None:
        slack = options["slack_ms"] / 1000
        for message in self.queue.consume(prefetch=options["prefetch"], slack=slack):
            with message:
                handle(message.body.decode())


harness.main(Dueq())
