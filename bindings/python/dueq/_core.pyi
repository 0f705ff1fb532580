"""The flat private module that SWIG makes from core/dueq.h by swig/dueq.i."""

from typing import TypeAlias

from typing_extensions import Buffer

class Link:
    """A client and one queue of it; opaque (a capsule, not importable)."""

# body, id ("": the core makes one), delay_ms, at_ms, max_attempts, lease_ms, headers
DraftRow: TypeAlias = tuple[Buffer | str, str, int, int, int, int, tuple[tuple[str, str], ...]]
# id, ticket, body, headers, attempt, max_attempts, state, time_ms, created_ms, error
MessageRow: TypeAlias = tuple[str, str, bytes, dict[str, str], int, int, int, int, int, str]
# ready, delayed, leased, dead, acked, cancelled, purged, damaged, next_ms, now_ms, paused
CountsRow: TypeAlias = tuple[int, int, int, int, int, int, int, int, int, int, int]
# status, outcomes (status, id) of the items without a message, messages, counts, damaged, purged
Answer: TypeAlias = tuple[int, list[tuple[int, str]], list[MessageRow], CountsRow | None, int, int]

def link_open(url: str | None, name: str, /) -> Link: ...
def link_url(link: Link, /) -> str: ...
def new_id(link: Link, /) -> str: ...
def push_submit(link: Link, drafts: tuple[DraftRow, ...], /) -> int: ...
def reserve_submit(link: Link, count: int, timeout_ms: int, lease_ms: int, /) -> int: ...
def ack_submit(link: Link, tickets: tuple[str, ...], /) -> int: ...
def retry_submit(link: Link, ticket: str, delay_ms: int, error: Buffer | str, /) -> int: ...
def extend_submit(link: Link, ticket: str, lease_ms: int, /) -> int: ...
def bury_submit(link: Link, ticket: str, reason: Buffer | str, /) -> int: ...
def cancel_submit(link: Link, ids: tuple[str, ...], /) -> int: ...
def find_submit(link: Link, id: str, /) -> int: ...
def kick_submit(link: Link, ids: tuple[str, ...], /) -> int: ...
def reschedule_submit(link: Link, id: str, delay_ms: int, at_ms: int, /) -> int: ...
def pause_submit(link: Link, /) -> int: ...
def resume_submit(link: Link, /) -> int: ...
def purge_submit(link: Link, state: int, most: int, /) -> int: ...
def stats_submit(link: Link, /) -> int: ...
def wait(link: Link, at_most_ms: int, /) -> int: ...
def take(link: Link, /) -> Answer: ...
def abandon(link: Link, /) -> None: ...
def version() -> str: ...
def state_name(state: int, /) -> str: ...
def status_name(status: int, /) -> str: ...
def status_text(status: int, /) -> str: ...
def status_retriable(status: int, /) -> int: ...

VERSION: str

OK: int
EMPTY: int
DUPLICATE: int
NOT_FOUND: int
LEASE_LOST: int
BURIED: int
PENDING: int
INTERRUPTED: int
INVALID: int
NAME: int
URL: int
TOO_LARGE: int
NO_MEMORY: int
IN_USE: int
CONNECT: int
CLOSED: int
TIMEOUT: int
TLS: int
EMBEDDED: int
AUTH: int
DENIED: int
DATABASE: int
LOADING: int
READONLY: int
FULL: int
BUSY: int
WRONG_TYPE: int
CORRUPT: int
UNSUPPORTED: int
SERVER: int
PROTOCOL: int

MAX_NAME: int
MAX_ID: int
MAX_HEADERS: int
MAX_HEADER_NAME: int
MAX_ERROR: int
MAX_BATCH: int
MAX_MAX_ATTEMPTS: int
DEFAULT_ATTEMPTS: int
DEFAULT_LEASE_MS: int
DEFAULT_TIMEOUT_MS: int
FOREVER: int

READY: int
DELAYED: int
LEASED: int
DEAD: int
