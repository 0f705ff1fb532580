"""The API answers what the shell prints, and does what the shell does."""

from __future__ import annotations

import json
import re
import select
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import islice
from pathlib import Path

import pytest
from cli.test_cli_workers import register

from private_server import Server

from .site import TOKEN, Site, path, without_clocks

BODIES = ["hello", '{"a": [1, "é"]}', "", "two\nlines\t", '</script><img src=x onerror="alert(1)">']
WAITERS = 48  # requests that may wait for results: WEB_WAITERS of cli/web/web.h
NAMES = ["orders", "mit leer", "a/b?c#d%41", "..", "Ω&<b>", "a+b"]


@pytest.mark.parametrize("name", NAMES)
def test_it_answers_byte_for_byte_what_the_shell_prints(site: Site, name: str) -> None:
    for number, body in enumerate(BODIES):
        site.shell("push", "--id", f"i/{number}?&é", "--header", f"h {number}=<b>", name, body)
    site.shell("push", "--delay", "1h", "--id", "later", name, "x")
    ticket = json.loads(site.shell("reserve", "--json", name))["ticket"]
    site.shell("bury", "--reason", "it failed: <b>\nin line 2", name, ticket)
    buried = json.loads(site.shell("failures", "--json", name))["id"]
    site.shell("schedule", "add", name, "nightly", "0 2 * * *", "all", "--zone", "Europe/Berlin")
    site.shell("open-batch", name, "b/1?&é", "--finally", "f")
    asked: list[tuple[tuple[str, ...], dict[str, str | int], list[str]]] = [
        ((), {}, ["queues"]),
        ((name,), {}, ["stats", name]),
        ((name, "messages"), {}, ["peek", "--preview", name, "ready"]),
        ((name, "messages"), {"state": "delayed"}, ["peek", "--preview", name, "delayed"]),
        ((name, "messages"), {"state": "dead", "count": 5}, ["peek", "--preview", name, "dead"]),
        ((name, "messages", "i/3?&é"), {}, ["find", name, "i/3?&é"]),
        ((name, "messages", "none"), {}, ["find", name, "none"]),
        ((name, "inspect", "later"), {}, ["inspect", name, "later"]),
        ((name, "inspect", buried), {}, ["inspect", name, buried]),
        ((name, "rates"), {"minutes": 5}, ["rates", "--minutes", "5", name]),
        ((name, "rates"), {"hours": 2}, ["rates", "--hours", "2", name]),
        ((name, "schedules"), {}, ["schedule", "list", name]),
        ((name, "workers"), {}, ["workers", name]),
        ((name, "batches"), {}, ["batches", name]),
        ((name, "batches", "b/1?&é"), {}, ["find-batch", name, "b/1?&é"]),
        ((name, "batches", "none"), {}, ["find-batch", name, "none"]),
    ]
    for parts, arguments, words in asked:
        printed = site.shell(*words, "--json")
        answer = site.get(*parts, **arguments)
        assert without_clocks(answer.body) == without_clocks(printed)
        assert printed or answer.code == 200
    assert site.get(name, "inspect", buried).object["history"][0]["kind"] == "buried"
    assert site.ask("GET", "/api/workers").body == site.shell("workers", "--json")


def test_bytes_that_are_no_text(site: Site) -> None:
    body = bytes(range(256))
    assert site.post("orders", "messages", id="raw", body=body).code == 200
    assert "body_base64" in site.get("orders", "messages", "raw").object
    assert site.get("orders", "messages").body.startswith(b'{"queue":"orders","id":"raw"')


def test_push_takes_the_options_of_the_shell(site: Site) -> None:
    answer = site.ask(
        "POST",
        path("orders", "messages", delay="30m", id="x", priority="high", backoff="1s,5s")
        + "&header=a%3Db&header=c%3Dd%3De&replace=body",
        "hello",
    )
    assert (answer.code, answer.object) == (200, {"id": "x", "status": "OK"})
    found = site.get("orders", "messages", "x").object
    assert (found["state"], found["priority"]) == ("delayed", "high")
    assert found["headers"] == {"a": "b", "c": "d=e"}
    again = site.post("orders", "messages", id="x", body="other")
    assert (again.code, again.object) == (409, {"id": "x", "status": "DUPLICATE"})


def test_push_above_the_backlog_of_a_group_is_429(site: Site) -> None:
    site.shell("limit", "orders", "--each-group-backlog", "1")
    assert site.post("orders", "messages", body="1", group="acme").code == 200
    refused = site.post("orders", "messages", body="2", group="acme")
    assert (refused.code, refused.object["status"]) == (429, "BACKLOG")
    assert refused.object["text"].endswith("push it again later")


def test_messages_of_groups_take_turns(site: Site) -> None:
    for body, group in [("a1", "acme"), ("a2", "acme"), ("b1", "globex")]:
        assert site.post("orders", "messages", body=body, group=group).code == 200
    found = site.post("orders", "reserve", count="3").objects
    assert [(row["body"], row["group"]) for row in found] == [
        ("a1", "acme"),
        ("b1", "globex"),
        ("a2", "acme"),
    ]


@pytest.mark.parametrize(
    ("verb", "arguments", "body", "said"),
    [
        ("messages", {"group": "a", "priority": "high"}, "x", "either a group or a priority"),
        ("messages", {"delay": "soon"}, "x", "--delay soon is not a duration"),
        ("messages", {"dely": "1s"}, "x", "no argument dely"),
        ("messages", {"backoff": "1s:no"}, "x", "--backoff 1s:no is not a backoff"),
        ("messages", {"delay": "1s", "at": "1000000000"}, "x", "exclude each other"),
        ("messages", {"id": "a\nb"}, "x", "id"),
        ("reserve", {"wait": "2m"}, "", "60 s at most"),
        ("reserve", {"wait": "soon"}, "", "--wait soon is not a duration"),
        ("reserve", {"count": "201"}, "", "from 1 to 200"),
        ("reserve", {"cuont": "1"}, "", "no such argument"),
        ("ack", {}, "", "one ticket on each line"),
        ("retry", {}, "one\ntwo", "one ticket"),
        ("reschedule", {"delay": "1s", "at": "1000000000"}, "x", "not both"),
        ("kick_group", {}, "", "error is missing"),
        ("purge_group", {}, "", "group is missing"),
        ("schedule_run", {}, "a\nb", "one name"),
        ("kick_all", {"since": "tomorrow"}, "", "--since tomorrow is not a time"),
    ],
)
def test_wrong_arguments_are_refused_with_a_reason(
    site: Site, verb: str, arguments: dict[str, str], body: str, said: str
) -> None:
    answer = site.post("orders", verb, body=body, **arguments)
    assert answer.code == 400
    assert answer.object["status"] == "INVALID"
    assert said in answer.object["text"]
    assert site.get().body == b""


def test_wrong_paths(site: Site) -> None:
    for method, target, code in [
        ("GET", "/api/nothing", 404),
        ("GET", "/api/queues/orders/nothing", 404),
        ("GET", "/api/queues/orders/ack", 405),
        ("POST", "/api/workers", 405),
        ("GET", "/api/running?count=0", 400),
        ("GET", "/api/workers?count=1", 400),
        ("POST", "/api/queues/orders", 405),
        ("POST", "/api/queues/orders/messages/x", 405),
        ("DELETE", "/api/queues/orders", 405),
        ("PUT", "/", 405),
        ("POST", "/", 405),
        ("GET", "/api/queues/%zz", 404),
        ("GET", "/api/queues/a%00b", 404),
        ("GET", "/api/queues/a%", 404),
        ("GET", "/api/queues/a/b/c/d/e/f", 404),
        ("GET", "/api/queues/", 400),
        ("GET", "/api/queues/%7Bx%7D", 400),
        ("GET", "/api/queues/%ff", 400),
        ("GET", "/api/queues/" + "x" * 256, 400),
        ("GET", "/api/queues/orders/messages?state=undead", 400),
        ("GET", "/api/queues/orders/messages?after=%00", 400),
        ("GET", "/api/queues/orders/messages?count=1&count=2", 400),
        ("GET", "/../etc/passwd", 404),
        ("GET", "/%2e%2e/etc/passwd", 404),
        ("GET", "/apix", 404),
    ]:
        assert site.ask(method, target).code == code, target
    many = "&".join(f"a{number}=1" for number in range(65))
    assert site.ask("GET", f"/api/queues?{many}").code == 400


def test_a_worker_that_speaks_http(site: Site) -> None:
    for body in ["one", "two", "three", "four"]:
        site.post("orders", "messages", body=body)
    taken = site.post("orders", "reserve", count=4, lease="1m").objects
    assert [message["body"] for message in taken] == ["one", "two", "three", "four"]
    one, two, three, four = (message["ticket"] for message in taken)
    acked = site.post("orders", "ack", body=f"{one}\n{one}\n")
    assert [item["status"] for item in acked.objects] == ["OK", "LEASE_LOST"]
    assert acked.code == 409
    assert site.post("orders", "retry", body=two, delay="1h", error="no answer").code == 200
    assert site.post("orders", "extend", body=three, lease="2m").object["status"] == "OK"
    assert site.post("orders", "release", body=three).object["status"] == "OK"
    assert site.post("orders", "bury", body=four, reason="broken").object["status"] == "OK"
    assert site.get("orders", "messages", state="delayed").object["error"] == "no answer"
    counts = site.get("orders").object
    assert [counts[name] for name in ("ready", "delayed", "dead", "acked")] == [1, 1, 1, 1]


def test_reserve_waits_for_a_message(site: Site) -> None:
    pushed = threading.Timer(0.5, site.post, ("orders", "messages"), {"body": "late"})
    pushed.start()
    answer = site.post("orders", "reserve", wait="20s")
    pushed.join()
    assert answer.object["body"] == "late"
    started = time.monotonic()
    assert site.post("empty", "reserve", wait="1s").code == 204
    assert time.monotonic() - started >= 1


def test_who_gives_up_waiting_takes_no_message(site: Site) -> None:
    connection = site.connection()
    token = {"Authorization": f"Bearer {TOKEN}"}
    connection.request("POST", path("orders", "reserve", wait="60s"), headers=token)
    time.sleep(0.5)  # it waits
    connection.close()
    time.sleep(1)  # its absence is seen
    site.post("orders", "messages", body="for another")
    assert site.post("orders", "reserve", wait="5s").object["body"] == "for another"


def kept(site: Site, **options: str) -> None:
    assert site.post("orders", "messages", id="x", body="x", keep="1h", **options).code == 200


def test_result_waits_for_the_end(site: Site) -> None:
    kept(site)
    empty = {"id": "x", "status": "EMPTY"}
    assert site.get("orders", "result", "x").object == empty
    started = time.monotonic()
    answer = site.get("orders", "result", "x", wait="1s")
    assert (answer.code, answer.object) == (200, empty)
    assert time.monotonic() - started >= 1
    with ThreadPoolExecutor(2) as waiters:
        waits = [waiters.submit(site.get, "orders", "result", "x", wait="60s") for _ in range(2)]
        ticket = site.post("orders", "reserve", wait="20s").object["ticket"]
        site.shell("ack", "orders", ticket, "--result", "packed")
        printed = site.shell("result", "--json", "orders", "x")
        assert [wait.result().body for wait in waits] == [printed, printed]
    assert json.loads(printed)["result"] == "packed"
    refused = site.get("orders", "result", "x", wait="61s")
    assert (refused.code, refused.object["status"]) == (400, "INVALID")
    assert "60 s at most" in refused.object["text"]
    assert site.get("orders", "result", "other", wait="60s").code == 404


@pytest.mark.parametrize("wait", ["0", "60s"])
def test_result_ends_no_message(site: Site, wait: str) -> None:
    kept(site, ttl="100ms")
    while site.get("orders", "result", "x", wait=wait).object.get("outcome") != "expired":
        time.sleep(0.01)
    counts = site.get("orders").object
    assert (counts["ready"], counts["expired"]) == (1, 0)
    assert json.loads(site.shell("result", "--json", "orders", "x"))["outcome"] == "expired"
    counts = site.get("orders").object
    assert (counts["ready"], counts["expired"]) == (0, 1)


def test_so_many_wait_for_results_that_others_are_answered(site: Site) -> None:
    kept(site)
    with ThreadPoolExecutor(60) as waiters:
        waits = [waiters.submit(site.get, "orders", "result", "x", wait="60s") for _ in range(60)]
        refusals = [wait.result() for wait in islice(as_completed(waits), 60 - WAITERS)]
        refused = site.get("orders", "result", "x", wait="1ms")
        assert {refusal.code for refusal in refusals} == {503}
        assert (refused.code, refused.object["status"]) == (503, "BUSY")
        assert f"{WAITERS} requests wait for results" in refused.object["text"]
        assert site.get("orders", "result", "x").object["status"] == "EMPTY"
        ticket = site.post("orders", "reserve").object["ticket"]
        assert site.post("orders", "ack", body=ticket).code == 200
        answers = [wait.result() for wait in waits]
    assert {answer.code for answer in answers} == {200, 503}
    waited = [answer.object["outcome"] for answer in answers if answer.code == 200]
    assert waited == ["acked"] * WAITERS
    assert site.get("orders", "result", "x", wait="60s").object["outcome"] == "acked"


def test_who_gives_up_waiting_for_a_result_makes_room(site: Site) -> None:
    kept(site)
    token = {"Authorization": f"Bearer {TOKEN}"}
    connections = [site.connection() for _ in range(60)]
    for connection in connections:
        connection.request("GET", path("orders", "result", "x", wait="60s"), headers=token)
    waiting = {connection.sock for connection in connections}
    while len(waiting) > WAITERS:
        waiting -= set(select.select(list(waiting), [], [])[0])
    assert site.get("orders", "result", "x", wait="1ms").code == 503
    for connection in connections:
        connection.close()
    while site.get("orders", "result", "x", wait="1ms").code == 503:
        pass


def test_what_people_do_with_messages(site: Site) -> None:
    site.post("orders", "messages", id="a", delay="1h", body="x")
    site.post("orders", "messages", id="b", delay="1h", body="x")
    assert site.post("orders", "reschedule", body="a", delay="0").object["status"] == "OK"
    assert site.get("orders", "messages", "a").object["state"] == "ready"
    assert site.post("orders", "kill", body="b").object["status"] == "OK"
    assert site.get("orders", "messages", "b").object["state"] == "dead"
    assert site.post("orders", "kick", body="b").object["status"] == "OK"
    cancelled = site.post("orders", "cancel", body="a\nb\nc")
    assert [item["status"] for item in cancelled.objects] == ["OK", "OK", "NOT_FOUND"]
    assert cancelled.objects[0]["state"] == "ready"
    assert cancelled.code == 404
    site.post("orders", "pause")
    assert site.get("orders").object["paused"] is True
    site.post("orders", "resume")
    assert site.get("orders").object["paused"] is False


def test_what_people_do_with_schedules(site: Site) -> None:
    site.shell("schedule", "add", "mail", "digest", "0 2 * * *", "to all")

    def schedule() -> dict[str, object]:
        return site.get("mail", "schedules").object

    for verb, paused in [("pause", True), ("pause", True), ("resume", False), ("resume", False)]:
        answer = site.post("mail", f"schedule_{verb}", body="digest")
        assert (answer.code, answer.object) == (200, {"name": "digest", "status": "OK"})
        assert schedule()["paused"] is paused
    site.post("mail", "schedule_pause", body="digest")
    pushed = site.post("mail", "schedule_run", body="digest").object
    assert site.get("mail", "messages", pushed["id"]).object["body"] == "to all"
    assert schedule()["paused"] is True
    assert site.post("mail", "schedule_remove", body="digest").object["status"] == "OK"
    assert site.get("mail", "schedules").body == b""
    for name in ["digest", "x" * 300]:
        for verb in ["pause", "resume", "run", "remove"]:
            answer = site.post("mail", f"schedule_{verb}", body=name)
            assert answer.code == (404 if name == "digest" else 400)
    # Nothing but a schedule has the id of one.
    assert site.post("mail", "messages", id="schedule:x", body="x").code == 400
    assert site.post("mail", "schedule_remove", body="x").code == 404
    assert site.get("mail").object["ready"] == 1


def test_what_is_leased_longest(site: Site, server: Server) -> None:
    for queue in ["orders", "mail"]:
        site.post(queue, "messages", id=f"of {queue}", body="x")
        taken = site.post(queue, "reserve").object
        leased_ms = 9000 if queue == "mail" else 5000
        register(server, queue, f"{leased_ms} 1 0 {taken['ticket']}", queue=queue)
    answer = site.ask("GET", "/api/running")
    assert [message["id"] for message in answer.objects] == ["of mail", "of orders"]
    printed = site.shell("running", "--json")
    assert without_clocks(answer.body) == without_clocks(printed)
    assert site.ask("GET", "/api/running?count=1").object["id"] == "of mail"
    assert site.get("orders", "running").object["id"] == "of orders"


def test_why_is_told_of_what_is_wrong_alone(site: Site) -> None:
    site.post("orders", "messages", body="x")
    site.post("mail", "messages", body="x")
    site.post("mail", "pause")
    said = {
        "queue": "mail",
        "cause": "paused",
        "level": "meant",
        "why": "paused: it delivers nothing until it is resumed",
        "fix": "dueq resume QUEUE, when it may go on",
    }
    assert site.ask("GET", "/api/why").object == said
    assert site.get("mail", "why").object == said
    assert site.get("orders", "why").body == b""


def test_pages_and_search(site: Site) -> None:
    lines = "\n".join(f"body {number}" for number in range(300))
    for number in range(3):
        site.post("orders", "messages", id=f"mine-{number}", header=f"task=send-{number}", body="x")
    for _ in range(5):
        site.shell("push", "orders", "--lines", text=lines)
    seen: list[str] = []
    after = ""
    while True:
        target = path("orders", "messages", count=200) + (f"&after={after}" if after else "")
        page = site.ask("GET", target)
        seen += [message["id"] for message in page.objects]
        if not page.next:
            break
        after = page.next
    assert len(seen) == len(set(seen)) == 1503
    found = site.get("orders", "messages", text="send-2").objects
    assert [message["id"] for message in found] == ["mine-2"]
    assert len(site.get("orders", "messages", text="mine-").objects) == 3
    assert site.get("orders", "messages", text="nothing has it").body == b""


def test_dead_messages_by_their_errors(site: Site) -> None:
    reasons = ["timeout", "timeout after {} s", "timeout\nline 2", "", "no <b>price</b>"]
    for number in range(25):
        site.post("orders", "messages", id=str(number), body="x")
        ticket = site.post("orders", "reserve").object["ticket"]
        site.post("orders", "bury", body=ticket, reason=reasons[number % 5].format(number))
    groups = {group["error"]: group for group in site.get("orders", "errors").objects}
    assert {error: group["count"] for error, group in groups.items()} == {
        "timeout": 10,
        "timeout after # s": 5,
        "no error was given": 5,
        "no <b>price</b>": 5,
    }
    assert site.post("orders", "kick_group", error="timeout").object == {"kicked": 10}
    assert site.post("orders", "kick_group", error="no error was given").object == {"kicked": 5}
    assert site.post("orders", "kick_group", error="timeout after # s").object == {"kicked": 5}
    assert site.post("orders", "kick_all", error="price").object == {"kicked": 5}
    assert site.get("orders").object["dead"] == 0


def test_groups_and_purge_of_one(site: Site) -> None:
    for number in range(5):
        site.post("orders", "messages", body="x", group=f"customer {number % 3}")
    site.post("orders", "messages", body="x")
    rows = site.get("orders", "groups").objects
    assert [(row["name"], row["waiting"]) for row in rows] == [
        ("customer 0", 2),
        ("customer 1", 2),
        ("customer 2", 1),
        (None, 1),
    ]
    shell = site.shell("groups", "orders", "--json")
    assert without_clocks(site.get("orders", "groups").body) == without_clocks(shell)
    first = site.get("orders", "groups", count=3)
    second = site.ask("GET", path("orders", "groups", count=3) + f"&after={first.next}")
    names = [row["name"] for row in first.objects + second.objects]
    assert names == [row["name"] for row in rows]
    assert second.next is None
    assert site.post("orders", "purge_group", group="customer 0").object == {"purged": 2}
    assert site.post("orders", "purge_group", group="customer 0").object == {"purged": 0}
    assert site.get("orders").object["ready"] == 4


def test_limits_and_holds_of_groups(site: Site) -> None:
    site.shell("limit", "orders", "--concurrency", "50", "--each-group-rate", "100/m")
    site.shell("limit", "orders", "--group", "acme", "--concurrency", "1", "--weight", "4")
    assert site.get("orders", "limits").body == site.shell("limits", "orders", "--json")
    assert site.get("orders", "limits").object["groups"][0]["weight"] == 4
    assert site.get("nothing", "limits").object["concurrency"] is None
    for group in ["acme", "globex"]:
        site.post("orders", "messages", body=group, group=group)
    held = site.post("orders", "hold", group="acme", duration="1h")
    assert held.body == site.shell(
        "hold", "orders", "--group", "acme", "--duration", "1h", "--json"
    )
    found = {row["name"]: row for row in site.get("orders", "groups").objects}
    assert [found[name]["at_limit"] for name in ("acme", "globex")] == ["hold", ""]
    assert 3590000 < found["acme"]["held_until_ms"] - found["acme"]["now_ms"] <= 3600000
    taken = site.post("orders", "reserve", count="2").objects
    assert [row["group"] for row in taken] == ["globex"]
    ticket = taken[0]["ticket"]
    answer = site.post("orders", "hold_group", body=ticket, duration="1h")
    assert (answer.code, answer.object) == (200, {"ticket": ticket, "status": "OK"})
    assert site.post("orders", "hold_group", body=ticket, duration="1h").code == 409
    assert site.post("orders", "reserve", count="2").code == 204
    assert site.post("orders", "hold", group="acme", duration="0").code == 200
    assert site.post("orders", "reserve").object["group"] == "acme"


@pytest.mark.parametrize(
    ("verb", "arguments", "said"),
    [
        ("hold", {"group": "acme"}, "duration is missing"),
        ("hold", {"duration": "1m"}, "group is missing"),
        ("hold", {"group": "acme", "duration": "soon"}, "soon is not a duration"),
        ("hold", {"group": "", "duration": "1m"}, "group"),
        ("hold_group", {}, "duration is missing"),
        ("purge_group", {}, "group is missing"),
    ],
)
def test_wrong_requests_about_groups(
    site: Site, verb: str, arguments: dict[str, str], said: str
) -> None:
    answer = site.post("orders", verb, body="ticket", **arguments)
    assert answer.code == 400
    assert said in answer.object["text"]


def test_a_body_that_is_too_large(site: Site) -> None:
    body = b"x" * (8 * 1024 * 1024)
    assert site.post("orders", "messages", body=body).code == 200
    assert site.post("orders", "messages", body=body + b"x").code == 413
    assert site.get("orders").object["pushed"] == 1


def test_events_tell_of_all_queues(site: Site) -> None:
    site.post("orders", "messages", body="x")
    connection = site.connection()
    token = {"Authorization": f"Bearer {TOKEN}"}
    connection.request("GET", "/api/events", headers=token)
    answer = connection.getresponse()
    assert answer.headers["Content-Type"] == "text/event-stream"
    counts: list[dict[str, object]] = []
    while not any(count.get("queue") == "orders" and count.get("ready") == 1 for count in counts):
        line = answer.readline()
        if line.startswith(b"data: {"):
            counts.append(json.loads(line[6:]))
    connection.close()


def test_the_document_s_commands_work_when_pasted(site: Site) -> None:
    document = (Path(__file__).parents[2] / "docs/web.md").read_text(encoding="utf-8")
    [code] = [block for block in re.findall(r"```sh\n(.*?)```", document, re.S) if "curl" in block]
    script = "set -euo pipefail\n" + code.replace("http://127.0.0.1:3837/", site.url)
    done = subprocess.run(
        ["bash", "-c", script],
        env=site.environment | {"DUEQ_TOKEN": TOKEN},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == '{"id":"order-7","status":"OK"}'
    assert lines[3] == "pack order 7"
    assert json.loads(lines[-1])["outcome"] == "acked"
    counts = site.get("orders").object
    assert [counts[name] for name in ("ready", "delayed", "leased", "acked")] == [0, 0, 0, 1]


def test_many_at_once(site: Site) -> None:
    def produce(number: int) -> int:
        return site.post("orders", "messages", id=str(number), body=str(number)).code

    def work(_: int) -> str:
        taken = site.post("orders", "reserve", wait="20s").object
        assert site.post("orders", "ack", body=taken["ticket"]).code == 200
        return str(taken["body"])

    with ThreadPoolExecutor(16) as workers, ThreadPoolExecutor(8) as producers:
        worked = workers.map(work, range(60))
        assert set(producers.map(produce, range(60))) == {200}
        assert sorted(worked, key=int) == [str(number) for number in range(60)]
    assert site.get("orders").object["acked"] == 60
