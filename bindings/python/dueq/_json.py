"""JSON, as this package writes it."""

import json

from dueq.errors import InvalidError


def json_text(value: object, what: str) -> str:
    """
    The shortest JSON of a value. Raises InvalidError for a value that JSON cannot express, and
    TypeError for an object of another kind. what: the name of the value in these errors.
    """
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (ValueError, RecursionError) as error:
        raise InvalidError(f"{what}: {error}") from None
    except TypeError as error:
        raise TypeError(f"{what}: {error}") from None
