"""Those who run the verbs: Python in this process, PHP and C each in a process of its own.

All take a request and give an answer of the same form (README.md), which for PHP and C is a line of
JSON. Bodies are base64.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from drafts import QUEUES

import dueq

Json: TypeAlias = Any
ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
COUNTS = [
    *("ready", "delayed", "leased", "dead", "pushed", "reserved", "acked", "retried"),
    *("expired", "died", "cancelled", "purged", "quarantined", "paused"),
]
REPLACE: dict[str, bool | Literal["body"]] = {
    "refuse": False,
    "replace": True,
    "replace_body": "body",
}
# Pages are small, so that there are several.
PAGE = 2


class Driver(Protocol):
    name: str

    def call(self, request: Json) -> Json: ...

    def close(self) -> None: ...


class PythonDriver:
    name = "python"

    def __init__(self, url: str) -> None:
        self.url = url
        self.queues = {name: dueq.Queue(name, url) for name in QUEUES}
        self.several: dict[tuple[str, ...], dueq.Queues] = {}
        self.taken: dict[str, dueq.Message] = {}
        self.locks: dict[str, dueq.Lock] = {}

    def close(self) -> None:
        for each in [*self.queues.values(), *self.several.values()]:
            each.close()

    def call(self, request: Json) -> Json:
        queue = self.queues[request.get("queue", QUEUES[0])]
        return getattr(self, "do_" + request["do"])(queue, request)

    def do_forget(self, queue: dueq.Queue, request: Json) -> Json:
        self.taken.clear()
        self.locks.clear()
        return {}

    def do_push(self, queue: dueq.Queue, request: Json) -> Json:
        try:
            ids = queue.push_many(draft(row) for row in request["drafts"])
        except dueq.BacklogError as error:
            return stored(request["drafts"], list(error.ids), "BACKLOG")
        return stored(request["drafts"], ids)

    def do_ack_push(self, queue: dueq.Queue, request: Json) -> Json:
        rows, target = request["drafts"], request["target"]
        drafts = [draft(row) for row in rows]
        ids: list[str | None] = []
        answer = self.settle(
            queue,
            request,
            lambda message: ids.extend(
                message.ack(push=drafts, to=target if target != message.queue else None)
            ),
        )
        if answer["statuses"] != ["OK"]:
            # The ids of what was not stored are nobody's.
            count = 1 + len(rows) if answer["statuses"] != ["FOREIGN"] else 1
            return {"statuses": answer["statuses"] * count, "ids": [row["id"] for row in rows]}
        answer = stored(rows, ids)
        return {**answer, "statuses": ["OK", *answer["statuses"]]}

    def do_reserve(self, queue: dueq.Queue, request: Json) -> Json:
        names, lease = tuple(request["queues"]), request["lease_ms"] / 1000 or None
        source: dueq.Queue | dueq.Queues = self.queues[names[0]]
        if len(names) > 1:
            if names not in self.several:
                self.several[names] = dueq.Queues(names, self.url)
            source = self.several[names]
        messages = source.reserve_many(request["count"], 0, lease)
        self.taken.update((message.ticket, message) for message in messages)
        name = messages[0].queue if messages else ""
        return {"messages": [shown(message) for message in messages], "queue": name}

    def do_ack(self, queue: dueq.Queue, request: Json) -> Json:
        return {"statuses": words(queue.ack_many(request["tickets"]), "LEASE_LOST")}

    def do_cancel(self, queue: dueq.Queue, request: Json) -> Json:
        return {"states": queue.cancel_many(request["ids"])}

    def do_kick(self, queue: dueq.Queue, request: Json) -> Json:
        return {"statuses": words(queue.kick_many(request["ids"]), "NOT_FOUND")}

    def do_kick_all(self, queue: dueq.Queue, request: Json) -> Json:
        since, until = request["since_ms"] / 1000 or None, request["until_ms"] / 1000 or None
        return {"kicked": queue.kick_all(request["error"] or None, since, until)}

    def do_reschedule(self, queue: dueq.Queue, request: Json) -> Json:
        delay, at = request["delay_ms"] / 1000 or None, request["at_ms"] / 1000 or None
        return {"statuses": words([queue.reschedule(request["id"], delay, at)], "NOT_FOUND")}

    def do_pause(self, queue: dueq.Queue, request: Json) -> Json:
        queue.pause()
        return {"statuses": ["OK"]}

    def do_resume(self, queue: dueq.Queue, request: Json) -> Json:
        queue.resume()
        return {"statuses": ["OK"]}

    def do_limit(self, queue: dueq.Queue, request: Json) -> Json:
        names = ("concurrency", "rate", "burst", "backlog")
        group = request["group"]
        more: Json = {
            name if group else f"each_group_{name}": set_to(request, name) for name in names
        }
        if group:
            more |= {"group": group, "weight": set_to(request, "weight")}
        more["order"] = request["order"] or None
        queue.limit(**more, clear=request["clear"])
        return {"statuses": ["OK"]}

    def do_hold(self, queue: dueq.Queue, request: Json) -> Json:
        queue.hold(request["group"], request["ms"] / 1000)
        return {"statuses": ["OK"]}

    def do_hold_group(self, queue: dueq.Queue, request: Json) -> Json:
        seconds = request["ms"] / 1000
        return self.settle(queue, request, lambda message: message.hold_group(seconds))

    def do_purge(self, queue: dueq.Queue, request: Json) -> Json:
        return {"purged": queue.purge(request["state"])}

    def do_peek(self, queue: dueq.Queue, request: Json) -> Json:
        return {"messages": [shown(message) for message in queue.peek(request["state"], PAGE)]}

    def do_retry(self, queue: dueq.Queue, request: Json) -> Json:
        ms, error = request["delay_ms"], request["error"]
        delay = ms / 1000 if ms >= 0 else None
        return self.settle(queue, request, lambda message: message.retry(delay, error))

    def do_release(self, queue: dueq.Queue, request: Json) -> Json:
        delay = request["delay_ms"] / 1000
        return self.settle(queue, request, lambda message: message.release(delay))

    def do_extend(self, queue: dueq.Queue, request: Json) -> Json:
        lease = request["lease_ms"] / 1000
        return self.settle(queue, request, lambda message: message.extend(lease))

    def do_checkpoint(self, queue: dueq.Queue, request: Json) -> Json:
        return self.settle(queue, request, lambda message: message.checkpoint(request["cursor"]))

    def do_bury(self, queue: dueq.Queue, request: Json) -> Json:
        return self.settle(queue, request, lambda message: message.bury(request["error"]))

    def settle(self, queue: dueq.Queue, request: Json, verb: Callable[[dueq.Message], Any]) -> Json:
        """By a message that was reserved here, or is found as another's; else "FOREIGN"."""
        ticket = request["ticket"]
        message = self.taken.get(ticket) or queue.find(request["id"])
        if not message or message.ticket != ticket:
            return {"statuses": ["FOREIGN"]}
        try:
            return {"statuses": ["EXHAUSTED" if verb(message) is False else "OK"]}
        except dueq.LeaseLost:
            return {"statuses": ["LEASE_LOST"]}
        except dueq.BacklogError:
            return {"statuses": ["BACKLOG"]}

    def do_lock(self, queue: dueq.Queue, request: Json) -> Json:
        lock = queue.lock(request["name"], request["ttl_ms"] / 1000)
        if not lock:
            return {"statuses": ["TAKEN"], "token": ""}
        self.locks[lock.token] = lock
        return {"statuses": ["OK"], "token": lock.token}

    def do_relock(self, queue: dueq.Queue, request: Json) -> Json:
        return self.settle_lock(request, lambda lock: lock.extend(request["ttl_ms"] / 1000))

    def do_unlock(self, queue: dueq.Queue, request: Json) -> Json:
        return self.settle_lock(request, lambda lock: lock.release())

    def settle_lock(self, request: Json, verb: Callable[[dueq.Lock], None]) -> Json:
        lock = self.locks.get(request["token"])
        if not lock:
            return {"statuses": ["FOREIGN"]}
        try:
            verb(lock)
        except dueq.LeaseLost:
            return {"statuses": ["LEASE_LOST"]}
        return {"statuses": ["OK"]}

    def do_look(self, queue: dueq.Queue, request: Json) -> Json:
        found, counts = {}, {}
        for name, ids in request["ids"].items():
            messages = [self.queues[name].find(id) for id in ids]
            found[name] = [shown(message) if message else None for message in messages]
            stats = self.queues[name].stats()
            counts[name] = {each: int(getattr(stats, each)) for each in COUNTS}
            counts[name]["next_event_ms"] = to_ms(stats.next_event)
        return {"found": found, "counts": counts}


def draft(row: Json) -> dueq.Draft:
    return dueq.Draft(
        b64decode(row["body"]),
        id=row["id"] or None,
        delay=row["delay_ms"] / 1000 or None,
        at=row["at_ms"] / 1000 or None,
        max_attempts=row["max_attempts"] or None,
        lease=row["lease_ms"] / 1000 or None,
        headers=dict(row["headers"]),
        priority=row["priority"],
        group=row["group"] or None,
        ttl=row["ttl_ms"] / 1000 or None,
        backoff=backoff(row["backoff"]) if row["backoff"] else None,
        max_crashes=row["max_crashes"] or None,
        drop=row["drop"],
        dead_letter=row["dead_letter"] or None,
        unique=row["unique_ms"] / 1000 or None,
        replace=REPLACE[row["replace"]],
        keep=row["keep_ms"] / 1000 or None,
        batch=row["batch"] or None,
    )


def backoff(row: Json) -> dueq.Backoff:
    delays = [ms / 1000 for ms in row["list_ms"]]
    base = None if delays else row["base_ms"] / 1000
    cap = row["cap_ms"] / 1000 or None
    return dueq.Backoff(row["kind"], base, cap, row["jitter"], delays=delays)


def stored(rows: list[Json], ids: list[str | None], otherwise: str = "DUPLICATE") -> Json:
    return {
        "statuses": [otherwise if id is None else "OK" for id in ids],
        "ids": [id or row["id"] for id, row in zip(ids, rows, strict=True)],
    }


def set_to(request: Json, name: str) -> int | str | None:
    """A limit as dueq takes it: of a rate, so many in an hour."""
    number: int = request[name]
    if name != "rate" or number < 0:
        return number if number >= 0 else None
    return f"{number}/h" if number else "none"


def words(done: Iterable[bool], otherwise: str) -> list[str]:
    return ["OK" if each else otherwise for each in done]


def to_ms(moment: datetime | None) -> int:
    return round(moment.timestamp() * 1000) if moment else 0


def shown(message: dueq.Message) -> Json:
    return {
        "id": message.id,
        "ticket": message.ticket,
        "body": b64encode(message.body).decode(),
        "headers": [list(pair) for pair in message.headers.items()],
        "attempt": message.attempt,
        "max_attempts": message.max_attempts or 0,
        "crashes": message.crashes,
        "max_crashes": message.max_crashes or 0,
        "deliveries": message.deliveries,
        "priority": message.priority,
        "group": message.group or "",
        "state": str(message.state),
        "time_ms": to_ms(message.time),
        "created_ms": to_ms(message.created),
        "expires_ms": to_ms(message.expires),
        "error": message.error,
        "drop": message.drop,
        "dead_letter": message.dead_letter or "",
        "keep_ms": round((message.keep or 0) * 1000),
        "batch": message.batch or "",
        "batch_queue": message.batch_queue or "",
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
    return ProcessDriver("php", ["php", *options, str(HERE / "driver.php"), url, *QUEUES])


def c_driver(url: str) -> ProcessDriver:
    program = ROOT / "build/cmake/tests/model_driver"
    assert shutil.which(program), f"{program} is not built: ./dev test c builds it"
    return ProcessDriver("c", [str(program), url, *QUEUES])
