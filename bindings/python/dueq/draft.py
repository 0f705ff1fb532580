"""What a producer hands in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from dueq import _core
from dueq.errors import InvalidError
from dueq.times import due_ms, optional_ms

if TYPE_CHECKING:
    from typing import TypeAlias

    from typing_extensions import Buffer

    Body: TypeAlias = Buffer | str


@dataclass(frozen=True, slots=True)
class Draft:
    """
    A message to push.

    body          bytes, anything with a buffer, or a str, which is stored as UTF-8
    delay         not before so many seconds (or a timedelta) after the push
    at            not before this time by the server: an aware datetime, or seconds since 1970
    id            1 to 255 bytes of UTF-8 without control characters; None: the core makes one
    max_attempts  deliveries before the message is dead; None: without limit
    lease         seconds (or a timedelta) of a delivery's lease where the consumer names none
    headers       names and values of text
    """

    body: Body
    delay: float | timedelta | None = field(default=None, kw_only=True)
    at: float | datetime | None = field(default=None, kw_only=True)
    id: str | None = field(default=None, kw_only=True)
    max_attempts: int | None = field(default=_core.DEFAULT_ATTEMPTS, kw_only=True)
    lease: float | timedelta | None = field(default=None, kw_only=True)
    headers: Mapping[str, str] | None = field(default=None, kw_only=True)

    def row(self) -> _core.DraftRow:
        """The same as the core wants it. InvalidError for what the core could not see."""
        if self.id == "":
            raise InvalidError("id: an empty one; None lets dueq make one")
        attempts = self.max_attempts or 0
        if not 0 <= attempts <= _core.MAX_MAX_ATTEMPTS:
            raise InvalidError(f"max_attempts: {attempts} is not 1 to {_core.MAX_MAX_ATTEMPTS}")
        return (
            self.body,
            self.id or "",
            *due_ms(self.delay, self.at),
            attempts,
            optional_ms(self.lease, "lease"),
            tuple(self.headers.items()) if self.headers else (),
        )
