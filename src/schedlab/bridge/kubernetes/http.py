"""HTTP/1.1 as bytes: requests out of what a connection received, answers and watches into what it is to send.

The parser is httptools (llhttp, that of Node.js): it takes some microseconds a request, where one in Python takes more
than everything else that the server does. Limits are kept here.
"""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import parse_qsl

import httptools

from schedlab.bridge.kubernetes.messages import Request, Response
from schedlab.bridge.kubernetes.status import StatusError, phrase

LARGEST_BODY = 3 * 1024 * 1024  # as kube-apiserver has it
LARGEST_HEAD = 64 * 1024

WATCH_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nCache-Control: no-cache, private\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
)
WATCH_END = b"0\r\n\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class RefusedError(Exception):
    """What was received cannot be a request, or is too large: the connection gets this answer and is closed."""

    def __init__(self, error: StatusError) -> None:
        super().__init__(error.message)
        self.error = error


class HttpReader:
    """The requests of one connection. After `RefusedError` it reads no more."""

    def __init__(self) -> None:
        self._parser = httptools.HttpRequestParser(self)
        self._done: list[Request] = []
        self._received = 0  # bytes of the request that is being read; more than that in one with a body
        self._begin()
        self.keeps_alive = True  # whether the client wants the connection to stay open after the last request
        self.expects = False  # whether the client waits for a word before it sends the body

    def feed(self, data: bytes) -> list[Request]:
        """The requests that are complete with these bytes."""
        self._received += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            raise RefusedError(StatusError(400, "the server does not speak another protocol than HTTP/1.1")) from None
        except httptools.HttpParserError as error:
            # The parser hides what its callbacks raised behind an error of its own.
            if isinstance(error.__context__, RefusedError):
                raise error.__context__ from None
            raise RefusedError(StatusError(400, f"this is not a request of HTTP/1.1: {error}")) from None
        if not self._headed and self._received > LARGEST_HEAD:
            raise RefusedError(_too_large_head())
        done, self._done = self._done, []
        return done

    def _begin(self) -> None:
        self._url = b""
        self._headers: dict[str, str] = {}
        self._body: list[bytes] = []
        self._size = 0
        self._headed = False

    # What the parser calls.

    def on_message_begin(self) -> None:
        self._begin()

    def on_url(self, url: bytes) -> None:
        self._url += url
        if len(self._url) > LARGEST_HEAD:
            raise RefusedError(_too_large_head())

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[_header_name(name)] = value.decode("latin-1")
        self._size += len(name) + len(value)
        if self._size > LARGEST_HEAD:
            raise RefusedError(_too_large_head())

    def on_headers_complete(self) -> None:
        self._headed, self._size = True, 0
        length = self._headers.get("content-length", "")
        if length.isdigit() and (len(length) > 18 or int(length) > LARGEST_BODY):
            raise RefusedError(_too_large_body())
        self.expects = self._headers.get("expect", "").lower() == "100-continue"

    def on_body(self, body: bytes) -> None:
        self._size += len(body)
        if self._size > LARGEST_BODY:
            raise RefusedError(_too_large_body())
        self._body.append(body)

    def on_message_complete(self) -> None:
        self.expects, self._received = False, 0
        try:
            path, _, query = self._url.decode("ascii").partition("?")
        except UnicodeDecodeError:
            raise RefusedError(StatusError(400, "the address of the request is not ASCII")) from None
        if path.startswith(("http://", "https://")):  # as proxies are asked
            path = "/" + path.partition("://")[2].partition("/")[2]
        self.keeps_alive = self._parser.should_keep_alive()
        asked = dict(parse_qsl(query, keep_blank_values=True, errors="replace")) if query else {}
        method = self._parser.get_method().decode("ascii")
        self._done.append(Request(method, path, asked, self._headers, b"".join(self._body)))


@lru_cache(maxsize=256)
def _header_name(name: bytes) -> str:
    """Clients have few, which come with every request."""
    return name.decode("latin-1").lower()


def response_bytes(response: Response, *, head_only: bool = False, close: bool = False) -> bytes:
    return b"HTTP/1.1 %d %b\r\nContent-Type: %b\r\nContent-Length: %d\r\n%b\r\n%b" % (
        response.code,
        phrase(response.code).encode(),
        response.content_type.encode(),
        len(response.body),
        b"Connection: close\r\n" if close else b"",
        b"" if head_only else response.body,
    )


def chunk(frame: bytes) -> bytes:
    """A frame of a watch as a chunk of its answer."""
    return b"%x\r\n%b\r\n" % (len(frame), frame)


def _too_large_body() -> StatusError:
    return StatusError(413, f"the request is too large: its body has more than {LARGEST_BODY:,} bytes")


def _too_large_head() -> StatusError:
    return StatusError(431, f"the request is too large: its head has more than {LARGEST_HEAD:,} bytes")
