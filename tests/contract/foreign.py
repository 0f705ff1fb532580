"""The steps on queues of other systems: Redisson's and Laravel's."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, Protocol

from situations import Json, Situation, Values

import dueq
import dueq.laravel
import dueq.redisson
from dueq.errors import CorruptError
from dueq.interop import Moved
from private_server import Reply


class Asked(Protocol):
    """What a situation runs on, and what is asked beside dueq."""

    url: str

    def command(self, *words: str | bytes | int) -> Reply: ...


class Foreign(Values):
    """One situation under way: what it does to them."""

    def __init__(self, server: Asked, situation: Situation) -> None:
        super().__init__(situation)
        self.server = server
        self.redisson = dueq.redisson.DelayedQueue(situation.name, server.url)
        self.jobs: dict[str, dueq.laravel.Job] = {}

    @cached_property
    def laravel(self) -> dueq.laravel.Queue:
        return dueq.laravel.Queue(self.situation.name, self.server.url)

    def now(self) -> int:
        """The server's clock in milliseconds."""
        now = self.server.command("TIME")
        assert isinstance(now, list)
        assert isinstance(now[0], bytes)
        assert isinstance(now[1], bytes)
        return int(now[0]) * 1000 + int(now[1]) // 1000

    def is_in(self, wanted: Json, moment: datetime | None) -> bool:
        """Is this point of time so many milliseconds from now?"""
        return bool(wanted[0] <= to_ms(moment) - self.now() <= wanted[1])

    def compare_figures(self, found: object, expect: Json) -> None:
        for name in set(expect) - {"status"}:
            if name.endswith("_in_ms"):
                assert self.is_in(expect[name], getattr(found, name[:-6])), name
            elif name.endswith("_ms"):
                assert to_ms(getattr(found, name[:-3])) == expect[name], name
            else:
                assert getattr(found, name) == expect[name], name

    def variable(self, name: str) -> bytes:
        first, _, last = name.partition(".")
        return self.jobs[first].reserved if last == "reserved" else super().variable(name)

    # Values of Java's

    def typed(self, found: Json) -> Any:
        if isinstance(found, str):
            return self.text(found)
        if not isinstance(found, dict):
            return found
        [(kind, value)] = found.items()
        made: dict[str, Callable[[], Any]] = {
            "long": lambda: dueq.redisson.Long(value),
            "double": lambda: float(value),
            "text": lambda: self.text(value),
            "binary": lambda: self.value(value),
            "json": lambda: json.loads(self.text(value)),
            "nested": lambda: nested(value),
            "unreadable": lambda: dueq.redisson.Unreadable(self.value(value), ""),
        }
        return made[kind]()

    def typed_all(self, step: Json) -> list[Any]:
        found = step["values"] if "values" in step else [step.get("value")]
        return [self.typed(each) for each in found] * int(step.get("times", 1))

    def compare_values(self, found: Sequence[Any], expect: Json) -> None:
        assert len(found) == expect.get("count", len(found))
        if "values" in expect:
            wanted = [self.typed(each) for each in expect["values"]]
            assert [shown(each) for each in found] == [shown(each) for each in wanted]

    # A delayed queue of Redisson's

    def do_redisson_open(self, step: Json, expect: Json) -> None:
        name = self.text(step.get("destination", "${queue}"))
        codec: Any = self.text(step.get("codec", "kryo5"))
        self.redisson = dueq.redisson.DelayedQueue(name, self.server.url, codec, step.get("layout"))

    def do_redisson_offer(self, step: Json, expect: Json) -> None:
        due = self.due(step)
        if "values" in step:
            self.redisson.offer_many(self.typed_all(step), **due)
        else:
            self.redisson.offer(self.typed(step["value"]), **due)

    def do_redisson_transfer(self, step: Json, expect: Json) -> list[str]:
        moved = self.redisson.transfer(step.get("timeout_ms", 0) / 1000, step.get("most", 200))
        return self.moved(moved, expect)

    def do_redisson_take(self, step: Json, expect: Json) -> list[str]:
        timeout = step.get("timeout_ms", 0) / 1000
        if "count" in step:
            return self.read(self.redisson.take_many(step["count"], timeout), expect)
        return self.read_one(lambda: self.redisson.take(timeout), expect)

    def do_redisson_poll(self, step: Json, expect: Json) -> list[str]:
        if "count" in step:
            return self.read(self.redisson.poll_many(step["count"]), expect)
        return self.read_one(self.redisson.poll, expect)

    def do_redisson_peek(self, step: Json, expect: Json) -> list[str]:
        return self.read(self.redisson.peek(step.get("count", 1)), expect)

    def read(self, found: list[Any], expect: Json) -> list[str]:
        self.compare_values(found, expect)
        return ["OK" if found else "EMPTY"]

    def read_one(self, verb: Callable[[], Any], expect: Json) -> list[str]:
        try:
            value = verb()
        except CorruptError as error:
            self.compare_values([dueq.redisson.Unreadable(error.raw, "")], expect)
            raise
        return self.read([] if value is None else [value], expect)

    def do_redisson_remove(self, step: Json, expect: Json) -> list[str]:
        return ["OK" if self.redisson.remove(self.typed(step["value"])) else "NOT_FOUND"]

    def do_redisson_contains(self, step: Json, expect: Json) -> list[str]:
        return ["OK" if self.redisson.contains(self.typed(step["value"])) else "NOT_FOUND"]

    def do_redisson_size(self, step: Json, expect: Json) -> None:
        self.compare_figures(self.redisson.size(), expect)

    def do_redisson_clear(self, step: Json, expect: Json) -> None:
        cleared = self.redisson.clear()
        assert cleared == expect.get("cleared", cleared)

    def moved(self, moved: Moved, expect: Json) -> list[str]:
        self.compare_figures(moved, expect)
        return ["OK" if moved.moved + moved.quarantined else "EMPTY"]

    # A queue of Laravel's

    def do_laravel_open(self, step: Json, expect: Json) -> None:
        name, prefix = self.text(step.get("name", "${queue}")), self.text(step.get("prefix", ""))
        self.laravel = dueq.laravel.Queue(name, self.server.url, prefix)

    def do_laravel_push(self, step: Json, expect: Json) -> list[str]:
        found = step.get("drafts", [step]) * step.get("times", 1)
        drafts = [dueq.laravel.JobDraft(**self.job(each)) for each in found]
        ids: Sequence[str | None]
        if "drafts" in step:
            ids = self.laravel.push_many(drafts)
        elif "payload" in step:
            ids = [self.laravel.push_raw(self.value(step["payload"]), **self.due(step))]
        elif "command" in step:
            ids = [self.laravel.push_object(**self.job(step))]
        else:
            ids = [self.laravel.push(**self.job(step))]
        return self.note_jobs(found, ids, expect)

    def do_laravel_later(self, step: Json, expect: Json) -> list[str]:
        job = self.job(step)
        id = self.laravel.later(job.pop("delay"), job.pop("job"), **job)
        return self.note_jobs([step], [id], expect)

    def note_jobs(self, found: Json, ids: Sequence[str | None], expect: Json) -> list[str]:
        for each, id in zip(found, ids, strict=True):
            self.ids[each.get("as", "")] = id or ""
            assert "id" not in expect or id == self.text(expect["id"])
        return ["DUPLICATE" if id is None else "OK" for id in ids]

    def job(self, found: Json) -> Json:
        """The fields of a dueq.laravel.JobDraft."""
        fields: dict[str, Any] = self.due(found)
        for name in ("job", "command_name", "display_name"):
            if name in found:
                fields[name] = self.text(found[name])
        for name in ("payload", "command"):
            if name in found:
                fields[name] = self.value(found[name])
        if "data" in found:
            fields["data"] = json.loads(self.text(found["data"]))
        for name in ("timeout_s", "backoff_s", "retry_until_s"):
            if name in found:
                fields[name[:-2]] = found[name]
        for name in ("max_tries", "max_exceptions", "fail_on_timeout"):
            if name in found:
                fields[name] = found[name]
        return fields

    @staticmethod
    def due(found: Json) -> dict[str, float]:
        names = [name for name in ("delay", "at") if f"{name}_ms" in found]
        return {name: found[f"{name}_ms"] / 1000 for name in names}

    def do_laravel_pop(self, step: Json, expect: Json) -> list[str]:
        timeout = step.get("timeout_ms", 0) / 1000
        retry_after = step["retry_after_ms"] / 1000 if "retry_after_ms" in step else None
        if "count" in step:
            jobs = self.laravel.pop_many(step["count"], timeout, retry_after)
        else:
            one = self.laravel.pop(timeout, retry_after)
            jobs = [one] if one else []
        assert len(jobs) == expect.get("count", len(jobs))
        if "jobs" in expect:
            for job, wanted in zip(jobs, expect["jobs"], strict=True):
                self.compare_job(job, wanted)
        return ["OK" if jobs else "EMPTY"]

    def compare_job(self, job: dueq.laravel.Job, wanted: Json) -> None:
        for name, value in wanted.items():
            if name == "as":
                self.jobs[value] = job
                self.ids[value] = job.uuid or job.id or ""
            elif name == "until_in_ms":
                assert self.is_in(value, job.until)
            elif name == "data":
                assert repr(job.data) == repr(value and json.loads(self.text(value)))
            elif name == "retry_until_s":
                assert to_ms(job.retry_until) == 1000 * value
            elif name == "backoff_s":
                assert job.backoff == value
            elif name in ("payload", "reserved"):
                assert getattr(job, name) == self.value(value)
            elif isinstance(value, int):
                assert (getattr(job, name.removesuffix("_s")) or 0) == value, name
            else:
                assert (getattr(job, name) or "") == self.text(value), name

    def do_laravel_delete(self, step: Json, expect: Json) -> list[str]:
        if "job" in step:
            self.jobs[step["job"]].delete()
            return ["OK"]
        done = self.laravel.delete_many([self.value(each) for each in step["reserved"]])
        return ["OK" if each else "LEASE_LOST" for each in done]

    def do_laravel_release(self, step: Json, expect: Json) -> None:
        self.jobs[step["job"]].release(step.get("delay_ms", 0) / 1000)

    def do_laravel_migrate(self, step: Json, expect: Json) -> list[str]:
        moved = self.laravel.migrate(step.get("timeout_ms", 0) / 1000, step.get("most", 200))
        return self.moved(moved, expect)

    def do_laravel_size(self, step: Json, expect: Json) -> None:
        self.compare_figures(self.laravel.size(), expect)

    def do_laravel_clear(self, step: Json, expect: Json) -> None:
        cleared = self.laravel.clear()
        assert cleared == expect.get("cleared", cleared)


def to_ms(moment: datetime | None) -> int:
    return round(moment.timestamp() * 1000) if moment else 0


def nested(depth: int) -> list[Any]:
    """A list in a list, and so on."""
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]
    return value


def shown(value: Any) -> str:
    """A value as text that tells True, 1 and 1.0 apart."""
    if isinstance(value, dueq.redisson.Unreadable):
        return f"unreadable {value.raw!r}"
    return repr(int(value) if isinstance(value, dueq.redisson.Long) else value)
