"""Makes from core/options.toml what the core and each face need for each option of a verb.

A kind says what the values of an option are in each language. A new option of a kind that exists
needs its table in core/options.toml alone, and code only for what the option does.
"""

from collections.abc import Callable
from functools import partial

from sections import Section

from options import c, contract, documents, php, python, shell
from options.model import Options

SECTIONS: dict[str, list[tuple[str, str, Callable[[Options], str]]]] = {
    "push": [
        ("core/dueq.h", "the options of a push", c.members),
        ("core/dueq.h", "the defaults of a draft", c.defaults),
        ("core/verbs/draft.c", "the options of a push", c.checks),
        ("bindings/python/dueq/draft.py", "the keyword arguments of a push", python.keywords),
        ("bindings/python/dueq/draft.py", "the fields of a draft", python.fields),
        ("bindings/python/dueq/draft.py", "the row of a draft", python.draft_row),
        ("bindings/python/dueq/draft.py", "places in a row", python.places),
        ("bindings/python/dueq/_core.pyi", "the row of a draft", python.row_type),
        ("swig/draft.i", "the row of a draft", python.fill),
        ("bindings/php/php_dueq.h", "the options of a push", php.fields),
        ("bindings/php/draft.c", "the keys of a message", php.keys),
        ("bindings/php/draft.c", "the options of a push", php.push_reads),
        ("bindings/php/dueq.c", "the defaults of a push", php.asserts),
        ("cli/draft.h", "the options of a push", shell.declarations),
        ("cli/draft.c", "the options of a push", shell.cases),
        ("docs/reference.md", "the options of a push", documents.table),
        ("tests/contract/drafts.c", "the options of a push", contract.function),
    ],
    "reserve": [
        ("core/dueq.h", "the options of reserve", c.members),
        ("core/dueq.h", "the defaults of a reserve", c.defaults),
        ("core/verbs/reserve.c", "the options of reserve", c.checks),
        ("bindings/python/dueq/aio/queue.py", "the options of reserve", python.reserve),
        ("bindings/python/dueq/aio/queue.py", "places in a row", python.places),
        ("bindings/python/dueq/_core.pyi", "the options of reserve", python.row_type),
        ("swig/reserve.i", "the options of reserve", python.fill),
        ("bindings/php/parameters.c", "the options of reserve", php.reads),
        ("cli/reserve.c", "the options of reserve", shell.command),
        ("docs/reference.md", "the options of reserve", documents.table),
        ("tests/contract/steps.c", "the options of reserve", contract.function),
    ],
    "consume": [
        ("core/dueq.h", "the options of consume", c.members),
        ("core/dueq.h", "the defaults of a consumer", c.defaults),
        ("core/consumer/open.c", "the options of consume", c.checks),
        ("bindings/python/dueq/aio/queue.py", "the options of consume", python.consume),
        ("bindings/python/dueq/_core.pyi", "the options of consume", python.row_type),
        ("swig/consumer.i", "the options of consume", python.fill),
        ("bindings/php/consumer.c", "the options of consume", php.reads),
        ("bindings/php/dueq.c", "the defaults of consume", php.asserts),
        ("cli/work.c", "the options of consume", shell.command),
        ("docs/reference.md", "the options of consume", documents.table),
    ],
}
"""By verb: a file, the name of its section, and the function that makes the section."""


PHP_STUB = "bindings/php/dueq.stub.php"


def sections(all_: list[Options]) -> list[Section]:
    return [
        Section(file, name, partial(make, options))
        for options in all_
        for file, name, make in SECTIONS[options.verb]
    ]


def php_stub(old: str, all_: list[Options]) -> str:
    """The stub with the options as parameters of its methods, which no comments enclose."""
    for options in all_:
        old = php.stub(old, options)
    return old
