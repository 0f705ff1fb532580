import logging
from datetime import timedelta
from functools import partial

import pytest

import dueq
from dueq import errors
from moments import seconds_between


def take(queue: dueq.Queue) -> dueq.Message:
    message = queue.reserve()
    assert message is not None
    return message


def error_of(queue: dueq.Queue, message: dueq.Message) -> str:
    found = queue.find(message.id)
    assert found is not None
    return found.error


def states(queue: dueq.Queue) -> tuple[int, int, int, int]:
    stats = queue.stats()
    return stats.ready, stats.delayed, stats.leased, stats.dead


def test_ack_once(queue: dueq.Queue) -> None:
    queue.push("x")
    message = take(queue)
    message.ack()
    assert states(queue) == (0, 0, 0, 0)
    for again in (message.ack, message.retry, partial(message.extend, 9), message.bury):
        with pytest.raises(dueq.LeaseLost, match="this program has settled it already"):
            again()
    assert not message.lost
    assert queue.stats().acked == 1


def test_ack_many_messages_and_tickets(queue: dueq.Queue) -> None:
    queue.push_many(["a", "b", "c"])
    first, second, third = queue.reserve_many(3)
    second.ack()
    assert queue.ack_many([first, second, third.ticket]) == [True, False, True]
    assert queue.ack_many([]) == []


def test_ack_many_of_a_message_of_another_queue(queue: dueq.Queue) -> None:
    with dueq.Queue("another", queue.url) as another, dueq.Queue(queue.name, queue.url) as same:
        another.push("x")
        queue.push("y")
        foreign, own = another.reserve(), queue.reserve()
        assert foreign
        assert own
        with pytest.raises(errors.InvalidError, match="of the queue another, not of"):
            queue.ack_many([foreign])
        assert same.ack_many([own]) == [True]
        foreign.ack()


def test_ack_what_is_no_ticket(queue: dueq.Queue) -> None:
    with pytest.raises(TypeError):
        queue.ack_many([1])  # type: ignore[list-item]


def test_retry_at_once(queue: dueq.Queue) -> None:
    queue.push("x")
    message = take(queue)
    assert message.retry(0, error="no luck: \udcff") is True
    again = take(queue)
    assert (again.id, again.attempt) == (message.id, 2)
    assert error_of(queue, message) == "no luck: \\udcff"
    with pytest.raises(dueq.LeaseLost):
        message.retry()
    assert queue.push("y", backoff=0)
    again.ack()
    assert take(queue).retry() is True
    assert states(queue) == (1, 0, 0, 0)


def test_retry_later(queue: dueq.Queue) -> None:
    queue.push("x")
    take(queue).retry(delay=timedelta(seconds=30))
    assert states(queue) == (0, 1, 0, 0)


def test_retry_by_the_default_backoff(queue: dueq.Queue) -> None:
    """Exponential from 1 s, with equal jitter; the 16th failure is the last."""
    id = queue.push("x")
    for failure in range(1, 16):
        assert take(queue).retry() is True
        found = queue.find(id)
        assert found is not None
        most = min(2 ** (failure - 1), 3600)
        assert most / 2 - 5 <= seconds_between(queue.stats().now, found.time) <= most
        queue.reschedule(id)
    assert take(queue).retry() is False


def test_retry_by_the_backoff_of_the_message(queue: dueq.Queue) -> None:
    id = queue.push("x", backoff=300)
    take(queue).retry()
    found = queue.find(id)
    assert found is not None
    assert seconds_between(queue.stats().now, found.time) == pytest.approx(300, abs=5)


@pytest.mark.parametrize("verb", ["retry", "bury"])
def test_exception_as_the_error(queue: dueq.Queue, verb: str) -> None:
    queue.push("x")
    message = take(queue)
    argument = {"retry": "error", "bury": "reason"}[verb]
    for wrong in (None, 5, b"bytes"):
        with pytest.raises(TypeError, match=argument):
            getattr(message, verb)(**{argument: wrong})
    getattr(message, verb)(**{argument: OSError(2, "no such file")})
    assert error_of(queue, message) == "FileNotFoundError: [Errno 2] no such file"


@pytest.mark.parametrize("delay", [0, timedelta(0)])
def test_retry_named_delay_before_the_backoff(queue: dueq.Queue, delay: float | timedelta) -> None:
    queue.push("x", backoff=300)
    take(queue).retry(delay)
    assert states(queue) == (1, 0, 0, 0)


def test_retry_attempts_used_up(queue: dueq.Queue) -> None:
    id = queue.push("x", max_attempts=1)
    assert take(queue).retry(error="hopeless") is False
    assert states(queue) == (0, 0, 0, 1)
    dead = queue.find(id)
    assert dead is not None
    assert (dead.state, dead.error) == (dueq.State.DEAD, "hopeless")
    assert seconds_between(queue.stats().now, dead.time) == pytest.approx(0, abs=5)


def test_retry_long_error_is_cut(queue: dueq.Queue) -> None:
    queue.push("x")
    message = take(queue)
    message.retry(error="é" * 5000)
    error = error_of(queue, message)
    assert error.startswith("é" * 2000)
    assert len(error.encode()) <= 4096


def test_retry_negative_delay(queue: dueq.Queue) -> None:
    queue.push("x")
    with pytest.raises(errors.InvalidError):
        take(queue).retry(delay=-1)


def test_release_counts_as_nothing(queue: dueq.Queue) -> None:
    queue.push_many(["first", "second"])
    message = take(queue)
    message.release()
    again = take(queue)
    assert (again.id, again.attempt, again.deliveries) == (message.id, 1, 2)
    with pytest.raises(dueq.LeaseLost):
        message.release()


@pytest.mark.parametrize("delay", [30, 30.0, timedelta(seconds=30)], ids=repr)
def test_release_later(queue: dueq.Queue, delay: float | timedelta) -> None:
    id = queue.push("x")
    take(queue).release(delay)
    found = queue.find(id)
    assert found is not None
    assert (found.state, found.attempt) == (dueq.State.DELAYED, 0)
    assert seconds_between(queue.stats().now, found.time) == pytest.approx(30, abs=5)


def test_release_negative_delay(queue: dueq.Queue) -> None:
    queue.push("x")
    with pytest.raises(errors.InvalidError):
        take(queue).release(-1)


def test_extend_lease(queue: dueq.Queue) -> None:
    id = queue.push("x")
    message = take(queue)
    message.extend(300)
    found = queue.find(id)
    assert found is not None
    assert seconds_between(queue.stats().now, found.time) == pytest.approx(300, abs=5)
    message.extend(timedelta(seconds=5))
    with pytest.raises(errors.InvalidError):
        message.extend(0)
    message.ack()
    with pytest.raises(dueq.LeaseLost):
        message.extend(5)


def test_checkpoint_shows_in_the_message(queue: dueq.Queue) -> None:
    id = queue.push("x", headers={"a": "1"})
    message = take(queue)
    message.checkpoint("5")
    message.checkpoint("käse")
    assert list(message.headers.items()) == [("a", "1"), ("cursor", "käse")]
    found = queue.find(id)
    assert found is not None
    assert found.headers == message.headers
    message.checkpoint("")
    assert message.headers == {"a": "1"}
    message.checkpoint("6")
    message.retry(0)
    message = take(queue)
    assert message.headers == {"a": "1", "cursor": "6"}
    message.ack()
    with pytest.raises(dueq.LeaseLost):
        message.checkpoint("7")
    assert message.headers["cursor"] == "6"


def test_checkpoint_what_cannot_be_a_header(queue: dueq.Queue) -> None:
    queue.push("x")
    message = take(queue)
    with pytest.raises(errors.TooLargeError, match="65536 bytes; 65535 are allowed"):
        message.checkpoint("x" * 65_527)
    with pytest.raises(TypeError):
        message.checkpoint(5)  # type: ignore[arg-type]
    with pytest.raises(UnicodeEncodeError):
        message.checkpoint("\ud800")
    assert message.headers == {}
    message.ack()


def test_bury_with_a_reason(queue: dueq.Queue) -> None:
    id = queue.push("x")
    message = take(queue)
    message.bury("käputt")
    assert states(queue) == (0, 0, 0, 1)
    dead = queue.find(id)
    assert dead is not None
    assert dead.error == "käputt"
    with pytest.raises(dueq.LeaseLost):
        message.bury()


def test_with_success(queue: dueq.Queue) -> None:
    queue.push("x")
    with take(queue) as message:
        assert message.body == b"x"
    assert states(queue) == (0, 0, 0, 0)


def test_with_exception(queue: dueq.Queue) -> None:
    queue.push("x", backoff=0)
    with pytest.raises(KeyError, match="gone"), take(queue) as message:
        raise KeyError("gone")
    assert error_of(queue, message) == "KeyError: 'gone'"
    assert take(queue).attempt == 2


class BadText(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("two\nlines"), "ValueError: two\nlines"),
        (RuntimeError(), "RuntimeError"),
        (errors.ConnectError("down"), "ConnectError: down"),
        (BadText(), "BadText"),
        (ExceptionGroup("two", [ValueError("a")]), "ExceptionGroup: two (1 sub-exception)"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_with_exception_error_text(queue: dueq.Queue, error: BaseException, text: str) -> None:
    queue.push("x")
    with pytest.raises(type(error)), take(queue) as message:
        raise error
    assert error_of(queue, message) == text


def test_with_exception_goes_by_the_backoff(queue: dueq.Queue) -> None:
    queue.push("x", backoff=300)
    with pytest.raises(KeyError), take(queue):
        raise KeyError
    assert states(queue) == (0, 1, 0, 0)


def test_with_exception_on_the_last_attempt(
    queue: dueq.Queue, caplog: pytest.LogCaptureFixture
) -> None:
    queue.push("x", max_attempts=1)
    with pytest.raises(ZeroDivisionError), caplog.at_level(logging.WARNING, "dueq"), take(queue):
        _ = 1 // 0
    assert "exhausted" in caplog.text
    assert states(queue) == (0, 0, 0, 1)


@pytest.mark.parametrize("verb", ["ack", "retry", "release", "bury"])
def test_with_settled_inside(queue: dueq.Queue, verb: str) -> None:
    queue.push("x", backoff=0)
    with take(queue) as message:
        getattr(message, verb)()
    expected = {"ack": (0, 0, 0, 0), "bury": (0, 0, 0, 1)}
    assert states(queue) == expected.get(verb, (1, 0, 0, 0))


def test_with_lease_lost(queue: dueq.Queue) -> None:
    queue.push("x")
    with pytest.raises(dueq.LeaseLost), take(queue) as message:
        queue.cancel(message.id)


def test_with_exception_and_lease_lost(queue: dueq.Queue, caplog: pytest.LogCaptureFixture) -> None:
    queue.push("x")
    caplog.set_level(logging.WARNING, "dueq")
    with pytest.raises(OSError, match="disk"), take(queue) as message:
        queue.cancel(message.id)
        raise OSError("disk")
    assert "could not be retried" in caplog.text


# An id may have what a terminal obeys; the text of an exception whatever somebody pushed.
EVIL = "a\x9b31mb\u202ec\u2028d"
SHOWN = r"a\u009b31mb\u202ec\u2028d"


def test_ids_of_others_where_people_read_them(queue: dueq.Queue) -> None:
    queue.push("x", id=EVIL)
    message = take(queue)
    assert message.id == EVIL
    assert repr(message).startswith(f"<Message {SHOWN} leased")
    message.ack()
    with pytest.raises(dueq.LeaseLost) as lost:
        message.ack()
    assert str(lost.value).startswith(f"message {SHOWN}, attempt 1: ")


def test_log_lines_cannot_be_forged(queue: dueq.Queue, caplog: pytest.LogCaptureFixture) -> None:
    queue.push("x", id=EVIL, max_attempts=1)
    with pytest.raises(ValueError, match="forged"), take(queue):
        raise ValueError("no order 7\nWARNING:dueq:forged\x1b[2J\0\udcff é")
    [record] = caplog.records
    assert record.getMessage() == (
        f"message {SHOWN}: its attempts are exhausted by attempt 1: "
        r"ValueError: no order 7\x0aWARNING:dueq:forged\x1b[2J\x00\udcff é"
    )
