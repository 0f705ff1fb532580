"""What every run of the benchmarks writes down: where and when it ran, its figures, its targets."""

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import machine


@dataclass(frozen=True)
class Target:
    name: str
    value: float
    limit: float

    @property
    def met(self) -> bool:
        return self.value <= self.limit


def begin(quick: bool) -> dict[str, Any]:
    """A report without figures; prints the versions."""
    report: dict[str, Any] = {
        "versions": machine.versions(),
        "machine": machine.description() | {"load_before": os.getloadavg()[0]},
        "quick": quick,
        "begun": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    print(", ".join(f"{name} {version}" for name, version in report["versions"].items()))
    return report


def conclude(report: dict[str, Any], targets: list[Target], path: Path) -> None:
    """Adds the targets, prints them, and writes all of it as JSON."""
    report["targets"] = [
        {"name": t.name, "value": t.value, "limit": t.limit, "met": t.met} for t in targets
    ]
    for target in targets:
        verdict = "met" if target.met else "MISSED"
        print(f"{target.name:<50}{target.value:>8.2f}  at most {target.limit:<6}{verdict}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, indent=1) + "\n")
    print(f"\nall figures: {path}")
