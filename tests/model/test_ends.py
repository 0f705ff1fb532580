"""The product against the model, in sequences with kept ends, chains and batches: test_model.py."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from batch_machine import BatchMachine
from ends_machine import EndsMachine
from machine import Machine, run
from world import scripts_alone, three_languages

from private_server import Server
from script_sources import sources

MACHINES: list[type[Machine]] = [EndsMachine, BatchMachine]


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("examples", [40, pytest.param(200, marks=pytest.mark.slow)])
def test_model_agrees_with_python_php_and_c_in_turn(machine: type[Machine], examples: int) -> None:
    with Server() as server:
        world = three_languages(server)
        try:
            run(world, examples, machine=machine, derandomize=True)
        finally:
            world.close()
        assert world.steps >= 30 * examples


@pytest.mark.parametrize("machine", MACHINES)
def test_model_agrees_with_the_scripts_run_alone(machine: type[Machine]) -> None:
    with Server() as server:
        world = scripts_alone(server, sources())
        try:
            run(world, 100, machine=machine, derandomize=True)
        finally:
            world.close()
