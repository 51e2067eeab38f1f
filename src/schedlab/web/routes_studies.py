"""The page Studies: composed on the page Set up, looked at, taken up again and reported here."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from schedlab.model.errors import InputError
from schedlab.web.aside import WHILE
from schedlab.web.body import asked
from schedlab.web.exports import made
from schedlab.web.page import page
from schedlab.web.space import Space
from schedlab.web.start import again_study
from schedlab.web.turns import taking


def studies_page(_request: Request) -> Response:
    return page("Studies", "studies_page", at="/studies", styles=("forms",))


@taking("long")
def study(request: Request) -> Response:
    """`?study=NAME`: how far it is, its table and its verdicts."""
    return asked(request, "study", WHILE, name=_name(request))


@taking("moment")
def resume(request: Request) -> Response:
    """What is not done yet."""
    space: Space = request.state.space
    task = again_study(_name(request), space)
    return JSONResponse(request.app.state.work.start(space, task), 201)


@taking("long")
def report(request: Request) -> Response:
    """What `schedlab experiment report` writes."""
    space: Space = request.state.space
    path = space.path(_name(request))
    content = made(["experiment", "report", space.name(path)], "html", space, request.app.state.settings)
    headers = {"content-disposition": f'attachment; filename="{path.name}.html"'}
    return Response(content, media_type="text/html", headers=headers)


def _name(request: Request) -> str:
    name = request.query_params.get("study", "")
    if not name:
        raise InputError("which study?", hint="?study=NAME")
    return name


routes: list[BaseRoute] = [
    Route("/studies", studies_page),
    Route("/api/study", study),
    Route("/api/study/again", resume, methods=["POST"]),
    Route("/api/study/report", report),
]
