"""`schedlab web` for tests: people with a cookie jar each, and what becomes of what they start."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.testclient import TestClient

from schedlab.web.server import create_app
from schedlab.web.settings import Settings
from schedlab.web.space import Space, space_of
from schedlab.web.task import OPEN, Task

ADDRESS = "http://127.0.0.1:8765"
LOG = "; MaxProcs: 8\n" + "".join(
    f"{job} {60 * job} -1 {100 + job} {1 + job % 8} -1 -1 {1 + job % 8} 400 -1 1 {job % 3} 1 -1 -1 -1 -1 -1\n"
    for job in range(1, 41)
)


@contextmanager
def serving(folder: Path, settings: Settings | None = None) -> Iterator[Starlette]:
    """With a small log in the folder."""
    (folder / "small.swf").write_text(LOG)
    app = create_app(folder, settings)
    with TestClient(app, base_url=ADDRESS):  # its beginning and its end
        yield app


def person(app: Starlette, **options: Any) -> TestClient:
    """A browser that was never here before, and has looked at the list of files once."""
    client = TestClient(app, base_url=ADDRESS, raise_server_exceptions=False, **options)
    client.get("/api/files")
    return client


def space(app: Starlette, client: TestClient) -> Space:
    return space_of(app.state.work.folder, client.cookies["schedlab_space_8765"])


def start(app: Starlette, client: TestClient, *arguments: str, pace: float | None = None, **task: Any) -> str:
    """`schedlab ARGUMENTS --out …`, past the forms: what they let through is another matter."""
    own = space(app, client)
    out = own.name(own.new_folder("work"))
    work = app.state.work.start(own, Task("work", (*arguments, "--out", out), out, **task), pace=pace)
    return str(work["id"])


def ended(client: TestClient, id: str, seconds: float = 100) -> dict[str, Any]:
    return until(client, id, lambda work: work["state"] not in OPEN, seconds)


def until(client: TestClient, id: str, condition: Any, seconds: float = 100) -> dict[str, Any]:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        work: dict[str, Any] = client.get(f"/api/work/{id}").json()
        if condition(work):
            return work
        time.sleep(0.03)
    raise TimeoutError(work)


def names(folder: Path) -> set[str]:
    """Everything below it, hidden or not."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
