"""dueq as one more process of a crowd: like the peers, it does what a line of JSON says."""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from typing import Any, NoReturn

import dueq
import dueq.laravel
import dueq.redisson

Request = dict[str, Any]


def say(**line: Any) -> None:
    print(json.dumps(line), flush=True)


class Redisson:
    """A delayed queue, of which this process runs a transfer."""

    def __init__(self, request: Request) -> None:
        self._queue = self._open(request)
        threading.Thread(target=self._open(request).run_transfer, daemon=True).start()

    @staticmethod
    def _open(request: Request) -> dueq.redisson.DelayedQueue:
        return dueq.redisson.DelayedQueue(
            request["queue"], request["url"], layout="old" if request["old"] else None
        )

    def produce(self, request: Request) -> int:
        chance = random.Random(request["seed"])
        for number in range(request["count"]):
            value = f"{request['prefix']}{number}"
            self._queue.offer(value, delay=chance.randint(request["low"], request["high"]) / 1000)
            say(offered=value)
        return int(request["count"])

    def consume(self, request: Request) -> NoReturn:
        while True:
            if (value := self._queue.take(timeout=60)) is not None:
                say(took={"type": "string", "value": value})


class Laravel:
    """A queue, of which this process runs a migration."""

    def __init__(self, request: Request) -> None:
        self._queue = self._open(request)
        threading.Thread(target=self._open(request).run_migrate, daemon=True).start()

    @staticmethod
    def _open(request: Request) -> dueq.laravel.Queue:
        return dueq.laravel.Queue("default", request["url"], retry_after=request["retry_after"])

    def produce(self, request: Request) -> int:
        chance = random.Random(request["seed"])
        for number in range(request["count"]):
            data = {"number": f"{request['prefix']}{number}", "money": 1.5, "none": []}
            self._queue.push("Handler", data, delay=chance.randint(0, request["high"]))
            say(pushed=data["number"])
        return int(request["count"])

    def work(self, request: Request) -> NoReturn:
        while True:
            if job := self._queue.pop(timeout=60):
                say(ran=job.id, data=job.data, attempts=job.attempts, at=time.time())
                job.delete()


def main() -> None:
    side: Redisson | Laravel | None = None
    for line in sys.stdin:
        request: Request = json.loads(line)
        if request["do"] in ("redisson", "laravel"):
            side = Redisson(request) if request["do"] == "redisson" else Laravel(request)
            say(ok=True)
        else:
            say(ok=getattr(side, request["do"])(request))


if __name__ == "__main__":
    main()
