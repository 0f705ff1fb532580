"""The situations of this folder (README.md has their format), and what their values mean."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import dueq

Json: TypeAlias = Any
FOLDER = Path(__file__).parent
CORE = FOLDER.parents[1] / "core"
VERBS = tomllib.loads((CORE / "verbs.toml").read_text(encoding="utf-8"))
ALL_OPTIONS = tomllib.loads((CORE / "options.toml").read_text(encoding="utf-8"))
MADE = {name: row for name, row in VERBS.items() if "generated_faces" in row}
VARIABLE = re.compile(rb"\$\{([^${}]*)\}")

DURATIONS = {"duration", "span", "delay", "at", "patience", "length", "preset"}


def options_of(verb: str) -> dict[str, tuple[str, str]]:
    """The options of a verb that situations name, with their names and kinds in options.toml."""
    return {
        f"{name}_ms" if row["kind"] in DURATIONS else name: (name, row["kind"])
        for name, row in ALL_OPTIONS[verb].items()
        if row["kind"] not in ("json", "order") and "many" not in row
    }


OPTIONS, RESERVE = options_of("push"), options_of("reserve")


def fields_of(row: Json) -> set[str]:
    """The fields of a step: the arguments of a verb whose faces are made."""
    times = {"duration", "retry_delay", "moment", "delay", "at"}
    subjects = {"ids": {"id", "ids"}, "ticket": {"message"}, "tickets": {"message"}}
    fields: set[str] = set()
    arguments = row.get("arguments", {})
    for name in arguments if "struct" in row else row["args"]:
        argument = arguments.get(name)
        of_time = argument is not None and argument["kind"] in times
        fields |= subjects.get(name, {f"{name}_ms" if of_time else name})
    return fields


DRAFT = {"body", "as", *OPTIONS}
JOB_DRAFT = {
    "payload",
    "job",
    "data",
    "command_name",
    "command",
    "display_name",
    "delay_ms",
    "at_ms",
}
JOB_DRAFT |= {"max_tries", "max_exceptions", "timeout_s", "backoff_s", "retry_until_s"}
JOB_DRAFT |= {"fail_on_timeout", "as"}
BACKOFF = {"kind", "jitter", "base_ms", "cap_ms", "list_ms"}
FIELDS = {
    "open": {"name", "partitions"},
    "push": DRAFT | {"drafts", "times"},
    "ack_push": {"message", "to", "result", "drafts", "times"},
    "reserve": {"count", "queues", "order", "as", *RESERVE},
    "schedule": {"name", "expression", "zone", "catchup", "job", "app", "release"},
    "fire": {"message"},
    "ack": {"message", "tickets", "result"},
    "checkpoint": {"message", "cursor"},
    "find": {"id"},
    "outcome": {"id", "timeout_ms"},
    "peek": {"state", "page", "count", "as", "more"},
    **{verb: fields_of(row) for verb, row in MADE.items()},
    "kick_all": {"error", "since_ms", "since_in_ms", "until_ms", "until_in_ms"},
    "purge": {"state"},
    "remove": {"force"},
    "open_batch": {"id", "then", "catch", "finally", "open_ms", "keep_ms"}
    | {f"{name}_queue" for name in ("then", "catch", "finally")},
    "find_batch": {"id"},
    "batches": set[str](),
    "push_to": {"to", "drafts"},
    "cancel_batch": {"id", "of"},
    "check": {"repair"},
    "limits": set[str](),
    "stats": set[str](),
    "rates": {"minutes", "hours"},
    "workers": set[str](),
    "failures": {"id"},
    "groups": {"most"},
    "purge_group": {"group"},
    "allow": {"dead_letter", "any"},
    "queues": set[str](),
    "lock": {"name", "ttl_ms", "timeout_ms", "as"},
    "relock": {"lock", "ttl_ms"},
    "unlock": {"lock"},
    "redis": {"command"},
    "pass": {"args"},
    "break": {"args"},
    "mend": {"args"},
    "raise": {"args"},
    "lower": {"args"},
    "redisson open": {"destination", "codec", "layout"},
    "redisson offer": {"value", "values", "times", "delay_ms", "at_ms"},
    "redisson transfer": {"timeout_ms", "most"},
    "redisson take": {"count", "timeout_ms"},
    "redisson poll": {"count"},
    "redisson peek": {"count"},
    "redisson remove": {"value"},
    "redisson contains": {"value"},
    "laravel open": {"name", "prefix"},
    "laravel push": JOB_DRAFT | {"drafts", "times"},
    "laravel later": JOB_DRAFT,
    "laravel pop": {"count", "timeout_ms", "retry_after_ms"},
    "laravel delete": {"job", "reserved"},
    "laravel release": {"job", "delay_ms"},
    "laravel migrate": {"timeout_ms", "most"},
    **{f"{peer} {verb}": set() for peer in ("redisson", "laravel") for verb in ("size", "clear")},
    **{script: {"args"} for script in ("place", "elements", "payloads", "nearer")},
}
STATS = {"outbox", "outbox_error", "at_limit"}
STATS |= {"ready", "delayed", "leased", "dead", "pushed", "reserved", "acked", "retried", "expired"}
STATS |= {"died", "cancelled", "purged", "quarantined", "paused", "ends", "ends_bytes"}
STATS |= {"next_event_ms", "next_event_in_ms", "oldest_ms", "oldest_in_ms"}
MOVED = {"moved", "quarantined", "next_ms", "next_in_ms"}
SIZES = {"ready", "delayed", "reserved", "quarantined", "next_ms", "next_in_ms", "now_in_ms"}
EXPECTS = {
    "ack": {"statuses"},
    **{verb: {"statuses", "states"} for verb in MADE if "ids" in FIELDS[verb]},
    **{key: {"statuses", "stored"} for key in ("push", "ack_push")},
    "reserve": {"messages", "count", "ids", "queue"},
    "peek": {"messages", "count", "ids"},
    "find": {"message"},
    "outcome": {"end"},
    "kick_all": {"kicked"},
    "purge": {"purged"},
    "remove": {"removed"},
    "find_batch": {"batch"},
    "batches": {"batches"},
    "push_to": {"statuses"},
    "cancel_batch": {"cancelled"},
    "check": {"findings"},
    "limits": {
        *("concurrency", "rate", "burst", "each_group_concurrency", "each_group_rate"),
        *("each_group_burst", "each_group_backlog", "order", "groups"),
    },
    "stats": STATS,
    "rates": {"rates"},
    "workers": {"workers"},
    "failures": {"failures"},
    "groups": {"groups"},
    "purge_group": {"purged"},
    "allow": {"names"},
    "queues": {"names", "without"},
    **{key: {"reply"} for key in ("redis", "pass", "break", "mend", "raise", "lower")},
    **{key: {"reply"} for key in ("place", "elements", "payloads", "nearer")},
    **{f"redisson {verb}": {"values", "count"} for verb in ("take", "poll", "peek")},
    **{key: {"statuses", "id"} for key in ("laravel push", "laravel later")},
    "laravel pop": {"jobs", "count"},
    "laravel delete": {"statuses"},
    **dict.fromkeys(("redisson transfer", "laravel migrate"), MOVED),
    **{f"{peer} size": SIZES for peer in ("redisson", "laravel")},
    **{f"{peer} clear": {"cleared"} for peer in ("redisson", "laravel")},
}


class Situation:
    def __init__(self, found: Json, way: str = "", index: int | None = None) -> None:
        number = None if index is None else str(index + 1)
        self.name = "_".join(filter(None, ("test", found["name"], way, number)))
        self.each: bytes | None = None if index is None else found["each"][index].encode()
        self.damaged = found.get("damaged", False)
        self.steps: list[Json] = []
        for step in found["steps"]:
            if step["do"] == "way":
                parts = found["ways"][way]
                place = step.get("part", 0)
                self.steps += parts[place] if place < len(parts) else []
            else:
                self.steps.append(step)


def situations() -> Iterator[Situation]:
    for path in sorted(FOLDER.glob("*.json")):
        for found in json.loads(path.read_text(encoding="utf-8")):
            for way in found.get("ways", [""]):
                for index in range(len(found["each"])) if "each" in found else [None]:
                    yield Situation(found, way, index)


class Values:
    """What texts and drafts of a situation stand for."""

    def __init__(self, situation: Situation) -> None:
        self.situation = situation
        self.name = situation.name.encode()
        """The queue in use."""
        self.names = {self.name: None}
        """All queues that steps named."""
        self.captures: dict[str, list[dueq.Message]] = {}
        self.ids: dict[str, str] = {}

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

    def queue_name(self, found: Json) -> str:
        self.names[self.value(found)] = None
        return self.text(found)

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

    def draft(self, found: Json) -> dueq.Draft:
        return dueq.Draft(self.value(found["body"]), **self.draft_options(found))

    def draft_options(self, found: Json) -> Json:
        """The arguments of Queue.push() and dueq.Draft behind the body."""
        return self.options(OPTIONS, found)

    def options(self, of: dict[str, tuple[str, str]], found: Json) -> Json:
        """The keyword arguments of a verb with these options."""
        options: dict[str, Json] = {}
        for key in of.keys() & found.keys():
            name, kind = of[key]
            value = found[key]
            if kind in DURATIONS:
                options[name] = value / 1000
            elif kind == "limit":
                options[name] = value or None
            elif name == "dead_letter":
                options[name] = self.queue_name(value)
            elif kind == "text":
                options[name] = self.text(value)
            elif kind == "headers":
                options[name] = {self.text(name): self.text(text) for name, text in value}
            elif kind == "backoff":
                options[name] = self.backoff(value)
            elif kind == "replace":
                words = {"refuse": False, "replace": True, "replace_body": "body"}
                options[name] = words[self.text(value)]
            else:
                options[name] = value
        return options

    def backoff(self, found: Json) -> Json:
        kind: Any = self.text(found["kind"])
        delays = [delay / 1000 for delay in found.get("list_ms", [])]
        if kind == "list" and set(found) == {"kind", "list_ms"}:
            return delays
        if kind == "fixed" and set(found) == {"kind", "base_ms"}:
            return found["base_ms"] / 1000
        times = {name[:-3]: found[name] / 1000 for name in ("base_ms", "cap_ms") if name in found}
        return dueq.Backoff(kind, jitter=found.get("jitter", "none"), delays=delays, **times)
