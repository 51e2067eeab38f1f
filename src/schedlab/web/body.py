"""What a browser sends along: JSON, and not much of it."""

from __future__ import annotations

import json
from typing import Any

from starlette.requests import Request

from schedlab.model.errors import InputError
from schedlab.web.errors import RefusedError

MOST = 1 << 20  # bytes


async def json_body(request: Request, most: int = MOST) -> dict[str, Any]:
    """An object; nothing larger is read."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise RefusedError("the body has to be JSON", status=415, hint="send content-type: application/json")
    gathered = bytearray()
    async for piece in request.stream():
        gathered += piece
        if len(gathered) > most:
            raise RefusedError(f"the body is larger than {most:,} bytes", status=413, hint="upload large files")
    try:
        found = json.loads(bytes(gathered) or b"{}")
    except (ValueError, RecursionError):
        raise InputError("the body cannot be read as JSON", hint="send one JSON object") from None
    if not isinstance(found, dict):
        raise InputError("the body is not a JSON object", hint="send one JSON object")
    return found
