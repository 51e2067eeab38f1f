"""What a browser sends along: JSON, and not much of it; and what a helper answers, for the browser."""

from __future__ import annotations

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from schedlab.model.errors import InputError
from schedlab.web.aside import MOMENT, ask
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


def asked(request: Request, what: str, patience: float = MOMENT, status: int = 200, **arguments: Any) -> Response:
    """JSON as a helper gives it (`answers.ANSWERS[what]`)."""
    found = ask(what, request.state.space, request.app.state.settings, patience, **arguments)
    return Response(found, status, media_type="application/json")
