"""Judges whether consumers had more of a group than its limits allow, by what they noted."""

from __future__ import annotations

from collections.abc import Iterator

from ledger import GroupLimit, Work

# Times are whole milliseconds, and a server's clock may stand still while it runs some calls.
ROUNDED_MS = 2
# So long before its answer a call was done, at most.
CALL_MS = 1000


def over_limit(limit: GroupLimit) -> Iterator[tuple[int, int]]:
    """
    Of each delivery that should not have come, since when a failover may have lost what it counts
    against (what is at work, the use of the rate, a hold), and when it came.
    """
    running: list[Work] = []
    interval = 1000 / limit.rate if limit.rate else 0.0
    next_ms, since = 0.0, 0
    for work in sorted(limit.work, key=lambda work: work.now):
        running = [one for one in running if one.stop > work.now + ROUNDED_MS]
        if limit.concurrency and len(running) >= limit.concurrency:
            yield running[0].now, work.now
        running.append(work)
        if next_ms <= work.now:
            since = work.now
        if next_ms - (limit.burst - 1) * interval > work.now + ROUNDED_MS:
            yield since, work.now
        next_ms = max(next_ms, work.now) + interval
        for begin, end in limit.holds:
            if begin < work.now < end:
                yield begin - CALL_MS, work.now
