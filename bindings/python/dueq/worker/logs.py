"""What a worker logs, as text or as JSON lines, on standard error."""

from __future__ import annotations

import json
import logging
import time
from datetime import UTC, datetime

from dueq._log import escape_arguments, escaped
from dueq.job import Job

_TEXT = "%(asctime)s %(levelname)s %(name)s[%(process)d]: %(message)s"

log = logging.getLogger("dueq.worker")
log.addFilter(escape_arguments)


class Lines(logging.Formatter):
    """Text. What others wrote, such as the text of an exception, begins no line and steers no
    terminal: of a record's lines all but the first begin with four blanks."""

    def format(self, record: logging.LogRecord) -> str:
        return "\n    ".join(map(escaped, super().format(record).split("\n")))


class JsonLines(logging.Formatter):
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
        # JSON escapes C0; what the core escapes beyond that is JSON too, but for DEL.
        text = json.dumps(line, ensure_ascii=False, default=str)
        return escaped(text.replace("\x7f", r"\u007f"))


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
