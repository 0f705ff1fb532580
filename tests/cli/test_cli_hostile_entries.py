"""Entries that somebody made to harm: what becomes of a worker, of peek, and of what is counted."""

import subprocess

import pytest

from private_server import Server

from .program import Program

DRAIN = ["work", "orders", "--wait", "0"]
KEY = "dueq:{orders}:"


def plant(server: Server, id: bytes, envelope: bytes = b"\xd1\0\0\5body") -> None:
    """An entry as nobody pushes one."""
    server.command("HSET", f"{KEY}msg", id, envelope)
    server.command("RPUSH", f"{KEY}ready", b"0:" + id)


def environments(dueq: Program) -> list[list[str]]:
    """What the commands of a worker, which ends by itself, have as variables."""
    ended = dueq.run(*DRAIN, "--", "sh", "-c", "tr '\\0' '\\n' < /proc/$$/environ; echo END")
    assert ended.code == 0, ended.err
    return [text.splitlines() for text in ended.text.split("END\n")[:-1]]


# ---- dueq work ----


@pytest.mark.parametrize(
    "id",
    [
        b"x\0LD_PRELOAD=/p/evil.so\0Z=1",
        b"x\0PATH=/p",
        b"\0" * 50,
        b"x\0" * 200_000,
        b"i" * 1_000_000,
    ],
)
def test_work_of_an_id_that_is_none(dueq: Program, server: Server, id: bytes) -> None:
    plant(server, id)
    dueq("push", "orders", "body", "--id", "good")
    made = environments(dueq)
    for variables in made:
        assert all(line.startswith(("DUEQ_", "_=")) or line in outer(dueq) for line in variables)
    assert "DUEQ_ID=good" in made[-1]
    assert dueq.stats()["acked"] >= 1


def outer(dueq: Program) -> set[str]:
    return {f"{name}={value}" for name, value in dueq.environment.items()}


def test_work_of_headers_with_a_nul(dueq: Program, server: Server) -> None:
    evil = b"x\0LD_PRELOAD=/p/evil.so"
    header = b"\1a" + len(evil).to_bytes(2, "big") + evil
    plant(server, b"one", b"\xd1\4\0\5" + len(header).to_bytes(2, "big") + header + b"body")
    for variables in environments(dueq):
        assert not any("LD_PRELOAD" in line or "HEADER" in line for line in variables)


def test_work_of_variables_that_are_too_large(dueq: Program) -> None:
    """More than a command can have fail their message, and the next one has its turn."""
    headers = [f"--header={number:x}=" for number in range(8000)]
    dueq("push", "orders", "body", "--id", "large", "--backoff", "1h", *headers)
    dueq("push", "orders", "body", "--id", "good")
    limited = 'ulimit -s 512; exec "$0" work orders --wait 0 --json -- true'
    process = subprocess.run(
        ["bash", "-c", limited, dueq.path],
        env=dueq.environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    assert '"outcome":"acked"' in process.stdout
    found = dueq.find("large")
    assert (found["state"], found["attempt"]) == ("delayed", 1)
    assert found["error"] == "its variables are too large for a command"


def test_lock_hands_on_the_variables_of_a_message(dueq: Program) -> None:
    dueq("push", "orders", "body", "--id", "one")
    dueq.environment["DUEQ"] = dueq.path
    script = '"$DUEQ" lock orders x -- sh -c "echo \\$DUEQ_ID"'
    assert dueq(*DRAIN, "--", "sh", "-c", script).text == "one\n"


# ---- peek, and what is counted ----


def test_peek_at_a_damaged_message(dueq: Program, server: Server) -> None:
    dueq("push", "orders", "body", "--id", "good")
    plant(server, b"bad", b"garbage")
    ended = dueq.run("peek", "orders", "ready")
    assert ended.code == 4
    head, good, bad = ended.lines
    assert (head.split()[-2], good.split()[-1]) == ("ID", "good")
    assert bad.split() == ["-", "-", "-", "bad", "damaged:", "it", "cannot", "be", "read"]
    assert ended.err.startswith("dueq: CORRUPT: 1 of 2 messages ")
    ended = dueq.run("peek", "orders", "ready", "--json")
    assert ended.code == 4
    good_object, bad_object = ended.objects
    assert good_object["id"] == "good"
    assert bad_object == {"queue": "orders", "id": "bad", "state": "ready", "status": "CORRUPT"}


@pytest.mark.parametrize("good", [0, 1])
def test_a_damaged_message_counts_once(dueq: Program, server: Server, good: int) -> None:
    plant(server, b"bad", b"garbage")
    for _ in range(good):
        dueq("push", "orders", "body")
    ended = dueq.run("reserve", "orders", "--count", "10")
    assert len(ended.lines) == good
    assert ended.err == "dueq: CORRUPT: 1 damaged entries were quarantined\n"
    assert dueq.stats()["quarantined"] == 1
    assert dueq.run("peek", "orders", "dead", "--json").object["status"] == "CORRUPT"
    assert dueq.run("reserve", "orders", "--count", "10").err == ""
    assert dueq.stats()["quarantined"] == 1


@pytest.mark.parametrize("good", [0, 1])
def test_a_damaged_job_counts_once(dueq: Program, server: Server, good: int) -> None:
    server.command("RPUSH", "queues:default", b"garbage")
    for _ in range(good):
        dueq("laravel", "push", "default", "App\\Jobs\\Send")
    ended = dueq.run("laravel", "pop", "default", "--count", "10")
    assert len(ended.lines) == good
    assert ended.err == "dueq: CORRUPT: 1 damaged entries were quarantined\n"
