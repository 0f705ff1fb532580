"""Makes the methods of Python."""

from text import WIDTH, wrapped

from faces.model import Face


def laid_out(start: str, parts: list[str], end: str, indent: str) -> str:
    """A call or the head of a function, in the lines that ruff makes."""
    one = ", ".join(parts)
    if len(f"{indent}{start}{one}{end}") <= WIDTH:
        return f"{indent}{start}{one}{end}\n"
    if len(f"{indent}    {one}") <= WIDTH:
        return f"{indent}{start}\n{indent}    {one}\n{indent}{end}\n"
    lines = "".join(f"{indent}    {part},\n" for part in parts)
    return f"{indent}{start}\n{lines}{indent}{end}\n"


def docstring(face: Face) -> str:
    none = f" {face.result.none}: {face.none_when}." if face.none_when else ""
    lost = " Raises LeaseLost." if face.of == "message" else ""
    first, indent = f"{face.doc}{none}{lost}", " " * 8
    told = [each for each in face.arguments if each.doc]
    if len(first) <= 80 and not told and not face.more:
        return f'{indent}"""{first}"""\n'
    parts = [wrapped(first, indent, indent)]
    if told:
        margin = indent + " " * (max(len(each.name) for each in told) + 2)
        rows = [wrapped(e.doc, f"{indent}{e.name}".ljust(len(margin)), margin) for e in told]
        parts.append("\n".join(rows))
    if face.more:
        parts.append(wrapped(face.more, indent, indent))
    return f'{indent}"""\n' + "\n\n".join(parts) + f'\n{indent}"""\n'


def method(face: Face) -> str:
    submit, doc = f"_core.{face.name}_submit", docstring(face)
    if face.subject == "ids":
        return f"""
    async def {face.name}(self, id: str) -> {face.result.python}:
{doc}        [one] = await self.{face.name}_many((id,))
        return one

    async def {face.name}_many(self, ids: Iterable[str]) -> list[{face.result.python}]:
        \"""{face.many_doc}\"""
        return await self._each({submit}, listed(ids, "ids"), _{face.result.read}_of)
"""
    parts = ["self", *(each.of_python() for each in face.parameters)]
    end = f") -> {face.result.python}:"
    head = "\n" + laid_out(f"async def {face.name}(", parts, end, "    ") + doc
    given = [text for each in face.parameters if (text := each.get("python_pass"))]
    if face.struct:
        head += laid_out("row = (", given, ")", " " * 8)
        given = ["row"]
    if face.of == "queue":
        call = laid_out("call = on(", ["self._own", submit, *given], ")", " " * 8)
        if face.none_is:
            return f"{head}{call}        return (await self._home.call(call)).status == _core.OK\n"
        return f"{head}{call}        await self._home.call(call)\n"
    ticket = "(self.ticket,)" if face.subject == "tickets" else "self.ticket"
    call = laid_out("call = on(", ["self.queue", submit, ticket, *given], ")", " " * 8)
    if not face.settles:
        return f"{head}{call}        await self._hold_by(call)\n"
    settled = f'await self._settle_by("{face.name}", call)'
    settled = f"return {settled} == _core.OK" if face.none_is else settled
    return f"{head}        self._asked = True\n{call}        {settled}\n"
