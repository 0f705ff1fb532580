"""Chains: tasks that run one after the other. Each message has the rest of its chain with it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from dueq import _core
from dueq._decision import Push
from dueq._forms import write_any
from dueq._gaps import FAILURE, PREVIOUS, Gap, Place
from dueq.backoff import JITTERS, KINDS
from dueq.draft import DEFAULT_ROW, PLACES, Draft, TaskDraft, headers_of, with_headers
from dueq.errors import InvalidError, TooLargeError
from dueq.serializers import CHAIN, FAILED, JSON, TASK, BadTask

if TYPE_CHECKING:
    from dueq._message import MessageBase

# Bytes of the header. The rest of a message's headers is for its checkpoint and its steps.
_MAX_CHAIN = 32768

# Options that are numbers of milliseconds in a row.
_DURATIONS = ("delay", "at", "lease", "ttl", "unique", "durable_timeout", "keep")
_REPLACE = {
    _core.REFUSE: "refuse",
    _core.REPLACE: "replace",
    _core.REPLACE_BODY: "replace_body",
}


def chain(*links: TaskDraft, catch: TaskDraft | None = None) -> TaskDraft:
    """
    Makes one message of several tasks that run one after the other: when the job of a link has
    ended well, the worker acknowledges its message and pushes the next link in the same step.

        dueq.chain(
            charge.draft(17, 1250),
            pack.draft(17, payment=dueq.PREVIOUS),
            ship.draft(dueq.PREVIOUS),
            catch=refund.draft(17, dueq.FAILURE),
        ).push()

    links  drafts of tasks, of any queues and languages. dueq.PREVIOUS stands for what the handler
           of the link before returns. The delay of a link counts from the end of the one before
    catch  a draft that is pushed when a link has failed for good, which ends the chain: its message
           is dead, in its dead-letter queue, or deleted, or its time to live is over. dueq.FAILURE
           stands for which link failed, and how: a dict with link, task, queue, id and error

    Returns a draft to push, or for Job.push() and Queue.push_many(). The links behind the first one
    and `catch` take 32,768 bytes together, as they travel in a header: TooLargeError. Raises
    InvalidError for wrong drafts, and TypeError for what is no draft of a task.
    """
    if not links:
        raise TypeError("chain: give it drafts: dueq.chain(first.draft(), second.draft())")
    for number, link in enumerate(links, 1):
        _check(link, f"link {number}", PREVIOUS if number > 1 else None)
    if catch is not None:
        _check(catch, "catch", FAILURE)
    first, *others = links
    headers = dict(first.headers or {})
    text = Chain(
        1,
        len(links),
        headers.get(TASK, ""),
        "" if catch is None else catch.queue,
        "" if catch is None else _written(catch),
        tuple(map(_written, others)),
    ).text
    size = len(text.encode())
    if size > _MAX_CHAIN:
        raise TooLargeError(
            f"chain: the links behind the first one, and catch, take {size} bytes; {_MAX_CHAIN} "
            "are allowed: push large values to a database or a file, and give the links their keys"
        )
    draft = dataclasses.replace(first, json=..., headers={**headers, CHAIN: text})
    draft.row()
    return draft


class _Link(NamedTuple):
    """A draft as a chain has it."""

    queue: str
    row: _core.DraftRow
    gaps: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class _LinkDraft(TaskDraft):
    """A link that is to be pushed."""

    made: _core.DraftRow = DEFAULT_ROW

    def row(self) -> _core.DraftRow:
        return self.made


@dataclass(frozen=True, slots=True)
class Chain:
    """
    The header of a link (docs/internals/protocol.md, Chains).

    link, links  the number of this link, from 1 on, and of all links
    task         of this link
    catch_queue  ""; the chain has no catch
    catch        as JSON
    rest         the links behind this one, each as JSON
    """

    link: int
    links: int
    task: str
    catch_queue: str
    catch: str
    rest: tuple[str, ...]

    @classmethod
    def read(cls, text: str) -> Chain:
        """Raises BadTask."""
        catch_queue, *others = text.split("\n")
        if len(others) < 2:
            raise BadTask(f"the header {CHAIN} has {len(others) + 1} lines")
        numbers = others[0].split(" ", 2)
        if len(numbers) < 3 or not (numbers[0].isdecimal() and numbers[1].isdecimal()):
            raise BadTask(f"the second line of the header {CHAIN} is not LINK LINKS TASK")
        return cls(
            int(numbers[0]), int(numbers[1]), numbers[2], catch_queue, others[1], tuple(others[2:])
        )

    @property
    def text(self) -> str:
        head = f"{self.link} {self.links} {self.task}"
        return "\n".join((self.catch_queue, head, self.catch, *self.rest))

    def following(self) -> Following | None:
        """The next link; None: this is the last one. Raises BadTask."""
        if not self.rest:
            return None
        link = _read(self.rest[0])
        if not self.rest[1:] and not self.catch_queue:
            return Following(link, None)
        task = headers_of(link.row).get(TASK, "")
        rest = Chain(self.link + 1, self.links, task, self.catch_queue, self.catch, self.rest[1:])
        return Following(link, rest.text)

    def caught(self, id: str, queue: str, error: str) -> TaskDraft:
        """The draft of the catch, with what it is told. Raises BadTask."""
        failure = {
            "link": self.link,
            "task": self.task,
            "queue": queue,
            "id": id,
            "error": error,
        }
        return _draft(_read(self.catch), failure)


class Following(NamedTuple):
    """The next link of a chain. header: of its message; None: the chain ends with it."""

    link: _Link
    header: str | None

    @property
    def queue(self) -> str:
        return self.link.queue

    def draft(self, result: object) -> TaskDraft:
        """
        The message to push. result: what the handler has returned. Raises TypeError or ValueError
        if JSON cannot express it.
        """
        try:
            draft = _draft(self.link, result)
        except (TypeError, ValueError) as error:
            headers = headers_of(self.link.row)
            raise type(error)(
                f"what the handler returned goes to the next link of the chain, the task "
                f"{headers.get(TASK)}: {error}"
            ) from error
        if self.header is None:
            return draft
        headers = {**headers_of(draft.row()), CHAIN: self.header}
        row = with_headers(draft.row(), headers)
        if row is None:
            raise TooLargeError(f"the headers of the next link exceed {_core.MAX_HEADERS} bytes")
        return _LinkDraft(draft.body, queue=draft.queue, made=row)


def following(headers: Mapping[str, str]) -> Following | None:
    """The next link of the message with these headers; None: there is none. Raises BadTask."""
    text = headers.get(CHAIN)
    return None if text is None else Chain.read(text).following()


def caught(message: MessageBase) -> Push | None:
    """
    How to settle a message that says that a link of a chain has failed: it pushes the catch. None:
    the message is another one. Raises BadTask.
    """
    headers = message.headers
    if FAILED not in headers or TASK in headers:
        return None
    id, queue, error, *_ = *headers[FAILED].split("\n", 2), "", ""
    draft = Chain.read(headers.get(CHAIN, "")).caught(id, queue, error)
    return Push((draft,), None if draft.queue == message.queue else draft.queue)


def _check(draft: object, what: str, gap: Gap | None) -> None:
    """gap: what may stand for arguments of the draft."""
    if not isinstance(draft, TaskDraft):
        raise TypeError(
            f"chain: {what}: {draft!r} is no draft of a task: task.draft(), or app.draft('name')"
        )
    if CHAIN in (draft.headers or {}):
        raise InvalidError(f"chain: {what} is a chain itself: give its links one by one")
    if gap and draft.batch is not None:
        raise InvalidError(f"chain: {what} is in no batch: only the first link may be a member")
    for _, given in draft.gaps:
        if given is not gap:
            allowed = f"only {gap!r}" if gap else "neither dueq.PREVIOUS nor dueq.FAILURE"
            raise InvalidError(f"chain: {what}: {given!r}: here {allowed} stands for an argument")


def _written(draft: TaskDraft) -> str:
    """A draft as JSON."""
    row = Draft.row(draft)
    try:
        body = bytes(row[0]).decode() if not isinstance(row[0], str) else row[0]
    except UnicodeDecodeError:
        raise InvalidError(
            "chain: the body of a link is no text: tasks of a chain have a serializer of texts, "
            "such as json"
        ) from None
    value: dict[str, Any] = {"queue": draft.queue, "body": body}
    if draft.gaps:
        value["gaps"] = [place for place, _ in draft.gaps]
    for name, place in PLACES.items():
        if row[place] != DEFAULT_ROW[place]:
            wire = f"{name}_ms" if name in _DURATIONS else name
            value[wire] = _WRITE.get(name, _as_it_is)(row[place])
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _read(text: str) -> _Link:
    """Reads a draft that _written() has made. Raises BadTask."""
    try:
        value = json.loads(text)
        row: list[Any] = list(DEFAULT_ROW)
        queue, row[0] = value.pop("queue"), value.pop("body")
        gaps = tuple(value.pop("gaps", ()))
        for name, place in PLACES.items():
            wire = f"{name}_ms" if name in _DURATIONS else name
            if wire in value:
                row[place] = _READ.get(name, _as_it_is)(value.pop(wire))
        if value or not isinstance(queue, str) or not isinstance(row[0], str):
            raise ValueError(f"unknown members: {', '.join(value)}")
        for place in gaps:
            json.loads(row[0])["args" if isinstance(place, int) else "kwargs"][place]
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise BadTask(f"a link in the header {CHAIN} cannot be read: {error!r}") from error
    return _Link(queue, cast("_core.DraftRow", tuple(row)), gaps)


def _draft(link: _Link, value: object) -> TaskDraft:
    """The draft of a link. value: of the arguments that were not known."""
    row = link.row
    if link.gaps:
        written = write_any(value)
        body = JSON.loads(cast("str", row[0]).encode())
        for place in link.gaps:
            body["args" if isinstance(place, int) else "kwargs"][place] = written
        row = cast("_core.DraftRow", (JSON.dumps(body), *row[1:]))
    return _LinkDraft(row[0], queue=link.queue, made=row)


def _as_it_is(value: Any) -> Any:
    return value


def _backoff_json(row: _core.BackoffRow) -> dict[str, Any]:
    kind, jitter, base, cap, delays = row
    value: dict[str, Any] = {"kind": _name(KINDS, kind)}
    if jitter != _core.JITTER_NONE:
        value["jitter"] = _name(JITTERS, jitter)
    if kind == _core.BACKOFF_LIST:
        value["list_ms"] = list(delays)
    else:
        value["base_ms"] = base
    if cap:
        value["cap_ms"] = cap
    return value


def _backoff_row(value: dict[str, Any]) -> _core.BackoffRow:
    return (
        KINDS[value["kind"]],
        JITTERS[value.get("jitter", "none")],
        value.get("base_ms", 0),
        value.get("cap_ms", 0),
        tuple(value.get("list_ms", ())),
    )


def _name(numbers: Mapping[str, int], number: int) -> str:
    return next(name for name, each in numbers.items() if each == number)


_WRITE: dict[str, Callable[[Any], Any]] = {
    "headers": dict,
    "backoff": _backoff_json,
    "replace": _REPLACE.__getitem__,
}
_READ: dict[str, Callable[[Any], Any]] = {
    "headers": lambda value: tuple(value.items()),
    "backoff": _backoff_row,
    "replace": {name: number for number, name in _REPLACE.items()}.__getitem__,
}
