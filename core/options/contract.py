"""Makes how the contract's program in C reads the options."""

from text import filled

from options.model import Options


def function(options: Options) -> str:
    """The function that reads the options of a situation into the struct."""
    lines = [f"    {text};\n" for option in options.struct if (text := option.get("contract"))]
    into = options.parameters()
    parameters = ["struct run *run", "json_object *from", *into]
    name = "fill_options" if options.verb == "push" else f"fill_{options.verb}"
    return f"""{filled(f"static void {name}(", parameters, ") {")}
{"".join(lines)}}}
"""
