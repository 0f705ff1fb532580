"""The links of a queue to its server, which carry its calls."""

from __future__ import annotations

import atexit
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, ClassVar, NoReturn
from weakref import WeakSet

from dueq import _core
from dueq.errors import InvalidError

if TYPE_CHECKING:
    from typing import TypeAlias

    Open: TypeAlias = Callable[[_core.Client, str], _core.Handle]

# Python runs signal handlers only between two waits. A signal ends a wait, unless it arrives right
# before the wait begins. Then its handler runs at the end of this time.
SLICE_MS = 500
_UNDER_WAY = (_core.PENDING, _core.INTERRUPTED)


# Separates the name of a queue with partitions from a key. No name contains it.
KEYED = "\n"


def opener(
    durability: _core.DurabilityRow | None,
    whole: str,
    partitions: int | None = None,
    keep_ms: int = 0,
) -> Open:
    """
    Returns a function that opens queues, whose pushes ask for this durability, and keep the ends of
    messages for so long. For the queue with partitions, `whole`, it also opens handles that have a
    key.
    """

    def open(client: _core.Client, asked: str) -> _core.Handle:
        if partitions is None or not (asked == whole or asked.startswith(f"{whole}{KEYED}")):
            handle = _core.queue_open(client, asked)
        else:
            handle = _core.partitions_open(client, whole, partitions, asked[len(whole) + 1 :])
        if durability:
            _core.queue_durability(handle, durability)
        if keep_ms:
            _core.queue_keep(handle, keep_ms)
        return handle

    return open


class Handles(dict[str, "_core.Handle"]):
    """
    The handles of a client by their names. A handle that is not known is opened when it is first
    asked for, such as that of a partition.
    """

    def __init__(self, client: _core.Client, names: tuple[str, ...], open: Open) -> None:
        super().__init__((name, open(client, name)) for name in names)
        self._client = client
        self._open = open
        self._keyed: _core.Handle | None = None

    def __missing__(self, name: str) -> _core.Handle:
        if KEYED in name:
            # Only the last one is kept, as there are many keys. A call needs its handle to its end,
            # and the call before has ended.
            self._keyed = self._open(self._client, name)
            return self._keyed
        self[name] = handle = self._open(self._client, name)
        return handle


class Link:
    """
    A client and its handles of queues. It carries one call at a time.

    open  makes the handle of a name: of a queue of dueq, or of another system
    """

    def __init__(self, url: str | None, names: tuple[str, ...], open: Open) -> None:
        self.client = _core.client_open(url)
        self.queues = Handles(self.client, names, open)
        self._target: _core.Handle | None = None

    def wait(self) -> bool:
        """Waits for a short time. Returns whether the call is still in progress."""
        return _core.wait(self.client, SLICE_MS) in _UNDER_WAY

    def target(self, queue: str, name: str | None) -> _core.Handle | None:
        """
        The handle of another queue, for one call. If name is None: None, or in a partition the
        handle of its whole queue, so that the drafts choose their partitions.
        """
        if name is None:
            return self.queues.get(queue.rpartition("#")[0])
        # A call needs its handle to its end. The call before has ended, so its handle may go.
        self._target = _core.queue_open(self.client, name)
        return self._target


class Alone(ABC):
    """
    An object that holds a link until it is closed. It cannot be copied, as a copy would release the
    link a second time.
    """

    @abstractmethod
    def _forgotten(self) -> None:
        """Called if the program drops the object without closing it, or ends."""

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} has a connection, which cannot be copied")


held: WeakSet[Alone] = WeakSet()


@atexit.register
def _exit() -> None:
    with ExitStack() as stack:
        for each in tuple(held):
            stack.callback(each._forgotten)


class Links:
    """
    A pool of links. A call takes a free link, or opens one, and puts it back. So calls at the same
    time never share a link, and there are as many links as calls were ever in progress at the same
    time.
    """

    def __init__(self, url: str | None, *names: str, open: Open = _core.queue_open) -> None:
        self._url = url
        self._names = names
        self._open = open
        first = Link(url, names, open)
        self._free = deque([first])
        self.where = _core.client_url(first.client)
        self.closed = False
        self.reached = False
        """
        Whether a consumer has got messages from this server: calls then wait for a server that is
        away.
        """

    def url(self) -> str:
        self.check()
        return self.where

    def new_id(self) -> str:
        link = self.acquire()
        new = _core.new_id(link.client)
        self.release(link)
        return new

    def check(self) -> None:
        if self.closed:
            raise InvalidError("this queue is closed")

    def acquire(self) -> Link:
        self.check()
        try:
            link = self._free.pop()
        except IndexError:
            link = Link(self._url, self._names, self._open)
        if self.reached:
            _core.client_reached(link.client)
        return link

    def release(self, link: Link) -> None:
        self._free.append(link)
        if self.closed:
            self._free.clear()


class Linked:
    """An object with links of its own: a queue of dueq, or of another system."""

    _home: Links
    _label: str
    _system: ClassVar[str] = ""
    """The name of the other system, with a dot; "" for dueq."""

    @property
    def url(self) -> str:
        """The server's URL, without the password."""
        return self._home.url()

    def __repr__(self) -> str:
        closed = " closed" if self._home.closed else ""
        return f"<{self._system}{type(self).__name__} {self._label}{closed}>"
