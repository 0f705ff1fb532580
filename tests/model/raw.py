"""A fourth driver: runs the sources of core/scripts by itself, so that a test can change them."""

from __future__ import annotations

import hashlib
import secrets
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from layout import due_word, made_id, opened, packed, shown
from message import escaped

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from private_server import Refused, Reply, Server, read_reply
from script_sources import embed

Json: TypeAlias = Any
Word: TypeAlias = "str | bytes | int"
SCRIPTS = Path(__file__).parents[2] / "core/scripts"
STATES = ["", "ready", "delayed", "leased", "dead", "outbox"]
COUNTS = [
    *("ready", "delayed", "leased", "dead", "outbox", "pushed", "reserved", "acked", "retried"),
    *("expired", "died", "cancelled", "purged", "quarantined", "next_event_ms", "paused"),
]
# Who fails a message.
PROCESS = "raw 1"
# Pages are small, so that there are several.
PAGE = 2
# How often a reserve may say that it is to be called again at once.
MOST_ROUNDS = 50


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
                replies.append(read_reply(self._file))
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


def is_first(ticket: str) -> bool:
    """Of a message that never came back."""
    return ":" not in ticket or ticket.startswith(("0:", "0."))


def is_plain(ticket: str) -> bool:
    """Such are acknowledged by the fast reserve."""
    return is_first(ticket) and not is_noted(ticket)


def is_noted(ticket: str) -> bool:
    """Of a message whose end is kept, or counted by a batch."""
    return "!" in ticket.partition(":")[0]


def is_note(envelope: bytes) -> bool:
    """Of an entry of the outbox: it is for a batch."""
    return envelope[:1] == b"\xd4"


def is_later(row: Json) -> bool:
    return bool(row["delay_ms"] or row["at_ms"])


def is_fast(rows: list[Json]) -> bool:
    """What the script `push` is enough for."""
    first = rows[0]
    return all(
        not (row["id"] or row["ttl_ms"] or row["priority"] or row["keep_ms"])
        and not (row["group"] and is_later(row))
        and (row["delay_ms"], row["at_ms"]) == (first["delay_ms"], first["at_ms"])
        for row in rows
    )


def is_fast_later(rows: list[Json]) -> bool:
    """What the script `push_group_later` is enough for, if a message has a group."""
    return all(
        is_later(row)
        and not (row["ttl_ms"] or row["priority"] or row["keep_ms"] or row["unique_ms"])
        and row["replace"] == "refuse"
        and (len(rows) == 1 or not row["id"])
        for row in rows
    )


def fast_own(rows: list[Json], words: list[Word]) -> tuple[str, list[Word]] | None:
    """The script that is enough for one message with an id of the caller's own, and its words."""
    row = rows[0]
    if len(rows) > 1 or not row["id"] or row["ttl_ms"] or row["priority"] or row["group"]:
        return None
    if row["keep_ms"]:
        return None
    if row["replace"] != "refuse":
        return "push_replace", words
    window = [row["unique_ms"]] if row["unique_ms"] else []
    if words[2] == "0":
        return "push_own", [*words[:2], *window]
    return "push_own_later", [*words[:3], *window]


def seen(answer: Any) -> Json:
    """What find answers."""
    if answer is None:
        return None
    _, state, time_ms, ticket, stored, past, _ = answer
    return shown(int(time_ms), ticket, stored, past, STATES[int(state)])


def counted(answer: Any) -> Json:
    """What stats answers, without kept ends: the model's messages have none."""
    numbers = [*answer[1:15], *answer[17:19]]
    return {name: int(count) for name, count in zip(COUNTS, numbers, strict=True)}


class RawDriver:
    name = "raw"

    def __init__(self, server: Server, scripts: dict[str, str]) -> None:
        self._connection = Connection(server)
        self._scripts = scripts
        tool = embed()
        self._statuses = {code: name[5:] for name, code in tool.statuses().items()}
        self._statuses["9"] = "BACKLOG"  # lib/backlog.lua
        paths = {name: SCRIPTS / f"{name}.lua" for name in scripts}
        self._keys = {name: tool.keys_of(path) for name, path in paths.items()}
        self._alone = {n for n, path in paths.items() if "-- args alone" in path.read_text()}
        self._calls = 0

    def close(self) -> None:
        self._connection.close()

    def command(self, *words: Word) -> Reply:
        return self._connection.command(*words)

    def call(self, request: Json) -> Json:
        return getattr(self, "do_" + request["do"])(request)

    def run(
        self, script: str, queue: str, *arguments: Word, lock: str = "", session: str = "raw"
    ) -> Any:
        words: tuple[Word, ...] = arguments
        if script not in self._alone:
            self._calls += 1
            # Its answer is kept for a second; some are the first of a minute.
            words = (self._calls, 1000, "0" if self._calls % 8 else "1", *arguments)
        keys = self.keys(script, queue, lock, session)
        return self._connection.script(self._scripts[script], keys, *words)

    def keys(self, script: str, queue: str, lock: str = "", session: str = "raw") -> list[str]:
        named = {"lock": f"lock:{lock}", "lock_wake": f"lock_wake:{lock}"}
        named["reply"] = f"reply:{session}"
        return [f"dueq:{{{queue}}}:{named.get(key, key)}" for key in self._keys[script]]

    def outcomes(self, answer: int | bytes) -> Json:
        """A relay has work where the digits end with a plus; the queue has limits: with an l."""
        found = str(answer) if isinstance(answer, int) else answer.decode()
        return {"statuses": [self._statuses[digit] for digit in found.rstrip("+l")]}

    def do_forget(self, request: Json) -> Json:
        return {}

    def do_push(self, request: Json) -> Json:
        queue, rows = request["queue"], request["drafts"]
        ids, words = packed(rows)
        own = fast_own(rows, words) if self._calls % 3 else None
        answer = self.run(own[0], queue, *own[1]) if own else None
        if answer is None:
            answer = self.push_many(queue, rows, words)
        return {"ids": ids, **self.outcomes(answer)}

    def push_many(self, queue: str, rows: list[Json], words: list[Word]) -> Any:
        has_group = any(row["group"] for row in rows)
        if is_fast(rows):
            made = [word for i, word in enumerate(words) if i % 4 < 2]
            later = [] if words[2] == "0" else [words[2]]
            if not has_group:
                return self.run("push_later" if later else "push", queue, *later, *made)
            answer = self.run("push_group", queue, *made)
            return self.run("push_group_sort", queue, *made) if answer is None else answer
        if has_group and is_fast_later(rows) and self._calls % 3:
            answer = self.run("push_group_later", queue, *words)
            if answer is not None:
                return answer
        replaces = any(row["replace"] != "refuse" for row in rows)
        script = "push_group_full" if has_group else "push_full"
        return self.run("push_replace_full" if replaces else script, queue, *words)

    def do_ack_push(self, request: Json) -> Json:
        ids, words = packed(request["drafts"])
        queue, target, ticket = request["queue"], request["target"], request["ticket"]
        if target == queue:
            answer = self.run("ack_push", queue, ticket, *words)
            return {"ids": ids, **self.outcomes(answer)}
        entries = [made_id() for _ in ids]
        envelopes = [word for word in words[1::4] if isinstance(word, bytes)]
        stamps = [each[4:14].decode() if each[1] & 1 else "" for each in envelopes]
        for i, entry in enumerate(entries):
            words.insert(5 * i, entry)
        answer = self.run("ack_outbox", queue, ticket, target, *words)
        return {"ids": ids, "entries": entries, "stamps": stamps, **self.outcomes(answer)}

    def do_reserve(self, request: Json) -> Json:
        for queue in request["queues"]:
            messages, _ = self.reserve(queue, request["count"], request["lease_ms"], [])
            if messages:
                break
        return {"messages": messages, "queue": queue if messages else ""}

    def do_settle(self, request: Json) -> Json:
        """One round trip of a consumer: what it holds is settled, and more is reserved."""
        words = list[Word]()
        if request["retry"]:
            chance, error = secrets.randbelow(65536), request["error"][:4096]
            words = [request["retry"], request["delay_ms"], chance, error, PROCESS]
        elif any(map(is_noted, request["acks"])):
            words = ["", "", "", "", PROCESS]
        messages, outcomes = self.reserve(
            request["queue"], request["count"], request["lease_ms"], request["acks"], *words
        )
        return {"messages": messages, **self.outcomes(outcomes)}

    def reserve(
        self, queue: str, count: int, lease_ms: int, acks: list[str], *retry: Word
    ) -> tuple[list[Json], bytes]:
        """Who is alone with the scripts relays nothing: it is as one that dies before it."""
        outcomes, scripts = b"", ["reserve", "reserve_full", "reserve_groups_full"]
        if self._calls % 3 == 1:
            scripts = ["reserve_groups", "reserve_groups_full", "reserve_full"]
        if retry or not all(map(is_plain, acks)) or self._calls % 3 == 0:
            scripts.pop(0)
        for _ in range(MOST_ROUNDS):
            flags = "---e--" if lease_ms else "---ed-"
            words = [count, lease_ms or 30_000, flags, len(acks), *acks, *retry]
            answer = self.run(scripts[0], queue, *words)
            if answer is None:
                scripts.pop(0)
                continue
            now, wait, _, _, relay, pasts, settled, *rows = answer
            outcomes, acks, retry = outcomes + settled, [], ()
            if rows or relay.startswith(b"1") or int(wait) != 0:
                break
        else:
            raise Refused("it says again and again that there is more")
        errors = dict(zip(pasts[::2], pasts[1::2], strict=True))
        messages = []
        for i, (ticket, stored) in enumerate(zip(rows[::2], rows[1::2], strict=True)):
            message = opened(ticket.decode(), stored, errors.get(i + 1, b""), "leased")
            own = message.pop("lease_ms") or 30_000
            message["time_ms"] = int(now) + (lease_ms or own)
            messages.append(message)
        return messages, outcomes

    # The steps of a relay, each by itself

    def do_relay_take(self, request: Json) -> Json:
        words = request["ahead_ms"], request["most"], request["lease_ms"]
        end, name, *rows = self.run("relay_take", request["queue"], *words)
        entries = [rows[i : i + 6] for i in range(0, len(rows), 6)]
        return {"end_ms": int(end), "target": name.decode(), "entries": entries}

    def do_relay_put(self, request: Json) -> Json:
        words = list[Word]()
        for ticket, *rest in request["entries"]:
            words += [*rest, ticket]
        script = "relay_count" if is_note(request["entries"][0][2]) else "relay_put"
        answer = self.run(script, request["target"], request["end_ms"], request["queue"], *words)
        return self.outcomes(answer)

    def do_relay_done(self, request: Json) -> Json:
        digits = {name: code for code, name in self._statuses.items()}
        words: list[Word] = [request["end_ms"], request["target"], request["error"]]
        for (ticket, *_), status in zip(request["entries"], request["statuses"], strict=True):
            words += [ticket, digits[status]]
        return {"left": self.run("relay_done", request["queue"], *words)}

    def do_relay_forget(self, request: Json) -> Json:
        tickets = [ticket for ticket, *_ in request["entries"]]
        return {"known": self.run("relay_forget", request["target"], request["queue"], *tickets)}

    def do_ack(self, request: Json) -> Json:
        tickets = request["tickets"]
        is_fast = len(tickets) == 1 and is_first(tickets[0]) and self._calls % 3
        fast, full, words = "ack", "ack_full", tickets
        if any("=" in ticket.partition(":")[0] for ticket in tickets):
            fast, full = "ack_group", "ack_wake"
        if any(map(is_noted, tickets)):
            fast, full, words = "ack_noted", "ack_end", [PROCESS, "", *tickets]
        answer = self.run(fast, request["queue"], *words) if is_fast else None
        if answer is None:
            answer = self.run(full, request["queue"], *words)
        return self.outcomes(answer)

    def do_retry(self, request: Json) -> Json:
        ticket, delay, error = request["ticket"], request["delay_ms"], request["error"][:4096]
        chance = secrets.randbelow(65536)
        return self.outcomes(
            self.run("retry", request["queue"], ticket, delay, chance, error, PROCESS)
        )

    def do_release(self, request: Json) -> Json:
        ticket, delay = request["ticket"], request["delay_ms"]
        return self.outcomes(self.run("release", request["queue"], delay, ticket))

    def do_hold_group(self, request: Json) -> Json:
        return self.outcomes(
            self.run("hold_group", request["queue"], request["ticket"], request["ms"])
        )

    def do_hold(self, request: Json) -> Json:
        group = escaped(request["group"])
        return self.outcomes(self.run("hold", request["queue"], group, request["ms"]))

    def do_limit(self, request: Json) -> Json:
        group = escaped(request["group"])
        words: list[Word] = ["1", int(request["clear"]), group]
        for name in ("concurrency", "rate", "burst", "backlog", "weight"):
            number = request[name]
            if number >= 0:
                value = f"{number}/h" if name == "rate" and number else str(number)
                words += ["g" if group else "each", name, value]
        order = request["order"]
        if order:
            is_none = order == "none" or (order == "fair" and not group)
            words += ["g" if group else "each", "order", "" if is_none else order]
        return self.outcomes(self.run("limit", request["queue"], *words))

    def do_extend(self, request: Json) -> Json:
        ticket, lease = request["ticket"], request["lease_ms"]
        return self.outcomes(self.run("extend", request["queue"], lease, ticket))

    def do_checkpoint(self, request: Json) -> Json:
        ticket, cursor = request["ticket"], request["cursor"]
        return self.outcomes(self.run("checkpoint", request["queue"], ticket, cursor))

    def do_bury(self, request: Json) -> Json:
        ticket, error = request["ticket"], request["error"][:4096]
        return self.outcomes(self.run("bury", request["queue"], ticket, error, PROCESS))

    def do_cancel(self, request: Json) -> Json:
        answer = self.run_fast("cancel", request["queue"], request["ids"]).decode().rstrip("+")
        return {"states": [STATES[int(digit)] or None for digit in answer]}

    def do_kick(self, request: Json) -> Json:
        return self.outcomes(self.run("kick", request["queue"], *request["ids"]))

    def do_kick_all(self, request: Json) -> Json:
        kicked, cursor = 0, ""
        words = [PAGE, request["error"], request["since_ms"], request["until_ms"]]
        while True:
            answer = self.run("kick_all", request["queue"], cursor, *words).decode()
            number, _, cursor = answer.partition(" ")
            kicked += int(number)
            if not cursor:
                return {"kicked": kicked}

    def do_reschedule(self, request: Json) -> Json:
        words = [request["id"], due_word(request)]
        return self.outcomes(self.run_fast("reschedule", request["queue"], words))

    def run_fast(self, script: str, queue: str, words: list[str]) -> Any:
        """The fast script, unless it is for one id alone; and where it passes on, the other."""
        answer = None
        if script != "cancel" or len(words) == 1:
            answer = self.run(script, queue, *words)
        return self.run(f"{script}_full", queue, *words) if answer is None else answer

    def do_pause(self, request: Json) -> Json:
        return self.outcomes(self.run("pause", request["queue"]))

    def do_resume(self, request: Json) -> Json:
        return self.outcomes(self.run("resume", request["queue"]))

    def do_purge(self, request: Json) -> Json:
        purged, state = 0, STATES.index(request["state"])
        while True:
            answer = self.run("purge", request["queue"], state, request["page"])
            number, _, more = answer.decode().partition(" ")
            purged += int(number)
            if not more:
                return {"purged": purged}

    def do_peek(self, request: Json) -> Json:
        messages, cursor, state, cursors = [], "", request["state"], set[str]()
        while True:
            answer = self.run("peek", request["queue"], STATES.index(state), cursor, PAGE, 0)
            rows = answer[2:]
            for row in zip(*(rows[i::5] for i in range(5)), strict=True):
                time_ms, ticket, stored, past, _ = row
                messages.append(shown(int(time_ms), ticket, stored, past, state))
            cursor = answer[1].decode()
            if not cursor:
                return {"messages": messages}
            if cursor in cursors:
                raise Refused(f"the cursor {cursor} came again")
            cursors.add(cursor)

    def do_look(self, request: Json) -> Json:
        """All in one round trip: it comes after each step."""
        ids = request["ids"]
        calls = [self.looking("find", queue, id, "0") for queue in ids for id in ids[queue]]
        calls += [self.looking("stats", queue) for queue in ids]
        answers: Iterator[Any] = iter(self._connection.commands(calls))
        found = {queue: [seen(next(answers)) for _ in ids[queue]] for queue in ids}
        return {"found": found, "counts": {queue: counted(next(answers)) for queue in ids}}

    def looking(self, script: str, queue: str, *arguments: str) -> list[Word]:
        keys = self.keys(script, queue)
        return self._connection.running(self._scripts[script], keys, *arguments)

    def do_lock(self, request: Json) -> Json:
        ttl, token = request["ttl_ms"], f"t{self._calls}"
        answer = self.run("lock", request["queue"], token, ttl, lock=request["name"])
        if len(answer) < 5:
            return {"statuses": ["TAKEN"], "token": ""}
        return {"statuses": ["OK"], "token": answer[4].decode()}

    def do_relock(self, request: Json) -> Json:
        token, ttl = request["token"], request["ttl_ms"]
        return self.outcomes(self.run("relock", request["queue"], token, ttl, lock=request["name"]))

    def do_unlock(self, request: Json) -> Json:
        return self.outcomes(
            self.run("relock", request["queue"], request["token"], 0, lock=request["name"])
        )
