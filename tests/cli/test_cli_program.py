import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from private_server import Server

from .program import Program

COMMANDS = [
    *["push", "reserve", "ack", "retry", "release", "extend", "bury", "kick", "cancel"],
    *["reschedule", "find", "peek", "stats", "queues", "rates", "pause", "resume", "purge"],
    "remove",
    "allow",
    *["limit", "limits"],
    *["lock", "relock", "unlock", "work"],
    *["workers", "inspect", "running", "failures", "groups"],
]
# They are about all queues, or may be.
OF_ALL = {"queues": "", "inspect": " [QUEUE] ID"}
OF_ALL |= dict.fromkeys(["workers", "running"], " [QUEUE...]")


@pytest.fixture
def own_server() -> Iterator[Server]:
    with Server("--requirepass", "right") as running:
        yield running


def test_help_names_every_command(dueq: Program) -> None:
    text = dueq("--help").text
    assert "Examples:" in text
    assert "Exit codes:" in text
    for command in COMMANDS:
        assert f"\n  {command} " in text
        own = dueq(command, "--help").text
        assert own.startswith(f"Usage: dueq {command}{OF_ALL.get(command, ' QUEUE')}")
        assert "Example" in own
        assert dueq("help", command).text == own
    assert dueq("help").text == text


def test_version_is_that_of_the_header(dueq: Program) -> None:
    header = Path(__file__).parents[2] / "core" / "dueq.h"
    version = header.read_text(encoding="utf-8").split('#define DUEQ_VERSION "')[1].split('"')[0]
    assert dueq("--version").text == f"dueq {version}\n"


@pytest.mark.parametrize(
    "words",
    [[], ["fly"], ["help", "fly"], ["push"], ["--fly"], ["stats", "--url"], ["queues", "orders"]],
)
def test_usage_of_wrong_words(dueq: Program, words: list[str]) -> None:
    ended = dueq.run(*words)
    assert ended.code == 2
    assert ended.err.startswith("dueq: ")
    assert "--help" in ended.err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("push orders two words", "at most 2; a body of several words needs quotes"),
        ("ack orders ticket words --push two", "at most 2; a body of several words needs quotes"),
        ("redisson offer orders two words", "at most 2; a value of several words needs quotes"),
        ("redisson remove orders two words", "at most 2; a value of several words needs quotes"),
        ("redisson peek orders ready", "at most 1"),
        ("redisson take orders 5", "at most 1"),
        ("laravel pop orders 5", "at most 1"),
        ("peek orders ready 5", "at most 2"),
        ("stats orders more", "at most 1"),
        ("unlock orders name token more", "at most 3"),
        (f"reserve {'orders ' * 1025}", "at most 1024"),
    ],
)
def test_usage_of_too_many_words(dueq: Program, words: str, hint: str) -> None:
    """A hint at quotes is given where there is something to be quoted."""
    ended = dueq.run(*words.split())
    assert ended.code == 2
    assert ended.err.startswith(f"dueq: too many arguments ({hint}): dueq {words.split()[0]}")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("stats orders --url", "option '--url' requires an argument"),
        ("push orders body --dela", "option '--delay' requires an argument"),
        ("stats --json=1 orders", "option '--json' doesn't allow an argument"),
        ("stats orders --ur redis://a", "option '--ur' is ambiguous; possibilities: "),
        ("stats orders -q", "invalid option -- 'q'"),
        ("stats --url=redis://a -qv orders", "invalid option -- 'q'"),
        ("--fly=1 stats", "unrecognized option '--fly'"),
    ],
)
def test_usage_of_wrong_options(dueq: Program, words: str, told: str) -> None:
    ended = dueq.run(*words.split())
    assert ended.code == 2
    assert ended.err.startswith(f"dueq: {told}")


@pytest.mark.parametrize("front", [True, False])
def test_url_before_and_after_the_command(dueq: Program, server: Server, front: bool) -> None:
    dueq.environment["DUEQ_URL"] = "redis://127.0.0.1:1"
    url = ["--url", server.url]
    words = ["stats", "orders", "--json"]
    found = dueq(*url, *words) if front else dueq(*words, *url)
    assert found.object["queue"] == "orders"


def test_url_that_is_none(dueq: Program) -> None:
    ended = dueq.run("stats", "orders", "--url", "ftp://host")
    assert ended.code == 2
    assert ended.err.startswith("dueq: URL: ")


def test_url_of_no_server(dueq: Program) -> None:
    ended = dueq.run("push", "orders", "x", "--url", "unix:///nowhere/socket?timeout=500ms")
    assert ended.code == 3
    assert ended.err.startswith("dueq: CONNECT: ")
    assert "--url" in ended.err


def test_url_with_a_wrong_password(dueq: Program, own_server: Server) -> None:
    wrong = own_server.url.replace("unix://", "unix://:wrong@")
    ended = dueq.run("stats", "orders", "--url", wrong)
    assert ended.code == 4
    assert ended.err.startswith("dueq: AUTH: ")
    assert "wrong" not in ended.err.replace("wrong password", "")
    right = own_server.url.replace("unix://", "unix://:right@")
    shown = dueq("stats", "orders", "--url", right).text
    assert "right" not in shown


def test_timeout_with_a_stopped_server(dueq: Program) -> None:
    with Server() as stopped:
        stopped.freeze()
        ended = dueq.run("push", "orders", "x", "--url", f"{stopped.url}?timeout=300ms")
    assert ended.code == 3
    assert ended.err.startswith("dueq: TIMEOUT: ")


def test_embedded_server_for_two_calls(dueq: Program, tmp_path: Path) -> None:
    dueq.environment["DUEQ_URL"] = f"embedded:{tmp_path}/queue"
    made = dueq("push", "orders", "hello").lines
    assert dueq("reserve", "orders", "--json").object["id"] == made[0]
    found = dueq("stats", "orders").text
    assert f"embedded:{tmp_path}/queue" in found


def test_embedded_server_by_default(dueq: Program, tmp_path: Path) -> None:
    del dueq.environment["DUEQ_URL"]
    dueq.environment["HOME"] = str(tmp_path)
    dueq.environment.pop("XDG_STATE_HOME", None)
    place = tmp_path / ".local/state/dueq"
    for words in (["push", "orders", "hello"], ["reserve", "orders", "--ack"]):
        ended = dueq(*words)
        assert ended.err.startswith(
            f"dueq: warning: no DUEQ_URL: this is the private server embedded:{place}, "
        )
        assert len(ended.err.splitlines()) == 1
    assert ended.text == "hello\n"
    assert place.is_dir()


def test_embedded_server_that_is_named_is_not_told_of(dueq: Program, tmp_path: Path) -> None:
    del dueq.environment["DUEQ_URL"]
    assert dueq("push", "orders", "hello", "--url", f"embedded:{tmp_path}/queue").err == ""


def test_url_that_is_required(dueq: Program, server: Server, tmp_path: Path) -> None:
    del dueq.environment["DUEQ_URL"]
    dueq.environment |= {"HOME": str(tmp_path), "DUEQ_REQUIRE_URL": "1"}
    ended = dueq.run("push", "orders", "hello")
    assert ended.code == 2
    assert ended.err.startswith("dueq: URL: no server is named, and DUEQ_REQUIRE_URL=1 ")
    assert list(tmp_path.iterdir()) == []
    assert dueq("push", "orders", "hello", "--url", server.url).err == ""


def test_embedded_server_without_a_program(dueq: Program, tmp_path: Path) -> None:
    dueq.environment |= {"DUEQ_URL": f"embedded:{tmp_path}/queue", "PATH": str(tmp_path)}
    dueq.path = shutil.which(dueq.path) or dueq.path
    ended = dueq.run("push", "orders", "hello")
    assert ended.code == 4
    assert ended.err.startswith("dueq: EMBEDDED: ")
    assert "redis-server" in ended.err
    assert "valkey-server" in ended.err


def test_output_to_a_full_disk(dueq: Program) -> None:
    for words in (["stats", "orders"], ["--help"], ["--version"]):
        with open("/dev/full", "wb") as full:
            process = dueq.start(*words, stdout=full)
        with process:
            process.communicate(timeout=60)
        assert process.returncode == 4, words


def test_words_behind_two_dashes_are_no_options(dueq: Program) -> None:
    dueq("push", "orders", "body", "--id=--url=redis://127.0.0.1:1")
    found = dueq("find", "orders", "--json", "--", "--url=redis://127.0.0.1:1").object
    assert found["body"] == "body"


def test_no_example_uses_an_id_as_the_name_of_a_file(dueq: Program) -> None:
    root = Path(__file__).parents[2]
    helps = [dueq(command, "--help").text for command in COMMANDS]
    paths = [root / "README.md", *root.glob("docs/**/*.md"), *root.glob("examples/**/*.*")]
    paths += root.glob("bindings/php/laravel/*.md")
    for text in helps + [path.read_text(encoding="utf-8", errors="replace") for path in paths]:
        assert not re.search(r"""[\w.}]/(\$|\$?\{)\w*id\b|\$\{?DUEQ_ID\}?\.""", text, re.I)
