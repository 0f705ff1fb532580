"""The deployments of examples/deploy/: checked by systemd, run by supervisor, and by hand."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from configparser import RawConfigParser
from pathlib import Path

import pytest

import dueq

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "examples/deploy"
sys.path.insert(0, str(ROOT / "tests/python"))

from private_server import Server  # noqa: E402

VENV = Path(sys.executable).parent
GRACE_S = 25


@pytest.fixture
def url() -> Iterator[str]:
    with Server() as server:
        yield server.url


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """/opt/shop, somewhere else."""
    shutil.copy(DEPLOY / "receipts.py", tmp_path)
    (tmp_path / "log").mkdir()
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv/bin").symlink_to(VENV)
    return tmp_path


def here(text: str, shop: Path) -> str:
    """A deployment for this machine."""
    return text.replace("/opt/shop", str(shop))


def wait_until_acked(url: str, count: int) -> None:
    deadline = time.monotonic() + 30
    with dueq.Queue("mail", url) as mail:
        while mail.stats().acked < count:
            assert time.monotonic() < deadline, mail.stats()
            time.sleep(0.02)


def push(url: str, order: int) -> None:
    with dueq.Queue("mail", url) as mail:
        mail.push(json.dumps({"args": [order]}), headers={"task": "send_receipt"})


@pytest.mark.parametrize("unit", ["dueq-worker.service", "dueq-worker-php.service"])
def test_systemd_finds_nothing_wrong_with_the_units(shop: Path, unit: str) -> None:
    text = (DEPLOY / unit).read_text()
    (shop / unit).write_text(here(text, shop))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", shop / unit],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "SYSTEMD_LOG_LEVEL": "warning"},
    )
    about_it = [line for line in done.stderr.splitlines() if unit in line]
    assert (done.returncode, about_it) == (0, [])
    found = re.search(r"^TimeoutStopSec=(\d+)$", text, flags=re.M)
    assert found
    assert int(found[1]) >= GRACE_S + 5


def test_systemd_s_command_runs(shop: Path, url: str) -> None:
    found = re.search(r"^ExecStart=(.+)$", (DEPLOY / "dueq-worker.service").read_text(), flags=re.M)
    assert found
    with subprocess.Popen(
        here(found[1], shop).split(), cwd=shop, env={**os.environ, "DUEQ_URL": url}
    ) as worker:
        push(url, 7)
        wait_until_acked(url, 1)
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(30) == 0


def test_docker_s_command_runs(shop: Path, url: str) -> None:
    found = re.search(r"^CMD (\[.+\])$", (DEPLOY / "Dockerfile").read_text(), flags=re.M)
    assert found
    environment = {**os.environ, "DUEQ_URL": url, "PATH": f"{VENV}:{os.environ['PATH']}"}
    with subprocess.Popen(
        json.loads(found[1]), cwd=shop, env=environment, stderr=subprocess.PIPE, text=True
    ) as worker:
        push(url, 7)
        wait_until_acked(url, 1)
        worker.send_signal(signal.SIGTERM)
        _, lines = worker.communicate(timeout=30)
        assert worker.returncode == 0
    assert "the receipt of order 7 is sent" in [
        json.loads(line)["message"] for line in lines.splitlines()
    ]


def test_supervisor_runs_a_worker_and_starts_it_again(shop: Path, url: str) -> None:
    config = RawConfigParser(inline_comment_prefixes=None)
    config.read_string(here((DEPLOY / "supervisord.conf").read_text(), shop))
    for program in ["program:dueq-worker", "program:dueq-worker-php"]:
        assert config.getint(program, "stopwaitsecs") >= GRACE_S + 5
    config.remove_section("program:dueq-worker-php")
    config.set("supervisord", "pidfile", str(shop / "supervisord.pid"))
    config.set("supervisord", "logfile", str(shop / "log/supervisord.log"))
    with (shop / "supervisord.conf").open("w") as file:
        config.write(file)
    supervisor = subprocess.Popen(
        [VENV / "supervisord", "--nodaemon", "--configuration", shop / "supervisord.conf"],
        cwd=shop,
        env={**os.environ, "DUEQ_URL": url},
        stdout=subprocess.DEVNULL,
    )
    log = shop / "log/worker.log"
    try:
        push(url, 1)
        wait_until_acked(url, 1)
        first = int(re.findall(r"process (\d+): receipts:app", log.read_text())[-1])
        os.kill(first, signal.SIGKILL)
        push(url, 2)
        wait_until_acked(url, 2)
        pids = [int(pid) for pid in re.findall(r"process (\d+): receipts:app", log.read_text())]
        assert len(pids) == 2
    finally:
        supervisor.send_signal(signal.SIGTERM)
        assert supervisor.wait(60) == 0
    assert "SIGTERM: stops" in log.read_text()
    assert not Path(f"/proc/{pids[-1]}").exists()


def registered(url: str, *words: str) -> int:
    command = os.environ.get("DUEQ_CLI") or shutil.which("dueq")
    assert command, "there is no dueq on the PATH; name one by DUEQ_CLI"
    path = f"{Path(command).parent}:{os.environ['PATH']}"
    return subprocess.run(
        [DEPLOY / "registered", *words], env={**os.environ, "PATH": path, "DUEQ_URL": url}
    ).returncode


def test_probe_says_whether_the_worker_is_registered(shop: Path, url: str) -> None:
    assert registered(url, "mail") == 1
    assert registered(url, "--live", "mail") == 1
    words = [str(VENV / "dueq-worker"), "receipts:app"]
    with subprocess.Popen(words, cwd=shop, env={**os.environ, "DUEQ_URL": url}) as worker:
        deadline = time.monotonic() + 30
        while registered(url, "mail") != 0:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert registered(url, "--live", "mail") == 0
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(30) == 0
    assert registered(url, "mail") == 1
    away = "redis://127.0.0.1:1?timeout=200ms"
    assert registered(away, "mail") == 1
    assert registered(away, "--live", "mail") == 0


def test_kubernetes_waits_longer_than_the_worker() -> None:
    text = (DEPLOY / "kubernetes.yaml").read_text()
    grace = re.search(r"terminationGracePeriodSeconds: (\d+)", text)
    quiet = re.search(r"kill -TSTP 1 && sleep (\d+)", text)
    assert grace
    assert quiet
    assert int(grace[1]) >= int(quiet[1]) + GRACE_S + 5


def test_kubernetes_asks_for_metrics_that_there_are() -> None:
    asked = re.findall(r"^ +query: (.+)$", (DEPLOY / "kubernetes.yaml").read_text(), flags=re.M)
    assert len(asked) == 2
    served = (ROOT / "cli/metrics.c").read_text()
    for name in re.findall(r"dueq_\w+", " ".join(asked)):
        assert f'"{name}"' in served, name
    records = [{"record": f"asked:{number}", "expr": expr} for number, expr in enumerate(asked)]
    rules = {"groups": [{"name": "scale", "rules": records}]}
    # YAML contains JSON.
    done = subprocess.run(
        ["promtool", "check", "rules", "/dev/stdin"],
        input=json.dumps(rules),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_compose_waits_longer_than_the_worker() -> None:
    found = re.search(r"stop_grace_period: (\d+)s", (DEPLOY / "compose.yaml").read_text())
    assert found
    assert int(found[1]) >= GRACE_S + 5
