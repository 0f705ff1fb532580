"""Runs the situations of this folder (README.md has their format) on the Python package."""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import dueq

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from private_server import Reply, Server

Json: TypeAlias = Any
FOLDER = Path(__file__).parent
VARIABLE = re.compile(rb"\$\{([^${}]*)\}")


class Situation:
    def __init__(self, found: Json, index: int | None = None) -> None:
        self.name: str = "test_" + found["name"] + ("" if index is None else f"_{index + 1}")
        self.each: bytes | None = None if index is None else found["each"][index].encode()
        self.damaged = found.get("damaged", False)
        self.steps: list[Json] = found["steps"]


def situations() -> Iterator[Situation]:
    for path in sorted(FOLDER.glob("*.json")):
        for found in json.loads(path.read_text(encoding="utf-8")):
            if "each" in found:
                yield from (Situation(found, index) for index in range(len(found["each"])))
            else:
                yield Situation(found)


DRAFT = {"body", "id", "delay_ms", "at_ms", "max_attempts", "lease_ms", "headers", "as"}
FIELDS = {
    "open": {"name"},
    "push": DRAFT | {"drafts", "times"},
    "reserve": {"count", "timeout_ms", "lease_ms", "as"},
    "ack": {"message", "tickets"},
    "retry": {"message", "delay_ms", "error"},
    "extend": {"message", "lease_ms"},
    "bury": {"message", "reason"},
    "cancel": {"id", "ids"},
    "find": {"id"},
    "kick": {"id", "ids"},
    "reschedule": {"id", "delay_ms", "at_ms"},
    "pause": set[str](),
    "resume": set[str](),
    "purge": {"state"},
    "stats": set[str](),
    "redis": {"command"},
    "pass": {"args"},
    "break": {"args"},
    "mend": {"args"},
}


def test_data_has_no_other_fields() -> None:
    """A field that no interpreter reads would expect nothing."""
    for situation in situations():
        for step in situation.steps:
            assert set(step) - {"do", "expect"} <= FIELDS[step["do"]], (situation.name, step)
            assert all(set(draft) <= DRAFT for draft in step.get("drafts", []))
    names = [situation.name for situation in situations()]
    assert len(names) == len(set(names))


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


@pytest.mark.parametrize("situation", [pytest.param(s, id=s.name) for s in situations()])
def test_contract(server: Server, situation: Situation) -> None:
    run = Run(server, situation)
    for number, step in enumerate(situation.steps, 1):
        try:
            run.step(step)
        except AssertionError as error:
            error.add_note(f"each {situation.each!r}, step {number}: {json.dumps(step)}")
            raise
    assert run.script("check", [b"1" if situation.damaged else b"0"]) == []


class Run:
    """One situation under way."""

    def __init__(self, server: Server, situation: Situation) -> None:
        self.server = server
        self.situation = situation
        self.name = situation.name.encode()
        self.queue = dueq.Queue(situation.name, server.url)
        self.captures: dict[str, list[dueq.Message]] = {}
        self.ids: dict[str, str] = {}

    # Values

    def value(self, found: Json) -> bytes:
        if isinstance(found, str):
            return self.expand(found.encode())
        if isinstance(found, int):
            return b"%d" % found
        if "hex" in found:
            return bytes.fromhex(self.value(found["hex"]).decode())
        if "repeat" in found:
            unit, times = found["repeat"]
            return self.value(unit) * int(times)
        return b"".join(self.value(part) for part in found["join"])

    def text(self, found: Json) -> str:
        return self.value(found).decode("utf-8", "surrogateescape")

    def expand(self, text: bytes) -> bytes:
        while found := VARIABLE.search(text):
            before, after = text[: found.start()], text[found.end() :]
            if b"${" not in before:
                return before + self.variable(found[1].decode()) + self.expand(after)
            # "${key.${each}}"
            text = before + self.variable(found[1].decode()) + after
        return text

    def variable(self, name: str) -> bytes:
        if name == "each":
            assert self.situation.each is not None
            return self.situation.each
        if name == "queue":
            return self.situation.name.encode()
        first, _, last = name.partition(".")
        if first == "key":
            return b"dueq:{" + self.name + b"}:" + last.encode()
        if last == "id":
            return self.ids[first].encode()
        assert last == "ticket", name
        return self.captures[first][-1].ticket.encode()

    # The server beside the package

    def script(self, name: str, arguments: list[bytes]) -> Reply:
        source = (FOLDER / f"{name}.lua").read_bytes()
        return self.server.command("EVAL", source, 1, self.variable("key."), *arguments)

    def from_now(self, seconds: float | None) -> float:
        """A point of time in milliseconds from now by the server's clock."""
        now = self.server.command("TIME")
        assert isinstance(now, list)
        assert isinstance(now[0], bytes)
        assert isinstance(now[1], bytes)
        return to_ms(seconds) - int(now[0]) * 1000 - int(now[1]) // 1000

    # Steps

    def step(self, step: Json) -> None:
        expect = step.get("expect", {})
        verb = getattr(self, "do_" + step["do"], None)
        if not verb:
            if step["do"] == "redis":
                reply = self.server.command(*(self.value(word) for word in step["command"]))
            else:
                reply = self.script(step["do"], [self.value(arg) for arg in step.get("args", [])])
            assert "reply" not in expect or self.same_reply(reply, expect["reply"])
            return
        try:
            statuses = verb(step, expect)
        except dueq.Error as error:
            statuses = [error.name if str(error) else "without a text"]
        except UnicodeEncodeError:
            # Bytes that are not UTF-8 are no text in Python: it refuses them before dueq can.
            statuses = ["NAME" if step["do"] == "open" else "INVALID"]
        status = next((status for status in statuses if status != "OK"), "OK")
        assert status == expect.get("status", "OK")
        wanted = expect.get("statuses")
        if wanted is not None:
            assert (Counter(statuses) if isinstance(wanted, dict) else statuses) == wanted

    def same_reply(self, reply: Reply, wanted: Json) -> bool:
        if isinstance(wanted, list):
            return isinstance(reply, list) and all(
                self.same_reply(*pair) for pair in zip(reply, wanted, strict=True)
            )
        if wanted is None or isinstance(reply, int):
            return bool(reply == wanted)
        return reply == self.value(wanted)

    def do_open(self, step: Json, expect: Json) -> list[str]:
        queue = dueq.Queue(self.text(step["name"]), self.server.url)
        self.queue, self.name = queue, self.value(step["name"])
        return ["OK"]

    def do_push(self, step: Json, expect: Json) -> list[str]:
        found = step.get("drafts", [step]) * step.get("times", 1)
        all_options = [self.draft_options(each) for each in found]
        ids: list[str | None]
        if "drafts" in step:
            ids = [
                *self.queue.push_many(
                    dueq.Draft(self.value(each["body"]), **options)
                    for each, options in zip(found, all_options, strict=True)
                )
            ]
        else:
            ids = [self.queue.push(self.value(step["body"]), **all_options[0])]
        for each, id in zip(found, ids, strict=True):
            if id is not None:
                assert id == self.text(each["id"]) if "id" in each else len(id) == 22
                self.ids[each.get("as", "")] = id
        return ["DUPLICATE" if id is None else "OK" for id in ids]

    def draft_options(self, found: Json) -> Json:
        options: dict[str, Json] = {}
        for name, key in (("delay", "delay_ms"), ("at", "at_ms"), ("lease", "lease_ms")):
            if key in found:
                options[name] = found[key] / 1000
        if "id" in found:
            options["id"] = self.text(found["id"])
        if "max_attempts" in found:
            options["max_attempts"] = found["max_attempts"] or None
        if "headers" in found:
            pairs = found["headers"]
            options["headers"] = {self.text(name): self.text(text) for name, text in pairs}
        return options

    def do_reserve(self, step: Json, expect: Json) -> list[str]:
        timeout = step.get("timeout_ms", 0) / 1000
        lease = step["lease_ms"] / 1000 if "lease_ms" in step else None
        if "count" in step:
            messages = self.queue.reserve_many(step["count"], timeout, lease)
        else:
            one = self.queue.reserve(timeout, lease)
            messages = [one] if one else []
        if "as" in step:
            self.captures[step["as"]] = messages
        if "count" in expect:
            assert len(messages) == expect["count"]
        if "messages" in expect:
            assert [message.body for message in messages][len(expect["messages"]) :] == []
            for message, wanted in zip(messages, expect["messages"], strict=True):
                self.compare(message, wanted)
        return ["OK"] if messages else ["EMPTY"]

    def do_ack(self, step: Json, expect: Json) -> list[str]:
        if "message" in step and len(self.captures[step["message"]]) == 1:
            self.message(step).ack()
            return ["OK"]
        if "message" in step:
            done = self.queue.ack_many(self.captures[step["message"]])
        else:
            done = self.queue.ack_many(self.text(ticket) for ticket in step["tickets"])
        return ["OK" if each else "LEASE_LOST" for each in done]

    def do_retry(self, step: Json, expect: Json) -> list[str]:
        delay = step.get("delay_ms", 0) / 1000
        alive = self.message(step).retry(delay, self.text(step.get("error", "")))
        return ["OK" if alive else "BURIED"]

    def do_extend(self, step: Json, expect: Json) -> list[str]:
        self.message(step).extend(step["lease_ms"] / 1000)
        return ["OK"]

    def do_bury(self, step: Json, expect: Json) -> list[str]:
        self.message(step).bury(self.text(step.get("reason", "")))
        return ["OK"]

    def do_cancel(self, step: Json, expect: Json) -> list[str]:
        if "ids" in step:
            done = self.queue.cancel_many(self.text(id) for id in step["ids"])
        else:
            done = [self.queue.cancel(self.text(step["id"]))]
        return ["OK" if each else "NOT_FOUND" for each in done]

    def do_kick(self, step: Json, expect: Json) -> list[str]:
        if "ids" in step:
            done = self.queue.kick_many(self.text(id) for id in step["ids"])
        else:
            done = [self.queue.kick(self.text(step["id"]))]
        return ["OK" if each else "NOT_FOUND" for each in done]

    def do_reschedule(self, step: Json, expect: Json) -> list[str]:
        delay = step["delay_ms"] / 1000 if "delay_ms" in step else None
        at = step["at_ms"] / 1000 if "at_ms" in step else None
        return ["OK" if self.queue.reschedule(self.text(step["id"]), delay, at) else "NOT_FOUND"]

    def do_pause(self, step: Json, expect: Json) -> list[str]:
        self.queue.pause()
        return ["OK"]

    def do_resume(self, step: Json, expect: Json) -> list[str]:
        self.queue.resume()
        return ["OK"]

    def do_purge(self, step: Json, expect: Json) -> list[str]:
        purged = self.queue.purge(step["state"])
        assert "purged" not in expect or purged == expect["purged"]
        return ["OK"]

    def do_find(self, step: Json, expect: Json) -> list[str]:
        message = self.queue.find(self.text(step["id"]))
        if message is None:
            return ["NOT_FOUND"]
        assert message.id == self.text(step["id"])
        self.compare(message, expect.get("message", {}))
        return ["OK"]

    def do_stats(self, step: Json, expect: Json) -> list[str]:
        stats = self.queue.stats()
        for name, wanted in expect.items():
            if name == "next_ms":
                assert to_ms(stats.next) == wanted
            elif name == "next_in_ms":
                assert wanted[0] <= self.from_now(stats.next) <= wanted[1]
            elif name != "status":
                assert getattr(stats, name) == wanted, name
        return ["OK"]

    def message(self, step: Json) -> dueq.Message:
        return self.captures[step["message"]][-1]

    def compare(self, message: dueq.Message, wanted: Json) -> None:
        for name, value in wanted.items():
            if name in ("id", "ticket", "error", "state"):
                assert getattr(message, name).encode() == self.value(value), name
            elif name == "body":
                assert message.body == self.value(value)
            elif name == "headers":
                pairs = [(self.text(name), self.text(text)) for name, text in value]
                assert list(message.headers.items()) == pairs
            elif name == "time_ms":
                assert to_ms(message.time) == value
            elif name == "time_in_ms":
                assert value[0] <= self.from_now(message.time) <= value[1]
            elif name == "created_in_ms":
                assert value[0] <= self.from_now(message.created) <= value[1]
            elif name == "as":
                self.captures[value] = [message]
                self.ids[value] = message.id
            else:
                assert (getattr(message, name) or 0) == value, name


def to_ms(seconds: float | None) -> int:
    return round(seconds * 1000) if seconds else 0
