"""A queue that a newer dueq has upgraded: each command says so, and changes nothing."""

import pytest

from newer_version import REFUSAL, downgrade, upgrade
from private_server import Server

from .program import Program

COMMANDS = {
    "push": ["x"],
    "push --delay": ["x", "--delay", "1s"],
    "push --id": ["x", "--id", "new"],
    "push --replace": ["x", "--id", "later", "--replace"],
    "reserve": [],
    "reserve --wait": ["--wait", "1m"],
    "work": ["--", "true"],
    "ack": ["TICKET"],
    "ack --push": ["TICKET", "--push", "x"],
    "ack --to": ["TICKET", "--push", "x", "--to", "others"],
    "retry": ["TICKET"],
    "release": ["TICKET"],
    "extend": ["TICKET"],
    "bury": ["TICKET"],
    "cancel": ["later"],
    "reschedule": ["later", "--delay", "1s"],
    "kick": ["later"],
    "kill": ["later"],
    "find": ["later"],
    "peek": ["delayed"],
    "stats": [],
    "rates": [],
    "workers": [],
    "failures": [],
    "groups": [],
    "inspect": ["later"],
    "running": [],
    "check": [],
    "check --repair": [],
    "pause": [],
    "resume": [],
    "purge": ["ready", "--yes"],
    "purge --group": ["--group", "a", "--yes"],
    "remove": ["--yes"],
    "schedule add": ["nightly", "@daily", "x"],
    "schedule list": [],
    "schedule pause": ["nightly"],
    "schedule resume": ["nightly"],
    "schedule run": ["nightly"],
    "schedule remove": ["nightly"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_newer_queue(dueq: Program, server: Server, command: str) -> None:
    verb, *more = command.split()
    dueq("push", "orders", "a")
    ticket = dueq.take()
    dueq("push", "orders", "b")
    dueq("push", "orders", "c", "--id", "later", "--delay", "1h")
    upgrade(server, "orders")
    words = [ticket if word == "TICKET" else word for word in COMMANDS[command]]
    subverb = more if verb == "schedule" else []
    options = [] if subverb else [option for option in more if option not in words]
    ended = dueq.run(verb, *subverb, "orders", *options, *words)
    assert ended.err.startswith("dueq: LAYOUT: ")
    assert REFUSAL.format("orders") in ended.err
    assert "--layout" not in ended.err
    # purge says how far it came.
    assert (ended.code, ended.out) == (4, b"0\n" if verb == "purge" else b"")
    assert downgrade(server, "orders") == []
