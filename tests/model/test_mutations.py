"""The tests find faults: each mutation of a script is caught.

That of a script that stores one draft is caught by the table of test_fast_push.py, any other by the
model within a bounded number of steps.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import Phase
from hypothesis.errors import Flaky

sys.path.insert(0, str(Path(__file__).parent))

from machine import Machine, run
from raw import RawDriver
from test_due_turns import compare_twins
from test_fast_push import TABLE, compare
from world import Difference, scripts_alone

from private_server import Server
from script_sources import sources

# The script, what is taken out of its expanded text, what comes in its place.
Mutation: TypeAlias = tuple[str, str, str]

EXAMPLES = 500
# Some faults of these show in one of a thousand of the model's sequences, and in each run of the
# table.
IN_THE_TABLE = ("push_own", "push_own_later", "push_replace")

MUTATIONS: dict[str, Mutation] = {
    "ack_finishes_what_it_does_not_hold": (
        "ack",
        "if left == 1 then",
        "if true then",
    ),
    "ack_full_finishes_what_it_does_not_hold": (
        "ack_full",
        "local ours = stop and not seen[ticket]",
        "local ours = not seen[ticket]",
    ),
    "ack_full_keeps_the_attempts": (
        "ack_full",
        "defer_removal('HDEL', attempts, id)",
        "",
    ),
    "ack_outbox_forgets_the_delay": (
        "ack_outbox",
        "string.format('@%d', draft.due)",
        "'@0'",
    ),
    "ack_outbox_finishes_what_it_does_not_hold": (
        "ack_outbox",
        "if not (envelope and redis.call('ZSCORE', leased, ticket)) then",
        "if not envelope then",
    ),
    "ack_outbox_keeps_the_message": (
        "ack_outbox",
        "defer_forget(id)\ndefer_removal('ZREM'",
        "defer_removal('ZREM'",
    ),
    "ack_outbox_notes_no_event": (
        "ack_outbox",
        "if at < (tonumber(state[i] or '') or math.huge) then",
        "if false then",
    ),
    "ack_push_finishes_what_it_does_not_hold": (
        "ack_push",
        "if not (envelope and redis.call('ZSCORE', leased, ticket)) then",
        "if not envelope then",
    ),
    "ack_push_removes_what_follows_itself": (
        "ack_push",
        "if redis.call('HGET', msg, id) == envelope then",
        "if true then",
    ),
    "bury_keeps_what_is_to_be_dropped": (
        "bury",
        "if not out and e and e.drop then",
        "if false then",
    ),
    "bury_notes_no_event": (
        "bury",
        "if at < (tonumber(state[i] or '') or math.huge) then",
        "if false then",
    ),
    "bury_sends_to_its_own_queue": (
        "bury",
        "e.dead_letter ~= queue_name()",
        "e.dead_letter ~= ''",
    ),
    "cancel_full_leaves_the_lease": (
        "cancel_full",
        "if place > 0 and place < 4 then",
        "if place > 0 and place < 4 and place ~= 2 then",
    ),
    "cancel_full_takes_from_the_outbox": (
        "cancel_full",
        "{ delayed, leased, dead, outbox }, {}, {}, 0",
        "{ delayed, leased, dead }, {}, {}, 0",
    ),
    "cancel_full_tells_of_no_holder": (
        "cancel_full",
        "place < 4 and place + 1 or 0",
        "place < 4 and 1 or 0",
    ),
    "cancel_takes_what_is_ready_for_delayed": (
        "cancel",
        "if redis.call('ZREM', delayed, ticket) == 0 then",
        "if redis.call('ZREM', delayed, ticket) == 7 then",
    ),
    "extend_leases_what_it_does_not_hold": (
        "extend",
        "local ours = stop and not seen[ticket]",
        "local ours = not seen[ticket]",
    ),
    "checkpoint_keeps_the_earlier_cursor": (
        "checkpoint",
        "name ~= 'cursor' and string.sub(envelope, at, after - 1) or nil",
        "string.sub(envelope, at, after - 1)",
    ),
    "checkpoint_takes_a_flag_away": (
        "checkpoint",
        "(headers ~= '' and 4 or 0)",
        "0",
    ),
    "kick_all_gives_back_what_died_later": (
        "kick_all",
        "(before == 0 or time < before)",
        "true",
    ),
    "kick_keeps_the_crashes": (
        "kick",
        "m.had.forgiven, m.had.crashes = m.had.deliveries, 0",
        "m.had.forgiven = m.had.deliveries - m.had.crashes",
    ),
    "peek_shows_the_lanes_out_of_order": (
        "peek",
        "{ high, ready, low }",
        "{ ready, high, low }",
    ),
    "purge_leaves_the_attempts": (
        "purge",
        "defer_removal('HDEL', attempts, id)",
        "",
    ),
    "push_later_notes_a_later_time": (
        "push_later",
        "if not (noted and #noted == #score and noted <= score) then",
        "if not noted then",
    ),
    "push_full_notes_a_later_time": (
        "push_full",
        "if first and first <= at then",
        "if first then",
    ),
    "push_full_overwrites_a_living_message": (
        "push_full",
        "local existing = redis.pcall('HMGET', msg, unpack(ids))",
        "local existing = {}",
    ),
    "push_full_sets_no_window": (
        "push_full",
        "if draft.window > 0 then",
        "if false then",
    ),
    "push_own_leaves_the_ticket_of_what_it_refuses": (
        "push_own",
        "redis.call('LTRIM', ready, '0', '-2')",
        "",
    ),
    "push_own_overwrites_a_living_message": (
        "push_own",
        "redis.pcall('HSETNX', msg, id, envelope)",
        "redis.pcall('HSET', msg, id, envelope) and 1",
    ),
    "push_own_sets_no_window": (
        "push_own",
        "if window and answer == '0' then",
        "if false then",
    ),
    "push_own_sees_no_window": (
        "push_own",
        "if ends and tonumber(ends) > now then",
        "if false then",
    ),
    "push_own_later_leaves_the_ticket_of_what_it_refuses": (
        "push_own_later",
        "redis.call('ZREMRANGEBYRANK', delayed, rank, rank)",
        "",
    ),
    "push_own_later_notes_a_later_time": (
        "push_own_later",
        "if not (noted and #noted == #score and noted <= score) then",
        "if not noted then",
    ),
    "push_own_later_overwrites_a_living_message": (
        "push_own_later",
        "redis.pcall('HSETNX', msg, id, envelope)",
        "redis.pcall('HSET', msg, id, envelope) and 1",
    ),
    "push_replace_counts_nothing_cancelled": (
        "push_replace",
        "redis.pcall('HINCRBY', meta, 'cancelled', '1')",
        "",
    ),
    "push_replace_keeps_the_place_of_a_delayed_one": (
        "push_replace",
        "replace == '2' or not was_delayed and at <= now",
        "replace == '2' or at <= now",
    ),
    "push_replace_leaves_the_ticket_of_a_delayed_one": (
        "push_replace",
        "redis.call('ZREM', delayed, old_ticket)",
        "",
    ),
    "push_replace_of_another_body_loses_the_place": (
        "push_replace",
        "replace == '2' or not was_delayed and at <= now",
        "not was_delayed and at <= now",
    ),
    "push_replace_takes_what_is_leased_for_ready": (
        "push_replace",
        "or redis.call('ZSCORE', leased, old_ticket)",
        "",
    ),
    "push_replace_takes_what_came_back_for_plain": (
        "push_replace",
        "redis.call('HGET', attempts, id)",
        "false",
    ),
    "push_replace_full_leaves_the_lease_of_what_it_replaces": (
        "push_replace_full",
        "if m.place then\n    defer_removal",
        "if m.place and m.place ~= 2 then\n    defer_removal",
    ),
    "push_replace_full_of_another_body_loses_the_place": (
        "push_replace_full",
        "local stays = draft.replace == 2 and",
        "local stays = false and",
    ),
    "push_replace_full_replaces_what_is_on_its_way": (
        "push_replace_full",
        "if m.place == 4 then",
        "if false then",
    ),
    "relay_done_drops_a_message_that_was_refused": (
        "relay_done",
        "if tonumber(ARGV[i + 1]) == 2 and",
        "if false and",
    ),
    "relay_done_forgets_a_failure": (
        "relay_done",
        "note_event(at, now)\n  outbox_put(ticket, at)",
        "",
    ),
    "relay_done_keeps_the_message": (
        "relay_done",
        "member_end(member, 'cancelled')\n      end\n      defer_forget(id)",
        "member_end(member, 'cancelled')\n      end",
    ),
    "relay_done_notes_no_event": (
        "relay_done",
        "note_event(at, now)\n  outbox_put(ticket, at)",
        "put_tickets(outbox, at, { ticket })",
    ),
    "relay_done_takes_what_another_relay_has": (
        "relay_done",
        "redis.call('ZSCORE', outbox, ticket) == ARGV[1]",
        "redis.call('ZSCORE', outbox, ticket)",
    ),
    "relay_forget_forgets_nothing": (
        "relay_forget",
        "redis.call('ZREM', received, unpack(notes))",
        "#notes",
    ),
    "relay_put_forgets_the_attempts": (
        "relay_put",
        "how.records and how.records[n] ~= '' and how.records[n]",
        "nil",
    ),
    "relay_put_goes_on_after_its_lease": (
        "relay_put",
        "if now >= tonumber(ARGV[1]) then",
        "if false then",
    ),
    "relay_put_notes_nothing": (
        "relay_put",
        "put_tickets(received, now, fresh)",
        "",
    ),
    "relay_put_takes_what_was_refused_for_stored": (
        "relay_put",
        "outcome[n] == 0 and places[n] or nil",
        "places[n]",
    ),
    "relay_take_gives_no_lease": (
        "relay_take",
        "put_tickets(outbox, stop, taken)",
        "",
    ),
    "relay_take_notes_a_later_event": (
        "relay_take",
        "redis.call('ZRANGE', outbox, 0, 0, 'WITHSCORES')",
        "redis.call('ZRANGE', outbox, -1, -1, 'WITHSCORES')",
    ),
    "relay_take_sends_the_failures_along": (
        "relay_take",
        "had.forgiven, had.crashes = had.deliveries, 0",
        "had.crashes = 0",
    ),
    "relay_take_takes_what_is_for_another_queue": (
        "relay_take",
        "elseif name == '' or name == target and is_note == are_notes then",
        "else",
    ),
    "release_counts_as_a_failure": (
        "release",
        "had.forgiven = had.forgiven + 1",
        "had.forgiven = had.forgiven",
    ),
    "release_goes_to_the_end": (
        "release",
        "enqueue(back, true)",
        "enqueue(back)",
    ),
    "reschedule_full_delays_what_is_due": (
        "reschedule_full",
        "if at <= now then",
        "if false then",
    ),
    "reschedule_delays_what_is_due": (
        "reschedule",
        "if at <= now or redis",
        "if redis",
    ),
    "reserve_forgets_the_high_lane": (
        "reserve",
        "if not state[1] or state[3] == '1'",
        "if not state[1]",
    ),
    "reserve_forgets_the_outbox": (
        "reserve",
        "if outbox_at and (not first or outbox_at < first) then",
        "if false then",
    ),
    "reserve_keeps_what_it_acknowledged": (
        "reserve",
        "local removed = redis.pcall('HDEL', msg, unpack(acked_ids))",
        "local removed = 1",
    ),
    "reserve_moves_what_is_due_twice": (
        "reserve",
        "if due and #due > 0 then",
        "if false then",
    ),
    "reserve_notes_no_end_of_a_lease": (
        "reserve",
        "if not first or stop - span < first then",
        "if false then",
    ),
    "reserve_full_brings_what_is_due_to_the_front": (
        "reserve_full",
        "lane_push(due)",
        "lane_push(due, true)",
    ),
    "reserve_full_brings_back_at_once_what_crashed_twice": (
        "reserve_full",
        "if had.crashes < 2 then",
        "if true then",
    ),
    "reserve_full_counts_a_crash_as_a_failure": (
        "reserve_full",
        "had.deliveries, had.suffix, had.crashes = deliveries + 1, suffix, had.crashes + 1",
        "had.deliveries, had.suffix = deliveries + 1, suffix",
    ),
    "reserve_full_delivers_an_ended_lease_again_and_again": (
        "reserve_full",
        "defer_removal('ZREM', leased, lease.ticket)",
        "",
    ),
    "reserve_full_delivers_others_behind_what_crashed": (
        "reserve_full",
        "bytes, full = bytes + #envelope, had.crashes > 0",
        "bytes = bytes + #envelope",
    ),
    "reserve_full_delivers_others_before_what_crashed": (
        "reserve_full",
        "elseif had.crashes > 0 and not is_alone() then",
        "elseif false then",
    ),
    "reserve_full_delivers_what_crashed_too_often": (
        "reserve_full",
        "had.crashes >= e.max_crashes",
        "had.crashes > e.max_crashes",
    ),
    "reserve_full_delivers_what_has_expired": (
        "reserve_full",
        "if e and e.expires and e.expires <= now then",
        "if false then",
    ),
    "reserve_full_forgets_a_pause": (
        "reserve_full",
        "not noted or noted <= now, state[5]",
        "not noted or noted <= now, nil",
    ),
    "reserve_full_forgets_the_error_of_an_ended_lease": (
        "reserve_full",
        "had.deliveries, had.suffix, had.crashes = deliveries + 1, suffix, had.crashes + 1",
        "had.deliveries, had.suffix, had.crashes, had.error = "
        "deliveries + 1, suffix, had.crashes + 1, ''",
    ),
    "reserve_full_gives_an_old_ticket_the_new_message": (
        "reserve_full",
        "(not e or e.suffix == suffix)",
        "true",
    ),
    "reserve_full_moves_what_is_due_twice": (
        "reserve_full",
        "if due > 0 then",
        "if false then",
    ),
    "reserve_full_retries_what_it_acknowledged": (
        "reserve_full",
        "if settled[failed_ticket] then",
        "if false then",
    ),
    "reserve_full_settles_what_is_not_held": (
        "reserve_full",
        "local ours = stop and not seen[ticket]",
        "local ours = not seen[ticket]",
    ),
    "reserve_full_settles_without_counting_the_delivery": (
        "reserve_full",
        "had.deliveries, had.suffix = deliveries + 1, suffix",
        "had.deliveries, had.suffix = deliveries, suffix",
    ),
    "reserve_full_takes_an_ended_lease_that_it_does_not_deliver": (
        "reserve_full",
        "c.waiting, c.first = c.waiting + 1,",
        "defer_removal('ZREM', leased, lease.ticket)\n        c.waiting, c.first = c.waiting + 1,",
    ),
    "reserve_full_forgets_the_ended_leases_that_it_leaves": (
        "reserve_full",
        "first = math.min(first, c.first)",
        "",
    ),
    "reserve_full_sees_no_end_of_a_pause_after_a_crash": (
        "reserve_full",
        "c.first = math.min(c.first, now + ms)",
        "",
    ),
    "reserve_full_takes_high_after_normal": (
        "reserve_full",
        "{ high, ready, low } or",
        "{ ready, high, low } or",
    ),
    "reserve_full_takes_what_it_settles": (
        "reserve_full",
        "if not settled[ticket] then",
        "if true then",
    ),
    "reserve_full_trims_one_too_many": (
        "reserve_full",
        "call('LTRIM', lane, c.met[l], -1)",
        "call('LTRIM', lane, c.met[l] + 1, -1)",
    ),
    "reserve_sees_no_ended_lease": (
        "reserve",
        "if first and first <= now then",
        "if false then",
    ),
    "reserve_takes_what_is_not_plain_for_it": (
        "reserve",
        "ticket == ids[i] and flags ~= 0",
        "false",
    ),
    "reserve_takes_one_and_leaves_its_ticket": (
        "reserve",
        "call('LPOP', ready)",
        "call('LLEN', ready)",
    ),
    "reserve_trims_one_too_many": (
        "reserve",
        "call('LTRIM', ready, format('%d', ready_count), '-1')",
        "call('LTRIM', ready, ready_count + 1, -1)",
    ),
    "peek_shows_the_groups_from_the_last": (
        "peek",
        "redis.call('ZRANGE', set, rank, rank + 99, 'WITHSCORES')",
        "redis.call('ZREVRANGE', set, rank, rank + 99, 'WITHSCORES')",
    ),
    "purge_keeps_the_count_of_what_was_released": (
        "purge",
        "{ 'returned', string.format('%d', returned) }",
        "{ 'returned', state[2] or '0' }",
    ),
    "purge_keeps_the_floor": (
        "purge",
        "turns_meta(fields, keeps)",
        "",
    ),
    "push_group_full_does_not_say_that_there_are_groups": (
        "push_group_full",
        "if has_group then",
        "if false then",
    ),
    "push_replace_full_keeps_the_place_in_another_group": (
        "push_replace_full",
        "and mark .. incarnation .. string.sub(draft.suffix, #mark + 11) == was then",
        "then",
    ),
    "relay_put_does_not_say_that_there_are_groups": (
        "relay_put",
        "if has_group then",
        "if false then",
    ),
    "release_does_not_tell_how_many": (
        "release",
        "count('returned', state[2] and to_front or 0)",
        "",
    ),
    "reserve_groups_full_begins_the_time_anew_too_early": (
        "reserve_groups_full",
        "if bound == math.huge and first_line > last_line and not keeps then",
        "if bound == math.huge then",
    ),
    "reserve_groups_full_brings_what_it_does_not_deliver_to_the_end": (
        "reserve_groups_full",
        "if ticket then\n    line_return(line, ticket)",
        "if ticket then\n    line_append(line, ticket)",
    ),
    "reserve_groups_full_counts_no_turn": (
        "reserve_groups_full",
        "or line.turn + UNIT",
        "or line.turn + 1",
    ),
    "reserve_groups_full_forgets_a_group_that_it_found_empty": (
        "reserve_groups_full",
        "if (ticket or line.parks) and not line.stands then",
        "if false then",
    ),
    "reserve_groups_full_serves_a_group_that_comes_first": (
        "reserve_groups_full",
        "line.turn, waited = last_joined, false",
        "line.turn, waited = floor, false",
    ),
    "push_group_forgets_a_ticket": (
        "push_group",
        ".. (size > 0 and '\\n' .. ticket or ticket)",
        "",
    ),
    "push_group_gives_groups_that_come_the_same_time": (
        "push_group",
        "last_joined = from + (from < floor + 16384 and 16 or 1)",
        "last_joined = from",
    ),
    "push_group_gives_no_turn": (
        "push_group",
        "scores[#scores + 1], scores[#scores + 2] = format('%d', turn), names[place]",
        "",
    ),
    "push_group_later_does_not_see_an_earlier_message": (
        "push_group_later",
        "redis.call('HEXISTS', msg, id) + redis.call('EXISTS', unique) > 0",
        "redis.call('EXISTS', unique) > 0",
    ),
    "push_group_later_notes_no_event": (
        "push_group_later",
        "note_event(at, now)",
        "",
    ),
    "push_group_sort_brings_it_to_the_front": (
        "push_group_sort",
        "redis.pcall('RPUSH', ready, unpack(tickets))",
        "redis.pcall('LPUSH', ready, unpack(tickets))",
    ),
    "reserve_groups_does_not_begin_the_time_anew": (
        "reserve_groups",
        "elseif state[3] ~= '0 0' then",
        "elseif false then",
    ),
    "reserve_groups_does_not_move_the_floor": (
        "reserve_groups",
        "if time > floor then",
        "if false then",
    ),
    "reserve_groups_tells_two_times_of_a_turn": (
        "reserve_groups",
        "turn = format('%d', time + 16384)",
        "turn = format('%d', time + 16383)",
    ),
    "reserve_groups_full_brings_what_was_released_to_the_end": (
        "reserve_groups_full",
        "line_return(line_join(names_back[i]), back[i])",
        "line_append(line_join(names_back[i]), back[i])",
    ),
    "reserve_groups_full_counts_a_turn_for_a_stale_ticket": (
        "reserve_groups_full",
        "if batch[k].is_free then",
        "if batch[k].stays then",
    ),
    "reserve_groups_full_does_not_move_the_floor": (
        "reserve_groups_full",
        "if not is_closed and line.turn > floor then",
        "if false then",
    ),
    "reserve_groups_full_forgets_the_time_of_a_group_of_which_nothing_waits": (
        "reserve_groups_full",
        "if line.turn <= floor and line_is_empty(line) then\n        if line.stored",
        "if line_is_empty(line) then\n        if line.stored",
    ),
    "reserve_groups_full_gives_groups_that_come_the_same_time": (
        "reserve_groups_full",
        "last_joined = from + (from < floor + 16384 and 16 or 1)",
        "last_joined = from",
    ),
    "reserve_groups_full_keeps_the_floor_of_a_turn_that_was_given_back": (
        "reserve_groups_full",
        "undone, floor = true, batch[k].stays and batch[k].floor or floor",
        "undone = true",
    ),
    "reserve_groups_full_reads_turns_behind_those_that_joined": (
        "reserve_groups_full",
        "other and (other.turn > line.turn",
        "other and (other.turn < line.turn",
    ),
    "reserve_groups_full_sorts_what_came_in_the_wrong_order": (
        "reserve_groups_full",
        "for i = 1, #tickets do\n    line_append(line_join",
        "for i = #tickets, 1, -1 do\n    line_append(line_join",
    ),
    "retry_does_not_count_the_delivery": (
        "retry",
        "had.deliveries, had.suffix = deliveries + 1, suffix",
        "had.deliveries, had.suffix = deliveries, suffix",
    ),
    "retry_forgets_the_cap_of_a_backoff": (
        "retry",
        "math.min(ms, cap > 0 and cap or 4102444800000)",
        "ms",
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
}
# Those of what limits of groups need.
OF_LIMITS: dict[str, Mutation] = {
    "ack_wake_counts_several_as_one": (
        "ack_wake",
        "group.left = group.left + (wait and 0 or 1)",
        "group.left = 1",
    ),
    "ack_wake_brings_no_group_back": (
        "ack_wake",
        "if group.time then",
        "if false then",
    ),
    "ack_push_above_the_backlog_finishes_the_message": (
        "ack_push",
        "if backlog_refused(ARGV, 5, now, id) then",
        "if false then",
    ),
    "bury_gives_no_place_back": (
        "bury",
        "give_places = write_left",
        "",
    ),
    "cancel_full_gives_no_place_back": (
        "cancel_full",
        "if place == 2 then",
        "if place == 7 then",
    ),
    "hold_leaves_a_group_that_waits_for_an_earlier_time": (
        "hold",
        "elseif parked_at and waits then",
        "elseif false then",
    ),
    "hold_ends_the_hold_of_a_group_that_has_none": (
        "hold",
        "'XX', string.format('%d', now)",
        "string.format('%d', now + 500000)",
    ),
    "hold_group_counts_what_it_releases": (
        "hold_group",
        "page[i] ~= leaving",
        "true",
    ),
    "hold_group_holds_no_group": (
        "hold_group",
        "redis.call('ZADD', holds, string.format('%d', now + ms), name)",
        "",
    ),
    "limit_counts_one_of_each_group": (
        "limit",
        "counts[name] = (counts[name] or 0) + 1",
        "counts[name] = 1",
    ),
    "limit_leaves_groups_at_an_old_limit": (
        "limit",
        "regroup(limited == '2')",
        "if not redis.call('HGET', meta, 'limited') then regroup(limited == '2') end",
    ),
    "limit_forgets_a_backlog": (
        "limit",
        "bulk('HSET', groups, copies)",
        "",
    ),
    "purge_gives_no_places_back": (
        "purge",
        "leaves(set == leased and tickets or {})",
        "leaves({})",
    ),
    "push_group_later_does_not_see_a_backlog": (
        "push_group_later",
        "or redis.pcall('HEXISTS', groups, '\\t') ~= 0",
        "",
    ),
    "push_group_does_not_see_a_backlog": (
        "push_group",
        "if marks[last_place] then",
        "if false then",
    ),
    "push_group_full_counts_only_what_is_in_line": (
        "push_group_full",
        "counts[name] = counts[name] + 1\n    end\n  end\nend",
        "end\n  end\nend",
    ),
    "push_group_full_stores_an_id_that_it_has_refused": (
        "push_group_full",
        "if before and not refused[before] or",
        "if before or",
    ),
    "push_group_sort_stores_one_more_than_the_backlog": (
        "push_group_sort",
        "counts[name] >= most[name]",
        "counts[name] > most[name]",
    ),
    "push_replace_full_gives_no_place_back": (
        "push_replace_full",
        "if write_left() > 0 then",
        "if false then",
    ),
    "release_gives_no_place_back": (
        "release",
        "give_places = write_left",
        "",
    ),
    "reserve_groups_does_not_see_limits_of_groups": (
        "reserve_groups",
        "or state[6]\n",
        "\n",
    ),
    "reserve_groups_full_brings_no_group_back_for_a_place": (
        "reserve_groups_full",
        "names[#names + 1] = states[name].is_parked and not timed[i] and name or nil",
        "",
    ),
    "reserve_groups_full_brings_no_group_back_at_its_time": (
        "reserve_groups_full",
        "names[#names + 1] = states[name].is_parked and name or nil",
        "",
    ),
    "reserve_groups_full_counts_a_rate_for_a_stale_ticket": (
        "reserve_groups_full",
        "state.change, state.taken = state.change - 1, state.taken - 1",
        "state.change = state.change - 1",
    ),
    "reserve_groups_full_counts_a_place_for_a_stale_ticket": (
        "reserve_groups_full",
        "state.change, state.taken = state.change - 1, state.taken - 1",
        "state.taken = state.taken - 1",
    ),
    "reserve_groups_full_delivers_at_once_what_crashed_in_a_held_group": (
        "reserve_groups_full",
        "math.max(pause, by_turns.wait(group))",
        "pause",
    ),
    "reserve_groups_full_gives_a_group_the_limit_of_each": (
        "reserve_groups_full",
        "limit_number(own[at - 3]) or limit_number(each[1])",
        "limit_number(each[1]) or limit_number(own[at - 3])",
    ),
    "reserve_groups_full_gives_every_group_one_weight": (
        "reserve_groups_full",
        "(limit_number(own[at - 2]) or 1)",
        "1",
    ),
    "reserve_groups_full_goes_one_above_the_concurrency": (
        "reserve_groups_full",
        "state.number + state.change < state.most and",
        "state.number + state.change <= state.most and",
    ),
    "reserve_groups_full_goes_one_above_the_rate": (
        "reserve_groups_full",
        "if state.allowed and state.taken >= state.allowed then",
        "if state.allowed and state.taken > state.allowed then",
    ),
    "reserve_groups_full_keeps_the_place_of_an_ended_lease": (
        "reserve_groups_full",
        "by_turns.leave({ lease.ticket })",
        "",
    ),
    "reserve_groups_full_keeps_to_limits_that_are_gone": (
        "reserve_groups_full",
        "ends = ends and limited ~= '2'",
        "ends = false",
    ),
    "reserve_groups_full_lets_a_group_that_waited_make_up_for_it": (
        "reserve_groups_full",
        "gate and floor + gate.took(line.name)",
        "gate and line.turn + gate.took(line.name)",
    ),
    "reserve_groups_full_moves_the_floor_to_a_group_at_its_limit": (
        "reserve_groups_full",
        "if not is_closed and line.turn > floor then",
        "if line.turn > floor then",
    ),
    "reserve_groups_full_notes_no_time_of_a_group_that_waits": (
        "reserve_groups_full",
        "first = held and first or math.min(first, by_turns.next_timer())",
        "",
    ),
    "reserve_groups_full_notes_no_use_of_the_rate": (
        "reserve_groups_full",
        "bulk('ZADD', rated, times)",
        "",
    ),
    "retry_brings_no_group_back": (
        "retry",
        "if group.time then",
        "if false then",
    ),
}


# Those of what the orders of groups need.
OF_ORDERS = {
    "cancel_full_leaves_a_group_that_waits_for_what_it_cancels": (
        "cancel_full",
        "local was_begun = not wait or string.byte(tickets[i]) ~= 48",
        "local was_begun = not wait",
    ),
    "kick_brings_a_message_back_as_one_that_was_begun": (
        "kick",
        "bulk('ZREM', begun, members)",
        "",
    ),
    "limit_notes_nothing_that_is_leased": (
        "limit",
        "      note(page[i])\n    end\n  end)\n  repeat",
        "    end\n  end)\n  repeat",
    ),
    "limit_notes_nothing_that_waits_for_its_time": (
        "limit",
        "if times[i] then",
        "if false then",
    ),
    "limit_forgets_no_message_when_no_order_is_strict": (
        "limit",
        "clear_set(begun)",
        "",
    ),
    "limit_forgets_no_message_of_a_group_that_leaves_the_order": (
        "limit",
        "gone[#gone + 1] = not is_strict(string.match(page[i], '^[^\\t]*')) and page[i] or nil",
        "",
    ),
    "purge_leaves_a_group_that_waits_for_what_it_purges": (
        "purge",
        "waiting[#waiting + 1] = (not set or set == delayed) and ticket or nil",
        "waiting[#waiting + 1] = not set and ticket or nil",
    ),
    "push_group_full_sorts_what_came_back": (
        "push_group_full",
        "if not is_begun and redis.call('HGET', meta, 'limited') == '2' then",
        "if false then",
    ),
    "push_replace_full_leaves_a_group_that_waits_for_what_it_replaces": (
        "push_replace_full",
        "leaves({ m.ticket }, m.place ~= 2)",
        "leaves(m.place == 2 and { m.ticket } or {})",
    ),
    "reserve_groups_full_begins_the_next_in_the_order_strict": (
        "reserve_groups_full",
        "return not is_first, false",
        "return false, false",
    ),
    "reserve_groups_full_brings_no_group_back_for_what_was_begun": (
        "reserve_groups_full",
        "resumed[#resumed + 1] = goes_first and name or nil",
        "",
    ),
    "reserve_groups_full_brings_what_was_begun_to_the_end": (
        "reserve_groups_full",
        "line_return(line_join(names_first[i]), first[i])",
        "line_append(line_join(names_first[i]), first[i])",
    ),
    "reserve_groups_full_delivers_two_in_the_order_fifo": (
        "reserve_groups_full",
        "(order == 'fifo' or order == 'strict') and 1",
        "order == 'strict' and 1",
    ),
    "reserve_groups_full_ends_nothing_that_it_acknowledges": (
        "reserve_groups_full",
        "      if are_over then\n        strict_ends(tickets[i])\n      end\n",
        "",
    ),
    "reserve_groups_full_forgets_what_was_begun_and_comes_back": (
        "reserve_groups_full",
        "if not leases[i] and attempts_read(records[i]).suffix ~= suffixes[i] then",
        "if not leases[i] then",
    ),
    "reserve_groups_full_forgets_what_was_begun_and_is_leased": (
        "reserve_groups_full",
        "if not leases[i] and attempts_read(records[i]).suffix ~= suffixes[i] then",
        "if attempts_read(records[i]).suffix ~= suffixes[i] then",
    ),
    "reserve_groups_full_gives_a_group_the_order_of_each": (
        "reserve_groups_full",
        "local order = each_order and (own[at - 4] or each_order)",
        "local order = each_order",
    ),
    "reserve_groups_full_keeps_what_was_cancelled_in_a_line_that_waits": (
        "reserve_groups_full",
        "and redis.call('ZSCORE', begun, member) or is_stale(ticket)",
        "and redis.call('ZSCORE', begun, member)",
    ),
    "reserve_groups_full_lets_a_group_wait_for_what_died_in_the_call": (
        "reserve_groups_full",
        "ended[member], holders[string.match(member, '^[^\\t]+')] = true, nil",
        "",
    ),
    "reserve_groups_full_lets_a_group_wait_for_what_is_dead": (
        "reserve_groups_full",
        "redis.call('ZSCORE', dead, ticket) or ",
        "",
    ),
    "reserve_groups_full_lets_a_group_wait_for_what_was_replaced": (
        "reserve_groups_full",
        "if not id or had.suffix ~= own .. '=' .. name then",
        "if not id or not had.suffix then",
    ),
    "reserve_groups_full_notes_nothing_that_it_delivers": (
        "reserve_groups_full",
        "  if is_delivered then\n    group_gate.begins(batch[i].ticket)\n  end\n",
        "",
    ),
    "reserve_groups_full_puts_what_was_released_before_what_was_begun": (
        "reserve_groups_full",
        "first[#first + 1], names_first[#names_first + 1] = ticket, name",
        "back[#back + 1], names_back[#names_back + 1] = ticket, name",
    ),
}

# Those of a message that is due alone (test_due_turns.py).
OF_DUE: dict[str, Mutation] = {
    "reserve_groups_does_not_move_the_floor_for_what_is_due": (
        "reserve_groups",
        "floor = time > floor and time or floor",
        "",
    ),
    "reserve_groups_forgets_groups_that_have_a_later_turn": (
        "reserve_groups",
        "elseif other ~= group and is_before then",
        "elseif other ~= group then",
    ),
    "reserve_groups_forgets_groups_while_one_waits": (
        "reserve_groups",
        "if left == 0 then",
        "if true then",
    ),
    "reserve_groups_serves_what_is_due_before_a_group_that_waits": (
        "reserve_groups",
        "is_next and not is_before",
        "is_next",
    ),
    "reserve_groups_gives_a_turn_back_to_a_group_that_was_served": (
        "reserve_groups",
        "time + 16384, 2 ^ 31",
        "time, 2 ^ 31",
    ),
    "reserve_groups_takes_what_is_due_before_its_line": (
        "reserve_groups",
        "time and is_empty and group",
        "time and group",
    ),
}


ALL = MUTATIONS | OF_LIMITS | OF_ORDERS


def test_mutations_are_of_what_the_scripts_have() -> None:
    scripts = sources()
    for script, old, _ in (ALL | OF_DUE).values():
        assert old in scripts[script], f"{script}.lua has it no more: {old}"


def changed(mutation: Mutation) -> dict[str, str]:
    script, old, new = mutation
    scripts = sources()
    scripts[script] = scripts[script].replace(old, new)
    return scripts


def only_in(name: str) -> str:
    """In which sequences a fault shows: of machine.py's GROUPED, or all (empty)."""
    if name in OF_ORDERS:
        return "with orders"
    return "with limits" if name in OF_LIMITS else ""


@pytest.mark.parametrize("name", [n for n, (s, *_) in ALL.items() if s in IN_THE_TABLE])
def test_mutation_is_caught_by_the_table(name: str) -> None:
    with Server() as server:
        raw = RawDriver(server, changed(ALL[name]))
        try:
            with pytest.raises(AssertionError):
                for row in TABLE.values():
                    compare(raw, *row)
        finally:
            raw.close()


@pytest.mark.parametrize("name", OF_DUE)
def test_mutation_is_caught_by_a_twin(name: str) -> None:
    with Server() as server:
        raw = RawDriver(server, changed(OF_DUE[name]))
        try:
            with pytest.raises(AssertionError):
                compare_twins(raw)
        finally:
            raw.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n, (s, *_) in ALL.items() if s not in IN_THE_TABLE])
def test_mutation_is_caught(name: str) -> None:
    find(name, changed(ALL[name]), Machine, only_in(name))


def find(name: str, scripts: dict[str, str], machine: type[Machine], only: str = "") -> None:
    with Server() as server:
        world = scripts_alone(server, scripts)
        try:
            # Flaky: what the milliseconds of the clock decide need not be so again. Some faults
            # show in few of the examples only: then others are drawn.
            with pytest.raises((Difference, Flaky)):
                for draw in range(8):
                    options = {"derandomize": draw == 0, "phases": [Phase.generate]}
                    run(world, EXAMPLES, only, machine, **options)
        finally:
            world.close()
        assert world.differences
        print(f"{name}: caught within {world.steps} steps")
