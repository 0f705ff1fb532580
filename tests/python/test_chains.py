"""Chains: tasks that run one after the other, and what happens when one of them fails."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

import dueq
from dueq.chain import Chain, following
from dueq.draft import Draft, TaskDraft, headers_of
from dueq.errors import TooLargeError
from dueq.serializers import CHAIN, BadTask
from dueq.testing import drain
from in_process import run
from worker_process import WorkerProcess, until

GOLDEN = Path(__file__).parents[1] / "golden/chains.tsv"
POOLS = ["threads", "processes", "asyncio"]


def golden_chains(app: dueq.App) -> dict[str, TaskDraft]:
    """The chains of tests/golden/chains.tsv, by their names."""

    def task(name: str, *args: object, queue: str = "default", **options: Any) -> TaskDraft:
        kwargs = options.pop("kwargs", {})
        return app.draft(name, list(args), kwargs, queue=queue, **options)

    every: dict[str, Any] = {
        "delay": 60,
        "id": "o-17",
        "max_attempts": None,
        "lease": timedelta(seconds=90),
        "priority": 1,
        "ttl": 3600,
        "backoff": dueq.Backoff("exponential", 1, 60, "full"),
        "max_crashes": 3,
        "drop": True,
        "unique": 0.25,
        "replace": True,
        "replicas": 1,
        "disk": True,
        "durable_timeout": 5,
        "key": "k",
    }
    return {
        "two links": dueq.chain(task("charge", 17), task("pack", 17)),
        "a link of another queue": dueq.chain(task("charge", 17), task("pack", queue="parcels")),
        "previous": dueq.chain(
            task("charge", 17),
            task("pack", dueq.PREVIOUS, "x", kwargs={"again": dueq.PREVIOUS, "copy": True}),
            task("ship", "Zoë/\u2028", 1.0, {}, []),
        ),
        "a catch": dueq.chain(
            task("charge", 17),
            task("pack"),
            catch=task("refund", 17, dueq.FAILURE, queue="bank", max_attempts=5),
        ),
        "a catch alone": dueq.chain(task("charge"), catch=task("refund")),
        "every option": dueq.chain(task("charge"), task("pack", **every)),
        "a replaced body, a dead letter and a group": dueq.chain(
            task("charge"),
            task("pack", id="p", replace="body", dead_letter="dead", group="acme"),
        ),
        "a fixed backoff": dueq.chain(task("charge"), task("pack", backoff=0.5)),
        "a backoff of a list": dueq.chain(
            task("charge"),
            task("pack", backoff=dueq.Backoff("list", delays=[1, 60], jitter="equal")),
        ),
        "a time": dueq.chain(
            task("charge"), task("pack", at=datetime(2026, 11, 28, 17, 30, tzinfo=UTC))
        ),
        "a kept end": dueq.chain(task("charge"), task("pack", keep=60)),
    }


def test_chain_has_the_form_of_every_language(app: dueq.App) -> None:
    rows = [
        line.split("\t")
        for line in GOLDEN.read_text(encoding="utf-8").split("\n")
        if line and not line.startswith("#")
    ]
    made = golden_chains(app)
    headers = {name: headers_of(draft.row())[CHAIN] for name, draft in made.items()}
    assert headers == {name: json.loads(text) for name, text in rows}


def test_link_is_pushed_as_it_was_drafted(app: dueq.App) -> None:
    for name, draft in golden_chains(app).items():
        text = headers_of(draft.row())[CHAIN]
        chain = Chain.read(text)
        assert chain.text == text
        next = chain.following()
        if next is None:
            assert name == "a catch alone"
            continue
        row = next.draft({"parcel": 17}).row()
        if name == "every option":
            wanted = app.draft(
                "pack",
                delay=60,
                id="o-17",
                max_attempts=None,
                lease=90,
                priority=1,
                ttl=3600,
                backoff=dueq.Backoff("exponential", 1, 60, "full"),
                max_crashes=3,
                drop=True,
                unique=0.25,
                replace=True,
                replicas=1,
                disk=True,
                durable_timeout=5,
                key="k",
            ).row()
            assert row[1:] == wanted[1:]
            assert row[0] == bytes(wanted[0]).decode()  # type: ignore[arg-type]


def test_chain_runs_its_links_in_order(app: dueq.App) -> None:
    done: list[Any] = []

    @app.task(queue="bank")
    def charge(order: int) -> dict[str, int]:
        done.append(("charge", order))
        return {"payment": order * 100}

    @app.task(queue="parcels")
    async def pack(order: int, *, payment: dict[str, int]) -> str:
        done.append(("pack", order, payment))
        return f"parcel {order}"

    @app.task
    def ship(parcel: str, again: str) -> None:
        done.append(("ship", parcel, again))

    id = dueq.chain(
        charge.draft(17),
        pack.draft(17, payment=dueq.PREVIOUS),
        ship.draft(dueq.PREVIOUS, again=dueq.PREVIOUS),
    ).push()
    with dueq.Queue("bank", app.url) as queue:
        found = queue.find(id)
        assert found
        assert found.json() == {"args": [17], "kwargs": {}}
    assert run(app) == ["charge", "pack", "ship"]
    assert done == [
        ("charge", 17),
        ("pack", 17, {"payment": 1700}),
        ("ship", "parcel 17", "parcel 17"),
    ]


def test_link_keeps_its_result(app: dueq.App) -> None:
    @app.task(keep=60)
    def charge(order: int) -> int:
        return order * 100

    @app.task(keep=60)
    def pack(payment: int) -> str:
        dueq.current_job().push(tell.draft())
        return f"paid {payment}"

    @app.task
    def tell() -> str:
        return "not kept"

    dueq.chain(charge.draft(17), pack.draft(dueq.PREVIOUS)).push()
    jobs = drain(app, server=app.url)
    assert [job.task for job in jobs] == ["charge", "pack", "tell"]
    assert app.result(jobs[0].id) == 1700
    assert app.result(jobs[1].id) == "paid 1700"
    with pytest.raises(dueq.NotFound):
        app.result(jobs[2].id)


def test_result_has_the_form_of_an_argument(app: dueq.App) -> None:
    got: list[Any] = []

    @app.task
    def make() -> UUID:
        return UUID(int=7)

    @app.task
    def take(id: UUID, at: datetime | None) -> datetime | None:
        got.append(id)
        return at

    dueq.chain(
        make.draft(), take.draft(dueq.PREVIOUS, None), take.draft(UUID(int=8), dueq.PREVIOUS)
    ).push()
    assert run(app) == ["make", "take", "take"]
    assert got == [UUID(int=7), UUID(int=8)]


def test_result_that_json_does_not_have_fails_the_link(app: dueq.App) -> None:
    @app.task(max_attempts=1)
    def make() -> object:
        return object()

    @app.task
    def take(value: object) -> None: ...

    dueq.chain(make.draft(), take.draft(dueq.PREVIOUS)).push()
    with pytest.raises(TypeError, match=r"what the handler returned goes to .* the task take: "):
        run(app)
    assert app.queue("default").stats().dead == 1
    # A result that no link takes may be anything.
    dueq.chain(make.draft(), take.draft(1)).push()
    assert run(app) == ["make", "take"]


def test_failed_link_is_tried_again_and_then_goes_on(app: dueq.App) -> None:
    runs: list[str] = []

    @app.task(backoff=0)
    def charge() -> None:
        job = dueq.current_job()
        runs.append(f"charge {job.attempt}")
        if job.attempt == 1:
            job.retry(delay=0)

    @app.task
    def pack() -> None:
        runs.append("pack")

    dueq.chain(charge.draft(), pack.draft()).push()
    run(app)
    assert runs == ["charge 1", "charge 2", "pack"]


@pytest.mark.parametrize("how", ["raise", "fail", "drop", "ttl"])
def test_failure_ends_the_chain_and_is_caught(app: dueq.App, how: str) -> None:
    caught: list[Any] = []

    @app.task
    def charge() -> int:
        return 17

    @app.task(queue="parcels", max_attempts=1, drop=how == "drop")
    def pack(payment: int) -> None:
        if how == "fail":
            dueq.current_job().fail("no paper: ü")
        raise OSError("no paper: ü")

    @app.task
    def ship() -> None: ...

    @app.task(queue="mail", max_attempts=7)
    def refund(order: int, failure: dict[str, Any], *, why: object) -> None:
        caught.append((order, failure, why, dueq.current_job().message.max_attempts))

    link = pack.options(ttl=0.001) if how == "ttl" else pack
    dueq.chain(
        charge.draft(),
        link.draft(dueq.PREVIOUS),
        ship.draft(),
        catch=refund.draft(17, dueq.FAILURE, why=dueq.FAILURE),
    ).push()
    if how == "ttl":
        drain(app, queues=["default"], server=app.url)
        time.sleep(0.01)  # the time to live of the second link
    if how in ("raise", "drop"):
        with pytest.raises(OSError, match="no paper"):
            run(app)
    ran = run(app)
    while not caught:
        ran = run(app)
    assert ran[-1] == "refund"
    [(order, failure, why, most)] = caught
    assert (order, most) == (17, 7)
    assert why == failure
    assert len(failure.pop("id")) == 22
    error = {"fail": "no paper: ü", "ttl": "its time to live is over"}
    assert failure == {
        "link": 2,
        "task": "pack",
        "queue": "parcels",
        "error": error.get(how, "OSError: no paper: ü"),
    }
    dead = app.queue("parcels").stats().dead
    assert dead == (1 if how in ("raise", "fail") else 0)
    assert run(app) == []


def test_chain_goes_only_where_its_queue_allows(app: dueq.App) -> None:
    ran: list[str] = []

    @app.task(max_attempts=1)
    def charge() -> None:
        ran.append("charge")

    @app.task(queue="parcels")
    def pack() -> None:
        ran.append("pack")

    app.queue("default").allow(dead_letter=["elsewhere"])
    dueq.chain(charge.draft(), pack.draft()).push()
    with pytest.raises(ValueError, match="queue parcels, and the list of targets of default does"):
        run(app)
    assert not ran
    app.queue("default").allow(dead_letter=["parcels"])
    dueq.chain(charge.draft(), pack.draft()).push()
    run(app)
    assert ran == ["charge", "pack"]


def test_dead_link_that_is_kicked_goes_on(app: dueq.App) -> None:
    runs: list[str] = []

    @app.task(max_attempts=1)
    def charge() -> None:
        runs.append("charge")
        if len(runs) == 1:
            dueq.current_job().fail("not yet")

    @app.task
    def pack() -> None:
        runs.append("pack")

    id = dueq.chain(charge.draft(), pack.draft()).push()
    run(app)
    app.queue("default").kick(id)
    run(app)
    assert runs == ["charge", "charge", "pack"]


def test_link_may_push_successors_of_its_own(app: dueq.App) -> None:
    runs: list[Any] = []

    @app.task
    def charge() -> None:
        job = dueq.current_job()
        job.push(tell.draft(1), tell.draft(2))
        with pytest.raises(ValueError, match="go to one queue: default, not mail"):
            job.push(tell.options(queue="mail").draft(3))
        with pytest.raises(ValueError, match="at most 199 successors"):
            job.push(*[tell.draft(number) for number in range(198)])

    @app.task
    def tell(number: int) -> None:
        runs.append(number)

    @app.task
    def pack() -> None:
        runs.append("pack")

    dueq.chain(charge.draft(), pack.draft()).push()
    run(app)
    assert runs == ["pack", 1, 2]


def test_chain_is_a_draft_like_others(app: dueq.App) -> None:
    runs: list[str] = []

    @app.task
    def begin() -> None:
        dueq.current_job().push(dueq.chain(one.draft(), two.draft()))

    @app.task
    def one() -> None:
        runs.append("one")

    @app.task
    def two() -> None:
        runs.append("two")

    begin.push()
    run(app)
    app.queue("default").push_many([dueq.chain(one.draft(), two.draft())])
    run(app)
    asyncio.run(dueq.chain(one.draft(), two.draft()).apush())
    run(app)
    one.draft().push()
    run(app)
    assert runs == ["one", "two"] * 3 + ["one"]


def wrong_chains() -> dict[str, tuple[Callable[[Any], object], type[Exception], str]]:
    previous, failure = dueq.PREVIOUS, dueq.FAILURE
    return {
        "none": (lambda t: dueq.chain(), TypeError, "give it drafts"),
        "a task": (lambda t: dueq.chain(t), TypeError, "link 1: .* is no draft of a task"),
        "a plain draft": (
            lambda t: dueq.chain(t.draft(), dueq.Draft("x")),  # type: ignore[arg-type]
            TypeError,
            "link 2: ",
        ),
        "a chain": (
            lambda t: dueq.chain(t.draft(), dueq.chain(t.draft(), t.draft())),
            dueq.Error,
            "link 2 is a chain itself",
        ),
        "previous of the first": (
            lambda t: dueq.chain(t.draft(previous), t.draft()),
            dueq.Error,
            r"link 1: dueq\.PREVIOUS: here neither",
        ),
        "a failure in a link": (
            lambda t: dueq.chain(t.draft(), t.draft(failure)),
            dueq.Error,
            r"link 2: dueq\.FAILURE: here only dueq\.PREVIOUS",
        ),
        "previous in the catch": (
            lambda t: dueq.chain(t.draft(), catch=t.draft(previous)),
            dueq.Error,
            r"catch: dueq\.PREVIOUS: here only dueq\.FAILURE",
        ),
        "unique": (
            lambda t: t.options(unique=5).draft(previous),
            dueq.Error,
            "unique: not all arguments are known",
        ),
        "pushed alone": (lambda t: t.draft(previous).push(), dueq.Error, "only in a draft of dueq"),
        "pushed": (lambda t: t.push(previous), dueq.Error, "only in a draft of dueq"),
        "too large": (
            lambda t: dueq.chain(t.draft(), t.draft("x" * 32768)),
            TooLargeError,
            "take 3.... bytes; 32768 are allowed: push large values to a database",
        ),
        "an unknown argument": (
            lambda t: dueq.chain(t.draft(), t.draft(previous, 1, 2, 3)),
            TypeError,
            "too many positional arguments",
        ),
    }


@pytest.mark.parametrize("name", wrong_chains())
def test_wrong_chains_are_refused(app: dueq.App, name: str) -> None:
    @app.task
    def task(a: object = None, b: object = None) -> None: ...

    make, kind, text = wrong_chains()[name]
    with pytest.raises(kind, match=text):
        make(task)


def test_reserved_headers_are_refused(app: dueq.App) -> None:
    for header in ("dueq-chain", "dueq-failed"):
        with pytest.raises(ValueError, match=header):
            app.draft("x", headers={header: "x"})


def test_link_keeps_the_headers_of_its_draft(app: dueq.App) -> None:
    headers: list[dict[str, str]] = []

    @app.task
    def task() -> None:
        headers.append(dueq.current_job().message.headers)

    dueq.chain(task.draft(), task.options(headers={"tenant": "gruyère"}).draft()).push()
    run(app)
    assert headers[1] == {"tenant": "gruyère", "task": "task"}


@pytest.mark.parametrize(
    "header",
    [
        "",
        "\n1 2 x",
        "\n1 x\n",
        "\none two x\n",
        "\n1 2 x\n\nno json",
        "\n1 2 x\n\n[]",
        '\n1 2 x\n\n{"queue":"a"}',
        '\n1 2 x\n\n{"queue":"a","body":7}',
        '\n1 2 x\n\n{"queue":"a","body":"{}","other":1}',
        '\n1 2 x\n\n{"queue":"a","body":"{}","gaps":[0]}',
        '\n1 2 x\n\n{"queue":"a","body":"{}","backoff":{"kind":"none"}}',
    ],
)
def test_header_that_is_no_chain_fails_before_the_job(app: dueq.App, header: str) -> None:
    ran: list[int] = []

    @app.task(backoff=60)
    def task() -> None:
        ran.append(1)

    app.queue("default").push_many([Draft("{}", headers={"task": "task", CHAIN: header})])
    with pytest.raises(BadTask, match=CHAIN):
        run(app)
    assert not ran
    with pytest.raises(BadTask):
        following({CHAIN: header})


@pytest.mark.parametrize("pool", POOLS)
def test_worker_runs_a_chain_over_queues(url: str, tmp_path: Path, pool: str) -> None:
    """With a kill -9 between the links: each link is done once, but for the one that was killed."""
    words = ("--pool", pool, "--concurrency", "1", "--lease", "1s")
    app = dueq.App(url)
    dueq.chain(
        app.draft("first", [17], queue="bank"),
        app.draft("second", [17, dueq.PREVIOUS], queue="parcels"),
        app.draft("third", [dueq.PREVIOUS], queue="mail"),
        catch=app.draft("refund", [17, dueq.FAILURE], queue="mail"),
    ).push()
    with WorkerProcess(tmp_path, url, *words, app="steps_app:app") as worker:
        worker.wait_for("second 17 1700")
        worker.kill()
    worker.gate.touch()
    with WorkerProcess(tmp_path, url, *words, app="steps_app:app") as worker:
        worker.wait_for("third parcel 17")
        mail = app.queue("mail")
        until(lambda: mail.stats().acked == 1, worker.log)
        assert worker.stop() == 0
    notes = worker.notes()
    assert notes == ["first 17", "second 17 1700", "second 17 1700", "third parcel 17"]


@pytest.mark.parametrize("pool", POOLS)
def test_worker_catches_what_fails_and_what_dies(url: str, tmp_path: Path, pool: str) -> None:
    words = ("--pool", pool, "--concurrency", "1", "--lease", "1s")
    app = dueq.App(url)
    refund = app.draft("refund", [1, dueq.FAILURE], queue="mail")
    dueq.chain(
        app.draft("first", [-1], queue="bank"),
        app.draft("second", [-1, dueq.PREVIOUS], queue="parcels", max_attempts=2, backoff=0.05),
        catch=refund,
    ).push()
    with WorkerProcess(tmp_path, url, *words, app="steps_app:app") as worker:
        error = "ValueError: no such order"
        worker.wait_for(f"refund 1 2 second parcels {error}")
        worker.wait_until_said("chain: link 2 of 2 failed, the task second ")
        dueq.chain(app.draft("dies", [2], queue="parcels", max_crashes=1), catch=refund).push()
        worker.wait_for("dies 2")
        worker.kill()
    with WorkerProcess(tmp_path, url, *words, app="steps_app:app") as worker:
        # A worker that waits for messages finds the ended lease, and relays.
        worker.wait_for("refund 1 1 dies parcels ")
        until(lambda: app.queue("mail").stats().acked == 4, worker.log)
        assert worker.stop() == 0
    notes = worker.notes()
    assert [note for note in notes if note.startswith("refund")] == [
        f"refund 1 2 second parcels {error}",
        "refund 1 1 dies parcels ",
    ]
