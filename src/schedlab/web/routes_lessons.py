"""Guided examples, and small scenarios of one's own, step by step."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from schedlab.web.body import asked, json_body
from schedlab.web.page import page
from schedlab.web.play.lesson import document, find, lessons
from schedlab.web.play.small import MOST_JOBS
from schedlab.web.turns import in_turn
from schedlab.web.words import colours

LONGEST = 100_000  # bytes of a scenario as JSON

_FIRST = {  # what the form has in it
    "machine": "8",
    "policies": ["easy", "conservative"],
    "estimate": "limit",
    "overrun": "kill",
    "jobs": [
        [0, 4, 100, 100, ""],
        [0, 6, 50, 50, ""],
        [5, 7, 30, 30, ""],
        [10, 2, 300, 300, ""],
        [20, 2, 80, 80, ""],
    ],
}


def gallery(_request: Request) -> Response:
    data = {"lessons": [lesson.card() for lesson in lessons()], "colours": colours()}
    return page("Learn", "learn", at="/learn", styles=("learn",), data=data)


def lesson(request: Request) -> Response:
    found = find(request.path_params["name"])
    others = [each.card() for each in lessons()]
    data = {"lesson": document(found.id), "lessons": others, "colours": colours()}
    return page(found.title, "learn", at="/learn", styles=("learn",), data=data)


def own(_request: Request) -> Response:
    data = {"own": {"first": _FIRST, "most": MOST_JOBS}, "colours": colours()}
    return page("Your own scenario", "learn", at="/learn", styles=("learn",), data=data)


async def played(request: Request) -> Response:
    """The plays of a scenario as it was typed."""
    given = await json_body(request, LONGEST)
    answered: Response = await in_turn(request, "moment", asked, request, "plays", scenario=given)
    return answered


async def swf(request: Request) -> Response:
    """The jobs of a scenario as a log."""
    given = await json_body(request, LONGEST)
    answered: Response = await in_turn(request, "moment", asked, request, "swf", scenario=given)
    answered.headers["content-disposition"] = 'attachment; filename="jobs.swf"'
    answered.headers["content-type"] = "text/plain; charset=utf-8"
    return answered


routes: list[BaseRoute] = [
    Route("/learn", gallery),
    Route("/learn/own", own),
    Route("/learn/own/play", played, methods=["POST"]),
    Route("/learn/own/swf", swf, methods=["POST"]),
    Route("/learn/lesson/{name}", lesson),
]
