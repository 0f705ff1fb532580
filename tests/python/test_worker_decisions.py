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
from test_worker import pools
from worker_process import WorkerProcess, until

# What each run says at the job's wish, and by which level.
SAID = {
    "retry": ("info", "retried at the job's wish after 0.", "s, due in 0.01 s: not yet"),
    "exhaust": (
        "warning",
        "failed at the job's wish after 0.",
        "s, its attempts are exhausted: KeyError: 'bank'",
    ),
    "fail": ("warning", "failed at the job's wish after 0.", "s: no such order"),
    "release": ("info", "released at the job's wish after 0.", "s, due in 2592000 s"),
    "push": ("info", "done in 0.", "s; successors: 2, of which duplicates: 1"),
    "elsewhere": ("info", "done in 0.", "s; successors: 1"),
    "late": ("warning", "ended after 0.", "s, but its lease was lost before: it may run elsewhere"),
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


@pools
def test_worker_releases_a_job_whose_task_group_it_stops(
    url: str, tmp_path: Path, pool: str
) -> None:
    with dueq.Queue("decide", url) as queue:
        queue.push('{"args": ["stop"]}', headers={"task": "async_decide"})
        with WorkerProcess(tmp_path, url, "--pool", pool, "--concurrency", "1") as worker:
            worker.wait_for("stop")
            assert worker.stop() == 0
        assert worker.said("released, for it ended by Stopped")
        assert queue.stats().ready == 1


# How often each runs, and what its final failure says.
CHOSEN = {
    "Busy": (2, "Busy('Busy')", "its attempts are exhausted: Busy: Busy"),
    "Away": (1, "Away('Away')", "and is not retried: Away: Away"),
    "other": (1, "ValueError('other')", "and is not retried: ValueError: other"),
    "Stubborn": (1, "ValueError('Stubborn')", "and is not retried: ValueError: Stubborn"),
    "fail": (1, "Decided('no such order')", "s: no such order"),
    "wish": (2, "Decided('not today')", "its attempts are exhausted: not today"),
}


@pools
@pytest.mark.parametrize("task", ["choose", "async_choose"])
def test_worker_retries_what_is_to_be_retried_and_calls_the_hook_once(
    url: str, tmp_path: Path, pool: str, task: str
) -> None:
    with dueq.Queue("picky", url) as queue:
        for what in CHOSEN:
            queue.push(
                json.dumps({"args": [what]}),
                id=what,
                headers={"task": task},
                max_attempts=2,
                backoff=0,
            )
        queue.push('{"args": ["own"]}', id="own", headers={"task": "own_hook"}, max_attempts=1)
        words = ["--pool", pool, "--concurrency", "2"]
        with WorkerProcess(tmp_path, url, *words, app="worker_app:picky") as worker:
            until(lambda: queue.stats().dead == 7, worker.log)
            worker.wait_until_said("on_exhausted failed", 2)
            assert worker.stop() == 0
        errors = {message.id: message.error for message in queue.peek("dead")}
    runs = Counter(note.split()[0] for note in worker.notes())
    hooks = sorted(note for note in worker.notes() if note.startswith("exhausted"))
    assert len(hooks) == len(CHOSEN)
    for what, (count, shown, said) in CHOSEN.items():
        assert runs[what] == count
        in_group = task == "async_choose" and shown.split("(")[0] != "Decided"
        [hook] = [line for line in hooks if f"['{what}']" in line]
        assert hook.startswith(f"exhausted {task} ['{what}'] ")
        assert shown in hook
        assert hook.endswith(" True")
        [line] = [
            line
            for line in worker.log
            if line.get("id") == what
            and (said.split(":")[0] if in_group else said) in line["message"]
        ]
        assert ("traceback" in line, line["level"]) == (
            (False, "warning") if shown.startswith("Decided") else (True, "error")
        )
        assert in_group or errors[what] == said.split(": ", 1)[1]
    [own] = [note for note in worker.notes() if note.startswith("told_own")]
    assert own == "told_own own_hook ['own'] ValueError('own')"
    failed = {line["id"]: line["message"] for line in worker.said("on_exhausted failed")}
    assert failed.keys() == {"own", "Stubborn"}
    assert failed["own"].endswith("RuntimeError: the hook fails")


@pools
def test_worker_calls_the_hook_of_a_job_that_it_gives_up(
    url: str, tmp_path: Path, pool: str
) -> None:
    with dueq.Queue("picky", url) as queue:
        queue.push("{}", headers={"task": "never_ends"}, max_attempts=1)
        words = ["--pool", pool, "--concurrency", "1", "--grace", "1"]
        with WorkerProcess(tmp_path, url, *words, app="worker_app:picky") as worker:
            until(lambda: [note for note in worker.notes() if "exhausted" in note], worker.log)
            assert queue.stats().dead == 1
    [note] = worker.notes()
    assert note.startswith("exhausted never_ends [] TimeoutError('HardTimeout: the job did not ")


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
