"""The judge of other systems' queues: a check that could not find a fault would prove nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from foreign_verdict import Verdict, judge

PUSHED = ["intend 1.1 1000 q 1.1", "accepted 1.1 1001"]
BOTH = ["intend 1.1 1000 q 1.1", "intend 1.2 1000 q 1.1"]
ASKED = "asking 5 q"
GOT = ["asking 5 q", "got 1.1 1 1500 1000 3000"]
DELETED = ["deleting 1.1 1 1600 -", "deleted 1.1 1 1601"]
RELEASED = ["releasing 1.1 1 1600 2000", "released 1.1 1 1601"]
AGAIN = ["asking 5 q", "got 1.1 2 3000 1000 5000", "deleting 1.1 2 3001 -", "deleted 1.1 2 3002"]
TOOK = ["asking 5 q", "took 1.1 1500 q"]
GAMBLED = ["intend 1.1 1000 away 1.1", "accepted 1.1 1001"]
STALE = ["deleting 1.1 1 3500 -", "lost 1.1 1 3501"]


def verdict(*ledgers: list[str]) -> Verdict:
    redisson = any("took" in line or "away" in line for lines in ledgers for line in lines)
    gambled = "away" if redisson else ""
    return judge(([f"{line}\n" for line in lines] for lines in ledgers), gambled)


def found(*ledgers: list[str]) -> dict[str, list[str]]:
    """What is broken, by name."""
    return {name: marks for name, marks in verdict(*ledgers).broken().items() if marks}


@pytest.mark.parametrize(
    "ledgers",
    [
        pytest.param([PUSHED, [*GOT, *DELETED, "asking 1 q", "empty"]], id="run"),
        pytest.param([PUSHED, GOT, AGAIN], id="its worker was killed"),
        pytest.param([PUSHED, [*GOT, "deleting 1.1 1 1600 -"], AGAIN], id="perhaps deleted"),
        pytest.param([PUSHED, [*GOT, "deleting 1.1 1 1600 -"]], id="deleted, and nobody was told"),
        pytest.param([PUSHED, [*GOT, *STALE], AGAIN], id="too late"),
        pytest.param(
            [PUSHED, [*GOT, *RELEASED], ["asking 1 q", *AGAIN[1:]]], id="released, and run again"
        ),
        pytest.param(
            [PUSHED, [*GOT, RELEASED[0]], ["got 1.1 2 2000 1000 3000", AGAIN[2], AGAIN[3]]],
            id="released, and nobody was told",
        ),
        pytest.param([PUSHED, ["asking 1 q"], AGAIN], id="delivered to a worker that was killed"),
        pytest.param(
            [PUSHED, ["asking 1 q", "error -12 pop late", ASKED, "empty"], AGAIN],
            id="delivered to a worker that lost the answer",
        ),
        pytest.param([[*BOTH, "unknown 1.1 9", "unknown 1.2 9"]], id="not stored"),
        pytest.param([PUSHED, TOOK], id="taken"),
        pytest.param([GAMBLED, ["asking 1 away"]], id="taken by one that was killed"),
        pytest.param([[*PUSHED, "removing 1.1", "removed 1.1"]], id="removed"),
        pytest.param([[*PUSHED, "removing 1.1", "absent 1.1"], TOOK], id="taken before"),
        pytest.param([[*PUSHED, "removing 1.1"], TOOK], id="not known to be removed"),
    ],
)
def test_what_may_be(ledgers: list[list[str]]) -> None:
    assert found(*ledgers) == {}


@pytest.mark.parametrize(
    ("promise", "ledgers"),
    [
        pytest.param("lost", [PUSHED, ["asking 1 q", "empty"]], id="never seen"),
        pytest.param("lost", [PUSHED, GOT], id="never deleted"),
        pytest.param("lost", [PUSHED, [*GOT, *STALE]], id="deleted too late"),
        pytest.param("lost", [PUSHED, [*GOT, *RELEASED]], id="released, and gone"),
        pytest.param("lost", [[*PUSHED, "removing 1.1", "absent 1.1"]], id="not found, and gone"),
        pytest.param("lost", [GAMBLED, ["asking 1 away", "empty"]], id="no taker was killed"),
        pytest.param("lost", [GAMBLED, ["asking 1 q"]], id="of another queue"),
        pytest.param(
            "lost",
            [GAMBLED, ["asking 1 away", "error -12 take late", "asking 1 away", "empty"]],
            id="its taker lost the answer, and lives",
        ),
        pytest.param("doubled", [PUSHED, [*GOT, *DELETED], AGAIN], id="after its delete"),
        pytest.param("doubled", [PUSHED, [*GOT, *DELETED], GOT], id="the same delivery twice"),
        pytest.param("doubled", [PUSHED, GOT, ["got 1.1 2 2999 1000 3999"]], id="held by two"),
        pytest.param(
            "doubled", [PUSHED, GOT, ["got 1.1 2 9000 1000 3999"]], id="held by two, and told late"
        ),
        pytest.param(
            "doubled",
            [PUSHED, [*GOT, *RELEASED], ["got 1.1 2 1599 1000 3000"]],
            id="before its release",
        ),
        pytest.param("doubled", [PUSHED, TOOK, TOOK], id="taken twice"),
        pytest.param(
            "doubled", [[*PUSHED, "removing 1.1", "removed 1.1"], TOOK], id="removed, and taken"
        ),
        pytest.param("early", [PUSHED, ["took 1.1 999 q"]], id="taken early"),
        pytest.param("early", [PUSHED, ["got 1.1 1 999 1000 3000", *DELETED]], id="run early"),
        pytest.param(
            "early",
            [PUSHED, ["got 1.1 1 1500 1001 2000", *DELETED]],
            id="reserved early, and told late",
        ),
        pytest.param(
            "early",
            [PUSHED, [*GOT, *RELEASED], ["got 1.1 2 1999 1000 3000", *AGAIN[2:]]],
            id="before the time of its release",
        ),
        pytest.param("torn", [[*BOTH, "unknown 1.1 9", "unknown 1.2 9"], TOOK], id="one of two"),
        pytest.param("torn", [BOTH, TOOK], id="one of two of a killed producer"),
        pytest.param("phantom", [[PUSHED[0], "refused 1.1 9"], TOOK], id="refused"),
        pytest.param("phantom", [TOOK], id="pushed by nobody"),
        pytest.param(
            "robbed", [PUSHED, [*GOT, STALE[0], "lost 1.1 1 2999"], AGAIN], id="lost before its end"
        ),
        pytest.param(
            "late",
            [["intend calm.1 1000 q calm.1", "accepted calm.1 1"], ["took calm.1 6001 q"]],
            id="after the last fault",
        ),
        pytest.param("odd", [PUSHED, AGAIN], id="an attempt that nobody asked for"),
        pytest.param("odd", [["error -20 push why"]], id="an error that no fault explains"),
        pytest.param("odd", [["deleted 1.1 1 9"]], id="deleted without a delivery"),
        pytest.param("odd", [["got 1.1 x 1 1 1"]], id="no number"),
    ],
)
def test_what_must_not_be(promise: str, ledgers: list[list[str]]) -> None:
    assert promise in found(*ledgers)


def test_what_is_counted() -> None:
    ledgers = [PUSHED, [*GOT, *STALE, "asking 7 q"], AGAIN, ["error -12 pop late"]]
    whole = verdict(*ledgers)
    assert (whole.accepted, whole.deliveries, whole.stale, whole.late_ms) == (1, 2, 1, 500)
    assert (whole.unseen, whole.explained) == (0, 7)
    assert dict(whole.done) == {"deleted": 1}
    assert dict(whole.errors) == {"-12 pop": 1}
    assert whole.line(3) == "chaos: faults=3 messages=1 lost=0 doubled=0 early=0"
