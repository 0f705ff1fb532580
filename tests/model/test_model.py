"""The product against the model (README.md): at least 20,000 steps."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from machine import run
from raw import sources
from world import scripts_alone, three_languages

from private_server import Server

STEPS, EXAMPLES = 20_000, 375


def test_model_agrees_with_python_php_and_c_in_turn() -> None:
    with Server() as server:
        world = three_languages(server)
        try:
            run(world, EXAMPLES, derandomize=True)
        finally:
            world.close()
        assert world.steps >= STEPS


def test_model_agrees_with_the_scripts_run_alone() -> None:
    """What test_mutations.py changes is, unchanged, the product."""
    with Server() as server:
        world = scripts_alone(server, sources())
        try:
            run(world, 100, derandomize=True)
        finally:
            world.close()
