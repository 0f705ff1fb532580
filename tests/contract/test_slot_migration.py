"""The scripts while the slot of their queue moves to another node of a cluster, key by key."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from recorder import Call
from slot_migration import Script, Trials, recorded, report, runners, scripts


@pytest.fixture(scope="module")
def trials() -> Iterator[Trials]:
    with runners() as both:
        yield Trials(*both)


@pytest.fixture(scope="module")
def calls() -> list[Call]:
    return recorded()


@pytest.mark.parametrize("most", [100, pytest.param(1_000_000, marks=pytest.mark.slow, id="all")])
@pytest.mark.parametrize("script", [pytest.param(script, id=script.name) for script in scripts()])
def test_script_while_its_slot_moves(
    trials: Trials, calls: list[Call], script: Script, most: int
) -> None:
    own = [call for call in calls if call.sha1 == script.sha1]
    step = -(-len(own) // most) or 1
    if wrong := report(trials, script, own[::step]):
        pytest.fail(wrong, pytrace=False)


PLANTED = "local ready = KEYS[1]\nlocal call = redis.call\n"


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("call('LPOP', KEYS[1]) return call('LLEN', KEYS[1])", "left in no key"),
        ("call('LPOP', KEYS[1]) return call('RPUSH', KEYS[1], 'x')", "left in ready"),
        ("call('LPOP', KEYS[1]) return redis.pcall('RPUSH', KEYS[1], 'x')", "left in ready"),
        ("return call('LPOP', KEYS[1])", ""),
        ("call('LREM', KEYS[1], 1, 'none') return call('RPUSH', KEYS[1], 'x')", ""),
        ("call('RPUSH', KEYS[1], 'x') return call('LPOP', KEYS[1])", ""),
    ],
)
def test_script_that_goes_wrong_is_found(
    trials: Trials, calls: list[Call], body: str, fault: str
) -> None:
    key = b"dueq:{planted}:ready"
    call = replace(
        calls[0], situation="planted", keys=(key,), arguments=(), before=((None, False),)
    )
    wrong, touched = trials.run(Script("planted", PLANTED + body), call)
    assert len(wrong) == bool(fault)
    assert all(fault in line and "the slot leaves" in line for line in wrong)
    assert bool(touched) == bool(fault)
