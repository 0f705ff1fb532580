# mypy: ignore-errors
"""RQ."""

import logging
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import harness
import redis
import rq

JOB, KEPT = "rq_peer.job", "rq_peer.kept"


def job(body: str) -> None:
    harness.handled(body)


def kept(body: str) -> str:
    harness.handled(body)
    return harness.RESULT


class Rq(harness.Peer):
    no_bulk_delay = "it schedules jobs one by one"

    def forks(self, options: harness.Options) -> bool:
        return options["class"] == "Worker"

    def connect(self) -> None:
        self.redis = redis.Redis(unix_socket_path=os.environ["PEER_REDIS_SOCKET"])
        self.queue = rq.Queue("bench", connection=self.redis)

    def push(self, body: str) -> None:
        self.queue.enqueue(JOB, body, result_ttl=0)

    def push_task(self, body: str) -> rq.job.Job:
        if self.tasks == "kept":
            return self.queue.enqueue(KEPT, body, result_ttl=harness.KEEP_S)
        return self.queue.enqueue(JOB, body, result_ttl=0)

    def ask(self, task: rq.job.Job) -> object:
        return task.return_value(refresh=True)

    def push_many(self, bodies: Sequence[str]) -> None:
        self.queue.enqueue_many(
            [rq.Queue.prepare_data(JOB, (body,), result_ttl=0) for body in bodies]
        )

    def delay(self, jobs: Sequence[tuple[str, float]]) -> Sequence[rq.job.Job]:
        return [
            self.queue.enqueue_at(datetime.fromtimestamp(due, UTC), JOB, body, result_ttl=0)
            for body, due in jobs
        ]

    def cancel(self, job: rq.job.Job) -> None:
        job.cancel()

    def work(self, options: harness.Options, handle: harness.Handle) -> None:
        worker = getattr(rq, options["class"])([self.queue], connection=self.redis)
        worker.work(with_scheduler=self.delayed, logging_level=logging.WARNING)


if __name__ == "__main__":
    harness.main(Rq())
