#!/usr/bin/env python3
"""Measures what a message costs, how late it comes and how quiet an idle consumer is.

Starts private servers of its own. Prints tables, and writes every figure of every round as JSON.
"""

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import machine
from measures import MEASURES, Target


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

    report: dict[str, Any] = {
        "versions": machine.versions(),
        "machine": machine.description() | {"load_before": os.getloadavg()[0]},
        "quick": options.quick,
        "begun": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    print(", ".join(f"{name} {version}" for name, version in report["versions"].items()))
    print(
        f"{report['machine']['cpus']} x {report['machine']['cpu']}, load {os.getloadavg()[0]:.2f}\n"
    )
    targets: list[Target] = []
    for name in options.only or MEASURES:
        report[name], more = MEASURES[name](options.quick)
        targets += more
    report["machine"]["load_after"] = os.getloadavg()[0]
    report["targets"] = [
        {"name": t.name, "value": t.value, "limit": t.limit, "met": t.met} for t in targets
    ]
    for target in targets:
        verdict = "met" if target.met else "MISSED"
        print(f"{target.name:<50}{target.value:>8.2f}  at most {target.limit:<6}{verdict}")

    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(report, indent=1) + "\n")
    print(f"\nall figures: {options.json}")


if __name__ == "__main__":
    main()
