"""What Redisson does by itself: the facts on which dueq's side rests."""

from __future__ import annotations

import json
import time

import golden
import pytest
from peers import Peer, PeerError
from wire import Listener, Wire, packed, unpacked, until

HELLO = {"type": "string", "value": "hello"}
KRYO_HELLO = bytes.fromhex("0368656c6cef")
LIST = "redisson_delay_queue:{orders}"
TIMES = "redisson_delay_queue_timeout:{orders}"
CHANNEL = "redisson_delay_queue_channel:{orders}"
QUEUE = {"queue": "orders", "codec": "kryo5"}


def test_offer_writes_two_keys_and_publishes(
    redisson: Peer, redisson_name: str, wire: Wire
) -> None:
    with Listener(wire, CHANNEL) as listener:
        begin = time.time() * 1000
        redisson.ask("offer", **QUEUE, value=HELLO, delay=3_600_000)
        end = time.time() * 1000
        published = listener.message()
    assert wire.keys() == {LIST.encode(), TIMES.encode()}
    assert (wire.kind(LIST), wire.kind(TIMES)) == ("list", "zset")
    [element] = wire.items(LIST)
    assert unpacked(redisson_name, element) == KRYO_HELLO
    [(member, score)] = wire.scores(TIMES)
    assert member == element
    assert score == published
    assert published.isdigit()
    assert begin + 3_600_000 - 1 <= int(score) <= end + 3_600_000


def test_offer_publishes_only_a_new_head(redisson: Peer, wire: Wire) -> None:
    with Listener(wire, CHANNEL) as listener:
        for hours in (2, 3, 1):
            redisson.ask("offer", **QUEUE, value=HELLO, delay=hours * 3_600_000)
        first, second = int(listener.message()), int(listener.message())
        assert second < first
        assert listener.silent(0.2)
    elements = wire.items(LIST)
    assert [member for member, _ in wire.scores(TIMES)] == [elements[i] for i in (2, 0, 1)]


def test_ids_of_elements_differ(redisson: Peer, wire: Wire) -> None:
    for _ in range(5):
        redisson.ask("offer", **QUEUE, value=HELLO, delay=3_600_000)
    assert len(set(wire.items(LIST))) == 5


def test_negative_delay_is_refused(redisson: Peer, wire: Wire) -> None:
    with pytest.raises(PeerError, match="IllegalArgument"):
        redisson.ask("offer", **QUEUE, value=HELLO, delay=-1)
    assert wire.keys() == set()


def test_name_with_braces_is_not_wrapped_again(redisson: Peer, wire: Wire) -> None:
    redisson.ask("offer", queue="a{b}c", codec="kryo5", value=HELLO, delay=3_600_000)
    assert wire.keys() == {
        b"redisson_delay_queue:a{b}c",
        b"redisson_delay_queue_timeout:a{b}c",
    }


def test_one_who_holds_the_queue_transfers_bare_values(redisson: Peer, wire: Wire) -> None:
    redisson.ask("hold", **QUEUE)
    wire.wait_for_subscribers(CHANNEL, 1)
    redisson.ask("offer", **QUEUE, value=HELLO, delay=300)
    until(lambda: wire.items("orders"), "the value is in the destination")
    assert wire.items("orders") == [KRYO_HELLO]
    assert wire.keys() == {b"orders"}


def test_nothing_moves_when_nobody_holds_the_queue(
    redisson: Peer, redisson_name: str, wire: Wire
) -> None:
    element = packed(redisson_name, 1, KRYO_HELLO)
    due = wire.now_ms() + 50
    wire.command("RPUSH", LIST, element)
    wire.command("ZADD", TIMES, due, element)
    wire.command("PUBLISH", CHANNEL, due)
    assert redisson.ask("delayed.size", queue="others", codec="kryo5") == 0
    until(lambda: wire.now_ms() > due + 300, "it is overdue")
    assert wire.keys() == {LIST.encode(), TIMES.encode()}
    redisson.ask("hold", **QUEUE)
    assert redisson.ask("poll", **QUEUE, seconds=10) == HELLO


def test_values_that_a_client_packed_by_hand_are_transferred(
    redisson: Peer, redisson_name: str, wire: Wire
) -> None:
    element = packed(redisson_name, 12345, KRYO_HELLO)
    wire.command("RPUSH", LIST, element)
    wire.command("ZADD", TIMES, wire.now_ms() + 200, element)
    assert redisson.ask("delayed.contains", **QUEUE, value=HELLO) is True
    redisson.ask("hold", **QUEUE)
    assert redisson.ask("poll", **QUEUE, seconds=10) == HELLO


def test_size_peek_poll_remove_go_by_the_order_of_offers(redisson: Peer, wire: Wire) -> None:
    one, two, three = ({"type": "int", "value": number} for number in (1, 2, 3))
    for value, hours in ((one, 3), (two, 2), (three, 1)):
        redisson.ask("offer", **QUEUE, value=value, delay=hours * 3_600_000)
    assert redisson.ask("delayed.size", **QUEUE) == 3
    assert redisson.ask("delayed.peek", **QUEUE) == one
    assert redisson.ask("delayed.poll", **QUEUE) == one
    assert wire.number("ZCARD", TIMES) == 2
    assert redisson.ask("delayed.remove", **QUEUE, value=three) is True
    assert redisson.ask("delayed.remove", **QUEUE, value=three) is False
    assert redisson.ask("delayed.all", **QUEUE) == [two]
    redisson.ask("delayed.clear", **QUEUE)
    assert wire.keys() == set()


def test_one_bad_element_repeats_those_before_it(
    redisson: Peer, redisson_name: str, wire: Wire
) -> None:
    """The flaw that dueq's transfer must not have: see also its own test."""
    good = packed(redisson_name, 1, KRYO_HELLO)
    bad = b"\x08short"
    now = wire.now_ms()
    for element, due in ((good, now - 2), (bad, now - 1)):
        wire.command("RPUSH", LIST, element)
        wire.command("ZADD", TIMES, due, element)
    redisson.ask("hold", **QUEUE)
    until(lambda: wire.items("orders"), "the good one was pushed")
    redisson.ask("release", **QUEUE)
    assert wire.number("ZCARD", TIMES) == 2
    redisson.ask("hold", **QUEUE)
    until(lambda: wire.number("LLEN", "orders") >= 2, "it was pushed again")


def test_codecs_write_what_the_golden_file_has(
    redisson: Peer, redisson_name: str, wire: Wire
) -> None:
    text = (golden.GOLDEN / "redisson_codecs.json").read_text(encoding="ascii")
    codecs = golden.codecs_of(redisson_name)
    cases = [case for case in json.loads(text)["cases"] if case["codec"] in codecs]
    assert list(golden.redisson_cases(redisson, wire, redisson_name)) == cases
