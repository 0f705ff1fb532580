"""The chaos run's judge: a check that could not find a fault would prove nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from expected_state import least_delay
from verdict import Verdict, judge

PUSHED = ["intend 1.1 - 1000 a 0 0 - default", "accepted 1.1 1001"]
# With limits of 2 failures and 2 crashes: it moves to b, or is dead.
MOVES = ["intend 1.1 - 1000 a 2 2 b default", "accepted 1.1 1001"]
DIES = ["intend 1.1 - 1000 a 2 2 - default", "accepted 1.1 1001"]
GOT = "got 1.1 1 1000 2000 a 1 0"
ACKED = ["acking 1.1 1 1500 -", "acked 1.1 1 1501"]
RETRIED = ["retrying 1.1 1 1200 1300", "retried 1.1 1 1201"]
RELEASED = ["releasing 1.1 1 1200 1300", "released 1.1 1 1201"]
SECOND_DELIVERY = ["got 1.1 2 2000 3000 a 1 1", "acking 1.1 2 2001 -", "acked 1.1 2 2002"]
SECOND = ["acking 1.1 2 2001 -", "acked 1.1 2 2002"]
THIRD = ["acking 1.1 3 3001 -", "acked 1.1 3 3002"]
# Acknowledged with a successor, which is delivered and acknowledged.
SUCCEEDS = ["intend 2.1 - 1500 b 5 5 - default", "acking 1.1 1 1500 2.1"]
SUCCEEDED = [GOT, *SUCCEEDS, "accepted 2.1 1501", "acked 1.1 1 1501"]
SUCCESSOR = ["got 2.1 1 1501 2501 b 1 0", "acking 2.1 1 1502 -", "acked 2.1 1 1503"]


def verdict(*ledgers: list[str]) -> Verdict:
    return judge([f"{line}\n" for line in lines] for lines in ledgers)


def found(*ledgers: list[str]) -> dict[str, list[str]]:
    """What is broken, by name."""
    return {name: marks for name, marks in verdict(*ledgers).broken().items() if marks}


@pytest.mark.parametrize(
    "ledgers",
    [
        pytest.param([PUSHED, [GOT, *ACKED, "empty"]], id="delivered"),
        pytest.param(
            [PUSHED, [GOT], ["got 1.1 2 2000 3000 a 1 1", "acking 1.1 2 2001 -"]], id="killed"
        ),
        pytest.param(
            [
                PUSHED,
                [GOT, "acking 1.1 1 2500 -", "lost 1.1 1 2501"],
                ["got 1.1 2 2000 3000 a 1 1", *SECOND],
            ],
            id="stopped",
        ),
        pytest.param([PUSHED, [GOT, *RETRIED, "got 1.1 2 1300 2300 a 2 0", *SECOND]], id="retried"),
        pytest.param(
            [PUSHED, [GOT, *RETRIED[:1]], ["got 1.1 2 1300 2300 a 2 0", *SECOND]],
            id="retried, and nobody was told",
        ),
        pytest.param(
            [PUSHED, [GOT, *RETRIED[:1]], ["got 1.1 2 2000 3000 a 1 1", *SECOND]],
            id="perhaps retried, and it crashed",
        ),
        pytest.param(
            [PUSHED, [GOT, *RELEASED, "got 1.1 2 1300 2300 a 1 0", *SECOND]], id="released"
        ),
        pytest.param(
            [PUSHED, ["got 1.1 3 3000 4000 a 1 2", *THIRD]], id="crashed where nobody saw"
        ),
        pytest.param([["intend 1.1 - 1000 a 5 5 - default", "unknown 1.1 1001"]], id="not stored"),
        pytest.param([["intend 1.1 - 1000 a 5 5 - default"], [GOT, *ACKED]], id="producer killed"),
        pytest.param(
            [
                ["intend 1.1 x 900 a 0 0 - default", "unknown 1.1 901"],
                ["intend 1.2 x 900 a 0 0 - default", "duplicate 1.2 902"],
                [GOT, *ACKED],
            ],
            id="pushed again",
        ),
        pytest.param([["intend 1.1 - 1000 a 5 5 - default", "refused 1.1 1001"]], id="refused"),
        pytest.param(
            [
                MOVES,
                [GOT, "burying 1.1 1 1200 -", "buried 1.1 1 1201"],
                ["got 1.1 2 1201 2201 b 1 0", *SECOND],
            ],
            id="moved at its end",
        ),
        pytest.param([MOVES, ["got 1.1 3 3000 4000 b 1 0", *THIRD]], id="moved after crashes"),
        pytest.param(
            [DIES, [GOT], ["dead 1.1 2 a 0 2"], ["got 1.1 3 3000 4000 a 1 0", *THIRD]],
            id="dead after crashes, and kicked",
        ),
        pytest.param([PUSHED, SUCCEEDED, SUCCESSOR], id="succeeded"),
        pytest.param([PUSHED, [GOT, *SUCCEEDS, "unknown 2.1 1501"], SUCCESSOR], id="nobody told"),
        pytest.param(
            [
                PUSHED,
                [GOT, *SUCCEEDS, "unknown 2.1 1501"],
                ["got 1.1 2 2000 3000 a 1 1", *SECOND],
            ],
            id="perhaps succeeded, and not",
        ),
        pytest.param(
            [
                PUSHED,
                [GOT, *SUCCEEDS, "refused 2.1 2501", "lost 1.1 1 2501"],
                ["got 1.1 2 2000 3000 a 1 1", *SECOND],
            ],
            id="lost, and no successor",
        ),
    ],
)
def test_judge_of_what_may_happen(ledgers: list[list[str]]) -> None:
    assert found(*ledgers) == {}


def test_judge_takes_no_line_that_the_kill_has_torn() -> None:
    ledger = [f"{line}\n" for line in [*PUSHED, GOT, *ACKED]]
    assert judge([[*ledger, "acked 1."]]).broken() == judge([ledger]).broken()
    assert judge([[*ledger[:-1], ledger[-1][:-1]]]).done["ack"] == 0


@pytest.mark.parametrize(
    "ledger",
    [
        [],
        [GOT],
        [GOT, "acking 1.1 1 2500 -", "lost 1.1 1 2501"],
        [GOT, "acking 1.1 1 1500 -", "undone 1.1 1"],
        [GOT, "retrying 1.1 1 1500 1500", "retried 1.1 1 1501"],
        [GOT, *RELEASED],
    ],
)
def test_judge_finds_a_lost_message(ledger: list[str]) -> None:
    assert found(PUSHED, ledger) == {"lost": ["1.1"]}
    assert verdict(PUSHED, ledger).lost_at == [1001]


@pytest.mark.parametrize(
    "end", [["dead 1.1 2 a 0 2"], ["burying 1.1 1 1200 -", "buried 1.1 1 1201"]]
)
def test_judge_finds_a_message_lost_at_its_end(end: list[str]) -> None:
    assert found(MOVES if len(end) > 1 else DIES, [GOT, *end]) == {"lost": ["1.1"]}


def test_judge_finds_a_lost_message_that_was_pushed_again() -> None:
    pushes = ["intend 1.1 x 900 a 0 0 - default", "unknown 1.1 901"]
    pushes += ["intend 1.2 x 900 a 0 0 - default", "duplicate 1.2 902"]
    assert found(pushes) == {"lost": ["1.2"]}


@pytest.mark.parametrize("number", [1, 2])
def test_judge_finds_an_acknowledged_message_seen_again(number: int) -> None:
    again = [f"got 1.1 {number} 1600 2600 a 1 0"]
    assert found(PUSHED, [GOT, *ACKED], again) == {"acked again": ["1.1"]}


def test_judge_finds_an_acknowledged_message_seen_again_in_another_queue() -> None:
    again = ["got 1.1 2 1600 2600 b 1 0", *SECOND]
    assert found(MOVES, [GOT, *ACKED], again) == {"acked again": ["1.1"]}


def test_judge_finds_two_holders_by_their_leases() -> None:
    second = ["got 1.1 2 1999 2999 a 1 1", "acking 1.1 2 2100 -", "acked 1.1 2 2101"]
    assert found(PUSHED, [GOT], second) == {"two holders": ["1.1"]}


def test_judge_finds_two_holders_by_a_lease_that_was_extended() -> None:
    first = [GOT, "extending 1.1 1 1500 2500", "extended 1.1 1 1501"]
    second = ["got 1.1 2 2499 3499 a 1 1", "acking 1.1 2 2600 -", "acked 1.1 2 2601"]
    assert found(PUSHED, first, second) == {"two holders": ["1.1"]}
    assert found(PUSHED, first[:2], second) == {}


def test_judge_finds_two_holders_by_a_late_ack() -> None:
    late = [GOT, "acking 1.1 1 2500 -", "acked 1.1 1 2501"]
    assert found(PUSHED, late, ["got 1.1 2 2000 3000 a 1 1"]) == {"two holders": ["1.1"]}


def test_judge_finds_two_holders_of_one_delivery() -> None:
    again = ["got 1.1 1 2000 3000 a 1 0", "acking 1.1 1 2001 -", "acked 1.1 1 2002"]
    assert found(PUSHED, [GOT], again) == {"two holders": ["1.1"]}


def test_judge_finds_two_holders_in_two_queues() -> None:
    second = ["got 1.1 2 1999 2999 b 1 0", *SECOND]
    assert found(["intend 1.1 - 1000 a 2 1 b default"], [GOT], second) == {"two holders": ["1.1"]}


@pytest.mark.parametrize("verb", ["retrying", "releasing", "burying"])
def test_judge_finds_two_holders_by_what_comes_back_too_soon(verb: str) -> None:
    first = [GOT, f"{verb} 1.1 1 1500 1500"]
    second = ["got 1.1 2 1499 2499 a 1 1", "acking 1.1 2 2400 -", "acked 1.1 2 2401"]
    assert found(PUSHED, first, second) == {"two holders": ["1.1"]}


def test_judge_finds_an_early_delivery() -> None:
    early = ["got 1.1 1 999 1999 a 1 0", *ACKED]
    assert found(PUSHED, early) == {"early": ["1.1"]}


@pytest.mark.parametrize(("verbs", "attempt"), [(RETRIED, 2), (RELEASED, 1)])
def test_judge_finds_an_early_delivery_of_what_was_given_back(
    verbs: list[str], attempt: int
) -> None:
    early = [f"got 1.1 2 1299 2299 a {attempt} 0", *SECOND]
    assert found(PUSHED, [GOT, *verbs], early) == {"early": ["1.1"]}


def test_judge_finds_an_early_delivery_by_the_backoff() -> None:
    pushed = ["intend 1.1 - 1000 a 0 0 - linear:60,150:none", "accepted 1.1 1001"]
    first = [GOT, "retrying 1.1 1 1200 backoff", "retried 1.1 1 1201"]
    second = ["got 1.1 2 1260 2260 a 2 0", "retrying 1.1 2 1300 backoff", "retried 1.1 2 1301"]
    third = ["got 1.1 3 1420 2420 a 3 0", *THIRD]
    assert found(pushed, first, second, third) == {}
    for early in (
        (["got 1.1 2 1259 2259 a 2 0", *second[1:]], third),
        (second, ["got 1.1 3 1419 2419 a 3 0", *THIRD]),
    ):
        assert found(pushed, first, *early) == {"early": ["1.1"]}


@pytest.mark.parametrize(
    ("backoff", "least"),
    [
        ("default", [500, 1000, 2000, *[1000 << n for n in range(2, 11)], 1_800_000]),
        ("fixed:0:none", [0, 0, 0]),
        ("fixed:150:none", [150, 150, 150]),
        ("fixed:150:full", [0, 0, 0]),
        ("linear:60,150:none", [60, 120, 150]),
        ("exponential:50,150:none", [50, 100, 150]),
        ("exponential:50,150:equal", [25, 50, 75]),
        ("list:20,200,80:none", [20, 200, 80, 80]),
    ],
)
def test_least_delay(backoff: str, least: list[int]) -> None:
    assert [least_delay(backoff, n + 1) for n in range(len(least))] == least


def test_judge_finds_an_ack_without_its_successor() -> None:
    assert found(PUSHED, SUCCEEDED) == {"lost": ["2.1"], "torn": ["1.1"]}
    assert found(PUSHED, [GOT, *SUCCEEDS]) == {"torn": ["1.1"]}


def test_judge_finds_a_successor_without_its_ack() -> None:
    second = ["got 1.1 2 2000 3000 a 1 1", *SECOND]
    assert found(PUSHED, [GOT, *SUCCEEDS], second, SUCCESSOR) == {"torn": ["1.1"]}
    lost = [GOT, *SUCCEEDS, "refused 2.1 2501", "lost 1.1 1 2501"]
    assert found(PUSHED, lost, second, SUCCESSOR) == {"torn": ["1.1"], "phantom": ["2.1"]}


def test_judge_forgives_what_a_failover_took_back_with_its_answer() -> None:
    second = ["got 1.1 2 2000 3000 a 1 1", *SECOND]
    lost = [GOT, *SUCCEEDS, "refused 2.1 2501", "lost 1.1 1 2501"]
    assert found(PUSHED, lost, second, SUCCESSOR, ["forgotten 900 2600 a,b"]) == {}
    before = ["forgotten 100 200 a,b"]
    assert found(PUSHED, lost, second, SUCCESSOR, before) == {"torn": ["1.1"], "phantom": ["2.1"]}


def test_judge_finds_one_of_two_successors_missing() -> None:
    first = ["intend 2.2 - 1500 b 5 5 - default", *SUCCEEDS]
    first[-1] += ",2.2"
    assert found(PUSHED, [GOT, *first], SUCCESSOR) == {"torn": ["1.1"]}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param([], "2 2000 3000 a 1 0", id="a crash that does not count"),
        pytest.param([], "2 2000 3000 a 2 0", id="a crash as a failure"),
        pytest.param([], "2 2000 3000 a 1 2", id="a crash counted twice"),
        pytest.param(RETRIED, "2 1300 2300 a 1 0", id="a failure that does not count"),
        pytest.param(RETRIED, "2 1300 2300 a 3 0", id="a failure counted twice"),
        pytest.param(RETRIED, "2 1300 2300 a 2 1", id="a failure as a crash, too"),
        pytest.param(RETRIED[:1], "2 2000 3000 a 2 1", id="a failure as a crash, perhaps"),
        pytest.param(RELEASED, "2 1300 2300 a 2 0", id="a release as a failure"),
        pytest.param(RELEASED, "3 2300 3300 a 2 0", id="a delivery that nobody saw as a failure"),
        pytest.param([], "2 2000 3000 b 1 0", id="the wrong queue"),
        pytest.param(RETRIED, "2 1300 2300 b 1 0", id="moved too soon"),
        pytest.param([], "3 3000 4000 a 1 2", id="not moved at its end"),
        pytest.param([], "3 3000 4000 b 1 1", id="crashes that were not forgotten"),
    ],
)
def test_judge_finds_what_is_counted_wrong(first: list[str], second: str) -> None:
    number = second.split(" ")[0]
    got = [f"got 1.1 {second}", f"acking 1.1 {number} 4001 -", f"acked 1.1 {number} 4002"]
    assert found(MOVES, [GOT, *first], got) == {"miscounted": ["1.1"]}


def test_judge_finds_a_first_delivery_from_the_wrong_queue() -> None:
    assert found(PUSHED, ["got 1.1 1 1000 2000 b 1 0", *ACKED]) == {"miscounted": ["1.1"]}


@pytest.mark.parametrize(
    "retried",
    [
        pytest.param([*RETRIED[:1], "buried 1.1 1 1201"], id="buried too soon"),
        pytest.param(
            [
                *RETRIED,
                "got 1.1 2 1300 2300 a 2 0",
                "retrying 1.1 2 1400 1400",
                "retried 1.1 2 1401",
            ],
            id="not buried",
        ),
    ],
)
def test_judge_finds_a_limit_that_is_not_kept(retried: list[str]) -> None:
    last = ["got 1.1 3 3000 4000 b 1 0", *THIRD]
    assert found(MOVES, [GOT, *retried], last) == {"miscounted": ["1.1"]}


@pytest.mark.parametrize("dead", ["dead 1.1 1 a 0 1", "dead 1.1 2 b 0 2", "dead 1.1 2 a 1 1"])
def test_judge_finds_a_death_without_a_reason(dead: str) -> None:
    last = ["got 1.1 3 3000 4000 a 1 0", *THIRD]
    assert found(DIES, [GOT], [dead], last) == {"miscounted": ["1.1"]}
    assert found(PUSHED, [GOT], ["dead 1.1 2 a 0 2"], last) == {"miscounted": ["1.1"]}


@pytest.mark.parametrize("word", ["refused", "duplicate"])
def test_judge_finds_a_message_that_was_not_stored(word: str) -> None:
    pushed = ["intend 1.1 x 900 a 0 0 - default", f"{word} 1.1 901"]
    assert found(pushed, [GOT, *ACKED])["phantom"] == ["1.1"]
    assert found([GOT, *ACKED]) == {"phantom": ["1.1"]}


def test_judge_finds_a_lease_lost_before_its_end() -> None:
    robbed = [GOT, "acking 1.1 1 1500 -", "lost 1.1 1 1999"]
    second = ["got 1.1 2 2000 3000 a 1 1", *SECOND]
    assert found(PUSHED, robbed, second) == {"robbed": ["1.1"]}


@pytest.mark.parametrize(
    "line",
    ["what", "acked 1.9 1 5", "got 1.1 x 1 2 a 1 0", "got 1.1 1 1 2", "dead 1.1 1", "error x push"],
)
def test_judge_finds_what_makes_no_sense(line: str) -> None:
    assert found([line])["odd"] == [line]


def test_judge_finds_an_error_that_no_fault_explains() -> None:
    assert found(["error -30 push refused"]) == {"odd": ["error -30 push"]}


def test_judge_counts() -> None:
    ended = ["got 1.1 2 2000 3000 a 1 1", "acking 1.1 2 2001 -"]
    result = verdict(PUSHED, [GOT], ended, ["error -10 push cannot reach"])
    assert (result.accepted, result.deliveries) == (1, 2)
    assert (result.done["ack"], result.unknown["ack"]) == (0, 1)
    assert (result.crashed, result.errors["-10 push"]) == (1, 1)
    assert result.line(3) == (
        "chaos: faults=3 messages=1 lost=0 acked_again=0 two_holders=0 early=0 healthy_dead=0"
        " run_twice=0 out_of_order=0 over_limit=0 wedged=0"
        " callbacks_lost=0 callbacks_doubled=0 results_lost=0"
    )
    both = verdict(PUSHED, SUCCEEDED, SUCCESSOR)
    assert (both.accepted, both.succeeded) == (2, 1)
    assert both.relayed == {"dead letter": 0, "successor": 1}
    crashed = ["got 1.1 3 3000 4000 b 1 0", *THIRD]
    assert verdict(MOVES, [GOT], crashed).relayed["dead letter"] == 1


def test_judge_allows_that_a_successor_of_a_living_id_is_dropped() -> None:
    other = ["intend 3.1 x 900 b 0 0 - default", "accepted 3.1 901", "got 3.1 1 950 1950 b 1 0"]
    other += ["acking 3.1 1 1600 -", "acked 3.1 1 1601"]
    dropped = [line.replace("2.1 -", "2.1 x") for line in SUCCEEDED]
    assert found(PUSHED, dropped, other) == {}
    assert found(PUSHED, dropped, other[:3]) == {"lost": ["2.1", "3.1"]}
    assert found(PUSHED, dropped) == {"lost": ["2.1"], "torn": ["1.1"]}
    here = [line.replace("1500 b", "1500 a") for line in dropped]
    assert found(PUSHED, here, other)["torn"] == ["1.1"]


KEPT = "kept 1.1 1 1000 2000 a 1 0 7"
OTHER = ["got 1.1 2 2500 3500 a 1 1", "acking 1.1 2 2501 -", "acked 1.1 2 2502"]
LATE = [KEPT, "acking 1.1 1 4000 -"]  # it still ran at 4000, so its lease was to last


def test_loop_keeps_a_message_while_it_runs() -> None:
    assert found(PUSHED, LATE, OTHER) == {"two holders": ["1.1"]}


@pytest.mark.parametrize("worker", ["-", "7"])
def test_fault_excuses_a_heartbeat(worker: str) -> None:
    assert not found(PUSHED, LATE, OTHER, [f"fault 1200 2400 {worker}"])


@pytest.mark.parametrize("fault", ["fault 1200 2400 8", "fault 100 400 -", "fault 2600 2700 -"])
def test_fault_elsewhere_excuses_no_heartbeat(fault: str) -> None:
    assert found(PUSHED, LATE, OTHER, [fault]) == {"two holders": ["1.1"]}


def test_noted_ack_may_be_undone_unless_the_loop_ended_well() -> None:
    noted = [KEPT, "acking 1.1 1 1500 -"]
    assert not found(PUSHED, noted, OTHER)
    assert found(PUSHED, [*noted, "acked 1.1 1 3000"], OTHER)["acked again"] == ["1.1"]


def test_what_a_loop_gave_back_does_not_count() -> None:
    second = "got 1.1 2 1200 2200 a 1 0"
    assert not found(PUSHED, [second, "acking 1.1 2 1300 -", "acked 1.1 2 1301"])


def test_a_loop_that_is_closed_releases_what_it_held() -> None:
    held = [KEPT, "closed 1.1 1 1500"]
    later = ["got 1.1 2 1600 2600 a 1 0", "acking 1.1 2 1601 -", "acked 1.1 2 1602"]
    assert not found(PUSHED, held, later)
    assert found(PUSHED, [KEPT], later) == {"two holders": ["1.1"]}
    sooner = [later[0].replace("1600", "1400"), *later[1:]]
    assert found(PUSHED, held, sooner) == {"two holders": ["1.1"]}


# Acknowledged at 1500 to 1501, and delivered again.
AGAIN = [PUSHED, [GOT, *ACKED], ["got 1.1 2 2500 3500 a 1 1", "acking 1.1 2 2501 -"]]
# Two deliveries of the same number, the second one at 1400.
TWICE = [PUSHED, [GOT, "acking 1.1 1 1600 -"], ["got 1.1 1 1400 2400 a 1 0"]]


@pytest.mark.parametrize(
    ("ledgers", "window", "promise"),
    [
        pytest.param(AGAIN, "1501 1510 a", "acked again", id="the ack"),
        pytest.param(AGAIN, "2400 2500 b,a", "acked again", id="the delivery, by the old primary"),
        pytest.param(TWICE, "900 1000 a", "two holders", id="the first delivery"),
        pytest.param(TWICE, "1400 1450 a", "two holders", id="the second delivery"),
        pytest.param(
            [PUSHED, ["got 1.1 1 1300 2300 a 1 0"], ["got 1.1 2 1400 2400 a 1 0", *SECOND]],
            "1100 1200 a",
            "two holders",
            id="one that nobody noted, before",
        ),
        pytest.param(
            [PUSHED, [GOT, *RETRIED], ["got 1.1 2 1250 2250 a 1 1", *SECOND]],
            "1201 1202 a",
            "early",
            id="the retry",
        ),
        pytest.param(
            [PUSHED, ["got 1.1 2 1500 2500 a 2 0", *SECOND]],
            "1400 1450 a",
            "miscounted",
            id="a retry that nobody noted",
        ),
        pytest.param(
            [PUSHED, [GOT, "acking 1.1 1 1500 -", "lost 1.1 1 1501"], SECOND_DELIVERY],
            "1500 1500 a",
            "robbed",
            id="who asked the old primary",
        ),
    ],
)
def test_failover_takes_back(ledgers: list[list[str]], window: str, promise: str) -> None:
    """What is done in its time is no broken promise: only then, and only in its queues."""
    taken = verdict(*ledgers, [f"forgotten {window}"])
    assert not any(taken.broken().values())
    assert taken.forgotten == {promise: 1}
    begin, end, queues = window.split(" ")
    for other in (f"{begin} {end} c", f"1 2 {queues}"):
        assert list(found(*ledgers, [f"forgotten {other}"])) == [promise]


def test_one_worker_may_have_two_deliveries_of_one_number() -> None:
    """What a loop acknowledged is said at its end, and is not the one that it retried."""
    first = [f"got 1.1 1 {time} {time + 1000} a 1 0" for time in (1200, 1400)]
    lines = [first[0], "acking 1.1 1 1201 -", first[1], "retrying 1.1 1 1401 1500"]
    again = ["got 1.1 2 1500 2500 a 2 0", "acking 1.1 2 1501 -"]
    ends = ["acked 1.1 1 1600", "acked 1.1 2 1600"]
    taken = verdict(PUSHED, [*lines, *again, *ends], ["forgotten 1200 1210 a"])
    assert not any(taken.broken().values()), taken.broken()


def test_failover_long_before_takes_nothing_back() -> None:
    """By then nobody has what the old primary delivered."""
    early = "forgotten 1300 1400 a"
    retried = ["got 1.1 1 20000 21000 a 1 0", "retrying 1.1 1 20001 22000", "retried 1.1 1 20002"]
    again = ["got 1.1 2 21000 22000 a 2 0", "acking 1.1 2 21001 -", "acked 1.1 2 21002"]
    assert found(PUSHED, [*retried, *again], [early]) == {"early": ["1.1"]}


def test_failover_loses_nothing_that_was_accepted() -> None:
    assert found(PUSHED, ["forgotten 1 5000 a"]) == {"lost": ["1.1"]}


def test_lateness_is_of_the_probes() -> None:
    late = ((1000, 5), (2000, 700), (3000, 3), (4000, 900))
    probes = [f"probe a {due} {due + ms}" for due, ms in late]
    felt = ["forgotten 2500 2600 a", "forgotten 3000 3001 b", "replaced 4100 4800 a"]
    assert verdict(probes, felt).lateness() == [
        "late, as a rule: 50 % 5 ms, 90 % 5 ms, 99 % 5 ms, 99.9 % 5 ms, all 5 ms (2 messages)",
        "late, where a failover met the wait: 50 % 900 ms, 90 % 900 ms, 99 % 900 ms,"
        " 99.9 % 900 ms, all 900 ms (2 messages)",
    ]


# Begun at 1000 with a lease to 2000, and at work until 4000: the process lived all the time.
BEGUN = ["healthy 1.1", "begun 1.1 1 1000 2000 a 1 0 7"]
AT_WORK = [*BEGUN, "acking 1.1 1 4000 -", "alive 7 4000"]
AWAY = ["fault 1200 2400 -"]


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(AT_WORK, id="at work"),
        pytest.param([*AT_WORK, "lost 1.1 1 4001"], id="refused"),
        pytest.param([*BEGUN, "acking 1.1 1 1300 -", "alive 7 4000"], id="done, and not told"),
        pytest.param([*BEGUN, "alive 7 2500"], id="still at work"),
    ],
)
def test_judge_finds_a_message_run_twice(first: list[str]) -> None:
    assert found(PUSHED, first, OTHER, AWAY) == {"run twice": ["1.1"]}


@pytest.mark.parametrize(
    ("first", "faults"),
    [
        pytest.param([*BEGUN, "alive 7 2499"], AWAY, id="killed"),
        pytest.param(AT_WORK, [*AWAY, "fault 1300 2450 7"], id="stopped"),
        pytest.param(AT_WORK, ["fault -58501 1500 -"], id="away for longer than 60 s"),
        pytest.param(
            [*BEGUN, "retrying 1.1 1 1500 1500", "undone 1.1 1", "alive 7 2499"], AWAY, id="failed"
        ),
    ],
)
def test_judge_allows_that_a_message_begins_again(first: list[str], faults: list[str]) -> None:
    assert found(PUSHED, first, OTHER, faults) == {}


def test_outage_of_a_minute_is_no_excuse() -> None:
    assert found(PUSHED, AT_WORK, OTHER, ["fault -58500 1500 -"]) == {"run twice": ["1.1"]}
    assert found(PUSHED, AT_WORK, OTHER, [*AWAY, "fault 1300 2450 8"]) == {"run twice": ["1.1"]}


def test_failover_may_take_back_who_had_begun() -> None:
    taken = verdict(PUSHED, AT_WORK, OTHER, AWAY, ["forgotten 1000 1100 a"])
    assert not any(taken.broken().values())
    assert taken.forgotten == {"run twice": 1}
    # A lost heartbeat is no excuse, nor is what was begun and ended when nothing could be lost.
    for other in ("1001 2400 a", "900 1100 b", "2600 3999 a", "5001 5100 a"):
        ledger = [f"forgotten {other}"]
        assert found(PUSHED, AT_WORK, OTHER, AWAY, ledger) == {"run twice": ["1.1"]}
    for lost in ("2500 2500 a", "3900 4000 a"):
        assert not found(PUSHED, AT_WORK, OTHER, AWAY, [f"forgotten {lost}"])


def test_what_outlived_an_outage_is_counted() -> None:
    outlived = verdict(PUSHED, [*AT_WORK, "acked 1.1 1 4001"], ["fault 1200 3000 -"])
    assert outlived.poisoned == {
        **dict.fromkeys(("pushed", "killed", "ended"), 0),
        "healthy": 1,
        "outlived": 1,
    }
    assert not verdict(PUSHED, AT_WORK, ["fault 1200 2200 -"]).poisoned["outlived"]
    assert not verdict(PUSHED, AT_WORK, ["fault 1200 4001 -"]).poisoned["outlived"]


DROPS = ["intend 1.1 - 1000 a 16 2 drop default", "accepted 1.1 1001"]
TWO_CRASHES = ["begun 1.1 1 1000 2000 a 1 0 7", "begun 1.1 2 2000 3000 a 1 1 7"]
DEAD = ["dead 1.1 2 a 0 2", "got 1.1 3 3000 4000 a 1 0", *THIRD]


def test_judge_finds_a_healthy_message_dead() -> None:
    assert found(DIES, ["healthy 1.1", *TWO_CRASHES], DEAD) == {"healthy dead": ["1.1"]}
    assert found(DIES, ["poison 1.1", *TWO_CRASHES], DEAD) == {}
    # It was failed: this is how the others may end.
    assert found(DIES, TWO_CRASHES, DEAD) == {}


def test_judge_finds_a_healthy_message_dropped() -> None:
    assert found(DROPS, ["healthy 1.1", *TWO_CRASHES]) == {"healthy dead": ["1.1"]}
    assert found(DROPS, ["healthy 1.1"]) == {"healthy dead": ["1.1"]}
    assert found(DROPS, ["healthy 1.1", GOT, *ACKED]) == {}
    # Its push was taken back by a failover.
    assert found(DROPS, ["healthy 1.1"], ["forgotten 900 1100 a"]) == {"lost": ["1.1"]}


def test_judge_finds_lost_poison() -> None:
    dying = [*TWO_CRASHES[:1], "dying 1.1 1 1001"]
    assert found(DIES, ["poison 1.1", *dying]) == {"lost": ["1.1"]}
    assert found(DIES, ["poison 1.1", *dying, *SECOND_DELIVERY]) == {"lost": ["1.1"]}
    assert found(DROPS, ["poison 1.1"]) == {"lost": ["1.1"]}
    assert found(DROPS, ["poison 1.1", *dying]) == {}
    assert verdict(DROPS, ["poison 1.1", *dying]).poisoned["killed"] == 1
    assert verdict(DROPS, ["poison 1.1", *dying]).poisoned["ended"] == 1


def test_judge_finds_a_dropped_message_again() -> None:
    again = ["begun 1.1 3 3000 4000 a 1 2 7", *THIRD]
    assert found(DROPS, ["healthy 1.1", *TWO_CRASHES, *again]) == {"miscounted": ["1.1"]}


def test_judge_finds_a_late_ack_refused_though_nobody_had_the_message() -> None:
    late = [GOT, "acking 1.1 1 2500 -", "lost 1.1 1 2501"]
    second = ["got 1.1 2 2502 3502 a 1 1", "acking 1.1 2 2600 -", "acked 1.1 2 2601"]
    assert found(PUSHED, late, second) == {"robbed": ["1.1"]}
    taken = [line.replace("2502", "2501") for line in second]
    assert found(PUSHED, late, taken) == {}
    # Somebody had it of whom no ledger knows.
    between = [line.replace("1.1 2", "1.1 3").replace("a 1 1", "a 1 2") for line in second]
    assert found(PUSHED, late, between) == {}


def test_late_ack_counts_as_long_as_nobody_has_the_message() -> None:
    assert found(PUSHED, [GOT, "acking 1.1 1 2500 -", "acked 1.1 1 2501"]) == {}


@pytest.mark.parametrize("verb", [RETRIED, RELEASED])
def test_judge_finds_two_holders_by_what_was_given_back_late(verb: list[str]) -> None:
    """It counted although another consumer had the message."""
    late = [GOT, verb[0].replace("1200", "2500"), verb[1].replace("1201", "2501")]
    second = ["got 1.1 2 2400 3400 a 1 1", "acking 1.1 2 2450 -", "acked 1.1 2 2451"]
    assert "two holders" in found(PUSHED, late, second)


# ---- Groups ----


def pushed(mark: str, due: int, group: str = "g") -> list[str]:
    return [
        f"intend {mark} - {due} a 0 0 - default",
        f"grouped {mark} {group}",
        f"accepted {mark} {due + 5}",
    ]


def taken(mark: str, now: int, number: int = 1) -> list[str]:
    return [
        f"got {mark} {number} {now} {now + 1000} a {number} 0",
        f"acking {mark} {number} {now + 1} -",
        f"acked {mark} {number} {now + 2}",
    ]


FIRST, LATER = pushed("1.1", 1000), pushed("2.1", 1010)


def test_group_comes_in_the_order_of_its_pushes() -> None:
    assert not found(FIRST, LATER, taken("1.1", 2000), taken("2.1", 2000))
    wrong = found(FIRST, LATER, taken("1.1", 2001), taken("2.1", 2000))
    assert wrong == {"out of order": ["1.1"]}


@pytest.mark.parametrize(
    "later",
    [
        pytest.param(pushed("2.1", 1005), id="pushed while the other one was"),
        pytest.param(pushed("2.1", 1010, "h"), id="of another group"),
        pytest.param([LATER[0], LATER[2]], id="delayed"),
    ],
)
def test_order_is_that_of_pushes_in_turn_of_one_group(later: list[str]) -> None:
    assert not found(FIRST, later, taken("1.1", 2001), taken("2.1", 2000))


def test_order_is_that_of_first_deliveries() -> None:
    # Nobody noted the first delivery: the consumer was killed before.
    again = [line.replace(" a 2 0", " a 1 1") for line in taken("1.1", 3001, 2)]
    assert not found(FIRST, LATER, again, taken("2.1", 2000))


def test_failover_may_turn_the_order() -> None:
    ledgers = [FIRST, LATER, taken("1.1", 2001), taken("2.1", 2000), ["forgotten 1500 1600 a"]]
    assert not found(*ledgers)
    assert verdict(*ledgers).forgotten == {"out of order": 1}


@pytest.mark.parametrize(
    ("lines", "is_wedged"),
    [
        pytest.param([], True, id="nothing happened"),
        pytest.param(["fault 4000 6000 -"], False, id="a fault"),
        pytest.param(["fault 1000 3000 -"], False, id="a fault shortly before"),
        pytest.param(["fault 1000 1500 -"], True, id="a fault long before"),
        pytest.param(["fault 4000 6000 7"], True, id="a fault of a worker"),
        pytest.param(["replaced 4000 6000 q"], False, id="a failover"),
        pytest.param(["replaced 4000 6000 other"], True, id="a failover of another queue"),
    ],
)
def test_group_that_waits_beside_idle_consumers(lines: list[str], is_wedged: bool) -> None:
    wrong = found(["wedged q 5000 6100"], lines)
    assert wrong == ({"wedged": ["q 5000 6100"]} if is_wedged else {})


def test_last_line_says_what_became_of_groups() -> None:
    line = verdict(FIRST, LATER, taken("1.1", 2001), taken("2.1", 2000), ["wedged q 1 2"]).line(1)
    assert " out_of_order=1 over_limit=0 wedged=1 " in line


# Of a group with one message at work at most, one of two, and one that comes ten times a second.
LIMITS = ["limits q one 1 0 0", "limits q two 2 0 0", "limits q rated 0 10 2"]


def work(group: str, id: str, now: int, stop: int = 0, number: int = 1) -> list[str]:
    """Delivered with a lease of a second; stop: when its end began."""
    delivered = f"at_work q {group} {id} {number} {now} {now + 1000}"
    return [delivered, *([f"ending {id} {number} {stop}"] if stop else [])]


@pytest.mark.parametrize(
    ("lines", "over"),
    [
        pytest.param([work("one", "a", 100, 200), work("one", "b", 200)], [], id="one by one"),
        pytest.param([work("one", "a", 100, 200), work("one", "b", 190)], ["one 190"], id="beside"),
        pytest.param([work("one", "a", 100), work("one", "b", 1090)], ["one 1090"], id="leased"),
        pytest.param([work("one", "a", 100), work("one", "b", 1100)], [], id="its lease ended"),
        pytest.param(
            [work("one", "a", 100, 1500), work("one", "b", 1100)], [], id="it ended too late"
        ),
        pytest.param(
            [["cancelling a 110"], work("one", "a", 100), work("one", "b", 120)],
            [],
            id="cancelled",
        ),
        pytest.param([work("two", "a", 100), work("two", "b", 100)], [], id="two of two"),
        pytest.param(
            [work("two", "a", 100), work("two", "b", 100), work("two", "c", 101)],
            ["two 101"],
            id="three of two",
        ),
        pytest.param(
            [work("one", "a", 100), work("one", "a", 1100, 1200, 2), work("one", "b", 1200)],
            [],
            id="again after its lease",
        ),
        pytest.param(
            [work("rated", "a", 100), work("rated", "b", 100), work("rated", "c", 200)],
            [],
            id="at the rate",
        ),
        pytest.param(
            [work("rated", "a", 100), work("rated", "b", 100), work("rated", "c", 190)],
            ["rated 190"],
            id="before its time",
        ),
        pytest.param(
            [work("two", "a", 100, 150), ["holding q two 160 500"], work("two", "b", 499)],
            ["two 499"],
            id="held",
        ),
        pytest.param(
            [work("two", "a", 100, 150), ["holding q two 160 500"], work("two", "b", 500)],
            [],
            id="the hold is over",
        ),
    ],
)
def test_group_has_no_more_than_its_limits_allow(lines: list[list[str]], over: list[str]) -> None:
    noted = [line for each in lines for line in each]
    assert found([*LIMITS, *noted]) == (
        {"over limit": [f"q {each}" for each in over]} if over else {}
    )
    assert found([*LIMITS, *noted], ["forgotten 90 150 q"]) == {}
