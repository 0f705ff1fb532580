"""Runs the situations of this folder on the Python package."""

import dataclasses
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import pytest

import dueq
from dueq.draft import TaskDraft

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from foreign import Asked, Foreign, to_ms
from situations import (
    BACKOFF,
    DRAFT,
    EXPECTS,
    FIELDS,
    FOLDER,
    JOB_DRAFT,
    MADE,
    RESERVE,
    Json,
    Situation,
    situations,
)

from private_server import Reply, Server


def test_data_has_no_other_fields() -> None:
    """A field that no interpreter reads would expect nothing."""
    for situation in situations():
        for step in situation.steps:
            assert set(step) - {"do", "expect"} <= FIELDS[step["do"]], (situation.name, step)
            expects = EXPECTS.get(step["do"], set())
            assert set(step.get("expect", {})) - {"status"} <= expects, (situation.name, step)
            fields = JOB_DRAFT if step["do"] == "laravel push" else DRAFT
            for draft in step.get("drafts", [step]):
                assert "drafts" not in step or set(draft) <= fields, (situation.name, step)
                assert set(draft.get("backoff", {})) <= BACKOFF, (situation.name, step)
    names = [situation.name for situation in situations()]
    assert len(names) == len(set(names))


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


@pytest.mark.parametrize("situation", [pytest.param(s, id=s.name) for s in situations()])
def test_contract(server: Server, situation: Situation) -> None:
    run_situation(Run(server, situation))


def run_situation(run: "Run") -> None:
    situation = run.situation
    for number, step in enumerate(situation.steps, 1):
        try:
            run.step(step)
        except AssertionError as error:
            error.add_note(f"each {situation.each!r}, step {number}: {json.dumps(step)}")
            raise
    assert run.script("consistent", [b"1" if situation.damaged else b"0"]) == []


class Run(Foreign):
    """One situation under way."""

    def __init__(self, server: Asked, situation: Situation) -> None:
        super().__init__(server, situation)
        self.queue = dueq.Queue(situation.name, server.url)
        self.several: dict[tuple[str, ...], dueq.Queues] = {}
        self.looks: dict[str, Iterator[dueq.Message]] = {}
        self.locks: dict[str, dueq.Lock] = {}

    # The server beside the package

    def script(self, name: str, arguments: list[bytes]) -> Reply:
        names = [self.name, *(name for name in self.names if name != self.name)]
        return self.script_on(names, name, arguments)

    def script_on(self, names: list[bytes], script: str, arguments: list[bytes]) -> Reply:
        source = (FOLDER / f"{script}.lua").read_bytes()
        keys = [b"dueq:{" + name + b"}:" for name in names]
        return self.server.command("EVAL", source, len(keys), *keys, *arguments)

    # Steps

    def step(self, step: Json) -> None:
        expect = step.get("expect", {})
        name = "made" if step["do"] in MADE else step["do"].replace(" ", "_")
        verb = getattr(self, "do_" + name, None)
        if not verb:
            if step["do"] == "redis":
                reply = self.server.command(*(self.value(word) for word in step["command"]))
            else:
                reply = self.script(step["do"], [self.value(arg) for arg in step.get("args", [])])
            assert "reply" not in expect or self.same_reply(reply, expect["reply"])
            return
        try:
            statuses = verb(step, expect) or ["OK"]
        except dueq.Error as error:
            statuses = [error.name if str(error) else "without a text"]
            if isinstance(error, dueq.NotDurable):
                self.compare_stored(error, expect)
            if isinstance(error, dueq.BacklogError):
                self.compare_stored(error, expect)
                statuses = ["BACKLOG" if id is None else "OK" for id in error.ids]
                statuses = ["BACKLOG"] * (step["do"] == "ack_push") + statuses
            if step["do"] == "ack_push" and error.name == "LEASE_LOST":
                statuses += statuses * len(self.drafts(step))
        except UnicodeEncodeError:
            # Bytes that are not UTF-8 are no text in Python: it refuses them before dueq can.
            statuses = ["NAME" if step["do"].endswith("open") else "INVALID"]
        status = next((status for status in statuses if status != "OK"), "OK")
        allowed = expect.get("status", "OK")
        assert status in (allowed if isinstance(allowed, list) else [allowed])
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

    def do_open(self, step: Json, expect: Json) -> None:
        url, partitions = self.server.url, step.get("partitions")
        self.queue = dueq.Queue(self.text(step["name"]), url, partitions=partitions)
        self.name = self.value(step["name"])
        self.names[self.name] = None

    @staticmethod
    def drafts(step: Json) -> list[Json]:
        found: list[Json] = step.get("drafts", [step])
        return found * int(step.get("times", 1))

    def compare_stored(self, error: dueq.NotDurable | dueq.BacklogError, expect: Json) -> None:
        if "stored" in expect:
            assert list(error.ids) == [id and self.text(id) for id in expect["stored"]]

    def do_push(self, step: Json, expect: Json) -> list[str]:
        found = self.drafts(step)
        if "drafts" in step:
            ids = self.queue.push_many(self.draft(each) for each in found)
        else:
            ids = [self.queue.push(self.value(step["body"]), **self.draft_options(step))]
        return self.note_ids(found, ids)

    def do_ack_push(self, step: Json, expect: Json) -> list[str]:
        found = self.drafts(step)
        to = self.queue_name(step["to"]) if "to" in step else None
        result = self.value(step["result"]) if "result" in step else None
        push = [self.draft(each) for each in found]
        ids = self.message(step).ack(push=push, to=to, result=result)
        return ["OK", *self.note_ids(found, ids)]

    def do_schedule(self, step: Json, expect: Json) -> list[str]:
        names = ("zone", "catchup", "app", "release")
        more = {name: self.text(step[name]) for name in names if name in step}
        words = self.text(step["name"]), self.text(step["expression"])
        done = self.queue.schedule(*words, self.draft(step["job"]), **more)  # type: ignore[arg-type]
        return ["OK" if done else "DUPLICATE"]

    def do_fire(self, step: Json, expect: Json) -> None:
        self.message(step).fire()

    def note_ids(self, drafts: list[Json], ids: Sequence[str | None]) -> list[str]:
        for each, id in zip(drafts, ids, strict=True):
            if id is not None:
                assert id == self.text(each["id"]) if "id" in each else len(id) == 22
                self.ids[each.get("as", "")] = id
        return ["DUPLICATE" if id is None else "OK" for id in ids]

    def consumer(self, step: Json) -> dueq.Queue | dueq.Queues:
        if "queues" not in step:
            return self.queue
        names = tuple(self.queue_name(name) for name in step["queues"])
        order = self.text(step.get("order", "preference"))
        key = (*names, order)
        if key not in self.several:
            self.several[key] = dueq.Queues(names, self.server.url, order)  # type: ignore[arg-type]
        return self.several[key]

    def do_reserve(self, step: Json, expect: Json) -> list[str]:
        options, consumer = self.options(RESERVE, step), self.consumer(step)
        if "count" in step:
            messages = consumer.reserve_many(step["count"], **options)
        else:
            one = consumer.reserve(**options)
            messages = [one] if one else []
        if "as" in step:
            self.captures[step["as"]] = messages
        if "queue" in expect:
            assert {message.queue for message in messages} == {self.text(expect["queue"])}
        self.compare_all(messages, expect)
        return ["OK"] if messages else ["EMPTY"]

    def do_ack(self, step: Json, expect: Json) -> list[str]:
        if "message" not in step:
            done = self.queue.ack_many(self.text(ticket) for ticket in step["tickets"])
        elif len(self.captures[step["message"]]) > 1:
            done = self.queue.ack_many(self.captures[step["message"]])
        else:
            result = self.value(step["result"]) if "result" in step else None
            self.message(step).ack(result=result)
            return ["OK"]
        return ["OK" if each else "LEASE_LOST" for each in done]

    def do_checkpoint(self, step: Json, expect: Json) -> None:
        self.message(step).checkpoint(self.text(step["cursor"]))

    def do_made(self, step: Json, expect: Json) -> list[str]:
        """A verb whose methods are made: a field of the step is a parameter."""
        verb = step["do"]
        of = self.message(step) if "message" in step else self.queue
        if "ids" in step:
            done = getattr(of, verb + "_many")(self.text(id) for id in step["ids"])
        else:
            given = {
                name.removesuffix("_ms"): step[name] / 1000
                if name.endswith("_ms")
                else step[name]
                if isinstance(step[name], int)
                else self.text(step[name])
                for name in FIELDS[verb] & step.keys() - {"message"}
            }
            done = [getattr(of, verb)(**given)]
        assert done == expect.get("states", done)
        none = MADE[verb].get("none_is", "NOT_FOUND" if "none_when" in MADE[verb] else "OK")
        return [none if each is False or each is None else "OK" for each in done]

    def do_kick_all(self, step: Json, expect: Json) -> None:
        times: Json = {}
        for name in ("since", "until"):
            if f"{name}_in_ms" in step:
                times[name] = (self.now() + step[f"{name}_in_ms"]) / 1000
            elif f"{name}_ms" in step:
                times[name] = step[f"{name}_ms"] / 1000
        error = self.text(step["error"]) if "error" in step else None
        kicked = self.queue.kick_all(error, **times)
        assert kicked == expect.get("kicked", kicked)

    def do_purge(self, step: Json, expect: Json) -> None:
        purged = self.queue.purge(self.text(step["state"]))  # type: ignore[arg-type]
        assert purged == expect.get("purged", purged)

    def do_remove(self, step: Json, expect: Json) -> None:
        removed = self.queue.remove(force="force" in step)
        assert removed == expect.get("removed", removed)

    def do_check(self, step: Json, expect: Json) -> None:
        found = self.queue.check(step.get("repair", False))
        wanted = expect.get("findings", [{} for _ in found])
        for finding, fields in zip(found, wanted, strict=True):
            for name, value in fields.items():
                texts = isinstance(value, list)
                meant = tuple(self.text(text) for text in value) if texts else value
                assert getattr(finding, name) == meant, name

    def do_find(self, step: Json, expect: Json) -> list[str]:
        message = self.queue.find(self.text(step["id"]))
        if message is None:
            return ["NOT_FOUND"]
        assert message.id == self.text(step["id"])
        self.compare(message, expect.get("message", {}))
        return ["OK"]

    def do_peek(self, step: Json, expect: Json) -> None:
        if "more" in step:
            look = self.looks[step["more"]]
        else:
            state = self.text(step["state"])
            look = self.queue.peek(state, step.get("page", 100))  # type: ignore[arg-type]
        self.compare_all(list(islice(look, step.get("count"))), expect)
        if "as" in step:
            self.looks[step["as"]] = look

    def do_stats(self, step: Json, expect: Json) -> None:
        stats = self.queue.stats()
        self.compare_fields(stats, {key: expect[key] for key in expect if key != "status"})

    def do_limits(self, step: Json, expect: Json) -> None:
        limits = self.queue.limits()
        self.compare_fields(
            limits, {key: expect[key] for key in expect if key not in ("status", "groups")}
        )
        if "groups" in expect:
            for group, wanted in zip(limits.groups, expect["groups"], strict=True):
                self.compare_fields(group, wanted)

    def do_rates(self, step: Json, expect: Json) -> None:
        rates = self.queue.rates(
            **{name: step[name] for name in ("minutes", "hours") if name in step}
        )
        found = 0
        for wanted in expect.get("rates", []):
            these = [rate for rate in rates if self.is_in(wanted["start_in_ms"], rate.start)]
            found += len(these)
            for name in set(wanted) - {"start_in_ms"}:
                assert sum(getattr(rate, name) for rate in these) == wanted[name], name
        assert "rates" not in expect or found == len(rates)

    def do_workers(self, step: Json, expect: Json) -> None:
        workers = self.queue.workers()
        for worker, wanted in zip(workers, expect.get("workers", workers), strict=True):
            if "workers" in expect:
                self.compare_worker(worker, wanted)

    def compare_worker(self, found: dueq.WorkerInfo | dueq.Lease, wanted: Json) -> None:
        for name, value in wanted.items():
            got = getattr(found, name.removesuffix("_ms"))
            if name == "leases":
                for lease, fields in zip(got, value, strict=True):
                    self.compare_worker(lease, fields)
            elif name.endswith("_ms"):
                assert to_ms(got) == value, name
            else:
                assert got == (self.text(value) if isinstance(value, str) else value), name

    def do_allow(self, step: Json, expect: Json) -> None:
        targets = (
            [self.text(name) for name in step["dead_letter"]] if "dead_letter" in step else None
        )
        names = self.queue.allow(targets, any=bool(step.get("any")))
        if "names" in expect:
            assert names == [self.text(name) for name in expect["names"]]

    def do_failures(self, step: Json, expect: Json) -> None:
        failures = self.queue.failures(self.text(step["id"]) if "id" in step else None)
        for failure, wanted in zip(failures, expect.get("failures", failures), strict=True):
            if "failures" in expect:
                for name, value in wanted.items():
                    got = getattr(failure, name.removesuffix("_ms"))
                    if name.endswith("_ms"):
                        assert to_ms(got) == value, name
                    else:
                        plain = value is None or isinstance(value, int)
                        assert got == (value if plain else self.text(value)), name

    def do_outcome(self, step: Json, expect: Json) -> list[str]:
        end = self.queue.outcome(self.text(step["id"]), step.get("timeout_ms", 0) / 1000)
        wanted = expect.get("end", {})
        assert end or not wanted
        for name, value in wanted.items() if end else ():
            got = getattr(end, name.removesuffix("_ms").removesuffix("_in"))
            if name.endswith("_in_ms"):
                assert self.is_in(value, got), name
            elif name.endswith("_ms"):
                assert got == (value / 1000 if value else None), name
            elif name == "result":
                assert got == self.value(value)
            else:
                assert got == (
                    value if value is None or isinstance(value, int) else self.text(value)
                ), name
        return ["OK" if end else "EMPTY"]

    def do_open_batch(self, step: Json, expect: Json) -> list[str]:
        def callback(draft: str) -> dueq.Draft | None:
            if draft not in step:
                return None
            made = self.draft(step[draft])
            if f"{draft}_queue" not in step:
                return made
            fields = {each.name: getattr(made, each.name) for each in dataclasses.fields(made)}
            queue = self.queue_name(step[f"{draft}_queue"])
            return TaskDraft(**fields, queue=queue)

        names = [name for name in ("open", "keep") if f"{name}_ms" in step]
        more = {name: step[f"{name}_ms"] / 1000 for name in names}
        done = self.queue.open_batch(
            self.text(step["id"]),
            then=callback("then"),
            catch=callback("catch"),
            finally_=callback("finally"),
            **more,
        )
        return ["OK" if done else "DUPLICATE"]

    def compare_batch(self, found: dueq.BatchStatus, wanted: Json) -> None:
        for name, value in wanted.items():
            got = getattr(found, name.removesuffix("_ms").removesuffix("_in"))
            if name.endswith("_in_ms"):
                assert self.is_in(value, got), name
            elif name.endswith("_ms"):
                assert (to_ms(got) if got else 0) == value, name
            else:
                assert got == (self.text(value) if isinstance(value, str) else value), name

    def do_find_batch(self, step: Json, expect: Json) -> list[str]:
        found = self.queue.find_batch(self.text(step["id"]))
        if found:
            self.compare_batch(found, expect.get("batch", {}))
        return ["OK" if found else "NOT_FOUND"]

    def do_batches(self, step: Json, expect: Json) -> None:
        found = {each.id: each for each in self.queue.batches()}
        assert found.keys() == expect.get("batches", found).keys()
        for id, wanted in expect.get("batches", {}).items():
            self.compare_batch(found[id], wanted)

    def do_push_to(self, step: Json, expect: Json) -> list[str]:
        found = self.drafts(step)
        ids = self.queue.push_to(self.queue_name(step["to"]), [self.draft(each) for each in found])
        return self.note_ids(found, ids)

    def do_cancel_batch(self, step: Json, expect: Json) -> None:
        home = self.queue_name(step["of"]) if "of" in step else None
        cancelled = self.queue.cancel_batch(self.text(step["id"]), home)
        assert cancelled == expect.get("cancelled", cancelled)

    def do_groups(self, step: Json, expect: Json) -> None:
        groups = self.queue.groups(**{name: step[name] for name in ("most",) if name in step})
        for group, wanted in zip(groups, expect.get("groups", groups), strict=True):
            if "groups" in expect:
                for name, value in wanted.items():
                    if name == "oldest_in_ms":
                        assert self.is_in(value, group.oldest)
                    elif name == "held_in_ms":
                        assert self.is_in(value, group.held_until)
                    elif name == "oldest_ms":
                        assert (to_ms(group.oldest) if group.oldest else 0) == value
                    else:
                        meant = self.text(value) if isinstance(value, str) else value
                        assert getattr(group, name) == meant, name

    def do_purge_group(self, step: Json, expect: Json) -> None:
        purged = self.queue.purge_group(self.text(step["group"]))
        assert purged == expect.get("purged", purged)

    def do_queues(self, step: Json, expect: Json) -> None:
        names = dueq.queues(self.server.url)
        assert names == sorted(set(names))
        assert not {self.text(name) for name in expect.get("names", [])} - {*names}
        assert not {self.text(name) for name in expect.get("without", [])} & {*names}

    def do_lock(self, step: Json, expect: Json) -> list[str]:
        timeout = step.get("timeout_ms", 0) / 1000
        lock = self.queue.lock(self.text(step["name"]), step["ttl_ms"] / 1000, timeout)
        if lock is None:
            return ["TAKEN"]
        self.locks[step.get("as", "")] = lock
        return ["OK"]

    def do_relock(self, step: Json, expect: Json) -> None:
        self.locks[step["lock"]].extend(step["ttl_ms"] / 1000)

    def do_unlock(self, step: Json, expect: Json) -> None:
        self.locks[step["lock"]].release()

    # What a step expects

    def message(self, step: Json) -> dueq.Message:
        return self.captures[step["message"]][-1]

    def compare_all(self, messages: list[dueq.Message], expect: Json) -> None:
        assert len(messages) == expect.get("count", len(messages))
        if "messages" in expect:
            assert [message.body for message in messages][len(expect["messages"]) :] == []
            for message, wanted in zip(messages, expect["messages"], strict=True):
                self.compare(message, wanted)
        if "ids" in expect:
            ids = sorted(self.text(id) for id in expect["ids"])
            assert sorted(message.id for message in messages) == ids

    def compare(self, message: dueq.Message, wanted: Json) -> None:
        wanted = dict(wanted)
        name = wanted.pop("as", None)
        if "headers" in wanted:
            pairs = [(self.text(name), self.text(text)) for name, text in wanted.pop("headers")]
            assert list(message.headers.items()) == pairs
        self.compare_fields(message, wanted)
        if name:
            self.captures[name] = [message]
            self.ids[name] = message.id

    def compare_fields(self, found: object, wanted: Json) -> None:
        for name, value in wanted.items():
            if name.endswith("_in_ms"):
                assert self.is_in(value, getattr(found, name[:-6])), name
            elif name.endswith("_ms"):
                assert to_ms(getattr(found, name[:-3])) == value, name
            elif name == "body":
                assert getattr(found, name) == self.value(value)
            elif isinstance(value, int):
                assert (getattr(found, name) or 0) == value, name
            else:
                assert (getattr(found, name) or "").encode() == self.value(value), name
