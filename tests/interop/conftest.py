from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

import peers
from wire import Wire


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--peers", default=",".join(peers.NAMES), help="the other sides to test with")
    parser.addoption("--jobs", type=int, default=1000, help="how many pass through a mixed pool")
    parser.addoption("--closing", default=None, help="a file for the line for machines")


class Roll:
    """Which peers are wanted, which of them are there, and the versions that they told."""

    def __init__(self, wanted: list[str]) -> None:
        self.there = [name for name in wanted if peers.is_there(name)]
        self.absent = [name for name in wanted if name not in self.there]
        self.versions: dict[str, str] = {}

    def of(self, kind: str) -> list[str]:
        return [name for name in self.there if name.startswith(kind)]


ROLL = pytest.StashKey[Roll]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[ROLL] = Roll(config.getoption("--peers").split(","))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for kind in ("redisson", "laravel"):
        if f"{kind}_name" in metafunc.fixturenames:
            names = metafunc.config.stash[ROLL].of(kind)
            metafunc.parametrize(f"{kind}_name", names, scope="session")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests of a kind of which nothing is there are not run; the closing line names the absent."""
    roll = config.stash[ROLL]
    away = {f"{kind}_name" for kind in ("redisson", "laravel") if not roll.of(kind)}
    gone = [item for item in items if away.intersection(getattr(item, "fixturenames", []))]
    config.hook.pytest_deselected(items=gone)
    items[:] = [item for item in items if item not in gone]


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    stats = terminalreporter.stats
    failed = len(stats.get("failed", [])) + len(stats.get("error", []))
    roll = config.stash[ROLL]
    told = ",".join(f"{name.split('-')[0]}-{told}" for name, told in roll.versions.items())
    line = f"interop: peers={told} absent={','.join(roll.absent)}"
    line += f" passed={len(stats.get('passed', []))} failed={failed}"
    if config.getoption("--closing"):
        Path(config.getoption("--closing")).write_text(line + "\n", encoding="ascii")
    terminalreporter.line(line)


def _programs() -> list[str]:
    """The server that $DUEQ_TEST_SERVER names; or else each kind that is there."""
    if named := os.environ.get("DUEQ_TEST_SERVER"):
        return [named]
    return [name for name in ("redis-server", "valkey-server") if shutil.which(name)]


@pytest.fixture(scope="session", params=_programs(), ids=os.path.basename)
def server(request: pytest.FixtureRequest) -> Iterator[Wire]:
    """One server for all tests that leave it as it was, by socket and by port."""
    running = Wire()
    running.program = request.param
    with running:
        yield running


@pytest.fixture
def wire(server: Wire) -> Wire:
    """The server, empty."""
    server.command("FLUSHALL")
    return server


@pytest.fixture(scope="session")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("peers")


@pytest.fixture(scope="session")
def started(pytestconfig: pytest.Config, logs: Path) -> Callable[[str], peers.Peer]:
    """Starts a process of the peer of a name. It belongs to the caller."""
    versions = pytestconfig.stash[ROLL].versions

    def start(name: str) -> peers.Peer:
        peer = peers.start(name, logs / f"{name}.log")
        if name not in versions:
            try:
                versions[name] = peer.ask("version")
            except BaseException:
                peer.kill()
                raise
        return peer

    return start


@pytest.fixture(scope="session")
def redisson_process(
    redisson_name: str, started: Callable[[str], peers.Peer]
) -> Iterator[peers.Peer]:
    """One JVM of a version for all its tests."""
    peer = started(redisson_name)
    yield peer
    peer.kill()


@pytest.fixture
def redisson(redisson_process: peers.Peer, wire: Wire) -> Iterator[peers.Peer]:
    """Redisson on the empty server."""
    redisson_process.ask("connect", port=wire.port)
    yield redisson_process
    redisson_process.ask("close")


@pytest.fixture
def another(
    laravel_name: str, started: Callable[[str], peers.Peer], wire: Wire
) -> Iterator[Callable[..., peers.Peer]]:
    """Starts a process of that Laravel on the empty server, with settings of its connection."""
    made: list[peers.Peer] = []

    def start(**settings: object) -> peers.Peer:
        peer = started(laravel_name)
        made.append(peer)
        settings = {"client": "phpredis", "queue": "default", **settings}
        peer.ask("connect", port=wire.port, **settings)
        return peer

    yield start
    for peer in made:
        peer.kill()


@pytest.fixture
def laravel(another: Callable[..., peers.Peer]) -> peers.Peer:
    return another()
