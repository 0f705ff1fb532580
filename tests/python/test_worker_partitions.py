"""Worker processes on a queue of partitions."""

from __future__ import annotations

import asyncio
import json
import signal
from collections import defaultdict
from pathlib import Path

import pytest

import dueq
from dueq import testing
from private_server import Server
from worker_process import WorkerProcess, until

KEYS = [f"customer-{number}" for number in range(12)]
EACH = 20


def owners(server: Server) -> list[bytes]:
    """Whose the partitions are, of those that are somebody's."""
    table = server.command("HGETALL", "dueq:{keyed}:partitions")
    assert isinstance(table, list)
    fields = dict(zip(table[::2], table[1::2], strict=True))
    return [
        bytes(owner)
        for name, owner in fields.items()
        if isinstance(name, bytes) and name.isdigit() and isinstance(owner, bytes)
    ]


def push(queue: dueq.Queue, first: int) -> None:
    """EACH numbers of every key, as a program in any language does."""
    for number in range(first, first + EACH):
        drafts = [
            dueq.Draft(json.dumps({"args": [key, number]}), headers={"task": "step"}, key=key)
            for key in KEYS
        ]
        queue.push_many(drafts)


def judge(notes: list[str]) -> set[str]:
    """Each key in its order, a message again at most before its next. Who did it."""
    last: dict[str, int] = defaultdict(lambda: -1)
    for note in notes:
        key, number, _ = note.split()
        assert int(number) in (last[key], last[key] + 1), (note, last[key])
        last[key] = int(number)
    assert last == dict.fromkeys(KEYS, 2 * EACH - 1)
    return {note.split()[2] for note in notes}


@pytest.mark.parametrize(("pool", "members"), [("threads", 4), ("processes", 4), ("asyncio", 2)])
def test_two_workers_share_the_partitions_and_one_is_killed(
    server: Server, tmp_path: Path, pool: str, members: int
) -> None:
    server.command("FLUSHALL")
    words = ("--pool", pool, "--concurrency", "2", "--lease", "1")
    with (
        dueq.Queue("keyed", server.url, partitions=8) as queue,
        WorkerProcess(tmp_path, server.url, *words, app="worker_app:keyed") as first,
        WorkerProcess(tmp_path, server.url, *words, app="worker_app:keyed") as second,
    ):
        until(lambda: len(set(owners(server))) == members and len(owners(server)) == 8, owners)
        push(queue, 0)
        until(lambda: len(first.notes()) > len(KEYS), first.notes)
        first.send(signal.SIGKILL)
        push(queue, EACH)
        until(lambda: not (counts := queue.stats()).ready + counts.leased, queue.stats)
        assert len(set(owners(server))) == members // 2
        assert second.stop() == 0
        assert owners(server) == []
        assert not second.said("Traceback")
        assert len(judge(second.notes())) > 1
        assert queue.stats().dead == 0


def test_two_workers_do_the_messages_of_groups(server: Server, tmp_path: Path) -> None:
    """One is killed. What it had leased comes again, and nothing else."""
    server.command("FLUSHALL")
    words = ("--pool", "threads", "--concurrency", "2", "--lease", "1")
    with (
        dueq.Queue("keyed", server.url, partitions=8) as queue,
        WorkerProcess(tmp_path, server.url, *words, app="worker_app:keyed") as first,
        WorkerProcess(tmp_path, server.url, *words, app="worker_app:keyed") as second,
    ):
        for number in range(EACH):
            queue.push_many(
                dueq.Draft(json.dumps({"args": [key, number]}), headers={"task": "step"}, group=key)
                for key in KEYS
            )
        until(lambda: len(first.notes()) > len(KEYS), first.notes)
        first.send(signal.SIGKILL)
        until(lambda: not (counts := queue.stats()).ready + counts.leased, queue.stats)
        assert second.stop() == 0
        assert not second.said("Traceback")
        done = [tuple(note.split()[:2]) for note in second.notes()]
        assert set(done) == {(key, str(number)) for key in KEYS for number in range(EACH)}
        assert len(done) <= len(set(done)) + 4  # two threads: each had one, and one to ack
        assert queue.stats().dead == 0


def test_a_stop_gives_the_partitions_up_at_once(server: Server, tmp_path: Path) -> None:
    """And messages that are no tasks go to the handler of the whole queue."""
    server.command("FLUSHALL")
    with (
        dueq.Queue("keyed", server.url, partitions=8) as queue,
        WorkerProcess(tmp_path, server.url, "--prefetch", "5", app="worker_app:keyed") as worker,
    ):
        until(lambda: len(owners(server)) == 8, owners)
        queue.push("a", key="customer-17")
        worker.wait_for("plain a keyed#7")
        assert worker.stop() == 0
        assert owners(server) == []
        assert (queue.stats().acked, queue.stats().leased) == (1, 0)


def test_partitions_need_a_worker_of_their_own(server: Server, tmp_path: Path) -> None:
    with WorkerProcess(
        tmp_path, server.url, "--queues", "keyed,other", app="worker_app:keyed"
    ) as worker:
        assert worker.ended() == 2
        assert worker.said("keyed has partitions, and needs a worker of its own: --queues keyed")


def test_an_app_pushes_to_the_partition_of_a_key(server: Server) -> None:
    server.command("FLUSHALL")
    app = dueq.App(server.url, partitions={"keyed": 8})
    ran = []

    @app.task(queue="keyed")
    def note(number: int) -> None:
        ran.append((dueq.current_job().message.queue, number))

    note.options(key="customer-17").push(1)
    asyncio.run(note.options(key="a").apush(2))
    note.options(key="a", delay=60).push(3)
    note.options(key="customer-17", delay=30).push(4)
    testing.drain(app, delayed=True, server=server.url)
    assert sorted(ran[:2]) == [("keyed#3", 2), ("keyed#7", 1)]
    assert ran[2:] == [("keyed#7", 4), ("keyed#3", 3)]
