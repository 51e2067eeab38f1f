"""JSON that people write: a key that is there twice is a mistake, not a silent choice."""

from __future__ import annotations

import json
from typing import Any

from schedlab.model.errors import InputError
from schedlab.model.mistakes import printable


def json_of(text: str, where: str) -> Any:
    """What a JSON text says; an error that names the line where it is none."""

    def table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise InputError(f"the key '{printable(twice, 60)}' is there twice in one table", where=where)
        return found

    try:
        return json.loads(text, object_pairs_hook=table)
    except (ValueError, RecursionError) as problem:
        raise InputError(f"this is not JSON: {problem}", where=where) from None
