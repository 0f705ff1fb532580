"""Counts what happened in the shop, from its order book and its queues; README.md has the rules."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

Entry: TypeAlias = dict[str, Any]

PACKING_MS = 1000  # worker.php: between the payment and the parcel
BACKOFF_MS = 500  # tasks.py: of `charge`
AWAY = "the bank does not answer"  # worker.php: the only failure of a handler
REPORT_MS = 1000  # tasks.py: the schedule of `report`
SLOTS = 2  # how many jobs a worker runs at once


@dataclass
class Run:
    """One run of a job."""

    begin: Entry
    end: Entry | None = None
    """The line "done", "failed" or "released"; None: there is none."""
    killed: Entry | None = None
    """
    The line of the kill, if the worker was killed and this was the last run of its slot: it is not
    known whether the end of this run reached the server.
    """

    @property
    def how(self) -> Any:
        return self.end["what"] if self.end else None

    def may_come_again(self, begin: int) -> bool:
        """Whether another run of the job may begin at this time, in milliseconds since 1970."""
        last = self.killed or (self.end if self.how in ("failed", "released") else None)
        return last is not None and last["at"] <= begin


class Book:
    """The order book: its lines, and the runs of jobs in them."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.runs: list[Run] = []
        self.jobs: dict[tuple[str, str], list[Run]] = defaultdict(list)
        self.slots: dict[tuple[str, str], Run] = {}
        """The last run of each slot of each worker."""

    def add(self, entry: Entry) -> None:
        """Adds the next line."""
        self.entries.append(entry)
        if entry["what"] == "begins":
            run = Run(entry)
            self.runs.append(run)
            self.jobs[entry["task"], entry["id"]].append(run)
            self.slots[entry["worker"], entry["slot"]] = run
        elif entry["what"] in ("done", "failed", "released"):
            self.slots[entry["worker"], entry["slot"]].end = entry
        elif entry["what"] == "killed":
            for run in self.last_runs(entry["worker"]):
                run.killed = entry

    def last_runs(self, worker: str) -> list[Run]:
        """The last run of each of a worker's slots."""
        return [run for (name, _), run in self.slots.items() if name == worker]

    def of(self, what: str) -> list[Entry]:
        """The lines of one kind."""
        return [entry for entry in self.entries if entry["what"] == what]

    def done(self, task: str) -> set[str]:
        """The ids of a task's jobs that are done."""
        return {
            id
            for (name, id), runs in self.jobs.items()
            if name == task and any(run.how == "done" for run in runs)
        }


@dataclass(frozen=True)
class Verdict:
    orders: int
    parcels: int
    callbacks: int
    results: int
    python: int
    php: int
    scheduled: int
    deploys: int
    killed: int
    lost: list[str]
    doubled: list[str]
    early: list[str]
    false_failures: list[str]
    failures: int
    """How many times the bank did not answer."""
    again: int
    """How many jobs ran again because their worker was killed."""

    def faults(self) -> list[str]:
        return [*self.lost, *self.doubled, *self.early, *self.false_failures]

    def line(self) -> str:
        return (
            f"shop: orders={self.orders} parcels={self.parcels} callbacks={self.callbacks}"
            f" results={self.results} python={self.python} php={self.php}"
            f" scheduled={self.scheduled} deploys={self.deploys} killed={self.killed}"
            f" lost={len(self.lost)} doubled={len(self.doubled)} early={len(self.early)}"
            f" false_failures={len(self.false_failures)}"
        )


def audit(book: Book, retried: int, died: int) -> Verdict:
    """
    book: the whole order book.
    retried, died: how many retries and deaths the queues have counted.
    """
    accepted = {entry["id"]: entry["parcels"] for entry in book.of("accepted")}
    parcels = {f"{id}/{n}" for id, most in accepted.items() for n in range(1, most + 1)}
    asked = {f"receipt of {id}" for id in accepted} | {f"label of {id}" for id in parcels}
    workers = [run.begin["worker"] for run in book.runs if run.how == "done"]
    pairs = [pair for runs in book.jobs.values() for pair in pairwise(runs)]
    return Verdict(
        orders=len(accepted),
        parcels=len(book.done("ship")),
        callbacks=len(book.done("shipped")),
        results=len(results(book)),
        python=sum(worker.startswith("python") for worker in workers),
        php=sum(worker.startswith("php") for worker in workers),
        scheduled=len(book.done("report")),
        deploys=deploys(book),
        killed=len({run.begin["worker"] for run in book.runs if run.killed and not run.end}),
        lost=[f"order {id}" for id in accepted.keys() - book.done("shipped")]
        + [f"parcel {id}" for id in parcels - book.done("ship")]
        + sorted(asked - results(book))
        + [f"report {id}" for id in due_reports(book) - book.done("report")],
        doubled=[
            f"{again.begin['task']} {again.begin['id']} is doubled"
            for run, again in pairs
            if not run.may_come_again(again.begin["at"])
        ],
        early=early(book),
        false_failures=false_failures(book, retried, died),
        failures=sum(run.how == "failed" for run in book.runs),
        again=sum(run.killed is not None for run, _ in pairs),
    )


def results(book: Book) -> set[str]:
    """The results of jobs that others have asked for: of `charge` and `ship`."""
    labels = {label for entry in book.of("labels") for label in entry["labels"]}
    return {entry["receipt"] for entry in book.of("receipt")} | labels


def deploys(book: Book) -> int:
    """
    How many releases replaced the one before: each worker of the old release ended with 0 after
    SIGTERM, unless it was killed, and both languages have done jobs in the new release.
    """
    releases = {entry["worker"]: entry["release"] for entry in book.of("starts")}
    codes = {entry["worker"]: entry["code"] for entry in book.of("stopped")}
    codes |= {entry["worker"]: 0 for entry in book.of("killed")}
    at_work = {run.begin["worker"] for run in book.runs if run.how == "done"}
    count = 0
    for release in set(releases.values()) - {0}:
        before = [codes.get(name) for name, other in releases.items() if other == release - 1]
        after = {name.split("-")[0] for name in at_work if releases[name] == release}
        count += not any(code != 0 for code in before) and after == {"python", "php"}
    return count


def due_reports(book: Book) -> set[str]:
    """The ids of the schedule's jobs, between its first declaration and its end."""
    begin = min(entry["at"] for entry in book.of("opened"))
    [end] = [entry["next"] for entry in book.of("closed")]
    first = (begin // REPORT_MS + 1) * REPORT_MS
    return {f"report:{time}" for time in range(first, end, REPORT_MS)}


def early(book: Book) -> list[str]:
    """Runs that began before they were due."""
    paid = {entry["id"]: entry["at"] for entry in reversed(book.of("charged"))}
    packed: dict[str, int] = defaultdict(int)
    for (task, id), runs in book.jobs.items():
        ends = [run.end["at"] for run in runs if run.end and run.how == "done"]
        if task == "ship" and ends:
            order = id.partition("/")[0]
            packed[order] = max(packed[order], ends[0])
    found = []
    for (task, id), runs in book.jobs.items():
        due = runs[0].begin["at"]
        if task == "ship":
            due = paid[id.partition("/")[0]] + PACKING_MS
        elif task == "shipped":
            due = packed[id]
        elif task == "report":
            due = int(id.rpartition(":")[2])
        for run in runs:
            if run.begin["at"] < due:
                found.append(f"{task} {id}: {due - run.begin['at']} ms early")
            if run.end and run.how == "failed" and not run.killed:
                due = run.end["at"] + BACKOFF_MS
    return found


def false_failures(book: Book, retried: int, died: int) -> list[str]:
    """
    Counted failures without a failing handler, other failures than that of the bank, crashes
    without a kill, and dead messages.
    """
    found = []
    for (task, id), runs in book.jobs.items():
        failed = 0
        for run in runs:
            found += [f"{task} {id}: a false failure"] * (run.begin["attempt"] - 1 > failed)
            failed += run.how == "failed"
            if run.end and run.how == "failed" and run.end["error"] != AWAY:
                found.append(f"{task} {id}: {run.end['error']}")
    failed = sum(run.how == "failed" for run in book.runs)
    crashes = sum(max(run.begin["crashes"] for run in runs) for runs in book.jobs.values())
    # A killed worker may have had a message whose job it had not begun.
    explained = SLOTS * len(book.of("killed"))
    found += ["a retry without a failure"] * max(0, retried - failed)
    found += ["a crash without a kill"] * max(0, crashes - explained)
    return found + ["a message died"] * died
