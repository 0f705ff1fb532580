"""
Traces and metrics by OpenTelemetry, with the names of its semantic conventions for messaging. Needs
opentelemetry-api, which dueq[opentelemetry] installs.

    import dueq.opentelemetry

    dueq.opentelemetry.instrument()

Headers of a message carry the context of its push. The span of the message's block, in any process
and language, continues that trace. `opentelemetry-instrument` calls instrument() itself.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeAlias
from urllib.parse import unquote

from opentelemetry import context, metrics, propagate, trace
from opentelemetry.trace import Link, SpanKind, Status, StatusCode

from dueq import _core, _trace
from dueq._consumer import ConsumerBase
from dueq._link import KEYED
from dueq._message import MessageBase
from dueq.draft import headers_of, id_of, with_headers
from dueq.errors import Duplicate
from dueq.serializers import TASK

if TYPE_CHECKING:
    from contextvars import Token

    from opentelemetry.context import Context
    from opentelemetry.metrics import Histogram, MeterProvider
    from opentelemetry.trace import SpanContext, TracerProvider

    from dueq._message import Home

__all__ = ["Instrumentor", "instrument", "uninstrument"]

_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
_ERROR = "error.type"
_PORT = 6379
_HOST = re.compile(r"rediss?://(?:[^/?]*@)?(\[[^]]+]|[^:/?]+)(?::(\d+))?")
_SOCKET = re.compile(r"unix://(?:[^/?]*@)?(/[^?]+)")

# Attributes of an operation, for spans and metrics.
About: TypeAlias = "dict[str, str | int]"


def instrument(
    tracer_provider: TracerProvider | None = None, meter_provider: MeterProvider | None = None
) -> None:
    """
    From now on, traces and counts the messages that this process pushes and works on. Without a
    provider the global one is used.
    """
    _trace.tracer = _Tracer(tracer_provider, meter_provider)


def uninstrument() -> None:
    """Ends the tracing. Blocks that run now keep their spans."""
    _trace.tracer = None


class Instrumentor:
    """The entry point of `opentelemetry-instrument`."""

    def instrument(self, **options: object) -> None:
        """Calls instrument() with the global providers."""
        instrument()


class _Tracer:
    def __init__(self, spans: TracerProvider | None, meters: MeterProvider | None) -> None:
        self.spans = trace.get_tracer("dueq", _core.version(), spans)
        meter = metrics.get_meter("dueq", _core.version(), meters)
        self.sent = meter.create_counter(
            "messaging.client.sent.messages",
            "{message}",
            "Number of messages producer attempted to send to the broker.",
        )
        self.consumed = meter.create_counter(
            "messaging.client.consumed.messages",
            "{message}",
            "Number of messages that were delivered to the application.",
        )
        self.operation_seconds = meter.create_histogram(
            "messaging.client.operation.duration",
            "s",
            "Duration of messaging operation initiated by a producer or consumer client.",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )
        self.process_seconds = meter.create_histogram(
            "messaging.process.duration",
            "s",
            "Duration of processing operation.",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )

    def sending(self, home: Home, queue: str, rows: tuple[_core.DraftRow, ...]) -> _trace.Sending:
        return _Sending(self, home, queue, rows)

    def created(self, home: Home, queue: str, row: _core.DraftRow) -> _core.DraftRow:
        name = queue.partition(KEYED)[0]
        about = _about(home, name, "create")
        self.sent.add(1, _about(home, name, "send"))
        if _context_of(headers_of(row)).is_valid:
            return row
        attributes = _of_one(about, id_of(row))
        with self.spans.start_as_current_span(
            _name(about), kind=SpanKind.PRODUCER, attributes=attributes
        ):
            return _carrying(row)

    def received(self, messages: Sequence[MessageBase], since: int) -> None:
        about = _about(messages[0]._home, messages[0].queue, "receive")
        span = _Span(self, about, SpanKind.CLIENT, _links_to(messages), since=since)
        span.tell_of(messages)
        self.consumed.add(len(messages), about)
        span.end(self.operation_seconds)

    def processing(self, message: MessageBase) -> _trace.Processing:
        return _Processing(self, message)

    def settling(
        self, verb: str, home: Home, queue: str, messages: Sequence[MessageBase | str]
    ) -> _Settling:
        return _Settling(self, verb, home, queue, messages)

    def settled(self, verb: str, message: MessageBase) -> None:
        # The settlement is sent with a later request. So its span has no duration and no outcome.
        _Settling(self, verb, message._home, message.queue, (message,)).span.end()


class _Span:
    """A span that has begun, and the attributes of its operation."""

    def __init__(
        self,
        tracer: _Tracer,
        about: About,
        kind: SpanKind,
        links: Sequence[Link] = (),
        parent: Context | None = None,
        since: int | None = None,
    ) -> None:
        self.about = about
        self._since = time.time_ns() if since is None else since
        self.open = tracer.spans.start_span(
            _name(about), parent, kind, about, links, start_time=self._since
        )

    def tell_of(self, messages: Sequence[MessageBase | str]) -> None:
        """Sets the message's id, or the number of messages."""
        if len(messages) > 1:
            self.open.set_attribute("messaging.batch.message_count", len(messages))
        elif isinstance(messages[0], MessageBase):
            self.open.set_attribute("messaging.message.id", messages[0].id)

    def fail(self, error: BaseException) -> None:
        self.about = {**self.about, _ERROR: _class(type(error))}
        self.open.set_attribute(_ERROR, _class(type(error)))
        self.open.record_exception(error)
        self.open.set_status(Status(StatusCode.ERROR, str(error)))

    def end(self, seconds: Histogram | None = None) -> None:
        now = max(time.time_ns(), self._since)
        self.open.end(now)
        if seconds:
            seconds.record((now - self._since) / 1e9, self.about)


class _Sending(_trace.Sending):
    __slots__ = ("_block", "_span", "_tracer")

    def __init__(
        self, tracer: _Tracer, home: Home, queue: str, rows: tuple[_core.DraftRow, ...]
    ) -> None:
        super().__init__(rows)
        self._tracer = tracer
        links = _links(_context_of(headers_of(row)) for row in rows)
        kind = SpanKind.PRODUCER if len(links) < len(rows) else SpanKind.CLIENT
        self._span = _Span(tracer, _about(home, queue, "send"), kind, links)
        self._block = trace.use_span(self._span.open)
        if len(rows) > 1:
            self._span.open.set_attribute("messaging.batch.message_count", len(rows))

    def __enter__(self) -> Self:
        self._block.__enter__()
        self.rows = tuple(_carrying(row) for row in self.rows)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._block.__exit__(None, None, None)
        span, tracer = self._span, self._tracer
        refused = sum(status == _core.DUPLICATE for status, _ in self.outcomes)
        about_refused = {**span.about, _ERROR: _class(Duplicate)}
        if error is not None:
            span.fail(error)
        elif len(self.rows) == 1:
            span.open.set_attribute(
                "messaging.message.id", self.outcomes[0][1] or id_of(self.rows[0])
            )
            if refused:
                span.about = about_refused
                span.open.set_attribute(_ERROR, _class(Duplicate))
                span.open.set_status(Status(StatusCode.ERROR, "the id is taken"))
        span.end(tracer.operation_seconds)
        if len(self.rows) > refused:
            tracer.sent.add(len(self.rows) - refused, span.about)
        if refused:
            tracer.sent.add(refused, about_refused)


class _Processing:
    def __init__(self, tracer: _Tracer, message: MessageBase) -> None:
        self._seconds = tracer.process_seconds
        about = _about(message._home, message.queue, "process")
        here = context.get_current()
        is_alone = not _is_in_span(here)
        there = propagate.extract(message.headers, here if is_alone else context.Context())
        parent = there if is_alone else here
        links = _links([trace.get_current_span(there).get_span_context()])
        self._span = _Span(tracer, about, SpanKind.CONSUMER, links, parent)
        self._span.tell_of((message,))
        self._span.open.set_attribute("messaging.dueq.attempt", message.attempt)
        if TASK in message.headers:
            self._span.open.set_attribute("messaging.dueq.task", message.headers[TASK])
        self.context = trace.set_span_in_context(self._span.open, parent)
        self._token: Token[Context] | None = context.attach(self.context)
        if isinstance(message._home, ConsumerBase):  # else the reserve has counted it
            tracer.consumed.add(1, about)

    def end(self, message: MessageBase, error: BaseException | None) -> None:
        if not self._token:
            return
        context.detach(self._token)
        self._token = None
        if isinstance(error, Exception):  # others are no failure: the message is released
            self._span.fail(error)
            if not message._settled and message.attempt == message.max_attempts:
                self._span.open.set_attribute("messaging.dueq.dead", True)
        self._span.end(self._seconds)


class _Settling:
    def __init__(
        self,
        tracer: _Tracer,
        verb: str,
        home: Home,
        queue: str,
        messages: Sequence[MessageBase | str],
    ) -> None:
        self._seconds = tracer.operation_seconds
        parent = context.get_current()
        first = messages[0]
        # The block of the message has ended, and this settlement belongs to its span.
        if isinstance(first, MessageBase) and len(messages) == 1 and not _is_in_span(parent):
            processing = first._processing
            parent = processing.context if isinstance(processing, _Processing) else parent
        about = _about(home, queue, verb, "settle")
        self.span = _Span(tracer, about, SpanKind.CLIENT, _links_to(messages), parent)
        self.span.tell_of(messages)

    def __enter__(self) -> None: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self.span.fail(error)
        self.span.end(self._seconds)


def _about(home: Home, queue: str, name: str, kind: str | None = None) -> About:
    """Attributes of an operation. kind: its type; None: the same as its name."""
    # Only the name of a partition ends in # and a number.
    whole, _, number = queue.rpartition("#")
    partition = {"messaging.destination.partition.id": number} if number.isdecimal() else {}
    return {
        "messaging.system": "dueq",
        "messaging.destination.name": whole if whole and partition else queue,
        "messaging.operation.type": kind or name,
        "messaging.operation.name": name,
        **partition,
        **_server(home.where),
    }


@lru_cache
def _server(url: str) -> dict[str, str | int]:
    """
    Attributes with the server's address; empty for a list of servers, and for an embedded server.
    """
    if found := _SOCKET.match(url):
        return {"server.address": unquote(found[1])}
    if found := _HOST.match(url):
        return {"server.address": found[1].strip("[]"), "server.port": int(found[2] or _PORT)}
    return {}


def _name(about: About) -> str:
    return f"{about['messaging.operation.name']} {about['messaging.destination.name']}"


def _of_one(about: About, id: str) -> About:
    return {**about, "messaging.message.id": id} if id else about


def _is_in_span(here: Context) -> bool:
    return trace.get_current_span(here).get_span_context().is_valid


def _context_of(headers: Mapping[str, str]) -> SpanContext:
    """The context of a message's push, from its headers; invalid if they carry none."""
    return trace.get_current_span(_extracted(headers)).get_span_context()


def _extracted(headers: Mapping[str, str]) -> Context:
    return propagate.extract(headers, context.Context()) if headers else context.Context()


def _links(contexts: Iterable[SpanContext]) -> list[Link]:
    return [Link(each) for each in contexts if each.is_valid]


def _links_to(messages: Iterable[MessageBase | str]) -> list[Link]:
    """Links to the contexts in which the messages were pushed, where their headers carry one."""
    return _links(_context_of(each.headers) for each in messages if isinstance(each, MessageBase))


def _carrying(row: _core.DraftRow) -> _core.DraftRow:
    """
    The row with the caller's context added, unless it carries one already or has no room for it.
    """
    headers = headers_of(row)
    if _context_of(headers).is_valid:
        return row
    added: dict[str, str] = {}
    propagate.inject(added)
    return with_headers(row, {**headers, **added}) or row


def _class(kind: type[BaseException]) -> str:
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return f"{module}{kind.__qualname__}"
