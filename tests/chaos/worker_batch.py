"""
The worker of a chaos run with kept ends and batches, in Python:
python worker_batch.py ROLE LEDGER URL QUEUE OTHER NUMBER SEED RATE STOP

ROLE is open (batches in QUEUE and OTHER, and push their members to both), member (end the members,
and note the callbacks), finish (the same, without mischief), or ask (how messages have ended, of
which the ledgers beside LEDGER tell). README.md says what it writes to LEDGER.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path

from batch_ledger import ABSENT, ALIVE, LONG_MS, SHORT_MS
from worker_common import WorkerBase, ms_of, now_ms

from dueq import Backoff, Draft, Message, Queue, Queues
from dueq.draft import TaskDraft
from dueq.errors import InvalidError

NOT_FOUND = 3
RATE, MOST_S = 12.0, 1.0  # members a second; the longest pause, s
TRIES = 3
LATELY = 300  # messages of which an asker chooses
BACKOFF = Backoff("fixed", 0.15)


class Worker(WorkerBase):
    def __init__(
        self, ledger: str, url: str, names: tuple[str, str], number: str, seed: str, stop: str
    ) -> None:
        super().__init__(ledger, number, seed, stop)
        self.names = names
        self.queues = {name: Queue(name, url) for name in names}
        self.sources: tuple[Queue | Queues, ...] = (
            *self.queues.values(),
            Queues(names, url),
            Queues(names, url, "round robin"),
        )
        self.folder = Path(ledger).parent
        self.made = 0
        self.read = Counter[Path]()  # bytes of the ledgers
        self.known: list[tuple[str, str]] = []  # messages: id and queue

    def name(self, kind: str) -> str:
        self.made += 1
        return f"{kind}-{self.number}-{self.made}"

    # ---- Openers ----

    def open(self) -> None:
        while not self.stopped():
            if self.rare(0.3):
                count = self.push(None, self.chance.choice(self.names))
            else:
                count = self.batch()
            self.note("empty")
            time.sleep(min(count / RATE, MOST_S))

    def batch(self) -> int:
        """Returns the number of members."""
        home, other = self.chance.sample(self.names, 2)
        id = self.name("b")
        batch = self.queues[home].batch(
            id,
            then=self.callback(id, "then", other),
            catch=self.callback(id, "catch", other),
            finally_=self.callback(id, "finally", other),
            open=self.chance.uniform(2, 6),
        )
        self.note(f"opening {id} {now_ms()} {home}")
        for _ in range(TRIES):
            status, _ = self.call("open_batch", batch.open)
            if status == 0:
                break
        else:
            return 1
        self.note(f"opened {id} {now_ms()}")
        pushes = self.chance.choice((0, 1, 1, 2, 3))
        count = sum(self.push((id, home), self.chance.choice(self.names)) for _ in range(pushes))
        if self.rare(0.05):
            self.call("cancel_batch", partial(batch.cancel, self.chance.choice((home, other))))
        # Some batches close by their own time limit.
        for _ in range(TRIES if self.rare(0.9) else 0):
            if self.call("close_batch", batch.close)[0] == 0:
                break
        return max(count, 1)

    def callback(self, batch: str, name: str, other: str) -> Draft:
        """For the batch's queue, or for the other one."""
        own = f"c-{batch}-{name}" if self.rare(0.5) else None
        if self.rare(0.5):
            return TaskDraft(f"{name} {batch}", id=own, queue=other)
        return Draft(f"{name} {batch}", id=own)

    def push(self, batch: tuple[str, str] | None, target: str, most: int = 5) -> int:
        """
        Pushes messages whose ends are kept, and returns their number. batch: the id and the queue
        of the one whose members they are.
        """
        count = 200 if most > 1 and self.rare(0.01) else self.chance.randint(1, most)
        keep_ms = SHORT_MS if not batch and self.rare(0.3) else LONG_MS
        drafts = [self.draft(keep_ms) for _ in range(count)]
        asked = f"{batch[0] if batch else '-'} {target} {keep_ms} {now_ms()}"
        self.note(*(f"member {draft.id} {asked}" for draft in drafts))
        ids = self.call("push", partial(self.store, batch, target, drafts))[1] or ()
        end = now_ms()
        self.note(*(f"stored {id} {end}" for id in ids if id))
        return count

    def draft(self, keep_ms: int) -> Draft:
        return Draft(
            self.padding(),
            id=self.name("m"),
            keep=keep_ms / 1000,
            delay=self.chance.uniform(0.02, 1) if self.rare(0.3) else None,
            ttl=1.5 if self.rare(0.03) else None,
            max_attempts=self.chance.choice((16, 16, 1, 2)),
            max_crashes=self.chance.choice((16, 16, 1, 2)),
            priority=self.chance.choice((1, 0, 0, -1)),
            backoff=BACKOFF,
        )

    def store(
        self, batch: tuple[str, str] | None, target: str, drafts: list[Draft]
    ) -> list[str | None]:
        if not batch:
            return self.queues[target].push_many(drafts)
        id, home = batch
        try:
            return self.queues[home].batch(id).push_many(drafts, target)
        except InvalidError as error:
            # It has ended: by its time limit, or as this worker's lease was lost.
            if "no such batch" not in str(error):
                raise
            return []

    # ---- Those who end members ----

    def consume(self, calm: bool) -> None:
        while not self.stopped():
            source = self.chance.choice(self.sources)
            if self.rare(0.4):
                self.call("loop", partial(self.loop, source, calm))
                continue
            lease = self.chance.randint(1000, 2000)
            count = self.chance.choice((1, 1, 10, 50))
            wait = self.chance.choice((0.0, self.chance.uniform(0, 1), 2.0))
            _, messages = self.call(
                "reserve", partial(source.reserve_many, count, wait, lease / 1000)
            )
            if not messages:
                self.note("empty")
                continue
            if not calm and self.rare(0.05):
                time.sleep(self.chance.uniform(0, 2.2))
            members = [message for message in messages if is_member(message)]
            if len(members) > 1 and self.rare(0.2):
                self.ack_many(members)
                messages = [message for message in messages if not is_member(message)]
            for message in messages:
                self.end(message, lease, calm)

    def loop(self, source: Queue | Queues, calm: bool) -> None:
        lease = self.chance.randint(1500, 2500)
        left = self.chance.randint(1, 50)
        with source.consume(self.chance.randint(1, 20), lease / 1000, timeout=0.5) as consumer:
            for message in consumer:
                if is_member(message) and self.rare(0.4):
                    # This ack goes with the consumer's next request.
                    self.note(f"giving {key(message)} {now_ms()} -")
                    with message:
                        pass
                else:
                    self.end(message, lease, calm)
                left -= 1
                if not left or self.stopped():
                    break
        self.note("empty")

    def end(self, message: Message, lease: int, calm: bool) -> None:
        if not is_member(message):
            self.hear(message, ms_of(message.time) - lease, calm)
            return
        kind = 1.0 if calm else self.chance.random()
        if kind < 0.03:
            self.call("bury", partial(message.bury, "?"))
        elif kind < 0.07:
            self.call("retry", partial(message.retry, 0.05, "?"))
        elif kind < 0.09:
            pass  # its lease ends, or its loop
        elif kind < 0.11:
            self.call("release", message.release)
        else:
            if kind < 0.2 and message.batch:
                batch = message.batch, message.batch_queue or message.queue
                self.push(batch, self.chance.choice(self.names), 2)
            self.ack(message)

    def ack(self, message: Message) -> None:
        result = self.name("r") if self.rare(0.7) else None
        self.note(f"giving {key(message)} {now_ms()} {result or '-'}")
        text = result and f"{result} {self.padding()}"
        if self.call("ack", partial(message.ack, result=text))[0] == 0:
            self.note(f"given {key(message)} {now_ms()}")

    def ack_many(self, members: list[Message]) -> None:
        begin = now_ms()
        self.note(*(f"giving {key(message)} {begin} -" for message in members))
        tickets = [message.ticket for message in members]
        self.call("ack", partial(self.queues[members[0].queue].ack_many, tickets))

    def hear(self, message: Message, time_ms: int, calm: bool) -> None:
        """Notes a callback. time_ms: when it was delivered, by the server's clock."""
        name, batch = message.body.decode().split(" ")
        callback = f"{batch} {name} {key(message)}"
        self.note(f"called {callback} {time_ms} {message.queue}")
        if not calm and self.rare(0.05):
            self.call("release", message.release)
        elif self.call("ack", message.ack)[0] == 0:
            self.note(f"heard {callback} {now_ms()}")

    # ---- Those who ask ----

    def ask(self) -> None:
        while not self.stopped():
            self.learn()
            if not self.known:
                self.note("empty")
                time.sleep(0.1)
                continue
            id, queue = self.chance.choice(self.known[-LATELY:])
            wait = self.chance.choice((0.0, 0.0, 0.5, 3.0))
            begin = now_ms()
            status, end = self.call("outcome", partial(self.queues[queue].outcome, id, wait))
            if status in (0, NOT_FOUND):
                outcome = end.outcome if end else ABSENT if status else ALIVE
                result = end.result.split(b" ")[0].decode() if end and end.has_result else "-"
                asked = f"{begin} {now_ms()} {round(wait * 1000)}"
                self.note(f"asked {id} {asked} {outcome} {result} {self.number}")
            time.sleep(self.chance.uniform(0, 0.05))

    def learn(self) -> None:
        """Reads of what was pushed since."""
        for pattern in ("*-open.ledger", "*-member.ledger"):
            for path in self.folder.glob(pattern):
                with path.open("rb") as ledger:
                    ledger.seek(self.read[path])
                    lines = ledger.read().rpartition(b"\n")[0]
                self.read[path] += len(lines)
                for line in lines.decode().splitlines():
                    word, *rest = line.split(" ")
                    if word == "member":
                        self.known.append((rest[0], rest[2]))


def is_member(message: Message) -> bool:
    """Or pushed for itself. The others are callbacks."""
    return message.id.startswith("m-")


def key(message: Message) -> str:
    return f"{message.id} {message.deliveries}"


def main() -> None:
    role, ledger, url, queue, other, number, seed, _, stop = sys.argv[1:]
    worker = Worker(ledger, url, (queue, other), number, seed, stop)
    if role == "open":
        worker.open()
    elif role == "ask":
        worker.ask()
    else:
        worker.consume(role == "finish")


if __name__ == "__main__":
    main()
