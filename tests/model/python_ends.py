"""Python's verbs of kept ends and batches."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeAlias

from drivers import PythonDriver, draft, stored, to_ms, words

import dueq
from dueq.draft import TaskDraft

Json: TypeAlias = Any
NUMBERS = ("pushed", "acked", "dead", "cancelled", "expired", "purged", "left")


class PythonEnds(PythonDriver):
    def do_ack_result(self, queue: dueq.Queue, request: Json) -> Json:
        result = request["result"].encode()
        return self.settle(queue, request, lambda message: message.ack(result=result))

    def do_outcome(self, queue: dueq.Queue, request: Json) -> Json:
        try:
            end = queue.outcome(request["id"])
        except dueq.NotFound:
            end = None
        return {"end": shown(end) if end else None}

    def do_kill(self, queue: dueq.Queue, request: Json) -> Json:
        return {"statuses": words(queue.kill_many(request["ids"]), "NOT_FOUND")}

    def do_push_to(self, queue: dueq.Queue, request: Json) -> Json:
        rows = request["drafts"]
        return stored(rows, queue.push_to(request["target"], [draft(row) for row in rows]))

    def do_open_batch(self, queue: dueq.Queue, request: Json) -> Json:
        called = {name: callback(row) for name, row in request["callbacks"].items()}
        is_new = queue.open_batch(
            request["id"],
            then=called.get("then"),
            catch=called.get("catch"),
            finally_=called.get("finally"),
            open=request["open_ms"] / 1000,
            keep=request["keep_ms"] / 1000,
        )
        return {"statuses": ["OK" if is_new else "DUPLICATE"]}

    def do_close_batch(self, queue: dueq.Queue, request: Json) -> Json:
        return {"statuses": ["OK" if queue.close_batch(request["id"]) else "NOT_FOUND"]}

    def do_find_batch(self, queue: dueq.Queue, request: Json) -> Json:
        batch = queue.find_batch(request["id"])
        if not batch:
            return {"batch": None}
        return {
            "batch": {
                "state": batch.state,
                **{name: getattr(batch, name) for name in NUMBERS},
                "opened_ms": to_ms(batch.opened),
                "closes_ms": to_ms(batch.closes),
                "ended_ms": to_ms(batch.ended),
            }
        }

    def do_cancel_batch(self, queue: dueq.Queue, request: Json) -> Json:
        return {"cancelled": queue.cancel_batch(request["id"], request["of"] or None)}


def callback(row: Json) -> dueq.Draft:
    """With the queue that gets it, if that is another one."""
    made = draft(row)
    options = {each.name: getattr(made, each.name) for each in dataclasses.fields(made)}
    return TaskDraft(**options, queue=row["queue"]) if row["queue"] else made


def shown(end: dueq.End) -> Json:
    return {
        "outcome": end.outcome,
        "time_ms": to_ms(end.time),
        "until_ms": to_ms(end.until),
        "deliveries": end.deliveries,
        "ran": end.ran is not None,
        "is_by_known": end.host is not None,
        "has_result": end.has_result,
        "result": end.result.decode(),
        "error": end.error,
    }
