"""Arguments of tasks that JSON does not have, and those that a middleware gives."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, Flag, IntEnum, StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NewType
from uuid import UUID

import msgspec
import pydantic
import pytest

import dueq
from dueq import errors
from dueq.serializers import BadTask
from dueq.testing import drain

if TYPE_CHECKING:
    from pathlib import PurePath

GOLDEN = Path(__file__).parents[1] / "golden/arguments.tsv"
ROWS = [
    line.split("\t")
    for line in GOLDEN.read_text(encoding="utf-8").split("\n")
    if line and not line.startswith("#")
]
NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)


class Status(StrEnum):
    OPEN = "open"
    PAID = "paid"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Place(Enum):
    HOME = (47, 11)
    SINCE = NOON


class Right(Flag):
    READ = 1
    WRITE = 2


@dataclass
class Line:
    sku: str
    price: Decimal


@dataclass
class Order:
    id: int
    placed: datetime
    status: Status
    first: Line


@dataclass
class Tree:
    name: str
    inner: list[Tree] = field(default_factory=list)


@dataclass
class Discounted(Line):
    discount: int = 0


@dataclass
class Loose:
    data: Any


class Person(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(strict=True, extra="forbid")

    name: str = pydantic.Field(alias="fullName", min_length=1)
    born: date
    wait: timedelta = timedelta(seconds=1)


class Parcel(msgspec.Struct):
    id: UUID
    sent: datetime
    parts: tuple[int, ...] = ()


@pydantic.dataclasses.dataclass
class Checked:
    count: int = pydantic.Field(gt=0)


Number = NewType("Number", UUID)
PLACED = datetime(2026, 11, 28, 17, 30, tzinfo=UTC)
LINE = Line("a-1", Decimal("1.50"))
ID = UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
VALUES: dict[str, tuple[Any, ...]] = {
    "moment": (PLACED, PLACED.replace(microsecond=250000)),
    "date": (PLACED.date(),),
    "duration": (timedelta(seconds=90), timedelta(seconds=90.5), timedelta(days=-1)),
    "uuid": (ID,),
    "decimal": (Decimal("12.50"), Decimal("-0.000001")),
    "enum": (Status.PAID, Level.HIGH),
    "bytes": (b"\x00\xff",),
    "class": (Order(7, PLACED, Status.PAID, LINE),),
}


@pytest.fixture
def app(dueq_url: str) -> dueq.App:
    return dueq.App()


@pytest.fixture
def there_and_back(app: dueq.App) -> Callable[[Any, Any], tuple[object, object]]:
    """The JSON of an argument with this annotation, and what the handler gets."""

    def pushed(annotation: Any, value: object) -> tuple[object, object]:
        got: list[object] = []

        def take(value: Any) -> None:
            got.append(value)

        take.__annotations__["value"] = annotation
        app.tasks.pop("take", None)
        task: dueq.Task[..., None] = app.task(take)
        task.push(value)
        [waiting] = app.queue("default").peek("ready")
        written = waiting.json()["args"][0]
        task.push(value=value)
        drain(app)
        assert got[0] == got[1]
        return written, got[0]

    return pushed


There = Callable[[Any, Any], tuple[object, object]]


@pytest.mark.parametrize("row", ROWS, ids=["-".join(row[:2]) for row in ROWS])
def test_each_type_has_the_form_of_every_language(there_and_back: There, row: list[str]) -> None:
    kind, number, wanted = row
    value = VALUES[kind][int(number) - 1]
    written, got = there_and_back(type(value), value)
    assert json.dumps(written, separators=(",", ":")) == wanted
    assert (type(got), got) == (type(value), value)
    # The form itself may be pushed, as another language does.
    assert there_and_back(type(value), json.loads(wanted)) == (written, value)


PARTS: list[tuple[Any, object, object]] = [
    (datetime | None, PLACED, "2026-11-28T17:30:00Z"),
    (datetime | None, None, None),
    (datetime, PLACED.astimezone(timezone(timedelta(hours=1))), "2026-11-28T17:30:00Z"),
    (list[UUID], [ID], [str(ID)]),
    (Sequence[Line], [LINE, LINE], [{"sku": "a-1", "price": "1.50"}] * 2),
    (dict[str, Decimal], {"a": Decimal(1)}, {"a": "1"}),
    (tuple[int, date], (1, date(2026, 1, 2)), [1, "2026-01-02"]),
    (tuple[Status, ...], (Status.OPEN, Status.PAID), ["open", "paid"]),
    (tuple, (1, 2), [1, 2]),
    (Annotated[UUID, "the id"], ID, str(ID)),
    (Number, ID, str(ID)),
    (UUID | int, 7, 7),
    (UUID | str, "a", "a"),
    (date | datetime, PLACED, "2026-11-28T17:30:00Z"),
    (date | datetime, date(2026, 1, 2), "2026-01-02"),
    (list[datetime] | datetime, [PLACED], ["2026-11-28T17:30:00Z"]),
    (Status | Literal["none"], "none", "none"),
    (Place, Place.HOME, [47, 11]),
    (Place, Place.SINCE, "2026-11-28T12:00:00Z"),
    (Right, Right.READ | Right.WRITE, 3),
    (Tree, Tree("a", [Tree("b")]), {"name": "a", "inner": [{"name": "b", "inner": []}]}),
    (
        Person,
        Person(fullName="Ada", born=date(2000, 1, 2)),
        {"fullName": "Ada", "born": "2000-01-02", "wait": "PT1S"},
    ),
    (Parcel, Parcel(ID, NOON, (1,)), {"id": str(ID), "sent": "2026-11-28T12:00:00Z", "parts": [1]}),
    (
        list[Parcel],
        [Parcel(ID, NOON)],
        [{"id": str(ID), "sent": "2026-11-28T12:00:00Z", "parts": []}],
    ),
    (Checked, Checked(1), {"count": 1}),
]


@pytest.mark.parametrize("part", PARTS, ids=[str(part[0]) for part in PARTS])
def test_types_within_types(there_and_back: There, part: tuple[Any, object, object]) -> None:
    annotation, value, wanted = part
    written, got = there_and_back(annotation, value)
    assert (written, type(got), got) == (wanted, type(value), value)


WRONG: list[tuple[Any, object, str]] = [
    (datetime, datetime(2026, 1, 2), r"the datetime 2026-01-02 00:00:00 has no time zone: give"),
    (datetime, "2026-01-02T00:00:00", "is not a point of time with its zone, such as '2026-11"),
    (datetime, 17, "17 is not a point of time"),
    (datetime, None, "None is not a point of time"),
    (date, PLACED, "'2026-11-28T17:30:00.00:00' is not a date, such as '2026-11-28'"),
    (timedelta, "90", "'90' is not a number of seconds"),
    (timedelta, True, "True is not a number of seconds"),
    (timedelta, 1e300, "is not a number of seconds"),
    (UUID, "x", "'x' is not a UUID"),
    (Decimal, 1.5, "1.5 is not a decimal number in a text, such as '12.50'"),
    (Decimal, Decimal("NaN"), "the Decimal NaN has no form of at most 400 digits"),
    (Decimal, Decimal("1E+999999"), "has no form of at most 400 digits"),
    (Decimal, "NaN", "'NaN' is not a decimal number"),
    (bytes, "?", r"'\?' is not bytes in Base64"),
    (Status, "lost", "'lost' is no value of Status"),
    (Line, {"sku": "a"}, "missing 1 required positional argument: 'price'"),
    (Line, {"sku": "a", "prize": "1"}, "Line has no field prize"),
    (Line, Line("a", 1.5), "price: 1.5 is not a decimal number"),  # type: ignore[arg-type]
    (Line, [1], r"\[1\] is not an object with the fields of Line"),
    (Line, Discounted("a", Decimal(1)), "a Discounted would arrive as a Line"),
    (Loose, Loose(NOON), "Object of type datetime is not JSON serializable"),
    (Loose, Loose({1: 2}), "the key 1 is no text, as JSON's keys are"),
    (list[UUID], [ID, "x"], "'x' is not a UUID"),
    (list[UUID], ID, "is not a list"),
    (dict[str, Line], {"a": {}}, "a: .*missing 2 required"),
    (tuple[int, date], (1,), r"\(1,\) has not 2 items"),
    (UUID | int, "x", r"'x' is not a UUID"),
    (UUID | date, "x", r"'x' is not uuid.UUID \| datetime.date"),
    (bytes | str, "mail", "'mail' would arrive as b'"),
    (Person, {"fullName": "", "born": "2000-01-02"}, "fullName\n  String should have at least 1"),
    (Parcel, {"id": "x"}, r"Invalid UUID - at `\$.id`"),
    (Checked, {"count": 0}, "Input should be greater than 0"),
    (dict[str, Any], {"when": NOON}, "Object of type datetime is not JSON serializable$"),
    (object, NOON, "not JSON serializable; annotate value with datetime, so that the worker reads"),
]


@pytest.mark.parametrize("part", WRONG, ids=[f"{part[0]} {part[1]}"[:60] for part in WRONG])
def test_wrong_argument_is_an_error_of_the_push(
    app: dueq.App, there_and_back: There, part: tuple[Any, object, str]
) -> None:
    annotation, value, wanted = part
    with pytest.raises(
        (TypeError, errors.InvalidError), match=f"(?s)^task take: value: .*{wanted}"
    ):
        there_and_back(annotation, value)
    assert app.queue("default").stats().ready == 0


def test_wrong_argument_of_a_message_is_an_error_of_the_worker(app: dueq.App) -> None:
    @app.task
    def take(first: UUID, *more: date, **named: Decimal) -> None: ...

    def pushed(*args: object, **kwargs: object) -> None:
        body = json.dumps({"args": args, "kwargs": kwargs})
        app.queue("default").push(body, headers={"task": "take"}, max_attempts=1)
        drain(app)

    with pytest.raises(BadTask, match=r"^task take: first: 'x' is not a UUID$"):
        pushed("x")
    with pytest.raises(BadTask, match=r"^task take: argument 2: 'x' is not a date"):
        pushed(str(ID), "x")
    with pytest.raises(BadTask, match=r"^task take: price: 'x' is not a decimal number"):
        pushed(str(ID), price="x")
    pushed(str(ID), "2026-01-02", price="1.5")
    app.push("take", [ID, NOON.date()], {"price": Decimal(2)})
    app.push("take", [ID])
    assert [job.args for job in drain(app)] == [[ID, NOON.date()], [ID]]


def test_task_of_another_program_is_written_by_its_values(app: dueq.App) -> None:
    app.push("there", [NOON, [LINE], {"a": ID}], {"status": Status.PAID})
    [waiting] = app.queue("default").peek("ready")
    assert waiting.json() == {
        "args": [
            "2026-11-28T12:00:00Z",
            [{"sku": "a-1", "price": "1.50"}],
            {"a": str(ID)},
        ],
        "kwargs": {"status": "paid"},
    }
    with pytest.raises(
        errors.InvalidError, match=r"task there: argument 2: the datetime .* no time"
    ):
        app.push("there", [1, [NOON.replace(tzinfo=None)]])
    with pytest.raises(TypeError, match="task there: at: Object of type object is not JSON"):
        app.push("there", [], {"at": object()})


def passing(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator that passes all arguments on."""

    @functools.wraps(function)
    def inner(*args: object, **kwargs: object) -> object:
        return function(*args, **kwargs)

    return inner


def test_decorators_that_pass_all_on_are_looked_through(app: dueq.App) -> None:
    got: list[object] = []

    @app.task
    @passing
    @passing
    def take(when: datetime) -> None:
        got.append(when)

    class Object:
        def __call__(self, when: datetime) -> None:
            got.append(when)

    called: dueq.Task[..., None] = app.task("object")(Object())
    part: dueq.Task[..., None] = app.task("part")(functools.partial(take.handler, when=NOON))
    for task, kwargs in [(take, {"when": NOON}), (called, {"when": NOON}), (part, {})]:
        task.push(**kwargs)
    drain(app)
    assert got == [NOON, NOON, NOON]


def test_annotation_that_is_unknown_at_run_time(app: dueq.App) -> None:
    got: list[object] = []

    @app.task
    def take(path: PurePath | str, when: datetime = NOON) -> None:
        got.append((path, when))

    take.push("a", NOON)
    drain(app)
    assert got == [("a", NOON)]
    says = "path: .*not JSON serializable; the worker cannot read the annotations: name 'PurePath'"
    with pytest.raises(TypeError, match=says):
        take.push(NOON)  # type: ignore[arg-type]


def test_unique_task_has_the_same_id_for_the_same_instant(app: dueq.App) -> None:
    @app.task(unique=60)
    def take(when: datetime) -> None: ...

    take.push(NOON)
    with pytest.raises(dueq.Duplicate):
        take.push(NOON.astimezone(timezone(timedelta(hours=5))))


class Own:
    """Makes moments and ids itself, and writes nothing as JSON does."""

    name = "own"

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []

    def dumps(self, value: dict[str, Any], /) -> bytes:
        self.bodies.append(value)
        return b"%d" % (len(self.bodies) - 1)

    def loads(self, data: bytes, /) -> object:
        return self.bodies[int(data)]


def test_another_serializer_gets_the_values_themselves(dueq_url: str) -> None:
    app = dueq.App(serializers=[Own()])
    got: list[object] = []

    @app.task(serializer="own")
    def take(when: datetime, line: Line, ids: list[UUID]) -> None:
        got.extend([when, line, ids])

    take.push(NOON, LINE, [ID])
    app.push("take", [NOON, {"sku": "a-1", "price": Decimal("1.50")}, [ID]])
    drain(app)
    assert got == [NOON, LINE, [ID]] * 2


# What a middleware gives


def test_middleware_provides_what_handlers_ask_for(app: dueq.App) -> None:
    got: list[object] = []

    @app.middleware
    def outer(job: dueq.Job, call_next: Callable[[], Any]) -> Any:
        job.provide(db="outer", user="Ada", other=1)
        return call_next()

    @app.middleware
    async def inner(job: dueq.Job, call_next: Callable[[], Any]) -> Any:
        job.provide(db=f"inner {job.args}")
        return await call_next()

    @app.task
    def plain(order: int, *, db: str = dueq.PROVIDED) -> None:
        got.append((order, db))
        with pytest.raises(
            errors.InvalidError, match=r"provide: the handler of the job .* has begun"
        ):
            dueq.current_job().provide(db=1)

    @app.task
    async def later(db: str = dueq.PROVIDED, user: str | None = None) -> None:
        got.append((db, user))

    @app.task
    def none() -> None:
        got.append(())

    @app.task
    @passing
    def wrapped(*, db: str = dueq.PROVIDED, more: int = 1) -> None:
        got.append((db, more))

    @app.on("orders")
    def take(message: dueq.JobMessage, db: str = dueq.PROVIDED) -> None:
        got.append((message.body, db))

    plain.push(1)
    later.push()
    none.push()
    wrapped.push(more=2)
    with pytest.raises(TypeError, match="task wrapped: only a middleware may provide db"):
        wrapped.push(db="x")
    app.queue("orders").push("x")
    drain(app)
    assert got == [(1, "inner [1]"), ("inner []", "Ada"), (), ("inner []", 2), (b"x", "inner []")]
    assert repr(dueq.PROVIDED) == "dueq.PROVIDED"


def test_what_is_provided_is_not_pushed(app: dueq.App) -> None:
    @app.task(max_attempts=1)
    def take(order: int, db: str = dueq.PROVIDED) -> None: ...

    for args, kwargs in [((1, "x"), {}), ((1,), {"db": "x"})]:
        with pytest.raises(TypeError, match="task take: only a middleware may provide db"):
            app.push("take", args, kwargs)
    with pytest.raises(TypeError, match="task take: no middleware provides db"):
        take.push(1)
        drain(app)
    header = {"task": "take"}
    app.queue("default").push('{"args":[1],"kwargs":{"db":"x"}}', headers=header, max_attempts=1)
    with pytest.raises(BadTask, match="task take: only a middleware may provide db"):
        drain(app)
    app.queue("default").push('{"args":[1,2,3]}', headers=header, max_attempts=1)
    with pytest.raises(BadTask, match="task take: too many positional arguments"):
        drain(app)
