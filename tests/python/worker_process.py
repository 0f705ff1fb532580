"""A real worker process, its log and its ledger."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

HERE = Path(__file__).parent
# Long enough for a machine that does other things, too.
PATIENCE = 30.0


def until(holds: Callable[[], object], what: object) -> None:
    """Returns when something holds."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


class WorkerProcess:
    """`python -m dueq APP --log json WORDS`, until the with block ends."""

    def __init__(
        self,
        folder: Path,
        url: str,
        *words: str,
        app: str = "worker_app:app",
        cwd: Path = HERE,
        **environment: str,
    ) -> None:
        self.ledger = folder / "ledger"
        self.gate = folder / "gate"
        self.log: list[dict[str, Any]] = []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "dueq", app, "--log", "json", *words],
            env={**os.environ, "DUEQ_URL": url, "LEDGER": str(self.ledger), **environment},
            cwd=cwd,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def __enter__(self) -> WorkerProcess:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join()
        if error:
            print(*self.log, *self.notes(), sep="\n")

    def _read(self) -> None:
        assert self.process.stderr
        with self.process.stderr as lines:
            for line in lines:
                try:
                    self.log.append(json.loads(line))
                except ValueError:
                    self.log.append({"message": line.rstrip()})

    def notes(self) -> list[str]:
        return self.ledger.read_text().splitlines() if self.ledger.exists() else []

    def wait_for(self, *notes: str) -> None:
        """Returns when the ledger has all of these, each as often as it is named."""
        until(
            lambda: all(self.notes().count(note) >= notes.count(note) for note in notes),
            (notes, self.notes(), self.log),
        )

    def said(self, text: str) -> list[dict[str, Any]]:
        return [line for line in tuple(self.log) if text in line["message"]]

    def wait_until_said(self, text: str, times: int = 1) -> dict[str, Any]:
        until(lambda: len(self.said(text)) >= times, (text, self.log))
        return self.said(text)[-1]

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        """Kills the worker and the processes that run its jobs."""
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        self.process.kill()
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(int(child), signal.SIGKILL)
        self.ended()

    def ended(self) -> int:
        """The exit code, when it has ended."""
        code = self.process.wait(PATIENCE)
        self._reader.join()
        return code

    def stop(self) -> int:
        """The exit code after a SIGTERM."""
        self.send(signal.SIGTERM)
        return self.ended()
