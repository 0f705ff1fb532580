"""What the chaos run's judge says of kept ends and batches."""

from __future__ import annotations

import pytest
from test_ledger import found, verdict

# A batch of queue a, with a member there and one in queue g.
OPENED = ["opening b 1000 a", "opened b 1001"]
STORED = [
    *("member m1 b a 60000 1010", "stored m1 1012"),
    *("member m2 b g 60000 1010", "stored m2 1012"),
]
BATCH = [*OPENED, *STORED]


def acked(id: str, begin: int, number: int = 1, result: str = "r") -> list[str]:
    return [f"giving {id} {number} {begin} {result}", f"given {id} {number} {begin + 1}"]


def ended(id: str, outcome: str, result: str = "-") -> str:
    return f"final {id} 50000 50001 0 {outcome} {result} -"


def called(name: str, time: int, number: int = 1, id: str = "c") -> list[str]:
    """A callback that is delivered, and acknowledged."""
    callback = f"b {name} {id} {number}"
    return [f"called {callback} {time} a", f"heard {callback} {time + 2}"]


BOTH = [*acked("m1", 1100), *acked("m2", 1200)]
GOOD = [*BATCH, *BOTH, ended("m1", "acked", "r"), ended("m2", "acked", "r")]
BAD = [*BATCH, *acked("m1", 1100), ended("m1", "acked", "r"), ended("m2", "dead")]
THEN, CATCH, FINALLY = called("then", 1202), called("catch", 1202), called("finally", 1202)


@pytest.mark.parametrize(
    "ledgers",
    [
        pytest.param([GOOD, THEN, FINALLY], id="all acknowledged"),
        pytest.param([BAD, CATCH, FINALLY], id="one died"),
        pytest.param(
            [[*BAD[:-1], ended("m2", "expired")], FINALLY], id="one was acknowledged, one expired"
        ),
        pytest.param([OPENED, THEN, FINALLY], id="no members"),
        pytest.param([OPENED[:1]], id="not known to be open"),
        pytest.param([OPENED[:1], THEN, FINALLY], id="open, and nobody was told"),
        pytest.param(
            [[*GOOD, "member m3 b a 60000 1020", ended("m3", "absent")], THEN, FINALLY],
            id="a member that was never stored",
        ),
        pytest.param(
            [GOOD, THEN, FINALLY[:1], called("finally", 3000, 2)],
            id="a callback whose consumer was killed",
        ),
        # The first consumer was stopped before it noted what it had.
        pytest.param(
            [GOOD, THEN, called("finally", 3000, 2), FINALLY[:1]],
            id="a callback whose consumer was stopped",
        ),
    ],
)
def test_judge_accepts_callbacks_that_come_once(ledgers: list[list[str]]) -> None:
    assert found(*ledgers) == {}


@pytest.mark.parametrize(
    ("ledgers", "number"),
    [
        pytest.param([GOOD, THEN], 1, id="finally"),
        pytest.param([GOOD, FINALLY], 1, id="then"),
        pytest.param([BAD, FINALLY], 1, id="catch"),
        pytest.param([BAD], 2, id="catch and finally"),
        pytest.param([OPENED], 2, id="of a batch without members"),
        pytest.param([[*GOOD[:1], *GOOD[2:]], THEN], 1, id="of a batch with a member"),
    ],
)
def test_judge_finds_lost_callbacks(ledgers: list[list[str]], number: int) -> None:
    assert found(*ledgers) == {"callbacks lost": ["b"] * number}


def test_failover_may_lose_a_batch_without_members() -> None:
    """A push of a member waits for the replica, and an opening does not."""
    assert found(OPENED, ["forgotten 1001 1100 a"]) == {}
    assert verdict(OPENED, ["forgotten 1001 1100 a"]).forgotten == {"callbacks lost": 2}
    assert found(OPENED, ["forgotten 1001 1100 g"]) == {"callbacks lost": ["b", "b"]}
    assert found(GOOD, THEN, ["forgotten 900 1300 a,g"]) == {"callbacks lost": ["b"]}


@pytest.mark.parametrize(
    "again",
    [
        pytest.param(called("finally", 1300, 2), id="after its ack"),
        pytest.param(called("finally", 1300), id="pushed again under its id"),
        pytest.param(called("finally", 1300, 1, "d"), id="pushed again under another id"),
    ],
)
def test_judge_finds_doubled_callbacks(again: list[str]) -> None:
    assert found(GOOD, THEN, FINALLY, again) == {"callbacks doubled": ["b"]}


@pytest.mark.parametrize("id", ["c", "d"])
def test_judge_finds_doubled_callbacks_of_which_no_ack_is_known(id: str) -> None:
    again = called("finally", 1300, 1, id)
    assert found(GOOD, THEN, FINALLY[:1], again) == {"callbacks doubled": ["b"]}


def test_judge_finds_callbacks_that_should_not_come() -> None:
    assert found(BAD, THEN, CATCH, FINALLY) == {"callbacks doubled": ["b"]}
    assert found(GOOD, THEN, CATCH, FINALLY) == {"callbacks doubled": ["b"]}


def test_judge_finds_callbacks_before_the_last_end() -> None:
    assert found(GOOD, called("then", 1199), FINALLY) == {"early": ["b"]}
    assert found(GOOD, THEN, called("finally", 1199)) == {"early": ["b"]}


def test_failover_takes_callbacks_back() -> None:
    ledgers = [GOOD, THEN, FINALLY, called("finally", 1300)]
    for window in ("1200 1201 a", "1203 1250 a"):
        taken = verdict(*ledgers, [f"forgotten {window}"])
        assert not any(taken.broken().values())
        assert taken.forgotten == {"callbacks doubled": 1}
    # Before the last member ended, after the ack, and in another queue.
    for window in ("1000 1199 a", "1205 1300 a", "1200 1300 g"):
        assert found(*ledgers, [f"forgotten {window}"]) == {"callbacks doubled": ["b"]}


# A message that is in no batch. Its end is kept for three seconds.
PLAIN = ["member m - a 3000 1000", "stored m 1001", *acked("m", 1100)]


def asked(begin: int, outcome: str, result: str = "-", wait: int = 0) -> list[str]:
    """What a process asked that is worker 7, which was told 5 ms after its wait."""
    return [f"asked m {begin} {begin + wait + 5} {wait} {outcome} {result} 7"]


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(asked(1101, "acked", "r"), id="at once"),
        pytest.param(asked(1095, "alive"), id="before"),
        pytest.param(asked(900, "absent"), id="before the push"),
        pytest.param(asked(1050, "acked", "r", 3000), id="by a wait"),
        pytest.param(asked(1050, "alive", "-", 1050), id="by a wait that ended about then"),
        pytest.param(asked(4100, "absent"), id="when its time was over"),
        pytest.param(asked(4096, "absent"), id="when its time may have been over"),
    ],
)
def test_judge_accepts_results_that_are_kept(lines: list[str]) -> None:
    assert found(PLAIN, lines) == {}


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(asked(1101, "absent"), id="not known"),
        pytest.param(asked(1101, "alive"), id="not ended"),
        pytest.param(asked(1101, "dead"), id="dead"),
        pytest.param(asked(1101, "acked"), id="without the result"),
        pytest.param(asked(4090, "absent"), id="before its time was over"),
        pytest.param(asked(1050, "alive", "-", 1051), id="by a wait"),
    ],
)
def test_judge_finds_lost_results(lines: list[str]) -> None:
    assert found(PLAIN, lines) == {"results lost": ["m"]}


def test_judge_expects_no_result_of_an_ack_that_was_not_answered() -> None:
    for outcome in ("alive", "dead", "absent"):
        assert found(PLAIN[:-1], asked(1200, outcome)) == {}
    assert found(PLAIN[:-1], asked(1200, "acked", "r")) == {}
    assert found(PLAIN[:-1], asked(1200, "acked")) == {"results lost": ["m"]}


def test_judge_finds_lost_results_in_the_end() -> None:
    lost = [*BATCH, *BOTH, ended("m1", "acked", "r"), ended("m2", "expired")]
    assert found(lost, FINALLY) == {"results lost": ["m2"]}


@pytest.mark.parametrize(
    ("line", "is_lost"),
    [
        pytest.param("fault 1200 1300 -", False, id="the server was away"),
        pytest.param("fault 1200 1300 7", False, id="the one who waited was stopped"),
        pytest.param("fault 1200 1300 8", True, id="another one was stopped"),
        pytest.param("fault 5000 5100 -", True, id="the server was away later"),
        pytest.param("moved 1200 1300 a", False, id="the slot moved"),
        pytest.param("moved 1200 1300 g", True, id="another slot moved"),
    ],
)
def test_only_a_fault_of_its_time_excuses_a_lost_wait(line: str, is_lost: bool) -> None:
    expected = {"results lost": ["m"]} if is_lost else {}
    assert found(PLAIN, asked(1050, "alive", "-", 3000), [line]) == expected


def test_failover_takes_results_back() -> None:
    lost = [PLAIN, asked(1200, "alive")]
    for window in ("1050 1100 a", "1203 1250 a"):
        taken = verdict(*lost, [f"forgotten {window}"])
        assert not any(taken.broken().values())
        assert taken.forgotten == {"results lost": 1}
    for window in ("1050 1100 g", "1102 1199 a", "1206 1300 a"):
        assert found(*lost, [f"forgotten {window}"]) == {"results lost": ["m"]}


@pytest.mark.parametrize("outcome", ["absent", "alive"])
def test_judge_finds_lost_members(outcome: str) -> None:
    lost = [*BATCH, *acked("m1", 1100), ended("m1", "acked", "r"), ended("m2", outcome)]
    calls = [*THEN, *FINALLY] if outcome == "absent" else []
    assert found([*lost, *calls]) == {"lost": ["m2"]}


def test_judge_finds_what_was_never_pushed() -> None:
    assert found(FINALLY) == {"phantom": ["b"]}
    assert found(asked(1000, "dead")) == {"phantom": ["m"]}
    assert found(PLAIN, asked(1200, "acked", "s")) == {"phantom": ["m"]}
    assert found(PLAIN[:2], asked(1200, "acked")) == {"phantom": ["m"]}


@pytest.mark.parametrize(
    "line", ["opened b 5", "given m 1 5", "heard b then c 1 5", "member m b a"]
)
def test_judge_finds_what_makes_no_sense_of_batches(line: str) -> None:
    assert found([line])["odd"] == [line]


def test_last_line_says_what_became_of_batches() -> None:
    result = verdict(GOOD, THEN, PLAIN, asked(1101, "absent"), called("catch", 1300))
    assert result.line(1).endswith(" callbacks_lost=1 callbacks_doubled=1 results_lost=1")
    assert result.kept == {
        "batches": 1,
        "then": 1,
        "catch": 1,
        "finally": 0,
        "results": 3,
        "asked": 1,
    }
    assert "batches 1: then 1, catch 1, finally 0; results 3, asked 1" in result.summary()


def test_lost_without_durability_is_lost() -> None:
    result = verdict(GOOD, THEN, ["intend 1.1 - 1000 a 0 0 - default", "accepted 1.1 1001"])
    assert result.not_durable() == "lost 1, callbacks lost 1"
