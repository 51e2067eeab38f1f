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


def failure(error: StatusError) -> Response:
    return Response(error.code, encode(error.body()))
