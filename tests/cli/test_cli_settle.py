import pytest

from .program import Program


def test_ack_with_a_stale_ticket(dueq: Program) -> None:
    dueq("push", "orders", "hello")
    old = dueq.take()
    dueq("retry", "orders", old, "--delay", "0")
    new = dueq.take()
    ended = dueq.run("ack", "orders", old, new)
    assert ended.code == 1
    assert ended.err.startswith(f"dueq: LEASE_LOST: {old}: ")
    ended = dueq.run("ack", "orders", new, "--json")
    assert (ended.code, ended.object) == (1, {"ticket": new, "status": "LEASE_LOST"})


def test_ack_from_standard_input(dueq: Program) -> None:
    dueq("push", "orders", "--lines", stdin=b"x\n" * 300)
    tickets: list[str] = []
    for _ in range(2):
        taken = dueq("reserve", "orders", "--count", "200", "--json").objects
        tickets += [message["ticket"] for message in taken]
    acked = dueq("ack", "orders", "-", "--json", stdin="\n".join(tickets).encode())
    assert [item["status"] for item in acked.objects] == ["OK"] * 300
    assert dueq("stats", "orders", "--json").object["acked"] == 300


def test_ack_without_a_ticket(dueq: Program) -> None:
    ended = dueq.run("ack", "orders")
    assert ended.code == 2
    assert "TICKET" in ended.err


def test_ack_of_nonsense(dueq: Program) -> None:
    ended = dueq.run("ack", "orders", "nonsense")
    assert ended.code in (1, 2)
    assert ended.err.startswith("dueq: ")


def test_retry_with_a_delay_and_an_error(dueq: Program) -> None:
    made = dueq("push", "orders", "hello").lines[0]
    dueq("retry", "orders", dueq.take(), "--delay", "1h", "--error", "nö")
    found = dueq("find", "orders", made, "--json").object
    assert (found["state"], found["error"], found["attempt"]) == ("delayed", "nö", 1)


def test_retry_after_the_last_attempt(dueq: Program) -> None:
    made = dueq("push", "orders", "hello", "--max-attempts", "1").lines[0]
    ticket = dueq.take()
    ended = dueq.run("retry", "orders", ticket)
    assert ended.code == 1
    assert ended.err.startswith(f"dueq: EXHAUSTED: {ticket}: ")
    assert dueq("find", "orders", made, "--json").object["state"] == "dead"


@pytest.mark.parametrize(
    ("words", "state"),
    [([], "delayed"), (["--delay", "0"], "ready"), (["--delay", "2h"], "delayed")],
)
def test_retry_by_the_backoff_unless_told(dueq: Program, words: list[str], state: str) -> None:
    made = dueq("push", "orders", "hello", "--backoff", "1h").lines[0]
    dueq("retry", "orders", dueq.take(), *words)
    found = dueq.find(made)
    assert found["state"] == state
    if state == "delayed":
        hours = 2 if words else 1
        assert 3_590_000 * hours < found["time_ms"] - found["now_ms"] <= 3_600_000 * hours


def test_retry_without_a_backoff_is_delayed_by_the_default(dueq: Program) -> None:
    made = dueq("push", "orders", "hello").lines[0]
    for failure in range(1, 4):
        dueq("retry", "orders", dueq.take())
        found = dueq.find(made)
        assert found["state"] == "delayed"
        assert found["time_ms"] - found["now_ms"] <= 1000 * 2**failure / 2
        dueq("reschedule", "orders", made)


def test_release_counts_as_nothing(dueq: Program) -> None:
    made = dueq("push", "orders", "--lines", stdin=b"first\nsecond\n").lines[0]
    ticket = dueq.take()
    assert dueq("release", "orders", ticket).out == b""
    found = dueq.find(made)
    assert (found["state"], found["attempt"], found["deliveries"]) == ("ready", 0, 1)
    ended = dueq.run("release", "orders", ticket)
    assert ended.code == 1
    assert ended.err.startswith(f"dueq: LEASE_LOST: {ticket}: ")
    again = dueq("reserve", "orders", "--json").object
    assert (again["body"], again["attempt"], again["deliveries"]) == ("first", 1, 2)


def test_release_with_a_delay(dueq: Program) -> None:
    made = dueq("push", "orders", "hello").lines[0]
    dueq("release", "orders", dueq.take(), "--delay", "1h")
    assert dueq.find(made)["state"] == "delayed"


def test_extend_a_lease(dueq: Program) -> None:
    made = dueq("push", "orders", "hello").lines[0]
    ticket = dueq.take()
    dueq("extend", "orders", ticket, "--lease", "10m")
    found = dueq("find", "orders", made, "--json").object
    assert 590_000 < found["time_ms"] - found["now_ms"] <= 600_000
    dueq("ack", "orders", ticket)
    ended = dueq.run("extend", "orders", ticket, "--json")
    assert (ended.code, ended.object["status"]) == (1, "LEASE_LOST")


def test_bury_with_a_reason(dueq: Program) -> None:
    made = dueq("push", "orders", "hello").lines[0]
    dueq("bury", "orders", dueq.take(), "--reason", "no such customer")
    found = dueq("find", "orders", made, "--json").object
    assert (found["state"], found["error"]) == ("dead", "no such customer")
    assert "no such customer" in dueq("find", "orders", made).text


def test_cancel_some(dueq: Program) -> None:
    dueq("push", "orders", "hello", "--id", "a", "--delay", "1h")
    dueq("push", "orders", "hello", "--id", "b")
    ended = dueq.run("cancel", "orders", "a", "gone", "b", "--json")
    assert ended.code == 1
    assert ended.objects == [
        {"id": "a", "status": "OK", "state": "delayed"},
        {"id": "gone", "status": "NOT_FOUND"},
        {"id": "b", "status": "OK", "state": "ready"},
    ]
    ended = dueq.run("cancel", "orders", "-", stdin=b"a\n")
    assert ended.code == 1
    assert ended.err.startswith("dueq: NOT_FOUND: a: ")


def test_ack_with_successors_and_a_result(dueq: Program) -> None:
    made = dueq("push", "orders", "hello", "--keep", "1h").lines[0]
    next = dueq("ack", "orders", dueq.take(), "--push", "more", "--result", "done").lines[-1]
    assert dueq("result", "orders", made).lines == ["done"]
    assert dueq("find", "orders", next, "--json").object["body"] == "more"
    made = dueq("push", "mails", "hello", "--keep", "1h").lines[0]
    ticket = dueq("reserve", "mails", "--json").object["ticket"]
    ended = dueq.run("ack", "mails", ticket, "--push", "-", "--result", "-")
    assert ended.code == 2
    done = dueq.run(
        *["ack", "mails", ticket, "--push", "x", "--to", "parcels", "--result", "-"], stdin=b"in"
    )
    assert done.code == 0
    assert dueq("result", "mails", made).lines == ["in"]
    assert dueq("stats", "parcels", "--json").object["ready"] == 1
