"""Those who run the verbs: Python in this process, PHP and C each in a process of its own.

All take a request and give an answer of the same form (README.md), which for PHP and C is a line of
JSON. Bodies are base64.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from base64 import b64decode, b64encode
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import dueq

Json: TypeAlias = Any
ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
QUEUE = "model"


class Driver(Protocol):
    name: str

    def call(self, request: Json) -> Json: ...

    def close(self) -> None: ...


class PythonDriver:
    name = "python"

    def __init__(self, url: str) -> None:
        self.queue = dueq.Queue(QUEUE, url)
        self.taken: dict[str, dueq.Message] = {}

    def close(self) -> None:
        self.queue.close()

    def call(self, request: Json) -> Json:
        return getattr(self, "do_" + request["do"])(request)

    def do_forget(self, request: Json) -> Json:
        self.taken.clear()
        return {}

    def do_push(self, request: Json) -> Json:
        drafts = [
            dueq.Draft(
                b64decode(row["body"]),
                id=row["id"] or None,
                delay=row["delay_ms"] / 1000 or None,
                at=row["at_ms"] / 1000 or None,
                max_attempts=row["max_attempts"] or None,
                lease=row["lease_ms"] / 1000 or None,
                headers=dict(row["headers"]),
            )
            for row in request["drafts"]
        ]
        ids = self.queue.push_many(drafts)
        return {
            "statuses": ["DUPLICATE" if id is None else "OK" for id in ids],
            "ids": [id or row["id"] for id, row in zip(ids, request["drafts"], strict=True)],
        }

    def do_reserve(self, request: Json) -> Json:
        lease = request["lease_ms"] / 1000 or None
        messages = self.queue.reserve_many(request["count"], 0, lease)
        self.taken.update((message.ticket, message) for message in messages)
        return {"messages": [shown(message) for message in messages]}

    def do_ack(self, request: Json) -> Json:
        return {"statuses": words(self.queue.ack_many(request["tickets"]), "LEASE_LOST")}

    def do_cancel(self, request: Json) -> Json:
        return {"statuses": words(self.queue.cancel_many(request["ids"]), "NOT_FOUND")}

    def do_retry(self, request: Json) -> Json:
        return self.settle(
            request, lambda message: message.retry(request["delay_ms"] / 1000, request["error"])
        )

    def do_extend(self, request: Json) -> Json:
        return self.settle(request, lambda message: message.extend(request["lease_ms"] / 1000))

    def do_bury(self, request: Json) -> Json:
        return self.settle(request, lambda message: message.bury(request["error"]))

    def settle(self, request: Json, verb: Any) -> Json:
        """By a message that was reserved here, or is found as another's; else "FOREIGN"."""
        ticket = request["ticket"]
        message = self.taken.get(ticket) or self.queue.find(request["id"])
        if not message or message.ticket != ticket:
            return {"statuses": ["FOREIGN"]}
        try:
            return {"statuses": ["BURIED" if verb(message) is False else "OK"]}
        except dueq.LeaseLost:
            return {"statuses": ["LEASE_LOST"]}

    def do_look(self, request: Json) -> Json:
        found = [self.queue.find(id) for id in request["ids"]]
        stats = self.queue.stats()
        counts = [stats.ready, stats.delayed, stats.leased, stats.dead, stats.acked, stats.damaged]
        return {
            "found": [shown(message) if message else None for message in found],
            "counts": [*counts, to_ms(stats.next)],
        }


def words(done: Iterable[bool], otherwise: str) -> list[str]:
    return ["OK" if each else otherwise for each in done]


def to_ms(seconds: float | None) -> int:
    return round(seconds * 1000) if seconds else 0


def shown(message: dueq.Message) -> Json:
    return {
        "id": message.id,
        "ticket": message.ticket,
        "body": b64encode(message.body).decode(),
        "headers": [list(pair) for pair in message.headers.items()],
        "attempt": message.attempt,
        "max_attempts": message.max_attempts or 0,
        "state": str(message.state),
        "time_ms": to_ms(message.time),
        "created_ms": to_ms(message.created),
        "error": message.error,
    }


class ProcessDriver:
    def __init__(self, name: str, command: list[str]) -> None:
        self.name = name
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def call(self, request: Json) -> Json:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin
        assert stdout
        stdin.write(json.dumps(request) + "\n")
        stdin.flush()
        line = stdout.readline()
        assert line, f"the driver {self.name} ended at {request}"
        answer = json.loads(line)
        assert "failure" not in answer, f"{self.name}: {answer['failure']} at {request}"
        return answer

    def close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe
            pipe.close()
        self._process.wait()


def php_driver(url: str) -> ProcessDriver:
    loaded = subprocess.run(["php", "-r", "exit((int) !extension_loaded('dueq'));"], check=False)
    extension = ROOT / "build/php/modules/dueq.so"
    options = [] if loaded.returncode == 0 else ["-d", f"extension={extension}"]
    return ProcessDriver("php", ["php", *options, str(HERE / "driver.php"), url, QUEUE])


def c_driver(url: str) -> ProcessDriver:
    program = ROOT / "build/cmake/tests/model_driver"
    assert shutil.which(program), f"{program} is not built: ./dev test c builds it"
    return ProcessDriver("c", [str(program), url, QUEUE])
