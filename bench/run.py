#!/usr/bin/env python3
"""Measures what a message costs, how late it comes and how quiet an idle consumer is.

Starts private servers of its own. Prints tables, and writes every figure of every round as JSON.
"""

import argparse
import os
from pathlib import Path

import machine
from measures import MEASURES
from report import Target, begin, conclude


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, smaller queues")
    parser.add_argument(
        "--only", choices=MEASURES, action="append", help="this measure; repeatable"
    )
    parser.add_argument("--json", type=Path, default=machine.ROOT / "build/bench.json")
    options = parser.parse_args()
    if not machine.DRIVER.exists():
        parser.error(f"{machine.DRIVER} is not built: run ./dev bench")

    report = begin(options.quick)
    print(
        f"{report['machine']['cpus']} x {report['machine']['cpu']}, load {os.getloadavg()[0]:.2f}\n"
    )
    targets: list[Target] = []
    for name in options.only or MEASURES:
        report[name], more = MEASURES[name](options.quick)
        targets += more
    report["machine"]["load_after"] = os.getloadavg()[0]
    conclude(report, targets, options.json)


if __name__ == "__main__":
    main()
