"""What core/options.py makes of an option's table, of which each face has its part."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "core"))

import options  # type: ignore[import-not-found]  # noqa: E402

ROWS = tomllib.loads((ROOT / "core/verbs.toml").read_text(encoding="utf-8"))["push"]["options"]


def made(row: str) -> options.Options:
    """Of one option, by its table."""
    table = {"group": "x", "doc": "it begins slowly", **tomllib.loads(row)}
    return options.Options({"slow_start": table})


SPAN = """
kind = "span"
range = ["the slow start", "0", "UINT32_MAX"]
c = "Up to UINT32_MAX; 0: none."
none = "at once"
shell = "begin slowly"
"""


@pytest.mark.parametrize("option", ROWS)
def test_option_is_of_a_kind(option: str) -> None:
    assert ROWS[option]["kind"] in options.KINDS


def test_option_in_c() -> None:
    of = made(SPAN)
    member = "    /* Up to UINT32_MAX; 0: none. */\n    int64_t slow_start_ms;\n"
    assert options.members(of) == member
    ranges = '        {"the slow start", " ms", draft->slow_start_ms, 0, UINT32_MAX}};\n'
    assert ranges in options.checks(of)


def test_option_in_python() -> None:
    of = made(SPAN)
    assert options.python_options(of) == "    slow_start: float | timedelta | None\n"
    assert "    slow_start    it begins slowly; None: at once\n" in options.python_fields(of)
    assert '            limit_ms(self.slow_start, "slow_start"),\n' in options.python_row(of)
    assert "long long slow_start_ms;" in options.swig_fill(of)
    assert '"OL:draft", &body, &slow_start_ms))' in options.swig_fill(of)


def test_option_in_php() -> None:
    of = made(SPAN)
    assert '    KEY("slowStart", VALUE, slow_start),\n' in options.php_keys(of)
    fill = '    if (!fill_span(&draft->slow_start_ms, fields->slow_start, "slowStart", item)) {\n'
    assert fill in options.php_reads(of)
    param = " * @param float|\\DateInterval|null $slowStart it begins slowly; null: at once\n"
    assert options.php_param(of.all[0], True).lstrip(" ") == param.lstrip(" ")
    declared = "float|\\DateInterval|null $slowStart = null"
    assert options.php_parameter(of.all[0]) == declared


def test_option_in_the_shell() -> None:
    of = made(SPAN)
    shell = options.shell_enum(of)
    assert '    {"slow-start", required_argument, NULL, DRAFT_SLOW_START}\n' in shell
    assert '    "  --slow-start DURATION\\n"' in shell
    read = '        draft->slow_start_ms = cli_duration(cli, "slow-start", given);\n'
    assert read in options.shell_cases(of)
    assert not made(SPAN.partition("shell")[0]).shell


def test_option_in_documents() -> None:
    row = "| `slow_start`, `slowStart`, `--slow-start` | it begins slowly | at once |\n"
    assert options.table(made(SPAN)).endswith(row)


def test_text_is_copied_and_bounded() -> None:
    of = made('kind = "text"\nrange = ["the start", "DUEQ_MAX_ID"]')
    made_of = options.checks(of)
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
"""
    text = options.php_stub(old, made('kind = "flag"'))
    assert "gone" not in text
    assert text.count("            bool $slowStart = false\n        )") == 2
    assert text.count("@param bool $slowStart it begins slowly\n") == 1
