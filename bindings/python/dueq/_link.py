"""The links of a queue to its server, which carry calls."""

from __future__ import annotations

import atexit
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, ClassVar, NoReturn
from weakref import WeakSet

from dueq import _core
from dueq._log import log
from dueq.errors import InvalidError

if TYPE_CHECKING:
    from typing import TypeAlias

    Open: TypeAlias = Callable[[_core.Client, str], _core.Handle]

# Python runs signal handlers between two waits only. A signal ends a wait, but not if it came just
# before the wait began: its handler runs when the slice is over then.
SLICE_MS = 500
_UNDER_WAY = (_core.PENDING, _core.INTERRUPTED)


# Stands between the name of a queue of partitions and a key. No name has it.
KEYED = "\n"


def opener(
    durability: _core.DurabilityRow | None, whole: str, partitions: int | None = None
) -> Open:
    """
    Opens queues whose pushes ask for this durability. Of the one that has partitions, `whole`, also
    the handle that has a key.
    """

    def open(client: _core.Client, asked: str) -> _core.Handle:
        if partitions is None or not (asked == whole or asked.startswith(f"{whole}{KEYED}")):
            handle = _core.queue_open(client, asked)
        else:
            handle = _core.partitions_open(client, whole, partitions, asked[len(whole) + 1 :])
        if durability:
            _core.queue_durability(handle, durability)
        return handle

    return open


class Handles(dict[str, "_core.Handle"]):
    """The handles of a client by their names. Those of partitions are opened when they are met."""

    def __init__(self, client: _core.Client, names: tuple[str, ...], open: Open) -> None:
        super().__init__((name, open(client, name)) for name in names)
        self._client = client
        self._open = open
        self._keyed: _core.Handle | None = None

    def __missing__(self, name: str) -> _core.Handle:
        if KEYED in name:
            # A call needs it to its end, and the one before has ended. There are many keys.
            self._keyed = self._open(self._client, name)
            return self._keyed
        self[name] = handle = self._open(self._client, name)
        return handle


class Link:
    """
    A client and its handles of queues, which carries one call at a time.

    open  makes the handle of a name: of dueq's own queues, or of another system's
    """

    def __init__(self, url: str | None, names: tuple[str, ...], open: Open) -> None:
        self.client = _core.client_open(url)
        self.queues = Handles(self.client, names, open)
        self._target: _core.Handle | None = None
        self.warn()  # that nobody named a server

    def wait(self) -> bool:
        """Waits for a while. Whether the call that it carries is still under way then."""
        status = _core.wait(self.client, SLICE_MS)
        self.warn()
        return status in _UNDER_WAY

    def warn(self) -> None:
        """Logs what the core warns of, if there is anything new."""
        warning = _core.warning(self.client)
        if warning:
            log.warning("%s", warning)

    def target(self, queue: str, name: str | None) -> _core.Handle | None:
        """
        A handle of any other queue, for one call. None for None; of a partition that came with its
        queue: that, whose partitions the drafts choose.
        """
        if name is None:
            return self.queues.get(queue.rpartition("#")[0])
        # A call needs it to its end. The one before has ended, so its handle may go.
        self._target = _core.queue_open(self.client, name)
        return self._target


class Alone(ABC):
    """What holds a link until it is closed. A copy would put the same link back again."""

    @abstractmethod
    def _forgotten(self) -> None:
        """Nobody closes it: the program has no reference to it any more, or ends."""

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
    A call takes a free link, or opens one, and puts it back: so calls at once never share a link,
    and there are as many as calls were ever under way at once.
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
        """A consumer has messages from the server: calls wait for it while it is away."""

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
    """What has links of its own: queues, dueq's and those of other systems."""

    _home: Links
    _label: str
    _system: ClassVar[str] = ""
    """Whose it is, with a dot; of dueq's own nothing."""

    @property
    def url(self) -> str:
        """Where the server is, without the password."""
        return self._home.url()

    def __repr__(self) -> str:
        closed = " closed" if self._home.closed else ""
        return f"<{self._system}{type(self).__name__} {self._label}{closed}>"
