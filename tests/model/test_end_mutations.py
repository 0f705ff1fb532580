"""Faults in the scripts of kept ends, chains and batches are found, as in test_mutations.py."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from batch_machine import BatchMachine
from ends_machine import EndsMachine
from test_mutations import Mutation, changed, find

from script_sources import sources

OF_ENDS: dict[str, Mutation] = {
    "ack_end_drops_the_result": (
        "ack_end",
        "note_acks(tickets, ARGV[4], ARGV[5])",
        "note_acks(tickets, ARGV[4], '')",
    ),
    "ack_end_does_not_say_who": (
        "ack_end",
        "note_acks(tickets, ARGV[4], ARGV[5])",
        "note_acks(tickets, '', ARGV[5])",
    ),
    "ack_end_lets_all_records_go_with_the_newest": (
        "ack_end",
        "decimal(math.max(last, tonumber(final[2] or '') or 0))",
        "decimal(last)",
    ),
    "ack_outbox_keeps_no_end": (
        "ack_outbox",
        "note_end(id, envelope, 'acked', ARGV[4], '', '')",
        "",
    ),
    "ack_push_keeps_no_end": (
        "ack_push",
        "note_end(id, envelope, 'acked', ARGV[4], '', '')",
        "",
    ),
    "bury_counts_the_bytes_of_records_that_are_gone": (
        "bury",
        "bytes = bytes - size\n",
        "",
    ),
    "bury_keeps_no_error": (
        "bury",
        "'dead', ticket, by, had.error)",
        "'dead', ticket, by, '')",
    ),
    "cancel_full_keeps_a_second_end_of_a_dead_message": (
        "cancel_full",
        "if place < 3 then\n    note_end",
        "if place < 4 then\n    note_end",
    ),
    "kill_keeps_no_end": (
        "kill",
        "note_end(id, m.envelope, 'dead', m.ticket, '', m.had.error)",
        "",
    ),
    "outcome_leaves_what_has_expired": (
        "outcome",
        "if expired and ARGV[4] ~= 'l' then",
        "if false then",
    ),
    "outcome_tells_how_an_earlier_message_ended": (
        "outcome",
        "if state == 0 or state > 3 then\n  record",
        "if true then\n  record",
    ),
    "outcome_tells_of_no_dead_message": (
        "outcome",
        "if not record and state == 4 then",
        "if false then",
    ),
    "outcome_tells_what_is_kept_no_longer": (
        "outcome",
        "stays and stays > now",
        "stays",
    ),
    "purge_keeps_a_second_end_of_a_dead_message": (
        "purge",
        "elseif set ~= dead and set ~= outbox then",
        "elseif set ~= outbox then",
    ),
    "push_replace_full_keeps_an_end_of_what_it_replaces": (
        "push_replace_full",
        "and each.outcome ~= 'replaced' then",
        "then",
    ),
    "reserve_full_keeps_no_end_of_what_has_expired": (
        "reserve_full",
        "note_end(id, envelope, 'expired', ticket, '', '')",
        "",
    ),
    "reserve_full_notes_no_begin": (
        "reserve_full",
        "note_starts(now, c)\n",
        "",
    ),
    "retry_forgets_when_the_delivery_began": (
        "retry",
        "type(began) == 'string' and string.match(began, '^%d+$') or '0'",
        "'0'",
    ),
    # Of chains.
    "bury_fails_no_chain": (
        "bury",
        "local caught = e and chain_failed(id, e, ticket, had.error, now)",
        "local caught = false",
    ),
    "outcome_fails_no_chain": (
        "outcome",
        "local out = chain_failed(id, e, m.ticket, 'its time to live is over', now)",
        "local out = false",
    ),
    "reserve_full_fails_no_chain_of_what_has_expired": (
        "reserve_full",
        "c.relay_due = chain_failed(id, e, ticket, 'its time to live is over', now, precheck_full)",
        "c.relay_due = false",
    ),
    "reserve_full_sends_a_failed_link_in_place_of_its_catch": (
        "reserve_full",
        "11, 'dueq-failed',\n      #failed, failed)",
        "11, 'dueq-failed',\n      #id, id)",
    ),
    "retry_fails_a_chain_without_its_error": (
        "retry",
        "local caught = e and chain_failed(id, e, ticket, had.error, now)",
        "local caught = e and chain_failed(id, e, ticket, '', now)",
    ),
}
OF_BATCHES: dict[str, Mutation] = {
    "ack_end_counts_nothing": (
        "ack_end",
        "out = write_batches(moment) or out",
        "",
    ),
    "ack_push_tells_no_batch": (
        "ack_push",
        "members[#members + 1], each.e = each, e",
        "",
    ),
    "bury_lets_a_dead_member_end_again": (
        "bury",
        "'\\7'",
        "'\\6'",
    ),
    "cancel_batch_cancels_members_of_another_queues_batch": (
        "cancel_batch",
        "and is_named(e.batch_queue or '') then",
        "then",
    ),
    "cancel_full_keeps_a_guest": (
        "cancel_full",
        "(guest_ends[guest] or 0) + 1",
        "0",
    ),
    "close_batch_calls_then_where_a_member_was_not_acknowledged": (
        "close_batch",
        "if b.acked == b.pushed then",
        "if true then",
    ),
    "close_batch_leaves_the_entry_that_closes_it": (
        "close_batch",
        "defer_removal('ZREM', outbox, b.timer)",
        "",
    ),
    "find_batch_finds_what_is_kept_no_longer": (
        "find_batch",
        "if not b or b.state == 2 and not batch_is_kept(b, now) then",
        "if not b then",
    ),
    "open_batch_takes_the_id_of_one_that_is_kept": (
        "open_batch",
        "== 1 or old and batch_is_kept(old, now) then",
        "== 1 then",
    ),
    "purge_removes_notes": (
        "purge",
        "if member ~= 'note' then",
        "if true then",
    ),
    "push_batch_counts_what_it_refuses": (
        "push_batch",
        "batch.pushed + stored",
        "batch.pushed + #outcome",
    ),
    "push_to_counts_no_member": (
        "push_to",
        "batch.pushed = batch.pushed + number",
        "",
    ),
    "relay_count_calls_catch_again": (
        "relay_count",
        "if b.dead > 0 and not had_dead then",
        "if b.dead > 0 then",
    ),
    "relay_count_calls_no_finally": (
        "relay_count",
        "due[#due + 1] = 'finally'",
        "",
    ),
    "relay_count_counts_a_note_again": (
        "relay_count",
        "if not redis.call('ZSCORE', received, note) then",
        "if true then",
    ),
    "relay_count_counts_several_as_one": (
        "relay_count",
        "tonumber(number)",
        "1",
    ),
    "relay_count_leaves_a_batch_open_after_its_time": (
        "relay_count",
        "elseif b.state == 0 then",
        "elseif false then",
    ),
    "relay_done_counts_no_member_that_was_refused": (
        "relay_done",
        "member_end(member, 'cancelled')",
        "",
    ),
    "relay_put_counts_no_guest": (
        "relay_put",
        "redis.pcall('HINCRBY', guests, e.batch_queue .. '\\n' .. e.batch, '1')",
        "",
    ),
    "reserve_full_calls_catch_in_place_of_finally": (
        "reserve_full",
        "due[#due + 1] = 'finally'",
        "due[#due + 1] = 'catch'",
    ),
}


def test_mutations_are_of_what_the_scripts_have() -> None:
    scripts = sources()
    for script, old, _ in [*OF_ENDS.values(), *OF_BATCHES.values()]:
        assert old in scripts[script], f"{script}.lua has it no more: {old}"


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_ENDS)
def test_mutation_is_caught(name: str) -> None:
    find(name, changed(OF_ENDS[name]), EndsMachine)


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_BATCHES)
def test_mutation_of_batches_is_caught(name: str) -> None:
    find(name, changed(OF_BATCHES[name]), BatchMachine)
