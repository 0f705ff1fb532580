"""What core/results.py makes of a field's row, of which each face has its part."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "core"))

import results  # type: ignore[import-not-found]  # noqa: E402
from verbs import RESULTS  # type: ignore[import-not-found]  # noqa: E402

KINDS = {field.kind for result in RESULTS for field in result.fields}
# cli/print_message.c writes the JSON of messages by hand.
IN_JSON = {field.kind for each in RESULTS if each.name != "message" for field in each.fields}


def made(*rows: str) -> results.Result:
    """A result of two fields around those given."""
    lines = "\n".join(rows)
    table = f"""
header = "core/dueq.h"
module = "stats"
class = "Belt"
[fields]
name = ["text", "Its name."]
{lines}
speed = ["sum", "How fast."]
"""
    return results.Result("belt", tomllib.loads(table))


SLOW = 'slow_start = ["maybe_time", "When it began slowly.", "it did not"]'


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_each_face_has_a_macro_for_a_kind(kind: str) -> None:
    macro = results.KINDS[kind].macro or kind.upper()
    faces = {"swig": "ROW", "bindings/php": "MAKE"} | ({"cli": "JSON"} if kind in IN_JSON else {})
    for folder, prefix in faces.items():
        sources = [path for path in (ROOT / folder).iterdir() if path.suffix in {".i", ".c", ".h"}]
        text = "".join(path.read_text(encoding="utf-8") for path in sources)
        assert f"#define {prefix}_{macro}(" in text, folder


def test_field_in_c() -> None:
    of = made(SLOW)
    member = "    int64_t slow_start_ms; /* when it began slowly; 0: it did not */\n"
    assert member in results.members(of)
    assert "    int64_t speed;         /* how fast */\n" in results.members(of)
    listed = (
        "#define DUEQ_BELT_FIELDS(X) \\\n    X(TEXT, name) \\\n    X(MAYBE_TIME, slow_start_ms)"
    )
    assert f"{listed} \\\n    X(COUNT, speed)\n" in results.lists([of])
    assert results.lists([of]).endswith("#define DUEQ_BELT_SUMS(X) \\\n    X(speed)")


def test_field_in_python() -> None:
    of = made(SLOW)
    text = '    slow_start: datetime | None\n    """When it began slowly. None: it did not."""\n'
    assert text in results.python_fields(of)
    row = "            row[0],\n            optional_moment(row[1]),\n            row[2],\n"
    assert f"        return cls(\n{row}        )\n" in results.python_fields(of)
    assert "BeltRow: TypeAlias = tuple[\n    str,\n    int,\n    int,\n]\n" in results.row_types(
        [of]
    )


def test_items_that_stay_as_they_are_go_together() -> None:
    plain = made('pid = ["count", "Its process."]')
    assert "        return cls(*row)\n" in results.python_fields(plain)
    mixed = made('pid = ["count", "Its process."]', SLOW, 'host = ["text", "Its host."]')
    assert list(results.values(mixed)) == ["*row[:2]", "optional_moment(row[2])", "*row[3:]"]


def test_field_in_php() -> None:
    text = results.php_fields(made(SLOW, 'examples = ["examples", "Some of them."]'))
    assert "        /** When it began slowly. null: it did not. */\n" in text
    assert "        public readonly ?float $slowStart;\n" in text
    assert "        /** @var list<string> Some of them. */\n" in text


def test_field_in_documents() -> None:
    row = "| `slow_start`, `slowStart` | when it began slowly; `None`, `null`: it did not |\n"
    assert row in results.table(made(SLOW))


def test_long_text_is_wrapped() -> None:
    of = made(f'slow = ["flag", "{"Whether it is slow. " * 6}"]')
    for text in (results.members(of), results.python_fields(of), results.php_fields(of)):
        assert max(map(len, text.splitlines())) <= 100
        assert text.count("slow.") == 6


def test_properties_read_the_row() -> None:
    of = made(SLOW)
    of.properties = True
    text = "        return optional_moment(self._row[1])\n"
    assert (
        f'        """When it began slowly. None: it did not."""\n{text}'
        in results.python_fields(of)
    )
