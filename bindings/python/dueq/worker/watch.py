"""Detects changes of the app's files (--watch)."""

from __future__ import annotations

import os
import sys
import sysconfig
import time
from collections.abc import Iterator
from typing import NoReturn

_EVERY_S = 1.0


def start_anew() -> NoReturn:
    """Replaces this process by a new run of its command line."""
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


class Watch:
    """The files of all loaded modules, except installed ones."""

    def __init__(self, error: BaseException | None = None) -> None:
        """error: what the import of the app raised. The files of its traceback are watched too."""
        paths = sysconfig.get_paths()
        self._installed = tuple(
            os.path.join(paths[key], "") for key in ("stdlib", "platstdlib", "purelib", "platlib")
        )
        self._times: dict[str, int] = {}
        self._next = 0.0
        self._extra = set(_files_of(error)) if error else set()
        self.changed()

    def changed(self) -> str | None:
        """A file that has changed; None: none has. Looks once a second at most."""
        now = time.monotonic()
        if now < self._next:
            return None
        self._next = now + _EVERY_S
        for path in self._files():
            try:
                written = os.stat(path).st_mtime_ns
            except OSError:
                continue  # an editor is replacing the file
            if self._times.setdefault(path, written) != written:
                return path
        return None

    def wait(self) -> None:
        """Returns when a file has changed."""
        while self.changed() is None:
            time.sleep(_EVERY_S / 4)

    def _files(self) -> set[str]:
        loaded = (getattr(module, "__file__", None) for module in tuple(sys.modules.values()))
        files = self._extra.union(path for path in loaded if path)
        return {path for path in files if not path.startswith(self._installed)}


def _files_of(error: BaseException) -> Iterator[str]:
    if isinstance(error, SyntaxError) and error.filename:
        yield error.filename
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame.f_code.co_filename
        trace = trace.tb_next
