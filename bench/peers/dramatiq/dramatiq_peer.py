# mypy: ignore-errors
"""dramatiq."""

import os
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import dramatiq
import harness
import redis
from dramatiq.brokers.redis import RedisBroker

broker = RedisBroker(client=redis.Redis(unix_socket_path=os.environ["PEER_REDIS_SOCKET"]))
dramatiq.set_broker(broker)


@dramatiq.actor(queue_name="bench")
def job(body: str) -> None:
    harness.handled(body)


class Dramatiq(harness.Peer):
    no_bulk = "a group sends its messages one by one"
    no_cancel = "it takes nothing back"

    def push(self, body: str) -> None:
        job.send(body)

    def delay(self, jobs: Sequence[tuple[str, float]]) -> None:
        for body, due in jobs:
            job.send_with_options(args=(body,), delay=max(0, int((due - time.time()) * 1000) + 1))

    def work(self, options: harness.Options, handle: harness.Handle) -> None:
        dramatiq.Worker(broker, worker_threads=options["worker_threads"]).start()
        threading.Event().wait()


if __name__ == "__main__":
    harness.main(Dramatiq())
