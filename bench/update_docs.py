"""Puts a run's tables into docs/internals/benchmarks.md, between its two markers."""

from pathlib import Path
from typing import Any

import machine
import tables

PAGE = machine.ROOT / "docs/internals/benchmarks.md"
PLOTS = machine.ROOT / "docs/internals/benchmarks"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


def write(report: dict[str, Any], plots: list[Path]) -> None:
    """Replaces the figures; what is around the markers stays. Plots are linked in their order."""
    head, _, rest = PAGE.read_text().partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not end:
        raise SystemExit(f"{PAGE} does not have the lines {BEGIN} and {END}")
    images = "\n\n".join(
        f"![{path.stem.replace('-', ' ')}]({path.relative_to(PAGE.parent)})" for path in plots
    )
    PAGE.write_text(f"{head}{BEGIN}\n\n{images}\n\n{tables.markdown(report)}\n{END}{tail}")
