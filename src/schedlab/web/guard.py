"""Who may ask what: every request goes through here before a handler sees it.

- Host has to be an address that is served: a name of somebody else's that leads here (DNS rebinding) is refused.
- What changes something has to come from a page of this server, not from one of another origin.
- A token in the first URL lets a browser in, and a cookie remembers; programs may send it as `Authorization: Bearer`.
- A cookie, which no script can read and no other site can use, says which space is the browser's.

Cookies do not tell ports of one host apart: their names do, so that two servers do not overwrite each other's.
"""

from __future__ import annotations

import hmac
import re
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from schedlab.model.browsers import is_foreign, is_served
from schedlab.model.confined import confined
from schedlab.web.errors import RefusedError, answer
from schedlab.web.settings import Settings
from schedlab.web.space import new_secret, space_of

SPACE, TOKEN = "schedlab_space", "schedlab_token"
LONG = 400 * 86_400  # seconds: the longest that browsers keep a cookie
PIECE = 256 << 10  # bytes of an answer that wait to be sent
READS = frozenset({"GET", "HEAD"})
_SECRET = re.compile(r"[A-Za-z0-9_-]{32}")  # as `new_secret` makes them
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}


class Guard:
    def __init__(self, app: ASGIApp, folder: Path, settings: Settings) -> None:
        self._app, self._folder, self._settings = app, folder, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        cookies: list[str] = []
        protected = _with_headers(send, cookies)
        try:
            response = self._checked(scope, cookies)
            if response is None:
                space = scope["state"]["space"]
                async with scope["app"].state.turns.requests.turn(space.id):
                    with confined(space.bounds(self._settings)):
                        await self._app(scope, receive, protected)
                return
        except RefusedError as error:  # of handlers' Starlette has made an answer
            response = answer(error)
        await response(scope, receive, protected)

    def _checked(self, scope: Scope, cookies: list[str]) -> Response | None:
        """Nothing if a handler may see it, `request.state.space` being set; else what is to be answered."""
        headers = Headers(scope=scope)
        check_host(", ".join(headers.getlist("host")), self._settings.host)
        if scope["method"] not in READS:
            check_origin(headers)
        scope["headers"] = [each for each in scope["headers"] if each[0] != b"range"]  # files come whole
        found, port = cookies_of(headers), port_of(headers.get("host", ""))
        if response := self._let_in(scope, headers, found, cookies):
            return response
        secret = found.get(SPACE + port, "")
        if not _SECRET.fullmatch(secret):
            if _from_elsewhere(headers):
                return _come_again()
            secret = found.get(SPACE, "")  # of a server that did not tell ports apart
            if not _SECRET.fullmatch(secret):
                secret = new_secret()
            cookies.append(_cookie(SPACE + port, secret))
        scope.setdefault("state", {})["space"] = space_of(self._folder, secret)
        return None

    def _let_in(self, scope: Scope, headers: Headers, found: dict[str, str], cookies: list[str]) -> Response | None:
        """With the token of the URL once, then with the cookie."""
        token, name = self._settings.token, TOKEN + port_of(headers.get("host", ""))
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = dict(query).get("token", "")
        shown = (found.get(name, ""), headers.get("authorization", "").removeprefix("Bearer "))
        if not token or (not given and any(_same(one, token) for one in shown)):
            return None
        if not _same(given, token):
            if not given and scope["method"] in READS and _from_elsewhere(headers):
                return _come_again()
            hint = "open the address that the server printed when it started: it ends in ?token=…"
            raise RefusedError("this server lets nobody in without its token", status=403, hint=hint)
        cookies.append(_cookie(name, token))
        if scope["method"] not in READS:
            return None
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        path = "/" + scope["path"].lstrip("/\\")  # never another host
        return RedirectResponse(f"{path}?{rest}" if rest else path, 303)


def check_host(host: str, served: str) -> None:
    if is_served(host, served):
        return
    hint = f"open the server by an address that it has: http://{served}" if served else ""
    raise RefusedError(f"'{host[:200]}' is not an address of this server", status=421, hint=hint)


def check_origin(headers: Headers) -> None:
    """Browsers say from which page a request that changes something comes; programs that are none say nothing."""
    if is_foreign(headers.get("host", ""), headers.get("origin"), headers.get("sec-fetch-site")):
        raise RefusedError(
            "requests from pages of other sites are not answered", status=403, hint="use the page itself"
        )


def cookies_of(headers: Headers) -> dict[str, str]:
    """Of values as this server gives them: none needs quotes."""
    pairs = (pair.partition("=") for line in headers.getlist("cookie") for pair in line.split(";"))
    return {name.strip(): value.strip() for name, _, value in pairs}


def port_of(host: str) -> str:
    """As part of a name; as the browser sees it, which may have come through a tunnel."""
    port = host.rpartition("]")[2].rpartition(":")[2] if ":" in host.rpartition("]")[2] else ""
    return f"_{port}" if port.isdecimal() and port.isascii() and len(port) <= len("65535") else ""


def _from_elsewhere(headers: Headers) -> bool:
    """Who follows a link of another site does not show cookies."""
    return headers.get("sec-fetch-site", "none") in ("cross-site", "same-site")


def _same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode(), token.encode())


def _cookie(name: str, value: str) -> str:
    return f"{name}={value}; Path=/; Max-Age={LONG}; HttpOnly; SameSite=Strict"


def _come_again() -> Response:
    """Cookies are shown when the page asks for itself again."""
    icon = '<link rel="icon" href="data:,">'
    return HTMLResponse(f'<!doctype html><meta http-equiv="refresh" content="0">{icon}<title>schedlab</title>')


def _with_headers(send: Send, cookies: list[str]) -> Send:
    async def protected(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("cache-control", "no-cache" if "etag" in headers else "no-store")
            for cookie in cookies:
                headers.append("set-cookie", cookie)
        body = memoryview(message.get("body", b""))
        for at in range(PIECE, len(body), PIECE):  # who takes it slowly is waited for
            await send({"type": message["type"], "body": bytes(body[at - PIECE : at]), "more_body": True})
        if len(body) > PIECE:
            message["body"] = bytes(body[(len(body) - 1) // PIECE * PIECE :])
        await send(message)

    return protected
