"""
Pushes, reserves and acknowledges messages, and tells how much memory that kept:
cycles.py URL CYCLES

Prints one JSON object: cycles, and the growth in KiB between the end of a warm-up and the end.
"""

import contextlib
import gc
import json
import os
import sys
from pathlib import Path
from typing import Any

import dueq
import dueq.laravel
import dueq.redisson

BATCH = 100
PAGE_KIB = os.sysconf("SC_PAGE_SIZE") // 1024


def resident_kib() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * PAGE_KIB


def singles(queue: dueq.Queue, count: int) -> None:
    for _ in range(count):
        id = queue.push(b"x" * 200)
        message = one(queue)
        assert message.id == id
        message.ack()


def batches(queue: dueq.Queue, count: int) -> None:
    for _ in range(count // BATCH):
        queue.push_many(dueq.Draft(b"x" * 200, headers={"name": "value"}) for _ in range(BATCH))
        assert all(queue.ack_many(queue.reserve_many(BATCH, timeout=1)))


def one(queue: dueq.Queue | dueq.Queues) -> dueq.Message:
    message = queue.reserve(timeout=1)
    assert message
    return message


def every_verb(queue: dueq.Queue, other: dueq.Queue) -> None:
    """All that a queue can do, with outcomes and failures of all kinds. Leaves both empty."""
    queue.push(
        b"x" * 200,
        id="one",
        priority=1,
        headers={"name": "value"},
        lease=60,
        ttl=600,
        backoff=dueq.Backoff(kind="exponential", base=0.001, cap=0.001, jitter="full"),
        max_attempts=2,
        max_crashes=2,
    )
    for call in (
        lambda: queue.push("two", id="one"),
        lambda: queue.push("two", backoff=[-1]),
        lambda: queue.push("x", id="x" * 300),
        lambda: dueq.Queue("a{b", queue.url).stats(),
    ):
        with contextlib.suppress(dueq.Error):
            call()
    queue.push("three", id="one", replace="body", priority=1, max_attempts=2, backoff=[0.001])
    assert queue.find("one")
    assert queue.find("none") is None
    one(queue).release()
    with contextlib.suppress(ZeroDivisionError), one(queue):
        raise ZeroDivisionError("tried in vain " * 20)
    message = one(queue)
    message.extend(30)
    message.checkpoint("5")
    message.checkpoint("käse")
    assert not message.retry(error="e" * 4096)
    with contextlib.suppress(dueq.LeaseLost):
        message.ack()
    assert [dead.error for dead in queue.peek("dead")] == ["e" * 4096]
    assert queue.kick("one")
    one(queue).bury("again")
    assert queue.kick_all(error="again") == 1
    assert one(queue).ack(push=["next", dueq.Draft("own", id="own")], to=other.name)

    job = dueq.Draft("x", headers={"a": "b"}, backoff=[1, 2], ttl=60)
    assert queue.schedule("s", "0 2 * * *", job, zone="Europe/Berlin")
    assert not queue.schedule("s", "0 2 * * *", job, zone="Europe/Berlin")
    with contextlib.suppress(dueq.Error):
        queue.schedule("s", "61 * * * *", "x")
    with contextlib.suppress(dueq.Error):
        dueq.next_time("@daily", "Mars")
    assert dueq.next_time("@daily", "Europe/Berlin")
    assert queue.reschedule("schedule:s")
    message = one(queue)
    assert message.is_schedule
    [id] = message.fire()
    assert queue.cancel_many([id, "schedule:s"]) == ["delayed", "delayed"]

    both = dueq.Queues([queue.name, other.name], queue.url, order="round robin")
    one(both).ack()
    one(both).ack()
    both.close()

    other.push("of its own", delay=0.001)
    queue.push("dead letter", dead_letter=other.name)
    one(queue).bury("to the other")
    assert all(other.ack_many([one(other), one(other)]))

    queue.push("later", id="later", delay=600, unique=0.001)
    assert queue.reschedule("later", delay=700)
    assert queue.cancel("later")
    assert queue.cancel_many(["later"]) == [None]
    queue.push_many(["a", "b", "c"])
    queue.pause()
    assert queue.reserve() is None
    queue.resume()
    assert queue.purge("ready") == 3
    queue.push_many([dueq.Draft("x", group=name) for name in ["acme", "globex", "acme"]])
    assert [group.name for group in queue.groups()] == ["acme", "globex"]
    assert (queue.purge_group("acme"), queue.purge_group("globex")) == (2, 1)

    lock = queue.lock("door", ttl=30)
    assert lock
    with lock:
        assert queue.lock("door", ttl=30) is None
        lock.extend(60)
    assert queue.stats().ready == 0
    assert queue.rates(5)
    assert queue.failures()
    assert queue.name in dueq.queues(queue.url)
    queue.push("last")
    assert queue.remove() == 1


VALUES: list[Any] = ["text", 7, 1 << 40, 1.5, True, None, b"bytes", {"list": [1, "two"]}]


def redisson(url: str) -> None:
    """Each codec, with all values it has, and damage. Leaves the queue empty."""
    queues = (
        dueq.redisson.DelayedQueue("leaks", url, "kryo5"),
        dueq.redisson.DelayedQueue("leaks", url, "bytes"),
        dueq.redisson.DelayedQueue("leaks", url, "string"),
        dueq.redisson.DelayedQueue("leaks", url, "long"),
        dueq.redisson.DelayedQueue("leaks", url, "jackson"),
        dueq.redisson.DelayedQueue("leaks", url, "typed json"),
    )
    for queue in queues:
        with queue:
            for value in VALUES:
                with contextlib.suppress(dueq.Error):
                    queue.offer(value, delay=600)
                    queue.offer(value)
                    assert queue.contains(value)
                    assert queue.remove(value)
            assert queue.size().delayed == len(queue.peek(20))
            with contextlib.suppress(dueq.Error):
                queue.poll()
            while queue.transfer().moved:
                pass
            queue.take_many(20, timeout=0)
            assert queue.take(timeout=0) is None
            queue.destroy()
    with dueq.redisson.DelayedQueue("leaks", url, codec="string") as queue, queue.transferring():
        queue.offer("soon", delay=0.001)
        assert queue.take(timeout=10) == "soon"


def laravel(url: str) -> None:
    """All that a queue of Laravel's can do. Leaves it empty."""
    with dueq.laravel.Queue("leaks", url) as queue:
        queue.push("Job@run", {"order": [17, None]}, max_tries=3, backoff=[1, 2])
        queue.push_object("Job", 'O:3:"Job":0:{}')
        queue.push_raw('{"job":"A","attempts":0}')
        for payload in ("{", "[" * 3000, "{}"):
            with contextlib.suppress(dueq.Error):
                queue.push_raw(payload)
        queue.later(600, "Job@run")
        first, second, third = queue.pop_many(10)
        assert first.data == {"order": [17, None]}
        assert (second.display_name, third.attempts) == ("Job", 1)
        first.release(600)
        with contextlib.suppress(dueq.LeaseLost):
            first.delete()
        assert queue.delete_many([second, third, first]) == [True, True, False]
        assert not queue.migrate().moved
        assert queue.pop(timeout=0.002) is None
        queue.push("Job@run")
        last = queue.pop(timeout=10)
        assert last
        last.delete()
        assert queue.size().delayed == 2
        assert queue.clear() == 2


def run(queue: dueq.Queue, other: dueq.Queue, cycles: int) -> None:
    singles(queue, cycles // 10)
    batches(queue, cycles - cycles // 10)
    for _ in range(cycles // 500):
        every_verb(queue, other)
        redisson(queue.url)
        laravel(queue.url)


def main() -> None:
    url, cycles = sys.argv[1], int(sys.argv[2])
    queue, other = dueq.Queue("leaks", url), dueq.Queue("leaks-other", url)
    resident_kib()
    run(queue, other, max(cycles // 20, 10_000))
    warm = resident_kib()
    for tenth in range(10):
        run(queue, other, cycles // 10)
        grown = resident_kib() - warm
        print(
            f"  python {(tenth + 1) * 10:3d} %  {warm} KiB {grown:+d}", file=sys.stderr, flush=True
        )
    print(json.dumps({"cycles": cycles, "growth_kib": grown}))


main()
