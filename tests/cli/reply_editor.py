"""A real server, some answers of which are changed on the way: for what cannot be staged."""

import contextlib
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from private_server import Refused, Reply, Server, packed, read_reply


def written(reply: Reply) -> bytes:
    """An answer, as it is sent."""
    if reply is None:
        return b"$-1\r\n"
    if isinstance(reply, int):
        return b":%d\r\n" % reply
    if isinstance(reply, bytes):
        return b"$%d\r\n%s\r\n" % (len(reply), reply)
    return b"*%d\r\n%s" % (len(reply), b"".join(map(written, reply)))


class Edited:
    """Between clients and a server until the with block ends.

    edit: gets each command in capitals and its answer, and returns the answer that clients get
    """

    def __init__(
        self,
        server: Server,
        path: Path,
        edit: Callable[[bytes, Reply], Reply] = lambda _, reply: reply,
        delay: float = 0,
    ) -> None:
        self._server, self._edit, self._delay = server, edit, delay
        self.url = f"unix://{path}"
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(path))
        self._socket.listen()

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._socket.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._socket.accept()
                threading.Thread(target=self._relay, args=(client,), daemon=True).start()

    def _relay(self, client: socket.socket) -> None:
        with (
            client,
            client.makefile("rb") as asked,
            self._server.connect() as server,
            server.makefile("rb") as answers,
            contextlib.suppress(EOFError, OSError),
        ):
            while True:
                words = read_reply(asked)
                assert isinstance(words, list)
                plain = [word for word in words if isinstance(word, bytes)]
                server.sendall(packed(plain))
                try:
                    answer = self._edit(b" ".join(plain).upper(), read_reply(answers))
                    reply = written(answer)
                except Refused as refused:
                    reply = b"-%s\r\n" % str(refused).encode()
                time.sleep(self._delay)
                client.sendall(reply)
