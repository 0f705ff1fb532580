"""The product against the model (README.md): at least 40,000 steps."""

from __future__ import annotations

import sys
from pathlib import Path

from hypothesis.stateful import run_state_machine_as_test

sys.path.insert(0, str(Path(__file__).parent))

from machine import machine, options, scripts_alone, three_languages
from raw import sources

from private_server import Server

STEPS, EXAMPLES = 40_000, 1_000


def test_model_agrees_with_python_php_and_c_in_turn() -> None:
    with Server() as server:
        world = three_languages(server)
        try:
            run_state_machine_as_test(machine(world), settings=options(EXAMPLES, derandomize=True))
        finally:
            world.close()
        assert world.steps >= STEPS


def test_model_agrees_with_the_scripts_run_alone() -> None:
    """What test_mutations.py changes is, unchanged, the product."""
    with Server() as server:
        world = scripts_alone(server, sources())
        try:
            run_state_machine_as_test(machine(world), settings=options(100, derandomize=True))
        finally:
            world.close()
