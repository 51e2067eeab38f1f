"""The server as a process: its socket, its signals, its end."""

from __future__ import annotations

import atexit
import os
import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable
from html import escape
from pathlib import Path
from types import FrameType

import uvicorn

from schedlab.model.errors import InputError
from schedlab.web.aside import begin, end_all
from schedlab.web.connections import Connection
from schedlab.web.server import create_app
from schedlab.web.settings import Settings
from schedlab.web.space import SPACES

PATIENCE = 3  # seconds for answers that are under way when the server ends


def listen(settings: Settings, port: int) -> tuple[socket.socket, str]:
    """A socket that listens, and the address to open."""
    try:
        found = socket.getaddrinfo(settings.host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        sock = socket.create_server(found[4][:2], family=found[0], backlog=128)
    except OSError as error:
        hint = "take another with --port, or --port 0 for one that is free"
        raise InputError(
            f"cannot listen: {error.strerror or error}", where=f"{settings.host}:{port}", hint=hint
        ) from None
    name = f"[{settings.host}]" if ":" in settings.host else settings.host
    token = f"?token={settings.token}" if settings.token else ""
    return sock, f"http://{name}:{sock.getsockname()[1]}/{token}"


class Server(uvicorn.Server):
    """Says when it is ready, and ends when it is asked to."""

    def __init__(self, folder: Path, settings: Settings, ready: Callable[[], None] = lambda: None) -> None:
        app = create_app(folder, settings)
        config = uvicorn.Config(
            app,
            http=Connection,
            ws="none",
            log_level="error",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            lifespan="on",
            timeout_graceful_shutdown=PATIENCE,
        )
        super().__init__(config)
        self._ready = ready
        self._work = app.state.work

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        begin()  # what it imports is there when the first page asks for something
        await super().startup(sockets)
        self._ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Ctrl-C is how it ends: it is not raised again, and a second one does not leave workers behind."""
        self._work.closed = True  # event streams, which would be waited for, end
        end_all()
        self.should_exit = True


def serve(folder: Path, settings: Settings, sock: socket.socket, ready: Callable[[], None]) -> None:
    """Until somebody ends it; `ready` is called when it answers. Names of files are those of the folder."""
    os.chdir(folder)
    server = Server(Path(), settings, ready)
    with sock, server.capture_signals():  # from now on: else Ctrl-C could be lost between here and its loop
        server.run([sock])


def open_browser(address: str, folder: Path) -> None:
    """By way of a file that nobody else may read, for programs' arguments are everybody's to see: the token is not
    among them. It lies in the folder because browsers in a sandbox (snap) see no temporary files of others."""
    try:
        page = _page_to(address, folder)
    except OSError:  # nobody can start anything here either: the address is printed
        return
    threading.Thread(target=webbrowser.open, args=(page.as_uri(),), daemon=True).start()  # it may take a while


def _page_to(address: str, folder: Path) -> Path:
    page = folder / SPACES / f".open-{secrets.token_hex(6)}.html"
    page.parent.mkdir(exist_ok=True, mode=0o700)
    with os.fdopen(os.open(page, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
        file.write(
            '<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
            f'<meta http-equiv="refresh" content="0; url={escape(address)}"><title>schedlab</title>'
        )
    atexit.register(page.unlink, missing_ok=True)
    return page
