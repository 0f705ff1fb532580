"""What a message costs its client: the instructions of C, Python, PHP, and of phpredis."""

import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import machine
from callgrind import VALGRIND
from machine import ROOT, Figures, drive
from measures import Outcome
from report import Target
from size import Size

WAYS = {
    "push": "push",
    "delay": "push with a delay",
    "own": "push with a delay, an own id and a limit of attempts",
    "work": "consume, one at a time, heartbeat on",
}
PROGRAMS: dict[str, Sequence[str | Path]] = {
    "C": (machine.DRIVER, "client"),
    "Python": (ROOT / "build/venv/bin/python", ROOT / "bench/client_python.py"),
    "PHP": ("php", ROOT / "bench/client.php", "dueq"),
    "phpredis": ("php", ROOT / "bench/client.php", "phpredis"),
}
FEW = 100
"""Each program runs twice, with so many messages and with more: its start is in both counts."""


def client(size: Size) -> Outcome:
    """Thousands of instructions of a client a message, without the kernel's, by callgrind."""
    counted = max(FEW, size.counted // 2)
    print(f"client: {counted} messages of 200 bytes, callgrind", flush=True)
    pairs = [
        (language, way)
        for way in WAYS
        for language in PROGRAMS
        if language != "phpredis" or way == "push"
    ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda pair: _counted(pair[0], pair[1], counted), pairs)
        counts = dict(zip(pairs, found, strict=True))
    print(f"\n{'thousands a message':<56}" + "".join(f"{name:>10}" for name in PROGRAMS))
    rows: list[Figures] = []
    for way, name in WAYS.items():
        row = {language: counts.get((language, way)) for language in PROGRAMS}
        rows.append({"name": name, "way": way, **row})
        cells = ("" if value is None else f"{value:.1f}" for value in row.values())
        print(f"{name:<56}" + "".join(f"{cell:>10}" for cell in cells), flush=True)
    print()
    targets = [
        Target(f"thousand client instructions, Python: {WAYS['own']}", counts["Python", "own"], 55),
        Target(
            "client instructions, consume one at a time: Python / C",
            counts["Python", "work"] / counts["C", "work"],
            1.5,
        ),
        Target(
            "client instructions of a push: PHP / phpredis's EVALSHA",
            counts["PHP", "push"] / counts["phpredis", "push"],
            1.2,
        ),
    ]
    return {"rows": rows}, targets


def _counted(language: str, way: str, count: int) -> float:
    """Thousands a message."""
    few, more = (_total(language, way, messages) for messages in (FEW, FEW + count))
    return (more - few) / count / 1000


def _total(language: str, way: str, count: int) -> int:
    """The instructions of a program that pushes or consumes so many messages."""
    if not VALGRIND:
        raise SystemExit("there is no valgrind: apt-get install valgrind")
    with machine.server() as socket, tempfile.TemporaryDirectory(prefix="dueq-bench-") as folder:
        if way == "work":
            drive("client", socket, "push", count)
        counts = Path(folder, "counts")
        words = [VALGRIND, "-q", "--tool=callgrind", f"--callgrind-out-file={counts}"]
        done = subprocess.run(
            [*map(str, [*words, *PROGRAMS[language], socket, way, count])],
            capture_output=True,
            text=True,
            cwd=ROOT,
        )
        text = counts.read_text() if counts.exists() else ""
        total = re.search(r"^(?:totals|summary): (\d+)", text, re.MULTILINE)
        if done.returncode or not total:
            raise SystemExit(
                f"{language}, {way}: {done.stderr.strip() or 'callgrind has no totals'}"
            )
        return int(total[1])
