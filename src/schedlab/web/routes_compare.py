"""The page Compare: numbers side by side as `schedlab compare` prints them, and figures and pages to keep."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from schedlab.engine.folder import holds_run
from schedlab.model.errors import InputError
from schedlab.web.aside import WHILE, ask
from schedlab.web.body import asked
from schedlab.web.exports import ENDINGS, figure_kinds, made
from schedlab.web.page import page
from schedlab.web.space import Space
from schedlab.web.turns import taking

MOST_RUNS = 24
TYPES = {"png": "image/png", "svg": "image/svg+xml", "pdf": "application/pdf", "html": "text/html"}


def compare_page(_request: Request) -> Response:
    return page("Compare", "compare_page", at="/compare", styles=("forms",))


def figures(_request: Request) -> Response:
    return JSONResponse({"figures": figure_kinds()})


@taking("long")
def compare(request: Request) -> Response:
    """`?run=NAME&run=NAME`: the table, and each run against the recorded or the first one."""
    return asked(request, "compare", WHILE, names=_names(request))


@taking("long")
def classes(request: Request) -> Response:
    return asked(request, "classes", WHILE, names=_names(request), by=request.query_params.get("by", "size"))


@taking("long")
def figure(request: Request) -> Response:
    """What `schedlab plot` draws."""
    kind, ending = request.query_params.get("kind", "comparison"), request.query_params.get("format", "png")
    if ending not in ENDINGS:
        raise InputError(f"'{ending}' is not a form of figures", hint=f"one of {', '.join(ENDINGS)}")
    if kind not in {each["name"] for each in figure_kinds()}:
        raise InputError("there is no such figure of runs", where=kind, hint="schedlab plot --list shows all")
    return _file(request, lambda names: ["plot", *names, "--kind", kind], ending, f"{kind}.{ending}")


@taking("long")
def explorer(request: Request) -> Response:
    """What `schedlab explore` writes: the runs as one page, without a server."""
    return _file(request, lambda names: ["explore", *names], "html", "explore.html")


def _file(request: Request, arguments: Callable[[list[str]], list[str]], ending: str, name: str) -> Response:
    names = [request.state.space.name(path) for path in _folders(request)]
    ask("genuine", request.state.space, request.app.state.settings, WHILE, names=names)
    content = made(arguments(names), ending, request.state.space, request.app.state.settings)
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=TYPES[ending], headers=headers)


def _names(request: Request) -> list[str]:
    _folders(request)
    return request.query_params.getlist("run")


def _folders(request: Request) -> list[Path]:
    space: Space = request.state.space
    names = request.query_params.getlist("run")
    if not 1 <= len(names) <= MOST_RUNS:
        raise InputError(f"{len(names)} runs", hint=f"choose between 1 and {MOST_RUNS}")
    found = [space.path(name) for name in names]
    for name, path in zip(names, found, strict=True):
        if not holds_run(path):
            raise InputError("is not the folder of a run", where=name, hint="choose a run")
    return found


routes: list[BaseRoute] = [
    Route("/compare", compare_page),
    Route("/api/compare", compare),
    Route("/api/classes", classes),
    Route("/api/figures", figures),
    Route("/api/figure", figure),
    Route("/api/explorer", explorer),
]
