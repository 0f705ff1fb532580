"""What README.md and docs/ show: installed, pasted and printed as they say."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")

PYTHON = [
    ["pack order 7", "order 7 is not paid"],
    ["0 b'sent'"],
    [f"order {number}" for number in range(1000)],
    ["cancel order 17 unless it is paid", r"App\Jobs\CancelOrder@handle {'order': 17} 1"],
]
# The command of a program, and its input.
Program = tuple[list[str], str]
# Behind the block of the README with this number: what it leaves behind.
SHOWN = {
    1: "print(queue.stats().leased, dueq.Queue('audit').reserve(timeout=3).body)",
}


@pytest.fixture
def shop() -> Iterator[dict[str, str]]:
    """The environment of somebody who has installed dueq and named no server."""
    home = tempfile.mkdtemp(prefix="dueq-")
    yield {
        **{key: value for key, value in os.environ.items() if not key.startswith("XDG_")},
        "PATH": os.pathsep.join([str(ROOT / "build/bin"), os.environ["PATH"]]),
        "HOME": home,
        "DUEQ_URL": "",
    }
    shutil.rmtree(home, ignore_errors=True)


def blocks(language: str, document: str = "README.md") -> list[str]:
    text = (ROOT / document).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.S | re.M)


def run(command: list[str], code: str, environment: dict[str, str]) -> list[str]:
    """The lines that it prints. On standard error it names its server once, and what died."""
    done = subprocess.run(
        command,
        input=code,
        env=environment,
        cwd=environment["HOME"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    said = [line for line in done.stderr.splitlines() if "its attempts are exhausted" not in line]
    assert len(said) == 1, said
    state = f"{environment['HOME']}/.local/state/dueq"
    named = f"no DUEQ_URL: this is the private server embedded:{state}, "
    assert (done.returncode, said[0].removeprefix("dueq: ").startswith(named)) == (0, True), said
    return done.stdout.splitlines()


def php() -> list[str]:
    if subprocess.run(["php", "-r", "exit((int) !extension_loaded('dueq'));"]).returncode == 0:
        return ["php"]
    extension = ROOT / "build/php/modules/dueq.so"
    assert extension.exists(), "the PHP extension is not built: ./dev test php builds it"
    return ["php", "-d", f"extension={extension}"]


# ---- README.md ----


def test_readme_is_short_and_begins_with_what_one_needs_first() -> None:
    lines = README.splitlines()
    assert len(lines) <= 200
    first_screen = "\n".join(lines[:45])
    assert "pip install" in first_screen
    assert "phpize" in first_screen
    assert ".consume(" in first_screen


def test_readme_names_the_packages_that_dev_builds_with() -> None:
    told = ". dev.d/setup.sh && echo ${PACKAGES[@]}"
    packages = set(subprocess.check_output(["bash", "-c", told], cwd=ROOT, text=True).split())
    assert "libhiredis-dev" in packages
    # The project's own build takes it instead of make.
    assert packages - {"ninja-build"} <= set(re.findall(r"[\w-]+", blocks("sh")[0]))


@pytest.mark.parametrize("number", range(len(PYTHON)))
def test_readme_python_works_when_pasted(shop: dict[str, str], number: int) -> None:
    code = blocks("python")
    assert len(code) == len(PYTHON)
    lines = run([sys.executable, "-"], f"{code[number]}\n{SHOWN.get(number, '')}\n", shop)
    assert lines == PYTHON[number]


def test_readme_php_works_when_pasted(shop: dict[str, str]) -> None:
    [code] = blocks("php")
    assert run(php(), code, shop) == ["order 9 is not paid"]


# ---- docs/ ----


def test_guide_works_when_pasted_from_its_top_to_its_end(shop: dict[str, str]) -> None:
    lines = run([sys.executable, "-"], "\n".join(blocks("python", "docs/guide.md")), shop)
    for printed in [
        "it is in the queue already",
        "letter-1 no such address",
        "delayed",
        "None",
        "b'order 9 is sent'",
        "['audit', 'exports', 'letters#2', 'letters#6', 'mail', 'parcels#7', 'reports']",
    ]:
        assert printed in lines
    assert sum(bool(re.search(r" failed: division by zero$", line)) for line in lines) == 1
    assert lines[-1] == "welcome"


def test_guide_php_works_when_pasted(shop: dict[str, str]) -> None:
    pusher, worker, persistent = blocks("php", "docs/guide.md")
    assert run(php(), worker, shop) == ["letter 1", "failed: no such address"]
    for code in (pusher, persistent):
        assert run(php(), code, shop) == []


def test_controls_python_works_when_pasted_from_its_top_to_its_end(shop: dict[str, str]) -> None:
    code = blocks("python", "docs/controls.md")
    printed = re.findall(r"# (\[b'.*\]|None|order|\d rate|\d[\d ]*)$", "\n".join(code), flags=re.M)
    lines = run([sys.executable, "-"], "\n".join(code), shop)
    assert lines == [*printed, "ordered", "paid"]


def test_worker_python_works_when_pasted(shop: dict[str, str]) -> None:
    code = blocks("python", "docs/worker.md")
    home = Path(shop["HOME"])
    app = [block for block in code if block.startswith("# shop.py")]
    producer = "\n".join(block for block in code if block not in app)
    (home / "shop.py").write_text("\n".join(app))
    producer += "import shop\nshop.count_orders.push(3)\nshop.app.queue('orders').push('18')\n"
    producer += "shop.count.push('word')\n"
    [refused] = run([sys.executable, "-"], producer, shop)
    assert refused.startswith("task send_parcel: at: the datetime 2026-11-28 17:30:00 has no time")
    [command] = [line for line in blocks("sh", "docs/worker.md") if line.startswith("dueq-worker")]
    words = [str(Path(sys.executable).parent / "dueq-worker"), *command.split()[1:]]
    words += ["--max-jobs", "7", "--concurrency", "1", "--queues", "mail:3,default:1,orders:1"]
    done = subprocess.run(
        words, env=shop, cwd=home, capture_output=True, text=True, timeout=60, check=True
    )
    for printed in [
        "receipt of order 17 copy",
        "receipt of order 18 ",
        "begins: send_receipt [17] 1",
        "ends: send_receipt",
        "dear Ada",
        "counts order 2",
        "parcel of 12.50 on 2026-11-28 at 2026-11-28 17:30:00+00:00 waits 2 days, 0:00:00",
        "letters: 4",
        "order 18",
    ]:
        assert printed in done.stdout.splitlines(), (done.stdout, done.stderr)


class Printed:
    """What a worker prints."""

    def __init__(self, worker: subprocess.Popen[str], log: Path) -> None:
        assert worker.stdout
        self._stream = worker.stdout
        self._log = log
        self.lines: list[str] = []

    def wait_for(self, text: str) -> None:
        """Waits for a line with this text, unless the worker has printed it already."""
        while not any(text in line for line in self.lines):
            line = self._stream.readline()
            assert line, (text, self.lines, self._log.read_text(encoding="utf-8"))
            self.lines.append(line)


@contextmanager
def working(command: list[str], environment: dict[str, str]) -> Iterator[Printed]:
    """Runs a worker. It is killed if the block takes two minutes."""
    log = Path(environment["HOME"]) / "worker.log"
    with (
        log.open("w", encoding="utf-8") as errors,
        subprocess.Popen(
            command,
            env={**environment, "PYTHONUNBUFFERED": "1"},
            cwd=environment["HOME"],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as worker,
    ):
        limit = Timer(120, worker.kill)
        limit.start()
        try:
            yield Printed(worker, log)
        finally:
            limit.cancel()
            worker.terminate()


def worker_command(program: str) -> list[str]:
    """The command of docs/agents.md, with one job at a time, so that each line comes whole."""
    [command] = [line for line in blocks("sh", "docs/agents.md") if line.startswith(program)]
    return command.replace("--concurrency 4", "--concurrency 1").split()


def python_front(home: Path) -> list[str]:
    """Writes the support.py of docs/agents.md. Returns the blocks that push to its tasks."""
    code = blocks("python", "docs/agents.md")
    app = [block for block in code if block.startswith("# support.py")]
    (home / "support.py").write_text("\n".join(app), encoding="utf-8")
    return [block for block in code if block not in app]


def draft_remind_and_approve(
    printed: Printed, front: Program, approve: Program, shop: dict[str, str]
) -> None:
    answer = "(answer with (facts for: where is my parcel?))"
    assert run(*front, shop) == [answer]
    printed.wait_for("please approve ticket 7")
    for kind in ["tone", "law"]:
        printed.wait_for(f"(check the {kind} of {answer})")
    people = "import dueq; people = dueq.Queue('people')\n"
    code = f"{people}print(people.find('remind-7').state.name, people.reschedule('remind-7'))"
    assert run([sys.executable, "-"], code, shop) == ["DELAYED True"]
    printed.wait_for("ticket 7 still waits for you")
    for _ in range(2):
        assert run(*approve, shop) == [f"sent: {answer}"]
    code = f"{people}print(people.find('remind-7'))"
    assert run([sys.executable, "-"], code, shop) == ["None"]
    printed.wait_for("sends the answer to ticket 7")
    assert sum("sends the answer" in line for line in printed.lines) == 1


def test_agents_python_works_when_pasted(shop: dict[str, str]) -> None:
    front, approve, stages, chains = python_front(Path(shop["HOME"]))
    python = [sys.executable, "-"]
    command = worker_command("dueq-worker")
    command[0] = str(Path(sys.executable).parent / command[0])
    with working(command, shop) as printed:
        draft_remind_and_approve(printed, (python, front), (python, approve), shop)
        assert run(python, stages, shop) == []
        printed.wait_for("monday is done: 2 parts")
        assert run(python, chains, shop) == []
        printed.wait_for("all 2 pages are stored")
    ran = [line for line in printed.lines if re.match(r"read|match|monday|stores|all", line)]
    parts = [f"{stage} part {number}\n" for stage in ("read", "match") for number in (0, 1)]
    pages = [f"stores THE TEXT OF PAGE {page}\n" for page in (1, 2)]
    assert ran[:5] == [*parts, "monday is done: 2 parts\n"]
    assert (sorted(ran[5:7]), ran[7:]) == (pages, ["all 2 pages are stored\n"])


def test_agents_php_works_when_pasted(shop: dict[str, str]) -> None:
    home = Path(shop["HOME"])
    for block in blocks("php", "docs/agents.md"):
        [name] = re.findall(r"^// (\w+\.php)$", block, flags=re.M)
        (home / name).write_text(block, encoding="utf-8")
    install_worker(home)
    front, approve = ([*php(), "front.php"], ""), ([*php(), "approve.php"], "")
    with working([*php(), *worker_command("vendor/bin/dueq-worker")], shop) as printed:
        draft_remind_and_approve(printed, front, approve, shop)


# Where docs/agents.md shows one link of a chain, this is the worker around the link.
CHAINS = r"""<?php
use Dueq\Worker;
use Dueq\Worker\Job;

$worker = new Worker();
$tasks = $worker->tasks;

return $worker
    ->on('fetch', function (Job $job, int $page) use ($tasks): void {
        $text = "the text of page $page";
        $tasks->queue('import')->pushMany([LINK]);
    }, queue: 'import')
    ->on('shorten', function (int $page, string $text): void {
        echo "shortens $text\n";
    }, queue: 'import', unique: 86400.0)
    ->on('all_stored', function (int $pages): void {
        echo "all $pages pages are stored\n";
    }, queue: 'import');
"""


def test_agents_php_link_of_a_batch_of_chains_works_when_pasted(shop: dict[str, str]) -> None:
    home = Path(shop["HOME"])
    text = (ROOT / "docs/agents.md").read_text(encoding="utf-8")
    [link] = re.findall(r"`(\$tasks->draft\('shorten'[^`]*\))`", text)
    (home / "worker.php").write_text(CHAINS.replace("LINK", link), encoding="utf-8")
    install_worker(home)
    *_, chains = python_front(home)
    worker = ["vendor/bin/dueq-worker", "worker.php", "--queues", "import"]
    with working([*php(), *worker], shop) as printed:
        assert run([sys.executable, "-"], chains, shop) == []
        printed.wait_for("all 2 pages are stored")
    code = "import dueq; print(dueq.Queue('import').find_batch('pages').acked)"
    assert run([sys.executable, "-"], code, shop) == ["4"]
    assert sorted(printed.lines[:-1]) == [f"shortens the text of page {page}\n" for page in (1, 2)]


def install_worker(folder: Path) -> None:
    """Puts PHP's package of the worker into vendor/, with the interfaces of the distribution."""
    interfaces = json.loads((ROOT / "dev.d/composer.json").read_text(encoding="utf-8"))
    ours = {"type": "path", "url": str(ROOT / "bindings/php/worker")}
    app = {
        "repositories": {**interfaces["repositories"], "dueq": ours},
        "require": {"dueq/worker": "@dev"},
        "config": {"platform": {"ext-dueq": "1.0"}},
    }
    (folder / "composer.json").write_text(json.dumps(app), encoding="utf-8")
    environment = {
        **os.environ,
        "COMPOSER_HOME": str(folder / "composer"),
        "COMPOSER_ALLOW_SUPERUSER": "1",
        "COMPOSER_NO_AUDIT": "1",
    }
    command = ["composer", "install", "--quiet", "--no-interaction", "--working-dir", str(folder)]
    subprocess.run(command, env=environment, check=True, timeout=60)


def test_opentelemetry_python_works_when_pasted(shop: dict[str, str]) -> None:
    [code] = blocks("python", "docs/opentelemetry.md")
    printed = re.findall(r"# prints.*: (.*)", code)
    assert run([sys.executable, "-"], code, shop) == printed


def test_interop_php_works_when_pasted(shop: dict[str, str]) -> None:
    # The other block is a class of the application's.
    assert run(php(), "<?php " + blocks("php", "docs/interop.md")[2], shop) == [
        "cancel order 19 unless it is paid",
        "App\\Jobs\\CancelOrder@handle of order 19, attempt 1",
    ]


@pytest.mark.parametrize("document", ["README.md", "docs/reference.md", "docs/interop.md"])
def test_session_is_what_the_commands_print(shop: dict[str, str], document: str) -> None:
    ids: dict[str, str] = {}
    shop["DUEQ_URL"] = "embedded:shop"
    [session] = blocks("console", document)
    for step in session.removeprefix("$ ").split("\n$ "):
        command, _, printed = step.partition("\n")
        for shown, real in ids.items():
            command = command.replace(shown, real)
        done = subprocess.run(
            ["bash", "-c", command],
            env=shop,
            cwd=shop["HOME"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )
        real_ids = re.findall(r"\b[0-9A-Za-z]{22}\b", done.stdout)
        ids.update(zip(re.findall(r"\b[0-9A-Za-z]{22}\b", printed), real_ids, strict=True))
        assert masked(done.stdout) == masked(printed), shlex.quote(command)


def masked(printed: str) -> list[str]:
    """Without what is another one each time: ids, stamps, times."""
    token = [r"\b[0-9A-Za-z]{22}\b", r"(?<=\.)[0-9A-Za-z]{10}(?=:)"]
    for pattern in [*token, r"\b\d{13}\b", r"\b20\d\d-[\d-]+T[\d:.]+Z\b"]:
        printed = re.sub(pattern, "...", printed)
    return printed.splitlines()
