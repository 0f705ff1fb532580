"""dueq doctor on one server: each bad state is staged, and asserted by its code."""

import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from private_server import Refused, Reply, Server, free_port

from .program import Ended, Program
from .reply_editor import Edited
from .test_cli_workers import register

ROOT = Path(__file__).parents[2]
CHECKS = re.findall(
    r'^ +X\(\w+, "(\w+)", ', (ROOT / "cli/doctor/doctor.h").read_text("utf-8"), flags=re.M
)
SOUND = ["--maxmemory", "256mb", "--appendonly", "yes", "--appendfsync", "everysec"]


@pytest.fixture
def sound(dueq: Program) -> Iterator[Server]:
    """A server that nothing is wrong with; dueq calls go to it."""
    with Server(*SOUND) as server:
        dueq.environment["DUEQ_URL"] = server.url
        yield server


def levels(ended: Ended) -> dict[str, str]:
    """The worst level of each check."""
    order = ["ok", "note", "warning", "problem", "unknown"]
    found: dict[str, str] = {}
    for finding in ended.objects:
        before = found.get(finding["code"], "ok")
        found[finding["code"]] = max(before, finding["level"], key=order.index)
    return found


def look(dueq: Program, *words: str) -> dict[str, str]:
    return levels(dueq.run("doctor", "--json", *words))


def only(dueq: Program, code: str, *words: str) -> dict[str, Any]:
    """The one finding of a check, which is more than ok."""
    ended = dueq.run("doctor", "--json", "--only", code, *words)
    (finding,) = (one for one in ended.objects if one["level"] != "ok")
    assert ended.code == (0 if finding["level"] == "note" else 1), ended
    assert finding["code"] == code
    return finding


def set_all(server: Server, *words: str) -> None:
    for name, value in zip(words[::2], words[1::2], strict=True):
        server.command("CONFIG", "SET", name, value)


# ---- What it prints, and ends with ----


def test_doctor_of_a_sound_server_ends_with_0(dueq: Program, sound: Server) -> None:
    dueq("push", "orders", "x")
    ended = dueq("doctor", "--json")
    assert ended.err == ""
    assert set(levels(ended).values()) <= {"ok", "note"}
    # The others are of several servers.
    assert set(levels(ended)) == set(CHECKS) - {"cluster", "sentinel", "slots"}
    for finding in ended.objects:
        assert list(finding) == ["code", "level", "server", "queue", "text", "fix"]
        assert finding["text"]
        assert finding["level"] == "ok" or finding["fix"]
        assert not finding["text"].endswith(".")


def test_doctor_for_people(dueq: Program, sound: Server) -> None:
    set_all(sound, "maxmemory-policy", "allkeys-lru")
    ended = dueq.run("doctor", sound.url, "--only", "eviction")
    assert ended.code == 1
    assert ended.lines == [
        f"problem  eviction      {sound.url}: maxmemory-policy allkeys-lru deletes whole queues, "
        "without an error, when memory is full",
        "                    -> CONFIG SET maxmemory-policy noeviction, and the same in its file",
    ]
    assert dueq("doctor", sound.url, "--ignore", "eviction").code == 0


def test_doctor_of_an_embedded_server(dueq: Program, tmp_path: Path) -> None:
    """Its append-only file is on, and it is for one user."""
    found = look(dueq, f"embedded:{tmp_path / 'own'}")
    assert (found["persistence"], found["open"], found["eviction"]) == ("note", "ok", "ok")


def test_doctor_of_no_server(dueq: Program, tmp_path: Path) -> None:
    ended = dueq.run("doctor", f"unix://{tmp_path}/none")
    assert ended.code == 3
    assert "CONNECT" in ended.err


def test_doctor_refuses(dueq: Program) -> None:
    assert dueq.run("doctor", "--only", "weather").code == 2
    assert dueq.run("doctor", "redis://a", "redis://b").code == 2
    assert dueq.run("doctor", "--partitions", "4").code == 2


def test_doctor_takes_a_password_from_the_command_line(dueq: Program, sound: Server) -> None:
    sound.command("ACL", "SETUSER", "shop", "on", ">secret", "~*", "&*", "+@all")
    url = sound.url.replace("unix://", "unix://shop:secret@")
    ended = dueq("doctor", url)
    assert "secret" not in ended.text + ended.err
    assert "***@" in ended.text


def test_help_has_every_check(dueq: Program) -> None:
    listed = re.findall(r"^  ([a-z]+): ", dueq("doctor", "--help").text, flags=re.M)
    assert listed == CHECKS
    document = (ROOT / "docs/reference.md").read_text("utf-8")
    table = document.partition("### dueq doctor")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, flags=re.M) == CHECKS


# ---- Settings ----

BAD = {
    "no limit": ("memory", "warning", ["maxmemory", "0"]),
    "limit too near": ("memory", "problem", ["maxmemory", "used_memory"]),
    "evicts": ("eviction", "problem", ["maxmemory-policy", "allkeys-lru"]),
    "evicts locks": ("eviction", "warning", ["maxmemory-policy", "volatile-ttl"]),
    "would evict": (
        *("eviction", "warning"),
        ["maxmemory-policy", "allkeys-random", "maxmemory", "0"],
    ),
    "nothing kept": ("persistence", "problem", ["appendonly", "no", "save", ""]),
    "snapshots": ("persistence", "warning", ["appendonly", "no", "save", "3600 1"]),
    "when it likes": ("persistence", "warning", ["appendfsync", "no"]),
    "every second": ("persistence", "note", ["appendfsync", "everysec"]),
    "slow timer": ("hz", "warning", ["hz", "1"]),
    "closes soon": ("timeout", "warning", ["timeout", "30"]),
    "closes": ("timeout", "note", ["timeout", "600"]),
    "dead peers": ("timeout", "warning", ["tcp-keepalive", "0"]),
    "few connections": ("connections", "warning", ["maxclients", "1"]),
    "small answers": (
        *("buffers", "warning"),
        ["client-output-buffer-limit", "normal 1000000 0 0"],
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_doctor_finds_a_bad_setting(dueq: Program, sound: Server, name: str) -> None:
    code, level, settings = BAD[name]
    if name == "few connections":
        # Besides these there are the two of the program.
        with sound.connect(), sound.connect(), sound.connect():
            set_all(sound, "maxclients", "6")
            assert only(dueq, code)["level"] == level
        return
    if "used_memory" in settings:
        # An empty server of each version has another size.
        (used,) = re.findall(rb"^used_memory:(\d+)", info(sound, "memory"), flags=re.M)
        settings = ["maxmemory", used.decode()]
    set_all(sound, *settings)
    assert only(dueq, code)["level"] == level


def test_doctor_finds_what_is_safe(dueq: Program, sound: Server) -> None:
    set_all(sound, "appendfsync", "always")
    assert look(dueq, "--only", "persistence") == {"persistence": "ok"}


def test_doctor_finds_a_server_that_everybody_can_use(dueq: Program) -> None:
    port = free_port()
    url = f"redis://127.0.0.1:{port}"

    def opened() -> str:
        return look(dueq, url, "--only", "open")["open"]

    with Server(*SOUND, "--port", str(port), "--bind", "127.0.0.1") as server:
        assert opened() == "ok"
        set_all(server, "bind", "0.0.0.0")
        assert opened() == "note"
        set_all(server, "protected-mode", "no")
        assert only(dueq, "open", url)["level"] == "problem"
        server.command("ACL", "SETUSER", "shop", "on", ">secret", "~*", "&*", "+@all")
        server.command("ACL", "SETUSER", "default", "resetpass")
        url = url.replace("://", "://shop:secret@")
        assert opened() == "ok"


# ---- What happened ----


def test_doctor_finds_a_disk_that_fails(dueq: Program) -> None:
    with Server(*SOUND, "--dbfilename", "folder") as server:
        (server.directory / "folder" / "not-empty").mkdir(parents=True)
        server.command("BGSAVE")
        dueq.until(lambda: b"rdb_bgsave_in_progress:0" in info(server, "persistence"))
        # Without settings to save, it takes writes all the same.
        assert only(dueq, "disk", server.url)["level"] == "warning"


def info(server: Server, section: str) -> bytes:
    reply = server.command("INFO", section)
    assert isinstance(reply, bytes)
    return reply


def test_doctor_finds_slow_scripts(dueq: Program, sound: Server) -> None:
    """Ever slower ones, but for those on keys of others."""
    count, levels = 100_000, ["ok"]
    while levels[-1] != "warning":
        for key in ("other", "dueq:{orders}:msg"):
            sound.command("EVAL", "for i = 1, ARGV[1] do end", 1, key, count)
            if key == "other":
                assert look(dueq, "--only", "slow")["slow"] == levels[-1]
        level = look(dueq, "--only", "slow")["slow"]
        levels += [level] if level != levels[-1] else []
        count *= 2
    assert levels == ["ok", "note", "warning"]
    (finding,) = dueq.run("doctor", "--json", "--only", "slow").objects
    assert re.match(r"\d+ scripts of dueq's ran for more than 10 ms", finding["text"])


def edited(before: bytes, after: bytes) -> Any:
    """Changes a line of INFO."""

    def edit(command: bytes, reply: Reply) -> Reply:
        if command.startswith(b"INFO") and isinstance(reply, bytes):
            return re.sub(rb"^%s:[^\r]*" % before, b"%s:%s" % (before, after), reply, flags=re.M)
        return reply

    return edit


EDITED = {
    "mended version": ("version", b"redis_version", b"8.2.6", "note"),
    "cloud, which hides it": ("persistence", b"os", b"Amazon ElastiCache", "warning"),
    "slow copies": ("disk", b"latest_fork_usec", b"900000", "warning"),
    "failed rewrite": ("disk", b"aof_last_bgrewrite_status", b"err", "warning"),
    "failed write": ("disk", b"aof_last_write_status", b"err", "problem"),
    "fragments": ("fragmentation", b"used_memory_rss", b"900000000", "warning"),
    "swapped": ("fragmentation", b"used_memory_rss", b"10000", "warning"),
    "half full": ("memory", b"used_memory", b"210000000", "warning"),
    "greater than the machine": ("memory", b"total_system_memory", b"260000000", "warning"),
}


@pytest.mark.parametrize("name", EDITED)
def test_doctor_finds_what_a_server_says(
    dueq: Program, sound: Server, tmp_path: Path, name: str
) -> None:
    code, field, value, level = EDITED[name]
    edit = edited(field, value)
    if code == "fragmentation":
        fill, inner = edited(b"used_memory", b"100000000"), edit
        edit = lambda command, reply: inner(command, fill(command, reply))  # noqa: E731
    with Edited(sound, sound.directory / "edited", edit) as server:
        assert only(dueq, code, server.url)["level"] == level


@pytest.mark.parametrize(
    ("version", "level"),
    [
        *[
            ("redis 6.0.16", "problem"),
            ("redis 6.2.19", "note"),
            ("redis 7.0.15", "note"),
            ("redis 7.2.13", "note"),
            ("redis 7.2.14", "ok"),
            ("redis 8.0.4", "note"),
            ("redis 8.4.2", "note"),
        ],
        *[("redis 8.6.3", "ok"), ("redis 8.8.0", "ok"), ("redis 9.0.0", "ok")],
        *[("valkey 8.1.6", "note"), ("valkey 8.0.8", "ok"), ("valkey 9.0.3", "note")],
        *[("valkey 9.0.4", "ok"), ("valkey 9.1.0", "ok")],
    ],
)
def test_doctor_knows_faults_of_versions(
    dueq: Program, sound: Server, version: str, level: str
) -> None:
    set_all(sound, "appendonly", "no")
    with Edited(sound, sound.directory / "edited", of_version(version)) as server:
        assert look(dueq, server.url, "--only", "version")["version"] == level


@pytest.mark.parametrize(
    ("version", "cves"),
    [
        ("redis 7.0.15", "2025-49844 2026-23631 2026-23479 2026-25243"),
        ("redis 8.2.2", "2026-23631 2026-23479 2026-25243"),
        ("valkey 8.1.4", "2026-23631 2026-23479 2026-25243"),
    ],
)
def test_doctor_names_the_faults(dueq: Program, sound: Server, version: str, cves: str) -> None:
    set_all(sound, "appendonly", "no")
    with Edited(sound, sound.directory / "edited", of_version(version)) as server:
        finding = only(dueq, "version", server.url)
    assert re.findall(r"CVE-([\d-]+)", finding["text"]) == cves.split()


def of_version(version: str) -> Any:
    """Changes the version in INFO, as "redis 7.0.15" or "valkey 8.1.4"."""
    name, _, number = version.partition(" ")
    # Valkey says besides which version of Redis it is like.
    line = f"redis_version:{number}"
    if name == "valkey":
        line = f"redis_version:7.2.4\r\nvalkey_version:{number}"

    def edit(command: bytes, reply: Reply) -> Reply:
        if not command.startswith(b"INFO") or not isinstance(reply, bytes):
            return reply
        reply = re.sub(rb"valkey_version:[^\r]*\r\n", b"", reply)
        return re.sub(rb"redis_version:[^\r]*", line.encode(), reply)

    return edit


def test_doctor_finds_a_server_without_lua(dueq: Program, sound: Server) -> None:
    """As Alpine's Valkey without the package valkey-lua."""

    def edit(command: bytes, reply: Reply) -> Reply:
        if command.startswith(b"SCRIPT LOAD"):
            raise Refused("ERR Could not find scripting engine 'lua'")
        return reply

    with Edited(sound, sound.directory / "edited", edit) as server:
        finding = only(dueq, "lua", server.url)
    assert finding["level"] == "problem"
    assert "valkey-lua" in finding["fix"]


def test_doctor_does_not_know_the_durability_of_elasticache(dueq: Program, sound: Server) -> None:
    cloud, version = edited(b"os", b"Amazon ElastiCache"), of_version("valkey 9.0.4")

    def edit(command: bytes, reply: Reply) -> Reply:
        answer: Reply = version(command, cloud(command, reply))
        return answer

    with Edited(sound, sound.directory / "edited", edit) as server:
        finding = only(dueq, "persistence", server.url)
    assert finding["level"] == "unknown"
    assert "--durability sync" in finding["fix"]


def test_doctor_finds_a_clock_that_is_apart(dueq: Program, sound: Server) -> None:
    def edit(command: bytes, reply: Reply) -> Reply:
        if command == b"TIME" and isinstance(reply, list) and isinstance(reply[0], bytes):
            return [b"%d" % (int(reply[0]) + 5), *reply[1:]]
        return reply

    with Edited(sound, sound.directory / "edited", edit) as server:
        finding = only(dueq, "clock", server.url)
    assert finding["level"] == "warning"
    assert re.match(r"its clock is [45]\.\ds ahead of this machine's", finding["text"])


@pytest.mark.parametrize(("delay", "level"), [(0.003, "note"), (0.02, "warning")])
def test_doctor_finds_a_long_way(dueq: Program, sound: Server, delay: float, level: str) -> None:
    with Edited(sound, sound.directory / "edited", delay=delay) as server:
        assert only(dueq, "latency", server.url)["level"] in {level, "warning"}


# ---- Rights ----

LEAST = re.search(
    r"^ACL SETUSER shop on >secret resetkeys ~dueq:\{orders\}:\* resetchannels -@all\n(.*?)```",
    (ROOT / "docs/security.md").read_text("utf-8"),
    flags=re.S | re.M,
)


@pytest.fixture
def shop(sound: Server, dueq: Program) -> str:
    """The URL of a user that may do what dueq needs on one queue."""
    assert LEAST
    dueq("push", "orders", "x")
    words = ["on", ">secret", "resetkeys", "~dueq:{orders}:*", "resetchannels", "-@all"]
    sound.command("ACL", "SETUSER", "shop", *words, *LEAST[1].split())
    return sound.url.replace("unix://", "unix://shop:secret@")


def access(dueq: Program, url: str) -> list[dict[str, Any]]:
    return dueq.run("doctor", "--json", "--queue", "orders", "--only", "access", url).objects


def test_access_is_what_the_document_says(dueq: Program, sound: Server, shop: str) -> None:
    """All of it, and nothing else."""
    assert LEAST
    sound.command("ACL", "SETUSER", "shop", "-@all")
    sound.command("ACL", "SETUSER", "shop", "+acl", "+info")
    missing = " ".join(
        one["text"]
        for one in dueq.run(
            "doctor", "--json", "--queue", "orders", "--only", "access", shop
        ).objects
    )
    named = set(re.findall(r"\b[A-Z]+(?: [A-Z]+)?\b", missing)) - {"CLOSED"}
    listed = {word.strip("+").replace("|", " ").upper() for word in LEAST[1].split()}
    assert named == listed - {"INFO", "SELECT"}


def test_least_rights_are_enough(dueq: Program, shop: str) -> None:
    finding = only(dueq, "access", "--queue", "orders", shop)
    assert finding["level"] == "note"
    assert finding["text"].endswith("not tried: HSET, HSETNX, HINCRBY, RPUSH, LPUSH, SADD")


def test_rights_are_asked_for_where_that_is_permitted(
    dueq: Program, sound: Server, shop: str
) -> None:
    sound.command("ACL", "SETUSER", "shop", "+acl|whoami", "+acl|dryrun")
    assert look(dueq, "--queue", "orders", "--only", "access", shop) == {"access": "ok"}
    sound.command("ACL", "SETUSER", "shop", "-hset")
    finding = only(dueq, "access", "--queue", "orders", shop)
    assert (finding["level"], finding["text"]) == ("problem", "this user may not HSET")


def test_missing_right_is_found_by_trying(dueq: Program, sound: Server, shop: str) -> None:
    sound.command("ACL", "SETUSER", "shop", "-bzpopmin")
    finding = only(dueq, "access", "--queue", "orders", shop)
    assert (finding["level"], finding["text"]) == ("problem", "this user may not BZPOPMIN")
    sound.command("ACL", "SETUSER", "shop", "+bzpopmin", "-client")
    found = [
        (one["level"], one["text"])
        for one in dueq.run(
            "doctor", "--json", "--queue", "orders", "--only", "access", shop
        ).objects
    ]
    assert found[0][0] == "note"
    assert found[0][1].startswith("this user may not CLIENT SETNAME, CLIENT ID, CLIENT LIST")


def test_keys_of_another_queue_are_not_this_users(dueq: Program, shop: str) -> None:
    finding = only(dueq, "access", "--queue", "mails", shop)
    assert (finding["level"], finding["queue"]) == ("problem", "mails")


def test_what_may_not_be_asked_is_no_pass(dueq: Program, shop: str) -> None:
    found = look(dueq, "--queue", "orders", shop)
    hidden = ["persistence", "timeout", "buffers", "slow"]
    assert {code: found[code] for code in hidden} == dict.fromkeys(hidden, "unknown")
    assert found["eviction"] == "ok"
    assert found["queues"] == "ok"
    assert look(dueq, shop)["queues"] == "unknown"


def test_rights_of_the_document_show_all(dueq: Program, sound: Server, shop: str) -> None:
    text = " ".join((ROOT / "docs/security.md").read_text("utf-8").split())
    more = re.search(r"`dueq doctor` sees all with `(.+?)`", text)
    assert more
    sound.command("ACL", "SETUSER", "shop", *more[1].split())
    ended = dueq("doctor", "--json", shop)
    assert set(levels(ended).values()) <= {"ok", "note"}
    assert levels(ended)["access"] == "ok"


def test_config_that_is_renamed_is_no_pass(dueq: Program) -> None:
    """As managed services have it."""
    with Server(*SOUND, "--rename-command", "CONFIG", "") as server:
        found = look(dueq, server.url)
    assert (found["persistence"], found["timeout"]) == ("unknown", "unknown")
    assert found["memory"] == "ok"


def test_info_that_is_not_permitted_is_no_pass(dueq: Program, sound: Server, shop: str) -> None:
    sound.command("ACL", "SETUSER", "shop", "-info")
    assert only(dueq, "reach", "--queue", "orders", shop)["level"] == "unknown"
    # Whatever was asked for was not looked at.
    assert look(dueq, "--only", "eviction", "--queue", "orders", shop) == {"reach": "unknown"}
    assert look(dueq, "--only", "stuck", shop)["queues"] == "unknown"


# ---- Queues ----


def put_old(server: Server, ms: int) -> None:
    """A message in `orders` that is ready for so long, docs/internals/protocol.md."""
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    number, id = int(time.time() * 1000) - ms << 80, ""
    for _ in range(22):
        number, digit = divmod(number, 62)
        id = digits[digit] + id
    server.command("HSET", "dueq:{orders}:msg", id, b"\xd1\x00\x00\x10old")
    server.command("RPUSH", "dueq:{orders}:ready", id)
    server.command("HSET", "dueq:{orders}:meta", "pushed", 1)


def test_doctor_finds_messages_that_nobody_takes(dueq: Program, sound: Server) -> None:
    put_old(sound, 3600_000)
    finding = only(dueq, "stuck")
    assert (finding["level"], finding["queue"]) == ("problem", "orders")
    assert finding["text"] == "no workers: none is registered; the oldest waits for 1h0m"


def test_doctor_finds_overdue_messages_that_nobody_takes(dueq: Program, sound: Server) -> None:
    """Where no consumer looks, what is due stays delayed."""
    dueq("push", "orders", "x", "--delay", "1h")
    delayed = "dueq:{orders}:delayed"
    tickets = sound.command("ZRANGE", delayed, 0, 0)
    assert isinstance(tickets, list)
    (ticket,) = tickets
    assert isinstance(ticket, bytes)
    sound.command("ZADD", delayed, 1000, ticket)
    sound.command("HSET", "dueq:{orders}:meta", "next_event", "1000")
    finding = only(dueq, "stuck")
    assert (finding["level"], finding["queue"]) == ("problem", "orders")
    assert finding["text"].startswith("no workers: none is registered; the oldest waits for ")


def test_doctor_finds_workers_that_do_not_keep_up(dueq: Program, sound: Server) -> None:
    put_old(sound, 3600_000)
    register(sound, "one")
    finding = only(dueq, "stuck")
    assert finding["level"] == "problem"
    assert finding["text"].startswith("behind: the oldest waits for 1h0m; workers 1, ")


def test_doctor_finds_paused_queues(dueq: Program, sound: Server) -> None:
    """It is meant: no person has to act."""
    dueq("push", "orders", "x", "--id", "a")
    dueq("pause", "orders")
    finding = only(dueq, "paused")
    assert (finding["level"], finding["queue"]) == ("note", "orders")
    dueq("resume", "orders")
    assert look(dueq, "--only", "paused") == {"paused": "ok"}


def test_doctor_finds_dead_messages(dueq: Program, sound: Server) -> None:
    for level in ("warning", "problem"):
        dueq("push", "orders", "x")
        dueq("bury", "orders", dueq.take())
        finding = only(dueq, "dead")
        assert finding["level"] == level
    assert finding["text"] == "poison: 2 died and 0 failed in 30 min; 2 with: no error was given"
    sound.command("DEL", "dueq:{orders}:rates")
    assert only(dueq, "dead")["level"] == "note"


def test_doctor_names_tasks_that_workers_did_not_know(dueq: Program, sound: Server) -> None:
    assert look(dueq, "--only", "tasks") == {}
    says = {
        "resize": "UnknownTask: there is no task 'resize' here; there are add",
        "pack_2": "Dueq\\Worker\\UnknownTask: there is no task pack_2 here; there are: add",
        "known": "ValueError: there is no task",
    }
    errors = [*says.values(), *says.values()]
    for task in [*says, *says]:
        dueq("push", "orders", "x", "--header", f"task={task}")
    tickets = [dueq.take() for _ in errors]
    for number, (ticket, error) in enumerate(zip(tickets, errors, strict=True)):
        delay = "1m" if number < len(says) else "0s"
        dueq("retry", "orders", ticket, "--delay", delay, "--error", error)
    assert look(dueq, "--only", "tasks")["tasks"] == "warning"
    finding = only(dueq, "tasks")
    assert finding["queue"] == "orders"
    assert finding["text"] == (
        "no worker knows the tasks of 4 of the messages that were looked at: resize, pack_2"
    )


def test_doctor_names_tasks_that_no_registered_worker_knows(dueq: Program, sound: Server) -> None:
    dueq("push", "orders", "x", "--header", "task=gone")
    dueq("bury", "orders", dueq.take())
    for task, delay in {"charge": "0s", "ship": "0s", "pack": "1h", "rare": "1h"}.items():
        dueq("push", "orders", "x", "--header", f"task={task}", "--delay", delay)
    dueq("push", "orders", "no task")
    register(sound, "offline", tasks="charge", seen_ms=90_000)
    register(sound, "elsewhere", queue="others", tasks="charge")
    assert look(dueq, "--only", "tasks") == {"tasks": "ok"}

    register(sound, "first", "5000 1 0 0:x", tasks="charge\nrare")
    register(sound, "second", tasks="a charge\nship it\nrare")
    finding = only(dueq, "tasks")
    assert (finding["level"], finding["queue"]) == ("warning", "orders")
    assert finding["text"] == (
        "no worker knows the tasks of 2 of the messages that were looked at: ship, pack"
    )

    # It may know each task, as it does not say.
    register(sound, "third")
    assert look(dueq, "--only", "tasks") == {"tasks": "ok"}


def test_doctor_finds_leases_that_ended(dueq: Program, sound: Server) -> None:
    dueq("push", "orders", "x", "--max-crashes", "none")
    dueq.take()
    let_leases_end(sound)
    finding = only(dueq, "crashed")
    assert finding["level"] == "warning"
    assert finding["text"] == "1 leases ended, and nobody takes these messages"
    # Who comes next takes it, and it is known that its consumer was lost.
    dueq("release", "orders", dueq.take())
    finding = only(dueq, "crashed")
    assert finding["level"] == "note"
    assert finding["text"].startswith("1 of the messages that were looked at")
    for _ in range(4):
        dueq("push", "orders", "x")
    for _ in range(5):
        dueq.take()
    let_leases_end(sound)
    for _ in range(5):
        dueq("release", "orders", dueq.take())
    assert only(dueq, "crashed")["level"] == "warning"


def let_leases_end(server: Server) -> None:
    tickets = server.command("ZRANGE", "dueq:{orders}:leased", 0, -1)
    assert isinstance(tickets, list)
    for ticket in tickets:
        assert isinstance(ticket, bytes)
        server.command("ZADD", "dueq:{orders}:leased", 1000, ticket)
    server.command("HSET", "dueq:{orders}:meta", "next_event", 1000)


def test_doctor_finds_a_lost_dead_letter_queue(dueq: Program, sound: Server) -> None:
    sound.command("SET", "dueq:{mails}:msg", "foreign")
    dueq("push", "orders", "x", "--dead-letter", "mails")
    dueq("bury", "orders", dueq.take())
    dueq.until(lambda: dueq.stats()["outbox_error"] != "")
    finding = only(dueq, "outbox", "--queue", "orders")
    assert (finding["level"], finding["queue"]) == ("problem", "orders")
    assert "mails" in finding["text"]


def test_doctor_finds_damaged_entries(dueq: Program, sound: Server) -> None:
    dueq("push", "orders", "x")
    sound.command("LPUSH", "dueq:{orders}:ready", "no ticket\n")
    dueq.take()
    assert only(dueq, "damaged")["level"] == "warning"


def test_doctor_finds_ids_in_great_number(dueq: Program, sound: Server) -> None:
    dueq("push", "orders", "x")
    later = int(time.time() * 1000) + 3600_000
    script = "for i = 1, 100000 do redis.call('ZADD', KEYS[1], ARGV[1], i) end"
    sound.command("EVAL", script, 1, "dueq:{orders}:unique", later)
    finding = only(dueq, "unique")
    assert finding["level"] == "warning"
    assert "100000 ids" in finding["text"]


def test_names_of_queues_are_escaped_for_people(dueq: Program, sound: Server) -> None:
    dueq("push", "or\u202eders", "x")
    dueq("pause", "or\u202eders")
    assert b"or\\u202eders: paused: " in dueq.screen("doctor", "--only", "paused")


# ---- A server that stops answering ----


def test_doctor_gives_up_a_server_that_stops_answering(
    dueq: Program, sound: Server, tmp_path: Path
) -> None:
    """It asks nothing more, and advises nothing that follows from the silence."""
    dueq("push", "orders", "x")
    left = threading.Event()
    asked: list[bytes] = []

    def stall(command: bytes, reply: Reply) -> Reply:
        if asked or command.startswith(b"CONFIG"):
            asked.append(command)
            left.wait()
        return reply

    with Edited(sound, tmp_path / "stalls", stall) as stalling:
        ended = dueq.run("doctor", f"{stalling.url}?timeout=500ms", "--json")
        left.set()
    assert ended.code == 1
    assert len(asked) < 5, "each further question would wait as long"
    bad = [one for one in ended.objects if one["level"] not in ("ok", "note")]
    assert [one["code"] for one in bad] == ["reach", "queues"], bad
    assert "it stopped answering" in bad[0]["text"]
    assert not [one for one in ended.objects if "permit" in (one["fix"] or "")]
    assert {"crashed", "unique", "access", "clock"}.isdisjoint(levels(ended))


def test_doctor_gives_up_a_server_that_answers_slowly(
    dueq: Program, sound: Server, tmp_path: Path
) -> None:
    """Each answer is within the timeout; all of them take many times as long."""
    asked = []

    def count(command: bytes, reply: Reply) -> Reply:
        asked.append(command)
        return reply

    with Edited(sound, tmp_path / "slow", count, delay=0.1) as slow:
        ended = dueq.run("doctor", f"{slow.url}?timeout=800ms", "--json")
    assert ended.code == 1
    assert len(asked) < 70, "it has a deadline of its own"
    (bad,) = [one for one in ended.objects if one["level"] == "problem" and one["code"] == "reach"]
    assert "five timeouts" in bad["text"]
