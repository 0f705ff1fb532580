"""Notes each call of a script on its way to a server, and what its keys hold before it."""

import contextlib
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import BinaryIO, TypeAlias

from private_server import Server, packed

Answer: TypeAlias = "int | bytes | str | list[Answer] | None"
"""As the server sends it; a text is an error."""
Word: TypeAlias = "str | bytes | int"


def read(file: BinaryIO) -> Answer:
    line = file.readline()
    if not line:
        raise EOFError
    kind, rest = line[:1], line[1:-2]
    if kind == b"-":
        return rest.decode()
    if kind == b"+":
        return rest
    if kind == b":":
        return int(rest)
    if kind == b"$":
        return file.read(int(rest) + 2)[:-2] if int(rest) >= 0 else None
    return [read(file) for _ in range(int(rest))] if int(rest) >= 0 else None


class Line:
    """A connection to a server, which sends several commands at once."""

    def __init__(self, server: Server) -> None:
        self._socket = server.connect()
        self._file = self._socket.makefile("rb")

    def close(self) -> None:
        self._file.close()
        self._socket.close()

    def __call__(self, *commands: Sequence[Word]) -> list[Answer]:
        self._socket.sendall(b"".join(map(packed, commands)))
        return [read(self._file) for _ in commands]


def bulk(answer: Answer) -> bytes:
    assert isinstance(answer, bytes), answer
    return answer


def end(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


@dataclass(frozen=True)
class Call:
    """A call of a script, and what it found."""

    situation: str
    sha1: bytes
    keys: tuple[bytes, ...]
    arguments: tuple[bytes, ...]
    before: tuple[tuple[bytes | None, bool], ...]
    """Of each key what RESTORE makes it from (None: it is not there), and whether it has an end."""
    time: tuple[bytes, ...]
    """What TIME answered."""


class Recorder(Server):
    """A server whose clients come by here."""

    def __init__(self, *options: str) -> None:
        super().__init__(*options)
        self.calls: list[Call] = []
        self.situation = ""
        self.cut = False
        """The next script is run, and its answer is lost with the connection."""
        self._lock = threading.Lock()

    def __enter__(self) -> "Recorder":
        super().__enter__()
        self._look = Line(self)
        path = self.directory / "recorded"
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(100)
        self.url = f"unix://{path}"
        self._threads = [self._begin(self._accept)]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        end(self._listener)
        # Clients that stay connected are cut.
        super().__exit__(kind, error, trace)
        for thread in self._threads:
            thread.join()
        self._listener.close()
        self._look.close()

    def _begin(self, what: Callable[..., None], *arguments: object) -> threading.Thread:
        thread = threading.Thread(target=what, args=arguments)
        thread.start()
        return thread

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._threads.append(self._begin(self._serve, client))

    def _serve(self, client: socket.socket) -> None:
        lost = threading.Event()
        with client, contextlib.suppress(OSError), self.connect() as server:
            answers = self._begin(self._answer, client, server, lost)
            with contextlib.suppress(OSError, EOFError), client.makefile("rb") as file:
                while True:
                    words = read(file)
                    assert isinstance(words, list)
                    request = [bulk(word) for word in words]
                    if request[0] == b"EVALSHA":
                        self._note(request)
                        if self.cut:
                            self.cut = False
                            lost.set()
                    server.sendall(packed(request))
            end(server)
            answers.join()

    def _answer(self, client: socket.socket, server: socket.socket, lost: threading.Event) -> None:
        with contextlib.suppress(OSError):
            while (data := server.recv(65536)) and not lost.is_set():
                client.sendall(data)
        end(client)

    def _note(self, words: list[bytes]) -> None:
        count = int(words[2])
        keys, arguments = words[3 : 3 + count], words[3 + count :]
        looks = [(command, key) for key in keys for command in ("DUMP", "PTTL")]
        with self._lock:
            answers = self._look(("SCRIPT", "EXISTS", words[1]), ("TIME",), *looks)
        exists, now, *found = answers
        if exists == [0]:
            return  # it is sent again when it is loaded
        before = zip(found[::2], found[1::2], strict=True)
        self.calls.append(
            Call(
                self.situation,
                words[1],
                tuple(keys),
                tuple(arguments),
                tuple((bulk(dump) if dump else None, left != -1) for dump, left in before),
                tuple(map(bulk, now if isinstance(now, list) else [])),
            )
        )
