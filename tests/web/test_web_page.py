"""The page, in a browser, with what hostile producers push."""

from __future__ import annotations

import json

from cli.test_cli_workers import register

from dueq import Queue
from private_server import Server

from .browser import Browser
from .site import TOKEN, Site

EVIL = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>'
NAME = f"evil {EVIL}'\"&/?#"


STRANGE = "img:not([src='icon.svg']), script:not([src='app.js'])"


def clean(page: Browser) -> None:
    """What others wrote is no part of the page; nothing was blocked or thrown."""
    assert page.run("window.hit") is None
    assert page.run(f'document.querySelectorAll("{STRANGE}").length') == 0
    assert page.said == []


def hostile(site: Site) -> None:
    for number, body in enumerate([EVIL, json.dumps({"a": EVIL}), "\x1b[2J‮txt.exe\u200b"]):
        site.post(NAME, "messages", id=f"id {number} {EVIL[:60]}", header=f"task={EVIL}", body=body)
    site.post(NAME, "messages", id="binary", body=bytes(range(256)))
    site.post(NAME, "messages", id="dead", priority="high", header=f"{EVIL}={EVIL}", body=EVIL)
    ticket = site.post(NAME, "reserve").object["ticket"]
    site.post(NAME, "bury", body=ticket, reason=f"{EVIL}\n‮ in line 2")
    site.shell("schedule", "add", NAME, EVIL[:40], "every 1h", "x")


def test_hostile_names_bodies_headers_and_errors_are_text(page: Browser, site: Site) -> None:
    hostile(site)
    page.sees("<img src=x onerror=")
    page.press(NAME)
    page.sees("id 0 <img")
    clean(page)
    tabs = ["dead", "groups", "errors", "schedules", "batches", "workers", "history", "delayed"]
    for tab in tabs:
        page.run(f"location.hash = location.hash.split('/').slice(0, 3).join('/') + '/{tab}'")
        page.until(f"document.querySelector('.tabs [aria-current]')?.href.endsWith('/{tab}')")
        page.until("document.querySelector('main').innerText.length > 100")
        clean(page)
    for message, form, seen in [
        ("dead", "Text", "<img src=x"),
        ("binary", "Hex", "000010  10 11 12 13"),
        ("id 2 " + EVIL[:60], "Text", "\\u001b[2J\\u202etxt.exe\\u200b"),
        ("id 1 " + EVIL[:60], "JSON", '"a": "<img'),
    ]:
        parts = [NAME, "m", message]
        page.run(f"location.hash = '#/q/' + {json.dumps(parts)}.map(encodeURIComponent).join('/')")
        page.press(form)
        page.sees(seen)
        clean(page)


def test_a_message_has_its_history(page: Browser, site: Site) -> None:
    site.post("orders", "messages", id="x", body="x")
    for verb, error in [("retry", f"no such shop {EVIL}"), ("bury", "bad address")]:
        ticket = site.post("orders", "reserve").object["ticket"]
        arguments = {"delay": "0", "error": error} if verb == "retry" else {"reason": error}
        site.post("orders", verb, body=ticket, **arguments)
    page.run("location.hash = '#/q/orders/m/x'")
    page.sees("Delivery 1")
    for seen in [
        "failed",
        "no such shop <img",
        "Delivery 2",
        "was buried",
        "bad address",
        "process ",
    ]:
        page.sees(seen)
    clean(page)


def test_an_operator_can_act(page: Browser, site: Site) -> None:
    for number in range(3):
        site.post("orders", "messages", id=f"m{number}", body="x")
        ticket = site.post("orders", "reserve").object["ticket"]
        site.post("orders", "bury", body=ticket, reason="no answer")
    site.post("orders", "messages", id="later", delay="1h", body="x")
    page.run("location.hash = '#/q/orders/dead'")
    page.press("m0")
    page.press("Kick")
    page.sees("Ready again")
    assert site.get("orders", "messages", "m0").object["state"] == "ready"
    page.run("location.hash = '#/q/orders/errors'")
    page.press("Kick all of these")
    page.press("Kick them")
    page.sees("2 messages are ready again")
    assert site.get("orders").object["ready"] == 3
    page.run("location.hash = '#/q/orders/m/later'")
    page.press("Reschedule")
    page.run("document.querySelector('dialog input').value = '2h'")
    page.run("[...document.querySelectorAll('dialog button')].at(-1).click()")
    page.sees("in 1h59m")
    page.press("Deliver now")
    page.sees("Ready now")
    page.press("Cancel")
    page.press("Cancel the message")
    page.sees("There is no message of this id now")
    page.run("location.hash = '#/q/orders'")
    page.press("Pause")
    page.sees("paused")
    assert site.get("orders").object["paused"] is True
    page.press("Resume")
    page.until("!document.querySelector('.title').innerText.includes('paused')")
    clean(page)


ROWS = "[...document.querySelectorAll('.scroll tbody tr')].map(row => [...row.cells]"


def cells(page: Browser, count: int) -> list[list[str]]:
    """The first cells of each row, with plain blanks."""
    texts = page.run(f"{ROWS}.slice(0, {count}).map(cell => cell.innerText))")
    return [[text.replace("\u00a0", " ") for text in row] for row in texts]


def press_in(page: Browser, group: str, button: str) -> None:
    """Presses a button in the row of the group."""
    row = f"[...document.querySelectorAll('tr')].find(row => row.cells[0].innerText === '{group}')"
    found = (
        f"[...{row}?.querySelectorAll('button') ?? []].find(one => one.innerText === '{button}')"
    )
    page.until(f"Boolean({found})")
    page.run(f"{found}.click()")


def test_an_operator_sees_groups_and_purges_one(page: Browser, site: Site) -> None:
    for number, group in enumerate(["acme", EVIL, "acme", "acme", "globex"]):
        site.post("orders", "messages", id=f"m{number}", group=group, body="x")
    site.post("orders", "messages", id="none", body="x")
    site.post("orders", "reserve")
    page.run("location.hash = '#/q/orders/groups'")
    page.sees("(no group)")
    assert cells(page, 3) == [
        [EVIL, "1", "0"],
        ["globex", "1", "0"],
        ["(no group)", "1", "0"],
        ["acme", "2", "1"],
    ]
    assert page.run("[...document.querySelectorAll('td button')].length") == 6
    assert "Limits" not in page.text()
    assert page.run("document.querySelector('main input').closest('div').hidden")
    press_in(page, "acme", "Purge")
    page.sees("The messages of acme that wait (about 2)")
    page.press("Purge it")
    page.sees("2 messages were deleted")
    assert site.get("orders").object["ready"] == 3
    assert site.get("orders").object["leased"] == 1
    clean(page)


def test_an_operator_sees_limits_of_groups(page: Browser, site: Site, server: Server) -> None:
    for group in ["acme", "globex", "acme", "acme"]:
        site.post("orders", "messages", group=group, body="x")
    site.post("orders", "messages", body="x")
    site.shell("limit", "orders", "--concurrency", "50", "--rate", "1000/s")
    site.shell("limit", "orders", "--each-group-concurrency", "5", "--each-group-backlog", "900")
    site.shell("limit", "orders", "--each-group-rate", "100/m", "--each-group-burst", "9")
    site.shell("limit", "orders", "--group", "acme", "--concurrency", "1", "--weight", "4")
    site.shell("limit", "orders", "--group", EVIL, "--rate", "7/h")
    site.post("orders", "reserve", count="9")
    server.command("HSET", "dueq:{orders}:meta", "served_from", 0)
    for counts in ["served_even", "served_odd"]:
        server.command("HSET", f"dueq:{{orders}}:{counts}", "acme", 60)
    page.run("location.hash = '#/q/orders/groups'")
    page.sees("concurrency 50, rate 1000/s")
    page.sees("concurrency 5, rate 100/m, burst 9, backlog 900")
    page.sees("2 groups")
    assert "7/h" not in page.text()
    page.run("document.querySelector('summary').click()")
    page.sees("concurrency 1, weight 4")
    page.sees("rate 7/h")
    rows = cells(page, 8)
    assert 60 <= int(rows[0][4]) <= 120
    assert [[*row[:3], *row[5:]] for row in rows] == [
        ["acme", "2 of 900", "1 of 1", "100/m", "4", "concurrency"],
        ["globex", "0 of 900", "1 of 5", "100/m", "–", "–"],
        ["(no group)", "0", "1", "–", "–", "–"],
    ]
    site.shell("limit", "orders", "--clear")
    page.until("!document.querySelector('main').innerText.includes('Limits')")  # by itself
    clean(page)


def test_an_operator_holds_a_group(page: Browser, site: Site) -> None:
    for group in ["acme", "globex"]:
        site.post("orders", "messages", group=group, body="x")
    page.run("location.hash = '#/q/orders/groups'")
    press_in(page, "acme", "Hold")
    page.sees("No message of acme is delivered for this time")
    page.press("Cancel")
    assert site.get("orders", "groups").objects[0]["held_until_ms"] is None
    press_in(page, "acme", "Hold")
    page.run("document.querySelector('dialog input').value = '1h'")
    page.press("Hold it")
    page.sees("for 59m")
    found = {row["name"]: row["at_limit"] for row in site.get("orders", "groups").objects}
    assert found == {"acme": "hold", "globex": ""}
    press_in(page, "acme", "End the hold")
    page.until("!document.querySelector('main').innerText.includes('for 59m')")
    found = {row["name"]: row["at_limit"] for row in site.get("orders", "groups").objects}
    assert found == {"acme": "", "globex": ""}
    site.shell("hold", "orders", "--group", "globex", "--duration", "2h")
    page.sees("for 1h59m")  # by itself
    clean(page)


def test_an_operator_sees_batches(page: Browser, site: Site) -> None:
    batch = f"letters {EVIL}"
    site.shell("open-batch", "mail", "alone")
    site.shell("open-batch", "mail", batch, "--then", "t", "--catch", "c", "--finally", "f")
    for number in range(4):
        site.shell("push", "mail", "x", "--id", f"m{number}", "--batch", batch)
    found = json.loads(site.shell("find-batch", "mail", batch, "--json"))
    site.post("mail", "bury", body=site.post("mail", "reserve").object["ticket"])
    page.run("location.hash = '#/q/mail/batches'")
    page.until(f"{ROWS}).length === 2")
    rows = {row[0].removesuffix("open"): row[1:] for row in cells(page, 4)}
    assert rows == {"alone": ["0", "0 (0 %)", "0"], batch: ["4", "1 (25 %)", "1"]}
    page.press(batch)
    page.sees("4, of which 3 have not ended")
    page.sees(found["then_id"])
    page.sees(found["finally_id"])
    site.shell("cancel-batch", "mail", batch)
    page.sees("4, of which 0 have not ended")  # by itself
    clean(page)
    page.press(found["catch_id"])
    page.until("location.hash.includes('/m/')")
    page.press("Text")  # the callback was pushed at the first death
    site.shell("push", "mail", "x", "--id", "m9", "--batch", batch)
    page.run("location.hash = '#/q/mail/m/m9'")
    page.press(batch)
    page.sees("If all members are acknowledged")
    page.run("location.hash = '#/q/mail/b/none'")
    page.sees("There is no batch of this id now")
    clean(page)


def test_limits_that_cannot_be_read(page: Browser, site: Site, server: Server) -> None:
    site.post("orders", "messages", group="acme", body="x")
    site.shell("limit", "orders", "--each-group-concurrency", "5")
    server.command("HSET", "dueq:{orders}:limits", "each.concurrency", EVIL)
    page.run("location.hash = '#/q/orders/groups'")
    page.sees("the limits of the queue cannot be read")
    assert cells(page, 3) == [["acme", "1", "0"]]
    clean(page)


def test_a_group_is_found_among_many(page: Browser, site: Site) -> None:
    with Queue("orders", site.environment["DUEQ_URL"]) as orders:
        for number in range(2000):
            orders.push(b"x", group=f"Customer {number}")
    page.run("location.hash = '#/q/orders/groups'")
    page.until(f"{ROWS}).length === 50")
    page.press("More")
    page.until(f"{ROWS}).length === 100")
    press_in(page, "Customer 77", "Purge")
    page.press("Purge it")
    page.sees("1 message was deleted")
    page.until(f"{ROWS}.map(cell => cell.innerText)[0]).at(-1) === 'Customer 100'")
    page.run("document.querySelector('main input').value = 'customer 1999'")
    page.press("Search")
    page.until(f"{ROWS}).length === 1")
    press_in(page, "Customer 1999", "Hold")
    page.press("Hold it")
    page.sees("held")
    page.run("document.querySelector('main input').value = 'nobody'")
    page.press("Search")
    page.sees("No group has this in its name.")
    clean(page)


def test_an_operator_can_act_on_schedules(page: Browser, site: Site) -> None:
    site.shell("schedule", "add", "mail", EVIL[:40], "every 1h", "x")
    page.run("location.hash = '#/q/mail/schedules'")
    page.press("Pause", "td button")  # the queue has a button of this name, too
    page.sees("Paused")
    assert site.get("mail", "schedules").object["paused"] is True
    page.press("Resume")
    page.until("[...document.querySelectorAll('td button')].some(b => b.textContent === 'Pause')")
    page.press("Run now")
    page.sees("Its message is pushed")
    assert site.get("mail").object["ready"] == 1
    page.press("Remove")
    page.press("Remove it")
    page.sees("No schedule was found")
    assert site.get("mail", "schedules").body == b""
    clean(page)


def test_what_is_leased_longest_is_on_the_page_of_workers(
    page: Browser, site: Site, server: Server
) -> None:
    site.post("orders", "messages", id="m0", body="x")
    taken = site.post("orders", "reserve").object
    register(server, "s", f"65000 1 0 {taken['ticket']}", host=EVIL)
    for place in ["#/workers", "#/q/orders/workers"]:
        page.run(f"location.hash = '{place}'")
        page.sees("Leased longest")
        page.sees("1m5s")
        page.sees("<img src=x onerror=")
        clean(page)


def test_a_queue_of_partitions_is_one_row(page: Browser, site: Site) -> None:
    for number in range(20):
        site.shell("push", "--partitions", "4", "--id", f"m{number}", "orders", "x")
    site.post("mail", "messages", body="x")
    rows = "[...document.querySelectorAll('tbody td.name a')].map(a => a.textContent).join()"
    page.until(f"{rows} === 'mail,orders'")
    page.sees("4 partitions")
    page.until("[...document.querySelectorAll('tbody tr')].at(-1).innerText.includes('20')")
    page.press("orders")
    page.until(f"{rows} === 'orders#0,orders#1,orders#2,orders#3'")
    page.press("Pause")
    page.sees("4 of 4 partitions; #0 paused: it delivers nothing until it is resumed")
    page.press("Resume")
    page.until("!document.querySelector('.title').innerText.includes('paused')")
    assert not site.get("orders#3").object["paused"]
    page.run("document.querySelector('input[type=search]').value = 'm7'")
    page.run("document.querySelector('input[type=search]').dispatchEvent(new Event('change'))")
    page.sees("Deliveries")
    assert page.run("location.hash").endswith("/m/m7")
    page.press(
        json.loads(site.shell("find", "--partitions", "4", "orders", "m7", "--json"))["queue"]
    )
    page.press("orders")
    page.until(f"{rows}.split(',').length === 4")
    clean(page)


def test_a_queue_that_cannot_be_read_is_said_to_be_so_and_others_are_shown(
    page: Browser, site: Site, server: Server
) -> None:
    for queue in ["broken", "whole"]:
        site.post(queue, "messages", body="x")
    page.sees("broken")
    server.command("DEL", "dueq:{broken}:msg")
    server.command("SET", "dueq:{broken}:msg", EVIL)
    page.sees("cannot be read: ")
    site.post("whole", "messages", body="x")
    page.until("[...document.querySelectorAll('tbody tr')].at(-1).innerText.includes('2')")
    assert page.run("document.querySelector('#live').className") == "good"
    clean(page)


def test_it_is_live_and_searches(page: Browser, site: Site) -> None:
    site.post("orders", "messages", id="first", body="x")
    page.run("location.hash = '#/q/orders'")
    page.sees("first")
    site.post("orders", "messages", id="second", header="task=send_mail", body="x")
    page.sees("second")  # by itself
    page.run("document.querySelector('input[type=search]').value = 'send_mail'")
    page.press("Search")
    page.until("document.querySelectorAll('tbody tr').length === 1")
    page.sees("second")
    clean(page)


def open_without_token(browser: Browser, site: Site, query: str) -> None:
    """The query makes the page another one, which is loaded anew."""
    browser.open("about:blank")
    browser.open(site.url)
    browser.until("location.protocol === 'http:'")
    browser.run("sessionStorage.clear()")
    browser.open(f"{site.url}?{query}")
    browser.sees("This dashboard is protected")


def test_it_asks_for_the_token(browser: Browser, site: Site) -> None:
    open_without_token(browser, site, "anew")
    for token, seen in [("wrong", "This is not the token"), (TOKEN, "live")]:
        browser.run(f"document.querySelector('dialog input').value = {token!r}")
        browser.press("Open")
        browser.sees(seen)


def test_who_has_no_token_is_not_asked_again(browser: Browser, site: Site) -> None:
    open_without_token(browser, site, "refused")
    # How often the page asks the API from now on.
    browser.run(
        "(() => { const real = fetch; window.asked = 0;"
        "window.fetch = (...all) => { window.asked++; return real(...all); }; })()"
    )
    browser.press("Cancel")
    browser.sees("not live: no token was given")
    browser.run("location.hash = '#/workers'")
    browser.until("window.asked > 0")
    browser.sees("the token is missing or wrong")
    assert browser.run("document.querySelector('dialog')") is None
    browser.press("Give the token")
    browser.run(f"document.querySelector('dialog input').value = {TOKEN!r}")
    browser.press("Open")
    browser.until("document.querySelector('#live').textContent === 'live'")
    browser.sees("No consumer is registered")
    assert browser.run("document.querySelector('#token').hidden")
    assert "the token is missing" not in browser.text()


def test_names_that_a_browser_takes_for_something_else(page: Browser, site: Site) -> None:
    for name in ["..", ".", "constructor", "__proto__", "%2e%2e", "%", "a/../b", "?x#y"]:
        site.shell("push", name, "--id", "m0", "x")
    rows = "[...document.querySelectorAll('tbody td.name a')].map(a => a.textContent)"
    page.until(f"{rows}.length === 8")
    for name in ["..", "."]:
        page.press(name)
        page.sees(f"A browser cannot ask for “{name}”: use dueq in a shell.")
        page.run("location.hash = '#/'")
    for name in ["constructor", "__proto__", "%2e%2e", "%", "a/../b", "?x#y"]:
        page.press(name)
        page.until("document.querySelector('tbody a')?.textContent === 'm0'")
        assert page.run("document.querySelector('h1').textContent") == name
        page.run("location.hash = '#/'")
    for tab in ["constructor", "__proto__", "nonsense"]:
        page.run(f"location.hash = '#/q/constructor/{tab}'")
        page.until("document.querySelector('tbody a')?.textContent === 'm0'")
        page.run("location.hash = '#/'")
    page.run("location.hash = '#/q/constructor/m/..'")
    page.sees("A browser cannot ask for “..”")
    page.run("location.hash = '#/q/%/m'")
    page.sees("%")
    clean(page)


def test_a_process_is_one_row_of_workers(page: Browser, site: Site, server: Server) -> None:
    for number, queue in enumerate(["mail", "orders"]):
        site.post(queue, "messages", id="m0", body="x")
        taken = site.post(queue, "reserve").object
        register(server, f"s{number}", f"65000 1 0 {taken['ticket']}", queue=queue)
    page.run("location.hash = '#/workers'")
    page.sees("mail orders")
    assert page.run("document.querySelector('table tbody').children.length") == 1


def minute_of(server: Server) -> int:
    clock = server.command("TIME")
    assert isinstance(clock, list)
    assert isinstance(clock[0], bytes)
    return int(clock[0]) // 60


def steady(server: Server, site: Site) -> int:
    """600 messages in each of the ten minutes that are over, none in this one."""
    site.shell("push", "orders", "x")
    minute = minute_of(server)
    server.command("DEL", "dueq:{orders}:rates")
    for ago in range(11):
        counts = f"{(minute - ago) * 60000} 0 {6000 - 600 * ago} 0 0 0 0 0 0"
        server.command("RPUSH", "dueq:{orders}:rates", counts)
    server.command("HSET", "dueq:{orders}:meta", "pushed", "6000")
    return minute


def test_charts_begin_with_the_history_and_end_without_a_fall(
    browser: Browser, server: Server
) -> None:
    throughput = "(document.querySelector('.chart')?.innerHTML ?? '')"
    line = "document.querySelectorAll('.chart')[2]?.querySelector('path')?.getAttribute('d')"
    browser.look(1280, 900)
    minute, heights = 0, set[str]()
    while minute != minute_of(server):
        server.command("FLUSHALL")
        with Site(server.url) as site:
            minute = steady(server, site)
            for place in ["#/", "#/q/orders"]:
                browser.open("about:blank")
                browser.open(site.url + place)
                # 600 a minute, and when they began.
                browser.until(f"{throughput}.includes('>10/s<')")
                browser.until(f"/>(9|10)m[^<]* ago</.test({throughput})")
            browser.open("about:blank")
            browser.open(site.url + "#/q/orders/history")
            drawn = browser.until(f"{line}?.includes('L') && {line}")
            heights = {part.split(" ")[1] for part in drawn[1:].split("L")}
    assert len(heights) == 1, heights


def test_the_axis_is_whole_on_a_narrow_phone(page: Browser, site: Site, server: Server) -> None:
    site.post("orders", "messages", body="x")
    page.look(360, 740, phone=True)
    page.run("location.hash = '#/q/orders/history'")
    page.until("document.querySelectorAll('.tick').length > 8")
    cut = (
        "[...document.querySelectorAll('.chart svg:not([hidden])')].flatMap(svg => {"
        "const { left, right } = svg.getBoundingClientRect();"
        "return [...svg.querySelectorAll('text')].filter(text => {"
        "const box = text.getBoundingClientRect();"
        "return box.left < left - 1 || box.right > right + 1 || box.height < 9; })"
        ".map(text => text.textContent); })"
    )
    page.until("document.querySelectorAll('.chart svg:not([hidden])').length >= 4")
    page.until(f"{cut}.length === 0")
    page.look(1280, 900)


def test_a_reader_sees_no_buttons_that_change(browser: Browser, reader: Site) -> None:
    reader.shell("push", "orders", "--id", "m0", "--group", "acme", "x")
    browser.open(reader.url + "#/q/orders/m/m0")
    browser.sees("Deliveries")
    browser.sees("read only")
    assert "Cancel" not in browser.text()
    browser.run("location.hash = '#/q/orders/groups'")
    browser.sees("acme")
    assert "Purge" not in browser.text()
    assert "Hold" not in browser.text()


def test_keys_and_a_phone(page: Browser, site: Site) -> None:
    site.post("orders", "messages", id="m0", body="x")
    page.until("document.querySelector('tbody a')?.textContent === 'orders'")
    for key, seen in [
        ("j", "document.activeElement.textContent === 'orders'"),
        ("/", "document.activeElement.type === 'search'"),
    ]:
        event = f"new KeyboardEvent('keydown', {{ key: '{key}', bubbles: true }})"
        page.run(f"document.activeElement.blur(); document.body.dispatchEvent({event})")
        page.until(seen)
    site.post("orders", "messages", group="g" * 128, body="x")
    site.shell("limit", "orders", "--each-group-backlog", "1000000")
    site.shell("limit", "orders", "--group", "g" * 128, "--weight", "4")
    site.shell("hold", "orders", "--group", "g" * 128, "--duration", "9000h")
    page.look(390, 844, phone=True)
    places = ["#/", "#/workers"]
    places += [f"#/q/orders/{place}" for place in ["ready", "history", "m/m0", "groups"]]
    for place in places:
        page.run(f"location.hash = '{place}'")
        page.until("document.querySelector('main').innerText.length > 10")
        if place.endswith("groups"):
            page.sees("held")
        assert page.run("document.documentElement.scrollWidth") <= 390
    clean(page)
