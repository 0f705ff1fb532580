"""What docs/protocol.md lists, against the header, the scripts and the golden tables."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from inside import DOCUMENT, ROOT, golden, section

HEADER = (ROOT / "core/dueq.h").read_text(encoding="utf-8")
VERBS = tomllib.loads((ROOT / "core/verbs.toml").read_text(encoding="utf-8"))
SCRIPTS = [p for house in ("core", "interop") for p in (ROOT / house).glob("scripts/*.lua")]


# Of a verb that is like others the head of its script says all that the document would.
ALIKE = {verb for verb, row in VERBS.items() if "alike" in row}


def about(script: str) -> str:
    """What the document says of a script: a section, or a paragraph that begins with its name."""
    paragraph = re.search(rf"^\*\*{script}\.\*\* .*?(?=^\*\*|\n\n)", DOCUMENT, flags=re.S | re.M)
    return (paragraph[0] if paragraph else section(script)).replace("\n", " ")


def limit(name: str) -> int:
    found = re.search(rf"DUEQ_{name} = (\d+)", HEADER)
    assert found, name
    return int(found[1])


# ---- Tables ----


def test_document_statuses_are_the_header_s() -> None:
    table = re.findall(r"^\| (-?\d+) \| (\w+) \| (yes|) ?\| (.+) \|$", section("Failures"), re.M)
    rows = re.findall(r'X\((-?\d+), (\w+), ([01]),\s*"(.+?)"\)', HEADER)
    assert table == [(code, name, "yes" * int(again), what) for code, name, again, what in rows]


def test_document_refusals_are_the_core_s() -> None:
    shown = {
        "": "STAYS",
        "in waits and loops": "LASTS",
        "in every call": "PASSES",
        "in every call, elsewhere": "MOVES",
    }
    table = re.findall(r"^\| `(.+)` \| (\w+) \| (.*?) ?\|$", section("Failures"), re.M)
    core = (ROOT / "core/net/resp_read.c").read_text(encoding="utf-8")
    rows = re.findall(r'\{"(.+)", DUEQ_(\w+), DUEQ__(\w+)\}', core)
    assert len(rows) > 25
    assert [(mark, status, shown[passing]) for mark, status, passing in table] == rows


def test_document_limits_are_the_header_s() -> None:
    limits = section("Limits")
    for name, shown in {
        "MAX_NAME": "1 to 255 bytes",
        "MAX_ID": "1 to 255 bytes",
        "MAX_HEADERS": "65,535 bytes",
        "MAX_HEADER_NAME": "a name 1 to 255",
        "MAX_BATCH": "1 to 200",
        "MAX_MAX_ATTEMPTS": "1 to 65,535",
        "MAX_ERROR": "4,096 bytes",
        "MAX_BACKOFF_LIST": "a list has 1 to 32",
        "MAX_LOCK_NAME": "1 to 255 bytes",
        "MAX_QUEUES": "1 to 64",
    }.items():
        assert shown.split()[-1 - shown.endswith("bytes")] == f"{limit(name):,}", name
        assert shown in limits
    assert "4,102,444,800,000 ms" in limits
    assert "INT64_C(4102444800000)" in HEADER
    told = section("The past, the info, the reply")
    assert f"for each of the last {limit('MAX_RATES')} minutes" in told
    assert f"Without the field: {limit('DEFAULT_CRASHES')}" in section("The envelope")


def test_document_flags_are_the_core_s() -> None:
    core = (ROOT / "core/queue/message.h").read_text(encoding="utf-8")
    flags = {int(flag) for flag in re.findall(r"DUEQ__FLAG_\w+ = (\d+)", core)}
    row = re.search(r"flags: (.+?); 128 is 0", section("The envelope"))
    assert row
    assert {int(flag) for flag in re.findall(r"\d+", row[1])} == flags


# ---- Scripts ----


@pytest.mark.parametrize(
    "path", [path for path in SCRIPTS if path.stem not in ALIKE], ids=lambda path: path.stem
)
def test_document_keys_are_the_script_s(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    keys = re.findall(r"^-- KEYS\[\d+\] (\w+)", text, re.M)
    found = re.search(r"Keys: ([\w, ]+)([.;])", about(path.stem))
    assert found
    assert found[1].split(", ") == keys
    # Behind a semicolon come those of another queue.
    assert (found[2] == ";") == ("\n-- OTHER " in text)


def test_document_has_no_other_scripts() -> None:
    headings = re.findall(r"^### (\w+)$", section("The verbs"), re.M)
    headings += re.findall(r"^\*\*(\w+)\.\*\* Keys:", section("Locks"), re.M)
    found = set(headings) - ALIKE
    assert found == {path.stem for path in SCRIPTS} - ALIKE | {"queues"}


def test_document_keys_of_another_queue_are_the_scripts() -> None:
    found = re.search(r"in the\s+order ([\w, \n]+)\. Where", section("Keys"))
    library = (ROOT / "core/scripts/lib/other.lua").read_text(encoding="utf-8")
    assert found
    assert re.split(r",\s+", found[1]) == re.findall(r"'(\w+)'", library)


# ---- Golden tables ----


def test_document_lists_the_golden_keys() -> None:
    cells = re.findall(r"^\| (`dueq:.+?) \|", section("Keys"), re.M)
    listed = re.findall(r"`(dueq:\{orders\}:\w+)(?::[A-Z]+)?`", " ".join(cells))
    assert sorted(listed) == sorted(row[2] for row in golden("keys") if row[0] == "orders")


def test_document_shows_golden_ids() -> None:
    ids = section("Ids, stamps and tickets")
    shown = re.findall(r"^\| `(\w+)` \| (\d+)(?: \(.+\))? \|$", ids, re.M)
    assert len(shown) == 4
    for id, milliseconds in shown:
        assert [id, milliseconds] in golden("ids")


def test_document_shows_golden_tickets() -> None:
    row = r"^\| `(.+?)` \| (\d+) \| `?(\w*)`? ?\| (high|normal|low) \| `(.+?)` \|$"
    shown = re.findall(row, section("Ids, stamps and tickets"), re.M)
    assert len(shown) == 6
    for ticket, before, stamp, priority, id in shown:
        tag = stamp + {"high": "h", "normal": "", "low": "l"}[priority]
        assert [ticket, before, tag or "-", id] in golden("tickets")


def test_document_shows_golden_envelopes() -> None:
    known = [row[-1] for row in golden("envelopes") + golden("policies")]
    shown = re.findall(r"^\| .+ \| `(d1 [0-9a-f ]+)` \|$", section("The envelope"), re.M)
    assert len(shown) == 8
    for envelope in shown:
        assert envelope.replace(" ", "") in known
