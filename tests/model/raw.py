"""A fourth driver: runs the sources of core/scripts by itself, so that a test can change them."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import secrets
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from layout import due_word, is_usual, opened, packed, shown

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from private_server import Refused, Reply, Server, _read

Json: TypeAlias = Any
Word: TypeAlias = "str | bytes | int"
SCRIPTS = Path(__file__).parents[2] / "core/scripts"
STATES = ["", "ready", "delayed", "leased", "dead"]
COUNTS = [
    *("ready", "delayed", "leased", "dead", "pushed", "reserved", "acked", "retried"),
    *("expired", "buried", "cancelled", "purged", "damaged", "next_ms", "paused"),
]
# They change nothing, or nothing that it would harm to change again.
NOT_NOTED = ("find", "peek", "stats")
# Pages are small, so that there are several.
PAGE = 2


class Connection:
    """A connection that stays, and the scripts that it has loaded."""

    def __init__(self, server: Server) -> None:
        self._socket = server.connect()
        self._file = self._socket.makefile("rb")
        self._loaded: dict[str, str] = {}

    def close(self) -> None:
        self._file.close()
        self._socket.close()

    def command(self, *words: Word) -> Reply:
        [reply] = self.commands([words])
        return reply

    def commands(self, lines: Iterable[Sequence[Word]]) -> list[Reply]:
        """Runs all of them in one round trip. Raises Refused when any of them is."""
        requests = [packed_command(words) for words in lines]
        self._socket.sendall(b"".join(requests))
        replies, refusal = list[Reply](), None
        for _ in requests:
            try:
                replies.append(_read(self._file))
            except Refused as error:
                refusal = error
        if refusal:
            raise refusal
        return replies

    def script(self, source: str, keys: list[str], *arguments: Word) -> Reply:
        return self.command(*self.running(source, keys, *arguments))

    def running(self, source: str, keys: list[str], *arguments: Word) -> list[Word]:
        """The command that runs a script."""
        if source not in self._loaded:
            self._loaded[source] = hashlib.sha1(source.encode()).hexdigest()
            self.command("SCRIPT", "LOAD", source)
        return ["EVALSHA", self._loaded[source], len(keys), *keys, *arguments]


def packed_command(words: Sequence[Word]) -> bytes:
    parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"".join(
        [b"*%d\r\n" % len(parts), *(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)]
    )


def embed() -> ModuleType:
    spec = importlib.util.spec_from_file_location("embed", SCRIPTS / "embed.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def sources() -> dict[str, str]:
    """The scripts by name, as the core has them."""
    tool = embed()
    codes = tool.statuses()
    return {path.stem: tool.expand(path, codes) for path in SCRIPTS.glob("*.lua")}


def other_keys() -> list[str]:
    """The names of another queue's keys, in the order in which a script wants them."""
    [names] = re.findall(r"local names = {(.*?)}", (SCRIPTS / "lib/other.lua").read_text(), re.S)
    return re.findall(r"\w+", names)


def are_usual(tickets: list[str]) -> bool:
    return all(len(ticket) == 22 and ticket.isalnum() for ticket in tickets)


def seen(answer: Any) -> Json:
    """What find answers."""
    if answer is None:
        return None
    _, state, time_ms, ticket, stored, past = answer
    return shown(int(time_ms), ticket, stored, past, STATES[int(state)])


def counted(answer: Any) -> Json:
    """What stats answers."""
    return {name: int(count) for name, count in zip(COUNTS, answer[1:16], strict=True)}


class RawDriver:
    name = "raw"

    def __init__(self, server: Server, scripts: dict[str, str]) -> None:
        self._connection = Connection(server)
        self._scripts = scripts
        tool = embed()
        self._statuses = {code: name[5:] for name, code in tool.statuses().items()}
        self._keys = {
            name: tool.keys_of(SCRIPTS / f"{name}.lua", text) for name, text in scripts.items()
        }
        self._few = {name: tool.few_of(text, self._keys[name]) for name, text in scripts.items()}
        self._other = other_keys()
        self._calls = 0
        self._needs: dict[tuple[str, tuple[str, ...]], str] = {}

    def close(self) -> None:
        self._connection.close()

    def call(self, request: Json) -> Json:
        return getattr(self, "do_" + request["do"])(request)

    def run(
        self,
        script: str,
        queue: str,
        *arguments: Word,
        other: str = "",
        lock: str = "",
        few: bool = False,
    ) -> Any:
        """Runs a script, with the keys of another queue where one is named; again where it asks.

        few: with the keys of its usual call alone, where it is not the first of a minute.
        """
        words: tuple[Word, ...] = arguments
        if script not in NOT_NOTED:
            self._calls += 1
            # Its answer is kept for a second; some are the first of a minute.
            words = (self._calls, 1000, "0" if self._calls % 8 else "1", *arguments)
        keys = self.keys(script, queue, lock)
        if few and self._calls % 8:
            keys = keys[: self._few[script]]
        keys += [f"dueq:{{{other}}}:{key}" for key in self._other if other]
        answer = self._connection.script(self._scripts[script], keys, *words)
        if isinstance(answer, bytes) and answer.startswith(b">"):
            assert other != answer[1:].decode(), "it has these keys"
            self._calls -= 1
            return self.run(script, queue, *arguments, other=answer[1:].decode())
        return answer

    def keys(self, script: str, queue: str, lock: str = "") -> list[str]:
        named = {"reply": "reply:raw", "lock": f"lock:{lock}", "free": f"lock_wake:{lock}"}
        return [f"dueq:{{{queue}}}:{named.get(key, key)}" for key in self._keys[script]]

    def outcomes(self, answer: int | bytes) -> Json:
        found = str(answer) if isinstance(answer, int) else answer.decode()
        return {"statuses": [self._statuses[digit] for digit in found]}

    def do_forget(self, request: Json) -> Json:
        return {}

    def do_push(self, request: Json) -> Json:
        queue, rows = request["queue"], request["drafts"]
        ids, words = packed(rows)
        usual = all(not row["id"] and is_usual(row) for row in rows)
        if usual and set(words[2::4]) == {"0"}:
            now = [word for i, word in enumerate(words) if i % 4 < 2]
            answer = self.run("push", queue, "now", *now, few=True)
        else:
            answer = self.run("push", queue, "any", *words)
        return {"ids": ids, **self.outcomes(answer)}

    def do_ack_push(self, request: Json) -> Json:
        ids, words = packed(request["drafts"])
        ticket, target = request["ticket"], request["target"]
        answer = self.run("ack_push", request["queue"], ticket, *words, other=target)
        return {"ids": ids, **self.outcomes(answer)}

    def do_reserve(self, request: Json) -> Json:
        names = tuple(request["queues"])
        for queue in names:
            messages, _ = self.reserve(queue, names, request["count"], request["lease_ms"])
            if messages:
                break
        return {"messages": messages, "queue": queue if messages else ""}

    def do_settle(self, request: Json) -> Json:
        """One round trip of a consumer: what it holds is settled, and more is reserved."""
        queue, acks = request["queue"], request["acks"]
        words = ["1" if are_usual(acks) else "0", len(acks), *acks]
        if request["retry"]:
            chance, error = secrets.randbelow(65536), request["error"][:4096]
            words += [request["retry"], request["delay_ms"], chance, error]
        count, lease = request["count"], request["lease_ms"]
        messages, outcomes = self.reserve(queue, (queue,), count, lease, *words)
        return {"messages": messages, **self.outcomes(outcomes)}

    def reserve(
        self, queue: str, names: tuple[str, ...], count: int, lease_ms: int, *settlement: str | int
    ) -> tuple[list[Json], bytes]:
        need, rows, outcomes = self._needs.pop((queue, names), ""), list[Any](), b""
        # What they are not enough for is asked again.
        few = (
            self._calls % 3 > 0 and not need and len(settlement) <= 2 + int((*settlement, 0, 0)[1])
        )
        few = few and (not settlement or settlement[0] == "1")
        while True:
            words = [count, lease_ms, 30_000, "0", "0", *settlement]
            now, wait, _, _, needed, pasts, settled, *rows = self.run(
                "reserve", queue, *words, other=need, few=few
            )
            need, outcomes, settlement, few = needed.decode()[1:], outcomes + settled, (), False
            if rows or not (need or int(wait) == 0):
                break
        self._needs[queue, names] = need
        errors = dict(zip(pasts[::2], pasts[1::2], strict=True))
        messages = []
        for i, (ticket, stored) in enumerate(zip(rows[::2], rows[1::2], strict=True)):
            message = opened(ticket.decode(), stored, errors.get(i + 1, b""), "leased")
            own = message.pop("lease_ms") or 30_000
            message["time_ms"] = int(now) + (lease_ms or own)
            messages.append(message)
        return messages, outcomes

    def do_ack(self, request: Json) -> Json:
        tickets = request["tickets"]
        usual = "1" if are_usual(tickets) else "0"
        return self.outcomes(self.run("ack", request["queue"], usual, *tickets))

    def do_retry(self, request: Json) -> Json:
        ticket, delay, error = request["ticket"], request["delay_ms"], request["error"][:4096]
        chance = secrets.randbelow(65536)
        return self.outcomes(self.run("retry", request["queue"], ticket, delay, chance, error))

    def do_release(self, request: Json) -> Json:
        ticket, delay = request["ticket"], request["delay_ms"]
        return self.outcomes(self.run("release", request["queue"], delay, ticket))

    def do_extend(self, request: Json) -> Json:
        ticket, lease = request["ticket"], request["lease_ms"]
        return self.outcomes(self.run("extend", request["queue"], lease, ticket))

    def do_bury(self, request: Json) -> Json:
        ticket, error = request["ticket"], request["error"][:4096]
        return self.outcomes(self.run("bury", request["queue"], ticket, error))

    def do_cancel(self, request: Json) -> Json:
        states = self.run("cancel", request["queue"], *request["ids"]).decode()
        return {"states": [STATES[int(digit)] or None for digit in states]}

    def do_kick(self, request: Json) -> Json:
        return self.outcomes(self.run("kick", request["queue"], *request["ids"]))

    def do_kick_all(self, request: Json) -> Json:
        kicked, cursor = 0, ""
        words = [PAGE, request["error"], request["from_ms"], request["until_ms"]]
        while True:
            answer = self.run("kick_all", request["queue"], cursor, *words).decode()
            number, _, cursor = answer.partition(" ")
            kicked += int(number)
            if not cursor:
                return {"kicked": kicked}

    def do_reschedule(self, request: Json) -> Json:
        return self.outcomes(
            self.run("reschedule", request["queue"], request["id"], due_word(request))
        )

    def do_pause(self, request: Json) -> Json:
        return self.outcomes(self.run("pause", request["queue"]))

    def do_resume(self, request: Json) -> Json:
        return self.outcomes(self.run("resume", request["queue"]))

    def do_purge(self, request: Json) -> Json:
        purged, state = 0, STATES.index(request["state"])
        while True:
            answer = self.run("purge", request["queue"], state, PAGE)
            number, _, more = answer.decode().partition(" ")
            purged += int(number)
            if not more:
                return {"purged": purged}

    def do_peek(self, request: Json) -> Json:
        messages, cursor, state = [], "", request["state"]
        while True:
            answer = self.run("peek", request["queue"], STATES.index(state), cursor, PAGE)
            rows = answer[2:]
            for time_ms, ticket, stored, past in zip(*(rows[i::4] for i in range(4)), strict=True):
                messages.append(shown(int(time_ms), ticket, stored, past, state))
            cursor = answer[1].decode()
            if not cursor:
                return {"messages": messages}

    def do_look(self, request: Json) -> Json:
        """All in one round trip: it comes after each step."""
        ids = request["ids"]
        calls = [self.looking("find", queue, id) for queue in ids for id in ids[queue]]
        calls += [self.looking("stats", queue) for queue in ids]
        answers: Iterator[Any] = iter(self._connection.commands(calls))
        found = {queue: [seen(next(answers)) for _ in ids[queue]] for queue in ids}
        return {"found": found, "counts": {queue: counted(next(answers)) for queue in ids}}

    def looking(self, script: str, queue: str, *arguments: str) -> list[Word]:
        keys = self.keys(script, queue)
        return self._connection.running(self._scripts[script], keys, *arguments)

    def do_lock(self, request: Json) -> Json:
        ttl, token = request["ttl_ms"], f"t{self._calls}"
        answer = self.run("lock", request["queue"], token, ttl, "0", lock=request["name"])
        if len(answer) < 5:
            return {"statuses": ["TAKEN"], "token": ""}
        return {"statuses": ["OK"], "token": answer[4].decode()}

    def do_relock(self, request: Json) -> Json:
        token, ttl = request["token"], request["ttl_ms"]
        return self.outcomes(self.run("relock", request["queue"], token, ttl, lock=request["name"]))

    def do_unlock(self, request: Json) -> Json:
        return self.outcomes(
            self.run("unlock", request["queue"], request["token"], lock=request["name"])
        )
