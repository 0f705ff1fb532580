"""./dev sets up a checkout: which steps it runs, when it waits for another, where that works."""

from __future__ import annotations

import fcntl
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ALL = ["library", "php_extension", "python_package", "venv"]
AT_ONCE = ALL[:3]  # when venv is done
# In place of those that take minutes. One waits until somebody writes to the FIFO hold-STEP, if
# the checkout has it.
STEPS = """
ran() {
    echo "$1" >>ran
    [ ! -p "hold-$1" ] || read -r _ <"hold-$1"
}
venv() { ran venv; }
library() { ran library; }
python_package() { ran python_package; }
php_extension() { ran php_extension; }
packages() { ran packages; printf 'installed %s\\n' $MISSING >>"$INSTALLED"; }
"""


class Checkout:
    """A small one: the real ./dev and dev.d, empty sources, steps that only say that they ran."""

    def __init__(self, path: Path, steps: str = STEPS) -> None:
        self.path = path
        self.processes: list[subprocess.Popen[str]] = []
        path.mkdir()
        shutil.copytree(ROOT / "dev.d", path / "dev.d")
        shutil.copy(ROOT / "dev", path)
        script = path / "dev.d/steps.sh"
        *head, last = script.read_text("utf-8").splitlines()
        script.write_text("\n".join([*head, steps, last, ""]), "utf-8")
        for name in ["bench", "bindings/php", "bindings/python", "cli", "core", "swig", "tests"]:
            (path / name).mkdir(parents=True)
        for name in ["CMakeLists.txt", "config.m4", "setup.py", "pyproject.toml", "README.md"]:
            (path / name).touch()

    def start(self, **environment: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [self.path / "dev", "run", "true"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
            start_new_session=True,
        )
        self.processes.append(process)
        return process

    def is_free(self) -> bool:
        """Whether no process has the lock."""
        with open(self.path / "build/lock", encoding="utf-8") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
        return True

    def run(self) -> str:
        """What it says. It has ended well, and at once."""
        return ended(self.start())

    def ran(self) -> list[str]:
        """The steps that ran since the last call, by name."""
        log = self.path / "ran"
        if not log.exists():
            return []
        lines = log.read_text("utf-8").split()
        log.unlink()
        return sorted(lines)

    def begun(self, step: str) -> bool:
        log = self.path / "ran"
        return log.exists() and step in log.read_text("utf-8").split()

    def hold(self, step: str) -> None:
        os.mkfifo(self.path / f"hold-{step}")

    def let_go(self, step: str) -> None:
        fifo = self.path / f"hold-{step}"
        fifo.write_text("\n", "utf-8")
        fifo.unlink()


@contextmanager
def checkout(path: Path, steps: str = STEPS) -> Iterator[Checkout]:
    made = Checkout(path, steps)
    try:
        yield made
    finally:
        for process in made.processes:
            end(process)


def end(process: subprocess.Popen[str]) -> None:
    """Kills it, and its step."""
    with suppress(ProcessLookupError), process:
        os.killpg(process.pid, signal.SIGKILL)


def ended(process: subprocess.Popen[str]) -> str:
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    return said


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def waits(process: subprocess.Popen[str]) -> str:
    """The first line that it says."""
    assert process.stderr
    assert select.select([process.stderr], [], [], 20)[0], "it says nothing"
    return process.stderr.readline()


# ---- Which steps run ----


def test_nothing_is_built_again_because_it_was_built(tmp_path: Path) -> None:
    left = [
        *["bindings/python/dueq.egg-info/PKG-INFO", "swig/dueq_wrap.c", "core/a.lo", "core/a.o"],
        *["core/.libs/a.o", "bindings/php/a.dep", "core/__pycache__/embed.cpython-311.pyc"],
    ]
    package = "".join(f"mkdir -p {Path(name).parent}; date >{name}; " for name in left)
    steps = STEPS + f"python_package() {{ ran python_package; {package} }}\n"
    with checkout(tmp_path / "dueq", steps) as small:
        small.run()
        assert small.ran() == ALL
        assert (small.path / left[0]).exists()
        assert small.run() == ""
        assert small.ran() == []


def test_what_changes_is_built_again(tmp_path: Path) -> None:
    with checkout(tmp_path / "dueq") as small:
        small.run()
        small.ran()
        (small.path / "swig/dueq.i").write_text("%module dueq\n", "utf-8")
        small.run()
        assert small.ran() == ["python_package"]


def test_moved_checkout_is_built_anew(tmp_path: Path) -> None:
    with checkout(tmp_path / "dueq") as small:
        small.run()
        small.ran()
        small.path = small.path.rename(tmp_path / "elsewhere")
        small.run()
        assert small.ran() == ALL
        small.run()
        assert small.ran() == []


def test_failed_step_is_tried_again(tmp_path: Path) -> None:
    steps = STEPS + "library() { ran library; [ -e mended ]; }\n"
    with checkout(tmp_path / "dueq", steps) as small:
        process = small.start()
        assert "C library and command line: failed" in process.communicate(timeout=60)[1]
        assert process.returncode == 1
        assert small.ran() == ALL
        (small.path / "mended").touch()
        small.run()
        assert small.ran() == ["library"]


def test_steps_that_need_no_other_run_at_once(tmp_path: Path) -> None:
    with checkout(tmp_path / "dueq") as small:
        for step in AT_ONCE:
            small.hold(step)
        process = small.start()
        until(lambda: all(small.begun(step) for step in AT_ONCE))
        for step in AT_ONCE:
            small.let_go(step)
        ended(process)
        assert small.ran() == ALL


# ---- Two at once ----


def test_one_waits_for_the_other_in_a_checkout(tmp_path: Path) -> None:
    with checkout(tmp_path / "dueq") as small:
        small.hold("library")
        first = small.start()
        until(lambda: small.begun("library"))
        second = small.start()
        said = waits(second)
        small.let_go("library")
        assert "waits" not in ended(first)
        assert said == "./dev: waits for another ./dev, which sets up this checkout\n"
        assert ended(second) == ""
        assert small.ran() == ALL


def test_one_waits_for_the_other_with_packages(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, script in [("dpkg-query", 'cat "$INSTALLED"'), ("id", "echo 0")]:
        (tools / name).write_text(f"#!/bin/sh\n{script}\n", "utf-8")
        (tools / name).chmod(0o755)
    installed = tmp_path / "installed"
    installed.touch()
    new_system = {"PATH": f"{tools}:{os.environ['PATH']}", "INSTALLED": str(installed)}
    with checkout(tmp_path / "one") as one, checkout(tmp_path / "two") as two:
        one.hold("packages")
        first = one.start(**new_system)
        until(lambda: one.begun("packages"))
        second = two.start(**new_system)
        said = waits(second)
        one.let_go("packages")
        ended(first)
        assert said == "./dev: waits for another ./dev, which installs packages\n"
        assert "waits" not in ended(second)
        assert one.ran() == sorted(["packages", *ALL])
        assert two.ran() == ALL


def test_killed_with_its_step_leaves_no_lock(tmp_path: Path) -> None:
    with checkout(tmp_path / "dueq") as small:
        small.hold("library")
        process = small.start()
        until(lambda: small.begun("library"))
        end(process)
        until(small.is_free)  # the killed processes are gone
        small.ran()
        (small.path / "hold-library").unlink()
        assert "waits" not in small.run()
        assert "library" in small.ran()


def test_step_of_a_killed_one_is_waited_for(tmp_path: Path) -> None:
    with checkout(tmp_path / "dueq") as small:
        small.hold("library")
        killed = small.start()
        until(lambda: all(small.begun(step) for step in AT_ONCE))
        killed.kill()
        killed.wait()
        small.ran()
        process = small.start()
        assert "waits for another ./dev" in waits(process)
        small.let_go("library")
        ended(process)
        assert small.ran() == []


def test_process_in_the_background_keeps_no_lock(tmp_path: Path) -> None:
    steps = STEPS + "venv() { ran venv; sleep 300 & echo $! >background; }\n"
    with checkout(tmp_path / "dueq", steps) as small:
        small.run()
        (small.path / "build/stamp/library").unlink()
        assert "waits" not in small.run()
        assert small.ran() == sorted([*ALL, "library"])
        os.kill(int((small.path / "background").read_text("utf-8")), 0)


# ---- Where it can be built ----


@pytest.mark.parametrize("name", ["a:b", "a,b", "a;b", 'a"b', "a$b", "a\\b", "a[b]", "a\nb"])
def test_path_that_cannot_be_built_in_is_refused(tmp_path: Path, name: str) -> None:
    with checkout(tmp_path / name) as small:
        process = small.start()
        said = process.communicate(timeout=60)[1]
        assert process.returncode == 2
        assert said.startswith("./dev: this checkout cannot be built in ")
        assert small.ran() == []


def test_library_is_built_in_a_path_with_spaces_and_after_a_move(tmp_path: Path) -> None:
    with checkout(tmp_path / "it's a (é) path", "") as small:
        (small.path / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.18)\nproject(small C)\n"
            "add_library(words SHARED core/words.c)\n"
            "add_executable(dueq cli/main.c)\ntarget_link_libraries(dueq words)\n"
            "add_custom_target(dueq-program-files DEPENDS dueq)\n",
            "utf-8",
        )
        (small.path / "core/words.c").write_text('char words[] = "hello";\n', "utf-8")
        (small.path / "cli/main.c").write_text(
            "#include <stdio.h>\nextern char words[];\n"
            "int main(void) { return puts(words) < 0; }\n",
            "utf-8",
        )
        for _ in range(2):
            step(small, "library")
            assert output(small.path / "build/bin/dueq") == "hello\n"
            small.path = small.path.rename(small.path.with_name("another path"))


def test_php_extension_is_built_in_a_path_with_spaces(tmp_path: Path) -> None:
    with checkout(tmp_path / "it's a (é) path", "") as small:
        (small.path / "config.m4").write_text(
            "PHP_ARG_ENABLE([dueq], [dueq], [--enable-dueq], [yes])\n"
            "PHP_NEW_EXTENSION([dueq], [bindings/php/dueq.c], [$ext_shared])\n"
            "PHP_ADD_BUILD_DIR([$ext_builddir/bindings/php], [1])\n",
            "utf-8",
        )
        (small.path / "bindings/php/dueq.c").write_text(
            '#include "php.h"\n'
            "zend_module_entry dueq_module_entry = {\n"
            '    STANDARD_MODULE_HEADER, "dueq", NULL, NULL, NULL, NULL, NULL, NULL, "1",\n'
            "    STANDARD_MODULE_PROPERTIES };\n"
            "ZEND_GET_MODULE(dueq)\n",
            "utf-8",
        )
        step(small, "php_extension")
        scanned = f":{small.path}/build/php.d"
        code = "var_dump(extension_loaded('dueq'));"
        assert output("php", "-r", code, PHP_INI_SCAN_DIR=scanned) == "bool(true)\n"


def step(small: Checkout, name: str) -> None:
    output("bash", "dev.d/steps.sh", name, cwd=small.path, ROOT=str(small.path))


def output(*command: str | Path, cwd: Path = ROOT, **environment: str) -> str:
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
