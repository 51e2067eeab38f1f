"""The explorer of runs, fed by the server: `/explore?run=results/easy&run=results/fcfs`.

    /api/explore/facts?run=…        what the page has to know first
    /api/explore/AT/NAME?run=…      a block of columns (web/pack.py) of the run of that number

`run` is a run of this browser's, or a folder that holds some.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from schedlab.engine.folder import holds_run
from schedlab.model.errors import InputError, SchedlabError
from schedlab.web.errors import RefusedError
from schedlab.web.opened import Look, Opened
from schedlab.web.page import page
from schedlab.web.space import NotThereError, Space, shown
from schedlab.web.turns import taking

MOST_RUNS = 24  # side by side: more cannot be looked at
PIECE = 1 << 20  # bytes


@taking("blocks")
def explore(request: Request) -> Response:
    """The page; without runs, to choose some. What is wrong with them it is told when it asks for facts."""
    names = request.query_params.getlist("run")
    if names:
        with suppress(SchedlabError):
            _opened(request).prepare(_look(request))
    title = ", ".join(Path(name).name for name in names[:3]) or "Explore runs"
    return page(title, "explore_page", at="/explore", data={"runs": names})


@taking("blocks")
def facts(request: Request) -> Response:
    opened = _opened(request)
    return _answer(request, "facts", "application/json", opened.facts)


@taking("blocks")
def block(request: Request) -> Response:
    opened, at, name = _opened(request), request.path_params["at"], request.path_params["name"]
    try:
        which, kind = range(MOST_RUNS)[int(at[:4])], "application/octet-stream"
        return _answer(request, f"{which}-{name}", kind, lambda look: opened.block(look, which, name))
    except (KeyError, IndexError, ValueError):
        raise NotThereError("these runs have no such block", where=shown(f"{at}/{name}")) from None


def _opened(request: Request) -> Opened:
    opened: Opened = request.app.state.opened
    return opened


def _look(request: Request) -> Look:
    names = request.query_params.getlist("run")
    if not names:
        raise InputError("no run is named", hint="end the address with ?run=NAME, or choose one on the page")
    folders = [folder for name in names[: MOST_RUNS + 1] for folder in runs_of(request.state.space, name)]
    if (many := max(len(names), len(folders))) > MOST_RUNS:
        hint = f"name the ones that you want to see, at most {MOST_RUNS}"
        raise InputError(f"{many:,} runs are too many to be seen side by side", hint=hint)
    return _opened(request).look(list(dict.fromkeys(folders)), request.state.space)


def runs_of(space: Space, name: str) -> list[Path]:
    """The run of that name, or those in the folder of that name."""
    path = space.path(name)
    if holds_run(path) or not path.is_dir():
        return [path]
    inside = sorted(entry for entry in path.iterdir() if not entry.is_symlink() and space.sees(entry))
    return [entry for entry in inside if holds_run(entry)] or [path]


def _answer(request: Request, name: str, kind: str, make: Callable[[Look], bytes]) -> Response:
    """With a tag: what a browser has already, it is not sent again, nor made."""
    for last in (False, True):
        look = _look(request)
        try:
            tag = f'"{look.tag}-{name}"'
            headers = {"etag": tag, "vary": "accept-encoding"}
            if tag in request.headers.get("if-none-match", ""):
                return Response(status_code=304, headers=headers)
            made = make(look)
            break
        except RefusedError:
            if last or not look.closed:
                raise
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return StreamingResponse(_unpacked(made), media_type=kind, headers=headers)
    return Response(made, media_type=kind, headers=headers | {"content-encoding": "gzip"})


def _unpacked(packed: bytes) -> Iterator[bytes]:
    """A little at a time: some bytes can be gigabytes."""
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)  # as gzip
    while packed:
        yield unpacker.decompress(packed, PIECE)
        packed = unpacker.unconsumed_tail


routes: list[BaseRoute] = [
    Route("/explore", explore),
    Route("/api/explore/facts", facts),
    Route("/api/explore/{at}/{name}", block),
]
