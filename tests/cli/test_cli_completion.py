"""What shells complete, tried in the shells, and the manual page."""

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from .program import Program

ROOT = Path(__file__).parents[2]


def offers(dueq: Program, *words: str) -> list[str]:
    """What can come next, without what it means."""
    return [line.split("\t")[0] for line in dueq("completion", "words", *words).lines]


def options_in(text: str) -> set[str]:
    return {f"--{name}" for name in re.findall(r'"([a-z-]+)", (?:no|required|optional)_arg', text)}


# ---- What is offered ----


def test_completion_of_commands(dueq: Program) -> None:
    listed = re.findall(r"^  ([a-z][a-z-]*) +[A-Z]", dueq("--help").text, flags=re.M)
    assert len(listed) > 25
    assert offers(dueq, "") == listed
    assert offers(dueq, "res") == ["reserve", "reschedule", "result", "resume"]
    assert offers(dueq, "--url", "redis://host", "rates") == ["rates"]
    assert offers(dueq, "help", "unl") == ["unlock"]
    assert offers(dueq, "redisson", "p") == ["poll", "peek"]
    assert offers(dueq, "fly", "") == []
    meant = dueq("completion", "words", "pause").text
    assert meant == "pause\tStops deliveries until the queue is resumed\n"


def test_completion_of_options(dueq: Program) -> None:
    assert offers(dueq, "push", "orders", "--max") == ["--max-attempts", "--max-crashes"]
    assert offers(dueq, "ack", "orders", "ticket", "--max-a") == ["--max-attempts"]
    assert offers(dueq, "push", "--re") == ["--replace", "--replace=body", "--replicas"]
    assert offers(dueq, "stats", "orders", "--") == [
        *["--url", "--url-file", "--partitions", "--key", "--json", "--help", "--version"]
    ]
    assert "--display-name" in offers(dueq, "laravel", "push", "default", "--d")
    meant = dueq("completion", "words", "stats", "--url-").text
    assert meant.startswith("--url-file\tread the URL from the first line of a file")


def test_completion_of_values(dueq: Program) -> None:
    states = ["ready", "delayed", "leased", "dead", "outbox"]
    assert offers(dueq, "peek", "orders", "") == states
    assert offers(dueq, "purge", "--json", "orders", "de") == ["delayed", "dead"]
    assert offers(dueq, "peek", "--count", "5", "orders", "r") == ["ready"]
    assert offers(dueq, "push", "--priority", "") == ["high", "normal", "low"]
    assert offers(dueq, "push", "--priority=l") == ["--priority=low"]
    assert offers(dueq, "push", "--priority", "=", "l") == ["low"]  # as bash has it
    assert offers(dueq, "work", "--log", "j") == ["json"]
    assert offers(dueq, "completion", "") == ["bash", "zsh", "fish"]
    assert offers(dueq, "push", "--delay", "") == []
    assert offers(dueq, "push", "") == []


def test_completion_of_files_and_commands(dueq: Program) -> None:
    assert offers(dueq, "stats", "--url-file", "") == [":files"]
    assert offers(dueq, "work", "orders", "--", "") == [":commands"]
    assert offers(dueq, "work", "orders", "--", "ls", "--a") == [":files"]


def test_help_has_all_options_that_are_taken(dueq: Program) -> None:
    """It is what is completed, and what the manual page is made of."""
    taken: set[str] = set()
    for path in [*(ROOT / "cli").rglob("*.c"), *(ROOT / "cli").rglob("*.h")]:
        taken |= options_in(path.read_text(encoding="utf-8"))
    taken.add("--replace=body")
    told: set[str] = set()
    words = offers(dueq, "")
    for command in words:
        verbs = offers(dueq, command, "") if command in ("redisson", "laravel", "schedule") else []
        for verb in [[command], *([command, verb] for verb in verbs)]:
            told |= set(offers(dueq, *verb, "--"))
    assert taken == told


# ---- In the shells ----


class Terminal:
    """A shell that somebody types at."""

    def __init__(self, dueq: Program, *words: str) -> None:
        path = os.pathsep.join([str(Path(dueq.path).parent), os.environ["PATH"]])
        environment = {**dueq.environment, "PATH": path, "TERM": "dumb", "PS1": "> "}
        self._child, self._screen = pty.fork()
        if self._child == 0:
            os.execvpe(words[0], words, environment)
        self._shown = ""

    def completes(self, line: str) -> str:
        """Types the line and a tab, and returns what the line is then."""
        self.types(f"{line}\t\x01echo '<' \x05 '>'\n")
        found = self.until(r"\r\n< (.*?) +>\r\n")
        return re.sub(" +", " ", found[1])

    def types(self, text: str) -> None:
        os.write(self._screen, text.encode())

    def until(self, pattern: str) -> re.Match[str]:
        """Returns when the screen shows something, and forgets what it showed."""
        deadline = time.monotonic() + 20
        while not (found := re.search(pattern, self._shown)):
            left = deadline - time.monotonic()
            assert left > 0, self._shown
            if select.select([self._screen], [], [], left)[0]:
                self._shown += os.read(self._screen, 65536).decode()
        self._shown = ""
        return found

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._screen)
        os.kill(self._child, signal.SIGKILL)
        os.waitpid(self._child, 0)


COMPINIT = "autoload -U compinit; compinit -u -D"
SHELLS = {
    "bash": (["bash", "--norc", "-i"], "source <(dueq completion bash)"),
    "zsh": (["zsh", "-f", "-i"], f"{COMPINIT}; source <(dueq completion zsh)"),
    "zsh, installed": (["zsh", "-f", "-i"], f"fpath=({ROOT}/build/cmake $fpath); {COMPINIT}"),
}


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_in_a_shell(dueq: Program, tmp_path: Path, shell: str) -> None:
    (tmp_path / "some-file").touch()
    words, begin = SHELLS[shell]
    with Terminal(dueq, *words) as terminal:
        terminal.types(f"{begin}; echo rea''dy\n")
        terminal.until("ready\r\n")
        for typed, completed in {
            "dueq resch": "dueq reschedule",
            "dueq reschedule orders x --de": "dueq reschedule orders x --delay",
            "dueq peek orders del": "dueq peek orders delayed",
            "dueq push --priority n": "dueq push --priority normal",
            "dueq push --priority=n": "dueq push --priority=normal",
            f"dueq stats --url-file {tmp_path}/so": f"dueq stats --url-file {tmp_path}/some-file",
            "dueq work orders -- base6": "dueq work orders -- base64",
            "dueq fly resch": "dueq fly resch",
        }.items():
            assert terminal.completes(typed) == completed


def test_completion_in_fish(dueq: Program, tmp_path: Path) -> None:
    def completes(line: str) -> list[str]:
        path = os.pathsep.join([str(Path(dueq.path).parent), os.environ["PATH"]])
        script = f"dueq completion fish | source; complete -C '{line}'"
        ended = subprocess.run(
            ["fish", "--no-config", "-c", script],
            env={**dueq.environment, "PATH": path, "HOME": str(tmp_path)},
            capture_output=True,
            timeout=60,
            check=True,
        )
        return ended.stdout.decode().splitlines()

    assert completes("dueq resch") == ["reschedule\tChanges the due time of a delayed message"]
    assert completes("dueq peek orders de") == ["dead", "delayed"]
    assert [line.split("\t")[0] for line in completes("dueq push orders --max")] == [
        *["--max-attempts", "--max-crashes"]
    ]
    assert "reserve" in [line.split("\t")[0] for line in completes("dueq ")]
    (tmp_path / "some-file").touch()
    assert completes(f"dueq stats --url-file {tmp_path}/so") == [f"{tmp_path}/some-file"]
    assert any(line.startswith("base64") for line in completes("dueq work orders -- base6"))


def test_completion_scripts_are_what_is_installed() -> None:
    built = ROOT / "build/cmake"
    program = built / "dueq"
    for name, words in {
        "dueq.bash": ["completion", "bash"],
        "_dueq": ["completion", "zsh"],
        "dueq.fish": ["completion", "fish"],
        "dueq.1": ["man"],
    }.items():
        assert subprocess.check_output([program, *words]) == (built / name).read_bytes()


@pytest.mark.parametrize("words", [[], ["csh"], ["bash", "zsh"]])
def test_completion_of_another_shell(dueq: Program, words: list[str]) -> None:
    ended = dueq.run("completion", *words)
    assert (ended.code, ended.out) == (2, b"")
    assert "bash|zsh|fish" in ended.err


# ---- The manual page ----


def test_manual_page(dueq: Program) -> None:
    page = dueq("man")
    checked = subprocess.run(
        ["mandoc", "-T", "lint", "-W", "error"], input=page.out, capture_output=True, timeout=60
    )
    assert (checked.returncode, checked.stdout) == (0, b"")
    shown = subprocess.run(
        ["mandoc", "-T", "utf8"], input=page.out, capture_output=True, check=True, timeout=60
    )
    text = re.sub(r".\x08", "", shown.stdout.decode())
    for command in offers(dueq, ""):
        assert f"dueq {command}" in text
    for line in dueq("push", "--help").lines[3:20]:
        assert line.strip() in text
    for section in ("SYNOPSIS", "COMMANDS", "OPTIONS OF ALL COMMANDS", "EXIT CODES"):
        assert f"\n{section}\n" in text


def test_shells_and_mandoc_are_there() -> None:
    """./dev installs them; else the tests above fail for another reason."""
    assert all(shutil.which(name) for name in ("bash", "zsh", "fish", "mandoc"))
