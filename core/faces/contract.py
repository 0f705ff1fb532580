"""Makes how the contract's programs in C and PHP run the verbs."""

from text import filled

from faces.model import Face


def step(face: Face) -> str:
    """The function in C that runs a step of a situation by the verb."""
    start = f"static void do_{face.name}(struct run *run, json_object *step) {{\n"
    if face.subject == "ids":
        return f"\n{start}    do_ids(run, step, dueq_{face.name});\n}}\n"
    given = ["run->queue"]
    if face.of == "message":
        start += '    const struct capture *held = captured(run, step, "message");\n'
        given = ["held->queue", *face.on("held->ticket")]
    given += face.in_c([each.get("contract") for each in face.parameters])
    given += ["NULL"] if face.returns else []
    call = filled(f"    dueq_status status = dueq_{face.name}(", given, ");", face.indent)
    compare = '    compare_status(run, field(step, "expect"), status);\n'
    return f"\n{start}{call}\n{compare}}}\n"


def steps(all_: list[Face]) -> str:
    functions = "".join(map(step, all_))
    rows = "".join(f'    {{"{face.name}", do_{face.name}}},\n' for face in all_)
    table = f"const struct verb made_verbs[] = {{\n{rows}    {{NULL, NULL}}}};\n"
    return f'#include "run.h"\n{functions}\n{table}'


def in_php(all_: list[Face]) -> str:
    """The verbs for the contract's PHP, each with the outcome that null and false stand for."""
    rows = "".join(f"        '{face.name}' => '{face.none_is or 'OK'}',\n" for face in all_)
    return f"    private const MADE = [\n{rows}    ];\n"
