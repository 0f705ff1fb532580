"""
The worker of the chaos run in Python:
python worker.py ROLE LEDGER URL QUEUE AWAY FAR NUMBER SEED RATE STOP

ROLE is produce, consume (from QUEUE and AWAY), reach (consume from FAR), or drain (consume from all
without mischief). It pushes to QUEUE and AWAY, and what ends or has successors goes to all three.
It ends when the file STOP exists. README.md says what it writes to LEDGER.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, replace
from functools import partial

from worker_common import DUPLICATE, LEASE_LOST, UNKNOWN, WorkerBase, ms_of, now_ms

from dueq import Backoff, Draft, Message, Queue, Queues

MOST = 200  # that one call may take
BACKOFFS = {
    "default": None,
    "fixed:0:none": Backoff("fixed", 0),
    "fixed:150:none": Backoff("fixed", 0.15),
    "linear:60,150:none": Backoff("linear", 0.06, 0.15),
    "exponential:50,300:equal": Backoff("exponential", 0.05, 0.3, "equal"),
    "list:20,200,80:full": Backoff("list", jitter="full", delays=(0.02, 0.2, 0.08)),
}
NAMES: dict[object, str] = {backoff: name for name, backoff in BACKOFFS.items()}
GROUPS = ("a", "b", "c", "d:%")
PAST = {
    "ack": "acked",
    "retry": "retried",
    "release": "released",
    "bury": "buried",
    "extend": "extended",
}


class Warned(logging.Handler):
    """Counts what a loop cannot raise: that its end failed, or messages were lost."""

    count = 0

    def emit(self, _: logging.LogRecord) -> None:
        self.count += 1


class Worker(WorkerBase):
    def __init__(
        self,
        role: str,
        ledger: str,
        url: str,
        names: tuple[str, str, str],
        number: str,
        seed: str,
        stop: str,
    ) -> None:
        super().__init__(ledger, number, seed, stop)
        self.names = names
        self.queues = {name: Queue(name, url) for name in names}
        of = {"reach": names[2:], "drain": names}.get(role, names[:2])
        self.sources: tuple[Queue | Queues, ...] = (
            *(self.queues[name] for name in of),
            Queues(of, url),
            Queues(of, url, "round robin"),
        )
        self.pushes = 0
        self.pushers = {name: queue.pusher(most=30) for name, queue in self.queues.items()}
        self.warned = Warned()
        logging.getLogger("dueq").addHandler(self.warned)

    # ---- The producer ----

    def produce(self, rate: float) -> None:
        for count in self.batches(rate):
            queue = self.names[self.rare(0.3)]
            plain = self.rare(0.4)
            again = [
                Draft(self.padding()) if plain else self.draft(own=not self.rare(0.2))
                for _ in range(count)
            ]
            if queue == self.names[1]:
                again = [self.grouped(draft) for draft in again]
            tries = 0
            while again and tries < 4 and not self.stopped():
                again = self.push(queue, again)
                tries += 1

    def draft(self, own: bool) -> Draft:
        """One that may ask for anything. own: with an id of its own."""
        kind = self.chance.random()
        later = self.chance.randint(20, 2000)
        unique = self.rare(0.2)
        self.pushes += 1
        return Draft(
            self.padding(),
            delay=later / 1000 if kind < 0.3 else None,
            at=(now_ms() + later) / 1000 if 0.3 <= kind < 0.4 else None,
            id=f"{'once' if unique else 'own'}-{self.number}-{self.pushes}" if own else None,
            max_attempts=self.chance.choice((None, 1, 2, 5)),
            lease=1.5 if self.rare(0.1) else None,
            priority=self.chance.choice((1, 0, 0, -1)),
            ttl=86400 if self.rare(0.2) else None,
            backoff=self.chance.choice(tuple(BACKOFFS.values())),
            max_crashes=self.chance.choice((None, 1, 2, 5)),
            dead_letter=self.chance.choice(self.names) if self.rare(0.5) else None,
            unique=5 if own and unique else None,
        )

    def grouped(self, draft: Draft) -> Draft:
        """Only one queue has groups, so its messages do not move to another one."""
        if self.rare(0.4):
            return draft
        return replace(draft, group=self.chance.choice(GROUPS), priority=0, dead_letter=None)

    def intend(self, queue: str, draft: Draft) -> tuple[str, Draft, str]:
        """A mark for a draft, the draft with the mark, and the line that says so."""
        self.pushes += 1
        mark = f"{self.number}.{self.pushes}"
        due = now_ms()
        if isinstance(draft.delay, float):
            due += int(draft.delay * 1000)
        elif isinstance(draft.at, float):
            due = int(draft.at * 1000)
        line = (
            f"intend {mark} {draft.id or '-'} {due} {queue}"
            f" {draft.max_attempts or 0} {draft.max_crashes or 0}"
            f" {draft.dead_letter or '-'} {NAMES[draft.backoff]}"
        )
        return mark, replace(draft, body=f"{mark} {str(draft.body).rpartition(' ')[2]}"), line

    def push(self, queue: str, drafts: list[Draft]) -> list[Draft]:
        """Returns those to push again: of an id of their own, and an outcome that is not known."""
        marks, marked, lines = zip(*(self.intend(queue, draft) for draft in drafts), strict=True)
        self.note(*lines)
        self.note(
            *(
                f"grouped {mark} {draft.group}"
                for mark, draft in zip(marks, marked, strict=True)
                if draft.group and not (draft.delay or draft.at)
            )
        )
        if self.rare(0.5):
            return self.fly(queue, marks, marked)
        status, ids = self.call("push", partial(self.queues[queue].push_many, marked))
        self.note(*self.outcomes(marks, status, ids))
        return [draft for draft in marked if draft.id] if status in UNKNOWN else []

    def fly(self, queue: str, marks: tuple[str, ...], drafts: tuple[Draft, ...]) -> list[Draft]:
        """As push(), by a pusher."""
        pusher = self.pushers[queue]
        pushes = []
        for draft in drafts:
            options = {one.name: getattr(draft, one.name) for one in fields(draft)}
            pushes.append(pusher.push(options.pop("body"), **options))
        with suppress(ExceptionGroup):
            pusher.flush()
        again, failed = [], set()
        for mark, draft, push in zip(marks, drafts, pushes, strict=True):
            status = push.error.status if push.error else 0
            if push.error and status < 0:
                failed.add(f"error {status} push {push.error}".replace("\n", " "))
            ids: list[str | None] | None = [push.id] if not status else None
            if status == DUPLICATE:
                ids = [None]
            self.note(*self.outcomes((mark,), status, ids))
            if draft.id and status in UNKNOWN:
                again.append(draft)
        self.note(*failed)
        return again

    # ---- The consumer ----

    def consume(self, calm: bool) -> None:
        while not self.stopped():
            source = self.chance.choice(self.sources)
            if not calm and self.rare(0.5):
                self.call("loop", partial(self.loop, source))
                continue
            lease = self.chance.randint(1000, 2000)
            count = self.chance.choice((1, 10, 50, 100, 200))
            wait = self.chance.choice((0.0, self.chance.uniform(0.0, 1.0), 5.0))
            _, messages = self.call(
                "reserve", partial(source.reserve_many, count, wait, lease / 1000)
            )
            if not messages:
                self.note("empty")
                continue
            lines = []
            for message in messages:
                end = ms_of(message.time)
                lines.append(
                    f"got {key(message)} {end - lease} {end}"
                    f" {message.queue} {message.attempt} {message.crashes}"
                )
            self.note(*lines)
            self.ack(messages if calm else self.mischief(messages))

    def loop(self, source: Queue | Queues) -> None:
        """By a loop with a heartbeat. What it notes is done when nothing was lost or failed."""
        lease = self.chance.randint(1500, 2500)
        prefetch, left = self.chance.randint(1, 20), self.chance.randint(1, 200)
        warned, noted = self.warned.count, []
        taken = []
        with source.consume(prefetch, lease / 1000, timeout=0.5) as consumer:
            try:
                for message in consumer:
                    taken.append(key(message))
                    end = ms_of(message.time)
                    self.note(
                        f"kept {taken[-1]} {end - lease} {end} {message.queue}"
                        f" {message.attempt} {message.crashes} {self.number}"
                    )
                    if self.end_in_loop(message):
                        noted.append(taken[-1])
                    left -= 1
                    if not left or self.stopped():
                        break
            finally:
                self.note(*(f"closed {one} {now_ms()}" for one in taken))
        if not consumer.lost and self.warned.count == warned:
            self.note(*(f"acked {one} {now_ms()}" for one in noted))
        self.note("empty")

    def end_in_loop(self, message: Message) -> bool:
        """Does something with a message, or nothing. Whether it is acknowledged by its block."""
        if self.rare(0.01):
            time.sleep(self.chance.uniform(0, 4))
        if self.rare(likely(message)):
            self.note(f"retrying {key(message)} {now_ms()} backoff")
            with suppress(ArithmeticError), message:
                raise ArithmeticError
        elif self.rare(0.02):
            self.settle("release", message, now_ms() + 100, partial(message.release, 0.1))
        elif self.rare(0.1):
            self.succeed(message)
        elif not self.rare(0.005):
            self.note(f"acking {key(message)} {now_ms()} -")
            with message:
                pass
            return True
        return False

    def mischief(self, messages: list[Message]) -> list[Message]:
        """Dawdles, and does all but acknowledge to some. Returns those to acknowledge."""
        dawdle = self.chance.random()
        if dawdle < 0.1:
            time.sleep(self.chance.uniform(0, 2.2 if dawdle < 0.02 else 0.2))
        rest = []
        action: Callable[[], object]
        for message in messages:
            crashes = 0.1 if message.max_crashes == 2 or message.crashes else 0.005
            delay = self.chance.choice((0, self.chance.randint(1, 1000)))
            if self.rare(likely(message)):
                by_policy = self.rare(0.5)
                action = partial(message.retry, None if by_policy else delay / 1000, "?")
                asked = "backoff" if by_policy else now_ms() + delay
                self.settle("retry", message, asked, action)
            elif self.rare(crashes):
                continue
            elif self.rare(0.02):
                action = partial(message.release, delay / 1000)
                self.settle("release", message, now_ms() + delay, action)
            elif self.rare(0.03):
                self.settle("bury", message, "-", message.bury)
            elif self.rare(0.1):
                self.succeed(message)
            else:
                if self.rare(0.01):
                    lease = self.chance.randint(1000, 2000)
                    action = partial(message.extend, lease / 1000)
                    self.settle("extend", message, now_ms() + lease, action)
                rest.append(message)
        return rest

    def settle(
        self, verb: str, message: Message, asked: object, action: Callable[[], object]
    ) -> None:
        doing = f"{verb.removesuffix('e')}ing"
        self.note(f"{doing} {key(message)} {now_ms()} {asked}")
        status, answer = self.call(verb, action)
        self.note(*self.settled("buried" if answer is False else PAST[verb], status, key(message)))

    def succeed(self, message: Message) -> None:
        """Acknowledges a message and pushes some in its place, one of them under its id."""
        target = self.chance.choice(self.names)
        count = MOST - 1 if self.rare(0.01) else 1
        drafts = [self.draft(own=self.rare(0.5)) for _ in range(count)]
        if self.rare(0.5):
            own = message.id.startswith("own-")
            drafts.append(Draft(self.padding(), id=message.id if own else None))
        marks, marked, lines = zip(*(self.intend(target, draft) for draft in drafts), strict=True)
        self.note(*lines, f"acking {key(message)} {now_ms()} {','.join(marks)}")
        status, ids = self.call("ack", partial(message.ack, push=marked, to=target))
        self.note(*self.outcomes(marks, status, ids), *self.settled("acked", status, key(message)))

    def ack(self, messages: list[Message]) -> None:
        if len(messages) < 2:
            for message in messages:
                self.settle("ack", message, "-", message.ack)
            return
        begin = now_ms()
        self.note(*(f"acking {key(message)} {begin} -" for message in messages))
        queue = self.queues[messages[0].queue]
        tickets = [message.ticket for message in messages]
        status, done = self.call("ack", partial(queue.ack_many, tickets))
        lines = []
        for message, ok in zip(messages, done or [True] * len(messages), strict=True):
            lines += self.settled("acked", status if ok else LEASE_LOST, key(message))
        self.note(*lines)


def likely(message: Message) -> float:
    """To fail: what failed is, or can move, but not so often that its backoff lasts for minutes."""
    if message.attempt >= 6:
        return 0
    return 0.4 if message.dead_letter or message.attempt > 1 else 0.02


def key(message: Message) -> str:
    return f"{message.body.split(b' ', 1)[0].decode()} {message.deliveries}"


def main() -> None:
    role, ledger, url, queue, away, far, number, seed, rate, stop = sys.argv[1:]
    worker = Worker(role, ledger, url, (queue, away, far), number, seed, stop)
    if role == "produce":
        worker.produce(float(rate))
    else:
        worker.consume(role == "drain")


if __name__ == "__main__":
    main()
