"""The model finds faults: each mutation of a script is caught within a bounded number of steps."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import Phase
from hypothesis.errors import Flaky

sys.path.insert(0, str(Path(__file__).parent))

from machine import run
from raw import sources
from world import Difference, scripts_alone

from private_server import Server

EXAMPLES = 500

# script, what is taken out of its expanded text, what comes in its place
MUTATIONS = {
    "ack_forgets_that_a_lease_ends": (
        "ack",
        "return stop and tonumber(stop) > now",
        "return stop",
    ),
    "ack_push_forgets_that_a_lease_ends": (
        "ack_push",
        "return stop and tonumber(stop) > now",
        "return stop",
    ),
    "bury_keeps_what_is_to_be_dropped": ("bury", "if e and e.drop then", "if false then"),
    "bury_overwrites_a_message_of_the_dead_letter_queue": (
        "bury",
        "redis.call('HSETNX', other.msg, id, redis.call('HGET', keys.msg, id)) == 1",
        "redis.call('HSET', other.msg, id, redis.call('HGET', keys.msg, id)) < 2",
    ),
    "cancel_leaves_the_lease": (
        "cancel",
        "ipairs({ delayed, leased, dead })",
        "ipairs({ delayed, dead })",
    ),
    "cancel_tells_of_no_holder": ("cancel", "state = i + 1", "state = 1"),
    "extend_revives_an_ended_lease": (
        "extend",
        "return stop and tonumber(stop) > now",
        "return stop",
    ),
    "kick_keeps_the_crashes": (
        "kick",
        "past.forgiven, past.crashes = past.before, 0",
        "past.forgiven = past.before - past.crashes",
    ),
    "kick_all_gives_back_what_died_later": (
        "kick_all",
        "(before == 0 or time < before)",
        "true",
    ),
    "peek_shows_the_lines_out_of_order": (
        "peek",
        "{ KEYS[3], KEYS[2], KEYS[4] }",
        "{ KEYS[2], KEYS[3], KEYS[4] }",
    ),
    "purge_leaves_the_past": ("purge", "redis.call('HDEL', keys.past, unpack(ids))", ""),
    "push_overwrites_a_living_message": (
        "push",
        "redis.call('HSETNX', keys.msg, id, envelope) == 1",
        "redis.call('HSET', keys.msg, id, envelope) < 2",
    ),
    "push_notes_a_later_time": ("push", "if first and first <= at then", "if first then"),
    "push_sets_no_window": ("push", "if unique_ms > 0 then", "if false then"),
    "push_leaves_the_lease_of_what_it_replaces": (
        "push",
        "ipairs({ keys.delayed, keys.leased, keys.dead })",
        "ipairs({ keys.delayed, keys.dead })",
    ),
    "push_of_another_body_loses_the_place": (
        "push",
        "local stays = keep and",
        "local stays = false and",
    ),
    "release_counts_as_a_failure": (
        "release",
        "story.forgiven = story.forgiven + 1",
        "story.forgiven = story.forgiven",
    ),
    "release_goes_to_the_end": (
        "release",
        "redis.call('LPUSH', keys[line], ticket)",
        "redis.call('RPUSH', keys[line], ticket)",
    ),
    "reschedule_delays_what_is_due": ("reschedule", "if at > now then", "if true then"),
    "reserve_brings_back_at_the_front": (
        "reserve",
        "line_up(keys, back)",
        "for i = #back, 1, -1 do redis.call('LPUSH', keys[line_of(back[i])], back[i]) end",
    ),
    "reserve_counts_a_crash_as_a_failure": (
        "reserve",
        "before + 1, tag, past.crashes + 1",
        "before + 1, tag, past.crashes",
    ),
    "reserve_delivers_what_crashed_too_often": (
        "reserve",
        "past.crashes >= e.max_crashes",
        "past.crashes > e.max_crashes",
    ),
    "reserve_delivers_what_has_expired": (
        "reserve",
        "if e and e.expires and e.expires <= now then",
        "if false then",
    ),
    "reserve_forgets_a_pause": (
        "reserve",
        "paused = redis.call('HEXISTS', info, 'paused') == 1",
        "paused = false",
    ),
    "reserve_forgets_the_error_of_an_ended_lease": (
        "reserve",
        "past.before, past.tag, past.crashes = before + 1, tag, past.crashes + 1",
        "past.before, past.tag, past.crashes, past.text = before + 1, tag, past.crashes + 1, ''",
    ),
    "reserve_gives_an_old_ticket_the_new_message": (
        "reserve",
        "elseif envelope and (not e or e.tag == tags[k]) then",
        "elseif envelope then",
    ),
    "reserve_takes_what_is_not_plain_for_it": (
        "reserve",
        "if flags ~= 0 or version ~= 0xD1 or #envelope < 4 or #ticket ~= 22 then",
        "if version ~= 0xD1 or #envelope < 4 or #ticket ~= 22 then",
    ),
    "reserve_of_few_keys_keeps_what_it_does_not_take": (
        "reserve",
        "call('LPUSH', ready, tickets[i])",
        "call('LLEN', ready)",
    ),
    "reserve_settles_a_batch_with_what_was_not_in_it": (
        "reserve",
        "together = together and there[argv[i]]",
        "together = together",
    ),
    "reserve_retries_what_it_acknowledged": (
        "reserve",
        "if not found.id or redis.call('ZREM', keys.leased, ticket) == 0 then",
        "if not found.id then",
    ),
    "reserve_settles_an_ended_lease": (
        "reserve",
        "return stop and tonumber(stop) > now",
        "return stop",
    ),
    "reserve_settles_what_is_lost": ("reserve", "if lost and lost[i] then", "if false then"),
    "reserve_settles_without_counting_the_delivery": (
        "reserve",
        "past.before, past.tag = before + 1, tag",
        "past.before, past.tag = before, tag",
    ),
    "reserve_takes_from_the_end": (
        "reserve",
        "redis.pcall('LPOP', lines[line], asked)",
        "redis.pcall('RPOP', lines[line], asked)",
    ),
    "reserve_takes_high_after_normal": (
        "reserve",
        "{ KEYS[7], ready, KEYS[8] }",
        "{ ready, KEYS[7], KEYS[8] }",
    ),
    "retry_does_not_count_the_delivery": (
        "retry",
        "past.before, past.tag = before + 1, tag",
        "past.before, past.tag = before, tag",
    ),
    "retry_goes_one_attempt_too_far": (
        "retry",
        "failed >= e.max_attempts",
        "failed > e.max_attempts",
    ),
    "retry_grows_the_backoff_too_early": (
        "retry",
        "2 ^ math.min(failed - 1, 40)",
        "2 ^ math.min(failed, 40)",
    ),
    "retry_forgets_the_cap_of_a_backoff": (
        "retry",
        "math.min(ms, cap > 0 and cap or 4102444800000)",
        "ms",
    ),
    "retry_sends_the_failures_along_to_the_dead_letter_queue": (
        "retry",
        "past.forgiven, past.crashes = past.before, 0",
        "past.crashes = 0",
    ),
    "unlock_needs_no_token": (
        "unlock",
        "redis.call('GET', lock) == ARGV[4]",
        "redis.call('EXISTS', lock) == 1",
    ),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_mutation_is_caught(name: str) -> None:
    script, old, new = MUTATIONS[name]
    scripts = sources()
    assert old in scripts[script], f"{script}.lua has it no more: {old}"
    scripts[script] = scripts[script].replace(old, new)
    with Server() as server:
        world = scripts_alone(server, scripts)
        try:
            # Flaky: what the milliseconds of the clock decide need not be so again. Some faults
            # show in few of the examples only: then others are drawn.
            with pytest.raises((Difference, Flaky)):
                for draw in range(4):
                    run(world, EXAMPLES, derandomize=draw == 0, phases=[Phase.generate])
        finally:
            world.close()
        assert world.differences
        print(f"{name}: caught within {world.steps} steps")
