"""A long run of the model against Python, PHP and C, each time with other sequences."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from itertools import cycle
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from batch_machine import BatchMachine
from ends_machine import EndsMachine
from machine import Machine, run
from world import three_languages

from private_server import Server

ROUND = 100  # sequences between two looks at the time
MACHINES: list[type[Machine]] = [Machine, EndsMachine, BatchMachine]


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev soak", description=__doc__)
    parser.add_argument("--seconds", type=int, default=300, help="how long (default: 300)")
    seconds: int = parser.parse_args().seconds
    begin = shown = time.monotonic()
    differences = 0
    with Server() as server:
        world = three_languages(server)
        try:
            for machine in cycle(MACHINES):
                if time.monotonic() > begin + seconds:
                    break
                run(world, ROUND, machine=machine)
                if time.monotonic() > shown + 10:
                    shown = time.monotonic()
                    print(f"{world.steps} steps in {shown - begin:.0f} s", flush=True)
        except Exception:
            # Of whatever kind: a driver that dies is a difference too. Its notes are the sequence.
            traceback.print_exc(limit=-3)
            differences = 1
        finally:
            world.close()
    spent = time.monotonic() - begin
    print(f"soak: steps={world.steps} seconds={spent:.0f} differences={differences}")
    return differences


if __name__ == "__main__":
    sys.exit(main())
