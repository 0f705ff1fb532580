"""JSON as this package writes it."""

import json

from dueq.errors import InvalidError


def json_text(value: object, what: str) -> str:
    """
    JSON as it is shortest. InvalidError for what JSON cannot express, TypeError for an object that
    it has no form for; what: names the value in them.
    """
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (ValueError, RecursionError) as error:
        raise InvalidError(f"{what}: {error}") from None
    except TypeError as error:
        raise TypeError(f"{what}: {error}") from None
