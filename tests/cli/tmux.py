"""A program on the screen of a terminal, by tmux."""

import contextlib
import shlex
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

PATIENCE = 60


class Screen:
    """One program in one window of a tmux server of its own."""

    def __init__(self, server: Path) -> None:
        self._tmux = ["tmux", "-u", "-S", str(server)]

    def run(self, *words: str, check: bool = True) -> str:
        done = subprocess.run(
            [*self._tmux, *words], capture_output=True, encoding="utf-8", check=check
        )
        return done.stdout

    def keys(self, *keys: str) -> None:
        """Types keys as tmux names them: q, Enter, Escape, Up."""
        self.run("send-keys", "-t", "top", *keys)

    def size(self, columns: int, rows: int) -> None:
        self.run("resize-window", "-t", "top", "-x", str(columns), "-y", str(rows))

    @property
    def text(self) -> str:
        return self.run("capture-pane", "-p", "-t", "top")

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    def until(self, *parts: str, without: str = "\0") -> str:
        """The screen, as soon as it shows all of these, and not that."""
        deadline = time.monotonic() + PATIENCE
        while True:
            text = self.text
            # A sentence may go on in the next line.
            flat = " ".join(text.split())
            if all(part in text or part in flat for part in parts) and without not in text:
                return text
            assert time.monotonic() < deadline, f"no {parts}:\n{text}"
            time.sleep(0.05)

    def ends(self) -> str:
        """What the ended program left on the screen; its exit code is at the end."""
        return self.until("exit code ")


@contextlib.contextmanager
def screen(
    program: str, *words: str, environment: dict[str, str], columns: int = 80, rows: int = 24
) -> Iterator[Screen]:
    # A socket's path has 107 bytes at most.
    with tempfile.TemporaryDirectory(prefix="dueq-") as folder:
        socket, configuration = Path(folder, "t"), Path(folder, "none")
        configuration.touch()
        # Not as a daemon: it ends with the block.
        served = ["tmux", "-u", "-D", "-S", str(socket), "-f", str(configuration)]
        shown = Screen(socket)
        given = shlex.join([f"{name}={value}" for name, value in environment.items()])
        command = f"env {given} {shlex.join([program, *words])}; echo exit code $?; cat"
        size = ["-x", str(columns), "-y", str(rows)]
        with subprocess.Popen(served) as server:
            try:
                while not socket.exists():
                    assert server.poll() is None
                    time.sleep(0.01)
                shown.run("new-session", "-d", "-s", "top", *size, command)
                yield shown
            finally:
                server.terminate()
