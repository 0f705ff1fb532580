# mypy: ignore-errors
"""The delayed queue of many an article: one sorted set by due time, that workers poll."""

import os
import sys
import time
import uuid
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import harness
import redis

KEY = "jobs"


class Naive(harness.Peer):
    def connect(self) -> None:
        self.redis = redis.Redis(unix_socket_path=os.environ["PEER_REDIS_SOCKET"])

    def push(self, body: str) -> None:
        self.redis.zadd(KEY, {self.member(body): time.time()})

    def push_many(self, bodies: Sequence[str]) -> None:
        now = time.time()
        self.redis.zadd(KEY, {self.member(body): now for body in bodies})

    def delay(self, jobs: Sequence[tuple[str, float]]) -> Sequence[str]:
        members = {self.member(body): due for body, due in jobs}
        self.redis.zadd(KEY, members)
        return list(members)

    def cancel(self, job: str) -> None:
        self.redis.zrem(KEY, job)

    def work(self, options: harness.Options, handle: harness.Handle) -> None:
        count = options["batch"]
        while True:
            due = self.redis.zrangebyscore(KEY, 0, time.time(), start=0, num=count)
            for member in due:
                # Who removes it has it.
                if self.redis.zrem(KEY, member):
                    handle(member[37:].decode())
            if not due:
                time.sleep(options["poll_seconds"])

    @staticmethod
    def member(body: str) -> str:
        """A set has each member once, so each job gets a name of its own."""
        return f"{uuid.uuid4()}:{body}"


harness.main(Naive())
