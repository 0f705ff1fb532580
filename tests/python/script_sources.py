"""The scripts as servers have them, put together by core/scripts/embed.py."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]


@cache
def embed() -> ModuleType:
    spec = importlib.util.spec_from_file_location("embed", ROOT / "core/scripts/embed.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def sources(house: str = "core") -> dict[str, str]:
    """Those of core or interop by name; interop's begin with the system, as `laravel_pop`."""
    tool, place = embed(), ROOT / house
    codes = tool.constants()
    return {tool.name_of(path, place): tool.expand(path, codes) for path in tool.scripts(place)}
