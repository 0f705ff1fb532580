"""Traces and metrics, as OpenTelemetry's SDK gets them."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, NumberDataPoint
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

import dueq
import dueq.aio
from dueq import _trace, opentelemetry
from dueq.testing import drain
from private_server import Server
from worker_process import WorkerProcess


class Seen:
    """What was exported."""

    def __init__(self) -> None:
        self._spans = InMemorySpanExporter()
        self._metrics = InMemoryMetricReader()
        self.tracers = TracerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(self._spans))
        self.meters = MeterProvider([self._metrics])

    def spans(self, name: str) -> list[ReadableSpan]:
        return [span for span in self._spans.get_finished_spans() if span.name == name]

    def names(self) -> list[str]:
        return [span.name for span in self._spans.get_finished_spans()]

    def span(self, name: str) -> ReadableSpan:
        [span] = self.spans(name)
        return span

    def counts(self, name: str) -> dict[str, int]:
        """Of a metric how many there are, by operation and, if there is one, error."""
        found: dict[str, int] = {}
        data = self._metrics.get_metrics_data()
        for metric in data.resource_metrics[0].scope_metrics[0].metrics if data else ():
            for point in metric.data.data_points if metric.name == name else ():
                about = dict(point.attributes or {})
                assert about["messaging.system"] == "dueq"
                words = [about["messaging.operation.name"], about.get("error.type")]
                key = " ".join(str(word) for word in words if word)
                number = point.value if isinstance(point, NumberDataPoint) else point.count
                found[key] = found.get(key, 0) + int(number)
        return found


@pytest.fixture
def seen() -> Iterator[Seen]:
    seen = Seen()
    opentelemetry.instrument(seen.tracers, seen.meters)
    yield seen
    opentelemetry.uninstrument()


@pytest.fixture
def orders(server: Server) -> Iterator[dueq.Queue]:
    server.command("FLUSHALL")
    with dueq.Queue("orders", server.url) as made:
        yield made


def header_of(span: ReadableSpan) -> str:
    assert span.context
    trace_id, span_id = ids(span)
    return f"00-{trace_id:032x}-{span_id:016x}-{span.context.trace_flags:02x}"


def ids(span: ReadableSpan) -> tuple[int, int]:
    assert span.context
    return span.context.trace_id, span.context.span_id


def linked(span: ReadableSpan) -> list[tuple[int, int]]:
    return [(link.context.trace_id, link.context.span_id) for link in span.links]


def test_process_goes_on_with_the_trace_of_the_push(orders: dueq.Queue, seen: Seen) -> None:
    id = orders.push("pack", id="order-7", headers={"by": "shop"})
    for message in orders.consume(timeout=0.1):
        with message:
            assert trace.get_current_span().is_recording()
            assert set(message.headers) == {"by", "traceparent"}
    send, process = seen.span("send orders"), seen.span("process orders")
    assert (send.kind, process.kind) == (SpanKind.PRODUCER, SpanKind.CONSUMER)
    assert process.parent is not None
    assert (process.parent.trace_id, process.parent.span_id) == ids(send)
    assert linked(process) == [ids(send)]
    ack = seen.span("ack orders")
    assert (ack.kind, ack.parent, linked(ack)) == (SpanKind.CLIENT, process.context, [ids(send)])
    about = {
        "messaging.system": "dueq",
        "messaging.destination.name": "orders",
        "messaging.message.id": id,
        "server.address": orders.url.removeprefix("unix://"),
    }
    assert dict(send.attributes or {}) == {
        **about,
        "messaging.operation.type": "send",
        "messaging.operation.name": "send",
    }
    assert dict(process.attributes or {}) == {
        **about,
        "messaging.operation.type": "process",
        "messaging.operation.name": "process",
        "messaging.dueq.attempt": 1,
    }
    assert dict(ack.attributes or {}) == {
        **about,
        "messaging.operation.type": "settle",
        "messaging.operation.name": "ack",
    }
    assert seen.counts("messaging.client.sent.messages") == {"send": 1}
    assert seen.counts("messaging.client.consumed.messages") == {"process": 1}
    assert seen.counts("messaging.client.operation.duration") == {"send": 1}
    assert seen.counts("messaging.process.duration") == {"process": 1}
    assert not trace.get_current_span().get_span_context().is_valid


def test_spans_are_children_of_what_runs(orders: dueq.Queue, seen: Seen) -> None:
    tracer = seen.tracers.get_tracer("shop")
    with tracer.start_as_current_span("web"):
        orders.push("pack")
    with tracer.start_as_current_span("cron"):
        message = orders.reserve()
        assert message is not None
        with message:
            pass
    send, process = seen.span("send orders"), seen.span("process orders")
    assert send.parent == seen.span("web").context
    assert process.parent == seen.span("cron").context
    assert linked(process) == [ids(send)]


def test_each_delivery_has_a_span_and_the_last_says_that_it_is_dead(
    orders: dueq.Queue, seen: Seen
) -> None:
    def fail(message: dueq.Message) -> None:
        raise ValueError("no luck")

    failures: list[int] = []
    orders.push("pack", max_attempts=2, backoff=0)
    orders.consume(timeout=0.5).work(fail, lambda message, _: failures.append(message.attempt))
    assert (failures, orders.stats().dead) == ([1, 2], 1)
    first, second = seen.spans("process orders")
    assert linked(first) == linked(second) == [ids(seen.span("send orders"))]
    for span in (first, second):
        assert span.status.status_code is StatusCode.ERROR
        assert span.status.description == "no luck"
        assert [event.name for event in span.events] == ["exception"]
        assert (span.attributes or {})["error.type"] == "ValueError"
    assert "messaging.dueq.dead" not in (first.attributes or {})
    assert (second.attributes or {})["messaging.dueq.dead"] is True
    assert seen.counts("messaging.process.duration") == {"process ValueError": 2}


def test_a_released_message_has_not_failed(orders: dueq.Queue, seen: Seen) -> None:
    orders.push("pack")
    message = orders.reserve()
    assert message is not None
    with pytest.raises(SystemExit), message:
        raise SystemExit
    assert seen.span("process orders").status.status_code is StatusCode.UNSET


def settling(seen: Seen) -> list[str]:
    """The names of settlements, with their errors."""
    found = []
    for name in ("ack", "retry", "release", "bury"):
        for span in seen.spans(f"{name} orders"):
            about = span.attributes or {}
            assert (about["messaging.operation.type"], span.kind) == ("settle", SpanKind.CLIENT)
            found.append(f"{name} {about.get('error.type', '')}".rstrip())
    return found


def test_settlements_belong_to_what_settles(orders: dueq.Queue, seen: Seen) -> None:
    orders.push_many(dueq.Draft(name, id=name) for name in ["ack", "retry", "release", "bury"])
    tracer = seen.tracers.get_tracer("shop")
    for message in orders.reserve_many(4):
        with tracer.start_as_current_span(message.id):
            getattr(message, message.id)()
        span = seen.span(f"{message.id} orders")
        assert span.parent == seen.span(message.id).context
        assert linked(span) == [ids(seen.span("send orders"))]
        assert (span.attributes or {})["messaging.message.id"] == message.id
    assert settling(seen) == ["ack", "retry", "release", "bury"]
    durations = seen.counts("messaging.client.operation.duration")
    assert durations == dict.fromkeys(["send", "receive", *durations], 1)
    assert len(durations) == 6


def test_a_settlement_after_the_block_is_a_child_of_its_span(
    orders: dueq.Queue, seen: Seen
) -> None:
    orders.push("pack")
    message = orders.reserve()
    assert message is not None
    with pytest.raises(ValueError, match="no luck"), message:
        raise ValueError("no luck")
    assert seen.span("retry orders").parent == seen.span("process orders").context
    with pytest.raises(dueq.LeaseLost):
        message.ack()
    assert settling(seen) == ["ack dueq.errors.LeaseLost", "retry"]
    assert seen.span("ack orders").status.status_code is StatusCode.ERROR


def test_many_are_settled_by_one_span(orders: dueq.Queue, seen: Seen) -> None:
    orders.push_many(["a", "b"])
    messages = orders.reserve_many(2)
    assert orders.ack_many([messages[0], messages[1].ticket]) == [True, True]
    ack = seen.span("ack orders")
    assert (ack.attributes or {})["messaging.batch.message_count"] == 2
    assert linked(ack) == [ids(seen.span("send orders"))]  # a ticket has no headers


def test_a_consumers_settlements_are_spans_without_a_duration(
    orders: dueq.Queue, seen: Seen
) -> None:
    def fail(message: dueq.Message) -> None:
        if message.attempt == 1:
            raise ValueError("no luck")

    orders.push("pack", backoff=0)
    orders.consume(timeout=0.5).work(fail, lambda message, error: None)
    assert settling(seen) == ["ack", "retry"]
    first, second = seen.spans("process orders")
    assert seen.span("retry orders").parent == first.context
    assert seen.span("ack orders").parent == second.context
    assert seen.counts("messaging.client.operation.duration") == {"send": 1}


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("redis://127.0.0.1", ("127.0.0.1", 6379)),
        ("rediss://shop:secret@redis.example:7000/1?timeout=9s", ("redis.example", 7000)),
        ("redis://shop:s%40e[@[2001:db8::3]:6380", ("2001:db8::3", 6380)),
        ("unix://shop:secret@/run/my%20redis.sock?db=2", ("/run/my redis.sock", None)),
        ("embedded:/var/lib/shop", (None, None)),
        ("redis+sentinel://s1,s2/mymaster", (None, None)),
        ("redis+cluster://h1,h2:7000", (None, None)),
    ],
)
def test_the_server_is_that_of_the_url(
    url: str, server: tuple[str | None, int | None], seen: Seen
) -> None:
    with dueq.Queue("orders", url) as queue, pytest.raises(dueq.Error):
        queue.push("pack", headers={"name": "x" * 65_535})
    about = seen.span("send orders").attributes or {}
    assert (about.get("server.address"), about.get("server.port")) == server
    assert "secret" not in str(about)


def test_batches_link_to_each_message(orders: dueq.Queue, seen: Seen) -> None:
    assert orders.push_many(["a", dueq.Draft("b", id="b"), dueq.Draft("c", id="b")])[2] is None
    messages = orders.reserve_many(5)
    send, receive = seen.span("send orders"), seen.span("receive orders")
    assert (send.attributes or {})["messaging.batch.message_count"] == 3
    assert send.status.status_code is StatusCode.UNSET
    assert receive.kind is SpanKind.CLIENT
    assert (receive.attributes or {})["messaging.batch.message_count"] == 2
    assert linked(receive) == [ids(send)] * 2
    assert {message.headers["traceparent"] for message in messages} == {header_of(send)}
    assert seen.counts("messaging.client.sent.messages") == {
        "send": 2,
        "send dueq.errors.Duplicate": 1,
    }
    for message in messages:
        with message:
            pass
    # They are counted once, where they were received.
    assert seen.counts("messaging.client.consumed.messages") == {"receive": 2}


def test_members_of_a_batch_go_on_with_the_trace(
    server: Server, orders: dueq.Queue, seen: Seen
) -> None:
    with orders.batch("b") as batch:
        batch.push("a")
        batch.push_many(["b", "c"])
        batch.push("d", queue="mails")
    messages = orders.reserve_many(5)
    one, two = seen.spans("send orders")
    assert (two.attributes or {})["messaging.batch.message_count"] == 2
    contexts = [message.headers["traceparent"] for message in messages]
    assert contexts == [header_of(one), *[header_of(two)] * 2]
    with dueq.Queue("mails", server.url) as mails:
        mail = mails.reserve()
    assert mail is not None
    assert mail.headers["traceparent"] == header_of(seen.span("send mails"))
    assert seen.counts("messaging.client.sent.messages") == {"send": 4}


def test_a_failed_push_says_why(orders: dueq.Queue, seen: Seen) -> None:
    orders.push("a", id="a")
    with pytest.raises(dueq.Duplicate):
        orders.push("b", id="a")
    with pytest.raises(dueq.Error):
        orders.push("a" * 8, headers={"name": "x" * 65_535})
    _, duplicate, large = seen.spans("send orders")
    assert (duplicate.attributes or {})["error.type"] == "dueq.errors.Duplicate"
    assert large.status.status_code is StatusCode.ERROR
    assert [event.name for event in large.events] == ["exception"]


def test_a_successor_goes_on_with_the_trace(orders: dueq.Queue, seen: Seen) -> None:
    orders.push("pack")
    message = orders.reserve()
    assert message is not None
    with message:
        message.ack(push=["ship"], to="shipping")
    process, successor = seen.span("process orders"), seen.span("send shipping")
    assert successor.parent == seen.span("ack orders").parent == process.context
    assert ids(successor)[0] == ids(seen.span("send orders"))[0]


def test_a_pusher_has_a_span_for_each_message(orders: dueq.Queue, seen: Seen) -> None:
    with orders.pusher() as pusher:
        for body in "abc":
            pusher.push(body)
    messages = orders.reserve_many(5)
    made = seen.spans("create orders")
    assert [message.headers["traceparent"] for message in messages] == list(map(header_of, made))
    assert seen.counts("messaging.client.sent.messages") == {"send": 3}


def test_a_context_of_the_producers_own_stays(orders: dueq.Queue, seen: Seen) -> None:
    own = f"00-{'1' * 32}-{'2' * 16}-01"
    orders.push("pack", headers={"traceparent": own})
    message = orders.reserve()
    assert message is not None
    send = seen.span("send orders")
    assert message.headers == {"traceparent": own}
    assert send.kind is SpanKind.CLIENT
    assert linked(send) == [(int("1" * 32, 16), int("2" * 16, 16))]


def test_headers_without_room_go_as_they_are(orders: dueq.Queue, seen: Seen) -> None:
    # traceparent takes 3 bytes of sizes, 11 and 55; the name of the header 1.
    for room in (68, 69):
        headers = {"x": "é" + "y" * (65_535 - 3 - 1 - 2 - room)}
        orders.push("pack", id=str(room), headers=headers)
    left, carried = orders.reserve_many(2)
    assert (set(left.headers), set(carried.headers)) == ({"x"}, {"x", "traceparent"})


def test_without_an_sdk_messages_are_as_they_were(orders: dueq.Queue) -> None:
    opentelemetry.instrument()
    try:
        orders.push_many(["a", "b"])
        for message in orders.consume(timeout=0.1):
            with message:
                assert message.headers == {}
    finally:
        opentelemetry.uninstrument()
    assert orders.stats().acked == 2


def test_what_is_no_context_is_none(orders: dueq.Queue, seen: Seen) -> None:
    for text in ("00-zz-zz-01", "", "é" * 200):
        orders.push("pack", headers={"traceparent": text, "tracestate": text, "baggage": text})
        message = orders.reserve()
        assert message is not None
        with message:
            assert message.headers["traceparent"] == header_of(seen.spans("send orders")[-1])


def test_tasks_are_traced_and_their_pushes_are_children(server: Server, seen: Seen) -> None:
    server.command("FLUSHALL")
    app = dueq.App(server.url)

    @app.task(queue="mail")
    async def receipt(order: int) -> None:
        assert trace.get_current_span().is_recording()

    @app.task
    def pay(order: int) -> None:
        receipt.push(order)

    pay.push(7)
    assert [job.task for job in drain(app, server=server.url)] == ["pay", "receipt"]
    process, send = seen.span("process default"), seen.span("send mail")
    assert (process.attributes or {})["messaging.dueq.task"] == "pay"
    assert send.parent == process.context
    assert len({ids(span)[0] for span in map(seen.span, ["send default", "process mail"])}) == 1


def test_partitions_are_one_destination(server: Server, seen: Seen) -> None:
    server.command("FLUSHALL")
    with dueq.Queue("parts", server.url, partitions=2) as parts:
        parts.partition_for("k").push("pack")
        message = parts.reserve(timeout=5)
        assert message is not None
        with message:
            number = message.queue.removeprefix("parts#")
        with parts.partition_for("k").pusher() as pusher:
            pusher.push("pack")
    process = seen.span("process parts")
    assert (process.attributes or {})["messaging.destination.partition.id"] == number
    assert len(seen.spans("send parts") + seen.spans("create parts")) == 2


def test_asyncio_is_the_same(orders: dueq.Queue, seen: Seen) -> None:
    async def fail(message: dueq.aio.Message) -> None:
        await asyncio.sleep(0)
        raise ValueError("no luck")

    async def main() -> None:
        async with dueq.aio.Queue("orders", orders.url) as queue:
            await queue.push("a", max_attempts=1)
            async with queue.consume(timeout=0.5) as consumer:
                await consumer.work(fail, lambda message, error: None)
            async with queue.pusher() as pusher:
                await pusher.push("b")
            async with await queue.reserve(timeout=None) as message:
                await message.ack(push=["c"])

    asyncio.run(main())
    failed, done = seen.spans("process orders")
    sent, successor = seen.spans("send orders")
    assert linked(failed) == [ids(sent)]
    assert (failed.attributes or {})["messaging.dueq.dead"] is True
    assert linked(done) == [ids(seen.span("create orders"))]
    assert successor.parent == done.context
    ack, retry = seen.span("ack orders"), seen.span("retry orders")
    assert (ack.parent, retry.parent) == (done.context, failed.context)


WORKER = """
import os
import dueq, dueq.opentelemetry
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor

tracers = TracerProvider()
ledger = open(os.environ["LEDGER"], "a")
tracers.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(
    out=ledger, formatter=lambda span: " ".join(
        [span.name, f"{span.context.trace_id:x}", span.status.status_code.name]) + "\\n")))
dueq.opentelemetry.instrument(tracers)
app = dueq.App()

@app.task
def pay(order: int) -> None:
    follow.push(order)

@app.task(max_attempts=1)
async def follow(order: int) -> None:
    raise ValueError("no luck")
"""


@pytest.mark.parametrize("pool", ["threads", "processes", "asyncio"])
def test_worker_goes_on_with_the_trace(
    server: Server, tmp_path: Path, pool: str, seen: Seen
) -> None:
    server.command("FLUSHALL")
    (tmp_path / "shop.py").write_text(WORKER)
    with dueq.Queue("default", server.url) as queue:
        queue.push(json.dumps({"args": [7]}), headers={"task": "pay"})
    trace_id = f"{ids(seen.span('send default'))[0]:x}"
    with WorkerProcess(
        tmp_path, server.url, "--pool", pool, "--concurrency", "2", app="shop:app", cwd=tmp_path
    ) as worker:
        worker.wait_for(
            f"send default {trace_id} UNSET",
            f"process default {trace_id} UNSET",
            f"ack default {trace_id} UNSET",
            f"process default {trace_id} ERROR",
            f"retry default {trace_id} UNSET",
        )
        assert worker.stop() == 0
    assert len(worker.notes()) == 5


def test_opentelemetry_instrument_turns_it_on() -> None:
    code = "import dueq._trace; print(type(dueq._trace.tracer).__module__)"
    program = Path(sys.executable).with_name("opentelemetry-instrument")
    command = [str(program), sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "dueq.opentelemetry\n"


def test_without_it_nothing_is_loaded() -> None:
    code = (
        "import sys, dueq, dueq.aio, dueq.worker; print([m for m in sys.modules if 'telem' in m])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    assert _trace.tracer is None
