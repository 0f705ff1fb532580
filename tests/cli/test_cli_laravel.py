import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from private_server import Server

from .program import Program

VERBS = ["push", "pop", "delete", "release", "migrate", "size", "clear"]
DATA = '{"id":1234567890123456789,"rate":1.0,"list":[],"map":{}}'
# As Laravel itself could have written it.
PAYLOAD = '{"uuid":"u-1","job":"Job@handle","data":{"b":1.0,"a":{}},"attempts":0,"id":"x"}'


def size(dueq: Program) -> tuple[int, int, int]:
    """Ready, delayed and reserved."""
    found = dueq("laravel", "size", "default", "--json").object
    return found["ready"], found["delayed"], found["reserved"]


def pop(dueq: Program, *words: str) -> dict[str, Any]:
    return dueq("laravel", "pop", "default", "--json", *words).object


def waiting_for_migration(server: Server) -> bool:
    """A migrate that waits for nothing to come sits in no blocking command, but has asked."""
    found = server.command("INFO", "commandstats")
    assert isinstance(found, bytes)
    return b"cmdstat_evalsha" in found


def test_laravel_help_teaches(dueq: Program) -> None:
    text = dueq("laravel", "--help").text
    assert text.startswith("Usage: dueq laravel VERB QUEUE")
    assert "Example" in text
    for verb in VERBS:
        assert f"\n  {verb} " in text
        own = dueq("laravel", verb, "--help").text
        assert own.startswith(f"Usage: dueq laravel {verb} QUEUE")
        assert f"dueq laravel {verb} " in own.split("Example", 1)[1]
        assert dueq("help", "laravel", verb).text == own
    assert "\n  laravel " in dueq("--help").text


def test_laravel_from_push_to_delete(dueq: Program, server: Server) -> None:
    (made,) = dueq("laravel", "push", "default", "App\\Jobs\\Cancel@handle", "--data", DATA).lines
    stored = server.command("LINDEX", "queues:default", 0)
    assert isinstance(stored, bytes)
    assert json.loads(stored)["uuid"] == made
    assert DATA.encode() in stored
    line = dueq("laravel", "pop", "default").text
    assert line == stored.decode().replace('"attempts":0', '"attempts":1') + "\n"
    assert size(dueq) == (0, 0, 1)
    assert dueq("laravel", "delete", "default", line.rstrip("\n")).out == b""
    assert size(dueq) == (0, 0, 0)
    ended = dueq.run("laravel", "pop", "default")
    assert (ended.code, ended.out, ended.err) == (1, b"", "")


def test_laravel_push_with_options(dueq: Program, server: Server) -> None:
    words = ["--tries", "3", "--timeout", "1500ms", "--backoff", "10,1m", "--max-exceptions", "2"]
    words += ["--retry-until", "2100-01-01T00:00:00Z", "--fail-on-timeout", "--display-name", "No"]
    dueq("laravel", "push", "default", "Job", *words)
    stored = server.command("LINDEX", "queues:default", 0)
    assert isinstance(stored, bytes)
    payload = json.loads(stored)
    wanted = {
        "displayName": "No",
        "job": "Job",
        "maxTries": 3,
        "maxExceptions": 2,
        "failOnTimeout": True,
        "backoff": "10,60",
        "timeout": 2,
        "retryUntil": 4102444800,
        "data": "",
        "attempts": 0,
    }
    assert {name: payload[name] for name in wanted} == wanted


def test_laravel_pop_as_json(dueq: Program) -> None:
    options = ["--tries", "3", "--timeout", "60", "--backoff", "10,60"]
    made = dueq("laravel", "push", "default", "Job@run", "--data", DATA, *options).lines[0]
    ended = dueq("laravel", "pop", "default", "--json", "--retry-after", "50s")
    job = ended.object
    assert f'"data":{DATA},' in ended.text
    assert (job["uuid"], job["job"], job["queue"]) == (made, "Job@run", "default")
    assert (job["attempts"], job["max_tries"], job["timeout_s"]) == (1, 3, 60)
    assert (job["backoff"], job["retry_until_s"]) == ([10, 60], None)
    assert json.loads(job["payload"])["attempts"] == 0
    assert json.loads(job["reserved"])["attempts"] == 1
    found = dueq("laravel", "size", "default", "--json").object
    assert job["until_ms"] == found["next_ms"]
    assert 0 < job["until_ms"] - found["now_ms"] <= 51_000


def test_laravel_data_of_several_lines_is_one_line_of_json(dueq: Program) -> None:
    dueq("laravel", "push", "default", "Job", "--data", "-", stdin=b'{\n "a": "x\\ny"\r\n}')
    job = pop(dueq)
    assert job["data"] == {"a": "x\ny"}
    dueq("laravel", "delete", "default", job["reserved"])
    assert size(dueq) == (0, 0, 0)


@pytest.mark.parametrize("source", ["-", "file"])
def test_laravel_ready_made_payload(
    dueq: Program, server: Server, tmp_path: Path, source: str
) -> None:
    path = tmp_path / "job.json"
    path.write_text(PAYLOAD, encoding="utf-8")
    words = ["--payload", "-" if source == "-" else str(path), "--delay", "1h"]
    stdin = PAYLOAD.encode() if source == "-" else b""
    assert dueq("laravel", "push", "default", *words, stdin=stdin).text == "u-1\n"
    assert server.command("ZRANGE", "queues:default:delayed", 0, -1) == [PAYLOAD.encode()]
    ended = dueq.run("laravel", "push", "default", *words, stdin=stdin)
    assert (ended.code, ended.out) == (1, b"")
    assert ended.err.startswith("dueq: DUPLICATE: u-1: ")
    assert size(dueq) == (0, 1, 0)


def test_laravel_payload_a_line(dueq: Program) -> None:
    payloads = "".join(PAYLOAD.replace("u-1", f"u-{number}") + "\n" for number in range(250))
    made = dueq("laravel", "push", "default", "--lines", "--json", stdin=payloads.encode())
    assert made.objects == [{"id": f"u-{number}", "status": "OK"} for number in range(250)]
    popped = dueq("laravel", "pop", "default", "--count", "200", "--delete").text
    popped += dueq("laravel", "pop", "default", "--count", "200", "--delete").text
    assert popped == payloads.replace('"attempts":0', '"attempts":1')
    assert size(dueq) == (0, 0, 0)


def test_laravel_object(dueq: Program) -> None:
    command = b'O:15:"App\\Jobs\\Cancel":1:{s:2:"id";i:17;}'
    dueq("laravel", "push", "default", "App\\Jobs\\Cancel", "--object", "-", stdin=command)
    job = pop(dueq)
    assert job["job"] == "Illuminate\\Queue\\CallQueuedHandler@call"
    assert job["display_name"] == "App\\Jobs\\Cancel"
    assert job["data"]["commandName"] == "App\\Jobs\\Cancel"
    assert job["data"]["command"].encode() == command


@pytest.mark.parametrize("payload", [b"no JSON", b'{"job":"Job"}', b"\xff", b'{"attempts":0}', b""])
def test_laravel_refuses_what_a_worker_would_lose(dueq: Program, payload: bytes) -> None:
    ended = dueq.run("laravel", "push", "default", "--payload", "-", stdin=payload)
    assert (ended.code, ended.out) == (2, b"")
    assert size(dueq) == (0, 0, 0)


def test_laravel_quarantines_what_a_worker_would_lose(dueq: Program, server: Server) -> None:
    server.command("RPUSH", "queues:default", b"\xff", PAYLOAD)
    ended = dueq("laravel", "pop", "default")
    assert ended.err == "dueq: CORRUPT: 1 damaged entries were quarantined\n"
    assert json.loads(ended.out)["uuid"] == "u-1"
    found = dueq("laravel", "size", "default")
    assert "\nquarantined 1\n" in found.text


def test_laravel_prefix(dueq: Program, server: Server) -> None:
    prefix = ["--prefix", "shop_database_"]
    dueq("laravel", "push", "default", "Job", *prefix)
    assert server.command("LLEN", "shop_database_queues:default") == 1
    assert size(dueq) == (0, 0, 0)
    reserved = pop(dueq, *prefix)["reserved"]
    assert dueq.run("laravel", "delete", "default", reserved).code == 1
    dueq("laravel", "delete", "default", reserved, *prefix)


def test_laravel_name_in_a_cluster(dueq: Program, server: Server) -> None:
    dueq("laravel", "push", "{default}", "Job", "--delay", "1h")
    assert server.command("ZCARD", "queues:{default}:delayed") == 1


def test_laravel_release(dueq: Program) -> None:
    dueq("laravel", "push", "default", "Job")
    first = pop(dueq)["reserved"]
    dueq("laravel", "release", "default", first)
    again = pop(dueq)
    assert again["attempts"] == 2
    for verb in ("release", "delete"):
        ended = dueq.run("laravel", verb, "default", first)
        assert (ended.code, ended.out) == (1, b"")
        assert ended.err.startswith("dueq: LEASE_LOST: ")
    ended = dueq.run("laravel", "release", "default", "--reserved", first, "--json")
    assert (ended.code, ended.object) == (1, {"reserved": first, "status": "LEASE_LOST"})
    assert size(dueq) == (0, 0, 1)
    dueq("laravel", "release", "default", "--reserved", again["reserved"], "--delay", "1h")
    assert size(dueq) == (0, 1, 0)


def test_laravel_delete_of_many(dueq: Program) -> None:
    for _ in range(3):
        dueq("laravel", "push", "default", "Job")
    jobs = dueq("laravel", "pop", "default", "--count", "9", "--json").objects
    stale = jobs[0]["reserved"].replace('"attempts":1', '"attempts":2')
    lines = "\n".join([*(job["reserved"] for job in jobs), stale])
    ended = dueq.run("laravel", "delete", "default", "-", "--json", stdin=lines.encode())
    assert ended.code == 1
    assert [one["status"] for one in ended.objects] == ["OK", "OK", "OK", "LEASE_LOST"]
    assert size(dueq) == (0, 0, 0)


def test_laravel_pop_comes_back(dueq: Program) -> None:
    dueq("laravel", "push", "default", "Job")
    lost = pop(dueq, "--retry-after", "1s")["reserved"]
    assert pop(dueq, "--wait", "30s")["attempts"] == 2
    assert dueq.run("laravel", "delete", "default", lost).code == 1


def test_laravel_pop_waits(dueq: Program, server: Server) -> None:
    words = ["laravel", "pop", "default", "--wait", "forever", "--delete"]
    with dueq.start(*words) as waiting:
        server.wait_for_waiting(1)
        dueq("laravel", "push", "default", "--payload", "-", stdin=PAYLOAD.encode())
        out, err = waiting.communicate(timeout=60)
    assert (waiting.returncode, err) == (0, b"")
    assert json.loads(out)["uuid"] == "u-1"
    assert size(dueq) == (0, 0, 0)


def test_laravel_pop_waits_in_vain(dueq: Program) -> None:
    start = time.monotonic()
    assert dueq.run("laravel", "pop", "default", "--wait", "300ms").code == 1
    assert time.monotonic() - start >= 0.3


def test_laravel_pop_ended_by_a_signal(dueq: Program, server: Server) -> None:
    with dueq.start("laravel", "pop", "default", "--wait", "forever") as waiting:
        server.wait_for_waiting(1)
        waiting.terminate()
        out, err = waiting.communicate(timeout=60)
    assert (waiting.returncode, out, err) == (128 + signal.SIGTERM, b"", b"")


@pytest.mark.parametrize("words", [[], ["--delete"], ["--json"]])
def test_laravel_pop_to_a_closed_pipe(dueq: Program, words: list[str]) -> None:
    for _ in range(2):
        dueq("laravel", "push", "default", "Job")
    read_end, write_end = os.pipe()
    os.close(read_end)
    with open(write_end, "wb") as gone:
        process = dueq.start("laravel", "pop", "default", "--count", "9", *words, stdout=gone)
    with process:
        _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGPIPE
    assert b"2 of 2 jobs were released" in err
    assert size(dueq) == (2, 0, 0)


def test_laravel_migrate_wakes_a_worker_that_waits(dueq: Program, server: Server) -> None:
    """A stock worker with block_for sits in BLPOP of the notify list."""
    server.command("CONFIG", "RESETSTAT")
    with dueq.start("laravel", "migrate", "default") as agent:
        dueq.until(lambda: waiting_for_migration(server))
        dueq("laravel", "push", "default", "Job", "--delay", "1s")
        server.command("DEL", "queues:default:notify")
        woken = server.command("BLPOP", "queues:default:notify", 30)
        assert isinstance(woken, list)
        assert size(dueq) == (1, 0, 0)
        agent.terminate()
        out, err = agent.communicate(timeout=60)
    assert (agent.returncode, out, err) == (0, b"1\n", b"")


def test_laravel_migrate_once(dueq: Program) -> None:
    dueq("laravel", "push", "default", "Job")
    pop(dueq, "--retry-after", "1s")
    dueq("laravel", "push", "default", "Job", "--delay", "1h")
    moved = 0

    def one_moved() -> bool:
        nonlocal moved
        ended = dueq("laravel", "migrate", "default", "--once", "--json")
        moved += int(ended.object["moved"])
        return moved > 0

    dueq.until(one_moved)
    assert moved == 1
    assert size(dueq) == (1, 1, 0)
    assert dueq("laravel", "migrate", "default", "--once").text == "0\n"


def test_laravel_clear(dueq: Program) -> None:
    dueq("laravel", "push", "default", "Job")
    pop(dueq)
    dueq("laravel", "push", "default", "Job")
    dueq("laravel", "push", "default", "Job", "--at", "2100-01-01T00:00:00Z")
    assert size(dueq) == (1, 1, 1)
    assert dueq("laravel", "clear", "default").text == "3\n"
    assert dueq("laravel", "clear", "default", "--json").object == {"cleared": 0}


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["fly", "default"],
        ["push"],
        ["push", "default"],
        ["push", "", "Job"],
        ["push", "default", "Job", "--payload", "-"],
        ["push", "default", "Job", "--lines"],
        ["push", "default", "--lines", "--payload", "-"],
        ["push", "default", "Job", "--data", "{"],
        ["push", "default", "Job", "--tries", "0"],
        ["push", "default", "Job", "--backoff", "soon"],
        ["push", "default", "Job", "--backoff", ""],
        ["push", "default", "Job", "--delay", "1s", "--at", "2100-01-01T00:00:00Z"],
        ["pop", "default", "--count", "201"],
        ["pop", "default", "--wait", "never"],
        ["delete", "default"],
        ["release", "default"],
        ["size", "default", "more"],
    ],
)
def test_laravel_with_wrong_arguments(dueq: Program, words: list[str]) -> None:
    ended = dueq.run("laravel", *words)
    assert ended.code == 2
    assert ended.err.startswith("dueq: ")
