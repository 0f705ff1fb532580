import base64
import json
import os
import signal
import subprocess
import time

import pytest

from private_server import Server

from .program import Program


def counts(dueq: Program) -> dict[str, int]:
    found = dueq.stats()
    return {name: found[name] for name in ("ready", "leased", "acked")}


def test_reserve_prints_ticket_and_body(dueq: Program) -> None:
    dueq("push", "orders", "hello\tworld")
    ticket, body = dueq("reserve", "orders").text.rstrip("\n").split("\t", 1)
    assert body == "hello\tworld"
    assert counts(dueq) == {"ready": 0, "leased": 1, "acked": 0}
    assert dueq("ack", "orders", ticket).out == b""
    assert counts(dueq) == {"ready": 0, "leased": 0, "acked": 1}


def test_reserve_with_ack(dueq: Program) -> None:
    for body in ("one", "two", "three"):
        dueq("push", "orders", body)
    assert dueq("reserve", "orders", "--ack").text == "one\n"
    assert dueq("reserve", "orders", "--ack", "--count", "9").text == "two\nthree\n"
    assert counts(dueq) == {"ready": 0, "leased": 0, "acked": 3}


def test_reserve_as_json(dueq: Program) -> None:
    made = dueq("push", "orders", "--header", "a=b", stdin='say "hä"\n\0/'.encode())
    taken = dueq("reserve", "orders", "--json", "--lease", "50s").object
    assert taken["id"] == made.lines[0]
    assert taken["body"] == 'say "hä"\n\0/'
    assert taken["headers"] == {"a": "b"}
    assert (taken["state"], taken["attempt"], taken["max_attempts"]) == ("leased", 1, 16)
    assert taken["time_ms"] - taken["now_ms"] == 50_000
    dueq("ack", "orders", taken["ticket"])


@pytest.mark.parametrize(
    "body",
    [
        b"\xff",
        b"\xc0\x80",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"ok\xe2\x82",
        b"12\xfe",
        b"1\xfe",
    ],
)
def test_reserve_of_bytes_as_json(dueq: Program, body: bytes) -> None:
    dueq("push", "orders", stdin=body)
    taken = dueq("reserve", "orders", "--json").object
    assert "body" not in taken
    assert base64.b64decode(taken["body_base64"], validate=True) == body


def test_reserve_from_an_empty_queue(dueq: Program) -> None:
    ended = dueq.run("reserve", "orders", "--ack", "--json")
    assert (ended.code, ended.out, ended.err) == (1, b"", "")


def test_reserve_waits_in_vain(dueq: Program) -> None:
    start = time.monotonic()
    assert dueq.run("reserve", "orders", "--wait", "300ms").code == 1
    assert time.monotonic() - start >= 0.3


def test_reserve_waits_for_a_message(dueq: Program, server: Server) -> None:
    with dueq.start("reserve", "orders", "--wait", "forever", "--ack") as waiting:
        server.wait_for_waiting(1)
        dueq("push", "orders", "now", "--delay", "200ms")
        assert waiting.communicate(timeout=60)[0] == b"now\n"
    assert waiting.returncode == 0
    assert counts(dueq) == {"ready": 0, "leased": 0, "acked": 1}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_reserve_ended_by_a_signal(dueq: Program, server: Server, number: signal.Signals) -> None:
    with dueq.start("reserve", "orders", "--wait", "forever") as waiting:
        server.wait_for_waiting(1)
        waiting.send_signal(number)
        out, err = waiting.communicate(timeout=60)
    assert (waiting.returncode, out, err) == (128 + number, b"", b"")
    server.wait_for_waiting(0)


def test_reserve_goes_on_after_a_stop(dueq: Program, server: Server) -> None:
    with dueq.start("reserve", "orders", "--wait", "forever", "--ack") as waiting:
        server.wait_for_waiting(1)
        waiting.send_signal(signal.SIGSTOP)
        dueq("push", "orders", "hello")
        waiting.send_signal(signal.SIGCONT)
        assert waiting.communicate(timeout=60)[0] == b"hello\n"


def test_reserve_with_ack_to_a_closed_pipe(dueq: Program) -> None:
    dueq("push", "orders", "--lines", stdin=b"one\ntwo\n")
    read_end, write_end = os.pipe()
    os.close(read_end)
    with open(write_end, "wb") as gone:
        process = dueq.start("reserve", "orders", "--ack", "--count", "9", stdout=gone)
    with process:
        _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGPIPE
    assert b"2 of 2 messages were released" in err
    assert counts(dueq) == {"ready": 2, "leased": 0, "acked": 0}
    again = dueq("reserve", "orders", "--count", "9", "--json").objects
    assert [(message["body"], message["attempt"]) for message in again] == [("one", 1), ("two", 1)]


def test_reserve_with_ack_to_a_full_disk(dueq: Program) -> None:
    dueq("push", "orders", "one")
    with open("/dev/full", "wb") as full:
        process = dueq.start("reserve", "orders", "--ack", "--json", stdout=full)
    with process:
        process.communicate(timeout=60)
    assert process.returncode == 4
    assert counts(dueq) == {"ready": 1, "leased": 0, "acked": 0}


def test_reserve_from_several_queues(dueq: Program) -> None:
    dueq("push", "orders", "one")
    dueq("push", "parcels", "two")
    dueq("push", "urgent", "three")
    words = ["reserve", "urgent", "parcels", "orders"]
    queue, ticket, body = dueq(*words).text.rstrip("\n").split("\t")
    assert (queue, body) == ("urgent", "three")
    dueq("ack", "urgent", ticket)
    taken = dueq(*words, "--json").object
    assert (taken["queue"], taken["body"]) == ("parcels", "two")
    dueq("ack", "parcels", taken["ticket"])
    assert dueq(*words, "--ack").text == "one\n"
    assert counts(dueq)["acked"] == 1
    assert dueq.run(*words).code == 1


def test_reserve_waits_for_any_of_several_queues(dueq: Program, server: Server) -> None:
    words = ["reserve", "urgent", "orders", "--wait", "forever", "--ack", "--json"]
    with dueq.start(*words) as waiting:
        server.wait_for_waiting(1)
        dueq("push", "orders", "now")
        out, _ = waiting.communicate(timeout=60)
    assert json.loads(out)["queue"] == "orders"
    assert counts(dueq) == {"ready": 0, "leased": 0, "acked": 1}


def test_reserve_round_robin_gives_each_queue_its_turn(dueq: Program) -> None:
    queues = ["a", "b", "c"]
    for queue in queues:
        dueq("push", queue, "--lines", stdin=b"x\n" * 200)
    first = {
        dueq("reserve", *queues, "--round-robin", "--ack", "--json").object["queue"]
        for _ in range(100)
    }
    assert first == set(queues)


@pytest.mark.parametrize("queues", [["a", "a"], [f"queue {number}" for number in range(1025)]])
def test_reserve_from_wrong_queues(dueq: Program, queues: list[str]) -> None:
    ended = dueq.run("reserve", *queues)
    assert ended.code == 2
    assert ended.err.startswith("dueq: ")


def test_reserve_in_a_shell_loop(dueq: Program) -> None:
    dueq("push", "orders", "--lines", stdin=b"a\tb\nc d\n")
    script = """
        while line=$("$0" reserve orders); do
            ticket=${line%%"$(printf '\\t')"*}
            echo "<${line#*"$(printf '\\t')"}>"
            "$0" ack orders "$ticket"
        done
    """
    ended = subprocess.run(
        ["sh", "-c", script, dueq.path], env=dueq.environment, capture_output=True, timeout=60
    )
    assert ended.stdout == b"<a\tb>\n<c d>\n"
    assert counts(dueq) == {"ready": 0, "leased": 0, "acked": 2}


@pytest.mark.parametrize(
    "words",
    [["--count", "0"], ["--count", "201"], ["--wait", "never"], ["--body", "--json"], ["{"]],
)
def test_reserve_with_wrong_arguments(dueq: Program, words: list[str]) -> None:
    assert dueq.run("reserve", "orders", *words).code == 2
