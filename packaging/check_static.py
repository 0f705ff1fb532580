"""
Looks at the file of the static command, and runs it in an empty folder, as its root: python
packaging/check_static.py FILE [COMMAND...]. The words behind the file run it, as an emulator of
another processor does.
"""

from __future__ import annotations

import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from elf import check_alone
from project import ROOT
from targets import need

sys.path[:0] = [str(ROOT / "tests" / "python"), str(ROOT / "tests" / "topology")]

from certificates import Certificates  # noqa: E402
from private_server import Server, free_port  # noqa: E402

# Where the systems that core/net/tls.c names keep the certificates of their CAs, and one's own.
BUNDLES = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/ssl/cert.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",
]
PATIENCE_S = 60.0


class Empty:
    """An empty root with the command, and a server outside of it."""

    def __init__(self, root: Path, command: Path, emulator: Sequence[str], port: int) -> None:
        self.root = root
        self.url = f"rediss://localhost:{port}?timeout=20s"
        shutil.copy(command, root / "dueq")
        self.words = [need("chroot"), str(root)]
        for word in emulator:
            shutil.copy(word, root / Path(word).name)
            self.words.append(f"/{Path(word).name}")
        self.words.append("/dueq")
        # "localhost" without a resolver: musl and glibc read this file.
        (root / "etc").mkdir()
        (root / "etc/hosts").write_text("127.0.0.1 localhost\n", encoding="utf-8")

    def environment(self, **variables: str) -> dict[str, str]:
        return {"DUEQ_URL": self.url, "TERM": "xterm-256color", **variables}

    def run(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.words, *words],
            env=self.environment(**variables),
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )

    def ok(self, *words: str, **variables: str) -> str:
        done = self.run(*words, **variables)
        assert done.returncode == 0, f"{words}: {done.returncode} {done.stdout}{done.stderr}"
        return done.stdout


def check_certificates(empty: Empty, ca: Path) -> None:
    refused = empty.run("stats", "orders")
    assert refused.returncode != 0, "without certificates a server was trusted"
    assert "TLS" in refused.stderr, refused.stderr
    for bundle in BUNDLES:
        place = empty.root / bundle.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ca, place)
        empty.ok("stats", "orders")
        place.unlink()
        print(f"  TLS by {bundle}: ok")
    # A folder as c_rehash makes it.
    hashed = subprocess.run(
        ["openssl", "x509", "-noout", "-hash", "-in", str(ca)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    shutil.copy(ca, empty.root / f"etc/ssl/certs/{hashed}.0")
    empty.ok("stats", "orders")
    (empty.root / f"etc/ssl/certs/{hashed}.0").unlink()
    shutil.copy(ca, empty.root / "ca.pem")
    empty.ok("stats", "orders", SSL_CERT_FILE="/ca.pem")
    print("  TLS by a folder of certificates, and by $SSL_CERT_FILE: ok")


def check_messages(empty: Empty) -> None:
    empty.ok("push", "orders", "hello", SSL_CERT_FILE="/ca.pem")
    taken = empty.ok("reserve", "orders", "--wait", "5s", "--ack", SSL_CERT_FILE="/ca.pem")
    assert taken == "hello\n", taken
    print("  push, reserve: ok")


@contextmanager
def running(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    try:
        yield process
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE_S)


def check_web(empty: Empty) -> None:
    process = subprocess.Popen(
        [*empty.words, "web", "--listen", "127.0.0.1:0"],
        env=empty.environment(SSL_CERT_FILE="/ca.pem"),
        stderr=subprocess.PIPE,
        text=True,
    )
    with running(process):
        assert process.stderr
        line = process.stderr.readline()
        address = re.search(r"http://\S+", line)
        assert address, line
        page = urllib.request.urlopen(address[0], timeout=PATIENCE_S).read()
        assert b"<title" in page, page[:200]
        answer = urllib.request.urlopen(f"{address[0].rstrip('/')}/api/queues").read()
        assert b"orders" in answer, answer
    print("  web: ok")


def check_top(empty: Empty) -> None:
    """On a terminal, whose description is in the command: the empty root has none."""
    for terminal in ("xterm-256color", "screen-256color", "linux"):
        child, screen = pty.fork()
        if child == 0:
            environment = empty.environment(SSL_CERT_FILE="/ca.pem", TERM=terminal)
            os.execvpe(empty.words[0], [*empty.words, "top"], environment)
        seen, deadline = b"", time.monotonic() + PATIENCE_S
        while b"orders" not in seen:
            assert time.monotonic() < deadline, seen
            seen += os.read(screen, 4096)
        os.kill(child, signal.SIGTERM)
        os.close(screen)
        os.waitpid(child, 0)
    print("  top: ok")


def main(command: Path, emulator: Sequence[str]) -> None:
    check_alone(command)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "root").mkdir()
        certificates = Certificates(folder, "localhost")
        port = free_port()
        options = ["--tls-port", str(port), "--tls-auth-clients", "no", *certificates.options()]
        with Server(*options):
            empty = Empty(folder / "root", command, emulator, port)
            print(f"  {empty.ok('--version').strip()} in an empty root")
            check_certificates(empty, certificates.ca)
            check_messages(empty)
            check_web(empty)
            check_top(empty)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
