"""Guided examples, and small scenarios of one's own, step by step."""

from __future__ import annotations

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from schedlab.web.body import json_body
from schedlab.web.page import page
from schedlab.web.play.lesson import document, find, lessons
from schedlab.web.play.small import MOST_JOBS, Small, cores_of, read_small
from schedlab.web.play.tell import play
from schedlab.web.words import colours
from schedlab.workload.swf.write import swf_text

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

    def found() -> list[dict[str, Any]]:
        return [play(small).to_dict() for small in read_small(given)]

    return JSONResponse({"plays": await run_in_threadpool(found)})


async def swf(request: Request) -> Response:
    """The jobs of a scenario as a log."""
    small = read_small(await json_body(request, LONGEST))[0]
    text = await run_in_threadpool(_as_swf, small)
    headers = {"Content-Disposition": 'attachment; filename="jobs.swf"'}
    return Response(text, media_type="text/plain; charset=utf-8", headers=headers)


def _as_swf(small: Small) -> bytes:
    note, cores = f"a small scenario, for a machine of {small.machine}", cores_of(small.machine)
    return swf_text(small.workload, {"Note": note, "MaxProcs": str(cores)})


routes: list[BaseRoute] = [
    Route("/learn", gallery),
    Route("/learn/own", own),
    Route("/learn/own/play", played, methods=["POST"]),
    Route("/learn/own/swf", swf, methods=["POST"]),
    Route("/learn/lesson/{name}", lesson),
]
