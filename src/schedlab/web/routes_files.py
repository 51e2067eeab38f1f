"""Logs, runs and other files that a browser may see; its own come and go here."""

from __future__ import annotations

import shutil
from pathlib import Path
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route

from schedlab.model.confined import confined
from schedlab.web.catalogue import documents
from schedlab.web.errors import RefusedError
from schedlab.web.space import Space
from schedlab.web.turns import taking
from schedlab.web.upload import check_length, check_room, receive
from schedlab.web.work import Work

# A page that somebody made, a report say, is shown without any right in this site: it cannot ask the server anything.
ALONE = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
)
SHOWN = {".html": "text/html", ".png": "image/png", ".svg": "image/svg+xml", ".pdf": "application/pdf"}


@taking("moment")
def list_files(request: Request) -> Response:
    return JSONResponse({"files": documents(request.state.space)})


def get_file(request: Request) -> Response:
    """To keep; with `?show`, pages and pictures as they are."""
    space: Space = request.state.space
    path = space.path(request.path_params["name"])
    if not path.is_file():
        raise RefusedError("is a folder, not a file", status=400, where=space.name(path))
    headers = {"content-security-policy": ALONE}
    if "show" in parse_qs(request.url.query, keep_blank_values=True) and path.suffix in SHOWN:
        return FileResponse(path, media_type=SHOWN[path.suffix], headers=headers)
    return FileResponse(path, media_type="application/octet-stream", filename=path.name, headers=headers)


async def put_file(request: Request) -> Response:
    """The body as a file of one's own; one that is there is replaced with `?replace`."""
    space: Space = request.state.space
    name, most = request.path_params["name"], request.app.state.settings.largest_upload
    path = await run_in_threadpool(space.new, name)
    if path.exists() and (path.is_dir() or "replace" not in request.query_params):
        raise RefusedError("is already there", status=409, where=name, hint="choose another name, or replace it")
    _refuse_in_use(request, path)
    check_length(request.headers.get("content-length"), most, name)
    async with request.app.state.turns.uploads.turn(space.id):
        await run_in_threadpool(check_room, space, request.app.state.settings)
        size = await receive(request.stream(), path, most)
    return JSONResponse({"name": space.name(path), "size": size}, 201)


@taking("moment")
def delete_file(request: Request) -> Response:
    space: Space = request.state.space
    path = space.own_path(request.path_params["name"])
    _refuse_in_use(request, path)
    with confined(None):  # what is below is removed by names relative to open folders, which tell nothing
        _remove(path)
    return JSONResponse({"name": space.name(path)})


def _refuse_in_use(request: Request, path: Path) -> None:
    work: Work = request.app.state.work
    if user := work.using(path):
        name = request.state.space.name(path)
        raise RefusedError(f"is in use by {user}", status=409, where=name, hint="wait for its end, or cancel it")


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


routes: list[BaseRoute] = [
    Route("/api/files", list_files),
    Route("/api/files/{name:path}", put_file, methods=["PUT"]),
    Route("/api/files/{name:path}", delete_file, methods=["DELETE"]),
    Route("/api/files/{name:path}", get_file),
]
