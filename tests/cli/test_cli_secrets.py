"""Where a password is seen: on the command line, in files, and by the commands that are run."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from private_server import Server

from .program import Program

PASSWORD = "open-sesame"
SHOW = 'echo "url=$DUEQ_URL"; tr "\\0" " " < /proc/$PPID/cmdline; cat <&3 || true'
RUNNERS = [["work", "orders", "--wait", "0"], ["lock", "orders", "report"]]


@pytest.fixture
def closed() -> Iterator[Server]:
    with Server("--requirepass", PASSWORD) as running:
        yield running


@pytest.fixture
def url(closed: Server) -> str:
    return closed.url.replace("unix://", f"unix://:{PASSWORD}@")


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize(
    "how", ["--url {url}", "--url={url}", "", "--url-file {file}", "--url-file /dev/fd/3"]
)
def test_password_goes_to_no_command(
    dueq: Program, url: str, closed: Server, tmp_path: Path, runner: list[str], how: str
) -> None:
    """Neither as a variable nor by a command line nor by a descriptor."""
    dueq.environment["DUEQ_URL"] = url
    dueq("push", "orders", "body")
    if how:
        dueq.environment["DUEQ_URL"] = "redis://:other@127.0.0.1:1"
    file = tmp_path / "url"
    file.write_text(f"{url}\nmore\n", encoding="utf-8")
    words = [dueq.path, *runner, *how.format(url=url, file=file).split(), "--", "sh", "-c", SHOW]
    script = f'exec "$0" "$@" {f"3< {file}" if "/dev/fd" in how else ""}'
    done = subprocess.run(
        ["sh", "-c", script, *words],
        env=dueq.environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    first, line = done.stdout.splitlines()
    assert first == f"url={closed.url}"
    assert runner[0] in line
    assert PASSWORD not in done.stdout + done.stderr
    assert "other" not in done.stdout


@pytest.mark.parametrize("runner", RUNNERS)
def test_password_goes_to_a_command_on_request(dueq: Program, url: str, runner: list[str]) -> None:
    dueq.environment |= {"DUEQ_URL": url, "DUEQ": dueq.path}
    dueq("push", "orders", "body")
    script = '"$DUEQ" push next "$DUEQ_URL" > /dev/null'
    dueq(*runner, "--pass-url", "--url", url, "--", "sh", "-c", script)
    assert dueq("reserve", "next", "--ack").text == f"{url}\n"


@pytest.mark.parametrize("runner", RUNNERS)
def test_command_without_the_password_is_told(dueq: Program, url: str, runner: list[str]) -> None:
    """It does not end up on another server in silence."""
    dueq.environment |= {"DUEQ_URL": url, "DUEQ": dueq.path}
    dueq("push", "orders", "body")
    ended = dueq.run(*runner, "--", "sh", "-c", '"$DUEQ" push next x')
    assert "dueq: AUTH: " in ended.err
    assert "--pass-url" in ended.err


@pytest.mark.parametrize("runner", RUNNERS)
def test_server_that_was_not_named_is_named_to_commands(
    dueq: Program, tmp_path: Path, runner: list[str]
) -> None:
    """So what was said of it once is not said again for each of them."""
    del dueq.environment["DUEQ_URL"]
    dueq.environment |= {"XDG_STATE_HOME": str(tmp_path), "DUEQ": dueq.path}
    dueq("push", "orders", "body")
    script = '"$DUEQ" push next x > /dev/null; echo "$DUEQ_URL"'
    ended = dueq(*runner, "--", "sh", "-c", script)
    assert ended.text == f"embedded:{tmp_path}/dueq\n"
    assert ended.err.count("no DUEQ_URL") == 1


@pytest.mark.parametrize(
    "given",
    [
        "redis://user:{}@127.0.0.1:1",
        "redis://:{}@127.0.0.1:1",
        "redis://{}@127.0.0.1:1",
        "redis://user:a/{}@127.0.0.1:1",
        "redis://user:a?{}@127.0.0.1:1",
        "redis://user:a@{}@127.0.0.1:1",
        "redis+sentinel://127.0.0.1:1/main?timeout=1s&sentinel_password={}",
        "redis+sentinel://127.0.0.1:1/main?sentinel%5Fpassword={}",
        "127.0.0.1:1?password={}",
    ],
)
@pytest.mark.parametrize("form", ["--url {}", "--url={}", "--ur {}"])
def test_password_is_not_on_the_command_line(
    dueq: Program, server: Server, given: str, form: str
) -> None:
    """Not for long, also where the URL is none: dueq waits for input here."""
    url = given.format(PASSWORD)
    with dueq.start("push", *form.format(url).split(), "orders") as process:
        line = Path(f"/proc/{process.pid}/cmdline")

        def hidden() -> bool:
            return process.poll() is not None or (
                b"push" in line.read_bytes() and PASSWORD.encode() not in line.read_bytes()
            )

        dueq.until(hidden)
        _, err = process.communicate(b"x", timeout=60)
    assert PASSWORD.encode() not in err


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("--uri=", "unrecognized option '--uri'"),
        ("--u=", "option '--u' is ambiguous"),
        ("--pass-url=", "unrecognized option '--pass-url'"),
        ("--url-file=", "--url-file wants a file, and was given a URL"),
    ],
)
def test_password_in_an_option_that_does_not_take_it_is_not_told(
    dueq: Program, option: str, told: str
) -> None:
    ended = dueq.run("stats", "orders", f"{option}redis://:{PASSWORD}@127.0.0.1:1")
    assert (ended.code, PASSWORD in ended.err) == (2, False)
    assert told in ended.err


def test_path_with_an_at_sign_has_no_login(dueq: Program, tmp_path: Path) -> None:
    """The directory is relative, so its name is the first of the URL."""
    url = "embedded:a:b@c"
    told = subprocess.run(
        [dueq.path, "lock", "orders", "it", "--url", url, "--", "sh", "-c", "echo $DUEQ_URL"],
        env=dueq.environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert told.stdout == f"{url}\n"


def test_url_file_that_is_none(dueq: Program, tmp_path: Path) -> None:
    path = tmp_path / "url"
    ended = dueq.run("stats", "orders", "--url-file", str(path))
    assert ended.code == 4
    assert ended.err == f"dueq: {path}: No such file or directory\n"
    path.write_text("\n", encoding="utf-8")
    ended = dueq.run("stats", "orders", "--url-file", str(path))
    assert ended.code == 2
    assert "its first line is empty" in ended.err
    path.write_text("", encoding="utf-8")
    assert dueq.run("stats", "orders", "--url-file", str(path)).code == 2
    assert dueq.run("stats", "orders", "--url-file", str(tmp_path)).code == 4


def test_url_file_without_an_end(dueq: Program, tmp_path: Path) -> None:
    long = tmp_path / "long"
    long.write_text("redis://" + 70_000 * "x")
    ended = dueq.run("stats", "orders", "--url-file", str(long))
    assert ended.code == 2
    assert "its first line is too long" in ended.err
    # It is not read to an end that it does not have.
    assert dueq.run("stats", "orders", "--url-file", "/dev/zero").code == 2


def test_url_that_comes_last_counts(dueq: Program, server: Server, tmp_path: Path) -> None:
    (tmp_path / "url").write_text(server.url, encoding="utf-8")
    file = ["--url-file", str(tmp_path / "url")]
    dueq("stats", "orders", "--url", "redis://127.0.0.1:1", *file)
    assert dueq.run("stats", "orders", *file, "--url", "redis://127.0.0.1:1").code == 3
