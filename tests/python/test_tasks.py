"""Tasks as producers push them: what is stored, and what type checkers and App refuse."""

from __future__ import annotations

import asyncio
import functools
import json
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import dueq
from dueq import errors
from dueq.serializers import JSON, arguments_of
from private_server import Server

GOLDEN = Path(__file__).parents[1] / "golden/tasks.tsv"
ROWS = [
    line.split("\t")
    for line in GOLDEN.read_text(encoding="utf-8").split("\n")
    if line and not line.startswith("#")
]


@pytest.fixture
def app(server: Server) -> Iterator[dueq.App]:
    server.command("FLUSHALL")
    made = dueq.App(server.url)
    yield made
    for name in made.queue_names:
        made.queue(name).close()


def only(app: dueq.App, queue: str = "default") -> dueq.Message:
    message = app.queue(queue).reserve()
    assert message is not None
    return message


@pytest.mark.parametrize("row", ROWS, ids=[row[4][:40] for row in ROWS])
def test_task_is_the_same_bytes_in_every_language(app: dueq.App, row: list[str]) -> None:
    name, args, kwargs, id, body = row

    @app.task(name, unique=60)
    def handler(*args: object, **kwargs: object) -> None: ...

    assert handler.push(*json.loads(args), **json.loads(kwargs)) == id
    message = only(app)
    assert (message.id, message.body.decode(), message.headers) == (id, body, {"task": name})
    assert arguments_of(JSON, message.body) == (json.loads(args), json.loads(kwargs))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"{}", ([], {})),
        (b'{"kwargs":{"a":1}}', ([], {"a": 1})),
        (b' {"args": [1]} ', ([1], {})),
    ],
)
def test_task_may_leave_arguments_out(body: bytes, expected: object) -> None:
    assert arguments_of(JSON, body) == expected


def test_task_pushes_with_its_options(app: dueq.App) -> None:
    @app.task(queue="mail", max_attempts=3, backoff=30, priority=1, headers={"by": "shop"})
    def send(order: int, copy: bool = False) -> int:
        """Sends it."""
        return order

    assert (send.name, send.queue, send.__name__, send.__doc__) == (
        "send",
        "mail",
        "send",
        "Sends it.",
    )
    assert send(7) == 7
    assert send.options(id="order-7").push(7, copy=True) == "order-7"
    message = only(app, "mail")
    assert message.headers == {"by": "shop", "task": "send"}
    assert (message.max_attempts, message.priority) == (3, 1)
    with pytest.raises(dueq.Duplicate):
        send.options(id="order-7").push(7)
    later = send.options(queue="later", delay=timedelta(minutes=1), max_attempts=None)
    later.push(8)
    assert send.queue == "mail"
    [waiting] = app.queue("later").peek("delayed")
    assert (waiting.max_attempts, waiting.priority) == (None, 1)
    app.queue("later").close()


def test_task_goes_with_an_ack_and_in_batches(app: dueq.App) -> None:
    @app.task
    def first() -> None: ...

    @app.task
    def second(number: int) -> None: ...

    first.push()
    only(app).ack(push=[second.draft(1)])
    app.queue("default").push_many([second.draft(2), second.draft(3)])
    bodies = [message.body for message in app.queue("default").reserve_many(3)]
    assert [json.loads(body)["args"] for body in bodies] == [[1], [2], [3]]


def test_task_unique(app: dueq.App) -> None:
    @app.task(unique=60)
    def refresh(page: str) -> None: ...

    id = refresh.push("a")
    assert refresh.push("b") != id
    with pytest.raises(dueq.Duplicate):
        refresh.push("a")
    assert refresh.options(id="own").push("a") == "own"
    assert refresh.options(unique=None).push("a") not in (id, "own")


def test_task_is_pushed_from_event_loops(app: dueq.App) -> None:
    @app.task(unique=60)
    async def notify(user: int) -> None: ...

    async def push() -> str:
        id = await notify.apush(1)
        await app.aio_queue("default").close()
        return id

    id = asyncio.run(push())
    assert only(app).id == id
    asyncio.run(app_closed(app))


async def app_closed(app: dueq.App) -> None:
    """Another loop has queues of its own."""
    assert (await app.aio_queue("default").stats()).leased == 1
    await app.aio_queue("default").close()


class Reversed:
    """JSON backwards."""

    name = "reversed"

    def dumps(self, value: dict[str, Any], /) -> bytes:
        return JSON.dumps(value)[::-1]

    def loads(self, data: bytes, /) -> object:
        return JSON.loads(data[::-1])


def test_task_of_another_serializer(server: Server) -> None:
    server.command("FLUSHALL")
    app = dueq.App(server.url, serializers=[Reversed()])

    @app.task(serializer="reversed")
    def odd(number: int) -> None: ...

    odd.push(12)
    message = only(app)
    assert message.headers == {"task": "odd", "serializer": "reversed"}
    assert message.body == b'{"args":[12],"kwargs":{}}'[::-1]
    serializer = app.serializer_of(message.headers)
    assert arguments_of(serializer, message.body) == ([12], {})
    app.queue("default").close()


def test_app_refuses() -> None:
    app = dueq.App()

    @app.task
    def once() -> None: ...

    app.on("queue")(print)
    with pytest.raises(errors.InvalidError, match="a task named once already"):
        app.task("once")(print)
    with pytest.raises(errors.InvalidError, match="a handler of the queue queue already"):
        app.on("queue")
    for name in ["", "x" * 256, "a\nb", "ü" * 128]:
        with pytest.raises(errors.InvalidError, match="name: "):
            app.task(name)(print)
    with pytest.raises(errors.InvalidError, match="'yaml' is not one of json"):
        app.task(serializer="yaml")
    with pytest.raises(errors.InvalidError, match="kill_after"):
        app.task(timeout=10, kill_after=9)
    with pytest.raises(errors.InvalidError, match="timeout: must be above 0"):
        app.task(timeout=0)
    for header in ["task", "serializer", "cursor"]:
        with pytest.raises(errors.InvalidError, match=f"headers: a push cannot set {header}"):
            app.task(headers={header: "x"})(print)
        with pytest.raises(errors.InvalidError, match=f"headers: a push cannot set {header}"):
            once.options(headers={header: "x"})
    with pytest.raises(errors.InvalidError, match="two are named json"):
        dueq.App(serializers=[JSON])
    assert list(app.tasks) == ["once"]
    with pytest.raises(LookupError, match="no job runs here"):
        dueq.current_job()


def test_task_arguments_are_what_json_has(app: dueq.App) -> None:
    @app.task
    def take(first: object, second: object = None, *more: object, **named: object) -> None: ...

    looped: list[object] = []
    looped.append(looped)
    for value in [object(), float("nan"), b"bytes", {1, 2}, looped, "\ud800", [{1: 2}]]:
        calls: list[tuple[str, list[object], dict[str, object]]] = [
            ("first", [value], {}),
            ("second", [1, value], {}),
            ("argument 4", [1, 2, 3, value], {}),
            ("other", [1], {"other": value}),
        ]
        for name, args, kwargs in calls:
            with pytest.raises((TypeError, ValueError), match=f"^task take: {name}: "):
                take.push(*args, **kwargs)
    with pytest.raises(TypeError, match="first: the key 1 is no text, as JSON's keys are"):
        app.push("take", [{1: 2}])
    assert app.queue("default").stats().ready == 0


def test_task_binds_its_arguments_when_it_is_pushed(app: dueq.App) -> None:
    def given(take: Callable[..., object]) -> Callable[..., object]:
        @functools.wraps(take)
        def inner(*args: object) -> object:
            return take("given", *args)

        return inner

    @app.task
    async def send(order: int, *, copy: bool = False) -> None: ...

    wrapped: dueq.Task[..., object] = app.task("wrapped")(given(lambda what, order: None))
    unknown: dueq.Task[..., object] = app.task("unknown")(min)
    pushes: list[Callable[..., object]] = [
        send.push,
        send.draft,
        lambda *a, **k: app.push("send", a, k),
    ]
    for push in pushes:
        with pytest.raises(TypeError, match="task send: missing a required argument: 'order'"):
            push()
        with pytest.raises(TypeError, match="task send: too many positional arguments"):
            push(1, 2)
        with pytest.raises(TypeError, match="task send: got an unexpected keyword argument 'kopy'"):
            push(1, kopy=True)
        push(1, copy=True)
    with pytest.raises(TypeError, match="task send: missing"):
        asyncio.run(send.apush())  # type: ignore[call-arg, unused-ignore]
    wrapped.push(17)
    unknown.push([1, 2])
    assert app.queue("default").stats().ready == 4


def test_task_is_pushed_by_its_name_alone(app: dueq.App) -> None:
    @app.task(queue="mail", priority=1)
    def send(order: int, copy: bool = False) -> None: ...

    app.push("send", [17], {"copy": True}, id="a")
    here = only(app, "mail")
    assert (here.id, here.priority, here.json()) == (
        "a",
        1,
        {"args": [17], "kwargs": {"copy": True}},
    )
    asyncio.run(pushed_from_a_loop(app))
    app.queue("default").push_many([app.draft("there", [2]), dueq.Draft("x")])
    first, second, _ = app.queue("default").reserve_many(3)
    assert (first.headers, first.max_attempts, first.json()) == (
        {"task": "there"},
        3,
        {"args": [1], "kwargs": {}},
    )
    assert second.json()["args"] == [2]
    with pytest.raises(TypeError, match="args: a list of arguments is required, not one str"):
        app.push("there", "abc")
    with pytest.raises(TypeError, match="dely: there is no such option; do you mean delay"):
        app.push("there", dely=3)  # type: ignore[call-arg]
    assert list(app.tasks) == ["send"]


async def pushed_from_a_loop(app: dueq.App) -> None:
    await app.apush("there", (1,), max_attempts=3)
    await app.aio_queue("default").close()


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("max_retries", 4, "do you mean max_attempts, which counts the first run too?"),
        ("max_attemps", 4, "do you mean max_attempts?"),
        ("countdown", 4, "do you mean delay?"),
        ("soft_time_limit", 4, "do you mean timeout?"),
        ("time_limit", 4, "do you mean kill_after?"),
        ("expires", 4, "do you mean ttl?"),
        ("json", {}, "json: there is no such option"),
        ("zebra", 4, "zebra: there is no such option$"),
        ("max_attempts", "4", "max_attempts: '4' is not int or None"),
        ("max_attempts", 0, "max_attempts: 0: use None for no limit, 1 for no retry"),
        ("backoff", -1, "base: -1 is not a number of seconds"),
    ],
)
def test_app_refuses_wrong_options_of_a_task_at_once(option: str, value: Any, says: str) -> None:
    app = dueq.App()
    with pytest.raises((TypeError, ValueError), match=says):
        app.task(**{option: value})
    assert app.tasks == {}


def test_soft_timeout_and_stopped_are_what_handlers_expect() -> None:
    assert issubclass(dueq.SoftTimeout, Exception)
    assert not issubclass(dueq.Stopped, Exception)
    assert str(pickle.loads(pickle.dumps(dueq.SoftTimeout()))) == str(dueq.SoftTimeout())


SAMPLE = """
import dueq

app = dueq.App()


@app.task(queue="mail", timeout=3, max_attempts=2)
def send(order: int, *, copy: bool = False) -> None: ...


@app.task
async def notify(user: str) -> None: ...


@app.on("orders")
def take(message: dueq.JobMessage) -> None: ...


@app.task
def decide() -> None:
    job = dueq.current_job()
    job.push(send.draft(1), dueq.Draft("text"), "text", to="mail")
    if job.attempt > 1:
        job.retry(delay=3, error=ValueError())
    if job.lost:
        job.fail("lost")
    job.message.bury()  # error: attr-defined
    job.release(dely=3)  # error: call-arg


send.push(1, copy=True)
send.options(delay=3, id="x").push(1)
send(1)
notify.push("a")
send.push("1")  # error: arg-type
send.push()  # error: call-arg
send.push(1, kopy=True)  # error: call-arg
send.draft(None)  # error: arg-type
send.options(delay=3).push(1, copy=2)  # error: arg-type
send.options(dely=3)  # error: call-arg
send(order="1")  # error: arg-type
notify.push(1)  # error: arg-type
app.task(max_atempts=1)  # error: call-overload
"""


def test_wrong_arguments_of_a_task_are_type_errors(tmp_path: Path) -> None:
    sample = tmp_path / "sample.py"
    sample.write_text(SAMPLE)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", sample],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    found = [
        (int(line.split(":")[1]), line.rsplit("[", 1)[1].rstrip("]"))
        for line in done.stdout.splitlines()
        if ": error: " in line
    ]
    wrong = [
        (number, line.split("# error: ")[1])
        for number, line in enumerate(SAMPLE.splitlines(), 1)
        if "# error: " in line
    ]
    assert found == wrong, done.stdout + done.stderr
