"""Steps and progress of jobs: what a job keeps with its message for its next run."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import dueq
from dueq._cursor import Cursor, made_step
from dueq.errors import CorruptError
from in_process import run
from worker_process import WorkerProcess, until

GOLDEN = Path(__file__).parents[1] / "golden/cursors.tsv"
ROWS = [
    line.split("\t")
    for line in GOLDEN.read_text(encoding="utf-8").split("\n")
    if line and not line.startswith("#")
]
POOLS = [("threads", "ship"), ("processes", "ship"), ("asyncio", "ship"), ("asyncio", "aship")]


def applied(calls: list[list[Any]]) -> Cursor:
    cursor = Cursor()
    for what, *given in calls:
        if what == "step":
            cursor = cursor.with_step(made_step(*given)[0])
        elif what == "checkpoint":
            cursor = cursor.with_checkpoint(*given)
        else:
            cursor = cursor.with_progress(*given)
    return cursor


@pytest.mark.parametrize(("name", "calls", "header"), ROWS)
def test_cursor_has_the_form_of_every_language(name: str, calls: str, header: str) -> None:
    made = json.loads(calls)
    text = json.loads(header)
    assert applied(made).text == text, name
    read = Cursor.read(text)
    assert read == applied(made)
    steps = {each[1]: each[2] for each in made if each[0] == "step"}
    assert {step: read.step(step) for step in steps} == {
        step: (value,) for step, value in steps.items()
    }
    assert read.step("another") == ()
    checkpoints = [each[1] for each in made if each[0] == "checkpoint"]
    assert read.value == (checkpoints[-1] if checkpoints else None)


def test_step_is_not_done_again(app: dueq.App) -> None:
    done: list[str] = []

    def once(what: str, value: Any) -> Any:
        done.append(what)
        return value

    got: list[Any] = []

    @app.task(backoff=0)
    def ship() -> None:
        job = dueq.current_job()
        got.append(job.step("charge", once, "charge", (1, 2)))
        got.append(job.step("nothing", once, "nothing", None))
        if job.attempt == 1:
            raise OSError("no paper")
        got.append(job.step("print", once, what="print", value={}))

    ship.push()
    with pytest.raises(OSError, match="no paper"):
        run(app)
    run(app)
    assert done == ["charge", "nothing", "print"]
    # The value is what JSON has of it, in the first run too.
    assert got == [[1, 2], None, [1, 2], None, {}]


def test_step_keeps_nothing_if_its_function_raises(app: dueq.App) -> None:
    runs: list[int] = []

    @app.task(backoff=0)
    def ship() -> None:
        job = dueq.current_job()

        def charge() -> int:
            runs.append(job.attempt)
            if job.attempt == 1:
                raise OSError("the bank is away")
            return 7

        assert job.step("charge", charge) == 7

    ship.push()
    with pytest.raises(OSError, match="the bank is away"):
        run(app)
    run(app)
    assert runs == [1, 2]


def test_cursor_and_steps_share_the_header(app: dueq.App) -> None:
    seen: list[Any] = []

    @app.task(backoff=0)
    def walk() -> None:
        job = dueq.current_job()
        seen.append((job.cursor, job.message.headers.get("cursor")))
        if job.attempt == 1:
            job.checkpoint({"row": 1})
            job.step("charge", int, "17")
            job.progress(0.25, "row 1")
            job.checkpoint({"row": 2})
            job.retry(delay=0)
        assert job.step("charge", int, "18") == 17

    walk.push()
    run(app)
    run(app)
    assert seen == [
        (None, None),
        ({"row": 2}, 'dueq 0.25 row 1\n{"row":2}\n{"charge":17}'),
    ]


def test_step_of_a_name_that_the_run_has_had_is_refused(app: dueq.App) -> None:
    called: list[int] = []

    @app.task(max_attempts=1)
    def twice() -> None:
        job = dueq.current_job()
        for number in (1, 2):
            job.step("charge", called.append, number)

    twice.push()
    with pytest.raises(ValueError, match="has had a step 'charge' before: give each step a name"):
        run(app)
    assert called == [1]


@pytest.mark.parametrize("name", ["", "x" * 256, "é" * 128])
def test_step_needs_a_name(app: dueq.App, name: str) -> None:
    @app.task(max_attempts=1)
    def task() -> None:
        dueq.current_job().step(name, int)

    task.push()
    with pytest.raises(ValueError, match="is not 1 to 255 bytes of UTF-8"):
        run(app)


def test_step_returns_what_json_has(app: dueq.App) -> None:
    @app.task(max_attempts=1)
    def task() -> None:
        dueq.current_job().step("charge", object)

    task.push()
    with pytest.raises(TypeError, match=r"step charge: what the function returned: .*object"):
        run(app)


def test_plain_step_refuses_a_coroutine(app: dueq.App) -> None:
    async def charge() -> int:
        return 7

    @app.task(max_attempts=1)
    def task() -> None:
        dueq.current_job().step("charge", charge)  # type: ignore[unused-coroutine]

    task.push()
    with pytest.raises(TypeError, match=r"step charge: .*: await job.astep\(\)"):
        run(app)


def test_step_that_is_too_large_says_what_to_do(app: dueq.App) -> None:
    after: list[Any] = []

    @app.task(max_attempts=1)
    def task() -> None:
        job = dueq.current_job()
        job.step("small", int, "17")
        with pytest.raises(dueq.CursorTooLargeError) as failed:
            job.step("report", str, "x" * 66000)
        after.append(str(failed.value))
        # What was kept before is still there, and there is room for more.
        job.checkpoint(1)
        after.append(job.message.headers["cursor"])
        with pytest.raises(dueq.CursorTooLargeError, match=r"checkpoint: .* in 65535 bytes"):
            job.checkpoint("x" * 66000)

    task.push()
    run(app)
    assert after[0].startswith("step report: a message keeps its headers, its checkpoint, ")
    assert "keep large values elsewhere, such as in a database, and their keys here" in after[0]
    assert after[1] == 'dueq\n1\n{"small":17}'


def test_step_raises_if_the_lease_is_lost(app: dueq.App, url: str) -> None:
    done: list[int] = []

    @app.task
    def task() -> None:
        job = dueq.current_job()
        app.queue("default").cancel(job.id)
        with pytest.raises(dueq.LeaseLost):
            job.step("charge", done.append, 1)
        with pytest.raises(dueq.LeaseLost):
            job.progress(0.5)
        job.fail("lost")

    task.push()
    with pytest.raises(dueq.LeaseLost):
        run(app)
    assert done == [1]


def test_steps_of_coroutines_run_at_the_same_time(url: str) -> None:
    async def main() -> None:
        app = dueq.App(url)
        met = asyncio.Event()
        values: list[Any] = []

        @app.task
        async def task() -> None:
            job = dueq.current_job()

            async def first() -> int:
                await met.wait()
                return 1

            async def second() -> int:
                met.set()
                return 2

            values.extend(
                await asyncio.gather(job.astep("first", first), job.astep("second", second))
            )
            values.append(job.message.headers["cursor"])

        task.push()
        await asyncio.to_thread(run, app)
        assert values == [1, 2, 'dueq\n\n{"second":2}\n{"first":1}']

    asyncio.run(main())


def test_progress_is_written_once_a_second(app: dueq.App, url: str) -> None:
    shown: list[tuple[float | None, str]] = []

    def look() -> None:
        with dueq.Queue("default", url) as queue:
            [message] = queue.peek("leased")
            shown.append((message.progress, message.progress_note))

    @app.task(max_attempts=2, backoff=0)
    def task() -> None:
        job = dueq.current_job()
        if job.attempt == 2:
            look()
            return
        look()
        job.progress(0.1, "page 1")
        look()
        job.progress(0.2, "page 2")
        look()
        job.step("charge", int, "17")
        look()
        job.progress(0.3, "page 3")
        time.sleep(1.1)
        job.progress(0.4, "page 4")
        look()
        job.progress(0.5, "page 5")
        raise OSError("no paper")

    task.push()
    with pytest.raises(OSError, match="no paper"):
        run(app)
    run(app)
    assert shown == [
        (None, ""),
        (0.1, "page 1"),
        (0.1, "page 1"),
        (0.2, "page 2"),
        (0.4, "page 4"),
        (0.5, "page 5"),
    ]


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_progress_is_a_share(app: dueq.App, share: float) -> None:
    @app.task(max_attempts=1)
    def task() -> None:
        dueq.current_job().progress(share)

    task.push()
    with pytest.raises(ValueError, match="is not 0 to 1"):
        run(app)


@pytest.mark.parametrize(
    "cursor",
    [
        "17",
        "dueq",
        "dueq 0.4",
        "dueq \n",
        "dueq x\n",
        "dueq 2\n",
        "dueq 1.5\n",
        "dueq 0.45678\n",
        "dueq 0.4x y\n",
        "other 0.4\n",
    ],
)
def test_other_cursors_tell_no_progress(url: str, cursor: str) -> None:
    with dueq.Queue("orders", url) as queue:
        queue.push("x")
        message = queue.reserve()
        assert message
        message.checkpoint(cursor)
        found = queue.find(message.id)
        assert found
        assert (found.progress, found.progress_note) == (None, "")
        assert found.headers == {"cursor": cursor}


@pytest.mark.parametrize(("pool", "task"), POOLS)
@pytest.mark.parametrize("kill", [True, False])
def test_worker_goes_on_behind_a_kept_step(
    url: str, tmp_path: Path, pool: str, task: str, kill: bool
) -> None:
    """A kill -9 in a step, and a deploy: what the step before has done is not done again."""
    words = ("--pool", pool, "--concurrency", "1", "--lease", "1s", "--grace", "0s")
    with dueq.Queue("default", url) as queue:
        queue.push('{"args":[17]}', headers={"task": task})
        with WorkerProcess(tmp_path, url, *words, app="steps_app:app") as worker:
            worker.wait_for("pack 17")
            [leased] = queue.peek("leased")
            assert leased.headers["cursor"] == 'dueq 0.5 charged\n\n{"charge":{"payment":1700}}'
            assert (leased.progress, leased.progress_note) == (0.5, "charged")
            if kill:
                worker.kill()
                worker.gate.touch()
            else:
                worker.gate.touch()
                worker.stop()
        with WorkerProcess(tmp_path, url, *words, app="steps_app:app") as worker:
            queue.push('{"args":[18]}', headers={"task": task})
            until(lambda: queue.stats().acked == 2, worker.log)
            assert worker.stop() == 0
    notes = worker.notes()
    assert notes.count("charge 17") == 1
    assert notes.count("shipped 1700 parcel 17 1") == 1


def test_steps_of_threads_are_all_kept(app: dueq.App) -> None:
    kept: list[set[str]] = []

    @app.task
    def task() -> None:
        job = dueq.current_job()
        threads = [
            threading.Thread(target=job.step, args=(f"part {number}", int, number))
            for number in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        cursor = Cursor.read(job.message.headers["cursor"])
        kept.append({f"part {number}" for number in range(8) if cursor.step(f"part {number}")})

    task.push()
    run(app)
    assert kept == [{f"part {number}" for number in range(8)}]


@pytest.mark.parametrize(
    "header", ["dueq\n\n17", "dueq\n\nnull", 'dueq\n\n{"charge":', "dueq 0.5\n{\n{}"]
)
def test_damaged_cursor_has_an_error_of_its_own(header: str) -> None:
    cursor = Cursor.read(header)
    with pytest.raises(CorruptError, match="the message's cursor has a "):
        assert cursor.value is None
        cursor.step("charge")
