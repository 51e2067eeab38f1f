"""A request and its answer, whatever brings them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from schedlab.bridge.kubernetes.status import StatusError
from schedlab.bridge.kubernetes.store import encode


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)  # names in lower case
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Response:
    code: int
    body: bytes
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()  # further ones


def failure(error: StatusError) -> Response:
    seconds = error.details.get("retryAfterSeconds")
    headers = (("Retry-After", str(seconds)),) if seconds else ()
    return Response(error.code, encode(error.body()), headers=headers)


def warning(text: str) -> str:
    """The value of a header Warning, as k8s.io/apimachinery writes it (`NewWarningHeader`)."""
    plain = "".join(one if one.isprintable() else " " for one in text)
    return '299 - "{}"'.format(plain.replace("\\", "\\\\").replace('"', '\\"'))
