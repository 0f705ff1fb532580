"""dueq open-batch, close-batch and find-batch."""

import pytest

from .program import Program


@pytest.mark.parametrize("command", ["find-batch", "close-batch"])
def test_batch_that_is_not_there(dueq: Program, command: str) -> None:
    """The state of a message of the same id is no reason."""
    dueq("push", "orders", "x", "--id", "invoices", "--delay", "1h")
    ended = dueq.run(command, "orders", "invoices")
    assert ended.code == 1
    assert ended.err == (
        "dueq: NOT_FOUND: invoices: the queue has no such batch: it was never opened, or ended "
        "longer ago than its record is kept\n"
    )
    ended = dueq.run(command, "orders", "invoices", "--json")
    assert (ended.code, ended.object) == (1, {"id": "invoices", "status": "NOT_FOUND"})


def test_batch_that_is_there(dueq: Program) -> None:
    dueq("open-batch", "orders", "invoices")
    ended = dueq.run("open-batch", "orders", "invoices")
    assert ended.code == 1
    assert ended.err == (
        "dueq: DUPLICATE: invoices: the id is taken: the queue has a batch of this id, or its "
        "record\n"
    )
    ended = dueq.run("open-batch", "orders", "invoices", "--json")
    assert (ended.code, ended.object) == (1, {"id": "invoices", "status": "DUPLICATE"})
    dueq("close-batch", "orders", "invoices")
    assert dueq("find-batch", "orders", "invoices", "--json").object["state"] == "ended"
