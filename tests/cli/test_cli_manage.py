import pytest

from .program import Program


def dead(dueq: Program, id: str) -> None:
    """A message that was buried."""
    dueq("push", "orders", "body", "--id", id)
    ticket = dueq("reserve", "orders", "--json").object["ticket"]
    dueq("bury", "orders", ticket, "--reason", "why")


def state(dueq: Program, id: str) -> object:
    return dueq("find", "orders", id, "--json").object["state"]


def test_kick_of_dead_ones(dueq: Program) -> None:
    dead(dueq, "x")
    dueq("kick", "orders", "x")
    assert state(dueq, "x") == "ready"
    again = dueq.run("kick", "orders", "x")
    assert again.code == 1
    assert "NOT_FOUND" in again.err


def test_reschedule_to_now_and_to_a_time(dueq: Program) -> None:
    dueq("push", "orders", "body", "--id", "x", "--delay", "1h")
    dueq("reschedule", "orders", "x", "--at", "2099-01-01T00:00:00Z")
    assert dueq("find", "orders", "x", "--json").object["time_ms"] == 4070908800000
    dueq("reschedule", "orders", "x")
    assert state(dueq, "x") == "ready"
    assert dueq.run("reschedule", "orders", "x").code == 1


def test_reschedule_with_both_times_is_wrong_usage(dueq: Program) -> None:
    ended = dueq.run("reschedule", "orders", "x", "--at", "1", "--delay", "1s")
    assert ended.code == 2


def test_pause_and_resume(dueq: Program) -> None:
    dueq("push", "orders", "body")
    dueq("pause", "orders")
    assert dueq.run("reserve", "orders").code == 1
    assert dueq("stats", "orders", "--json").object["paused"] is True
    assert "paused" in dueq("stats", "orders").text
    dueq("resume", "orders")
    assert dueq("reserve", "orders", "--body").text == "body"
    assert dueq("stats", "orders", "--json").object["paused"] is False


@pytest.mark.parametrize("name", ["ready", "delayed", "dead"])
def test_purge_of_a_state(dueq: Program, name: str) -> None:
    dead(dueq, "x")
    dueq("push", "orders", "body")
    dueq("push", "orders", "body", "--delay", "1h")
    assert dueq("purge", "orders", name).text == "1\n"
    assert dueq("purge", "orders", name, "--json").object == {"purged": 0}
    counts = dueq("stats", "orders", "--json").object
    assert (counts[name], counts["purged"]) == (0, 1)


def test_purge_of_no_state_is_wrong_usage(dueq: Program) -> None:
    assert dueq.run("purge", "orders", "everything").code == 2
