"""A queue, and several at once: the producer's and the consumer's side."""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal, Self, TypeVar, Unpack, overload

from dueq import _core, _trace
from dueq._call import Answer, Call, counted, on, push_to, stored_id, stored_ids
from dueq._link import KEYED, opener
from dueq._log import log
from dueq._message import (
    STATES,
    MessageBase,
    State,
    StateName,
    listed,
    settled,
    state_number,
    tickets,
)
from dueq._weights import weighted_order
from dueq.aio.batch import Batch
from dueq.aio.consumer import Consumer
from dueq.aio.lock import Lock
from dueq.aio.message import Message
from dueq.aio.pool import Closing, Pool
from dueq.aio.pusher import Pusher
from dueq.draft import Body, Draft, Options, batches, durability_row, row, with_options
from dueq.errors import InvalidError, NotFound
from dueq.inspection import MOST_GROUPS, BatchStatus, End, Failure, Group, WorkerInfo, each_once
from dueq.schedule import Catchup, schedule_row
from dueq.stats import Finding, Limits, Rate, Stats
from dueq.times import due_ms, duration_ms, limit_ms, optional_ms, patience_ms, point_ms

if TYPE_CHECKING:
    from dueq._link import Link

R = TypeVar("R")

# Made from core/options.toml by core/verbs.py: places in a row.
_TIMEOUT: Final = 2  # its index in a row
# The end of what was made.

_ORDERS = {"preference": _core.PREFERENCE, "round robin": _core.ROUND_ROBIN}


class Source(Closing):
    """The base of Queue and Queues: delivers messages."""

    __contains__ = None  # `in` would take messages

    def __init__(
        self,
        url: str | None,
        names: tuple[str, ...],
        order: int,
        turns: tuple[str, ...] | None = None,
        durability: _core.DurabilityRow | None = None,
        partitions: int | None = None,
        keep_ms: int = 0,
    ) -> None:
        self._durability = durability
        self._keep_ms = keep_ms
        self.partitions = partitions
        open = opener(durability, names[0], partitions, keep_ms)
        super().__init__(Pool(url, *names, open=open), ", ".join(names))
        self._order = order
        self._turns = turns or names
        self.names = names

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_home": self._home._url}

    def __setstate__(self, state: dict[str, Any]) -> None:
        open = opener(
            state["_durability"], state["names"][0], state["partitions"], state["_keep_ms"]
        )
        self.__dict__.update(state, _home=Pool(state["_home"], *state["names"], open=open))

    def _sources(self) -> tuple[str, ...]:
        """The names of the handles from which messages are reserved."""
        return self._turns

    def _name_of(self, answer: Answer) -> str:
        """The name of the queue of an answer's messages."""
        name = self._turns[0] if self.partitions else self._turns[answer.queue]
        return _core.partition_name(name, answer.queue) if self.partitions else name

    # Made from core/options.toml by core/verbs.py: the options of reserve.
    @overload
    async def reserve(
        self,
        timeout: None,
        lease: float | timedelta | None = None,
    ) -> Message: ...
    @overload
    async def reserve(
        self,
        timeout: float | timedelta = 0.0,
        lease: float | timedelta | None = None,
    ) -> Message | None: ...
    async def reserve(
        self,
        timeout: float | timedelta | None = 0.0,
        lease: float | timedelta | None = None,
    ) -> Message | None:
        """
        Reserves the next ready message. None: there is none. Durations are seconds or a timedelta.

        timeout  how long to wait for a message; 0: not at all; None: without end
        lease    after this time the message is delivered again, unless it was acknowledged,
                 retried, released, buried or extended before; None: the message's own lease, else
                 30 seconds

        With the timeout None the result is never None. A paused queue delivers nothing: the call
        waits until the queue is resumed.

            while message := await queue.reserve(timeout=10):
                async with message:
                    await work(message.body)
        """
        row = (
            1,
            self._order,
            patience_ms(timeout),
            limit_ms(lease, "lease"),
        )
        messages = await self._reserve(row)
        return messages[0] if messages else None

    async def reserve_many(
        self,
        count: int,
        timeout: float | timedelta | None = 0.0,
        lease: float | timedelta | None = None,
    ) -> list[Message]:
        """
        Reserves up to `count` (1 to 200) messages, all of one queue, as reserve(). Waits only for
        the first. A message that has crashed is delivered alone. In a queue that has had messages
        over 1 MiB, a call delivers at most 8 MiB, or one larger message.
        """
        row = (
            counted(count, "count"),
            self._order,
            patience_ms(timeout),
            limit_ms(lease, "lease"),
        )
        return await self._reserve(row)

    # The end of what was made.

    async def _reserve(self, options: _core.ReserveRow) -> list[Message]:
        def submit(link: Link) -> int:
            handles = tuple(link.queues[name] for name in self._sources())
            return _core.reserve_any_submit(handles, options)

        def undo(answer: Answer) -> Iterable[Call]:
            name = self._name_of(answer)
            taken = tuple(Message(self._home, name, row).ticket for row in answer.messages)
            return [on(name, _core.release_submit, taken, 0)] if taken else []

        since = time.time_ns()
        answer = await self._home.call(Call(submit, options[_TIMEOUT] != 0, undo))
        if answer.quarantined:
            log.warning("%s: %d damaged entries were quarantined", self._label, answer.quarantined)
        queue = self._name_of(answer)
        messages = [Message(self._home, queue, row) for row in answer.messages]
        if _trace.tracer and messages:
            _trace.tracer.received(messages, since)
        return messages

    # Made from core/options.toml by core/verbs.py: the options of consume.
    def consume(
        self,
        prefetch: int = 1,
        lease: float | timedelta | None = None,
        max_run: float | timedelta | None = _core.MAX_RUN_MS / 1000,
        timeout: float | timedelta | None = None,
        slack: float | timedelta = 0.0,
        concurrency: int | None = 1,
        tasks: str | None = None,
    ) -> Consumer:
        """
        Makes a loop over messages as they become ready, until close() is called: see Consumer.
        Durations are seconds or a timedelta.

        prefetch     how many messages are reserved at a time, 1 to 200
        lease        after this time a message is ready again if the process is killed. Until then
                     the heartbeat extends the lease, also while the program sleeps or computes;
                     None: the message's own lease, else 8 seconds, or without a heartbeat 30
        max_run      how long after a message's delivery the heartbeat extends its lease; 0: there
                     is no heartbeat; None: as 0
        timeout      the loop ends when no message came for this long; None: never
        slack        0 to 0.1 seconds, by which a message that falls due while the loop waits may be
                     late: one request then reserves all messages that fell due meanwhile, up to the
                     prefetch. No message is early, and slack delays no message that is pushed ready
        concurrency  how many messages the program works on at the same time. If more are unsettled
                     when the loop goes on, a warning is logged, once: it shows a program that
                     forgets to settle; None: no warning
        tasks        the names of the tasks that the program knows, each in a line, as a worker
                     registers them: `doctor` then names tasks that no worker of the queue knows.
                     More than 4,096 bytes are not registered; None: it does not say

        Raises InvalidError for a value out of its range.
        """
        row = (
            counted(prefetch, "prefetch"),
            limit_ms(lease, "lease"),
            optional_ms(max_run, "max_run"),
            duration_ms(slack, "slack"),
            self._order,
            0 if concurrency is None else counted(concurrency, "concurrency", sys.maxsize),
            tasks or "",
        )
        return self._consumer(row, patience_ms(timeout))

    # The end of what was made.

    def _consumer(self, options: _core.ConsumeRow, timeout_ms: int) -> Consumer:
        partitioned = self.partitions is not None
        return Consumer(self._home, self._sources(), options, timeout_ms, partitioned)

    def __aiter__(self) -> AsyncIterator[Message]:
        """Loops as consume() with its defaults. The loop ends at once if the queue is closed."""
        return _nothing() if self._home.closed else aiter(self.consume())


class Queue(Source):
    """
    A queue of a server. It connects with the first call. A queue needs no creation.

    name        1 to 255 bytes of UTF-8 without braces and control characters
    url         redis://[user:password@]host[:port][/db], rediss:// for TLS, unix:///path/to/socket,
                embedded:DIR for a private server of a directory. None: $DUEQ_URL, and without it an
                embedded server in the user's state directory
    replicas, disk, durable_timeout
                the durability of all pushes of this object, as for dueq.Draft; the URL may set them
                as parameters
    partitions  1 to 1024: this many ordinary queues, "NAME#0" and so on, are used as one, and may
                be on several nodes of a cluster. A push's `key` chooses the partition. Consumers
                share the partitions, and deliver the messages of each in order, one after the
                other. The first call of any client stores the number; `dueq repartition` raises it.
                A message's `queue` is the name of its partition. None: an ordinary queue
    keep        for how long the ends of messages are kept that this object pushes: see outcome().
                A push's own `keep` counts instead. None: they are not kept

        async with dueq.aio.Queue("orders") as queue:
            await queue.push("pack it", delay=1.5)
            async with await queue.reserve(timeout=None) as message:
                await work(message.body)

    Every call may raise a dueq.Error. Concurrent calls use several connections. A copy made by
    pickle is a queue of the same name and URL. Many threads may use a dueq.Queue at once, and so
    may a child after fork(), and signal handlers. A dueq.aio.Queue belongs to one event loop. Its
    calls may be cancelled: a cancelled reserve or lock releases what it got; of any other cancelled
    call it is not known whether it took effect.
    """

    def __init__(
        self,
        name: str,
        url: str | None = None,
        *,
        replicas: int = 0,
        disk: bool = False,
        durable_timeout: float | timedelta | None = None,
        partitions: int | None = None,
        keep: float | timedelta | None = None,
    ) -> None:
        durability = durability_row(replicas, disk, durable_timeout)
        super().__init__(
            url,
            (name,),
            _core.PREFERENCE,
            durability=durability,
            partitions=partitions,
            keep_ms=limit_ms(keep, "keep"),
        )
        self.name = name
        self._own = name

    def partition_for(self, key: str) -> Self:
        """
        The partition that contains the messages of a key, as a queue, on the connections of this
        one: for calls on one partition alone, such as find(), cancel() or stats().

        key  1 to 255 bytes of UTF-8 without control characters

        Raises InvalidError for a wrong key, or in a queue without partitions.
        """
        if self.partitions is None or not key or KEYED in key:
            raise InvalidError("partition_for: needs a key, and a queue with partitions")
        one = object.__new__(type(self))
        one.__dict__.update(self.__dict__)
        one._own = f"{self.name}{KEYED}{key}"
        return one

    def _sources(self) -> tuple[str, ...]:
        return (self._own,)

    def new_id(self) -> str:
        """
        Makes an id as push() does, for a push that needs to know it: 22 characters, in time order.
        """
        return self._home.new_id()

    @with_options
    async def push(self, body: Body | None = None, **options: Unpack[Options]) -> str:
        """
        Stores a message and returns its id. The arguments are those of dueq.Draft: a body or json,
        and options.

        Raises Duplicate if a message of the queue has the id, unless `replace` is given, or if the
        id is still unique. After errors.ClosedError and errors.ServerTimeoutError it is not known
        whether the message is stored. Push it again with the same id: no second message is stored
        while the first is in the queue and, with `unique`, until that time has passed.

        Raises NotDurable if too few replicas and disks have the message, which is stored. Push it
        again with the exception's id: this push raises Duplicate when the message is durable.
        """
        return stored_id(await self._store((row(body, options),)), options)

    async def push_many(self, drafts: Iterable[Body | Draft]) -> list[str | None]:
        """
        Stores any number of messages (drafts or bodies), and returns their ids in order, None for a
        duplicate.

        They go in batches of up to 200. Each batch is stored whole or not at all. If a batch fails,
        a note of the exception says how many messages were pushed before it.
        """
        ids: list[str | None] = []
        for batch in batches(drafts):
            try:
                outcomes = await self._store(batch)
            except Exception as error:
                error.add_note(f"{len(ids)} messages were pushed before the batch that failed")
                raise
            ids += stored_ids(outcomes)
        return ids

    async def _store(self, rows: tuple[_core.DraftRow, ...]) -> list[tuple[int, str]]:
        """Pushes rows, and returns the status and the id of each."""
        if not _trace.tracer:
            call = on(self._own, _core.push_submit, rows)
            return (await self._home.call(call)).outcomes
        with _trace.tracer.sending(self._home, self.name, rows) as sent:
            call = on(self._own, _core.push_submit, sent.rows)
            sent.outcomes = (await self._home.call(call)).outcomes
        return sent.outcomes

    async def schedule(
        self,
        name: str,
        expression: str,
        job: Body | Draft,
        zone: str = "UTC",
        catchup: Catchup = "once",
        app: str = "",
        release: str = "",
    ) -> bool:
        """
        Declares a schedule: at each of its times the queue gets a message like `job`, with the id
        "NAME:TIME" (milliseconds since 1970). Returns False if the schedule is declared like that
        already.

        name        1 to 200 bytes of UTF-8 without control characters. From now on this schedule
                    replaces one of the same name; cancel("schedule:NAME") removes it
        expression  five fields of cron, such as "30 9 * * mon-fri"; @hourly, @daily, @weekly,
                    @monthly, @yearly; or "every 90s" (ms, s, m, h, d; at least 1s)
        job         a body, or a Draft without id, time, unique and replace
        zone        the time zone of the fields, such as "Europe/Berlin"
        catchup     what the schedule does about times that it missed because no consumer ran.
                    "once": it pushes one job, for the last missed time. "skip": as "once", but no
                    job if that time was more than a minute ago. "all": a job for each missed time
        app         which program declares the schedule, and its releases: dueq-worker sets both
        release     for the schedules of an App's tasks

        A change that keeps expression and zone keeps the next time, too. The queue's consumers make
        the jobs, by Message.fire(): dueq-worker and `dueq work` call it. Raises InvalidError for a
        wrong value.
        """
        row = schedule_row(name, expression, job, zone, catchup, app, release)
        answer = await self._home.call(on(self._own, _core.schedule_submit, row))
        return answer.status == _core.OK

    def batch(
        self,
        id: str | None = None,
        *,
        then: Body | Draft | None = None,
        catch: Body | Draft | None = None,
        finally_: Body | Draft | None = None,
        open: float | timedelta = 86400.0,
        keep: float | timedelta = 86400.0,
    ) -> Batch:
        """
        Makes a batch of this queue, which counts how its members end, each once, at its first end:
        acknowledged, dead, cancelled, expired or purged. A member that died, and is kicked later,
        changes nothing any more.

        id        1 to 128 bytes of UTF-8 without control characters; None: dueq makes one
        then      pushed when the batch ends and all members were acknowledged: a body, or a draft
        catch     pushed when the first member dies
        finally_  pushed when the batch ends, however its members ended
        open      after so many seconds (or a timedelta) the batch closes by itself
        keep      for how long batch.status() finds the batch when it has ended

        A callback goes to this queue, or as a task's draft to the task's queue.

            async with queue.batch(then=report.draft(7)) as batch:
                await batch.push_many(page.draft(n) for n in range(100))
        """
        callbacks = (then, catch, finally_)
        named = self.new_id() if id is None else id
        return Batch(self._home, self._own, named, callbacks, open, keep)

    def pusher(self, most: int = _core.MAX_PUSHES) -> Pusher:
        """
        Makes a Pusher, to push many messages without waiting for each. most: how many pushes may be
        in flight, 1 to 10,000.
        """
        return Pusher(self._home, self._own, counted(most, "most", _core.MAX_PUSHES))

    async def ack_many(self, messages: Iterable[MessageBase | str]) -> list[bool]:
        """
        Acknowledges any number of messages, or tickets. False: the lease was lost. Raises
        InvalidError for a message of another queue.
        """
        left = iter(listed(messages, "messages"))
        done: list[bool] = []
        while batch := tuple(islice(left, _core.MAX_BATCH)):
            held = tuple(tickets(self.name, batch, self.partitions is not None))
            with _trace.settling("ack", self._home, self.name, batch):
                answer = await self._home.call(on(self._own, _core.ack_submit, held))
            done += _done_of(answer)
            settled(batch)
        return done

    async def kick_all(
        self,
        error: str | None = None,
        since: float | datetime | None = None,
        until: float | datetime | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> int:
        """
        Makes all dead messages ready again, as kick(), and returns their number.

        error     only messages whose error contains this text; None: all
        since     only messages that died at this time or later, by the server's clock: an aware
                  datetime, or seconds since 1970
        until     only messages that died before this time
        progress  as for purge()
        """
        wanted = (
            error or "",
            0 if since is None else point_ms(since, "since"),
            0 if until is None else max(1, point_ms(until, "until")),  # 0 would be no limit
        )
        return await self._total(
            lambda cursor: on(self._own, _core.kick_all_submit, wanted, cursor, _core.MAX_BATCH),
            lambda answer: (answer.kicked, bool(answer.cursor)),
            progress,
            "kicked",
        )

    # Made from core/verbs.toml by core/verbs.py: verbs of a queue.

    async def kick(self, id: str) -> bool:
        """
        Makes a dead message ready again, with all its attempts. False: there is no dead message
        with this id.
        """
        [one] = await self.kick_many((id,))
        return one

    async def kick_many(self, ids: Iterable[str]) -> list[bool]:
        """Does kick() with any number of messages."""
        return await self._each(_core.kick_submit, listed(ids, "ids"), _done_of)

    async def kill(self, id: str) -> bool:
        """
        Makes a delayed message dead, whether a push or a retry delayed the message. The dead
        message stays in this queue, whatever its policy says, until kick() makes it ready. False:
        there is no delayed message with this id.
        """
        [one] = await self.kill_many((id,))
        return one

    async def kill_many(self, ids: Iterable[str]) -> list[bool]:
        """Does kill() with any number of messages."""
        return await self._each(_core.kill_submit, listed(ids, "ids"), _done_of)

    async def cancel(self, id: str) -> State | None:
        """
        Deletes a message in any state, and returns the state that it had. None: there is no message
        with this id.

        LEASED means that a consumer has the message: its work may have begun, or may be done. The
        consumer gets LeaseLost on its next call. A Consumer that has prefetched the message learns
        of this within a quarter of a second, and does not deliver it.
        """
        [one] = await self.cancel_many((id,))
        return one

    async def cancel_many(self, ids: Iterable[str]) -> list[State | None]:
        """Cancels any number of messages, as cancel()."""
        return await self._each(_core.cancel_submit, listed(ids, "ids"), _state_of)

    async def reschedule(
        self, id: str, delay: float | timedelta | None = None, at: float | datetime | None = None
    ) -> bool:
        """
        Changes the due time of a delayed message. False: there is no delayed message with this id.

        delay  seconds (or a timedelta) from now
        at     a time by the server's clock: an aware datetime, or seconds since 1970. Not together
               with delay

        Without delay and at, the message is due now.
        """
        call = on(self._own, _core.reschedule_submit, id, *due_ms(delay, at))
        return (await self._home.call(call)).status == _core.OK

    async def pause(self) -> None:
        """
        Stops deliveries to all consumers until the queue is resumed. Everything else works: pushes,
        and acknowledging leased messages. If it is paused already, nothing changes.
        """
        call = on(self._own, _core.pause_submit)
        await self._home.call(call)

    async def resume(self) -> None:
        """
        Ends a pause, and wakes waiting consumers. If the queue is not paused, nothing changes.
        """
        call = on(self._own, _core.resume_submit)
        await self._home.call(call)

    async def hold(self, group: str, duration: float | timedelta) -> None:
        """
        Holds a group: for so long no message of the group is delivered. Messages of it that are
        leased stay so. A later hold of the group replaces an earlier one.

        group     the name of the group
        duration  for how many seconds (or a timedelta); 0: the group is held no more
        """
        call = on(self._own, _core.hold_submit, group, duration_ms(duration, "duration"))
        await self._home.call(call)

    async def limit(
        self,
        concurrency: int | None = None,
        rate: str | None = None,
        burst: int | None = None,
        group: str | None = None,
        backlog: int | None = None,
        weight: int | None = None,
        order: str | None = None,
        each_group_concurrency: int | None = None,
        each_group_rate: str | None = None,
        each_group_burst: int | None = None,
        each_group_backlog: int | None = None,
        clear: bool = False,
    ) -> None:
        """
        Sets limits of the queue, of each of its groups, or of one `group`. What is not given stays
        as it is.

        concurrency             how many messages may be leased at once; 0: no limit; None: as it is
        rate                    how many are delivered in a second, minute or hour: "1000/s",
                                "100/m", "20/h"; "none": no limit; None: as it is
        burst                   how many the rate allows at once after a pause; 0: what it allows in
                                100 ms, at least 1; None: as it is
        group                   the limits are those of this group; None: those of the queue
        backlog                 how many messages of `group` may wait before a push is refused; 0:
                                no limit; None: as it is
        weight                  how many turns `group` gets for one of a group without a weight, 1
                                to 1000; 0: one; None: as it is
        order                   "fair": several messages of a group at once; "fifo": one at a time;
                                "strict": the next when the one before has ended for good; of a
                                `group` also "none": the queue's order; None: as it is
        each_group_concurrency  how many messages of each group may be leased at once; 0: no limit;
                                None: as it is
        each_group_rate         how many of each group are delivered in a time, as `rate`
        each_group_burst        how many of each group its rate allows at once after a pause, as
                                `burst`
        each_group_backlog      how many messages of each group may wait before a push is refused;
                                0: no limit; None: as it is
        clear                   True: first removes all limits: those of the queue, of each group
                                and of all single groups; with `group` those of that group alone

        The concurrency and the rate of the queue hold from the next delivery on, for all consumers
        together. A message counts as leased, also while it is prefetched, until its delivery ends;
        after the end of its lease, until it is delivered again. The rate counts each delivery. In a
        queue with partitions each partition gets its part of a limit of the queue, rounded up; a
        group is in one partition and has its limits there. A limit of one group counts instead of
        that of each group. At most 1000 groups have limits of their own. Producers need no right to
        set limits.
        """
        row = (
            _core.UNCHANGED if concurrency is None else concurrency,
            "" if rate is None else rate,
            _core.UNCHANGED if burst is None else burst,
            group,
            _core.UNCHANGED if backlog is None else backlog,
            _core.UNCHANGED if weight is None else weight,
            "" if order is None else order,
            _core.UNCHANGED if each_group_concurrency is None else each_group_concurrency,
            "" if each_group_rate is None else each_group_rate,
            _core.UNCHANGED if each_group_burst is None else each_group_burst,
            _core.UNCHANGED if each_group_backlog is None else each_group_backlog,
            int(clear),
        )
        call = on(self._own, _core.limit_submit, row)
        await self._home.call(call)

    async def close_batch(self, id: str) -> bool:
        """
        Closes a batch: from now on only its members add members. When all members have ended, it
        ends, and pushes its callbacks. False: there is no such batch.
        """
        call = on(self._own, _core.close_batch_submit, id)
        return (await self._home.call(call)).status == _core.OK

    # The end of what was made.

    async def allow(
        self, dead_letter: str | Iterable[str] | None = None, *, any: bool = False
    ) -> list[str]:
        """
        Sets the list of queues to which dead messages of this queue may move by their own
        `dead_letter`. Returns the list. Without arguments, changes nothing. An empty result means
        that there is no list, and messages may move to any queue.

        dead_letter  the queues, 1 to 200; a single name is one queue
        any          True: removes the list

        A dead message whose `dead_letter` is not in the list stays in the outbox, with the reason,
        until the list has that queue. `ack(to=)` needs no entry.
        """
        names = (dead_letter,) if isinstance(dead_letter, str) else dead_letter
        targets = None if names is None else tuple(names)
        answer = await self._home.call(on(self._own, _core.allow_submit, targets, int(any)))
        return [name for _, name in answer.outcomes]

    async def purge(self, state: StateName, progress: Callable[[int], object] | None = None) -> int:
        """
        Deletes all messages of one state, and returns their number. The consumer of a deleted
        leased message gets LeaseLost on its next call.

        state     "ready", "delayed", "leased", "dead" or "outbox"
        progress  called after each step with the number of messages deleted so far

        Deletes in steps of up to 200 messages, between which the server serves other clients. If a
        step fails or `progress` raises, a note of the exception says how many messages were
        deleted.
        """
        call = on(self._own, _core.purge_submit, state_number(state), _core.MAX_BATCH)
        return await self._total(lambda _: call, _purged_of, progress, "purged")

    async def purge_group(self, group: str, progress: Callable[[int], object] | None = None) -> int:
        """
        Deletes the messages of one group that are ready or delayed, and returns their number. Its
        leased and dead messages stay.

        group     the name of the group
        progress  as for purge()
        """
        return await self._total(
            lambda cursor: on(self._own, _core.purge_group_submit, group, cursor, _core.MAX_BATCH),
            lambda answer: (answer.purged, bool(answer.cursor)),
            progress,
            "purged",
        )

    async def remove(self, force: bool = False) -> int:
        """
        Deletes the queue in one step: its messages, its counters and history, its list of allowed
        queues (allow), and the ids that are still unique. Returns the number of messages.

        A message that is pushed afterwards creates the queue again, and so does a waiting consumer.
        Locks stay until they end.

        force  also if the queue has batches that have not ended, which end without callbacks, or
               members of other queues' batches, which count them as dead; else that is an error
        """
        return (await self._home.call(on(self._own, _core.remove_submit, int(force)))).purged

    async def check(
        self, repair: bool = False, progress: Callable[[int], object] | None = None
    ) -> list[Finding]:
        """
        Finds inconsistent entries: messages without a ticket, tickets without a message, keys of
        another type and so on. The queue is sound if no finding is `wrong`. Reads in small steps,
        while the queue is in use.

        repair    True: repairs what it finds; no message is lost (docs/internals/client.md, Check)
        progress  called after each step with the number of entries read so far
        """
        cursor, left = b"", True
        while left:
            call = on(self._own, _core.check_submit, int(repair), cursor)
            answer = await self._home.call(call)
            cursor = answer.cursor
            left = bool(cursor)
            if progress:
                progress(answer.purged)
        return [Finding.from_row(row) for row in answer.findings]

    async def limits(self) -> Limits:
        """Returns the limits of the queue, as they were set."""
        limits = (await self._home.call(on(self._own, _core.limits_submit))).limits
        assert limits is not None
        return Limits.from_row(limits)

    async def stats(self) -> Stats:
        """Counts the messages and the events of the queue."""
        counts = (await self._home.call(on(self._own, _core.stats_submit))).counts
        assert counts is not None
        return Stats.from_row(counts)

    async def rates(self, minutes: int | None = None, *, hours: int | None = None) -> list[Rate]:
        """
        Counts the events of each of the last `minutes` (1 to 360; 60 by default) minutes with an
        event, or of each of the last `hours` (1 to 336), the latest first. The latest span may not
        be over yet.
        """
        if minutes is None and hours is None:
            minutes = 60
        asked = [
            0 if minutes is None else counted(minutes, "minutes", _core.MAX_RATES),
            0 if hours is None else counted(hours, "hours", _core.MAX_HOURS),
        ]
        answer = await self._home.call(on(self._own, _core.rates_submit, *asked))
        return [Rate.from_row(row) for row in answer.rates]

    async def workers(self) -> list[WorkerInfo]:
        """
        Lists the consumers that are registered with the queue, and the messages that each has since
        when. Those that have not registered for longest come first.
        """
        rows: list[_core.WorkerRow] = []
        cursor, left = b"", True
        while left:
            call = on(self._own, _core.workers_submit, cursor, _core.MAX_BATCH)
            answer = await self._home.call(call)
            rows += answer.workers
            cursor = answer.cursor
            left = bool(cursor)
        return each_once(rows)

    async def failures(self, id: str | None = None) -> list[Failure]:
        """
        Lists the failures in the queue, or of the message `id` alone, the latest first: messages
        that were retried or buried, whose lease ended, or that died, with the error and the process
        that reported it. The queue, or each of its partitions, keeps the last 1000.
        """
        rows: list[_core.FailureRow] = []
        cursor, left = b"", True
        while left:
            call = on(self._own, _core.failures_submit, id or "", cursor, _core.MAX_BATCH)
            answer = await self._home.call(call)
            rows += answer.failures
            cursor = answer.cursor
            left = bool(cursor)
        return [Failure.from_row(row) for row in sorted(rows, key=lambda row: -row[0])]

    async def outcome(self, id: str, timeout: float | timedelta | None = 0.0) -> End | None:
        """
        Tells how a message ended that was pushed with `keep`. A dead message has ended, whether it
        was pushed with `keep` or not. None: the message has not ended.

        timeout  how long to wait until it ends, in one blocking command; 0: not at all; None:
                 without end

        Raises NotFound if the queue does not know the message, or not any more. Raises InvalidError
        if the call is to wait for a message that was pushed without `keep`.
        """
        timeout_ms = patience_ms(timeout)
        call = on(self._own, _core.outcome_submit, id, timeout_ms)
        answer = await self._home.call(call._replace(waits=timeout_ms != 0))
        if answer.status == _core.NOT_FOUND:
            raise NotFound(f"{self.name} does not know the message {id}, or not any more")
        return End.from_row(answer.ends[0]) if answer.ends else None

    async def groups(self, most: int = 100) -> list[Group]:
        """
        Lists the groups of which messages wait or are leased: first the one that has the next turn,
        then the others in the order of their turns. The group without a name stands for all
        messages without a group.

        most  how many groups at most, from 1 on

        A group whose turn changes meanwhile may come twice, or not at all.
        """
        rows: list[_core.GroupRow] = []
        cursor, left = b"", counted(most, "most", MOST_GROUPS)
        while left > 0:
            page = min(left, _core.MAX_BATCH)
            answer = await self._home.call(on(self._own, _core.groups_submit, cursor, page))
            rows += answer.groups
            cursor = answer.cursor
            left = most - len(rows) if cursor else 0
        return [Group.from_row(row) for row in rows]

    async def open_batch(
        self,
        id: str,
        *,
        then: Body | Draft | None = None,
        catch: Body | Draft | None = None,
        finally_: Body | Draft | None = None,
        open: float | timedelta = 86400.0,
        keep: float | timedelta = 86400.0,
    ) -> bool:
        """
        Opens a batch, as batch() does at the begin of its block. False: there is a batch of this
        id, which stays as it is.
        """
        made = self.batch(id, then=then, catch=catch, finally_=finally_, open=open, keep=keep)
        await made.open()
        return made.is_new

    async def push_to(self, target: str, drafts: Iterable[Body | Draft]) -> list[str | None]:
        """
        Stores members of a batch of this queue in the queue `target`, and returns their ids. Each
        draft names the same `batch`. Batch.push() does so, too.
        """
        ids: list[str | None] = []
        for part in batches(drafts):
            answer = await self._home.call(push_to(self._own, target, part))
            ids += stored_ids(answer.outcomes)
        return ids

    async def cancel_batch(self, id: str, batch_queue: str | None = None) -> int:
        """
        Cancels the members of a batch that are ready or delayed in this queue, and returns their
        number.

        batch_queue  the queue of the batch; None: this queue
        """
        return await self._total(
            lambda cursor: on(
                self._own,
                _core.cancel_batch_submit,
                id,
                batch_queue or "",
                cursor,
                _core.MAX_BATCH,
            ),
            lambda answer: (answer.purged, bool(answer.cursor)),
            None,
            "cancelled",
        )

    async def find_batch(self, id: str) -> BatchStatus | None:
        """
        Finds a batch. None: there is no such batch, or it ended longer ago than it is kept.
        """
        answer = await self._home.call(on(self._own, _core.find_batch_submit, id))
        return BatchStatus.from_row(answer.batches[0]) if answer.batches else None

    async def batches(self) -> list[BatchStatus]:
        """Lists the batches of this queue that have not ended, in no order."""
        found: dict[str, BatchStatus] = {}
        cursor, left = b"", True
        while left:
            call = on(self._own, _core.batches_submit, cursor, _core.MAX_BATCH)
            answer = await self._home.call(call)
            found |= {row[0]: BatchStatus.from_row(row) for row in answer.batches}
            cursor = answer.cursor
            left = bool(cursor)
        return [*found.values()]

    async def find(self, id: str) -> Message | None:
        """
        Finds a message by its id, in any state, without changing it. None: there is no such
        message.
        """
        found = self._undamaged(await self._home.call(on(self._own, _core.find_submit, id)))
        return found[0] if found else None

    def peek(self, state: StateName, page: int = 100) -> AsyncIterator[Message]:
        """
        Reads all messages of one state without changing them: ready ones in the order of delivery,
        the others by their times.

        state  "ready", "delayed", "leased", "dead" or "outbox"
        page   how many messages a call reads, 1 to 200

        The loop reads a page when it needs one. A message that changes its place meanwhile may come
        twice or not at all. Damaged messages are left out, with a warning in the log.
        """
        number, most = state_number(state), counted(page, "page")

        async def messages() -> AsyncIterator[Message]:
            cursor, left = b"", True
            while left:
                call = on(self._own, _core.peek_submit, number, cursor, most)
                answer = await self._home.call(call)
                for message in self._undamaged(answer):
                    yield message
                cursor = answer.cursor
                left = bool(cursor)

        return messages()

    @overload
    async def lock(self, name: str, ttl: float | timedelta, timeout: None) -> Lock: ...
    @overload
    async def lock(
        self, name: str, ttl: float | timedelta, timeout: float | timedelta = 0.0
    ) -> Lock | None: ...
    async def lock(
        self, name: str, ttl: float | timedelta, timeout: float | timedelta | None = 0.0
    ) -> Lock | None:
        """
        Acquires a lock, which has one owner at a time. None: another owner has it.

        name     1 to 255 bytes of UTF-8 without control characters; each queue has its own locks
        ttl      seconds (or a timedelta) until the lock ends, unless it is extended or released
        timeout  seconds (or a timedelta) to wait until the lock is free; None: without end, and the
                 result is never None

            if lock := await queue.lock("nightly", ttl=60):
                async with lock:
                    await work()
        """

        def undo(answer: Answer) -> Iterable[Call]:
            return [on(self._own, _core.unlock_submit, name, token) for _, token in answer.outcomes]

        timeout_ms = patience_ms(timeout)
        call = on(self._own, _core.lock_submit, name, duration_ms(ttl, "ttl"), timeout_ms)
        answer = await self._home.call(call._replace(waits=timeout_ms != 0, undo=undo))
        if answer.status == _core.TAKEN:
            return None
        return Lock(self._home, self.name, name, answer.outcomes[0][1])

    def _undamaged(self, answer: Answer) -> list[Message]:
        """The messages of an answer, without damaged ones, of which it warns."""
        for status, id in answer.outcomes:
            if status == _core.CORRUPT:
                log.warning("%s: message %r is damaged", self.name, id)
        queue = self._name_of(answer)
        return [Message(self._home, queue, row) for row in answer.messages]

    async def _each(
        self,
        submit: Callable[[_core.Handle, tuple[str, ...]], int],
        texts: Iterable[str],
        read: Callable[[Answer], Iterable[R]],
    ) -> list[R]:
        """
        Calls `submit` for any number of tickets or ids in batches, and joins what `read` makes of
        the answers.
        """
        left = iter(texts)
        found: list[R] = []
        while batch := tuple(islice(left, _core.MAX_BATCH)):
            found += read(await self._home.call(on(self._own, submit, batch)))
        return found

    async def _total(
        self,
        at: Callable[[bytes], Call],
        read: Callable[[Answer], tuple[int, bool]],
        progress: Callable[[int], object] | None,
        done: str,
    ) -> int:
        """
        Runs steps until the last one, and returns the sum of their counts. If a step fails, a note
        of the exception has the sum so far. at: makes the step at a cursor. read: returns a step's
        count, and whether there are more.
        """
        total, cursor, more = 0, b"", True
        try:
            while more:
                answer = await self._home.call(at(cursor))
                cursor = answer.cursor
                count, more = read(answer)
                total += count
                if progress:
                    progress(total)
        except Exception as error:
            error.add_note(f"{total} messages were {done} before")
            raise
        return total


class Queues(Source):
    """
    Several queues of one server, to wait for messages of all of them at once.

    names  1 to 1,024 different names of queues; or a mapping of names to weights, whose sum is at
           most 1,024: then the order is "round robin", in which a queue of weight 3 begins three
           times as often as one of weight 1
    url    as for dueq.Queue
    order  which queue delivers when several have ready messages. "preference": always the first in
           `names`. "round robin": each in turn

    Message.queue is the queue's name. All else is as for Queue.

        async for message in dueq.aio.Queues(["urgent", "mail"]):
            async with message:
                await handlers[message.queue](message.body)
    """

    def __init__(
        self,
        names: Iterable[str] | Mapping[str, int],
        url: str | None = None,
        order: Literal["preference", "round robin"] = "preference",
    ) -> None:
        if isinstance(names, str):
            raise TypeError("names: a list of names is required, not one name")
        self.weights = dict(names) if isinstance(names, Mapping) else None
        turns = weighted_order(self.weights) if self.weights else None
        if turns:
            order = "round robin"
        names = tuple(names)
        if not 0 < len(set(names)) == len(names) <= _core.MAX_QUEUES:
            raise InvalidError(f"names: not 1 to {_core.MAX_QUEUES} different names")
        if order not in _ORDERS:
            raise InvalidError(f"order: {order!r} is not one of {', '.join(_ORDERS)}")
        super().__init__(url, names, _ORDERS[order], turns)
        self.order = order


async def queues(url: str | None = None) -> list[str]:
    """
    The names of all queues of a server that were ever used, sorted. `url`: as for dueq.Queue.

    Scans the names of all keys of the server, a bounded number in each step.
    """
    names: set[str] = set()
    async with Closing(Pool(url), "") as server:
        cursor, left = b"", True
        while left:
            answer = await server._home.call(Call(partial(_page, cursor)))
            names.update(name for _, name in answer.outcomes)
            cursor = answer.cursor
            left = bool(cursor)
    return sorted(names)


async def _nothing() -> AsyncIterator[Message]:
    return
    yield


def _page(cursor: bytes, link: Link) -> int:
    return _core.queues_submit(link.client, cursor)


def _done_of(answer: Answer) -> list[bool]:
    return [status == _core.OK for status, _ in answer.outcomes]


def _state_of(answer: Answer) -> list[State | None]:
    return [STATES.get(state) for state in answer.states]


def _purged_of(answer: Answer) -> tuple[int, bool]:
    return answer.purged, answer.status == _core.OK
