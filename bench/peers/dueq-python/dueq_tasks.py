"""The tasks of dueq's adapter, one of which keeps its result."""

import os

import harness

import dueq

app = dueq.App(f"unix://{os.environ['PEER_REDIS_SOCKET']}")


@app.task(queue="bench")
def plain(body: str) -> None:
    harness.handled(body)


@app.task(queue="bench", keep=harness.KEEP_S)
def kept(body: str) -> str:
    harness.handled(body)
    return harness.RESULT
