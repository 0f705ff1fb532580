"""What the values of an option are in each language."""

from typing import NamedTuple


class Kind(NamedTuple):
    """
    How options of a kind are written. Option.words fills the texts in:

    {name}      the option's name; {camel}: in PHP; {dashes}: in the shell
    {lvalue}    the place in C that gets the value: a member or a variable; {out}: its address
    {argument}  the Python expression of the value that the caller gave
    {given}     what stands in C before the name of the field that holds PHP's value
    {place}     the dueq_php_place, which names the option in an error
    {least}     the least value of the option's range; {most}: the greatest
    {KEY}       any other key: its value in the option's table in core/options.toml
    """

    c: str = ""
    """The member of the struct. Without it the option is Python's alone."""
    range: str = ""
    """The value in a struct dueq__range."""

    python: str = ""
    """The type of the argument. Without it Python's methods do not have the option."""
    default: str = "None"
    read: str = ""
    """The expression that checks the argument and makes the item of a row."""
    row: str = "int"
    """The type of the item."""

    parse: str = ""
    """The format of PyArg_ParseTuple() for the item."""
    into: str = "{out}"
    """The arguments behind that format."""
    declare: str = ""
    """The declaration of a local variable; empty: `into` is a member of the struct."""
    store: str = ""
    """
    What puts the variable into the struct: an assignment, or a call that returns less than 0 after
    it has failed.
    """

    php: str = ""
    """The type of the parameter. Without it PHP's methods do not have the option."""
    php_default: str = "null"
    php_doc: str = ""
    """The type in comments, where it differs from that of the parameter."""
    php_key: str = "VALUE"
    """The type of a value in an array that stands for a message: without its DUEQ_PHP_."""
    php_field: str = "zval *{name}"
    """The field that the parameter is parsed into."""
    php_initial: str = "NULL"
    php_parse: str = "Z_PARAM_ZVAL({given}{name})"
    php_check: str = ""
    """
    A call that checks the field, and puts the value into the struct unless php_store does. It
    returns false after it has thrown.
    """
    php_store: str = ""
    """An assignment that puts the field into the struct."""

    argument: str = ""
    """What the shell calls the value; "": the option has no value."""
    shell: str = ""
    """What puts the text `given` of the command line into the struct."""

    contract: str = ""
    """What puts the value of a situation's JSON `from` into the struct."""


BACKOFF = "array<int|float|\\DateInterval>|Backoff|\\DateInterval|null"
# A duration that may be 0. None is 0.
DURATION = Kind(
    c="int64_t {name}_ms",
    range="{lvalue}",
    python="float | timedelta | None",
    read='optional_ms({argument}, "{name}")',
    parse="L",
    into="&{name}_ms",
    declare="long long {name}_ms",
    store="{lvalue} = {name}_ms",
    php="float|\\DateInterval|null",
    php_check="dueq_php_optional_duration({place}, {given}{name}, {out})",
    argument="DURATION",
    shell='{lvalue} = cli_duration(cli, "{dashes}", given)',
    contract='{lvalue} = number(from, "{name}_ms", 0)',
)
# A duration that is never None.
LENGTH = DURATION._replace(
    python="float | timedelta",
    default="{value}",
    read='duration_ms({argument}, "{name}")',
    php="float|\\DateInterval",
    php_default="{value}",
    php_check="dueq_php_duration({place}, {given}{name}, {out})",
)
NUMBER = Kind(
    c="int {name}",
    range="{lvalue}",
    python="int",
    default="0",
    read='_check({argument}, "{name}", int)',
    parse="i",
    php="int",
    php_default="0",
    php_key="NUMBER",
    php_field="zend_long {name}",
    php_initial="0",
    php_parse="Z_PARAM_LONG({given}{name})",
    php_check='dueq_php_within({place}, {given}{name}, {least}, {most}, "{php_range}")',
    php_store="{lvalue} = (int){given}{name}",
    argument="N",
    shell='{lvalue} = (int)cli_number(cli, "{dashes}", given, {least}, {most})',
    contract='{lvalue} = (int)number(from, "{name}", 0)',
)
# A number of things, 1 to a batch.
COUNT = NUMBER._replace(
    c="size_t {name}",
    range="(int64_t){lvalue}",
    default="{value}",
    read='counted({argument}, "{name}")',
    parse="n",
    into="&{name}",
    declare="Py_ssize_t {name}",
    store="{lvalue} = (size_t){name}",
    php_default="{value}",
    php_initial="{value}",
    php_store="{lvalue} = (size_t){given}{name}",
    shell='{lvalue} = (size_t)cli_number(cli, "{dashes}", given, {least}, {most})',
    contract='{lvalue} = (size_t)number(from, "{name}", {value})',
)

KINDS = {
    "duration": DURATION,
    # A duration above 0. None is 0.
    "span": DURATION._replace(
        read='limit_ms({argument}, "{name}")',
        php_check="dueq_php_limit({place}, {given}{name}, {out})",
    ),
    # A duration that may be 0, with a default of its own. None is 0.
    "preset": DURATION._replace(default="_core.{constant} / 1000", php_default="{value}"),
    "length": LENGTH,
    # How long to wait; without end: Python's None, PHP's INF.
    "patience": LENGTH._replace(
        range="",
        python="float | timedelta | None",
        default="{python_value}",
        read="patience_ms({name})",
        php_check="dueq_php_timeout({place}, {given}{name}, {out})",
        shell="{lvalue} = cli_patience(cli, given)",
    ),
    "number": NUMBER,
    "count": COUNT,
    # A number of things, 1 or more. None is 0.
    "any_count": COUNT._replace(
        range="",
        python="int | None",
        read='0 if {argument} is None else counted({argument}, "{name}", sys.maxsize)',
        php="?int",
        php_key="LIMIT",
        php_field="dueq_php_bound {name}",
        php_initial="{{{value}, false}}",
        php_parse="Z_PARAM_LONG_OR_NULL({given}{name}.number, {given}{name}.is_null)",
        php_check="dueq_php_any_count({place}, {given}{name}, {out})",
        php_store="",
    ),
    "flag": Kind(
        c="int {name}",
        python="bool",
        default="False",
        read='_check({argument}, "{name}", bool)',
        row="bool",
        parse="p",
        php="bool",
        php_default="false",
        php_key="TRUTH",
        php_field="bool {name}",
        php_initial="false",
        php_parse="Z_PARAM_BOOL({given}{name})",
        php_store="{lvalue} = {given}{name}",
        shell="{lvalue} = 1",
        contract='{lvalue} = json_object_get_boolean(field(from, "{name}"))',
    ),
    # Which of several queues comes first. Python and PHP set the order where they open the queues.
    "order": Kind(
        c="dueq_order order",
        read="self._order",
        parse="i",
        into="&order",
        declare="int order",
        store="{lvalue} = (dueq_order)order",
        shell="{lvalue} = DUEQ_ROUND_ROBIN",
        contract='{lvalue} = (dueq_order)choice(run, from, "order", orders)',
    ),
    # A text of lines. None is empty.
    "lines": Kind(
        c="dueq_bytes {name}",
        python="str | None",
        read='{argument} or ""',
        row="str",
        parse="s#",
        into="{out}.data, &{name}_size",
        declare="Py_ssize_t {name}_size",
        store="{lvalue}.size = (size_t){name}_size",
        php="?string",
        php_field="zend_string *{name}",
        php_parse="Z_PARAM_STR_OR_NULL({given}{name})",
        php_store="{lvalue} = dueq_php_bytes({given}{name})",
    ),
    # Only C has options of the next two kinds.
    "size": Kind(c="size_t {name}"),
    "word": Kind(c="const char *{name}"),
    # Only a push has options of the kinds below: its own functions read and check the values.
    "json": Kind(python="object"),
    "text": Kind(
        c="dueq_bytes {name}",
        python="str | None",
        read='_text({argument}, "{name}")',
        row="str",
        parse="s#",
        into="{out}.data, &{name}_size",
        declare="Py_ssize_t {name}_size",
        store="{lvalue}.size = (size_t){name}_size",
        php="?string",
        php_key="TEXT",
        php_field="zend_string *{name}",
        php_parse="Z_PARAM_STR_OR_NULL({given}{name})",
        php_check="dueq_php_text({place}, {given}{name}, {out})",
        argument="TEXT",
        shell='{lvalue} = read_text(cli, "{dashes}", given)',
        contract='{lvalue} = bytes(run, from, "{name}")',
    ),
    "limit": Kind(
        c="uint32_t {name}",
        range="{lvalue}",
        python="int | None",
        default="_core.{constant}",
        read='_limit({argument}, "{name}", "{of_one}")',
        parse="I",
        php="?int",
        php_default="{value}",
        php_key="LIMIT",
        php_field="dueq_php_bound {name}",
        php_initial="{{DUEQ_{constant}, false}}",
        php_parse="Z_PARAM_LONG_OR_NULL({given}{name}.number, {given}{name}.is_null)",
        php_check=(
            "fill_limit({place}, {given}{name}, "
            '"not be 0: use null for no limit, 1 for {of_one}", {out})'
        ),
        argument="N",
        shell='{lvalue} = read_limit(cli, "{dashes}", given, "{of_one}")',
        contract='{lvalue} = (uint32_t)number(from, "{name}", {lvalue})',
    ),
    "delay": DURATION._replace(
        php_check="fill_due(draft, fields->delay, fields->at, {place})",
        shell="read_delay(cli, drafting, given)",
    ),
    # In PHP the kind `delay` checks both.
    "at": DURATION._replace(
        python="float | datetime | None",
        read='0 if {argument} is None else point_ms({argument}, "at")',
        php="float|int|\\DateTimeInterface|null",
        php_check="",
        argument="TIME",
        shell='{lvalue} = cli_point(cli, "at", given)',
    ),
    "headers": Kind(
        c="const dueq_header *headers; /* may be NULL when header_count is 0 */\n"
        "    size_t header_count",
        python="Mapping[str, str] | None",
        read="_header_row({argument})",
        row="tuple[tuple[str, str], ...]",
        parse="O",
        into="&headers",
        declare="PyObject *headers",
        store="draft_headers(draft, headers)",
        php="array",
        php_default="[]",
        php_doc="array<string, string>",
        php_key="TABLE",
        php_field="HashTable *headers",
        php_parse="Z_PARAM_ARRAY_HT({given}headers)",
        php_check="dueq_php_headers_fill({place}, {given}headers, draft, arena)",
        argument="NAME=VALUE",
        shell="add_header(cli, drafting, given)",
        contract='fill_headers(run, field(from, "headers"), draft)',
    ),
    "priority": Kind(
        c="dueq_priority priority",
        range="{lvalue}",
        python="int",
        default="_core.NORMAL",
        read="_priority({argument})",
        parse="i",
        into="&priority",
        declare="int priority",
        store="{lvalue} = (dueq_priority)priority",
        php="int",
        php_default="0",
        php_key="NUMBER",
        php_field="zend_long priority",
        php_parse="Z_PARAM_LONG({given}priority)",
        php_check=(
            "dueq_php_within({place}, {given}priority, {least}, {most}, "
            '"be 1 (high), 0 or -1 (low)")'
        ),
        php_store="{lvalue} = (dueq_priority){given}priority",
        argument="high|normal|low",
        shell="{lvalue} = read_priority(cli, given)",
        contract='{lvalue} = (dueq_priority)number(from, "priority", DUEQ_NORMAL)',
    ),
    "backoff": Kind(
        c="dueq_backoff backoff",
        python="BackoffLike | None",
        read="backoff_row({argument})",
        row="BackoffRow",
        parse="O",
        into="&backoff",
        declare="PyObject *backoff",
        store="draft_backoff({out}, backoff)",
        php="float|array|Backoff|\\DateInterval|null",
        php_doc=f"float|{BACKOFF}",
        php_check="fill_backoff({place}, {given}backoff, {out}, arena)",
        argument="HOW",
        shell="read_backoff(cli, drafting, given)",
        contract='fill_backoff(run, field(from, "backoff"), {out})',
    ),
    "replace": Kind(
        c="dueq_replace replace",
        range="(int){lvalue}",
        python='bool | Literal["body"]',
        default="False",
        read="_replace({argument})",
        parse="i",
        into="&replace",
        declare="int replace",
        store="{lvalue} = (dueq_replace)replace",
        php="?Replace",
        php_check="fill_replace({place}, {given}replace, {out})",
        argument="=body",
        shell="read_replace(cli, drafting, given)",
        contract='{lvalue} = (dueq_replace)choice(run, from, "replace", replaces)',
    ),
}
