"""The product against the model (README.md): at least 20,000 steps, or fewer for a quick look."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from machine import run
from world import scripts_alone, three_languages

from private_server import Server
from script_sources import sources


@pytest.mark.parametrize(
    ("examples", "steps"), [(75, 3_000), pytest.param(375, 20_000, marks=pytest.mark.slow)]
)
def test_model_agrees_with_python_php_and_c_in_turn(examples: int, steps: int) -> None:
    with Server() as server:
        world = three_languages(server)
        try:
            run(world, examples, derandomize=True)
        finally:
            world.close()
        assert world.steps >= steps


def test_model_agrees_with_the_scripts_run_alone() -> None:
    """What test_mutations.py changes is, unchanged, the product."""
    with Server() as server:
        world = scripts_alone(server, sources())
        try:
            run(world, 100, derandomize=True)
        finally:
            world.close()
