"""The chaos run's judge: a check that could not find a fault would prove nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from ledger import Verdict, judge

PUSHED = ["intend 1.1 - 1000", "accepted 1.1 1001"]
GOT = "got 1.1 1 1000 2000"
ACKED = ["acking 1.1 1 1500 0", "acked 1.1 1 1501"]


def verdict(*ledgers: list[str]) -> Verdict:
    return judge([f"{line}\n" for line in lines] for lines in ledgers)


def found(*ledgers: list[str]) -> dict[str, list[str]]:
    """What is broken, by name."""
    return {name: marks for name, marks in verdict(*ledgers).broken().items() if marks}


@pytest.mark.parametrize(
    "ledgers",
    [
        pytest.param([PUSHED, [GOT, *ACKED, "empty"]], id="delivered"),
        pytest.param([PUSHED, [GOT], ["got 1.1 2 2000 3000", "acking 1.1 2 2001 0"]], id="killed"),
        pytest.param(
            [
                PUSHED,
                [GOT, "acking 1.1 1 2500 0", "lost 1.1 1 2501"],
                ["got 1.1 2 2000 3000", "acking 1.1 2 2001 0", "acked 1.1 2 2002"],
            ],
            id="stopped",
        ),
        pytest.param(
            [
                PUSHED,
                [
                    GOT,
                    "retrying 1.1 1 1200 1300",
                    "retried 1.1 1 1201",
                    "got 1.1 2 1300 2300",
                    "acking 1.1 2 1400 0",
                    "acked 1.1 2 1401",
                ],
            ],
            id="retried",
        ),
        pytest.param([["intend 1.1 - 1000", "unknown 1.1 1001"]], id="unknown and not stored"),
        pytest.param([["intend 1.1 - 1000"], [GOT, *ACKED]], id="producer killed"),
        pytest.param(
            [
                ["intend 1.1 a 900", "unknown 1.1 901", "intend 1.2 a 900", "duplicate 1.2 902"],
                [GOT, *ACKED],
            ],
            id="pushed again",
        ),
        pytest.param([["intend 1.1 - 1000", "refused 1.1 1001"]], id="refused"),
    ],
)
def test_judge_of_what_may_happen(ledgers: list[list[str]]) -> None:
    assert found(*ledgers) == {}


def test_judge_takes_no_line_that_the_kill_has_torn() -> None:
    ledger = [f"{line}\n" for line in [*PUSHED, GOT, *ACKED]]
    assert judge([[*ledger, "acked 1."]]).broken() == judge([ledger]).broken()
    assert judge([[*ledger[:-1], ledger[-1][:-1]]]).acked == 0


@pytest.mark.parametrize(
    "ledger",
    [
        [],
        [GOT],
        [GOT, "acking 1.1 1 2500 0", "lost 1.1 1 2501"],
        [GOT, "acking 1.1 1 1500 0", "undone 1.1 1"],
        [GOT, "retrying 1.1 1 1500 1500", "retried 1.1 1 1501"],
    ],
)
def test_judge_finds_a_lost_message(ledger: list[str]) -> None:
    assert found(PUSHED, ledger) == {"lost": ["1.1"]}
    assert verdict(PUSHED, ledger).lost_at == [1001]


def test_judge_finds_a_lost_message_that_was_pushed_again() -> None:
    pushes = ["intend 1.1 a 900", "unknown 1.1 901", "intend 1.2 a 900", "duplicate 1.2 902"]
    assert found(pushes) == {"lost": ["1.2"]}


@pytest.mark.parametrize("attempt", [1, 2])
def test_judge_finds_an_acknowledged_message_seen_again(attempt: int) -> None:
    again = [f"got 1.1 {attempt} 1600 2600"]
    assert found(PUSHED, [GOT, *ACKED], again) == {"acked again": ["1.1"]}


def test_judge_finds_two_holders_by_their_leases() -> None:
    second = ["got 1.1 2 1999 2999", "acking 1.1 2 2100 0", "acked 1.1 2 2101"]
    assert found(PUSHED, [GOT], second) == {"two holders": ["1.1"]}


def test_judge_finds_two_holders_by_a_lease_that_was_extended() -> None:
    first = [GOT, "extending 1.1 1 1500 2500", "extended 1.1 1 1501"]
    second = ["got 1.1 2 2499 3499", "acking 1.1 2 2600 0", "acked 1.1 2 2601"]
    assert found(PUSHED, first, second) == {"two holders": ["1.1"]}
    assert found(PUSHED, first[:2], second) == {}


def test_judge_finds_two_holders_by_a_late_ack() -> None:
    late = [GOT, "acking 1.1 1 2500 0", "acked 1.1 1 2501"]
    assert found(PUSHED, late, ["got 1.1 2 2000 3000"]) == {"two holders": ["1.1"]}


def test_judge_finds_two_holders_of_one_attempt() -> None:
    again = ["got 1.1 1 2000 3000", "acking 1.1 1 2001 0", "acked 1.1 1 2002"]
    assert found(PUSHED, [GOT], again) == {"two holders": ["1.1"]}


def test_judge_finds_an_early_delivery() -> None:
    early = ["got 1.1 1 999 1999", *ACKED]
    assert found(PUSHED, early) == {"early": ["1.1"]}


def test_judge_finds_an_early_delivery_after_a_retry() -> None:
    retried = [GOT, "retrying 1.1 1 1200 1300", "retried 1.1 1 1201"]
    early = ["got 1.1 2 1299 2299", "acking 1.1 2 1400 0", "acked 1.1 2 1401"]
    assert found(PUSHED, retried, early) == {"early": ["1.1"]}


@pytest.mark.parametrize("word", ["refused", "duplicate"])
def test_judge_finds_a_message_that_was_not_stored(word: str) -> None:
    marks = found(["intend 1.1 a 900", f"{word} 1.1 901"], [GOT, *ACKED])["phantom"]
    assert set(marks) == {"1.1"}
    assert found([GOT, *ACKED]) == {"phantom": ["1.1"]}


def test_judge_finds_a_lease_lost_before_its_end() -> None:
    robbed = [GOT, "acking 1.1 1 1500 0", "lost 1.1 1 1999"]
    second = ["got 1.1 2 2000 3000", "acking 1.1 2 2001 0", "acked 1.1 2 2002"]
    assert found(PUSHED, robbed, second) == {"robbed": ["1.1"]}


@pytest.mark.parametrize(
    "line", ["error -30 push refused", "what", "acked 1.9 1 5", "got 1.1 x 1 2"]
)
def test_judge_finds_what_makes_no_sense(line: str) -> None:
    assert found([line])["odd"] == [line]


def test_judge_counts() -> None:
    ended = ["got 1.1 2 2000 3000", "acking 1.1 2 2001 0"]
    result = verdict(PUSHED, [GOT], ended, ["error -10 push cannot reach"])
    assert (result.accepted, result.deliveries, result.acked, result.acks_unknown) == (1, 2, 0, 1)
    assert (result.ended, result.errors["-10 push"]) == (1, 1)
    assert result.line(3) == (
        "chaos: faults=3 messages=1 lost=0 acked_again=0 two_holders=0 early=0"
    )
