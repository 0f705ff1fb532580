"""The log of a worker, as text or as JSON lines, on standard error."""

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
    """
    Lines of text. Text from outside, such as the message of an exception, can neither begin a line
    of its own nor control a terminal: all lines of a record but the first begin with four blanks.
    """

    def format(self, record: logging.LogRecord) -> str:
        return "\n    ".join(map(escaped, super().format(record).split("\n")))


class JsonLines(logging.Formatter):
    """
    One JSON object in each line: time, level, logger, pid, message, the fields of the job,
    traceback.
    """

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
        # json.dumps() escapes C0. escaped() escapes the rest in a form that is valid JSON, except
        # DEL.
        text = json.dumps(line, ensure_ascii=False, default=str)
        return escaped(text.replace("\x7f", r"\u007f"))


def set_up(kind: str) -> None:
    """Writes the records of all loggers to standard error. kind: "text" or "json"."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines() if kind == "json" else Lines(_TEXT))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)


def fields(job: Job, since: float) -> dict[str, object]:
    """
    The fields of a job in the log, for `extra` of a record. since: when the job began, by the
    monotonic clock.
    """
    return {
        "job": {
            "task": job.task,
            "queue": job.queue,
            "id": job.id,
            "attempt": job.attempt,
            "seconds": round(time.monotonic() - since, 6),
        }
    }
