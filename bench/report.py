"""What every run of the benchmarks writes down: where and when it ran, its figures, its targets."""

import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import machine


@dataclass(frozen=True)
class Target:
    """What a figure should be: at most its limit, or at least it where higher is better."""

    name: str
    value: float | None
    """None: it could not be measured, which is not met."""
    limit: float
    better: Literal["lower", "higher"] = "lower"
    why: str = ""
    """Of a value that is None: what is missing."""

    @property
    def met(self) -> bool:
        if self.value is None:
            return False
        return self.value <= self.limit if self.better == "lower" else self.value >= self.limit


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
    report["machine"]["load_after"] = os.getloadavg()[0]
    report["targets"] = [asdict(target) | {"met": target.met} for target in targets]
    for target in targets:
        verdict = "met" if target.met else "MISSED" + (f": {target.why}" if target.why else "")
        value = "-" if target.value is None else f"{target.value:.2f}"
        bound = "at most" if target.better == "lower" else "at least"
        print(f"{target.name:<66}{value:>8}  {bound} {target.limit:<6g} {verdict}")
    save(report, path)
    print(f"\nall figures: {path}")


def save(report: dict[str, Any], path: Path) -> None:
    """Writes what there is of it: a run that ends before its time leaves its figures behind."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, indent=1) + "\n")
