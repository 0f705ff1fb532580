"""Which consumers keep a queue's time, who is woken, and what the second one covers: by scripts."""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from layout import made_id
from raw import RawDriver

ENVELOPE = b"\xd1\x00\x00\x10body"
LEASE_MS = 600_000
A, B, C = "A" * 22, "B" * 22, "C" * 22
NUMBERS = count()


class Queue:
    """Messages that are due at known times from now, and the notes of consumers that wait."""

    def __init__(self, raw: RawDriver, script: str) -> None:
        self.raw, self.script, self.name = raw, script, f"times-{next(NUMBERS)}"
        self.tickets: list[str] = []
        self.at: list[int] = []

    def key(self, name: str) -> str:
        return f"dueq:{{{self.name}}}:{name}"

    def command(self, *words: str | bytes | int) -> Any:
        return self.raw.command(*words)

    def now(self) -> int:
        seconds, us = self.command("TIME")
        return int(seconds) * 1000 + int(us) // 1000

    def delay(self, *delays_ms: int) -> None:
        now = self.now()
        for delay in delays_ms:
            self.tickets.append(made_id())
            self.at.append(now + delay)
            self.raw.run("push_later", self.name, f"@{self.at[-1]}", self.tickets[-1], ENVELOPE)

    def fall_due(self, number: int) -> None:
        self.command("ZADD", self.key("delayed"), 1, self.tickets[number])
        self.command("HSET", self.key("meta"), "next_event", 1)

    def ask(
        self, session: str, flags: str, *acks: str, most: int = 1
    ) -> tuple[int, int, list[str]]:
        """The wait in ms (-1: others look), whether it is a timekeeper, and the tickets."""
        words: list[str | int] = [most, LEASE_MS, flags, len(acks), *acks]
        answer: list[Any] = self.raw.run(self.script, self.name, *words, session=session)
        wait = -1 if answer[1] < 0 else -(-answer[1] // 1000)
        return wait, answer[2], [ticket.decode() for ticket in answer[7::2]]

    def keepers(self) -> str:
        return (self.command("HGET", self.key("meta"), "timekeepers") or b"").decode()

    def take_token(self) -> int:
        """The time that the only token tells."""
        popped: list[bytes] = self.command("ZPOPMIN", self.key("wake"), 2)
        assert popped[0] == b"t"
        assert len(popped) == 2
        return int(popped[1])

    def tokens(self) -> int:
        return int(self.command("ZCARD", self.key("wake")))


@pytest.fixture(params=["reserve", "reserve_full"])
def queue(raw: RawDriver, request: pytest.FixtureRequest) -> Queue:
    return Queue(raw, request.param)


def test_those_that_wait(queue: Queue) -> None:
    """The first looks at the next event, the second at the one after that; more wait without."""
    queue.delay(60_000, 60_300, 60_700)
    wait, keeps, tickets = queue.ask(A, "--w-d-")
    assert (keeps, tickets) == (1, [])
    assert 59_000 < wait <= 60_000
    assert queue.keepers() == f"{queue.at[0]}:{A}"
    wait, keeps, _ = queue.ask(B, "--w-d-")
    assert keeps == 1
    assert queue.keepers() == f"{queue.at[0]}:{A} {queue.at[1]}:{B}"
    assert queue.ask(C, "--w-d-")[:2] == (-1, 0)
    assert queue.keepers() == f"{queue.at[0]}:{A} {queue.at[1]}:{B} +"
    # Nothing changes for those that ask again.
    queue.ask(B, "--w-d-")
    assert queue.keepers() == f"{queue.at[0]}:{A} {queue.at[1]}:{B} +"


@pytest.mark.parametrize(("next_but_one", "second"), [(60_010, 50), (60_400, 400), (90_000, 1000)])
def test_when_the_second_one_looks(queue: Queue, next_but_one: int, second: int) -> None:
    queue.delay(60_000, next_but_one)
    queue.ask(A, "--w-d-")
    queue.ask(B, "--w-d-")
    assert queue.keepers() == f"{queue.at[0]}:{A} {queue.at[0] + second}:{B}"


def test_alone_it_keeps_the_time_while_it_works(queue: Queue) -> None:
    queue.delay(60_000, 60_300, 60_700)
    queue.ask(A, "--k-d-")
    for number in range(2):
        queue.fall_due(number)
        acks = queue.tickets[number - 1 : number]
        wait, keeps, tickets = queue.ask(A, "-rk-d-", *acks)
        assert (keeps, tickets) == (1, [queue.tickets[number]])
        assert 59_000 < wait <= queue.at[number + 1] - queue.now() + 1000
        assert queue.keepers() == f"{queue.at[number + 1]}:{A}"
        assert queue.tokens() == 0


def test_beside_a_second_one_they_take_turns(queue: Queue) -> None:
    queue.delay(60_000, 60_300, 60_700)
    queue.ask(A, "--k-d-")
    queue.ask(B, "--k-d-")
    queue.ask(C, "--k-d-")
    queue.fall_due(0)
    assert queue.ask(A, "-rk-d-")[1:] == (1, queue.tickets[:1])
    assert queue.keepers() == f"{queue.at[1]}:{B} {queue.at[2]}:{A} +"
    queue.fall_due(1)
    assert queue.ask(B, "-rk-d-")[1:] == (1, queue.tickets[1:2])
    assert queue.keepers().startswith(f"{queue.at[2]}:{A} ")
    assert queue.keepers().endswith(f":{B} +")
    assert queue.tokens() == 0


def test_alone_before_others_that_wait_it_wakes_one(queue: Queue) -> None:
    """It may die by its message, and no second timekeeper would look in its place."""
    queue.delay(60_000, 60_300)
    for session in (A, B, C):
        queue.ask(session, "--k-d-")
    queue.ask(B, "-r----", most=0)
    assert queue.keepers() == f"{queue.at[0]}:{A} +"
    queue.fall_due(0)
    assert queue.ask(A, "-rk-d-") == (-1, 0, queue.tickets[:1])
    assert queue.keepers() == f"{queue.at[1]}:- +"
    # The one that was woken keeps the time. There may be more.
    assert queue.take_token() == queue.at[1]
    assert queue.ask(C, f"-rk-d-{queue.at[1]}")[1:] == (1, [])
    assert queue.keepers() == f"{queue.at[1]}:{C} +"


def test_its_own_token_does_not_make_it_one_of_many(queue: Queue) -> None:
    queue.delay(60_000)
    queue.ask(A, "--k-d-")
    queue.ask(A, "-rk-d-")
    assert queue.keepers() == f"{queue.at[0]}:{A}"


@pytest.mark.parametrize(
    ("flags", "most", "others_due"), [("-rw-d-", 1, 0), ("-r--d-", 1, 0), ("-rk-d-", 1, 1)]
)
def test_it_keeps_no_time(queue: Queue, flags: str, most: int, others_due: int) -> None:
    """It did not ask for that, or leaves messages for others: one of these is woken."""
    queue.delay(60_000, 60_300, 60_700)
    queue.ask(A, "--k-d-")
    for number in range(1 + others_due):
        queue.fall_due(number)
    wait, keeps, tickets = queue.ask(A, flags, most=most)
    assert (wait, keeps, len(tickets)) == (-1, 0, 1)
    expected = "" if others_due else f"{queue.at[1]}:- +"
    assert (queue.keepers(), queue.tokens()) == (expected, 1)


def test_of_ready_messages_it_keeps_no_time(queue: Queue) -> None:
    queue.delay(60_000)
    queue.ask(A, "--k-d-")
    queue.raw.run("push", queue.name, made_id(), ENVELOPE)
    queue.command("DEL", queue.key("wake"))
    assert queue.ask(A, "-rk-d-")[:2] == (-1, 0)
    assert (queue.keepers(), queue.tokens()) == (f"{queue.at[0]}:- +", 1)


def test_it_hands_over(queue: Queue) -> None:
    """Another consumer is woken, unless one looks in time already."""
    queue.delay(60_000, 60_300)
    queue.ask(A, "--k-d-")
    queue.ask(B, "--k-d-")
    queue.ask(B, "-r----", most=0)
    assert (queue.keepers(), queue.tokens()) == (f"{queue.at[0]}:{A}", 0)
    queue.ask(B, "--k-d-")
    queue.ask(A, "-r----", most=0)
    assert queue.keepers() == f"{queue.at[0]}:- {queue.at[1]}:{B} +"
    assert queue.take_token() == queue.at[0]


def test_it_hands_over_what_is_due(queue: Queue) -> None:
    queue.delay(60_000)
    queue.ask(A, "--k-d-")
    queue.fall_due(0)
    queue.ask(A, "-r----", most=0)
    assert queue.tokens() == 1
    assert queue.ask(B, "-rk-d-")[2] == queue.tickets


def test_one_that_is_late_counts_as_dead(queue: Queue) -> None:
    queue.delay(60_000)
    late = f"{queue.now() - 300}:{B}"
    queue.command("HSET", queue.key("meta"), "timekeepers", late)
    assert queue.ask(A, "--w-d-")[1] == 1
    assert queue.keepers() == f"{queue.at[0]}:{A}"


def test_an_earlier_event_replaces_the_later_of_two(queue: Queue) -> None:
    queue.delay(60_000, 60_300)
    queue.ask(A, "--w-d-")
    queue.ask(B, "--w-d-")
    queue.delay(30_000)
    assert queue.keepers() == f"{queue.at[2]}:- {queue.at[0]}:{A} {queue.at[1]}:{B} +"
    assert queue.take_token() == queue.at[2]
    queue.ask(C, f"-rw-d-{queue.at[2]}")
    assert queue.keepers() == f"{queue.at[2]}:{C} {queue.at[0]}:{A} +"


def test_one_that_takes_a_token_keeps_its_time(queue: Queue) -> None:
    """It need not ask before. A later event wakes nobody, an earlier one does, and so does its
    end."""
    queue.delay(60_000)
    assert queue.take_token() == queue.at[0]
    queue.delay(60_300)
    assert (queue.keepers(), queue.tokens()) == (f"{queue.at[0]}:- +", 0)
    queue.delay(50_000)
    assert queue.take_token() == queue.at[2]
    assert queue.keepers() == f"{queue.at[2]}:- +"
    queue.ask(A, f"-r----{queue.at[0]}", most=0)
    assert (queue.keepers(), queue.tokens()) == (f"{queue.at[2]}:- +", 0)
    queue.ask(A, f"-r----{queue.at[2]}", most=0)
    assert queue.take_token() == queue.at[2]
    queue.fall_due(2)
    assert queue.ask(A, f"-rk-d-{queue.at[2]}")[2] == [queue.tickets[2]]
    assert queue.take_token() == queue.at[0]


def test_beside_one_that_took_a_token_another_is_the_second(queue: Queue) -> None:
    queue.delay(60_000, 60_300)
    queue.take_token()
    queue.ask(B, "--k-d-")
    assert queue.keepers() == f"{queue.at[0]}:- {queue.at[1]}:{B} +"
    queue.fall_due(0)
    assert queue.ask(A, f"-rk-d-{queue.at[0]}")[2] == queue.tickets[:1]
    assert queue.keepers().startswith(f"{queue.at[1]}:{B} ")
    assert queue.tokens() == 0


def test_beside_two_others_one_that_works_need_not_look(queue: Queue) -> None:
    """Nor ask, before it waits. It says so where it took all that was due."""
    queue.delay(60_000, 60_300)
    queue.ask(A, "--k-d-")
    queue.ask(B, "--k-d-")
    kept = queue.keepers() + " +"
    for most, left in [(1, 0), (1, 1)]:
        queue.delay(*[30_000 - left] * (1 + left))
        at = queue.take_token()
        assert queue.keepers() == f"{at}:- {kept}"
        for number in range(1 + left):
            queue.fall_due(-1 - number)
        wait, keeps, tickets = queue.ask(C, f"-rk-d-{at}", most=most)
        assert (wait, keeps, len(tickets)) == (-1, 0 if left else 3, 1)
        assert queue.keepers() == kept
        assert queue.tokens() == left


@pytest.mark.parametrize("lost", [False, True])
def test_a_time_whose_token_nobody_has(queue: Queue, lost: bool) -> None:
    """Nobody waited, or the connection broke with the token: one that begins to wait is first."""
    queue.delay(60_000, 60_300)
    if lost:
        queue.take_token()
    queue.ask(A, "-rk-d-0" if lost else "--k-d-")
    assert queue.keepers() == f"{queue.at[0]}:{A}" + " +" * lost
    assert queue.tokens() == 0


def test_of_a_partition_nobody_keeps_the_time_by_a_token(queue: Queue) -> None:
    queue.delay(60_000)
    queue.take_token()
    assert queue.ask(A, f"orw-d-{queue.at[0]}")[1] == 2
    assert queue.keepers() == ""


@pytest.mark.parametrize("others", [False, True])
def test_a_token_that_nobody_took(queue: Queue, others: bool) -> None:
    """Where none of those that wait has taken it, one that begins to wait removes it."""
    queue.delay(60_000)
    if others:
        queue.ask(B, "--w-d-")
    queue.command("ZADD", queue.key("wake"), 0, "w")
    queue.ask(A, "--w-d-")
    assert queue.tokens() == others


@pytest.mark.parametrize(
    "text", ["+", "1:a 2:b", "x", ":", "9" * 400 + ":x", "1:a  2", "1:a 2:", "5"]
)
def test_texts_that_are_none(queue: Queue, text: str) -> None:
    queue.delay(60_000)
    queue.command("HSET", queue.key("meta"), "timekeepers", text)
    assert queue.ask(A, "--k-d-")[1] == 1
    assert queue.keepers().startswith(f"{queue.at[0]}:{A}")
