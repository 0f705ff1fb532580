"""
A producer or a worker of the version that its interpreter has:
python peer.py produce|work NAME LEDGER

It works on the server of DUEQ_URL until SIGTERM, and writes what it does to LEDGER, a JSON object a
line: `pushed` with the id and the first time that it may be delivered, `refused`, `start` of a
delivery, and `done` when it is acknowledged. The queues are orders, chains (each message has a
successor in far) and far. A body says what a worker does with it.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from itertools import count

from dueq import Draft, Duplicate, Message, Queue, Queues

FAILURES = [(b"fail", 1), (b"fail", 2)]


class Peer:
    def __init__(self, name: str, ledger: str) -> None:
        self.name = name
        self.stopped = False
        self._ledger = os.open(ledger, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        signal.signal(signal.SIGTERM, self._stop)

    def _stop(self, *_: object) -> None:
        self.stopped = True

    def note(self, what: str, id: str, **more: object) -> None:
        line = json.dumps({"what": what, "id": id, **more}) + "\n"
        os.write(self._ledger, line.encode())

    # ---- The producer ----

    def produce(self) -> None:
        with Queue("orders") as orders, Queue("chains") as chains:
            for n in count():
                if self.stopped:
                    return
                self.push(orders, chains, n)
                time.sleep(0.01)

    def push(self, orders: Queue, chains: Queue, n: int) -> None:
        id = f"{self.name} {n}"
        delay = random.uniform(0.05, 5)
        shapes = [
            (orders, Draft("plain")),
            (orders, Draft("plain", id=id, delay=delay, ttl=3600)),
            (orders, Draft("fail", id=id, backoff=[0.1, 0.3], max_attempts=4)),
            (orders, Draft("plain", delay=delay)),
            (orders, Draft("die", id=id, max_attempts=1)),
            (orders, Draft("plain", id=f"unique {n}", unique=3600)),
            (chains, Draft("chain", id=id, max_crashes=100)),
            (orders, Draft("plain", headers={"n": "v"}, priority=1 - n % 3)),
        ]
        queue, draft = shapes[n % len(shapes)]
        due = int(1000 * (time.time() + (delay if draft.delay else 0)))
        try:
            [pushed] = queue.push_many([draft])
        except Duplicate:
            pushed = None
        if pushed is None:
            self.note("refused", draft.id or "")
        else:
            self.note("pushed", pushed, due=due)

    # ---- The worker ----

    def work(self) -> None:
        with Queue("orders") as orders:
            orders.schedule("tick", "every 1s", "plain", catchup="all")
        with Queues(["orders", "chains", "far"], order="round robin") as queues:
            while not self.stopped:
                with queues.consume(prefetch=3, lease=3, timeout=1) as consumer:
                    for message in consumer:
                        self.handle(message)
                        if self.stopped:
                            break

    def handle(self, message: Message) -> None:
        if message.id.startswith("schedule:"):
            message.fire()
            return
        self.note("start", message.id, deliveries=message.deliveries, at=int(1000 * time.time()))
        body = message.body
        if body == b"hang" and message.deliveries == 1:
            signal.pause()
        elif (body, message.attempt) in FAILURES or (body, message.deliveries) == (b"die", 1):
            message.retry(error="not yet")
        elif body == b"chain":
            successor = f"after {message.id}"
            self.note("pushed", successor, due=0)
            message.ack(push=[Draft("plain", id=successor)], to="far")
            self.note("done", message.id)
        else:
            message.ack()
            self.note("done", message.id)


if __name__ == "__main__":
    role, name, ledger = sys.argv[1:]
    getattr(Peer(name, ledger), role)()
