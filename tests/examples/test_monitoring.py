"""What examples/monitoring/ has for Prometheus and Grafana, tried by promtool."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from grafana_foundation_sdk.cog import plugins
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

ROOT = Path(__file__).parents[2]
MONITORING = ROOT / "examples/monitoring"
sys.path.insert(0, str(ROOT / "tests/python"))

from private_server import Server  # noqa: E402


def promtool(*words: str | Path, stdin: str = "") -> None:
    done = subprocess.run(
        ["promtool", *map(str, words)], input=stdin, cwd=MONITORING, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def metrics() -> set[str]:
    """The names that `dueq metrics` says, of a server with a paused queue."""
    path = os.environ.get("DUEQ_CLI") or shutil.which("dueq")
    assert path, "there is no dueq on the PATH; name one by DUEQ_CLI"
    with Server() as server:
        subprocess.run([path, "--url", server.url, "push", "orders", "x"], check=True)
        # What is not well has a metric of its own.
        subprocess.run([path, "--url", server.url, "pause", "orders"], check=True)
        done = subprocess.run(
            [path, "--url", server.url, "metrics"], capture_output=True, text=True
        )
    return set(re.findall(r"^(dueq_\w+)", done.stdout, re.M))


def expressions() -> list[str]:
    """The dashboard's, as Prometheus gets them."""
    board: dict[str, Any] = json.loads((MONITORING / "dueq.dashboard.json").read_text())
    found = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    return [text.replace("$__rate_interval", "1m").replace("$queue", ".+") for text in found]


def test_alerts_fire_when_they_should() -> None:
    promtool("check", "rules", "dueq.rules.yml")
    promtool("test", "rules", "dueq.rules.test.yml")


def test_every_alert_is_tried() -> None:
    alerts = re.findall(r"alert: (\w+)", (MONITORING / "dueq.rules.yml").read_text())
    tests = (MONITORING / "dueq.rules.test.yml").read_text()
    assert alerts
    assert [name for name in alerts if name not in tests] == []


def test_prometheus_takes_the_configuration() -> None:
    promtool("check", "config", "prometheus.yml")


def test_alerts_and_dashboard_ask_for_what_is_there(metrics: set[str]) -> None:
    rules = re.sub(
        r"#.*|(summary|description): .*", "", (MONITORING / "dueq.rules.yml").read_text()
    )
    for text in [*expressions(), rules]:
        assert set(re.findall(r"\bdueq_\w+", text)) <= metrics


def test_the_dashboard_has_expressions_of_prometheus(tmp_path: Path) -> None:
    rules = [{"record": f"panel_{n}", "expr": text} for n, text in enumerate(expressions())]
    made = tmp_path / "dashboard.yml"
    made.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    promtool("check", "rules", made)


def unknown(given: Any, known: Any, place: str = "") -> list[str]:
    """The fields that are not there any more, or have another value."""
    if isinstance(given, dict) and isinstance(known, dict):
        pairs = [(name, value, known.get(name)) for name, value in given.items()]
    elif isinstance(given, list) and isinstance(known, list) and len(given) == len(known):
        pairs = [(str(at), *both) for at, both in enumerate(zip(given, known, strict=True))]
    else:
        return [] if given == known else [place]
    return [each for name, a, b in pairs for each in unknown(a, b, f"{place}/{name}")]


def test_the_dashboard_has_the_fields_that_grafana_knows() -> None:
    """By the types that Grafana publishes of dashboards, panels and questions to Prometheus."""
    plugins.register_default_plugins()
    board = json.loads((MONITORING / "dueq.dashboard.json").read_text())
    known = json.loads(JSONEncoder().encode(Dashboard.from_json(board)))
    assert unknown(board, known) == []
    board["panels"][0]["options"]["legend"]["place"] = "bottom"
    board["panels"][0]["targets"][0]["expression"] = "up"
    known = json.loads(JSONEncoder().encode(Dashboard.from_json(board)))
    assert unknown(board, known) == [
        "/panels/0/options/legend/place",
        "/panels/0/targets/0/expression",
    ]


def test_the_dashboard_has_its_panels_side_by_side() -> None:
    panels = json.loads((MONITORING / "dueq.dashboard.json").read_text())["panels"]
    cells = [
        (x, y)
        for at in (panel["gridPos"] for panel in panels)
        for x in range(at["x"], at["x"] + at["w"])
        for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
