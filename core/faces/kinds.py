"""What the values of an argument are in each language."""

from typing import NamedTuple


class Kind(NamedTuple):
    """
    How arguments of a kind are written. Argument.words fills the texts in:

    {name}      the argument's name; {dashes}: in the shell; {variable}: the variable of C
    {what}      the argument's name in errors, from its range; {least} and {most}: the bounds
    {initial}   the value in C where the caller gives none
    {member}    of from_fanout: the member that `fanout` names
    """

    c: str
    """The parameter. Its last word is {variable}."""
    zero: str = "0"
    """The value of a text that is empty, or of a variable that is not set yet."""
    check: str = ""
    """The call that checks the argument; empty: another argument's call does, or none."""
    send: str = ""
    """The call that writes the argument for the script."""
    fanout: str = ""
    """
    The member of a struct dueq__fanout_request that takes the argument to the partitions of a
    queue; "numbers": the next of its numbers.
    """
    from_fanout: str = "{member}"
    """The expression that makes the argument of this member."""
    stub: str = "int"
    """The type in bindings/python/dueq/_core.pyi."""

    none: str = ""
    """The constant of C that None and null stand for; empty: they are refused."""

    python: str = ""
    """The type of the parameter."""
    python_pass: str = "{name}"
    """What Python hands to the core; empty: another argument's text does."""

    php: str = ""
    """The type of the parameter."""
    php_local: str = "zval *{name}"
    """What the argument is parsed into."""
    php_parse: str = "Z_PARAM_ZVAL({name})"
    php_read: str = ""
    """A call that reads {name} into {variable}. It returns false after it has thrown."""
    php_reads_null: bool = False
    """Whether php_read accepts a parameter that is null or not given."""
    php_pass: str = "{variable}"

    argument: str = ""
    """What the shell calls the value; empty: the option has no value."""
    shell: str = ""
    """The value of the text `optarg`."""
    shell_refuses: tuple[str, str] = ("", "")
    """The condition under which the command refuses its options, and the error."""

    contract: str = ""
    """The value in a `step` of a situation."""


DURATION = Kind(
    c="int64_t {name}_ms",
    check='dueq__arg_check_ms(queue, "{what}", {name}_ms, {least}, {most})',
    send="dueq__resp_number(&words, {name}_ms)",
    fanout="numbers",
    python="float | timedelta",
    python_pass='duration_ms({name}, "{name}")',
    php="float|\\DateInterval",
    php_read="dueq_php_duration(&{name}_place, {name}, &{name}_ms)",
    argument="DURATION",
    shell='cli_duration(cli, "{dashes}", optarg)',
    contract='number(step, "{name}_ms", {initial})',
)
MOMENT = DURATION._replace(
    python="float | datetime",
    python_pass='point_ms({name}, "{name}")',
    php="float|int|\\DateTimeInterface",
    php_read="dueq_php_time(&{name}_place, {name}, &{name}_ms)",
    argument="TIME",
    shell='cli_point(cli, "{dashes}", optarg)',
)
TEXT = Kind(
    c="dueq_bytes {name}",
    zero="{0}",
    check='dueq__text_check("{what}", {name}, {most}, &queue->client->error)',
    send="dueq__arg_put(&words, &{name}, 1)",
    fanout="text",
    stub="str",
    python="str",
    php="string",
    php_local="zend_string *{name}",
    php_parse="Z_PARAM_STR({name})",
    php_pass="dueq_php_bytes({name})",
    argument="TEXT",
    shell="(dueq_bytes){{optarg, strlen(optarg)}}",
    contract='bytes(run, step, "{name}")',
)
RATE = TEXT._replace(
    none="{0}",
    python_pass='"" if {name} is None else {name}',
    php_parse="Z_PARAM_STR_OR_NULL({name})",
    php_pass="{name} ? dueq_php_bytes({name}) : (dueq_bytes){{0}}",
    argument="RATE",
)
KINDS = {
    "duration": DURATION,
    # A duration. None: the message's backoff decides.
    "retry_delay": DURATION._replace(
        check="dueq__arg_check_retry_delay(queue, {name}_ms)",
        send="dueq__arg_put_retry_delay(&words, {name}_ms)",
        none="DUEQ_BY_POLICY",
        python_pass='_core.BY_POLICY if {name} is None else duration_ms({name}, "{name}")',
    ),
    "moment": MOMENT,
    # A duration from now, unless the argument `at` gives a moment.
    "delay": DURATION._replace(
        check="dueq__due_check({name}_ms, at_ms, &queue->client->error)",
        send="dueq__arg_put_due(&words, {name}_ms, at_ms)",
        none="0",
        python_pass="*due_ms({name}, at)",
        php_read="dueq_php_due({name}, at, &{name}_place, &{name}_ms, &at_ms)",
        php_reads_null=True,
    ),
    # The kind `delay` checks, sends and reads both.
    "at": MOMENT._replace(
        check="",
        send="",
        none="0",
        python_pass="",
        php_read="",
        shell_refuses=("has_delay && has_at", "give either --delay or --at, not both"),
    ),
    "number": Kind(
        c="int64_t {name}",
        check=(
            'dueq__ranges_check(&(struct dueq__range){{"{what}", NULL, {name}, {least}, {most}}}, '
            "1, &queue->client->error)"
        ),
        send="dueq__resp_number(&words, {name})",
        fanout="numbers",
        python="int",
        php="int",
        php_local="zend_long {name}",
        php_parse="Z_PARAM_LONG({name})",
        argument="N",
        shell='cli_number(cli, "{dashes}", optarg, {least}, {most})',
        contract='number(step, "{name}", {initial})',
    ),
    # A number, or none, in a struct whose check checks it.
    "limit": Kind(
        c="int64_t {name}",
        send="dueq__resp_number(&words, {name})",
        fanout="numbers",
        none="DUEQ_UNCHANGED",
        python="int",
        python_pass="_core.UNCHANGED if {name} is None else {name}",
        php="int",
        php_local="bool no_{name} = true;\n    zend_long {name}",
        php_parse="Z_PARAM_LONG_OR_NULL({name}, no_{name})",
        php_pass="no_{name} ? DUEQ_UNCHANGED : {name}",
        argument="N",
        shell='cli_limit(cli, "{dashes}", optarg, DUEQ_MAX_LIMIT)',
        contract='number(step, "{name}", {initial})',
    ),
    # A text, or none, in a struct whose check checks it.
    "rate": RATE,
    "order": RATE._replace(argument="ORDER"),
    # The same, where an empty text is not none.
    "group": RATE._replace(
        python_pass="{name}",
        argument="GROUP",
        contract='field(step, "{name}") ? bytes(run, step, "{name}") : (dueq_bytes){{0}}',
    ),
    # The name of a group, which must be given.
    "group_name": TEXT._replace(
        check="dueq__arg_check_group(queue, {name})",
        send="dueq__arg_put_group(&words, {name})",
        argument="GROUP",
    ),
    "text": TEXT,
    # A text that is stored with a message, and cut if it is too long; in Python also an exception.
    "note": TEXT._replace(
        check="",
        send="dueq__arg_put_note(&words, {name})",
        stub="Buffer | str",
        python="str | BaseException",
        python_pass='noted({name}, "{name}")',
    ),
    "flag": Kind(
        c="int {name}",
        send="dueq__resp_number(&words, {name})",
        fanout="numbers",
        from_fanout="{member} != 0",
        python="bool",
        python_pass="int({name})",
        php="bool",
        php_local="bool {name}",
        php_parse="Z_PARAM_BOOL({name})",
        shell="1",
        contract='json_object_get_boolean(field(step, "{name}"))',
    ),
}
