"""drain(), and the fixtures of the pytest plugin."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dueq
from dueq.serializers import UnknownTask
from dueq.testing import drain
from private_server import Server

ROOT = Path(__file__).parents[2]


@pytest.fixture
def app(dueq_url: str) -> dueq.App:
    return dueq.App()


def test_drain_runs_what_tasks_push_and_returns_the_jobs(app: dueq.App) -> None:
    done: list[object] = []

    @app.task(queue="first")
    def plain(a: int) -> None:
        done.append((a, dueq.current_job().task))
        other.push("from plain")

    @app.task(queue="second")
    async def other(text: str) -> None:
        await asyncio.sleep(0)
        done.append((text, dueq.current_job().task))

    @app.on("third")
    def third(message: dueq.JobMessage) -> None:
        done.append(message.body)

    @app.middleware
    def around(job: dueq.Job, call_next: Callable[[], Any]) -> Any:
        done.append(job.queue)
        return call_next()

    plain.push(1)
    app.queue("third").push("x")
    jobs = drain(app)
    assert done == ["first", (1, "plain"), "second", ("from plain", "other"), "third", b"x"]
    assert [(job.task, job.args) for job in jobs] == [
        ("plain", [1]),
        ("other", ["from plain"]),
        (None, []),
    ]
    assert drain(app) == []
    assert [app.queue(name).stats().acked for name in app.queue_names] == [1, 1, 1]
    with pytest.raises(LookupError):
        dueq.current_job()


def test_drain_runs_what_is_due_later_if_it_is_told_so(app: dueq.App) -> None:
    @app.task
    def remind(name: str) -> None: ...

    @app.task(queue="more")
    def again(times: int) -> None:
        if times:
            again.options(delay=60).push(times - 1)

    remind.options(delay=3600).push("last")
    remind.options(delay=0.01).push("first")
    again.options(delay=1800).push(1)
    app.queue("default").schedule("nightly", "0 3 * * *", remind.draft("nightly"), "UTC")
    assert len(drain(app)) <= 1
    later = [(job.task, job.args) for job in drain(app, delayed=True)]
    assert later[-3:] == [("again", [1]), ("again", [0]), ("remind", ["last"])]
    assert app.queue("default").stats().delayed == 1
    assert drain(app, delayed=True) == []


def test_drain_raises_what_a_job_raises_and_runs_it_again(app: dueq.App) -> None:
    attempts = []

    @app.task(max_attempts=3)
    def fragile() -> None:
        attempts.append(dueq.current_job().attempt)
        if len(attempts) < 3:
            raise ValueError("no luck")

    fragile.push()
    for _ in range(2):
        with pytest.raises(ValueError, match="no luck"):
            drain(app, delayed=True)
        [waiting] = app.queue("default").peek("delayed")
        assert waiting.error == "ValueError: no luck"
    assert drain(app) == []
    assert len(drain(app, delayed=True)) == 1
    assert attempts == [1, 2, 3]


def test_coroutine_that_a_plain_function_returns_is_no_success(app: dueq.App) -> None:
    ran = []

    async def send() -> None:
        ran.append("sent")

    @app.task
    def forgets() -> Any:
        return send()

    forgets.push()
    with pytest.raises(TypeError, match="returned a coroutine, which nobody awaits"):
        drain(app)
    assert ran == []
    counts = app.queue("default").stats()
    assert (counts.acked, counts.retried) == (0, 1)


def test_drain_of_other_queues(app: dueq.App) -> None:
    @app.task
    def known() -> None: ...

    known.options(queue="elsewhere").push()
    known.push()
    assert [job.queue for job in drain(app, queues=["elsewhere"])] == ["elsewhere"]
    assert [job.queue for job in drain(app)] == ["default"]
    app.queue("default").push("no task")
    with pytest.raises(UnknownTask):
        drain(app)


def test_drain_ends_where_tasks_push_each_other_without_end(app: dueq.App) -> None:
    @app.task
    def endless() -> None:
        endless.push()

    endless.push()
    with pytest.raises(RuntimeError, match="more than 20 jobs"):
        drain(app, most=20)
    counts = app.queue("default").stats()
    assert (counts.acked, counts.ready, counts.leased) == (20, 1, 0)


def test_drain_follows_successors_to_other_queues(app: dueq.App) -> None:
    seen = []

    @app.on("orders")
    def order(message: dueq.JobMessage) -> None:
        dueq.current_job().push("paid", to="payments")

    @app.on("payments")
    def payment(message: dueq.JobMessage) -> None:
        seen.append(message.body)

    app.queue("orders").push("order")
    drain(app)
    assert seen == [b"paid"]


def test_drain_refuses_every_server_that_is_not_the_test_s_own(
    app: dueq.App, own_server: Server
) -> None:
    ran = []

    def production() -> dueq.App:
        made = dueq.App(own_server.url)
        made.task("pay")(lambda: ran.append("paid"))
        made.tasks["pay"].push()
        return made

    named = production()
    with pytest.raises(RuntimeError, match=r"queue default is on .*the test's own server is embed"):
        drain(named)
    with pytest.raises(RuntimeError, match=r"the test's own server is redis://127.0.0.1:1"):
        drain(named, server="redis://127.0.0.1:1")
    assert (ran, named.queue("default").stats().ready) == ([], 1)
    assert [job.task for job in drain(named, server=own_server.url)] == ["pay"]


def test_drain_without_queues_says_so(app: dueq.App) -> None:
    with pytest.raises(RuntimeError, match="no queues to take from"):
        drain(app)


def test_drain_in_a_thread_of_a_test_of_asyncio(app: dueq.App) -> None:
    @app.task
    async def notify() -> None: ...

    async def test() -> list[dueq.Job]:
        await notify.apush()
        return await asyncio.to_thread(drain, app)

    assert len(asyncio.run(test())) == 1


# ---- The plugin ----


def run_pytest(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


PLUGIN = """
import os

import pytest

import dueq
from dueq.testing import drain


def test_no_task_runs_before_there_is_a_server():
    app = dueq.App()
    app.task(print)
    with pytest.raises(RuntimeError, match="and there is none: use the fixture dueq_url"):
        drain(app)


def test_queue_is_empty(dueq_queue):
    assert dueq_queue.stats().pushed == 0
    dueq_queue.push("left", id="x", unique=60)
    dueq.Queue("another").push("left")


def test_next_queue_is_empty_too(dueq_queue, dueq_url, dueq_server):
    assert dueq_queue.stats().pushed == 0
    assert dueq_queue.push("the same id", id="x") == "x"
    assert dueq_url == dueq_server == os.environ["DUEQ_URL"]
    assert dueq.queues() == ["test"]


def test_without_a_fixture_nothing_is_set():
    assert os.environ["DUEQ_URL"] == "redis://unchanged"


def test_without_a_fixture_no_task_runs():
    app = dueq.App()
    app.task(print)
    with pytest.raises(RuntimeError, match="the app's queue default is on redis://unchanged"):
        drain(app)
"""


@pytest.mark.parametrize("words", [(), ("-n", "2")], ids=" ".join)
def test_plugin_gives_each_test_an_empty_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("DUEQ_URL", "redis://unchanged")
    (tmp_path / "test_it.py").write_text(PLUGIN)
    done = run_pytest(tmp_path, *words)
    assert re.search(r"^5 passed", done.stdout, flags=re.M), done.stdout + done.stderr


def test_plugin_s_document_works_when_pasted(tmp_path: Path) -> None:
    document = (ROOT / "docs/frameworks.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```", document, flags=re.S | re.M)
    for name, code in blocks:
        (tmp_path / name).write_text(code)
    done = run_pytest(tmp_path, "test_shop.py")
    assert re.search(r"^2 passed", done.stdout, flags=re.M), done.stdout + done.stderr
