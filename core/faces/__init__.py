"""Makes the faces of verbs from core/verbs.toml: the methods of Python and PHP, the commands of the
shell, and the contract's functions in C.

A kind says what the values of an argument are in each language. A new verb whose arguments are of
kinds that exist needs its row in core/verbs.toml alone, and code only for what the verb does.
"""

from collections.abc import Callable
from functools import partial

from sections import Section

from faces import contract, php, python, shell
from faces.model import Face

PHP = "bindings/php/dueq.stub.php"
SECTIONS: list[tuple[str, str, str, Callable[[Face], str]]] = [
    ("bindings/python/dueq/aio/queue.py", "verbs of a queue", "queue", python.method),
    ("bindings/python/dueq/aio/message.py", "verbs of a message", "message", python.method),
    (PHP, "the verbs of QueueInterface", "queue", partial(php.stub, is_class=False)),
    (PHP, "the verbs of MessageInterface", "message", partial(php.stub, is_class=False)),
    (PHP, "the verbs of Queue", "queue", partial(php.stub, is_class=True)),
    (PHP, "the verbs of Message", "message", partial(php.stub, is_class=True)),
]
"""A file, the name of its section, whose methods the section has, and what makes a method."""

FILES: dict[str, Callable[[list[Face]], str]] = {
    "bindings/php/verbs.c": php.methods,
    "cli/verbs.c": shell.commands,
    "cli/verbs.h": shell.header,
    "tests/contract/verbs.c": contract.steps,
}
"""The files that are made as a whole."""


def sections(all_: list[Face]) -> list[Section]:
    def methods(of: str, make: Callable[[Face], str]) -> str:
        return "".join(make(face) for face in all_ if face.of == of) + "\n"

    return [
        *(Section(file, name, partial(methods, of, make)) for file, name, of, make in SECTIONS),
        Section("tests/contract/ContractTest.php", "the verbs", partial(contract.in_php, all_)),
    ]
