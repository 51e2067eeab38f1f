"""Errors as a browser gets them: one form, `{"error": text, "hint": text}`, in the words of the command line."""

from __future__ import annotations

import errno
import traceback
from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from schedlab.model.errors import InputError, InputErrors, SchedlabError
from schedlab.web.space import NotThereError

STATUS = {NotThereError: 404, InputError: 400, SchedlabError: 422}
LONGEST = 20_000  # characters of a message
FULL = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the quota of the disk is used up",
    errno.EFBIG: "a file may not become so large here",
}


class RefusedError(InputError):
    """A request that this server does not answer, with the status that says why."""

    def __init__(self, message: str, *, status: int, where: str = "", hint: str = "") -> None:
        super().__init__(message, where=where, hint=hint)
        self.status = status


def document(error: SchedlabError) -> dict[str, str]:
    """`error` is what the command line prints after `error: `, without the hint, which is apart."""
    if isinstance(error, InputErrors):
        text, hint = str(error), ""
    elif isinstance(error, InputError):
        text, hint = f"{error.where}: {error.message}" if error.where else error.message, error.hint
    else:
        text, _, hint = str(error).partition("\n  hint: ")
    return {"error": _sendable(text), "hint": _sendable(hint)}


def _sendable(text: str) -> str:
    """Half a pair of surrogates, which JSON can have, is no text."""
    return text[:LONGEST].encode("utf-8", "backslashreplace").decode()


def status_of(error: SchedlabError) -> int:
    if isinstance(error, RefusedError):
        return error.status
    return next(code for kind, code in STATUS.items() if isinstance(error, kind))


def answer(error: SchedlabError) -> JSONResponse:
    return JSONResponse(document(error), status_of(error))


def of_schedlab(_request: Request, error: Exception) -> Response:
    assert isinstance(error, SchedlabError)
    return answer(error)


def of_http(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers: Mapping[str, str] | None = error.headers
    return JSONResponse({"error": error.detail, "hint": ""}, error.status_code, headers)


def of_gone(_request: Request, _error: Exception) -> Response:
    """Nobody reads it: the connection is closed."""
    return JSONResponse({"error": "the rest of the request did not come", "hint": ""}, 400)


def of_system(_request: Request, error: Exception) -> Response:
    assert isinstance(error, OSError)
    if error.errno in FULL:
        text = f"{FULL[error.errno]}; nothing was written"
        return JSONResponse({"error": text, "hint": "free some space, then try again"}, 507)
    return unexpected(_request, error)


def unexpected(_request: Request, error: Exception) -> Response:
    """A mistake of ours: the server's terminal has the whole story, the browser one line of it."""
    traceback.print_exception(error)
    text = _sendable(f"{type(error).__name__}: {error}")
    return JSONResponse(
        {"error": text, "hint": "this is a mistake in schedlab; the terminal of the server says more"}, 500
    )


HANDLERS: dict[Any, Any] = {
    SchedlabError: of_schedlab,
    HTTPException: of_http,
    ClientDisconnect: of_gone,
    OSError: of_system,
    Exception: unexpected,
}
