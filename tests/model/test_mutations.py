"""The model finds faults: each mutation of a script is caught within a bounded number of steps."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis.errors import Flaky
from hypothesis.stateful import run_state_machine_as_test

sys.path.insert(0, str(Path(__file__).parent))

from machine import Difference, Phase, machine, options, scripts_alone
from raw import sources

from private_server import Server

EXAMPLES = 1000

# script, what is taken out of its expanded text, what comes in its place
MUTATIONS = {
    "ack_forgets_that_a_lease_ends": (
        "ack",
        "return stop and tonumber(stop) > now",
        "return stop",
    ),
    "retry_does_not_count_the_delivery": (
        "retry",
        "story.text = before + 1, stamp",
        "story.text = before, stamp",
    ),
    "retry_goes_one_attempt_too_far": (
        "retry",
        "story.forgiven >= max_attempts",
        "story.forgiven > max_attempts",
    ),
    "reserve_delivers_what_is_used_up": (
        "reserve",
        "past_read(story).forgiven >= max_attempts",
        "past_read(story).forgiven > max_attempts",
    ),
    "reserve_forgets_the_error_of_an_ended_lease": (
        "reserve",
        "past.crashes = before + 1, stamp, past.crashes + 1",
        "past.crashes, past.text = before + 1, stamp, past.crashes + 1, ''",
    ),
    "reserve_brings_back_at_the_front": (
        "reserve",
        "redis.call('RPUSH', keys.ready, unpack(back))",
        "redis.call('LPUSH', keys.ready, unpack(back))",
    ),
    "reserve_takes_from_the_end": (
        "reserve",
        "redis.call('LPOP', ready",
        "redis.call('RPOP', ready",
    ),
    "reserve_gives_an_old_ticket_the_new_message": (
        "reserve",
        "elseif envelope and stamp == stamps[k] then",
        "elseif envelope then",
    ),
    "push_overwrites_a_living_message": (
        "push",
        "redis.call('HSETNX', msg, id, envelope) == 0",
        "redis.call('HSET', msg, id, envelope) == 2",
    ),
    "cancel_leaves_the_lease": (
        "cancel",
        "ipairs({ delayed, leased, dead })",
        "ipairs({ delayed, dead })",
    ),
    "extend_revives_an_ended_lease": (
        "extend",
        "return stop and tonumber(stop) > now",
        "return stop",
    ),
    "push_notes_a_later_time": ("push", "if not first or at < first then", "if not first then"),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_mutation_is_caught(name: str) -> None:
    script, old, new = MUTATIONS[name]
    scripts = sources()
    assert old in scripts[script]
    scripts[script] = scripts[script].replace(old, new)
    with Server() as server:
        world = scripts_alone(server, scripts)
        try:
            # Flaky: what the milliseconds of the clock decide need not be so again.
            with pytest.raises((Difference, Flaky)):
                run_state_machine_as_test(
                    machine(world),
                    settings=options(EXAMPLES, derandomize=True, phases=[Phase.generate]),
                )
        finally:
            world.close()
        assert world.differences
        print(f"{name}: caught within {world.steps} steps")
