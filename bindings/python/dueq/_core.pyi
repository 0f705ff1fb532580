"""The flat private module that SWIG makes from the public headers in core/, by swig/dueq.i."""

from typing import TypeAlias

from typing_extensions import Buffer

from dueq._inflight import Push

class Client:
    """A client; opaque (a capsule, not importable)."""

class Handle:
    """A queue of a client, of dueq or of another system; opaque."""

class Consumer:
    """A consumer; opaque."""

class Pusher:
    """A pusher; opaque."""

# kind, jitter, base_ms, cap_ms, list_ms
BackoffRow: TypeAlias = tuple[int, int, int, int, tuple[int, ...]]
# Made from core/options.toml by core/verbs.py: the row of a draft.
# body, delay_ms, at_ms, id, max_attempts, lease_ms, headers, priority, ttl_ms, backoff,
# max_crashes, drop, dead_letter, unique_ms, replace, replicas, disk, timeout_ms, key, group,
# keep_ms, batch
DraftRow: TypeAlias = tuple[
    Buffer | str,
    int,
    int,
    str,
    int,
    int,
    tuple[tuple[str, str], ...],
    int,
    int,
    BackoffRow,
    int,
    bool,
    str,
    int,
    int,
    int,
    bool,
    int,
    str,
    str,
    int,
    str,
]
# The end of what was made.
# Made from core/options.toml by core/verbs.py: the options of reserve.
# count, order, timeout_ms, lease_ms
ReserveRow: TypeAlias = tuple[
    int,
    int,
    int,
    int,
]
# The end of what was made.
# Made from core/options.toml by core/verbs.py: the options of consume.
# prefetch, lease_ms, max_run_ms, slack_ms, order, concurrency, tasks
ConsumeRow: TypeAlias = tuple[
    int,
    int,
    int,
    int,
    int,
    int,
    str,
]
# The end of what was made.
# replicas, disk, timeout_ms
DurabilityRow: TypeAlias = tuple[int, bool, int]
# name, expression, zone, catchup, the job alone, app, release
ScheduleRow: TypeAlias = tuple[str, str, str, int, tuple[DraftRow, ...], str, str]
# id, then alone or nothing, catch, finally, then_queue, catch_queue, finally_queue, open_ms,
# keep_ms
BatchOptionsRow: TypeAlias = tuple[
    str,
    tuple[DraftRow, ...],
    tuple[DraftRow, ...],
    tuple[DraftRow, ...],
    str,
    str,
    str,
    int,
    int,
]
# id, ticket, headers, body
HeldRow: TypeAlias = tuple[str, str, tuple[tuple[str, str], ...], bytes]
# Made from core/results.toml by core/verbs.py: the rows of results.
# ready, delayed, leased, dead, outbox, outbox_error, pushed, reserved, acked, retried, expired,
# died, cancelled, purged, quarantined, next_event_ms, oldest_ms, now_ms, paused, at_limit,
# evicting, ends, ends_bytes
CountsRow: TypeAlias = tuple[
    int,
    int,
    int,
    int,
    int,
    str,
    int,
    int,
    int,
    int,
    int,
    int,
    int,
    int,
    int,
    int,
    int,
    int,
    bool,
    str,
    bool,
    int,
    int,
]
# concurrency, rate, burst, each_group_concurrency, each_group_rate, each_group_burst,
# each_group_backlog, order, groups
BoundsRow: TypeAlias = tuple[
    int,
    str,
    int,
    int,
    str,
    int,
    int,
    str,
    tuple[GroupLimitsRow, ...],
]
# name, concurrency, rate, burst, backlog, weight, order
GroupLimitsRow: TypeAlias = tuple[
    str,
    int,
    str,
    int,
    int,
    int,
    str,
]
# kind, text, wrong, count, repaired, examples
FindingRow: TypeAlias = tuple[
    str,
    str,
    bool,
    int,
    int,
    tuple[str, ...],
]
# start_ms, span_ms, pushed, reserved, acked, retried, expired, died, cancelled, late_p50_ms,
# late_p99_ms, run_p50_ms, run_p99_ms
RateRow: TypeAlias = tuple[
    int,
    int,
    int,
    int,
    int,
    int,
    int,
    int,
    int,
    int,
    int,
    int,
    int,
]
# id, ticket, partition, since_ms, running
LeaseRow: TypeAlias = tuple[
    str,
    str,
    int,
    int,
    bool,
]
# session, host, pid, program, version, slots, since_ms, seen_ms, until_ms, now_ms, offline, leased,
# running, stopping, leases, tasks
WorkerRow: TypeAlias = tuple[
    str,
    str,
    int,
    str,
    str,
    int,
    int,
    int,
    int,
    int,
    bool,
    int,
    int,
    bool,
    tuple[LeaseRow, ...],
    str,
]
# time_ms, kind, id, ticket, delivery, created_ms, host, pid, error
FailureRow: TypeAlias = tuple[
    int,
    str,
    str,
    str,
    int,
    int,
    str,
    int,
    str,
]
# name, waiting, oldest_ms, leased, served_per_minute, now_ms, at_limit, held_until_ms, holder
GroupRow: TypeAlias = tuple[
    str,
    int,
    int,
    int,
    int,
    int,
    str,
    int,
    str,
]
# id, state, pushed, acked, dead, cancelled, expired, purged, left, opened_ms, closes_ms, ended_ms,
# now_ms, then_id, then_queue, catch_id, catch_queue, finally_id, finally_queue
BatchRow: TypeAlias = tuple[
    str,
    str,
    int,
    int,
    int,
    int,
    int,
    int,
    int,
    int,
    int,
    int,
    int,
    str,
    str,
    str,
    str,
    str,
    str,
]
# id, outcome, time_ms, created_ms, waited_ms, ran_ms, deliveries, host, pid, has_result, result,
# error, until_ms
EndRow: TypeAlias = tuple[
    str,
    str,
    int,
    int,
    int,
    int,
    int,
    str,
    int,
    bool,
    bytes,
    str,
    int,
]
# id, body, headers, ticket, attempt, max_attempts, crashes, max_crashes, deliveries, priority,
# state, time_ms, created_ms, expires_ms, error, drop, dead_letter, group, progress, progress_note,
# keep_ms, batch, batch_queue
MessageRow: TypeAlias = tuple[
    str,
    bytes,
    dict[str, str],
    str,
    int,
    int,
    int,
    int,
    int,
    int,
    int,
    int,
    int,
    int,
    str,
    bool,
    str,
    str,
    float,
    str,
    int,
    str,
    str,
]
# ready, delayed, reserved, quarantined, next_ms, now_ms
SizesRow: TypeAlias = tuple[
    int,
    int,
    int,
    int,
    int,
    int,
]
# moved, quarantined, next_ms
MovedRow: TypeAlias = tuple[
    int,
    int,
    int,
]
# The end of what was made.
# concurrency, rate, burst, group, backlog, weight, order, each_group_concurrency, each_group_rate,
# each_group_burst, each_group_backlog, clear
LimitRow: TypeAlias = tuple[int, str, int, str | None, int, int, str, int, str, int, int, int]
# error, since_ms, until_ms
Filter: TypeAlias = tuple[Buffer | str, int, int]
# kind, integer, number, bytes
ValueRow: TypeAlias = tuple[int, int, float, str | bytes]
# value, delay_ms, at_ms
OfferRow: TypeAlias = tuple[ValueRow, int, int]
# status, kind, value: of JSON its text
ReadRow: TypeAlias = tuple[int, int, bool | int | float | str | bytes | None]
# payload, job, data, command_name, command, display_name, delay_ms, at_ms, max_tries,
# max_exceptions, timeout_s, backoff, retry_until_s, fail_on_timeout
LaravelRow: TypeAlias = tuple[
    str | bytes,
    str,
    str,
    str,
    str | bytes,
    str,
    int,
    int,
    int,
    int,
    int,
    str,
    int,
    bool,
]
# payload, reserved, id, uuid, job, data, display_name, attempts, max_tries, timeout_s, backoff,
# retry_until_s, until_ms
JobRow: TypeAlias = tuple[bytes, bytes, str, str, str, bytes, str, int, int, int, str, int, int]
# the fields of dueq._call.Answer
Answer: TypeAlias = tuple[
    int,
    list[MessageRow],
    list[RateRow],
    list[FindingRow],
    list[WorkerRow],
    list[FailureRow],
    list[GroupRow],
    list[EndRow],
    list[BatchRow],
    list[ReadRow],
    list[JobRow],
    list[tuple[int, str]],
    bytes,
    CountsRow | None,
    BoundsRow | None,
    SizesRow | None,
    MovedRow | None,
    int,
    int,
    int,
    bytes,
    int,
]

def schedule_next(expression: str, zone: str, after_ms: int, /) -> int | None: ...
def client_open(url: str | None, /) -> Client: ...
def client_reached(client: Client, /) -> None: ...
def client_url(client: Client, /) -> str: ...
def queue_durability(queue: Handle, durability: DurabilityRow, /) -> int: ...
def queue_keep(queue: Handle, keep_ms: int, /) -> int: ...
def queue_open(client: Client, name: str, /) -> Handle: ...
def partitions_open(client: Client, name: str, count: int, key: str, /) -> Handle: ...
def partition_name(queue: str, partition: int, /) -> str: ...
def partition_for(key: str, count: int, /) -> int: ...
def new_id(client: Client, /) -> str: ...

# Made from core/verbs.toml by core/verbs.py.
def push_submit(queue: Handle, drafts: tuple[DraftRow, ...], /) -> int: ...
def reserve_submit(queue: Handle, count: int, timeout_ms: int, lease_ms: int, /) -> int: ...
def reserve_any_submit(queues: tuple[Handle, ...], options: ReserveRow, /) -> int: ...
def ack_submit(queue: Handle, tickets: tuple[str, ...], /) -> int: ...
def ack_result_submit(queue: Handle, ticket: str, result: Buffer | str, /) -> int: ...
def ack_push_submit(
    queue: Handle, ticket: str, target: Handle | None, drafts: tuple[DraftRow, ...], /
) -> int: ...
def ack_push_result_submit(
    queue: Handle,
    ticket: str,
    kept: Buffer | str,
    target: Handle | None,
    drafts: tuple[DraftRow, ...],
    /,
) -> int: ...
def schedule_submit(queue: Handle, schedule: ScheduleRow, /) -> int: ...
def fire_submit(queue: Handle, message: HeldRow, /) -> int: ...
def retry_submit(queue: Handle, ticket: str, delay_ms: int, error: Buffer | str, /) -> int: ...
def release_submit(queue: Handle, tickets: tuple[str, ...], delay_ms: int, /) -> int: ...
def hold_group_submit(queue: Handle, ticket: str, duration_ms: int, /) -> int: ...
def extend_submit(queue: Handle, tickets: tuple[str, ...], lease_ms: int, /) -> int: ...
def checkpoint_submit(queue: Handle, ticket: str, text: str, /) -> int: ...
def bury_submit(queue: Handle, ticket: str, reason: Buffer | str, /) -> int: ...
def find_submit(queue: Handle, id: str, /) -> int: ...
def outcome_submit(queue: Handle, id: str, timeout_ms: int, /) -> int: ...
def kick_submit(queue: Handle, ids: tuple[str, ...], /) -> int: ...
def kick_all_submit(queue: Handle, filter: Filter, cursor: bytes, page: int, /) -> int: ...
def kill_submit(queue: Handle, ids: tuple[str, ...], /) -> int: ...
def cancel_submit(queue: Handle, ids: tuple[str, ...], /) -> int: ...
def reschedule_submit(queue: Handle, id: str, delay_ms: int, at_ms: int, /) -> int: ...
def pause_submit(queue: Handle, /) -> int: ...
def resume_submit(queue: Handle, /) -> int: ...
def hold_submit(queue: Handle, group: str, duration_ms: int, /) -> int: ...
def allow_submit(queue: Handle, dead_letter: tuple[str, ...] | None, any: int, /) -> int: ...
def limit_submit(queue: Handle, options: LimitRow, /) -> int: ...
def limits_submit(queue: Handle, /) -> int: ...
def purge_submit(queue: Handle, state: int, page: int, /) -> int: ...
def purge_group_submit(queue: Handle, group: str, cursor: bytes, page: int, /) -> int: ...
def remove_submit(queue: Handle, force: int, /) -> int: ...
def check_submit(queue: Handle, repair: int, cursor: bytes, /) -> int: ...
def stats_submit(queue: Handle, /) -> int: ...
def peek_submit(queue: Handle, state: int, cursor: bytes, page: int, /) -> int: ...
def groups_submit(queue: Handle, cursor: bytes, page: int, /) -> int: ...
def open_batch_submit(queue: Handle, options: BatchOptionsRow, /) -> int: ...
def push_to_submit(
    queue: Handle, target: Handle | None, drafts: tuple[DraftRow, ...], /
) -> int: ...
def close_batch_submit(queue: Handle, id: str, /) -> int: ...
def find_batch_submit(queue: Handle, id: str, /) -> int: ...
def cancel_batch_submit(
    queue: Handle, id: str, batch_queue: str, cursor: bytes, page: int, /
) -> int: ...
def batches_submit(queue: Handle, cursor: bytes, page: int, /) -> int: ...
def rates_submit(queue: Handle, minutes: int, hours: int, /) -> int: ...
def failures_submit(queue: Handle, id: str, cursor: bytes, page: int, /) -> int: ...
def workers_submit(queue: Handle, cursor: bytes, page: int, /) -> int: ...
def queues_submit(client: Client, cursor: bytes, /) -> int: ...
def lock_submit(queue: Handle, name: str, ttl_ms: int, timeout_ms: int, /) -> int: ...
def relock_submit(queue: Handle, name: str, token: str, ttl_ms: int, /) -> int: ...
def unlock_submit(queue: Handle, name: str, token: str, /) -> int: ...

# The end of what was made.
def redisson_open(client: Client, destination: str, codec: int, layout: int, /) -> Handle: ...
def redisson_offer_submit(queue: Handle, offers: tuple[OfferRow, ...], /) -> int: ...
def redisson_transfer_submit(queue: Handle, most: int, timeout_ms: int, /) -> int: ...
def redisson_size_submit(queue: Handle, /) -> int: ...
def redisson_take_submit(queue: Handle, count: int, timeout_ms: int, /) -> int: ...
def redisson_poll_submit(queue: Handle, count: int, /) -> int: ...
def redisson_peek_submit(queue: Handle, count: int, /) -> int: ...
def redisson_remove_submit(queue: Handle, value: ValueRow, /) -> int: ...
def redisson_contains_submit(queue: Handle, value: ValueRow, /) -> int: ...
def redisson_clear_submit(queue: Handle, /) -> int: ...
def codec_decode(client: Client, codec: int, bytes: Buffer | str, /) -> Answer: ...
def laravel_open(client: Client, name: str, prefix: str, /) -> Handle: ...
def laravel_push_submit(queue: Handle, drafts: tuple[LaravelRow, ...], /) -> int: ...
def laravel_pop_submit(
    queue: Handle, count: int, timeout_ms: int, retry_after_ms: int, /
) -> int: ...
def laravel_delete_submit(queue: Handle, reserved: tuple[bytes, ...], /) -> int: ...
def laravel_release_submit(queue: Handle, reserved: tuple[bytes, ...], delay_ms: int, /) -> int: ...
def laravel_size_submit(queue: Handle, /) -> int: ...
def laravel_clear_submit(queue: Handle, /) -> int: ...
def laravel_migrate_submit(queue: Handle, most: int, timeout_ms: int, /) -> int: ...
def consumer_open(queues: tuple[Handle, ...], options: ConsumeRow, /) -> Consumer: ...
def consumer_next(
    consumer: Consumer, timeout_ms: int, patience_ms: int, /
) -> MessageRow | int | None: ...
def consumer_take(consumer: Consumer, /) -> MessageRow | int: ...
def consumer_queue(consumer: Consumer, /) -> int: ...
def consumer_ack(consumer: Consumer, ticket: str, /) -> int: ...
def consumer_retry(
    consumer: Consumer, ticket: str, delay_ms: int, error: Buffer | str, /
) -> int: ...
def consumer_forget(consumer: Consumer, ticket: str, /) -> None: ...
def consumer_stop(consumer: Consumer, /) -> int: ...
def consumer_stop_take(consumer: Consumer, /) -> int: ...
def wake_by(descriptor: int, /) -> None: ...
def consumer_warning(consumer: Consumer, /) -> str | None: ...
def consumer_has_lost(consumer: Consumer, ticket: str, /) -> bool: ...
def consumer_keep_ack(consumer: Consumer, ticket: str, failure: int, /) -> bool: ...
def consumer_disown(consumer: Consumer, /) -> None: ...
def consumer_leave(consumer: Consumer, /) -> bool: ...
def consumer_wind_down(consumer: Consumer, /) -> None: ...
def consumer_lost(consumer: Consumer, /) -> int: ...
def consumer_close(consumer: Consumer, /) -> None: ...
def pusher_open(queue: Handle, most: int, /) -> Pusher: ...
def pusher_push(pusher: Pusher, drafts: tuple[DraftRow], push: Push, /) -> int: ...
def pusher_done(pusher: Pusher, /) -> list[Push] | None: ...
def pusher_left(pusher: Pusher, /) -> int: ...
def wait(client: Client, at_most_ms: int, /) -> int: ...
def pump(client: Client, /) -> int: ...
def descriptor(client: Client, /) -> int: ...
def stop_wait(client: Client, /) -> None: ...
def take(client: Client, /) -> Answer: ...
def answer(client: Client, patience_ms: int, /) -> Answer | None: ...
def abandon(client: Client, /) -> None: ...
def escape(text: bytes, /) -> str: ...
def duration_ms(text: str, /) -> int: ...
def version() -> str: ...
def set_fallbacks(ca: str, zones: str, /) -> None: ...
def state_name(state: int, /) -> str: ...
def status_name(status: int, /) -> str: ...
def status_text(status: int, /) -> str: ...
def status_retriable(status: int, /) -> int: ...

VERSION: str

# Made from the public headers by core/verbs.py.
OK: int
EMPTY: int
DUPLICATE: int
NOT_FOUND: int
LEASE_LOST: int
EXHAUSTED: int
PENDING: int
INTERRUPTED: int
TAKEN: int
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
LAYOUT: int
UNAVAILABLE: int
NOT_DURABLE: int
BACKLOG: int
MAX_NAME: int
MAX_ID: int
MAX_HEADERS: int
MAX_HEADER_NAME: int
MAX_ERROR: int
MAX_BATCH: int
MAX_MAX_ATTEMPTS: int
DEFAULT_ATTEMPTS: int
DEFAULT_CRASHES: int
NO_LIMIT: int
MAX_LIMIT: int
MAX_WEIGHT: int
MAX_LIMITED: int
DEFAULT_BACKOFF_BASE_MS: int
DEFAULT_BACKOFF_CAP_MS: int
MAX_BACKOFF_LIST: int
MAX_LOCK_NAME: int
MAX_SCHEDULE: int
MAX_RELEASE: int
MAX_QUEUES: int
MAX_PARTITIONS: int
MAX_KEY: int
MAX_GROUP: int
MAX_BATCH_ID: int
MAX_RATES: int
MAX_HOURS: int
TIMING_BUCKETS: int
DEFAULT_LEASE_MS: int
HEARTBEAT_LEASE_MS: int
MAX_RUN_MS: int
MAX_SLACK_MS: int
MAX_PUSHES: int
MAX_WORKER_LEASES: int
MAX_WORKER_TASKS: int
MAX_FAILURES: int
MAX_RESULT: int
MAX_SOCKETS: int
MAX_REPLICAS: int
MAX_DURABLE_MS: int
DEFAULT_DURABLE_MS: int
DEFAULT_TIMEOUT_MS: int
LOW: int
NORMAL: int
HIGH: int
BACKOFF_DEFAULT: int
BACKOFF_FIXED: int
BACKOFF_LINEAR: int
BACKOFF_EXPONENTIAL: int
BACKOFF_LIST: int
JITTER_NONE: int
JITTER_FULL: int
JITTER_EQUAL: int
REFUSE: int
REPLACE: int
REPLACE_BODY: int
CATCHUP_ONCE: int
CATCHUP_SKIP: int
CATCHUP_ALL: int
READY: int
DELAYED: int
LEASED: int
DEAD: int
OUTBOX: int
PREFERENCE: int
ROUND_ROBIN: int
MAX_WARNING: int
FOREVER: int
BY_POLICY: int
UNCHANGED: int
MAX_EXAMPLES: int
NULL: int
BOOLEAN: int
INTEGER: int
LONG: int
DOUBLE: int
STRING: int
BINARY: int
JSON: int
CODEC_KRYO5: int
CODEC_BYTES: int
CODEC_STRING: int
CODEC_LONG: int
CODEC_JACKSON: int
CODEC_TYPED_JSON: int
CODEC_JACKSON3: int
CODEC_TYPED_JSON3: int
LAYOUT_FOUND: int
LAYOUT_NEW: int
LAYOUT_OLD: int
LARAVEL_RETRY_AFTER_MS: int

# The end of what was made.
