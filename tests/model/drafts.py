"""Makes drafts of two numbers, and the same as a request has them."""

from __future__ import annotations

from base64 import b64encode
from itertools import product
from typing import Any, TypeAlias

from limits import Changes
from message import DEFAULT_BACKOFF, HIGH, LOW, NORMAL, Backoff, Draft

Json: TypeAlias = Any

QUEUES = ["model", "model-b", "model-c"]
SPAN_MS = 1_000_000

# Ids of the caller's own; "": the core makes one. The last has the form of a made one.
IDS = ["", "a", "b", "", "1:a", "0.b:c", "\u00fc \u732b", "", "1Hqc8ZUJ6w2v7AfFPD9Rxe", ""]
SHAPES: list[tuple[bytes, tuple[tuple[str, str], ...]]] = [
    (b"", ()),
    (b"x", ()),
    (bytes(range(256)), ()),
    (b"{}", (("type", "json"),)),
    (b"\r\n$-1\r\n", (("7", ""), ("\u00fc", "a\nb"), ("x", "y" * 300))),
]
# id, due (0; + from now; @ at a time, in spans), max_attempts, lease in spans, shape
ROWS = list(product(IDS, ["0", "+1", "+2", "@1", "@-1", "0"], [5, 1, 3, 0], [0, 1, 3], SHAPES))
# One that is due in a span.
DELAYED_ROW = len(ROWS) // len(IDS) // 6

BACKOFFS = [
    DEFAULT_BACKOFF,
    Backoff("fixed", (0,)),
    Backoff("fixed", (SPAN_MS,)),
    Backoff("linear", (SPAN_MS,)),
    Backoff("linear", (SPAN_MS,), SPAN_MS),
    Backoff("exponential", (SPAN_MS,), 3 * SPAN_MS),
    Backoff("exponential", (SPAN_MS,), 0, "full"),
    Backoff("fixed", (2 * SPAN_MS,), 0, "equal"),
    Backoff("list", (SPAN_MS, 0, 3 * SPAN_MS)),
    Backoff("list", (SPAN_MS, 2 * SPAN_MS), 0, "equal"),
]
# What becomes of a message at its end: a queue so many behind its own, or "drop", or dead.
ENDS: list[int | str | None] = [None, "drop", 1, 1, 1, 2, 0]
POLICIES: dict[str, list[Any]] = {
    "priority": [NORMAL, NORMAL, NORMAL, NORMAL, HIGH, LOW],
    "ttl": [0, 0, 0, 0, 1, 3],
    "backoff": BACKOFFS,
    "max_crashes": [5, 5, 0, 1, 2],
    "end": ENDS,
    "unique": [0, 0, 0, 1, 3],
    "replace": ["refuse", "refuse", "replace", "replace_body"],
}
# Of seven rows, so that a group goes with any of what a row has.
GROUPS = ["", "a", "b", "", "\u00fc %:", "a", ""]
# Of each group (''), or of one, and what is set: 0 takes it away.
LIMITED = ["", "a", "b", "", "\u00fc %:", "a"]
# The times of rates and spans do not meet, and so the milliseconds of a run decide nothing.
LIMITS: list[Changes] = [
    {"concurrency": 1},
    {"rate": 7},
    {"concurrency": 2},
    {"rate": 7, "burst": 2},
    {"concurrency": 0, "rate": 0},
    {"backlog": 1},
    {"rate": 1, "burst": 3},
    {"backlog": 3},
    {"concurrency": 1, "rate": 11, "burst": 2},
    {"backlog": 0},
    {"concurrency": 0},
]
# Where groups have orders, too.
ORDERS: list[Changes] = [
    {"order": "strict"},
    {"order": "fifo"},
    {"order": "none"},
    {"order": "strict", "concurrency": 3},
    {"rate": 7, "burst": 2},
    {"order": "fair"},
    {"order": "strict", "rate": 0},
    {"backlog": 3},
    {"order": "strict", "backlog": 0},
]
WEIGHTS = [0, 2, 0, 0, 3, 0, 0, 1000]
POLICY_COUNT = 1
for found in POLICIES.values():
    POLICY_COUNT *= len(found)


def drawn(row: int, policy: int, queue: str, now: int, groups: bool, limits: bool) -> Draft:
    """
    The one of those numbers; policy 0 is none. limits: groups may have limits. Then none of their
    messages moves to another queue, where it might come to a backlog.
    """
    group = GROUPS[row % len(GROUPS)] if groups else ""
    id, due, max_attempts, lease, (body, headers) = ROWS[row % len(ROWS)]
    chosen: dict[str, Any] = {}
    for name, choices in POLICIES.items():
        policy, at = divmod(policy, len(choices))
        chosen[name] = choices[at]
    place = QUEUES.index(queue)
    end = chosen["end"]
    if limits and group:
        end = None if end != "drop" else end
    spans = int(due.lstrip("@"))
    return Draft(
        id,
        body,
        headers,
        now + spans * SPAN_MS if spans else 0,
        max_attempts,
        chosen["max_crashes"],
        lease * SPAN_MS,
        NORMAL if group else chosen["priority"],
        group,
        chosen["ttl"] * SPAN_MS,
        chosen["backoff"],
        end == "drop",
        QUEUES[(place + end) % len(QUEUES)] if isinstance(end, int) else "",
        chosen["unique"] * SPAN_MS if id else 0,
        chosen["replace"] if id else "refuse",
    )


def asked(draft: Draft, row: int, now: int) -> Json:
    """The due time is by delay or by the clock, as the row says."""
    by_clock = ROWS[row % len(ROWS)][1].startswith("@")
    backoff = draft.backoff
    delays, is_list = backoff.delays_ms, backoff.kind == "list"
    return {
        "id": draft.id,
        "body": b64encode(draft.body).decode(),
        "headers": draft.headers,
        "delay_ms": 0 if by_clock or not draft.due_ms else draft.due_ms - now,
        "at_ms": draft.due_ms if by_clock else 0,
        "max_attempts": draft.max_attempts,
        "max_crashes": draft.max_crashes,
        "lease_ms": draft.lease_ms,
        "priority": draft.priority,
        "group": draft.group,
        "ttl_ms": draft.ttl_ms,
        "backoff": None
        if backoff is DEFAULT_BACKOFF
        else {
            "kind": backoff.kind,
            "jitter": backoff.jitter,
            "base_ms": 0 if is_list else delays[0],
            "cap_ms": backoff.cap_ms,
            "list_ms": list(delays) if is_list else [],
        },
        "drop": draft.drop,
        "dead_letter": draft.dead_letter,
        "unique_ms": draft.unique_ms,
        "replace": draft.replace,
        "keep_ms": draft.keep_ms,
        "batch": draft.batch,
    }
