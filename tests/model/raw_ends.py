"""The scripts of kept ends and batches, run by themselves."""

from __future__ import annotations

from typing import Any, TypeAlias

from ends import End
from ends_layout import ENDS, STATES, end_of
from layout import made_id, packed
from raw import PAGE, PROCESS, RawDriver, Word, is_fast

Json: TypeAlias = Any


class EndsDriver(RawDriver):
    def do_ack_result(self, request: Json) -> Json:
        result = "=" + request["result"]
        words = PROCESS, result, request["ticket"]
        return self.outcomes(self.run("ack_end", request["queue"], *words))

    def do_outcome(self, request: Json) -> Json:
        answer = self.run("outcome", request["queue"], request["id"], 0, "")
        has_end = answer is not None and answer[3]
        return {"end": shown_end(end_of(answer[3], int(answer[4]))) if has_end else None}

    def do_kill(self, request: Json) -> Json:
        return self.outcomes(self.run("kill", request["queue"], *request["ids"]))

    def do_push(self, request: Json) -> Json:
        queue, rows = request["queue"], request["drafts"]
        if not rows[0]["batch"]:
            return super().do_push(request)
        ids, words = packed(rows)
        script = "push_batch"
        if is_fast(rows) and words[2] == "0" and not any(row["group"] for row in rows):
            script, words = "push_member", [word for i, word in enumerate(words) if i % 4 < 2]
        return {"ids": ids, **self.outcomes(self.run(script, queue, rows[0]["batch"], *words))}

    def do_push_to(self, request: Json) -> Json:
        queue, rows = request["queue"], request["drafts"]
        ids, words = packed(rows, queue)
        entries, stamps = [made_id() for _ in ids], [stamp_of(each) for each in words[1::4]]
        for i, entry in enumerate(entries):
            words.insert(5 * i, entry)
        answer = self.run("push_to", queue, rows[0]["batch"], request["target"], *words)
        return {"ids": ids, "entries": entries, "stamps": stamps, **self.outcomes(answer)}

    def do_open_batch(self, request: Json) -> Json:
        words: list[Word] = [request["id"], request["open_ms"], request["keep_ms"], made_id()]
        for name, row in request["callbacks"].items():
            words += [name, row["queue"], made_id(), *packed([row])[1]]
        return self.outcomes(self.run("open_batch", request["queue"], *words))

    def do_close_batch(self, request: Json) -> Json:
        return self.outcomes(self.run("close_batch", request["queue"], request["id"]))

    def do_find_batch(self, request: Json) -> Json:
        answer = self.run("find_batch", request["queue"], request["id"])
        if answer is None:
            return {"batch": None}
        # Behind the numbers: the messages of the three callbacks.
        numbers = [int(word) for word in answer[3:-6]]
        pushed, *ended = numbers[1:7]
        names = ("opened_ms", "closes_ms", "ended_ms")
        return {
            "batch": {
                "state": STATES[numbers[0]],
                "pushed": pushed,
                **dict(zip(ENDS, ended, strict=True)),
                "left": max(0, pushed - sum(ended)),
                **dict(zip(names, numbers[7:], strict=True)),
            }
        }

    def do_cancel_batch(self, request: Json) -> Json:
        cancelled, cursor = 0, ""
        while True:
            words = request["id"], request["of"], cursor, PAGE
            answer = self.run("cancel_batch", request["queue"], *words).decode()
            number, _, cursor = answer.partition(" ")
            cancelled += int(number)
            if not cursor:
                return {"cancelled": cancelled}


def shown_end(end: End) -> Json:
    """As drivers answer."""
    is_acked = end.outcome == "acked"
    return {
        "outcome": end.outcome,
        "time_ms": end.time_ms,
        "until_ms": end.until_ms,
        "deliveries": end.deliveries,
        "ran": end.began_ms > 0,
        "is_by_known": end.is_by_known,
        "has_result": is_acked and end.text is not None,
        "result": (end.text or "") if is_acked else "",
        "error": "" if is_acked else end.text,
    }


def stamp_of(envelope: Word) -> str:
    assert isinstance(envelope, bytes)
    return envelope[4:14].decode() if envelope[1] & 1 else ""
