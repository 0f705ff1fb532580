"""Makes what Python has by option, and SWIG between Python and the core."""

from collections.abc import Iterable

from text import filled, wrapped

from options.model import Option, Options


def keywords(options: Options) -> str:
    return "".join(f"    {option.name}: {option.get('python')}\n" for option in options.python)


def entries(options: Iterable[Option], indent: int, width: int = 0) -> str:
    """A list in a docstring. width: of the names' column; a longer name has a line of its own."""
    listed = list(options)
    margin = " " * (indent + 2 + (width or max(len(option.name) for option in listed)))
    lines = []
    for option in listed:
        text, name = option.doc("python", "None"), " " * indent + option.name
        if len(name) > len(margin) - 2:
            lines.append(f"{name}\n{wrapped(text, margin, margin)}\n")
        else:
            lines.append(wrapped(text, name.ljust(len(margin)), margin) + "\n")
    return "".join(lines)


def fields(options: Options) -> str:
    """The docstring and the fields of Draft."""
    groups = [entries(group, 4, 12) for group in options.grouped.values()]
    lines = "".join(
        f"    {option.name}: {option.get('python')} = "
        f"field(default={option.get('default')}, kw_only=True)\n"
        for option in options.row
    )
    return f'''    """
    A message to push. Durations are seconds or a timedelta.

    body          bytes, anything with a buffer, or a str, which is stored as UTF-8
{chr(10).join(groups)}    """

    body: Body = None  # type: ignore[assignment] # never after __post_init__
    json: InitVar[object] = field(default=..., kw_only=True)
{lines}'''


def items(options: Options, indent: int, one: bool = False) -> str:
    """The items of a row. one: the method takes one message."""
    read = ["1" if one and option.is_many else option.get("read") for option in options.row]
    return "".join(f"{' ' * indent}{item},\n" for item in read if item)


def draft_row(options: Options) -> str:
    """The table of the functions that make the items of a row."""
    lines = "".join(
        f'    "{option.name}": ({place}, lambda value: {option.get("read")}),\n'
        for place, option in enumerate(options.row, 1)
    )
    return f"_READ: dict[str, tuple[int, Callable[[Any], object]]] = {{\n{lines}}}\n"


def places(options: Options) -> str:
    """The indexes of the items that other code reads."""
    names = ["body"] * (options.verb == "push") + [option.name for option in options.row]
    return "".join(
        f"_{name.upper()}: Final = {names.index(name)}  # its index in a row\n"
        for name in ("id", "headers", "batch", "timeout")
        if name in names
    )


def parameters(options: Options, one: bool = False) -> str:
    return "".join(
        f"        {option.name}: {option.get('python')}"
        + ("" if option.is_many else f" = {option.get('default')}")
        + ",\n"
        for option in options.python
        if not (one and option.is_many)
    )


def reserve(options: Options) -> str:
    """The methods reserve() and reserve_many()."""
    one = parameters(options, one=True)
    others = "".join(one.splitlines(keepends=True)[1:])
    listed = [option for option in options.python if not option.is_many]
    return f'''    @overload
    async def reserve(
        self,
        timeout: None,
{others}    ) -> Message: ...
    @overload
    async def reserve(
        self,
{one.replace(" | None", "", 1)}    ) -> Message | None: ...
    async def reserve(
        self,
{one}    ) -> Message | None:
        """
        Reserves the next ready message. None: there is none. Durations are seconds or a timedelta.

{entries(listed, 8)}
        With the timeout None the result is never None. A paused queue delivers nothing: the call
        waits until the queue is resumed.

            while message := await queue.reserve(timeout=10):
                async with message:
                    await work(message.body)
        """
        row = (
{items(options, 12, one=True)}        )
        messages = await self._reserve(row)
        return messages[0] if messages else None

    async def reserve_many(
        self,
{parameters(options)}    ) -> list[Message]:
        """
        Reserves up to `count` (1 to 200) messages, all of one queue, as reserve(). Waits only for
        the first. A message that has crashed is delivered alone. In a queue that has had messages
        over 1 MiB, a call delivers at most 8 MiB, or one larger message.
        """
        row = (
{items(options, 12)}        )
        return await self._reserve(row)

'''


def consume(options: Options) -> str:
    """The method consume()."""
    others = [option.get("read") for option in options.python if not option.in_struct]
    return f'''    def consume(
        self,
{parameters(options)}    ) -> Consumer:
        """
        Makes a loop over messages as they become ready, until close() is called: see Consumer.
        Durations are seconds or a timedelta.

{entries(options.python, 8)}
        Raises InvalidError for a value out of its range.
        """
        row = (
{items(options, 12)}        )
        return self._consumer({", ".join(["row", *others])})

'''


def row_names(options: Options) -> list[str]:
    """The names of the items of a row."""
    body = ["body"] * (options.verb == "push")
    return body + [option.words["member"].split(".")[-1] for option in options.row]


def row_type(options: Options) -> str:
    name, types = f"{options.verb.capitalize()}Row", []
    if options.verb == "push":
        name, types = "DraftRow", ["Buffer | str"]
    types += [option.get("row") for option in options.row]
    lines = "".join(f"    {item},\n" for item in types)
    names = wrapped(", ".join(row_names(options)), "# ", "# ")
    return f"{names}\n{name}: TypeAlias = tuple[\n{lines}]\n"


def local_variables(options: Options) -> str:
    """A declaration for each type, of the variables into which the items of a row are parsed."""
    by_type: dict[str, list[str]] = {}
    body = ["PyObject *body"] * (options.verb == "push")
    for each in [*body, *(option.get("declare") for option in options.row)]:
        kind, _, name = each.rpartition(" ")
        if kind:
            stars = "*" * name.count("*")
            by_type.setdefault(f"{kind} {stars}", []).append(name.lstrip("*"))
    lines = []
    for kind, (first, *others) in by_type.items():
        stars = "*" * kind.count("*")
        lines.append(filled(f"    {kind}", [first, *(stars + name for name in others)], ";"))
    return "\n".join(lines)


def fill(options: Options) -> str:
    """The function of SWIG that reads a row."""
    struct, variable = options.target.struct, options.target.variable
    is_push = options.verb == "push"
    into = ["&body"] * is_push
    into += [part for option in options.row for part in option.get("into").split(", ")]
    form = "O" * is_push + "".join(option.get("parse") for option in options.row)
    end = struct.removeprefix("dueq_")
    parsed = filled("    if (!PyArg_ParseTuple(", ["row", f'"{form}:{end}"', *into], "))")
    puts = [store for option in options.row if (store := option.get("store"))]
    stores = "".join(f"    {put};\n" for put in puts if " = " in put)
    calls = ['borrow(body, "body", view, &draft->body)'] * is_push
    calls += [put for put in puts if " = " not in put]
    checked = "".join(f"    if ({call} < 0)\n        return -1;\n" for call in calls)
    view = ["Py_buffer *view"] * is_push
    parameters = [f"{struct} *{variable}", *view, "PyObject *row"]
    initial = struct.removesuffix("_options").upper()
    return f"""/*
{wrapped(f"row: ({', '.join(row_names(options))}).", " * ", " * ")}
 */
{filled(f"static int {end}_fill(", parameters, ") {")}
{local_variables(options)}

    *{variable} = ({struct}){initial};
{parsed}
        return -1;
{stores}{checked}    return 0;
}}
"""
