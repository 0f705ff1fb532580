"""What core/options makes of the table of an option, of which each face has its part."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "core"))

from options import c, documents, php, python, shell  # type: ignore[import-not-found]  # noqa: E402
from options.kinds import KINDS  # type: ignore[import-not-found]  # noqa: E402
from options.model import Options  # type: ignore[import-not-found]  # noqa: E402
from text import arguments, filled  # type: ignore[import-not-found]  # noqa: E402

ROWS = tomllib.loads((ROOT / "core/options.toml").read_text(encoding="utf-8"))
ALL = [(verb, name) for verb, rows in ROWS.items() for name in rows]


def made(row: str, verb: str = "push") -> Options:
    """Of one option of a verb, by its table."""
    table = {"group": "x", "doc": "it begins slowly", **tomllib.loads(row)}
    return Options(verb, {"slow_start": table})


SPAN = """
kind = "span"
range = ["the slow start", "0", "UINT32_MAX"]
c = "Up to UINT32_MAX; 0: none."
none = "at once"
shell = "begin slowly"
"""
COUNT = """
kind = "count"
range = ["the slow start", "1", "DUEQ_MAX_BATCH"]
php_range = "be from 1 to 200"
value = "1"
shell = "begin slowly"
"""


@pytest.mark.parametrize(("verb", "option"), ALL)
def test_option_is_of_a_kind(verb: str, option: str) -> None:
    assert ROWS[verb][option]["kind"] in KINDS


def test_option_in_c() -> None:
    of = made(SPAN)
    member = "    /* Up to UINT32_MAX; 0: none. */\n    int64_t slow_start_ms;\n"
    assert c.members(of) == member
    ranges = '        {"the slow start", " ms", draft->slow_start_ms, 0, UINT32_MAX}};\n'
    assert ranges in c.checks(of)
    assert c.defaults(of) == "#define DUEQ_DRAFT {.struct_size = sizeof(dueq_draft)}\n"


def test_option_of_consume_in_c() -> None:
    of = made(COUNT, "consume")
    assert c.members(of) == "    size_t slow_start;\n"
    ranges = '{"the slow start", NULL, (int64_t)options->slow_start, 1, DUEQ_MAX_BATCH}};\n'
    assert ranges in c.checks(of)
    assert "return dueq__ranges_check(ranges, sizeof ranges / sizeof *ranges, error);" in c.checks(
        of
    )
    assert ".slow_start = 1}" in c.defaults(of)


def test_default_of_many_options_has_lines() -> None:
    row = {"kind": "limit", "of_one": "none", "constant": "DEFAULT_OF_A_LIMIT", "doc": "x"}
    lines = c.defaults(Options("push", {"slow_start": row, "slow_end": row})).splitlines()
    assert [line.rstrip("\\ ") for line in lines] == [
        "#define DUEQ_DRAFT",
        "    {.struct_size = sizeof(dueq_draft),",
        "     .slow_start = DUEQ_DEFAULT_OF_A_LIMIT,",
        "     .slow_end = DUEQ_DEFAULT_OF_A_LIMIT}",
    ]


def test_option_in_python() -> None:
    of = made(SPAN)
    assert python.keywords(of) == "    slow_start: float | timedelta | None\n"
    assert "    slow_start    it begins slowly; None: at once\n" in python.fields(of)
    read = '    "slow_start": (1, lambda value: limit_ms(value, "slow_start")),\n'
    assert read in python.draft_row(of)
    assert "long long slow_start_ms;" in python.fill(of)
    assert '"OL:draft", &body, &slow_start_ms))' in python.fill(of)


def test_option_of_consume_in_python() -> None:
    of = made(COUNT, "consume")
    assert "        slow_start: int = 1,\n    ) -> Consumer:\n" in python.consume(of)
    assert "        slow_start  it begins slowly\n" in python.consume(of)
    assert '            counted(slow_start, "slow_start"),\n' in python.consume(of)
    assert python.row_type(of).endswith("ConsumeRow: TypeAlias = tuple[\n    int,\n]\n")
    assert '(row, "n:consumer_options", &slow_start))' in python.fill(of)
    assert "    options->slow_start = (size_t)slow_start;\n" in python.fill(of)


def test_argument_of_another_function_is_no_member() -> None:
    row = 'kind = "patience"\nargument_of = "dueq_consumer_next"\nvalue = "INF"\nshell = "wait"'
    of = made(row, "consume")
    assert not c.members(of)
    assert "int64_t *slow_start_ms, int option" in shell.cases(of)
    assert "        *slow_start_ms = cli_patience(cli, given);\n" in shell.cases(of)
    assert "slow_start, slow_start_ms)) {\n" in php.reads(of)
    assert "return self._consumer(row, patience_ms(slow_start))\n" in python.consume(of)
    assert "        slow_start: float | timedelta | None = None,\n" in python.consume(of)


def test_option_in_php() -> None:
    of = made(SPAN)
    assert '    KEY("slowStart", VALUE, slow_start),\n' in php.keys(of)
    place = 'DUEQ_PHP_PLACE(2, item, "slowStart")'
    assert f"    if (!dueq_php_limit({place}, fields->slow_start,\n" in php.push_reads(of)
    param = (
        "         * @param float|\\DateInterval|null $slowStart it begins slowly; null: at once\n"
    )
    assert php.param(of.all[0], True) == param
    declared = "float|\\DateInterval|null $slowStart = null"
    assert php.parameter(of.all[0], "push") == declared


def test_option_of_consume_in_php() -> None:
    text = php.reads(made(COUNT, "consume"))
    assert "    zend_long slow_start = 1;\n" in text
    assert "    ZEND_PARSE_PARAMETERS_START(0, 1)\n" in text
    assert "        Z_PARAM_LONG(slow_start)\n" in text
    assert 'DUEQ_PHP_PLACE(1, -1, "slowStart"), slow_start, 1, DUEQ_MAX_BATCH,\n' in text
    assert "    options->slow_start = (size_t)slow_start;\n" in text


MANY = COUNT + "many = true\n"


def reserve_of_many() -> Options:
    """Of an option that only methods of several messages have, and one that all have."""
    rows = {"most": tomllib.loads(MANY), "slow_start": tomllib.loads(SPAN)}
    return Options("reserve", {name: {"doc": "x", **row} for name, row in rows.items()})


def test_option_of_several_messages_in_python() -> None:
    one, several = python.reserve(reserve_of_many()).split("    async def reserve_many(\n")
    assert "most" not in one
    assert "        row = (\n            1,\n            limit_ms(slow_start" in one
    assert (
        "        self,\n        most: int,\n        slow_start: float | timedelta | None = "
        in several
    )
    assert '            counted(most, "most"),\n' in several


def test_option_of_several_messages_in_php() -> None:
    text = php.reads(reserve_of_many())
    assert "dueq_php_reserve_read(zend_execute_data *execute_data, bool many,\n" in text
    assert "    ZEND_PARSE_PARAMETERS_START(many, many + 1)\n        if (many) {\n" in text
    assert 'DUEQ_PHP_PLACE(many, -1, "most")' in text
    assert 'DUEQ_PHP_PLACE(many + 1, -1, "slowStart")' in text
    one = """
        public function reserve(
            int $slowStart = 1
        ): Message;
"""
    several = one.replace("reserve(", "reserveMany(").replace("(\n", "(\n            int $most,\n")
    stub = php.stub(one + several, reserve_of_many())
    assert "reserve(\n            float|\\DateInterval|null $slowStart = null\n        )" in stub
    assert "reserveMany(\n            int $most,\n            float|" in stub


def test_defaults_of_php_are_compared_with_those_of_c() -> None:
    row = 'kind = "preset"\nconstant = "START_MS"\nvalue = "1.5"'
    assert php.asserts(made(row, "consume")) == (
        '_Static_assert(DUEQ_START_MS == 1500, "the stub names this default of consume()");\n'
    )


def test_option_in_the_shell() -> None:
    of = made(SPAN)
    text = shell.declarations(of)
    assert '    {"slow-start", required_argument, NULL, DRAFT_SLOW_START}\n' in text
    assert '    "  --slow-start DURATION\\n"' in text
    read = '        draft->slow_start_ms = cli_duration(cli, "slow-start", given);\n'
    assert read in shell.cases(of)
    assert not made(SPAN.partition("shell")[0]).shell


def test_option_of_consume_in_the_shell() -> None:
    text = shell.command(made(COUNT, "consume"))
    assert '    {"slow-start", required_argument, NULL, CONSUME_SLOW_START}\n' in text
    assert '    "  --slow-start N          begin slowly\\n"\n' in text
    call = 'options->slow_start = (size_t)cli_number(cli, "slow-start", given, 1, DUEQ_MAX_BATCH);'
    assert call in text


def test_option_in_documents() -> None:
    row = "| `slow_start`, `slowStart`, `--slow-start` | it begins slowly | at once |\n"
    assert documents.table(made(SPAN)).endswith(row)


def test_option_of_another_name_in_the_shell() -> None:
    of = made(SPAN + 'shell_name = "wait"')
    assert documents.table(of).endswith("`--wait` | it begins slowly | at once |\n")
    assert '    {"wait", required_argument, NULL, DRAFT_SLOW_START}\n' in shell.declarations(of)


def test_text_is_copied_and_bounded() -> None:
    of = made('kind = "text"\nrange = ["the start", "DUEQ_MAX_ID"]')
    made_of = c.checks(of)
    assert "offsetof(dueq_draft, slow_start)}" in made_of
    assert 'dueq__text_check("the start", draft->slow_start, DUEQ_MAX_ID, error);' in made_of


def test_stub_of_php_has_the_parameters_in_each_class() -> None:
    old = """
        /**
         * Stores.
         *
         * @param string $body any bytes
         * @param int $gone of an option that went,
         *     in two lines
         * @return string
         */
        public function push(
            string $body,
            int $gone = 0
        ): string {}

        /**
         * @param array<string> $gone
         */
        public function push(
            string $body,
            int $gone = 0
        ): int;

        public function push(
            mixed $value
        ): int;
"""
    text = php.stub(old, made('kind = "flag"'))
    assert "gone" not in text
    assert text.count("            bool $slowStart = false\n        )") == 2
    assert text.count("@param bool $slowStart it begins slowly\n") == 1
    assert "            mixed $value\n" in text


def test_stub_of_php_without_comments_has_the_parameters() -> None:
    old = """
        public function consume(
            int $slowStart = 1,
            int $gone = 0
        ): Consumer {}
"""
    text = php.stub(old, made(COUNT, "consume"))
    assert text == old.replace("1,\n            int $gone = 0", "1")


def test_call_is_broken_behind_its_arguments() -> None:
    assert arguments('one(two, 3), "four, 5", six') == ["one(two, 3)", '"four, 5"', "six"]
    lines = filled("call(", ["a" * 60, "b" * 60], ");").splitlines()
    assert lines == [f"call({'a' * 60},", f"     {'b' * 60});"]
