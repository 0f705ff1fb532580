from .program import Program


def reserve(dueq: Program) -> str:
    ticket: str = dueq("reserve", "orders", "--json", "--wait", "10s").object["ticket"]
    return ticket


def test_ack_with_a_stale_ticket(dueq: Program) -> None:
    dueq("push", "orders", "hello")
    old = reserve(dueq)
    dueq("retry", "orders", old)
    new = reserve(dueq)
    ended = dueq.run("ack", "orders", old, new)
    assert ended.code == 1
    assert ended.err.startswith(f"dueq: LEASE_LOST: {old}: ")
    ended = dueq.run("ack", "orders", new, "--json")
    assert (ended.code, ended.object) == (1, {"ticket": new, "status": "LEASE_LOST"})


def test_ack_from_standard_input(dueq: Program) -> None:
    dueq("push", "orders", "--lines", stdin=b"x\n" * 1_500)
    tickets: list[str] = []
    for _ in range(2):
        taken = dueq("reserve", "orders", "--count", "1000", "--json").objects
        tickets += [message["ticket"] for message in taken]
    acked = dueq("ack", "orders", "-", "--json", stdin="\n".join(tickets).encode())
    assert [item["status"] for item in acked.objects] == ["OK"] * 1_500
    assert dueq("stats", "orders", "--json").object["acked"] == 1_500


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
    dueq("retry", "orders", reserve(dueq), "--delay", "1h", "--error", "nö")
    found = dueq("find", "orders", made, "--json").object
    assert (found["state"], found["error"], found["attempt"]) == ("delayed", "nö", 1)


def test_retry_after_the_last_attempt(dueq: Program) -> None:
    made = dueq("push", "orders", "hello", "--attempts", "1").lines[0]
    ticket = reserve(dueq)
    ended = dueq.run("retry", "orders", ticket)
    assert ended.code == 1
    assert ended.err.startswith(f"dueq: BURIED: {ticket}: ")
    assert dueq("find", "orders", made, "--json").object["state"] == "dead"


def test_extend_a_lease(dueq: Program) -> None:
    made = dueq("push", "orders", "hello").lines[0]
    ticket = reserve(dueq)
    dueq("extend", "orders", ticket, "--lease", "10m")
    found = dueq("find", "orders", made, "--json").object
    assert 590_000 < found["time_ms"] - found["now_ms"] <= 600_000
    dueq("ack", "orders", ticket)
    ended = dueq.run("extend", "orders", ticket, "--json")
    assert (ended.code, ended.object["status"]) == (1, "LEASE_LOST")


def test_bury_with_a_reason(dueq: Program) -> None:
    made = dueq("push", "orders", "hello").lines[0]
    dueq("bury", "orders", reserve(dueq), "--reason", "no such customer")
    found = dueq("find", "orders", made, "--json").object
    assert (found["state"], found["error"]) == ("dead", "no such customer")
    assert "no such customer" in dueq("find", "orders", made).text


def test_cancel_some(dueq: Program) -> None:
    dueq("push", "orders", "hello", "--id", "a", "--delay", "1h")
    dueq("push", "orders", "hello", "--id", "b")
    ended = dueq.run("cancel", "orders", "a", "gone", "b", "--json")
    assert ended.code == 1
    assert ended.objects == [
        {"id": "a", "status": "OK"},
        {"id": "gone", "status": "NOT_FOUND"},
        {"id": "b", "status": "OK"},
    ]
    ended = dueq.run("cancel", "orders", "-", stdin=b"a\n")
    assert ended.code == 1
    assert ended.err.startswith("dueq: NOT_FOUND: a: ")


def test_find_nothing(dueq: Program) -> None:
    ended = dueq.run("find", "orders", "gone", "--json")
    assert (ended.code, ended.out) == (1, b"")
    assert ended.err.startswith("dueq: NOT_FOUND: gone: ")


def test_find_as_text(dueq: Program) -> None:
    dueq("push", "orders", "hello", "--id", "x", "--header", "a=b", "--at", "2099-01-01T00:00:00Z")
    rows = [line.split(maxsplit=1) for line in dueq("find", "orders", "x").lines]
    found = dict(rows)
    assert found["id"] == "x"
    assert found["state"].startswith("delayed due 2099-01-01T00:00:00.000Z (in ")
    assert found["attempt"] == "0 of 5"
    assert found["header"] == "a=b"
    assert found["body"] == "hello"


def test_stats_of_a_queue(dueq: Program) -> None:
    dueq("push", "orders", "--lines", stdin=b"a\nb\nc\nd\n")
    dueq("push", "orders", "later", "--at", "2099-01-01T00:00:00Z")
    dueq("reserve", "orders", "--ack")
    dueq("bury", "orders", reserve(dueq))
    reserve(dueq)
    found = dueq("stats", "orders", "--json").object
    next_ms, now_ms = found.pop("next_ms"), found.pop("now_ms")
    assert 29_000 < next_ms - now_ms <= 30_000
    assert found == {
        "queue": "orders",
        "ready": 1,
        "delayed": 1,
        "leased": 1,
        "dead": 1,
        "acked": 1,
        "cancelled": 0,
        "purged": 0,
        "damaged": 0,
        "paused": False,
    }
    rows = dict(line.split(maxsplit=1) for line in dueq("stats", "orders").lines)
    assert (rows["queue"], rows["delayed"], rows["acked"]) == ("orders", "1", "1")


def test_stats_of_no_queue(dueq: Program) -> None:
    found = dueq("stats", "nothing", "--json").object
    assert (found["ready"], found["next_ms"]) == (0, None)
