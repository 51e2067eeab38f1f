"""Who may ask what: every request goes through here before a handler sees it.

- Host has to be an address that is served: a name of somebody else's that leads here (DNS rebinding) is refused.
- What changes something has to come from a page of this server, not from one of another origin.
- Where the server is reached from other machines, a token in the first URL lets a browser in; a cookie remembers.
- A cookie, which no script can read and no other site can use, says which space is the browser's.
"""

from __future__ import annotations

import hmac
import re
from http.cookies import CookieError, SimpleCookie
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
        except RefusedError as error:
            response = answer(error)
        if response is not None:
            await response(scope, receive, protected)
            return
        with confined(scope["state"]["space"].bounds(self._settings)):
            await self._app(scope, receive, protected)

    def _checked(self, scope: Scope, cookies: list[str]) -> Response | None:
        """Nothing if a handler may see it, `request.state.space` being set; else what is to be answered."""
        headers = Headers(scope=scope)
        check_host(headers.get("host", ""), self._settings.host)
        if scope["method"] not in READS:
            check_origin(headers)
        found = cookies_of(headers)
        if response := self._let_in(scope, found, cookies):
            return response
        secret = found.get(SPACE, "")
        if not _SECRET.fullmatch(secret):
            if headers.get("sec-fetch-site", "none") in ("cross-site", "same-site"):
                return _come_again()
            secret = new_secret()
            cookies.append(_cookie(SPACE, secret))
        scope.setdefault("state", {})["space"] = space_of(self._folder, secret)
        return None

    def _let_in(self, scope: Scope, found: dict[str, str], cookies: list[str]) -> Response | None:
        """With the token of the URL once, then with the cookie."""
        token = self._settings.token
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = dict(query).get("token", "")
        if not token or (not given and _same(found.get(TOKEN, ""), token)):
            return None
        if not _same(given, token):
            hint = "open the address that the server printed when it started: it ends in ?token=…"
            raise RefusedError("this server lets nobody in without its token", status=403, hint=hint)
        cookies.append(_cookie(TOKEN, token))
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
    found: SimpleCookie = SimpleCookie()
    for line in headers.getlist("cookie"):
        try:
            found.load(line)
        except CookieError:
            continue
    return {name: morsel.value for name, morsel in found.items()}


def _same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode(), token.encode())


def _cookie(name: str, value: str) -> str:
    return f"{name}={value}; Path=/; Max-Age={LONG}; HttpOnly; SameSite=Strict"


def _come_again() -> Response:
    """Who follows a link from another site does not show its cookie: it does when the page asks for itself again."""
    return HTMLResponse('<!doctype html><meta http-equiv="refresh" content="0"><title>schedlab</title>')


def _with_headers(send: Send, cookies: list[str]) -> Send:
    async def protected(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("cache-control", "no-cache" if "etag" in headers else "no-store")
            for cookie in cookies:
                headers.append("set-cookie", cookie)
        await send(message)

    return protected
