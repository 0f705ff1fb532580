"""What Python expects of a package: its errors, its protocols, and what its tools see."""

from __future__ import annotations

import asyncio
import builtins
import copy
import dataclasses
import importlib
import inspect
import json
import pickle
import pydoc
import typing
from collections.abc import Callable
from typing import Any

import pytest

import dueq
from dueq import aio, errors
from dueq.draft import Options
from private_server import Server

# JSON


@pytest.mark.parametrize(
    "value", [{"order": 7, "name": "Zoë"}, [1, 2.5, None, True], "text", 7, None, {}], ids=repr
)
def test_json_there_and_back(queue: dueq.Queue, value: object) -> None:
    queue.push(json=value)
    queue.push_many([dueq.Draft(json=value, priority=-1)])
    with queue.pusher() as pusher:
        pusher.push(json=value, priority=-1)
    for message in queue.consume(timeout=0):
        with message:
            assert message.json() == value
            written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
            assert message.body == written.encode()


def test_json_in_asyncio(queue: dueq.Queue) -> None:
    async def main() -> None:
        async with aio.Queue(queue.name, queue.url) as own:
            await own.push(json={"a": 1}, id="x")
            found = await own.find("x")
            assert found is not None
            assert found.json() == {"a": 1}

    asyncio.run(main())


def test_json_that_is_none(queue: dueq.Queue) -> None:
    with pytest.raises(TypeError, match=r"^json: Object of type object is not JSON"):
        queue.push(json=object())
    with pytest.raises(errors.InvalidError, match=r"^json: Out of range float"):
        queue.push(json=float("nan"))
    with pytest.raises(TypeError, match="either a body or json"):
        queue.push("x", json=1)
    with pytest.raises(TypeError, match=r"^body: it is missing"):
        queue.push()
    queue.push("{")
    message = queue.reserve(timeout=None)
    with pytest.raises(ValueError, match="double quotes"):
        message.json()


def test_draft_with_json() -> None:
    draft = dueq.Draft(json={"a": [1, 2]}, delay=5)
    assert draft == dueq.Draft('{"a":[1,2]}', delay=5)
    assert dataclasses.replace(draft, delay=6).body == draft.body
    with pytest.raises(TypeError, match="body"):
        dueq.Draft()


# Errors that name the argument


def dead(queue: dueq.Queue) -> Any:
    """A message that no verb reaches the server with."""
    queue.push("x", id="dead")
    message = queue.reserve(timeout=None)
    message.bury()
    return message


WRONG: list[tuple[str, Callable[[Any], object]]] = [
    ("delay: '5' is not seconds", lambda queue: queue.push("x", delay="5")),
    ("at: '2040' is not seconds since 1970", lambda queue: queue.push("x", at="2040")),
    ("dely: .* do you mean delay", lambda queue: queue.push("x", dely=5)),
    ("nothing_like_it: there is no", lambda queue: queue.push("x", nothing_like_it=5)),
    ("id: 5", lambda queue: queue.push("x", id=5)),
    ("id: b'x'", lambda queue: queue.push("x", id=b"x")),
    ("max_attempts: '3'", lambda queue: queue.push("x", max_attempts="3")),
    ("max_crashes: 1.5", lambda queue: queue.push("x", max_crashes=1.5)),
    ("headers: \\[\\]", lambda queue: queue.push("x", headers=[])),
    ("headers: 5", lambda queue: queue.push("x", headers={5: "x"})),
    ("headers: a: 5", lambda queue: queue.push("x", headers={"a": 5})),
    ("priority: 'high'", lambda queue: queue.push("x", priority="high")),
    ("drop: 'no'", lambda queue: queue.push("x", drop="no")),
    ("drop: 1", lambda queue: queue.push("x", drop=1)),
    ("replace: \\[\\]", lambda queue: queue.push("x", replace=[])),
    ("dead_letter: 5", lambda queue: queue.push("x", dead_letter=5)),
    ("ttl: '5'", lambda queue: queue.push("x", ttl="5")),
    ("lease: '5'", lambda queue: queue.push("x", lease="5")),
    ("unique: '5'", lambda queue: queue.push("x", id="x", unique="5")),
    ("base: '5'", lambda queue: queue.push("x", backoff=dueq.Backoff("fixed", "5"))),  # type: ignore[arg-type]
    ("body: .* not int", lambda queue: queue.push(5)),
    ("body: .* not dict", lambda queue: queue.push_many([{"body": 1}])),
    ("not one dict", lambda queue: queue.push_many({"body": 1})),
    ("not one str", lambda queue: queue.push_many("abc")),
    ("not one Draft", lambda queue: queue.push_many(dueq.Draft("x"))),
    ("id: a str is wanted, not NoneType", lambda queue: queue.cancel(None)),
    ("id: a str is wanted, not bytes", lambda queue: queue.cancel(b"x")),
    ("id: a str is wanted, not int", lambda queue: queue.cancel_many(["x", 5])),
    ("ids: a list is wanted, not one str", lambda queue: queue.cancel_many("abc")),
    ("ids: a list is wanted, not one str", lambda queue: queue.kick_many("abc")),
    ("ids: a list is wanted, not one bytes", lambda queue: queue.kill_many(b"abc")),
    ("messages: a list is wanted", lambda queue: queue.ack_many("abc")),
    ("ticket: a str is wanted, not int", lambda queue: queue.ack_many([5])),
    ("id: a str is wanted", lambda queue: queue.kick(None)),
    ("id: a str is wanted", lambda queue: queue.find(None)),
    ("id: a str is wanted", lambda queue: queue.reschedule(5)),
    ("cursor: a str is wanted, not bytes", lambda queue: dead(queue).checkpoint(b"x")),
    ("delay: 'x'", lambda queue: queue.reschedule("id", delay="x")),
    ("name: a str is wanted", lambda queue: queue.lock(None, 5)),
    ("ttl: None", lambda queue: queue.lock("name", None)),
    ("count: '5' is not an int", lambda queue: queue.reserve_many("5")),
    ("timeout: '5'", lambda queue: queue.reserve(timeout="5")),
    ("prefetch: 1.5", lambda queue: queue.consume(prefetch=1.5)),
    ("concurrency: '2'", lambda queue: queue.consume(concurrency="2")),
    ("max_run: '2'", lambda queue: queue.consume(max_run="2")),
    ("minutes: '2'", lambda queue: queue.rates("2")),
    ("most: '2'", lambda queue: queue.pusher("2")),
    ("error: .* not int", lambda queue: queue.kick_all(error=5)),
    ("since: 'x'", lambda queue: queue.kick_all(since="x")),
    ("name: a str is wanted, not bytes", lambda queue: dueq.Queue(b"x", queue.url)),  # type: ignore[arg-type]
    ("name: a str is wanted, not int", lambda queue: dueq.Queue(5, queue.url)),  # type: ignore[arg-type]
    ("name: a str is wanted, not bytes", lambda queue: dueq.Queues([b"x"], queue.url)),  # type: ignore[list-item]
    ("url: a str is wanted, not bytes", lambda queue: dueq.Queue("x", b"x")),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("text", "call"), WRONG, ids=[text for text, _ in WRONG])
def test_wrong_type_is_refused_by_the_name(
    queue: dueq.Queue, text: str, call: Callable[[Any], object]
) -> None:
    with pytest.raises(TypeError, match=text):
        call(queue)
    assert queue.stats().ready == 0


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("count: 1000 is not 1 to 200", lambda queue: queue.reserve_many(1000)),
        ("count: 0 is not 1 to 200", lambda queue: queue.reserve_many(0)),
        ("prefetch: -1 is not 1 to 200", lambda queue: queue.consume(prefetch=-1)),
        ("concurrency: 0 is not 1 to", lambda queue: queue.consume(concurrency=0)),
        ("page: 201 is not 1 to 200", lambda queue: queue.peek("ready", page=201)),
        ("minutes: 361 is not 1 to 360", lambda queue: queue.rates(361)),
        ("most: 10001 is not 1 to 10000", lambda queue: queue.pusher(10001)),
    ],
)
def test_wrong_number_is_refused_with_the_limit(
    queue: dueq.Queue, text: str, call: Callable[[Any], object]
) -> None:
    with pytest.raises(errors.InvalidError, match=f"^{text}"):
        call(queue)


def test_refused_pusher_of_asyncio_holds_nothing(queue: dueq.Queue) -> None:
    async def main() -> None:
        async with asyncio.timeout(20), aio.Queue(queue.name, queue.url) as own:
            with pytest.raises(errors.InvalidError):
                own.pusher(most=0)

    asyncio.run(main())


# Protocols


def test_in_takes_no_message(queue: dueq.Queue) -> None:
    queue.push("x", id="i3")
    for container in (queue, dueq.Queues([queue.name], queue.url), queue.consume(timeout=0)):
        with pytest.raises(TypeError, match="container"):
            _ = "i3" in container  # type: ignore[operator]
    assert queue.stats().reserved == 0


class Orders(dueq.Queue):
    """A queue with a name and more of its own."""

    def __init__(self, url: str, *, region: str) -> None:
        super().__init__(f"orders {region}", url)
        self.region = region


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda queue: pickle.loads(pickle.dumps(queue))]
)
def test_subclass_is_pickled(server: Server, copied: Callable[[Orders], Orders]) -> None:
    server.command("FLUSHALL")
    with Orders(server.url, region="eu") as orders, copied(orders) as twin:
        assert (type(twin), twin.region, twin.name) == (Orders, "eu", "orders eu")
        orders.push("x")
        twin.close()
        assert orders.stats().ready == 1


def test_counts_as_a_dictionary(queue: dueq.Queue) -> None:
    queue.push("x")
    counts = queue.stats()._asdict()
    assert counts["ready"] == 1
    assert list(counts) == [field.name for field in dataclasses.fields(dueq.Stats)]
    assert json.loads(json.dumps(counts)) == counts
    [rate] = queue.rates()
    assert rate._asdict()["pushed"] == 1
    assert dueq.Finding("lost", "", True, 1, 0, ("x",))._asdict()["examples"] == ("x",)


# What tools see

PUSHES = [dueq.Queue.push, dueq.Pusher.push, aio.Queue.push, aio.pusher.Pusher.push]


@pytest.mark.parametrize("push", PUSHES, ids=lambda push: f"{push.__module__} {push.__qualname__}")
def test_options_of_a_push_are_seen(push: Callable[..., object]) -> None:
    options = {field.name for field in dataclasses.fields(dueq.Draft)} - {"body"} | {"json"}
    assert set(Options.__annotations__) == options
    shown = inspect.signature(push).parameters
    assert set(shown) - {"self", "body"} == options
    assert shown["priority"].default == 0
    hints = typing.get_type_hints(push)
    assert set(hints) == options | {"body", "return"}
    assert hints["max_attempts"] == int | None
    text = pydoc.plain(pydoc.render_doc(push))
    assert "max_attempts: int | None = " in text
    assert "options" not in text.split("(")[1].split("->")[0]


@pytest.mark.parametrize("name", ["dueq", "dueq.aio"])
def test_type_hints_can_be_read(name: str) -> None:
    module = importlib.import_module(name)
    # Those of a row, the core's own form, are of the stub alone.
    rows = {"row", "from_row"}
    # Those of apps and jobs name dueq.aio, which costs half as much again to import.
    apart = {"dueq.app", "dueq.job"}
    seen = 0
    for cls in {each for each in vars(module).values() if inspect.isclass(each)}:
        if not cls.__module__.startswith("dueq") or cls.__module__ in apart:
            continue
        for method, function in inspect.getmembers(cls, inspect.isfunction):
            if not method.startswith("_") and method not in rows:
                typing.get_type_hints(function)
                seen += 1
    assert seen
    typing.get_type_hints(dueq.Queue.__init__)
    typing.get_type_hints(dueq.Draft)
    typing.get_type_hints(Options)


@pytest.mark.parametrize(
    "name", ["dueq", "dueq.aio", "dueq.errors", "dueq.laravel", "dueq.redisson"]
)
def test_names_shadow_no_builtins(name: str) -> None:
    module = importlib.import_module(name)
    own = {
        key
        for key, value in vars(module).items()
        if not key.startswith("_") and getattr(value, "__module__", "").startswith("dueq")
    }
    assert own
    assert not own & set(dir(builtins))


def test_message_extends_by_a_lease(queue: dueq.Queue) -> None:
    """The same word as in the other languages."""
    queue.push("x")
    queue.reserve(timeout=None).extend(lease=60)
