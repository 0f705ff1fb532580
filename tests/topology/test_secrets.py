"""Commands of `dueq work` and `dueq lock` get a URL with all of its parameters but the secrets."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import dueq
from certificates import Certificates
from dueq import errors
from private_server import Server
from sentinel import Watched

RUNNERS = [["work", "orders", "--max-jobs", "1"], ["lock", "orders", "report"]]
SHOW = 'echo "$DUEQ_URL"; env; tr "\\0" " " < /proc/$PPID/cmdline; ps -eo args 2>&1'
SECRET = {"sentinel_user", "sentinel_password"}


def known_parameters() -> set[str]:
    """As the core names them."""
    with pytest.raises(errors.UrlError) as refused:
        dueq.Queue("orders", "redis://127.0.0.1:1?nothing=1")
    named = re.search(r"known: ([^)]*)\)", str(refused.value))
    assert named
    return set(named[1].split(", "))


def run(words: list[str], url: str, named: bool) -> subprocess.CompletedProcess[str]:
    program = shutil.which("dueq")
    assert program
    variables = {key: os.environ[key] for key in os.environ if key != "DUEQ_URL"}
    given = ["--url", url] if named else []
    return subprocess.run(
        [program, words[0], *given, *words[1:]],
        env=variables | ({} if named else {"DUEQ_URL": url}),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_commands_get_each_parameter_that_is_no_secret(tmp_path: Path) -> None:
    tls = Certificates(tmp_path, "shop.example.com")
    with Watched(
        replicas=0, sentinels=1, password="in+ner", sentinel_password="out+er", tls=tls
    ) as watched:
        safe = {"ca": str(tls.ca), "cert": str(tls.cert), "key": str(tls.key)}
        safe |= {f"sentinel_{name}": path for name, path in safe.items()}
        safe |= {"timeout": "20s", "db": "0", "replicas": "0", "disk": "0", "evicting": "accept"}
        safe |= {"durable_timeout": "3s", "tls_name": "shop.example.com", "map": "nowhere:1=h:2"}
        assert {*safe, *SECRET} == known_parameters()
        words = [f"{name}={value}" for name, value in safe.items()]
        shown = watched.url_of(*watched.sentinels, parameters=f"?{'&'.join(words)}")
        words = ["sentinel_user=default", *words[:3], "sentinel_password=out%2Ber", *words[3:]]
        url = watched.url_of(
            *watched.sentinels, login="default:in%2Bner@", parameters=f"?{'&'.join(words)}"
        )
        with dueq.Queue("orders", url) as queue:
            for runner in RUNNERS:
                for named in (True, False):
                    queue.push("body")
                    ended = run([*runner, "--", "sh", "-c", SHOW], url, named)
                    assert (ended.returncode, ended.stdout.split("\n")[0]) == (0, shown)
                    said = ended.stdout + ended.stderr
                    assert re.findall(r"in(?:\+|%2B)ner|out(?:\+|%2B)er", said) == []
                    assert not any(f"{name}=" in said for name in SECRET)


@pytest.mark.parametrize("log", ["text", "json"])
@pytest.mark.parametrize("parameter", [*sorted(known_parameters()), "nothing"])
def test_no_parameter_makes_an_error_tell_a_secret(parameter: str, log: str) -> None:
    """Whether it is refused, or the servers are away."""
    secrets = "sentinel_user=us&sentinel_password=outer"
    for value in ("", "x", "0", "%zz", "/nowhere", "innermost"):
        url = (
            f"rediss+sentinel://:inner@127.0.0.1:1/main?{secrets}&timeout=50ms&{parameter}={value}"
        )
        ended = run(["work", "orders", "--log", log, "--wait", "0", "--", "true"], url, True)
        assert ended.returncode in {2, 3, 4}
        assert ended.stderr
        assert not re.search(r"inner@|outer", ended.stderr)


def test_a_server_that_refuses_a_login_makes_no_error_tell_it() -> None:
    with Server("--requirepass", "sesame") as server:
        url = server.url.replace("unix://", "unix://:wrong-sesame@")
        for runner in RUNNERS:
            ended = run([*runner, "--", "true"], url, True)
            assert ended.returncode == 4
            assert "AUTH" in ended.stderr
            assert "wrong-sesame" not in ended.stderr
