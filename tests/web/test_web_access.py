"""Who gets an answer from dueq web."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
from pathlib import Path

import pytest

from private_server import Server

from .site import TOKEN, Site, path


def test_without_a_token_nothing_can_be_changed(reader: Site) -> None:
    assert reader.ask("GET", "/api").object["writable"] is False
    for verb in ["messages", "reserve", "ack", "cancel", "pause", "kick_all", "purge_group"]:
        answer = reader.post("orders", verb, body="x")
        assert answer.code == 403
        assert "DUEQ_TOKEN" in answer.object["text"]
    assert reader.get().body == b""


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil", ""])
def test_without_a_token_only_names_of_this_machine_are_answered(reader: Site, host: str) -> None:
    """A page of another site may give its own name this address."""
    assert reader.ask("GET", "/api/queues", headers={"Host": host}).code == 421
    assert reader.ask("GET", "/", headers={"Host": host}).code == 421
    for own in ["localhost", "LOCALHOST:1", "127.0.0.1:99", "[::1]:5"]:
        assert reader.ask("GET", "/api/queues", headers={"Host": own}).code == 200


def test_refused_host_and_origin_say_which_option_to_set(server: Server, site: Site) -> None:
    proxy = {"Host": "127.0.0.1:3837", "Origin": "https://jobs.example"}
    refused = site.ask("GET", "/api", headers=proxy)
    assert refused.code == 403
    assert "let the proxy pass Host on, or start dueq with --host NAME" in refused.object["text"]
    with Site(server.url, options=["--host", "other.example,jobs.example"]) as named:
        assert named.ask("GET", "/api", headers=proxy).code == 200
        assert named.ask("GET", "/", headers={"Host": "Jobs.example:8443"}).code == 200
        for host in ["jobs.example.evil", "example", "other.example,jobs.example", "evil.example"]:
            refused = named.ask("GET", "/", headers={"Host": host})
            assert refused.code == 421
            assert "start dueq with --host NAME" in refused.object["text"]
        evil = {"Origin": "https://evil.example"}
        assert named.ask("GET", "/api", headers=evil).code == 403


@pytest.mark.parametrize(
    "given", ["", "Bearer", "Bearer ", "Bearer x", f"Basic {TOKEN}", f"Bearer {TOKEN}x", TOKEN]
)
def test_with_a_token_all_of_the_api_wants_it(site: Site, given: str) -> None:
    headers = {"Authorization": given} if given else {}
    for method, target in [
        ("GET", "/api"),
        ("GET", "/api/queues"),
        ("GET", "/api/events"),
        ("POST", path("orders", "messages")),
    ]:
        answer = site.ask(method, target, headers=headers, token=False)
        assert answer.code == 401
        assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert site.ask("GET", "/", token=False).code == 200
    assert site.get().body == b""


def test_pages_of_other_sites_change_and_read_nothing(site: Site) -> None:
    target = path("orders", "messages")
    for headers in [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": f"http://127.0.0.1:{site.port + 1}"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ]:
        assert site.ask("POST", target, "x", headers).code == 403
        answer = site.ask("GET", "/api/queues", headers=headers)
        assert answer.code == 403
        assert "Access-Control-Allow-Origin" not in answer.headers
    evil = {"Origin": "https://evil.example"}
    assert site.ask("OPTIONS", target, headers=evil).code == 405
    own = {"Origin": f"http://127.0.0.1:{site.port}", "Sec-Fetch-Site": "same-origin"}
    assert site.ask("POST", target, "x", own).code == 200
    # What a form can send has no token, and no cookie stands for it.
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert site.ask("POST", target, "a=b", form, token=False).code == 401
    assert "Set-Cookie" not in site.ask("GET", "/").headers


@pytest.mark.parametrize("target", ["/", "/app.js", "/style.css", "/api", "/nothing"])
def test_every_answer_says_what_a_browser_may_do(site: Site, target: str) -> None:
    headers = site.ask("GET", target).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "*" not in policy
    for part in ["frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"]:
        assert part in policy
    assert "require-trusted-types-for 'script'" in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"


def test_the_page_has_the_files_that_it_names(site: Site) -> None:
    folder = Path(__file__).parents[2] / "web"
    for file in folder.iterdir():
        answer = site.ask("GET", f"/{file.name}")
        assert (answer.code, answer.body) == (200, file.read_bytes())
    assert site.ask("GET", "/").body == (folder / "index.html").read_bytes()


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    given = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **environment}
    return subprocess.run(
        ["dueq", "web", *words], env=given, capture_output=True, text=True, check=False, timeout=60
    )


def test_it_refuses_to_listen_where_it_must_not(server: Server, tmp_path: Path) -> None:
    short = tmp_path / "token"
    short.write_text("short\n")
    short.chmod(0o600)
    for words, said in [
        (["--listen", "0.0.0.0:0"], "on loopback addresses only"),
        (["--listen", ":0"], "on loopback addresses only"),
        (["--listen", "nowhere"], "is not an address"),
        (["--listen", "127.0.0.1:http"], "is not an address"),
        (["--token-file", str(short)], "fewer than 16 characters"),
        (["orders"], "takes no arguments"),
    ]:
        ended = run(*words, DUEQ_URL=server.url)
        assert ended.returncode == 2
        assert said in ended.stderr
    assert "NO_SUCH" in run("--token-file", "NO_SUCH", DUEQ_URL=server.url).stderr


@pytest.mark.parametrize(
    ("mode", "text", "said"),
    [
        (0o604, TOKEN, "others may read or write it: chmod 600"),
        (0o602, TOKEN, "others may read or write it"),
        (0o620, TOKEN, "others may read or write it"),
        (0o600, "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49\n", "the token may have only"),
        (0o600, "-----BEGIN-CERTIFICATE-----", "the token may have only"),
        (0o600, "0123456789 0123456789", "the token may have only"),
        (0o600, "0123456789ü0123456789", "the token may have only"),
    ],
)
def test_file_that_is_no_secret_token_is_refused(
    server: Server, tmp_path: Path, mode: int, text: str, said: str
) -> None:
    file = tmp_path / "token"
    file.write_text(text, encoding="utf-8")
    file.chmod(mode)
    ended = run("--listen", "127.0.0.1:0", "--token-file", str(file), DUEQ_URL=server.url)
    assert (ended.returncode, said in ended.stderr) == (2, True), ended.stderr
    assert TOKEN not in ended.stderr


@pytest.mark.parametrize("mode", [0o600, 0o400, 0o440])
def test_token_of_a_file_is_taken(server: Server, tmp_path: Path, mode: int) -> None:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n", encoding="utf-8")
    file.chmod(mode)
    with Site(server.url, options=["--token-file", str(file)]) as site:
        given = {"Authorization": f"Bearer {TOKEN}"}
        assert site.ask("GET", "/api", headers=given).object["writable"] is True
        assert site.ask("GET", "/api").code == 401


def test_slow_and_many_connections_do_not_stop_it(site: Site) -> None:
    """Those that send nothing, half a request, or nonsense."""
    held = []
    sent = [b"", b"GET /api/que", b"\x00\xff\x16\x03\n\n", b"POST / HTTP/1.1\r\n"]
    for number in range(60):
        one = socket.create_connection(("127.0.0.1", site.port))
        one.sendall(sent[number % 4])
        held.append(one)
    started = time.monotonic()
    assert site.get("orders").code == 200
    assert time.monotonic() - started < 5
    for one in held:
        one.close()


def send(site: Site, request: bytes) -> bytes:
    """What it answers until it closes the connection."""
    with socket.create_connection(("127.0.0.1", site.port), timeout=20) as one:
        one.sendall(request)
        answer = b""
        while piece := one.recv(65536):
            answer += piece
        return answer


HOST = b"Host: 127.0.0.1\r\n"


@pytest.mark.parametrize(
    "request_",
    [
        b"GET / HTTP/1.1\r\n" + HOST + b"Content-Length: 0\r\nContent-Length: 0\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"Content-Length: 1, 1\r\n\r\nx",
        b"GET / HTTP/1.1\r\n" + HOST + b"Content-Length: +1\r\n\r\nx",
        b"GET / HTTP/1.1\r\n" + HOST + b"Content-Length: -1\r\n\r\nx",
        b"GET / HTTP/1.1\r\n" + HOST + b"Content-Length:\r\n\r\n",
        b"GET / HTTP/1.1\r\n"
        + HOST
        + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"GET / HTTP/1.0\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET / HTTP/1.1\n" + HOST + b"\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"X: a\rb\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"X: a\0b\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"X: a\x01b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : 127.0.0.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"Content-Length : 0\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"X: a\r\n b\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b": a\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + HOST + b"\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET  / HTTP/1.1\r\n" + HOST + b"\r\n",
        b"GET / x HTTP/1.1\r\n" + HOST + b"\r\n",
        b"GET / HTTP/2.0\r\n" + HOST + b"\r\n",
        b"GET /\r\n\r\n",
        b"\r\nGET / HTTP/1.1\r\n" + HOST + b"\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ],
)
def test_request_that_others_may_read_otherwise_is_refused(site: Site, request_: bytes) -> None:
    """As a proxy before it: what the one takes for a body is a request for the other."""
    assert send(site, request_).startswith(b"HTTP/1.1 400 ")
    assert site.ask("GET", "/").code == 200


def test_a_connection_has_one_request(site: Site) -> None:
    one = b"GET /icon.svg HTTP/1.1\r\n" + HOST + b"\r\n"
    answer = send(site, one + one)
    assert answer.count(b"HTTP/1.1 200 OK") == 1
    assert b"Connection: close" in answer
    assert send(site, b"GET /icon.svg HTTP/1.0\r\n\r\n").split()[1] == b"200"
    chunks = b"POST /api/queues/orders/messages HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n"
    chunks += HOST + f"Authorization: Bearer {TOKEN}\r\n\r\n".encode()
    assert send(site, chunks + b"1\r\nx\r\n0\r\n\r\n").split()[1] == b"200"


def test_headers_that_are_too_long_are_refused(site: Site) -> None:
    long = b"GET / HTTP/1.1\r\n" + HOST + b"X: " + 20_000 * b"x" + b"\r\n\r\n"
    assert send(site, long).split()[1] == b"431"
    assert site.ask("GET", "/", headers={"X": 10_000 * "x"}).code == 200


def test_headers_have_five_seconds(site: Site) -> None:
    """However many bytes come. What has sent nothing gets no answer."""
    started = time.monotonic()
    with (
        socket.create_connection(("127.0.0.1", site.port), timeout=20) as drips,
        socket.create_connection(("127.0.0.1", site.port), timeout=20) as silent,
    ):
        drips.sendall(b"GET / HTTP/1.1\r\n" + HOST + b"X: ")
        drips.settimeout(0.25)
        answer = b""
        while not answer and time.monotonic() - started < 30:
            try:
                drips.sendall(b"x")
                answer = drips.recv(4096)
            except TimeoutError:
                pass
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert silent.recv(1) == b""
    assert time.monotonic() - started < 30


@pytest.mark.slow
def test_a_request_has_a_minute(site: Site) -> None:
    """A byte of the body now and then does not lengthen it."""
    head = b"POST /api/queues/orders/messages HTTP/1.1\r\nContent-Length: 1000\r\n" + HOST
    started = time.monotonic()
    with socket.create_connection(("127.0.0.1", site.port), timeout=1) as one:
        one.sendall(head + f"Authorization: Bearer {TOKEN}\r\n\r\n".encode())
        with contextlib.suppress(ConnectionError):
            while time.monotonic() - started < 120:
                one.sendall(b"x")
                try:
                    if one.recv(1) == b"":
                        break
                except TimeoutError:
                    continue
    assert 55 < time.monotonic() - started < 75
    assert site.get().body == b""


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nX: "])
def test_500_slow_connections_shut_nobody_out(site: Site, sent: bytes) -> None:
    with contextlib.ExitStack() as held:
        for _ in range(500):
            one = held.enter_context(socket.create_connection(("127.0.0.1", site.port), timeout=20))
            with contextlib.suppress(ConnectionError):
                one.sendall(sent)
        started = time.monotonic()
        assert site.get("orders").code == 200
        assert time.monotonic() - started < 1


def test_a_share_of_the_connections_is_kept_for_who_has_the_token(site: Site) -> None:
    """From many addresses come requests for the page whose bodies do not end."""
    endless = b"GET / HTTP/1.1\r\nContent-Length: 8000000\r\n" + HOST + b"\r\n"
    with contextlib.ExitStack() as held:
        for number in range(200):
            one = socket.create_connection(
                ("127.0.0.1", site.port), 20, (f"127.0.0.{2 + number % 5}", 0)
            )
            held.enter_context(one).sendall(endless)
        started = time.monotonic()
        assert site.get("orders").code == 200
        assert time.monotonic() - started < 1
        assert site.ask("GET", "/", token=False).code == 503
    assert site.ask("GET", "/", token=False).code == 200


def test_it_says_when_its_server_is_away(server: Server) -> None:
    with Site("unix:///nowhere/at/all?timeout=1s", token=TOKEN) as site:
        answer = site.get("orders")
        assert (answer.code, answer.object["status"]) == (503, "CONNECT")
        assert site.get().code == 503
        assert site.ask("GET", "/").code == 200
