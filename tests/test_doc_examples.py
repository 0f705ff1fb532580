"""What README.md and docs/ show: installed, pasted and printed as they say."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")

PYTHON = [
    ["pack order 7", "order 7 is not paid"],
    ["0 b'sent'"],
    [f"order {number}" for number in range(1000)],
    ["cancel order 17 unless it is paid", r"App\Jobs\CancelOrder@handle {'order': 17} 1"],
]
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
