"""
One class for each failure status of core/dueq.h, and for the three outcomes that are raised.

All derive from dueq.Error. Where Python has a class of the same meaning, they also derive from that
class, so that `except ValueError`, `except ConnectionError` and `except TimeoutError` catch them.
"""

from dueq import _core


class Error(Exception):
    """The base class of all errors. Its text says what happened and what to do."""

    status: int = 0
    """The status of core/dueq.h: below 0 for failures."""
    name: str = "UNKNOWN"
    """The name in core/dueq.h without its prefix, such as "LEASE_LOST"."""
    retriable: bool = False
    """Whether the same call may succeed later without a change by the caller."""

    def __init_subclass__(cls, status: int | None = None, **others: object) -> None:
        super().__init_subclass__(**others)
        if status is None:
            return
        cls.status = status
        cls.name = _core.status_name(status)
        cls.retriable = bool(_core.status_retriable(status))
        _classes[status] = cls


_classes: dict[int, type[Error]] = {}


def make(status: int, text: str) -> Error:
    """The exception of a status. The extension calls this for every failing status."""
    return _classes.get(status, Error)(text)


class Duplicate(Error, status=_core.DUPLICATE):
    """A message in the queue has this id, or the id is still unique."""


class NotFound(Error, LookupError, status=_core.NOT_FOUND):
    """The queue does not know how this message ended, or not any more."""


class LeaseLost(Error, status=_core.LEASE_LOST):
    """
    The lease was lost: it ended and another consumer took the message, or the message was finished,
    cancelled or purged. Of a lock: the lock has ended.
    """


class InvalidError(Error, ValueError, status=_core.INVALID):
    """An argument is out of its range."""


class QueueNameError(Error, ValueError, status=_core.NAME):
    """Not a valid queue name."""


class UrlError(Error, ValueError, status=_core.URL):
    """Not a valid server URL."""


class TooLargeError(Error, ValueError, status=_core.TOO_LARGE):
    """Larger than the protocol or the server accepts."""


class CursorTooLargeError(TooLargeError):
    """
    A checkpoint, the steps and the progress of a job do not fit into the headers of its message.
    """


class NoMemoryError(Error, MemoryError, status=_core.NO_MEMORY):
    """Out of memory."""


class InUseError(Error, status=_core.IN_USE):
    """Another call of this client is in progress."""


class ConnectError(Error, ConnectionError, status=_core.CONNECT):
    """Cannot reach the server."""


class ClosedError(Error, ConnectionError, status=_core.CLOSED):
    """The connection was lost and the outcome is not known."""


class ServerTimeoutError(Error, TimeoutError, status=_core.TIMEOUT):
    """No answer before the deadline; the outcome is not known."""


class TlsError(Error, ConnectionError, status=_core.TLS):
    """The TLS connection could not be made."""


class EmbeddedError(Error, status=_core.EMBEDDED):
    """The embedded server could not be started."""


class AuthError(Error, PermissionError, status=_core.AUTH):
    """The server refuses the user or the password."""


class DeniedError(Error, PermissionError, status=_core.DENIED):
    """The server does not permit this user to run the command."""


class DatabaseError(Error, status=_core.DATABASE):
    """The server does not have this database."""


class LoadingError(Error, status=_core.LOADING):
    """The server is still loading its data."""


class ReadonlyError(Error, status=_core.READONLY):
    """The server is a read-only replica."""


class FullError(Error, status=_core.FULL):
    """The server is out of memory (maxmemory)."""


class BusyError(Error, status=_core.BUSY):
    """The server is busy running a script."""


class WrongTypeError(Error, status=_core.WRONG_TYPE):
    """A key of this queue has another type."""


class CorruptError(Error, status=_core.CORRUPT):
    """An entry of this queue is damaged."""

    raw: bytes = b""
    """The bytes of a value that was removed from its queue and cannot be decoded."""


class UnsupportedError(Error, status=_core.UNSUPPORTED):
    """This server cannot run dueq."""


class ServerError(Error, status=_core.SERVER):
    """The server refused the command."""


class ProtocolError(Error, status=_core.PROTOCOL):
    """The answer is not in the Redis protocol."""


class UnavailableError(Error, status=_core.UNAVAILABLE):
    """The server cannot run the command at the moment."""


class NotDurable(Error, status=_core.NOT_DURABLE):
    """
    The message is stored, but not on all the replicas and disks that the push asked for. Push it
    again with its id: the message is stored once, and the push raises Duplicate when the message is
    durable.
    """

    ids: tuple[str, ...] = ()
    """The ids of the stored messages: those of one call, or of one batch of push_many()."""
    replicas: int = 0
    """How many replicas are known to have the messages."""
    disk: bool = False
    """Whether the messages are known to be on the server's disk."""

    @property
    def id(self) -> str:
        """The id of the first message."""
        return self.ids[0]


class BacklogError(Error, status=_core.BACKLOG):
    """
    As many messages of the group wait as its backlog allows (Queue.limit): the message is not
    stored. Push it again later. From an ack with successors: the message is not acknowledged.
    """

    ids: tuple[str | None, ...] = ()
    """The ids of the messages of the call, or of one batch of push_many(). None: not stored."""


class LayoutError(Error, status=_core.LAYOUT):
    """The queue has another layout than this client knows."""
