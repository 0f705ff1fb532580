"""The machine's eyes for kept ends, batches and chains, and the names that the server makes."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from batches import Batch
from ends import FAILED, End
from ends_layout import ENDS, MADE_SIZE, Sent, batch_of, end_of, sent
from hypothesis.stateful import invariant
from layout import number
from machine import OUT_MS, Machine
from message import Entry, Message
from model import Queue
from world import World, near, now_ms, numbered

from private_server import Reply

Json: TypeAlias = Any


@dataclass
class Noted:
    """What a queue has of them."""

    ends: dict[str, bytes]
    kept: dict[str, int]
    started: dict[str, int]
    guests: dict[str, int]
    batches: dict[str, bytes]
    batch_ends: dict[str, bytes]


class EndsWatch(Machine):
    # Notes stay in the outbox. A purge of small pages would find no end of them.
    outbox_page = 100

    @invariant()
    def look_at_ends(self) -> None:
        self.settle_out()
        for queue in self.model.queues.values():
            noted = read(self.world, queue.name)
            self.look_at_kept(queue, noted)
            self.look_at_started(queue, noted)
            guests = queue.ends.batches.guests
            wanted = {f"{home}\n{id}": n for (home, id), n in guests.items() if n}
            self.same(f"the guests of {queue.name}", noted.guests, wanted)
            self.look_at_batches(queue, noted)

    def look_at_kept(self, queue: Queue, noted: Noted) -> None:
        """Records whose time is over may stay; the times of the others are the server's then."""
        now = now_ms()
        kept = {id: until for id, until in noted.kept.items() if until > now}
        seen = {id: end_of(noted.ends.get(id, b"no 0 0\n\n\n"), kept[id]) for id in kept}
        ends = {id: end for id, end in queue.ends.kept.items() if end.until_ms > now}
        wanted = {id: like(seen[id], end) if id in seen else end for id, end in ends.items()}
        self.same(f"the ends that {queue.name} keeps", seen, wanted)
        queue.ends.kept |= wanted

    def look_at_started(self, queue: Queue, noted: Noted) -> None:
        began = {id: m for id, m in queue.existing.items() if m.began_ms}
        wanted = {id: near(noted.started.get(id, 0), m.began_ms) for id, m in began.items()}
        self.same(f"what began in {queue.name}", noted.started, wanted)
        for id, message in began.items():
            message.began_ms = wanted[id]

    def look_at_batches(self, queue: Queue, noted: Noted) -> None:
        batches, now = queue.ends.batches, now_ms()
        fields = [f"{id}\t{name}" for id, each in batches.open.items() for name in each.callbacks]
        self.same(f"the batches of {queue.name}", {*noted.batches}, {*batches.open, *fields})
        for id, batch in batches.open.items():
            self.agree_batch(batch, batch_of(noted.batches[id]))
        ended = {id: batch_of(record) for id, record in noted.batch_ends.items()}
        seen = {id: b for id, b in ended.items() if int(b["ended_ms"]) + int(b["keep_ms"]) > now}
        wanted = {id: batch for id, batch in batches.ended.items() if batch.is_kept(now)}
        self.same(f"the batches of {queue.name} that ended", {*seen}, {*wanted})
        for id, batch in wanted.items():
            self.agree_batch(batch, seen[id])

    def agree_batch(self, batch: Batch, seen: Json) -> None:
        wanted = {name: number for name, number in fields_of(batch).items() if name in seen}
        times = [name for name in ("opened_ms", "closes_ms", "ended_ms") if name in seen]
        wanted |= {name: near(seen[name], wanted[name]) for name in times}
        self.same(f"the batch {batch.id}", seen, wanted)
        for name in times:
            setattr(batch, name, seen[name])

    # Time for relays, and names

    def settle_out(self) -> None:
        """What relays may take within a second, they may take now."""
        self.learn()
        now = now_ms()
        entries = [e for queue in self.model.queues.values() for e in queue.outbox.values()]
        if any(now - OUT_MS < entry.time_ms < now + OUT_MS for entry in entries):
            self.pass_ms(2 * OUT_MS)

    def went_out(self, queue: Queue, before: int) -> None:
        super().went_out(queue, before)
        self.settle_out()

    def reserve_of(self, who: int, queues: list[Queue], count: int, lease: int) -> list[Message]:
        found = super().reserve_of(who, queues, count, lease)
        self.settle_out()
        return found

    def learn(self) -> None:
        for queue in self.model.queues.values():
            self.learn_entries(queue)
        for queue in self.model.queues.values():
            self.learn_messages(queue)

    def learn_entries(self, queue: Queue) -> None:
        ours = [entry for entry in queue.outbox.values() if not entry.is_named]
        if not ours:
            return
        known = {ticket for ticket, entry in queue.outbox.items() if entry.is_named}
        tickets = [t for t in self.world.scores(queue.name, "outbox") if t not in known]
        stored = self.world.stored(queue.name, tickets)
        found = {t: sent(text) for t, text in zip(tickets, stored, strict=True)}
        seen = {ticket: each for ticket, each in found.items() if each}
        self.learn_notes(queue, [e for e in ours if e.note], seen)
        for entry in ours:
            for ticket, each in seen.items() if not entry.note else ():
                if is_entry(entry, ticket, each):
                    self.name_entry(queue, entry, ticket)
                    entry.message.draft = replace(entry.message.draft, id=each.id)
                    self.is_seen(entry.message)
                    break

    def learn_notes(self, queue: Queue, ours: list[Entry], seen: dict[str, Sent]) -> None:
        """Each page of a purge has written its own note, where the model has one."""
        numbers, entries = Counter[Json](), defaultdict[Json, list[Entry]](list)
        tickets = defaultdict[Json, list[tuple[str, int]]](list)
        for entry in ours:
            assert entry.note
            what, count = entry.note
            key = entry.target, entry.message.draft.id, what
            numbers[key] += count
            entries[key].append(entry)
        for ticket, each in seen.items():
            if each.note:
                what, count = each.note
                key = each.target, each.id, what
                numbers[key] -= count
                tickets[key].append((ticket, count))
        for key, found in entries.items():
            if numbers[key] or not tickets[key]:
                continue
            first = found[0]
            for entry in found[1:]:
                del queue.outbox[entry.ticket]
            what = key[2]
            for ticket, count in tickets[key][1:]:
                note = (what, count)
                queue.outbox[ticket] = replace(first, ticket=ticket, note=note, is_named=True)
            ticket, count = tickets[key][0]
            first.note = (what, count)
            self.name_entry(queue, first, ticket)

    def name_entry(self, queue: Queue, entry: Entry, ticket: str) -> None:
        del queue.outbox[entry.ticket]
        entry.ticket, entry.is_named = ticket, True
        queue.outbox[ticket] = entry

    def learn_messages(self, queue: Queue) -> None:
        ours = [message for message in queue.existing.values() if not message.is_named]
        if ours:
            known = {id for id, message in queue.existing.items() if message.is_named}
            ids = [i for i in self.world.ids(queue.name) if i not in known | set(queue.outbox)]
            stored = dict(zip(ids, self.world.stored(queue.name, ids), strict=True))
            for message in ours:
                for id, text in stored.items():
                    if is_message(message, id, text):
                        self.name_message(queue, message, id)
                        break
        new = [m for m in queue.existing.values() if m.stamp is None and m.is_named]
        ids = [message.draft.id for message in new]
        for message, stamp in zip(new, self.world.stamps(queue.name, ids), strict=True):
            message.stamp = stamp
            self.known[message.draft.id] = None

    def name_message(self, queue: Queue, message: Message, id: str) -> None:
        del queue.existing[message.draft.id]
        message.draft = replace(message.draft, id=id)
        queue.existing[id] = message
        self.is_seen(message)

    def is_seen(self, message: Message) -> None:
        if not message.is_named:
            message.is_named, message.stamp = True, ""
        self.known[message.draft.id] = None


def read(world: World, queue: str) -> Noted:
    """All at one time."""
    hashes = ("ends", "started", "guests", "batches", "batch_ends")
    calls = [["HGETALL", f"dueq:{{{queue}}}:{part}"] for part in hashes]
    calls.append(["ZRANGE", f"dueq:{{{queue}}}:kept", "0", "-1", "WITHSCORES"])
    ends, started, guests, batches, batch_ends, kept = world.connection.commands(calls)
    records = {id: record for id, record in fields(ends).items() if id}
    return Noted(
        records,
        numbered(kept),
        numbered(started),
        numbered(guests),
        fields(batches),
        fields(batch_ends),
    )


def fields(found: Reply) -> dict[str, bytes]:
    assert isinstance(found, list)
    words = [word for word in found if isinstance(word, bytes)]
    return {name.decode(): each for name, each in zip(words[::2], words[1::2], strict=True)}


def fields_of(batch: Batch) -> dict[str, Any]:
    """As its record, and find_batch, have them."""
    return {
        "state": batch.state,
        "pushed": batch.pushed,
        **{how: batch.ends[how] for how in ENDS},
        "left": batch.left(),
        "opened_ms": batch.opened_ms,
        "closes_ms": batch.closes_ms,
        "ended_ms": batch.ended_ms,
        "keep_ms": batch.keep_ms,
        "timer": batch.timer.ticket if batch.timer else "",
    }


def like(seen: End, wanted: End) -> End:
    """As wanted, with the times that are seen, where they are about right."""
    return replace(
        wanted,
        time_ms=near(seen.time_ms, wanted.time_ms),
        began_ms=near(seen.began_ms, wanted.began_ms),
        until_ms=near(seen.until_ms, wanted.until_ms),
    )


def is_entry(entry: Entry, ticket: str, seen: Sent) -> bool:
    message = entry.message
    if dict(message.draft.headers).get(FAILED):
        alike = same_hash(ticket, entry.ticket) and same_hash(seen.id, message.draft.id)
        return seen.target == entry.target and alike
    return not seen.note and (seen.target, seen.id) == (entry.target, message.draft.id)


def is_message(message: Message, id: str, stored: bytes) -> bool:
    if dict(message.draft.headers).get(FAILED):
        return same_hash(id, message.draft.id)
    return len(id) == MADE_SIZE and stored[:1] != b"\xd2" and stored.endswith(message.draft.body)


def same_hash(id: str, other: str) -> bool:
    """Whether two made ids have all but the time in common."""
    if not (len(id) == len(other) == MADE_SIZE and id.isascii() and id.isalnum()):
        return False
    return (number(id) ^ number(other)) % (1 << 80) == 0
