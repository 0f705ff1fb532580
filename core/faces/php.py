"""Makes the methods of PHP, and their declarations in the stub."""

import re

from text import WIDTH, filled, wrapped

from faces.model import Argument, Face

PHP_WORDS = {
    r"\bNone\b": "null",
    r"\bTrue\b": "true",
    r"\bFalse\b": "false",
    r" \(or a timedelta\)": "",
    "an aware datetime": "a DateTimeInterface",
    "; or an exception: its class and text": "",
    "gets LeaseLost": "gets a LeaseLostException",
    r"\bLEASED\b": "State::Leased",
    r"`(\w+)`": r"$\1",
}
"""Patterns of Python's words in a text about a method, and what the text says in PHP instead."""


def in_php(text: str) -> str:
    for python, php in PHP_WORDS.items():
        text = re.sub(python, php, text)
    return text


def head(face: Face, end: str) -> str:
    """A declaration in the stub. end: what follows the type that it returns."""
    parts = [each.of_php() for each in face.parameters]
    start = f"        public function {face.camel}("
    end = f"): {face.result.php}{end}"
    line = f"{start}{', '.join(parts)}{end}"
    if len(line) > WIDTH or len(parts) > 2:
        listed = ",\n".join(f"            {part}" for part in parts)
        line = f"{start}\n{listed}\n        {end}"
    return f"{line}\n"


def doc_comment(face: Face) -> str:
    margin = "         * "
    more = f"{margin}    "
    tags = [
        wrapped(in_php(each.doc), f"{margin}@param {each.of_php().split(' = ')[0]} ", more)
        for each in face.arguments
        if each.doc
    ]
    if face.none_when:
        start = f"{margin}@return {face.result.php_doc} {in_php(face.result.none)}: "
        tags.append(wrapped(face.none_when, start, more))
    if face.of == "message":
        tags.append(f"{margin}@throws Exception\\LeaseLostException")
    parts = [wrapped(in_php(text), margin, margin) for text in (face.doc, face.more) if text]
    text = f"\n{margin.rstrip()}\n".join([*parts, *(["\n".join(tags)] if tags else [])])
    return f"        /**\n{text}\n         */\n"


def stub(face: Face, is_class: bool) -> str:
    """The declarations of a verb in a class, or in an interface, which has no documentation."""
    doc, end, order = (doc_comment(face), " {}", " in order") if is_class else ("", ";", "")
    one = f"\n{doc}{head(face, end)}"
    if face.subject != "ids":
        return one
    many = f"         * {in_php(face.many_doc)}\n         *\n" if is_class else ""
    return f"""{one}
        /**
{many}         * @param array<string> $ids
         * @return list<{face.result.php_doc}>{order}
         */
        public function {face.camel}Many(array $ids): array{end}
"""


IDS = """
ZEND_METHOD(Dueq_Queue, {camel}) {{
    zend_string *id;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(id)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    dueq_php_one(queue, dueq_{name}_submit, id, {read}, return_value);
}}

ZEND_METHOD(Dueq_Queue, {camel}Many) {{
    HashTable *ids;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_ARRAY_HT(ids)
    ZEND_PARSE_PARAMETERS_END();

    THIS_QUEUE(queue);
    dueq_php_each(queue, dueq_{name}_submit, ids, false, {read}, return_value);
}}
"""


def parameters(face: Face) -> str:
    """The variables of a method and how it parses its parameters."""
    if not face.parameters:
        return "    ZEND_PARSE_PARAMETERS_NONE();\n"
    places = "".join(
        f'    const dueq_php_place {each.name}_place = {{{number}, -1, "{each.camel}"}};\n'
        for number, each in enumerate(face.parameters, 1)
        if each.kind.php_read
    )
    needed = [each for each in face.parameters if not each.initial]
    others = [each for each in face.parameters if each.initial]
    start = f"    ZEND_PARSE_PARAMETERS_START({len(needed)}, {len(face.parameters)})\n"
    optional = f"        Z_PARAM_OPTIONAL\n{parses(others)}" if others else ""
    parsed = f"{start}{parses(needed)}{optional}    ZEND_PARSE_PARAMETERS_END();\n"
    return f"{places}{''.join(map(variables, face.parameters))}\n{parsed}"


def parses(arguments: list[Argument]) -> str:
    return "".join(f"        {each.get('php_parse')}\n" for each in arguments)


def variables(argument: Argument) -> str:
    """What an argument is parsed into and, if that is a zval, what it is then read into."""
    parsed = argument.get("php_local")
    is_zval = parsed.startswith("zval")
    initial = argument.initial and f" = {'NULL' if '*' in parsed else argument.initial}"
    read = f"    int64_t {argument.variable} = {argument.initial or '0'};\n" if is_zval else ""
    return f"    {parsed}{initial};\n{read}"


def reads(argument: Argument) -> str:
    """How a method reads a zval."""
    if not argument.kind.php_read:
        return ""
    given = ""
    if argument.initial and not argument.kind.php_reads_null:
        given = f"{argument.name} && "
        given += f"Z_TYPE_P({argument.name}) != IS_NULL && " if argument.kind.none else ""
    return f"    if ({given}!{argument.get('php_read')}) {{\n        RETURN_THROWS();\n    }}\n"


def method(face: Face) -> str:
    if face.subject == "ids":
        return IDS.format(
            name=face.name, camel=face.camel, read=f"dueq_php_outcome_{face.result.read}"
        )
    read = "".join(map(reads, face.parameters))
    if face.of == "queue":
        this, finish = "THIS_QUEUE(queue)", "dueq_php_finish(queue->client, submitted)"
        given = ["queue->queue"]
    else:
        this = "THIS_MESSAGE(message)"
        finish = "dueq_php_finish_held(message->queue->client, submitted, NULL)"
        if face.settles:
            this = "SETTLE_MESSAGE(message)"
            finish = "dueq_php_message_settle(message, submitted)"
        read += "    const dueq_bytes ticket = dueq_php_message_ticket(&message->std);\n"
        given = ["message->queue->queue", *face.on("ticket")]
    given += face.in_c([each.get("php_pass") for each in face.parameters])
    start = f"    const dueq_status submitted = dueq_{face.name}_submit("
    submit = filled(start, given, ");", face.indent)
    finish = f"RETURN_BOOL({finish} == DUEQ_OK)" if face.none_is else finish
    return f"""
ZEND_METHOD(Dueq_{face.of.capitalize()}, {face.camel}) {{
{parameters(face)}
    {this};
{read}{submit}
    {finish};
}}
"""


def methods(all_: list[Face]) -> str:
    return f'#include "message.h"\n{"".join(map(method, all_))}'
