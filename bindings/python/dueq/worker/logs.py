"""What a worker logs, as text or as JSON lines, on standard error."""

from __future__ import annotations

import json
import logging
import time
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING

from dueq._log import escape_arguments, escaped
from dueq.job import Job

if TYPE_CHECKING:
    from typing import TypeAlias

    ExceptionInfo: TypeAlias = (
        tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
    )

_TEXT = "%(asctime)s %(levelname)s %(name)s[%(process)d]: %(message)s"

log = logging.getLogger("dueq.worker")
log.addFilter(escape_arguments)


class Lines(logging.Formatter):
    """Text. What exceptions say is not obeyed by a terminal."""

    def formatException(self, info: ExceptionInfo) -> str:  # noqa: N802
        return "\n".join(map(escaped, super().formatException(info).split("\n")))


class JsonLines(Lines):
    """One JSON object a line: time, level, logger, pid, message, what the job is, traceback."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "pid": record.process,
            "message": record.getMessage(),
            **getattr(record, "job", {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def set_up(kind: str) -> None:
    """Writes all loggers to standard error, unless the app gives the root logger handlers."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines() if kind == "json" else Lines(_TEXT))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)


def fields(job: Job, since: float) -> dict[str, object]:
    """What the log says of a job: `extra` of a record. since: by the monotonic clock."""
    return {
        "job": {
            "task": job.task,
            "queue": job.queue,
            "id": job.id,
            "attempt": job.attempt,
            "seconds": round(time.monotonic() - since, 6),
        }
    }
