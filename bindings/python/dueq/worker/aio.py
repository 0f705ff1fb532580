"""A pool whose slots are tasks of one event loop."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, suppress
from typing import Any, cast

from dueq import aio
from dueq.chain import caught
from dueq.errors import Error
from dueq.worker import job_log, start
from dueq.worker.runner import Run
from dueq.worker.worker import Slot, Worker

# A loop that has not run for this long is stuck.
_STUCK_S = 5.0


class Loop:
    """All slots share one consumer. Plain functions run in threads beside the loop."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._loop: asyncio.AbstractEventLoop | None = None
        self._consumer: aio.Consumer | None = None
        self._free: asyncio.Queue[Slot | None] = asyncio.Queue()
        self._jobs: set[asyncio.Task[None]] = set()
        self._beat = time.monotonic()
        self._taken = False

    def run(self) -> None:
        asyncio.run(self._main())

    def stop_taking(self) -> None:
        loop, consumer = self._loop, self._consumer
        if loop and consumer:
            consumer.stop()
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(self._free.put_nowait, None)

    def is_waiting(self) -> bool:
        return not self._taken

    def leave(self) -> bool:
        return not self._consumer or self._consumer.leave()

    def release_prefetched(self) -> None:
        """Does nothing: the loop over the messages releases them when it is told to stop."""

    def is_alive(self) -> bool:
        if self._loop:
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._live)
        return time.monotonic() - self._beat < _STUCK_S

    def is_busy(self) -> bool:
        running = (slot.running for slot in self._worker.slots)
        return not self._taken or any(job and not job.abandoned for job in running)

    def _live(self) -> None:
        self._beat = time.monotonic()

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._loop.set_default_executor(ThreadPoolExecutor(len(self._worker.slots) + 1, "dueq"))
        if not await asyncio.to_thread(start.reach_and_declare, self._worker):
            return
        if not await start.run_hooks_in_loop(self._worker):
            return
        self._worker.ready = True
        for slot in self._worker.slots:
            self._free.put_nowait(slot)
        async with self._source() as source:
            while not self._worker.stopping:
                if self._worker.quiet:
                    await asyncio.sleep(0.1)
                    continue
                try:
                    await self._consume(source)
                except Error as error:
                    if not error.retriable:
                        self._worker.fail(error)
                    await asyncio.to_thread(self._worker.reach)
            self._taken = True
            while self._jobs:
                await asyncio.wait(self._jobs)
        await start.run_stop_hooks_in_loop(self._worker)

    def _wait_for(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Runs a coroutine in the event loop, and waits for its result in the calling thread."""
        assert self._loop
        if threading.get_ident() == self._thread:
            coroutine.close()
            raise RuntimeError(
                "this would wait for itself: await acheckpoint() in a coroutine function"
            )
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def _source(self) -> aio.Queue | aio.Queues:
        app, whole = self._worker.app, self._worker.partitioned
        return app.new_aio_queue(whole) if whole else aio.Queues(self._worker.queues, app.url)

    async def _consume(self, source: aio.Queue | aio.Queues) -> None:
        """
        Takes messages until the consumer stops. The consumer lives until its messages are settled,
        as it extends their leases.
        """
        settings = self._worker.settings
        consumer = source.consume(
            settings.prefetch,
            settings.lease,
            self._worker.max_run,
            concurrency=len(self._worker.slots),
            tasks=self._worker.app.task_names,
        )
        self._consumer = consumer
        if not self._worker.may_take():
            return
        # Closing this generator gives back the messages that were reserved but not delivered.
        messages = cast("AsyncGenerator[aio.Message]", aiter(consumer))
        async with aclosing(messages):
            while (slot := await self._free.get()) is not None:
                try:
                    message = await anext(messages)
                except BaseException as error:
                    self._free.put_nowait(slot)
                    if isinstance(error, StopAsyncIteration):
                        return
                    raise
                job = asyncio.create_task(self._work(slot, message))
                self._jobs.add(job)
                job.add_done_callback(self._jobs.discard)

    async def _work(self, slot: Slot, message: aio.Message) -> None:
        running = None
        try:
            async with message:
                if message.is_schedule:
                    await message.fire()
                    return
                if push := caught(message):
                    await push.settle(message)
                    job_log.caught(message)
                    return
                run = Run(self._worker.app, message, lambda: self._worker.stopping, self._wait_for)
                running = run.running
                self._worker.begin(slot, running)
                try:
                    decision = await run.in_loop()
                    if running.failure:
                        message._leave_block(running.failure)
                    outcome = decision and await decision.settle(message)
                except job_log.NO_FAILURE as error:
                    if job_log.has_crashed(self._worker, error):
                        await message._crash()
                        job_log.crashed(running, error)
                        return
                    await message.release(job_log.release_delay(self._worker, error))
                    job_log.released(running, error)
                else:
                    job_log.ended(running, decision, outcome)
                    await run.tell_exhausted_in_loop(outcome)
        except Exception as error:
            job_log.failed(message, running, error)
        finally:
            self._free.put_nowait(slot)
            self._worker.end(slot)
