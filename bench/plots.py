"""The plots of a run, as SVG."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import equal
import fairness
import matplotlib  # type: ignore[import-not-found]
from tables import look, measured

matplotlib.use("svg")
# Text stays text, and the same figures give the same file.
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "dueq", "font.size": 9})
from matplotlib import pyplot  # noqa: E402

OURS, OURS_LIGHT = "#1f6feb", "#9cc2f8"
OTHERS, OTHERS_LIGHT = "#57606a", "#c3c9cf"

Keys = tuple[str, ...]


@dataclass(frozen=True)
class Bars:
    """A plot with one or two bars for each peer, the best of it on top."""

    file: str
    title: str
    series: Sequence[tuple[str, Keys]]
    higher: bool
    digits: int = 0
    log: bool = True
    cap: float | None = None
    """Drawn for a figure that is not there because it is more than this."""
    bare: bool = False
    """With the bare commands."""


BARS = (
    Bars(
        "delayed",
        "Server CPU of a delayed job's life, 500 due in a second, microseconds",
        (
            ("one at a time", ("delayed", "one", "summary", "life", "server_us")),
            ("best documented setting", ("delayed", "best", "summary", "life", "server_us")),
        ),
        higher=False,
        digits=1,
        bare=True,
    ),
    Bars(
        "consume",
        "Jobs that one worker consumes in a second",
        (
            ("one at a time", ("throughput", "one", "summary", "work", "rate")),
            ("best documented setting", ("throughput", "best", "summary", "work", "rate")),
        ),
        higher=True,
    ),
    Bars(
        "enqueue",
        "Jobs that one producer enqueues in a second",
        (
            ("one at a time", ("throughput", "one", "summary", "push", "rate")),
            ("bulk", ("throughput", "best", "summary", "push", "rate")),
        ),
        higher=True,
    ),
    Bars(
        "server-cpu",
        "Server CPU of a job that is consumed, microseconds",
        (
            ("one at a time", ("throughput", "one", "summary", "work", "server_us")),
            ("best documented setting", ("throughput", "best", "summary", "work", "server_us")),
        ),
        higher=False,
        digits=1,
    ),
    Bars(
        "bytes",
        "Server memory of a job with a body of 200 bytes",
        (("ready", ("stored", "ready")), ("delayed", ("stored", "delayed"))),
        higher=False,
        log=False,
    ),
    Bars(
        "waiting",
        "Commands that the server is sent with 20 workers waiting",
        (
            ("in a second, nothing to do", ("waiting", "many", "sent")),
            ("for one delayed job", ("waiting", "delivered", "sent")),
        ),
        higher=False,
        digits=1,
    ),
    Bars(
        "recovery",
        "Seconds until the job of a killed worker is handled",
        (("seconds", ("recovery", "seconds")),),
        higher=False,
        digits=1,
        log=False,
        cap=120.0,
    ),
)


def _bars(plot: Bars, peers: dict[str, Any]) -> Any | None:
    rows = []
    for key, peer in peers.items():
        values = [look(peer, *path) for _, path in plot.series]
        if plot.cap and look(peer, plot.series[0][1][0]) and values[0] is None:
            values[0] = plot.cap
        if any(value is not None for value in values):
            rows.append((peer["name"], key.startswith("dueq-"), values))
    if not rows:
        return None
    best: Callable[[list[float]], float] = max if plot.higher else min
    rows.sort(key=lambda row: best([v for v in row[2] if v is not None]), reverse=plot.higher)
    # A bar of nothing has no length on a scale of powers of ten: it begins below the smallest.
    shown = [v for _, _, values in rows for v in values if v]
    floor = 10 ** _below(min(shown)) if plot.log and shown else 0.0

    figure, axes = pyplot.subplots(figsize=(8, 0.9 + len(rows) * 0.21 * (1 + len(plot.series))))
    height = 0.8 / len(plot.series)
    for place, (_, ours, values) in enumerate(reversed(rows)):
        for index, value in enumerate(values):
            if value is None:
                continue
            dark, light = (OURS, OURS_LIGHT) if ours else (OTHERS, OTHERS_LIGHT)
            at = place + 0.4 - height * (index + 0.5)
            axes.barh(
                at,
                max(value - floor, 0),
                height,
                left=floor,
                color=(light, dark)[index] if len(values) > 1 else dark,
            )
            text = (
                f"> {value:.0f}" if plot.cap and value >= plot.cap else f"{value:,.{plot.digits}f}"
            )
            axes.text(max(value, floor), at, f" {text}", va="center", fontsize=7)
    axes.set_yticks(range(len(rows)), [row[0] for row in reversed(rows)])
    if plot.log:
        axes.set_xscale("log")
        axes.set_xlim(floor, max(shown, default=1.0) * 3)
    else:
        axes.set_xlim(0, max(shown, default=1.0) * 1.12)
    if len(plot.series) > 1:
        handles = [pyplot.Rectangle((0, 0), 1, 1, color=color) for color in (OTHERS_LIGHT, OTHERS)]
        _legend(axes, handles, [name for name, _ in plot.series])
    better = "more" if plot.higher else "less"
    axes.set_title(f"{plot.title} ({better} is better)", loc="left", fontsize=10)
    return figure


def _legend(axes: Any, handles: list[Any], names: list[str]) -> None:
    """Under the plot, where no bar is."""
    place = {"loc": "upper left", "bbox_to_anchor": (0, -0.05), "frameon": False}
    axes.legend(handles, names, ncols=len(names), fontsize=8, **place)


def _below(value: float) -> int:
    """The power of ten below a number."""
    power = 0
    while 10.0**power >= value:
        power -= 1
    while 10.0 ** (power + 1) < value:
        power += 1
    return power


POINTS = (("p50_ms", "o"), ("p95_ms", "s"), ("p99_ms", "D"), ("max_ms", "|"))
LEAST_MS = 0.1
LATE = {
    "idle": "Lateness of delayed jobs on an idle queue, ms",
    "load": "Lateness of delayed jobs, 2,000 due in a second, ms",
}


def _lateness(peers: dict[str, Any], kind: str) -> Any | None:
    """Each peer's percentiles on a line; what came early stands at the left edge, in red."""
    rows = []
    for key, peer in peers.items():
        found = look(peer, "delays", kind, "summary")
        if found:
            rows.append((peer["name"], key.startswith("dueq-"), found))
    if not rows:
        return None
    rows.sort(key=lambda row: row[2]["p99_ms"], reverse=True)
    figure, axes = pyplot.subplots(figsize=(8, 0.9 + 0.25 * len(rows)))
    for place, (_, ours, found) in enumerate(rows):
        color = OURS if ours else OTHERS
        values = [max(found[name], LEAST_MS) for name, _ in POINTS]
        axes.plot([values[0], values[-1]], [place, place], color=color, linewidth=1)
        for value, (_, mark) in zip(values, POINTS, strict=True):
            axes.plot(value, place, mark, color=color, markersize=5)
        if found["early"]:
            axes.plot(LEAST_MS, place, "<", color="#cf222e", markersize=6)
            text = f"   {found['early']} early, by up to {-found['earliest_ms']:.0f} ms"
            axes.text(LEAST_MS, place + 0.3, text, fontsize=6, color="#cf222e")
    axes.set_yticks(range(len(rows)), [row[0] for row in rows])
    axes.set_xscale("log")
    axes.set_xlim(LEAST_MS * 0.9, None)
    handles = [pyplot.Line2D([], [], marker=mark, linestyle="", color=OTHERS) for _, mark in POINTS]
    _legend(axes, handles, ["p50", "p95", "p99", "max"])
    axes.set_title(f"{LATE[kind]} (less is better)", loc="left", fontsize=10)
    return figure


COSTS = (
    ("server_us", "server CPU of a delayed job, microseconds"),
    ("instructions", "thousand instructions of the server a delayed job"),
)


def _equal(peers: dict[str, Any]) -> Any | None:
    """Cost against lateness: a line for each peer that was measured at several settings, a point
    for each other."""
    found = {cost: equal.points(peers, cost) for cost, _ in COSTS}
    drawn = [(cost, title) for cost, title in COSTS if found[cost]]
    if not drawn:
        return None
    figure, every = pyplot.subplots(len(drawn), squeeze=False, figsize=(8, 4.2 * len(drawn)))
    for axes, (cost, title) in zip(every[:, 0], drawn, strict=True):
        for key, peer in peers.items():
            mine = sorted((point.late_ms, point.cost) for point in found[cost] if point.key == key)
            if not mine:
                continue
            ours = key == equal.OWN_CURVE
            color = OURS if ours else OTHERS
            late, costs = zip(*mine, strict=True)
            axes.plot(late, costs, "o-", color=color, markersize=4, linewidth=1.6 if ours else 0.8)
            place = {"textcoords": "offset points", "xytext": (5, 3), "fontsize": 7}
            name = f"{peer['name']}, by slack" if ours else peer["name"]
            axes.annotate(name, mine[-1], color=color, **place)
        axes.set_xscale("log")
        axes.set_yscale("log")
        for ticks in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
            ticks(lambda value, _: f"{value:,g}")
        axes.tick_params(axis="y", which="both", labelsize=7)
        right = 4 * max(point.late_ms for point in found[cost])
        axes.set_xlim(None, right)
        curve = [point for point in found[cost] if point.key == equal.OWN_CURVE]
        if curve:
            # What is later than the curve's end can cost dueq no more than that end does.
            end = max(point.late_ms for point in curve)
            least = min(point.cost for point in curve)
            axes.plot([end, right], [least, least], ":", color=OURS, linewidth=1)
        axes.grid(axis="y", color="#e5e7ea", linewidth=0.6)
        axes.set_ylabel(title, fontsize=8)
    every[-1, 0].set_xlabel("p99 lateness, ms", fontsize=8)
    every[0, 0].set_title(
        "Cost of a delayed job against its lateness, 50 due in a second (lower left is better)",
        loc="left",
        fontsize=10,
    )
    return figure


def _fairness(peers: dict[str, Any]) -> Any | None:
    """A part for each plan, with two bars for each kind of queue."""
    rows = fairness.rows(peers)
    if not rows:
        return None
    plans = list(rows[0][2])
    figure, every = pyplot.subplots(
        len(plans), squeeze=False, sharex=True, figsize=(8, len(plans) * (0.5 + 0.3 * len(rows)))
    )
    for axes, plan in zip(every[:, 0], plans, strict=True):
        for place, (_, ours, found) in enumerate(reversed(rows)):
            for index, key in enumerate(("p50", "p99")):
                value = look(found, plan, key)
                if value is None:
                    continue
                color = ((OURS_LIGHT, OURS) if ours else (OTHERS_LIGHT, OTHERS))[index]
                at = place + 0.2 - 0.4 * index
                # A bar of one unit has a length too.
                axes.barh(at, value - 0.5, 0.4, left=0.5, color=color)
                axes.text(value, at, f" {value:,}", va="center", fontsize=7)
        axes.set_yticks(range(len(rows)), [row[0] for row in reversed(rows)])
        axes.set_xscale("log")
        axes.set_title(plan, loc="left", fontsize=9)
    handles = [pyplot.Rectangle((0, 0), 1, 1, color=color) for color in (OTHERS_LIGHT, OTHERS)]
    _legend(every[-1, 0], handles, ["p50", "p99"])
    title = "Units from the push of a light tenant's message to its end (less is better)"
    figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    figure.tight_layout()
    return figure


def draw(report: dict[str, Any], folder: Path) -> list[Path]:
    """Writes a plot for each measure that has figures, and returns their paths."""
    peers = measured(report.get("peers", {}))
    bare = {"bare": report["bare"]} if "bare" in report else {}
    figures = {plot.file: _bars(plot, peers | (bare if plot.bare else {})) for plot in BARS}
    figures |= {f"lateness-{kind}": _lateness(peers, kind) for kind in LATE}
    figures["equal-lateness"] = _equal(peers)
    figures["fairness"] = _fairness(peers)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, figure in figures.items():
        if figure is None:
            continue
        for axes in figure.axes:
            axes.spines[["top", "right"]].set_visible(False)
            if axes.get_xscale() == "log":
                axes.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")
            axes.grid(axis="x", color="#e5e7ea", linewidth=0.6)
            axes.set_axisbelow(True)
        path = folder / f"{name}.svg"
        figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
        pyplot.close(figure)
        paths.append(path)
    return paths
