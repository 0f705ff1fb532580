"""A private Prometheus, with the configuration and the alerts of examples/monitoring."""

import json
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from private_server import free_port

MONITORING = Path(__file__).parents[2] / "examples" / "monitoring"
TARGET = "127.0.0.1:9123"
PATIENCE = 120


class Prometheus:
    def __init__(self, url: str) -> None:
        self._url = url

    def get(self, path: str, **arguments: str) -> Any:
        with urllib.request.urlopen(f"{self._url}{path}?{urlencode(arguments)}", timeout=30) as it:
            return json.load(it)["data"]

    def query(self, expression: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get("/api/v1/query", query=expression)["result"]
        return found

    def until(self, expression: str) -> None:
        """Returns when that has series."""
        deadline = time.monotonic() + PATIENCE
        while not self.query(expression):
            assert time.monotonic() < deadline, f"no {expression}"
            time.sleep(0.2)

    def alerts(self) -> list[dict[str, Any]]:
        """Those that fire now."""
        found: list[dict[str, Any]] = self.get("/api/v1/alerts")["alerts"]
        return [alert for alert in found if alert["state"] == "firing"]

    def wait(self, process: subprocess.Popen[bytes]) -> None:
        while True:
            try:
                urllib.request.urlopen(self._url + "/-/ready", timeout=30).close()
            except (urllib.error.URLError, ConnectionError) as error:
                if isinstance(error, urllib.error.HTTPError):
                    error.close()  # "not ready yet" is an open answer
                assert process.poll() is None
                time.sleep(0.1)
            else:
                return


@contextmanager
def prometheus(target: str) -> Iterator[Prometheus]:
    """target: HOST:PORT, whose /metrics is scraped."""
    with tempfile.TemporaryDirectory(prefix="dueq-") as folder:
        shutil.copy(MONITORING / "dueq.rules.yml", folder)
        settings = Path(folder, "prometheus.yml")
        shipped = (MONITORING / "prometheus.yml").read_text()
        assert shipped.count(TARGET) == 1
        settings.write_text(shipped.replace(TARGET, target))
        address = f"127.0.0.1:{free_port()}"
        words = [f"--config.file={settings}", f"--storage.tsdb.path={folder}/data"]
        words += [f"--web.listen-address={address}", "--log.level=error"]
        # It dies with the process that tests.
        mortal = ["setpriv", "--pdeathsig", "KILL", "prometheus"]
        with subprocess.Popen([*mortal, *words]) as process:
            try:
                made = Prometheus(f"http://{address}")
                made.wait(process)
                yield made
            finally:
                process.terminate()
