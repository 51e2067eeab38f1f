"""HTTP/1.1 as bytes: requests out of what a connection received, answers and watches into what it is to send.

The parser is httptools (llhttp, that of Node.js): it takes some microseconds a request, where one in Python takes more
than everything else that the server does. Limits are kept here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from urllib.parse import parse_qsl

import httptools

from schedlab.bridge.kubernetes.messages import Request, Response
from schedlab.bridge.kubernetes.status import StatusError, phrase, too_large

LARGEST_BODY = 3 * 1024 * 1024  # as kube-apiserver has it (MaxRequestBodyBytes)
LARGEST_HEAD = 1024 * 1024  # MaxHeaderBytes, likewise
MOST_PARAMETERS = 1000  # of a query

WATCH_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nCache-Control: no-cache, private\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
)
WATCH_END = b"0\r\n\r\n"
_SCHEMES = ("http://", "https://")
_ONCE = frozenset({"host", "content-type"})  # headers of which a second one would say something else
_LONGEST_KNOWN = 64
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class RefusedError(Exception):
    """What was received cannot be a request, or is too large: the connection gets this answer and is closed."""

    def __init__(self, error: StatusError) -> None:
        super().__init__(error.message)
        self.error = error


Check = Callable[[str, Mapping[str, str]], StatusError | None]


class HttpReader:
    """The requests of one connection. After `RefusedError` it reads no more.

    `check` looks at the host that each is for and at its headers before anything else does: why it is refused, or
    nothing.
    """

    def __init__(self, check: Check | None = None) -> None:
        self._check = check
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

    @property
    def under_way(self) -> bool:
        """Whether a part of a request has come."""
        return self._received > 0

    @property
    def reads_body(self) -> bool:
        return self._headed and self._received > 0

    @property
    def held(self) -> int:
        """Bytes that are kept of the request that is being read."""
        return self._size + len(self._url) + len(self._body) if self._received else 0

    def _begin(self) -> None:
        self._url = bytearray()
        self._headers: dict[str, str] = {}
        self._body = bytearray()
        self._size = 0  # of the headers
        self._headed = False

    # What the parser calls.

    def on_message_begin(self) -> None:
        self._begin()
        self._received = self._received or 1  # the bytes that follow upon a request in one piece are not counted

    def on_url(self, url: bytes) -> None:
        self._url += url
        if len(self._url) > LARGEST_HEAD:
            raise RefusedError(_too_large_head())

    def on_header(self, name: bytes, value: bytes) -> None:
        self._size += len(name) + len(value)
        if self._size > LARGEST_HEAD:
            raise RefusedError(_too_large_head())
        if self._headed:  # a trailer: nobody wants it, and nothing that was said before may be changed by it
            return
        known = _header_name(name) if len(name) < _LONGEST_KNOWN else name.decode("latin-1").lower()
        if known in _ONCE and known in self._headers:
            raise RefusedError(StatusError(400, f"too many {known.title()} headers"))
        self._headers[known] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        self._headed = True
        headers = self._headers
        length = headers.get("content-length", "")
        if length.isdigit() and (len(length) > 18 or int(length) > LARGEST_BODY):
            raise RefusedError(_too_large_body())
        if "host" not in headers and self._parser.get_http_version() != "1.0":
            raise RefusedError(StatusError(400, "missing required Host header"))
        if headers.get("transfer-encoding", "chunked").lower() != "chunked":
            raise RefusedError(StatusError(400, "the server reads no other transfer encoding than chunked"))
        if self._check is not None:
            for host in (headers.get("host"), _authority(self._url)):
                if host is not None and (refused := self._check(host, headers)) is not None:
                    raise RefusedError(refused)
        self.expects = headers.get("expect", "").lower() == "100-continue"

    def on_body(self, body: bytes) -> None:
        self._body += body
        if len(self._body) > LARGEST_BODY:
            raise RefusedError(_too_large_body())

    def on_message_complete(self) -> None:
        self.expects, self._received = False, 0
        try:
            path, _, query = self._url.decode("ascii").partition("?")
        except UnicodeDecodeError:
            raise RefusedError(StatusError(400, "the address of the request is not ASCII")) from None
        if path.startswith(_SCHEMES):  # as proxies are asked
            path = "/" + path.partition("://")[2].partition("/")[2]
        self.keeps_alive = self._parser.should_keep_alive()
        try:
            pairs = (
                parse_qsl(query, keep_blank_values=True, errors="replace", max_num_fields=MOST_PARAMETERS)
                if query
                else []
            )
        except ValueError:
            raise RefusedError(StatusError(400, f"more than {MOST_PARAMETERS} parameters in the query")) from None
        method = self._parser.get_method().decode("ascii")
        self._done.append(Request(method, path, dict(pairs), self._headers, bytes(self._body)))
        self._begin()


def _authority(url: bytes | bytearray) -> str | None:
    """The host that an address names which a proxy is asked for."""
    for scheme in (b"http://", b"https://"):
        if url.startswith(scheme):
            rest = url[len(scheme) :].partition(b"/")[0].partition(b"?")[0]
            return rest.decode("latin-1")
    return None


@lru_cache(maxsize=256)
def _header_name(name: bytes) -> str:
    """Clients have few, which come with every request."""
    return name.decode("latin-1").lower()


def response_bytes(response: Response, *, head_only: bool = False, close: bool = False) -> bytes:
    more = b"".join(b"%b: %b\r\n" % (name.encode(), _header(value)) for name, value in response.headers)
    return b"HTTP/1.1 %d %b\r\nContent-Type: %b\r\nContent-Length: %d\r\n%b%b\r\n%b" % (
        response.code,
        phrase(response.code).encode(),
        response.content_type.encode(),
        len(response.body),
        more,
        b"Connection: close\r\n" if close else b"",
        b"" if head_only else response.body,
    )


def _header(value: str) -> bytes:
    """Never a line of its own, whatever was put into it."""
    return value.encode(errors="replace").translate(None, b"\r\n\0")


def chunk(frame: bytes) -> bytes:
    """A frame of a watch as a chunk of its answer."""
    return b"%x\r\n%b\r\n" % (len(frame), frame)


def _too_large_body() -> StatusError:
    return too_large(f"limit is {LARGEST_BODY}")


def _too_large_head() -> StatusError:
    return StatusError(431, f"the request is too large: its head has more than {LARGEST_HEAD:,} bytes")
