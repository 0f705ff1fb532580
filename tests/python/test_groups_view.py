"""groups and purge_group: what a queue shows and deletes of its groups."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

import dueq
from dueq import aio, errors
from private_server import Server


def names(groups: list[dueq.Group]) -> list[str | None]:
    return [group.name for group in groups]


def test_groups_have_all_that_is_known(queue: dueq.Queue) -> None:
    begin = datetime.now(UTC)
    assert queue.groups() == []
    queue.push_many([dueq.Draft("x", group=name) for name in ["a", "b", "a"]])
    queue.push("y")
    assert queue.reserve()
    b, none, a = queue.groups()
    assert (b.name, b.waiting, b.leased) == ("b", 1, 0)
    assert (none.name, none.waiting, none.leased) == (None, 1, 0)
    assert (a.name, a.waiting, a.leased) == ("a", 1, 1)
    assert a.oldest is not None
    assert abs(a.oldest - begin) < timedelta(seconds=5)
    assert abs(a.now - begin) < timedelta(seconds=5)
    assert queue.reserve_many(10)
    assert [(group.waiting, group.oldest) for group in queue.groups()] == [(0, None)] * 3


def test_groups_are_read_in_pages(queue: dueq.Queue) -> None:
    queue.push_many([dueq.Draft("x", group=f"g{number:03}") for number in range(450)])
    expected = [f"g{number:03}" for number in range(450)]
    assert names(queue.groups(1000)) == expected
    assert names(queue.groups(250)) == expected[:250]
    assert names(queue.groups()) == expected[:100]
    assert names(queue.groups(1)) == expected[:1]


def test_leases_are_not_counted_where_the_queue_has_many(queue: dueq.Queue) -> None:
    queue.push_many([dueq.Draft("x", group="a") for _ in range(1002)])
    for _ in range(5):
        queue.reserve_many(200)
    [group] = queue.groups()
    assert (group.waiting, group.leased) == (2, 1000)
    queue.reserve()
    [group] = queue.groups()
    assert (group.waiting, group.leased) == (1, None)


@pytest.mark.parametrize("most", [0, -1])
def test_groups_of_a_wrong_number(queue: dueq.Queue, most: int) -> None:
    with pytest.raises(errors.InvalidError, match="most"):
        queue.groups(most)


def test_purge_group_tells_its_progress(queue: dueq.Queue) -> None:
    queue.push_many([dueq.Draft("x", group="a") for _ in range(450)])
    queue.push_many([dueq.Draft("y", group="a", delay=60) for _ in range(50)])
    queue.push("z", group="b")
    told: list[int] = []
    assert queue.purge_group("a", progress=told.append) == 500
    assert told[-1] == 500
    assert len(told) > 2
    assert names(queue.groups()) == ["b"]
    assert (queue.stats().ready, queue.stats().delayed, queue.stats().purged) == (1, 0, 500)


def test_purge_group_while_others_work(queue: dueq.Queue) -> None:
    """Reserves and pushes between the pages: all that waited goes, and nothing of others."""
    queue.push_many([dueq.Draft(str(n), group="ab"[n % 2]) for n in range(900)])
    served: list[dueq.Message] = []

    def work(_: int) -> None:
        served.extend(queue.reserve_many(20))
        queue.push("new", group="b")

    purged = queue.purge_group("a", progress=work)
    mine = sum(message.group == "a" for message in served)
    assert purged + mine == 450
    while more := queue.reserve_many(200):
        served += more
    assert sum(message.group == "a" for message in served) == mine
    old = sorted(int(m.body) for m in served if m.group == "b" and m.body != b"new")
    assert old == list(range(1, 900, 2))


def test_groups_of_asyncio(server: Server) -> None:
    async def main() -> tuple[list[str | None], int]:
        async with aio.Queue("asyncio groups", server.url) as queue:
            await queue.push("x", group="acme")
            return names(await queue.groups()), await queue.purge_group("acme")

    assert asyncio.run(main()) == (["acme"], 1)


def served(queue: dueq.Queue) -> dict[str | None, int | None]:
    return {group.name: group.served_per_minute for group in queue.groups()}


def counts_deliveries(queue: dueq.Queue, server: Server) -> list[str]:
    """Sets limits, as if a minute ago. Returns the keys of the counts."""
    queue.limit(each_group_concurrency=1000)
    server.command("HSET", f"dueq:{{{queue.name}}}:meta", "served_from", 0)
    return [f"dueq:{{{queue.name}}}:served_{kind}" for kind in ("even", "odd")]


def test_a_part_of_the_minute_before_counts_as_served(queue: dueq.Queue, server: Server) -> None:
    queue.push("x", group="a")
    for counts in counts_deliveries(queue, server):
        server.command("HSET", counts, "a", 6000)
    [group] = queue.groups()
    passed = group.now.second + group.now.microsecond / 1e6
    assert group.served_per_minute == pytest.approx(12000 - 100 * passed, abs=1)


def test_what_was_served_is_not_known_in_the_first_minute(
    queue: dueq.Queue, server: Server
) -> None:
    queue.push_many([dueq.Draft("x", group="a")] * 2)
    queue.hold("a", 60)
    assert served(queue) == {"a": None}
    counts_deliveries(queue, server)
    assert served(queue) == {"a": 0}


def test_the_counts_of_what_was_served_go(queue: dueq.Queue, server: Server) -> None:
    keys = counts_deliveries(queue, server)
    queue.push("x", group="a")
    assert queue.reserve()
    left = [server.command("PTTL", key) for key in keys if server.command("EXISTS", key)]
    assert left
    assert all(isinstance(ms, int) and 0 < ms <= 120000 for ms in left)


def test_of_ten_thousand_groups_is_counted_what_was_served(
    queue: dueq.Queue, server: Server
) -> None:
    names = [f"g{number}" for number in range(10000)]
    for counts in counts_deliveries(queue, server):
        server.command("HSET", counts, *(word for name in names for word in (name, 0)))
    queue.push_many([dueq.Draft("x", group=group) for group in ("g7", "other")])
    assert len(queue.reserve_many(2)) == 2
    assert served(queue) == {"g7": 1, "other": None}
