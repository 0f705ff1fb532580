"""FACE URL QUEUE PARTITIONS LEASE PREFETCH THREADS PAUSE: consumes, and dies of poison."""

import asyncio
import ctypes
import os
import resource
import signal
import sys
import threading
import time

import dueq
import dueq.aio

face, url, name, partitions, lease, prefetch, threads, pause = sys.argv[1:]


def die(how: str) -> None:
    if how == "segfault":
        ctypes.string_at(0)
    elif how == "memory":
        # As the kernel does it: to the process that needs the most, while that holds the memory.
        resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))
        held = []
        try:
            while True:
                held.append(bytearray(16 << 20))
        except MemoryError:
            os.kill(os.getpid(), signal.SIGKILL)
    elif how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)


def serve() -> None:
    with dueq.Queue(name, url, partitions=int(partitions) or None) as queue:
        for message in queue.consume(int(prefetch), lease=float(lease)):
            with message:
                die(message.body.decode())
                time.sleep(float(pause))


async def serve_aio() -> None:
    async with dueq.aio.Queue(name, url) as queue:
        async for message in queue.consume(int(prefetch), lease=float(lease)):
            async with message:
                die(message.body.decode())
                await asyncio.sleep(float(pause))


resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
for _ in range(int(threads) - 1):
    threading.Thread(target=serve, daemon=True).start()
if face == "aio":
    asyncio.run(serve_aio())
else:
    serve()
