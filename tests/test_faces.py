"""What core/faces makes of a verb's row, of which each face has its part."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "core"))

from faces import contract, php, python, shell  # type: ignore[import-not-found]  # noqa: E402
from faces.kinds import KINDS  # type: ignore[import-not-found]  # noqa: E402
from faces.model import Face  # type: ignore[import-not-found]  # noqa: E402

ROWS = tomllib.loads((ROOT / "core/verbs.toml").read_text(encoding="utf-8"))
USED = sorted(
    {argument["kind"] for row in ROWS.values() for argument in row.get("arguments", {}).values()}
)


def made(row: str) -> Face:
    return Face("slow_down", tomllib.loads(row))


OF_QUEUE = """
generated_faces = "queue"
args = ["id", "speed", "note_it"]
face_doc = "Slows a message down."
none_when = "there is no message with this id"
returns = ""
cli_summary = "Slows a message down"
cli_help = "It says so."
cli_example = "invoice-7 --speed 3"

[arguments.speed]
kind = "number"
range = ["the speed", "1", "9"]
doc = "how fast, 1 to 9"
shell = "how fast"

[arguments.note_it]
kind = "flag"
default = false
doc = "True: notes it"
shell = '''
notes it,
"as said"'''
"""
OF_MESSAGE = """
generated_faces = "message"
settles = true
args = ["tickets", "until"]
face_doc = '''
Ends the delivery.

False is None.'''
none_is = "EXHAUSTED"
cli_summary = "Ends a delivery"
cli_help = '''
{options}

It ends.'''
cli_example = '"$ticket"'

[arguments.until]
kind = "moment"
range = ["the time", "0", "DUEQ_MAX_TIME_MS"]
shell = "until when"
shell_default = "0"
"""


def on_a_line(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("kind", USED)
def test_argument_is_of_a_kind(kind: str) -> None:
    assert kind in KINDS


def test_verb_of_a_queue_in_python() -> None:
    assert python.method(made(OF_QUEUE)) == (
        '''
    async def slow_down(self, id: str, speed: int, note_it: bool = False) -> bool:
        """
        Slows a message down. False: there is no message with this id.

        speed    how fast, 1 to 9
        note_it  True: notes it
        """
        call = on(self._own, _core.slow_down_submit, id, speed, int(note_it))
        return (await self._home.call(call)).status == _core.OK
'''
    )


def test_verb_of_a_message_in_python() -> None:
    assert python.method(made(OF_MESSAGE)) == (
        '''
    async def slow_down(self, until: float | datetime) -> bool:
        """
        Ends the delivery. Raises LeaseLost.

        False is None.
        """
        self._asked = True
        call = on(self.queue, _core.slow_down_submit, (self.ticket,), point_ms(until, "until"))
        return await self._settle_by("slow_down", call) == _core.OK
'''
    )


def test_verb_in_the_stub_of_php() -> None:
    assert php.stub(made(OF_QUEUE), is_class=True) == (
        """
        /**
         * Slows a message down.
         *
         * @param int $speed how fast, 1 to 9
         * @param bool $noteIt true: notes it
         * @return bool false: there is no message with this id
         */
        public function slowDown(
            string $id,
            int $speed,
            bool $noteIt = false
        ): bool {}
"""
    )


def test_verb_of_a_queue_in_php() -> None:
    text = php.method(made(OF_QUEUE))
    assert "START(2, 3)\n        Z_PARAM_STR(id)\n        Z_PARAM_LONG(speed)\n" in text
    assert "        Z_PARAM_OPTIONAL\n        Z_PARAM_BOOL(note_it)\n" in text
    assert "    zend_long speed;\n    bool note_it = 0;\n" in text
    assert "    RETURN_BOOL(dueq_php_finish(queue->client, submitted) == DUEQ_OK);\n" in text


def test_verb_of_a_message_in_php() -> None:
    text = php.method(made(OF_MESSAGE))
    assert '    const dueq_php_place until_place = {1, -1, "until"};\n' in text
    assert "    if (!dueq_php_time(&until_place, until, &until_ms)) {\n" in text
    assert "    SETTLE_MESSAGE(message);\n" in text
    assert "(message->queue->queue, &ticket, 1, until_ms);" in on_a_line(text)


def test_verb_in_the_shell() -> None:
    text = shell.command(made(OF_QUEUE))
    assert '{"speed", required_argument, NULL, 1}, {"note-it", no_argument, NULL, 2}' in text
    assert '            speed = cli_number(cli, "speed", optarg, 1, 9);\n' in text
    assert '    if (!has_speed)\n        cli_usage(cli, "give --speed N");\n' in text
    assert "    return cli_id_outcome(cli, subject, cli_wait(cli, status, NULL));\n" in text
    assert (
        r"""
    "slow-down", "QUEUE ID", "Slows a message down",
    "It says so.\n"
    "\n"
    "Options:\n"
    "  --speed N  how fast\n"
    "  --note-it  notes it,\n"
    "             \"as said\"\n"
    "\n"
    "Example:\n"
    "  dueq slow-down orders invoice-7 --speed 3\n",
"""
        in text
    )


def test_text_must_be_given() -> None:
    row = """
[arguments.label]
kind = "text"
range = ["the label", "DUEQ_MAX_KEY"]
"""
    face = made('generated_faces = "message"\nargs = ["ticket", "label"]\nface_doc = "x"' + row)
    check = 'dueq__text_check("the label", label, DUEQ_MAX_KEY, &queue->client->error)'
    assert face.arguments[0].get("check") == check
    text = shell.command(face)
    assert "    dueq_bytes label = {0};\n    bool has_label = false;\n" in text
    assert "            label = (dueq_bytes){optarg, strlen(optarg)};\n" in text
    assert "        Z_PARAM_STR(label)\n    ZEND_PARSE_PARAMETERS_END();" in php.method(face)


def test_options_stand_where_the_help_says() -> None:
    text = shell.help_text(made(OF_MESSAGE))
    assert text.startswith('    "Options:\\n"\n    "  --until TIME  until when\\n"\n    "\\n"\n')
    assert '    "It ends.\\n"\n    "\\n"\n    "Example:\\n"\n' in text


def test_verb_in_the_contract() -> None:
    step = on_a_line(contract.step(made(OF_QUEUE)))
    assert 'bytes(run, step, "id"), number(step, "speed", 0),' in step
    held = on_a_line(contract.step(made(OF_MESSAGE)))
    assert 'const struct capture *held = captured(run, step, "message");' in held
    assert 'dueq_slow_down(held->queue, &held->ticket, 1, number(step, "until_ms", 0),' in held
    assert "        'slow_down' => 'EXHAUSTED',\n" in contract.in_php([made(OF_MESSAGE)])


def test_lists_of_commands_are_by_what_they_work_on() -> None:
    header = shell.header([made(OF_QUEUE), made(OF_MESSAGE)])
    assert "#define MESSAGE_COMMANDS \\\n    , &slow_down_command\n" in header
    assert "#define ID_COMMANDS \\\n    , &slow_down_command\n" in header
    assert "#define QUEUE_COMMANDS\n" in header


def test_verb_on_ids_takes_nothing_else() -> None:
    with pytest.raises(SystemExit, match="slow_down: a verb on ids takes nothing else"):
        made("""
generated_faces = "queue"
args = ["ids", "speed"]
face_doc = "Slows them down."
[arguments.speed]
kind = "number"
""")


def test_verb_on_ids_that_returns_states() -> None:
    face = made("""
generated_faces = "queue"
args = ["ids"]
face_doc = "Removes it. LEASED: as `id` says."
face_returns = "state"
none_when = "there is none"
many_doc = "Removes many."
""")
    text = python.method(face)
    assert '"""Removes it. LEASED: as `id` says. None: there is none."""\n' in text
    assert "    async def slow_down_many(self, ids: Iterable[str]) -> list[State | None]:\n" in text
    assert 'self._each(_core.slow_down_submit, listed(ids, "ids"), _state_of)\n' in text
    stub = php.stub(face, is_class=True)
    assert "         * Removes it. State::Leased: as $id says.\n" in stub
    assert "         * @return State|null null: there is none\n" in stub
    assert "        public function slowDownMany(array $ids): array {}\n" in stub
    assert "submit, ids, false, dueq_php_outcome_state, return_value);\n" in php.method(face)
