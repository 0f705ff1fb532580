"""A private Prometheus that scrapes each second, with the alerts of examples/monitoring."""

import json
import re
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
PATIENCE = 40


def faster(rules: str) -> str:
    """The same rules, where a second stands for a minute.

    That is: waits, windows, and what seconds are compared with.
    """
    rules = re.sub(r"(?m)(?<= for: )(\d+)m$", r"\1s", rules)
    rules = re.sub(r"\[(\d+)m\]", r"[\1s]", rules)
    return re.sub(r"(?<= > )\d+0\b", lambda found: f"{int(found[0]) / 60:g}", rules)


class Prometheus:
    def __init__(self, url: str) -> None:
        self._url = url
        self._fired: list[dict[str, Any]] = []

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
            self._look()
            assert time.monotonic() < deadline, f"no {expression}"
            time.sleep(0.2)

    def _look(self) -> None:
        """Remembers what fires: it may end before somebody asks."""
        alerts = self.get("/api/v1/alerts")["alerts"]
        self._fired += [alert for alert in alerts if alert["state"] == "firing"]

    def fires(self, name: str, **labels: str) -> dict[str, str]:
        """The texts of that alert with these labels, as soon as it fires or has fired."""
        deadline = time.monotonic() + PATIENCE
        wanted = {"alertname": name, **labels}.items()
        while True:
            self._look()
            for alert in self._fired:
                if wanted <= alert["labels"].items():
                    texts: dict[str, str] = alert["annotations"]
                    return texts
            assert time.monotonic() < deadline, f"no {wanted}: {self._fired}"
            time.sleep(0.2)

    def wait(self, process: subprocess.Popen[bytes]) -> None:
        while True:
            try:
                urllib.request.urlopen(self._url + "/-/ready", timeout=30).close()
            except (urllib.error.URLError, ConnectionError):
                assert process.poll() is None
                time.sleep(0.1)
            else:
                return


@contextmanager
def prometheus(target: str) -> Iterator[Prometheus]:
    """target: HOST:PORT, whose /metrics is scraped."""
    with tempfile.TemporaryDirectory(prefix="dueq-") as folder:
        rules, settings = Path(folder, "rules.yml"), Path(folder, "prometheus.yml")
        rules.write_text(faster((MONITORING / "dueq.rules.yml").read_text()))
        scrape = {"job_name": "dueq", "static_configs": [{"targets": [target]}]}
        every = {"scrape_interval": "1s", "evaluation_interval": "1s"}
        # JSON is YAML.
        whole = {"global": every, "rule_files": [str(rules)], "scrape_configs": [scrape]}
        settings.write_text(json.dumps(whole))
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
