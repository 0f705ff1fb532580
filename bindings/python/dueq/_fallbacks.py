"""
CA certificates and time zones that packages of Python have, for a machine whose system has none.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from dueq import _core


def _in_package(package: str, name: str) -> str:
    """The path of a package's file or folder; "": the package is not installed."""
    try:
        spec = find_spec(package)
    except ValueError:  # a module in the package's place, which a program has made itself
        spec = None
    return str(Path(spec.origin).with_name(name)) if spec and spec.origin else ""


def set_fallbacks() -> None:
    _core.set_fallbacks(_in_package("certifi", "cacert.pem"), _in_package("tzdata", "zoneinfo"))
