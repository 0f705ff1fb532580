"""What a job asks for: the same plain call in every pool, also in coroutine functions."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import dueq
from dueq.serializers import UnknownTask
from dueq.testing import drain
from private_server import Server
from test_worker import pools
from worker_process import WorkerProcess, until


@pytest.fixture
def url(server: Server) -> str:
    server.command("FLUSHALL")
    return server.url


# What each run says at the job's wish, and by which level.
SAID = {
    "retry": ("info", "retried at the job's wish after 0.", "s, due in 0.01 s: not yet"),
    "exhaust": (
        "warning",
        "failed at the job's wish after 0.",
        "s, its attempts are exhausted: KeyError: 'bank'",
    ),
    "fail": ("warning", "failed at the job's wish after 0.", "s: no such order"),
    "release": ("info", "released at the job's wish after 0.", "s, due in 3600 s"),
    "push": ("info", "done in 0.", "s; successors: 2, of which duplicates: 1"),
    "elsewhere": ("info", "done in 0.", "s; successors: 1"),
    "hush": ("warning", "failed at the job's wish after 0.", "s: hushed up"),
}


@pools
def test_worker_does_what_jobs_ask_for(url: str, tmp_path: Path, pool: str) -> None:
    tasks = ["decide", "async_decide"]
    with dueq.Queue("decide", url) as queue, dueq.Queue("plain", url) as plain:
        for task in tasks:
            for what in [*SAID, "misuse", *(["group"] if task == "async_decide" else [])]:
                queue.push(
                    json.dumps({"args": [what]}),
                    id=f"{task} {what}",
                    headers={"task": task},
                    max_attempts=1 if what == "exhaust" else 3,
                    backoff=60,
                )
        plain.push("wrong")
        with WorkerProcess(tmp_path, url, "--pool", pool, "--concurrency", "2") as worker:
            until(lambda: len(worker.said("done in")) == 10, worker.log)
            until(lambda: (queue.stats().dead, plain.stats().dead) == (7, 1), worker.log)
            until(lambda: queue.stats().delayed == 4, worker.log)
            assert worker.stop() == 0
        notes = [*SAID, "misuse"] * 2 + ["retry", "retry"]
        attempts = Counter(note.split()[0] for note in worker.notes() if "add" not in note)
        assert attempts - Counter(plain=1) == Counter(notes)
        # A retried job's successors are not stored, and of two of one id one is.
        adds = sorted(note for note in worker.notes() if "add" in note)
        assert adds == ["add 1", "add 1", "add 23", "add 23"]
        errors = {message.id: message.error for message in queue.peek("dead")}
        delayed = {message.id: message for message in queue.peek("delayed")}
        [failed] = plain.peek("dead")
        assert queue.stats().ready == 0
    for task in tasks:
        assert errors[f"{task} exhaust"] == "KeyError: 'bank'"
        assert errors[f"{task} fail"] == "no such order"
        assert errors[f"{task} hush"] == "hushed up"
        released, misused = delayed[f"{task} release"], delayed[f"{task} misuse"]
        assert (released.attempt, released.deliveries) == (0, 1)
        assert misused.error == (
            "AttributeError: the message of a job has no bury: call job.fail(reason); "
            "job is dueq.current_job()"
        )
        for what, (level, *texts) in SAID.items():
            lines = [
                line
                for line in worker.log
                if line.get("id") == f"{task} {what}"
                and all(text in line["message"] for text in texts)
            ]
            assert [line["level"] for line in lines] == [level], (what, worker.log)
    assert errors["async_decide group"] == "in a group"
    assert failed.error == "wrong"
    loud = [line for line in worker.log if "traceback" in line or line["level"] == "error"]
    assert {line["id"].split()[-1] for line in loud} == {"misuse"}


def test_job_refuses(url: str) -> None:
    app = dueq.App(url)
    refused: list[str] = []
    jobs: list[dueq.Job] = []

    @app.task(queue="elsewhere")
    def other() -> None: ...

    @app.task
    def wrong() -> None:
        job = dueq.current_job()
        jobs.append(job)
        calls: list[Callable[[], object]] = [
            lambda: job.retry(delay=-1),
            lambda: job.fail(3),  # type: ignore[arg-type]
            lambda: job.release(delay=-1),
            lambda: job.push(dueq.Draft("x", priority=7)),
            lambda: job.push(*["x"] * 201),
        ]
        for call in calls:
            with pytest.raises((TypeError, dueq.Error)) as caught:
                call()
            refused.append(str(caught.value).split(":")[0])
        job.push("to the job's own queue")
        with pytest.raises(dueq.Error, match="go to one queue: default, not elsewhere"):
            job.push(other.draft())

    wrong.push()
    with pytest.raises(UnknownTask):  # the successor is no task
        drain(app, queues=["default"], server=url)
    [job] = jobs
    assert refused == ["delay", "reason", "delay", "priority", "push"]
    with pytest.raises(dueq.Error, match=f"the job {job.id} has ended: its message is settled"):
        jobs[0].push("late")
    [left] = app.queue("default").peek("delayed")
    assert left.body == b"to the job's own queue"
