"""The users of docs/security.md."""

from __future__ import annotations

import re
from pathlib import Path

from private_server import Server

TEXT = (Path(__file__).parents[2] / "docs/security.md").read_text(encoding="utf-8")
LINES = [line.split() for line in re.findall(r"```\n(ACL SETUSER [\s\S]*?)```", TEXT)]


def lines(user: str) -> list[list[str]]:
    """Those of a user, as the document has them one after the other."""
    return [words for words in LINES if words[2] == user]


def has_selectors(server: Server) -> bool:
    info = server.command("INFO", "server")
    assert isinstance(info, bytes)
    found = re.search(rb"redis_version:(\d+)", info)
    assert found
    return int(found[1]) >= 7


def permit(server: Server, these: list[list[str]]) -> None:
    """Sends them to the server, but for selectors where it has none. A selector is one word."""
    for words in these:
        selector = re.search(r"\(.*\)", " ".join(words))
        if not selector:
            server.command(*words)
        elif has_selectors(server):
            server.command(*" ".join(words)[: selector.start()].split(), selector[0])
