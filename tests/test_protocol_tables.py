"""What the documents list, against the header, the scripts and the golden tables."""

from __future__ import annotations

import re
from pathlib import Path

from inside import ROOT, golden, section

HEADER = (ROOT / "core/dueq.h").read_text(encoding="utf-8")
SCRIPTS = [p for house in ("core", "interop") for p in (ROOT / house).glob("scripts/*.lua")]


def flat(heading: str) -> str:
    """A section in one line."""
    return " ".join(section(heading).split())


def limit(name: str) -> int:
    found = re.search(rf"DUEQ_{name} = (\d+)", HEADER)
    assert found, name
    return int(found[1])


# ---- Tables ----


def test_document_statuses_of_scripts_are_the_header_s() -> None:
    rows = re.findall(r"X\((-?\d+), (\w+), [01],", HEADER)
    code = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "core/scripts").rglob("*.lua"))
    used = set(re.findall(r"\bDUEQ_([A-Z_]+)\b", code))
    shown = re.findall(r"\b(\d) ([A-Z_]+)", flat("Failures"))
    assert shown == [(number, name) for number, name in rows if name in used]


def test_document_refusals_are_the_core_s() -> None:
    shown = {
        "": "PERMANENT",
        "in waits and loops": "UNTIL_FIXED",
        "in every call": "TRANSIENT",
        "in every call, elsewhere": "FAILOVER",
    }
    table = re.findall(r"^\| (`.+`) \| (\w+) \| (.*?) ?\|$", section("Failures"), re.M)
    marks = [(mark, row[1], row[2]) for row in table for mark in re.findall("`(.+?)`", row[0])]
    core = (ROOT / "core/net/resp_read.c").read_text(encoding="utf-8")
    rows = re.findall(r'\{"(.+)", DUEQ_(\w+), DUEQ__(\w+)\}', core)
    assert len(rows) > 25
    assert [(mark, status, shown[recovery]) for mark, status, recovery in marks] == rows


def test_document_forms_of_arguments_are_the_golden_table_s() -> None:
    shown = re.findall(r"^\| `(\w+)`", section("Arguments of tasks"), re.M)
    assert shown == list(dict.fromkeys(row[0] for row in golden("arguments")))


def test_document_limits_are_the_header_s() -> None:
    limits = section("Limits")
    for name, shown in {
        "MAX_NAME": "1 to 255 bytes",
        "MAX_ID": "1 to 255 bytes",
        "MAX_HEADERS": "65,535 bytes",
        "MAX_HEADER_NAME": "a name 1 to 255",
        "MAX_BATCH": "1 to 200",
        "MAX_QUEUES": "1 to 1,024",
        "MAX_MAX_ATTEMPTS": "1 to 65,535",
        "MAX_ERROR": "4,096 bytes",
        "MAX_BACKOFF_LIST": "a list has 1 to 32",
        "MAX_LOCK_NAME": "1 to 255 bytes",
        "MAX_SCHEDULE": "1 to 200 bytes",
    }.items():
        assert shown.split()[-1 - shown.endswith("bytes")] == f"{limit(name):,}", name
        assert shown in limits
    assert "4,102,444,800,000 ms" in limits
    assert "INT64_C(4102444800000)" in HEADER
    told = flat("Attempts, meta, rates, reply")
    assert f"for each of the last {limit('MAX_RATES')} minutes" in told
    assert f"`slack` (0 to {limit('MAX_SLACK_MS')} ms)" in flat("Waiting")
    envelope = section("The envelope")
    assert f"Without the field: {limit('DEFAULT_CRASHES')}" in envelope
    base, cap = limit("DEFAULT_BACKOFF_BASE_MS"), limit("DEFAULT_BACKOFF_CAP_MS")
    assert f"Without the field: 3, 2, {base}, {cap} |" in envelope
    deaths = flat("Attempts, crashes and death")
    assert f"have failed ({limit('DEFAULT_ATTEMPTS')} by default)" in deaths
    assert f"have crashed ({limit('DEFAULT_CRASHES')} by default)" in deaths
    assert f"from {base // 1000} s to {cap // 3600000} h, with equal jitter" in deaths


def test_document_flags_are_the_core_s() -> None:
    core = (ROOT / "core/verbs/message.h").read_text(encoding="utf-8")
    flags = {int(flag) for flag in re.findall(r"DUEQ__FLAG_\w+ =\s+(\d+)", core)}
    row = re.search(r"flags: (.+?) \|", section("The envelope"))
    assert row
    assert {int(flag) for flag in re.findall(r"\d+", row[1])} == flags


# ---- Scripts ----

# Where a script's name is bold.
VERBS_IN = ["The verbs", "The outbox", "Leases and locks"]
NAMES = {path.stem for path in SCRIPTS}


def head(path: Path) -> str:
    """What a script says of itself, in one line."""
    comment = re.split(r"^(?!--)", path.read_text(encoding="utf-8"), maxsplit=1, flags=re.M)[0]
    return " ".join(comment.split())


HEADS = {path.stem: head(path) for path in SCRIPTS}


def test_document_says_what_each_script_does() -> None:
    told = " ".join(map(flat, ["The scripts", "Check", *VERBS_IN]))
    assert {name for name in NAMES if re.search(rf"\b{name}\b", told)} == NAMES


def test_document_names_no_other_scripts() -> None:
    named = re.findall(r"\*\*([a-z]+(?:_[a-z]+)*)\.?\*\*", "".join(map(section, VERBS_IN)))
    assert len(named) > 20
    # unlock is a relock for 0 ms, fire an ack_push, ack_result an ack_end.
    assert set(named) - NAMES == {"queues", "fire", "unlock", "ack_result"}


def test_document_says_which_scripts_keep_no_answer() -> None:
    found = re.search(r"else `0`\. (.+?) keep no answer", flat("The scripts"))
    assert found
    told = set(re.findall(r"\w+", found[1])) - {"and"}
    keepers = {name for name in NAMES if re.search(r"-- keys [\w ]+ reply\b", HEADS[name])}
    assert NAMES - told == keepers - {"recall"}
    assert {name for name in NAMES if "-- args alone:" in HEADS[name]} | {
        "stats",
        "limits",
        "recall_foreign",
    } == told


def test_document_says_which_scripts_pass_on() -> None:
    found = re.search(
        r"\*\* (.+?) handle the usual .+? client runs (.+?) instead", flat("The scripts")
    )
    assert found
    fast, full = (re.findall(r"\b(?!and\b|or\b)\w+", part) for part in found.groups())
    passing = {name: re.search(r"passes on to (\w+)", text) for name, text in HEADS.items()}
    told = dict(zip(fast, full, strict=True))
    # The text about reserve_groups_full says that these two pass on to each other, that about the
    # order of groups says it of the third.
    told |= {"reserve_full": "reserve_groups_full", "reserve_groups_full": "reserve_full"}
    told |= {"push_group": "push_group_sort"}
    assert told == {k: m[1] for k, m in passing.items() if m}


def test_document_has_the_times_of_the_relay() -> None:
    core = (ROOT / "core/verbs/outbox.c").read_text(encoding="utf-8")
    numbers = dict(re.findall(r"^#define (\w+) (\d+)$", core, re.M))
    told = flat("The outbox")
    for name, shown, unit in [
        ("LEASE_MS", "a lease of {} s", 1000),
        ("MARGIN_MS", "later than {} s before its lease's end", 1000),
        ("MOST", "up to {} entries", 1),
        ("PATIENCE_MS", "without an answer for {} s", 1000),
    ]:
        assert shown.format(int(numbers[name]) // unit) in told, name
    assert (numbers["AHEAD_MS"], numbers["MOST_ROUNDS"]) == ("1000", "10")
    assert "due in a second" in told
    assert "up to ten rounds" in told


# ---- Golden tables ----


def test_document_lists_the_golden_keys() -> None:
    cells = re.findall(r"^\| (`dueq:.+?) \|", section("Keys"), re.M)
    listed = re.findall(r"`(dueq:\{orders\}:\w+)(?::[A-Z]+)?`", " ".join(cells))
    assert sorted(listed) == sorted(row[2] for row in golden("keys") if row[0] == "orders")


def test_document_shows_golden_ids() -> None:
    told = re.search(
        r"`(\w+)` and `(\w+)` are of the millisecond (\d+)", flat("Ids, incarnations and tickets")
    )
    assert told
    for id in told[1], told[2]:
        assert [id, told[3]] in golden("ids")


def test_document_shows_golden_tickets() -> None:
    row = r"^\| `(.+?)` \| (\d+) \| `?(\w*)`? ?\| (high|normal|low) \| `(.+?)` \|$"
    shown = re.findall(row, section("Ids, incarnations and tickets"), re.M)
    assert len(shown) == 4
    for ticket, deliveries, incarnation, priority, id in shown:
        suffix = incarnation + {"high": "h", "normal": "", "low": "l"}[priority]
        assert [ticket, deliveries, suffix or "-", id] in golden("tickets")


def test_document_shows_golden_envelopes() -> None:
    known = [row[-1] for row in golden("envelopes") + golden("policies")]
    shown = re.findall(r"^\| .+ \| `(d1 [0-9a-f ]+)` \|$", section("The envelope"), re.M)
    assert len(shown) == 6
    for envelope in shown:
        assert envelope.replace(" ", "") in known
