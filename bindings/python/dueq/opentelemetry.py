"""
Traces and metrics by OpenTelemetry, with the names of its conventions for messaging. It needs
opentelemetry-api: dueq[opentelemetry].

    import dueq.opentelemetry

    dueq.opentelemetry.instrument()

A message carries the context of who pushed it in its headers; the span of its block, in whatever
process and language, goes on with that trace. `opentelemetry-instrument` calls instrument() itself.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from opentelemetry import context, metrics, propagate, trace
from opentelemetry.trace import Link, SpanKind, Status, StatusCode

from dueq import _core, _trace
from dueq._link import KEYED
from dueq._loop import Loop
from dueq.draft import headers_of, with_headers
from dueq.errors import Duplicate
from dueq.serializers import TASK

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import SpanContext, TracerProvider
    from opentelemetry.util.types import AttributeValue

    from dueq._fields import Fields

__all__ = ["Instrumentor", "instrument", "uninstrument"]

_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
_ERROR = "error.type"


def instrument(
    tracer_provider: TracerProvider | None = None, meter_provider: MeterProvider | None = None
) -> None:
    """
    Traces and counts from now on what this process pushes, and the messages that it works on. The
    providers are the global ones where none is given.
    """
    _trace.tracer = _Tracer(tracer_provider, meter_provider)


def uninstrument() -> None:
    """Ends it. Blocks that run have their spans."""
    _trace.tracer = None


class Instrumentor:
    """For `opentelemetry-instrument`, which finds it by its entry point."""

    def instrument(self, **options: object) -> None:
        """As instrument(), with the global providers."""
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

    def sending(self, queue: str, rows: tuple[_core.DraftRow, ...]) -> _trace.Sending:
        return _Sending(self, queue, rows)

    def created(self, queue: str, row: _core.DraftRow) -> _core.DraftRow:
        name = queue.partition(KEYED)[0]
        about = _about(name, "create")
        self.sent.add(1, _about(name, "send"))
        if _context_of(headers_of(row)).is_valid:
            return row
        attributes = _of_one(about, row[1])
        with self.spans.start_as_current_span(
            _name(about), kind=SpanKind.PRODUCER, attributes=attributes
        ):
            return _carrying(row)

    def received(self, messages: Sequence[Fields], since: int) -> None:
        now = time.time_ns()
        about = _about(messages[0].queue, "receive")
        attributes = _of_one(about, messages[0].id if len(messages) == 1 else "")
        if len(messages) > 1:
            attributes["messaging.batch.message_count"] = len(messages)
        links = _links(_context_of(message.headers) for message in messages)
        span = self.spans.start_span(
            _name(about), None, SpanKind.CLIENT, attributes, links, start_time=since
        )
        span.end(now)
        self.consumed.add(len(messages), about)
        self.operation_seconds.record((now - since) / 1e9, about)

    def processing(self, message: Fields) -> _trace.Processing:
        return _Processing(self, message)


class _Sending(_trace.Sending):
    __slots__ = ("_about", "_block", "_since", "_span", "_tracer")

    def __init__(self, tracer: _Tracer, queue: str, rows: tuple[_core.DraftRow, ...]) -> None:
        super().__init__(rows)
        self._tracer = tracer
        self._about = _about(queue, "send")
        links = _links(_context_of(headers_of(row)) for row in rows)
        own = len(links) < len(rows)
        self._since = time.time_ns()
        self._span = tracer.spans.start_span(
            _name(self._about),
            kind=SpanKind.PRODUCER if own else SpanKind.CLIENT,
            attributes=self._about,
            links=links,
            start_time=self._since,
        )
        self._block = trace.use_span(self._span)
        if len(rows) > 1:
            self._span.set_attribute("messaging.batch.message_count", len(rows))

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
        about = dict(self._about)
        refused = sum(status == _core.DUPLICATE for status, _ in self.outcomes)
        if error is not None:
            _fail(self._span, about, error)
        elif len(self.rows) == 1:
            self._span.set_attribute("messaging.message.id", self.outcomes[0][1] or self.rows[0][1])
            if refused:
                about[_ERROR] = _class(Duplicate)
                self._span.set_attribute(_ERROR, about[_ERROR])
                self._span.set_status(Status(StatusCode.ERROR, "the id is taken"))
        now = max(time.time_ns(), self._since)
        self._span.end(now)
        self._tracer.operation_seconds.record((now - self._since) / 1e9, about)
        if len(self.rows) > refused:
            self._tracer.sent.add(len(self.rows) - refused, about)
        if refused:
            self._tracer.sent.add(refused, {**about, _ERROR: _class(Duplicate)})


class _Processing:
    def __init__(self, tracer: _Tracer, message: Fields) -> None:
        self._tracer = tracer
        self._message = message
        self._about = _about(message.queue, "process")
        here = context.get_current()
        is_alone = not trace.get_current_span(here).get_span_context().is_valid
        there = propagate.extract(message.headers, here if is_alone else context.Context())
        parent = there if is_alone else here
        attributes = _of_one(self._about, message.id)
        attributes["messaging.dueq.attempt"] = message.attempt
        if TASK in message.headers:
            attributes["messaging.dueq.task"] = message.headers[TASK]
        self._since = time.time_ns()
        self._span = tracer.spans.start_span(
            _name(self._about),
            parent,
            SpanKind.CONSUMER,
            attributes,
            _links([trace.get_current_span(there).get_span_context()]),
            self._since,
        )
        self._token = context.attach(trace.set_span_in_context(self._span, parent))
        if isinstance(message._home, Loop):  # else its reserve has counted it
            tracer.consumed.add(1, self._about)

    def end(self, error: BaseException | None) -> None:
        context.detach(self._token)
        about = dict(self._about)
        if isinstance(error, Exception):  # all else is no failure: the message is released
            _fail(self._span, about, error)
            message = self._message
            if not message._settled and message.attempt == message.max_attempts:
                self._span.set_attribute("messaging.dueq.dead", True)
        now = max(time.time_ns(), self._since)
        self._span.end(now)
        self._tracer.process_seconds.record((now - self._since) / 1e9, about)


def _about(queue: str, operation: str) -> dict[str, str]:
    """What spans and metrics say of an operation."""
    # No other queue's name ends in # and a number.
    name, _, number = queue.rpartition("#")
    partition = {"messaging.destination.partition.id": number} if number.isdecimal() else {}
    return {
        "messaging.system": "dueq",
        "messaging.destination.name": name if name and partition else queue,
        "messaging.operation.type": operation,
        "messaging.operation.name": operation,
        **partition,
    }


def _name(about: Mapping[str, str]) -> str:
    return " ".join([about["messaging.operation.name"], about["messaging.destination.name"]])


def _of_one(about: Mapping[str, str], id: str) -> dict[str, AttributeValue]:
    return {**about, "messaging.message.id": id} if id else dict(about)


def _context_of(headers: Mapping[str, str]) -> SpanContext:
    """The context in which a message was made, if its headers have one."""
    return trace.get_current_span(_extracted(headers)).get_span_context()


def _extracted(headers: Mapping[str, str]) -> Context:
    return propagate.extract(headers, context.Context()) if headers else context.Context()


def _links(contexts: Iterable[SpanContext]) -> list[Link]:
    return [Link(each) for each in contexts if each.is_valid]


def _carrying(row: _core.DraftRow) -> _core.DraftRow:
    """With the context of the caller, unless it has one, or has no room for it."""
    headers = headers_of(row)
    if _context_of(headers).is_valid:
        return row
    added: dict[str, str] = {}
    propagate.inject(added)
    return with_headers(row, {**headers, **added}) or row


def _class(kind: type[BaseException]) -> str:
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return f"{module}{kind.__qualname__}"


def _fail(span: trace.Span, about: dict[str, str], error: BaseException) -> None:
    about[_ERROR] = _class(type(error))
    span.set_attribute(_ERROR, about[_ERROR])
    span.record_exception(error)
    span.set_status(Status(StatusCode.ERROR, str(error)))
