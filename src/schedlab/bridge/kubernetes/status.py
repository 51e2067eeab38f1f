"""`Status` objects: how an API server says that something went wrong, or that it is done."""

from __future__ import annotations

from functools import cache
from http import HTTPStatus
from typing import Any

# What clients look at is the reason; those that Kubernetes has for codes that we answer with.
_REASONS = {
    400: "BadRequest",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    406: "NotAcceptable",
    408: "Timeout",
    409: "Conflict",
    410: "Expired",
    413: "RequestEntityTooLarge",
    415: "UnsupportedMediaType",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}


_LONGEST_TOLD = 200  # characters
_MOST_CAUSES = 20


class StatusError(Exception):
    """A request that is refused: becomes a `Status` of failure."""

    def __init__(
        self,
        code: int,
        message: str,
        *,
        reason: str = "",
        details: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code, self.message = code, message
        self.reason = reason or _REASONS.get(code, "Unknown")
        self.details = details or {}

    def body(self) -> dict[str, Any]:
        return {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "details": self.details,
            "code": self.code,
        }


def success(code: int = 200, details: dict[str, Any] | None = None) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": code}
    return found | {"details": details} if details else found


def not_found(qualified: str, name: str) -> StatusError:
    group = qualified.partition(".")[2]
    details = {"name": name, "kind": qualified.partition(".")[0]} | ({"group": group} if group else {})
    return StatusError(404, f'{qualified} "{name}" not found', details=details)


def conflict(qualified: str, name: str, why: str) -> StatusError:
    message = f'Operation cannot be fulfilled on {qualified} "{name}": {why}'
    return StatusError(409, message, details={"name": name, "kind": qualified.partition(".")[0]})


def invalid(kind: str, name: str, causes: list[tuple[str, str]]) -> StatusError:
    """Fields that are wrong, all at once: (field, why)."""
    causes, more = causes[:_MOST_CAUSES], len(causes) - _MOST_CAUSES
    words = [f"{field}: {why}" for field, why in causes] + ([f"and {more} more"] if more > 0 else [])
    told = words[0] if len(words) == 1 else f"[{', '.join(words)}]"
    details = {
        "name": name,
        "kind": kind,
        "causes": [{"reason": "FieldValueInvalid", "message": why, "field": field} for field, why in causes],
    }
    return StatusError(422, f'{kind} "{name}" is invalid: {told}', details=details)


def too_large(message: str) -> StatusError:
    return StatusError(413, f"Request entity too large: {message}")


@cache
def phrase(code: int) -> str:
    """The words after the number in the first line of an answer."""
    try:
        return HTTPStatus(code).phrase
    except ValueError:
        return "Unknown"


def shortened(text: str) -> str:
    """What a client wrote, as far as it is worth telling it again."""
    return text if len(text) <= _LONGEST_TOLD else f"{text[:_LONGEST_TOLD]}…"
