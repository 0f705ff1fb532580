"""The work of client.py's "Python": SOCKET push|delay|own|work COUNT."""

import sys
from itertools import islice

import dueq

BODY = "x" * 200


def run(queue: dueq.Queue, way: str, count: int) -> None:
    if way == "push":
        for _ in range(count):
            queue.push(BODY)
    elif way == "delay":
        for _ in range(count):
            queue.push(BODY, delay=60)
    elif way == "own":
        for number in range(count):
            queue.push(BODY, delay=60, id=f"job-{number}", max_attempts=5)
    else:
        for message in islice(queue.consume(), count):
            with message:
                pass


if __name__ == "__main__":
    _, socket, way, count = sys.argv
    with dueq.Queue("client", url=f"unix://{socket}") as queue:
        run(queue, way, int(count))
