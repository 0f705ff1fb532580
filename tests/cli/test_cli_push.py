import os
import signal

import pytest

from .program import Program

YEAR_2099 = 4070908800


def test_push_prints_the_id(dueq: Program) -> None:
    pushed = dueq("push", "orders", "hello")
    (made,) = pushed.lines
    found = dueq("find", "orders", made, "--json").object
    assert (found["state"], found["body"], found["headers"]) == ("ready", "hello", {})
    assert (found["attempt"], found["max_attempts"]) == (0, 16)


@pytest.mark.parametrize("words", [[], ["-"]])
def test_push_from_standard_input(dueq: Program, words: list[str]) -> None:
    body = b"line\n\0\xff\r\n"
    dueq("push", "orders", *words, stdin=body)
    assert dueq("reserve", "orders", "--ack", "--body").out == body


def test_push_with_a_group(dueq: Program) -> None:
    for body, words in {
        "a1": ["--group", "a b"],
        "a2": ["--group", "a b"],
        "b": ["--group=c"],
    }.items():
        dueq("push", "orders", body, *words)
    taken = dueq("reserve", "orders", "--count", "3", "--json").objects
    assert [(message["body"], message["group"]) for message in taken] == [
        ("a1", "a b"),
        ("b", "c"),
        ("a2", "a b"),
    ]


def test_push_with_no_bytes(dueq: Program) -> None:
    dueq("push", "orders", "")
    dueq("push", "orders")
    taken = dueq("reserve", "orders", "--count", "5", "--json").objects
    assert [message["body"] for message in taken] == ["", ""]


def test_push_with_all_options(dueq: Program) -> None:
    words = ["--id", "invoice 7", "--max-attempts", "2", "--lease", "90s", "--header", "a=1"]
    dueq("push", "orders", "pay", "--delay=1h", *words, "--header", "ü=x=ÿ")
    found = dueq("find", "orders", "invoice 7", "--json").object
    assert found["state"] == "delayed"
    assert found["max_attempts"] == 2
    assert found["headers"] == {"a": "1", "ü": "x=ÿ"}


@pytest.mark.parametrize(
    ("delay", "ms"),
    [
        ("90", 90_000),
        ("1.5", 1_500),
        ("2500ms", 2_500),
        ("1.5s", 1_500),
        ("30m", 1_800_000),
        ("2h", 7_200_000),
        ("1h30m", 5_400_000),
        ("7d", 604_800_000),
        (".5h", 1_800_000),
    ],
)
def test_push_delayed(dueq: Program, delay: str, ms: int) -> None:
    dueq("push", "orders", "later", "--id", "x", "--delay", delay)
    found = dueq("find", "orders", "x", "--json").object
    left = found["time_ms"] - found["now_ms"]
    assert ms - 1_000 < left <= ms


@pytest.mark.parametrize(
    ("at", "ms"),
    [
        (str(YEAR_2099), YEAR_2099 * 1000),
        (f"{YEAR_2099}.25", YEAR_2099 * 1000 + 250),
        ("2099-01-01T00:00:00Z", YEAR_2099 * 1000),
        ("2099-01-01 00:00:00Z", YEAR_2099 * 1000),
        ("2099-01-01T01:30:00.5+01:30", YEAR_2099 * 1000 + 500),
        ("2098-12-31T22:00:00-0200", YEAR_2099 * 1000),
    ],
)
def test_push_at_a_time(dueq: Program, at: str, ms: int) -> None:
    dueq("push", "orders", "later", "--id", "x", "--at", at)
    assert dueq("find", "orders", "x", "--json").object["time_ms"] == ms


@pytest.mark.parametrize(
    "words",
    [
        ["--delay", "soon"],
        ["--delay", "-1s"],
        ["--delay", "1x"],
        ["--delay", "1s1"],
        ["--delay", ""],
        ["--delay", "99999d"],
        ["--at", "tomorrow"],
        ["--at", "2099-02-30T00:00:00Z"],
        ["--at", "2099-01-01T00:00:00"],
        ["--at", "2099-01-01"],
        ["--at", "1800000000000"],
        ["--at", str(YEAR_2099), "--delay", "1s"],
        ["--max-attempts", "-1"],
        ["--max-attempts", "65536"],
        ["--max-attempts", "few"],
        ["--max-attempts", "0"],
        ["--max-crashes", "0"],
        ["--header", "novalue"],
        ["--id", ""],
        ["--lines", "--id", "x"],
        ["--priority", "urgent"],
        ["--ttl", "never"],
        ["--max-crashes", "65536"],
        ["--drop", "--dead-letter", "failed"],
        ["--unique", "1h"],
        ["--replace"],
        ["--replace=all", "--id", "x"],
        ["--nonsense"],
        ["two", "words"],
    ],
)
def test_push_with_wrong_arguments(dueq: Program, words: list[str]) -> None:
    ended = dueq.run("push", "orders", "body", *words)
    assert ended.code == 2
    assert ended.out == b""
    assert ended.err.startswith("dueq: ")
    assert "dueq push --help" in ended.err
    assert dueq("stats", "orders", "--json").object["ready"] == 0


@pytest.mark.parametrize(
    ("option", "of_one"),
    [("--max-attempts", "no retry"), ("--max-crashes", "no second delivery after one")],
)
def test_push_with_a_limit_of_zero_says_what_is_meant(
    dueq: Program, option: str, of_one: str
) -> None:
    ended = dueq.run("push", "orders", "body", option, "0")
    wanted = f"dueq: {option} 0: use none for no limit, 1 for {of_one}"
    assert ended.err.splitlines()[0] == wanted


def test_push_with_a_used_id(dueq: Program) -> None:
    dueq("push", "orders", "first", "--id", "x")
    again = dueq.run("push", "orders", "second", "--id", "x")
    assert (again.code, again.out) == (1, b"")
    assert again.err.startswith("dueq: DUPLICATE: x: ")
    again = dueq.run("push", "orders", "second", "--id", "x", "--json")
    assert (again.code, again.object) == (1, {"id": "x", "status": "DUPLICATE"})


def test_push_of_a_wrong_queue_name(dueq: Program) -> None:
    ended = dueq.run("push", "or{d}ers", "body")
    assert ended.code == 2
    assert ended.err.startswith("dueq: NAME: ")


def test_push_lines(dueq: Program) -> None:
    bodies = [f"line {number}" for number in range(500)] + ["", "no newline at the end"]
    pushed = dueq("push", "orders", "--lines", stdin="\n".join(bodies).encode())
    assert len(set(pushed.lines)) == len(bodies)
    taken: list[str] = []
    while len(taken) < len(bodies):
        ended = dueq("reserve", "orders", "--count", "200", "--ack", "--json")
        taken += [message["body"] for message in ended.objects]
    assert taken == bodies


def test_push_lines_larger_than_a_batch(dueq: Program) -> None:
    bodies = ["x" * 3_000_000, "small", "y" * 1_500_000]
    dueq("push", "orders", "--lines", "--delay", "0", stdin="\n".join(bodies).encode())
    taken = dueq("reserve", "orders", "--count", "9", "--ack", "--json").objects
    assert [message["body"] for message in taken] == bodies


def test_push_lines_as_they_come(dueq: Program) -> None:
    with dueq.start("push", "orders", "--lines", "--json") as process:
        assert process.stdin
        assert process.stdout
        for body in (b"one\n", b"two\n"):
            process.stdin.write(body)
            process.stdin.flush()
            assert b'"OK"' in process.stdout.readline()
        assert dueq("stats", "orders", "--json").object["ready"] == 2
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 128 + signal.SIGTERM


def test_push_lines_to_a_closed_pipe(dueq: Program) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with open(write_end, "wb") as gone:
        process = dueq.start("push", "orders", "--lines", stdout=gone)
    with process:
        _, err = process.communicate(b"one\n", timeout=60)
    assert process.returncode == 128 + signal.SIGPIPE
    assert b"Broken pipe" in err


def test_push_of_a_line_without_an_end(dueq: Program) -> None:
    with (
        open("/dev/zero", "rb") as endless,
        dueq.start("push", "orders", "--lines", stdin=endless) as process,
    ):
        _, err = process.communicate(timeout=60)
    assert process.returncode == 4
    assert b"a line is longer than a message may be" in err
