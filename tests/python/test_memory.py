import contextlib
import gc
import tracemalloc
from pathlib import Path

import dueq


def resident() -> int:
    """Bytes of memory that this process holds."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096


def cycles(queue: dueq.Queue, count: int) -> None:
    for _ in range(count // 20):
        queue.push_many(
            dueq.Draft(b"x" * 500, headers={"name": "value"}, delay=0) for _ in range(19)
        )
        queue.push("one", id="one")
        with contextlib.suppress(dueq.Duplicate):
            queue.push("two", id="one")
        messages = queue.reserve_many(20, timeout=1)
        messages[0].extend(30)
        assert all(queue.ack_many(messages))
        assert queue.find("one") is None
        assert queue.stats().ready == 0


def test_memory_flat_over_20000_messages(queue: dueq.Queue) -> None:
    cycles(queue, 2000)
    gc.collect()
    tracemalloc.start()
    cycles(queue, 400)
    objects, held = tracemalloc.get_traced_memory()[0], resident()
    cycles(queue, 17_600)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - objects
    tracemalloc.stop()
    assert grown < 200_000
    assert resident() - held < 4_000_000


def test_memory_of_failures_and_links(queue: dueq.Queue) -> None:
    def fail(count: int) -> None:
        for _ in range(count):
            with contextlib.suppress(dueq.Error):
                queue.push(bytes(10_000), id="x" * 256, headers={"name": "value" * 100})
            dueq.Queue("other", queue.url).close()

    fail(500)
    held = resident()
    fail(5000)
    assert resident() - held < 4_000_000
