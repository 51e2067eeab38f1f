"""Runs and studies: started, watched, cancelled."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import nullcontext
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from schedlab.model.errors import InputError
from schedlab.web.body import json_body
from schedlab.web.space import Space
from schedlab.web.start import asked_task
from schedlab.web.task import find
from schedlab.web.turns import Turns, in_turn, taking
from schedlab.web.work import Work

EVERY = 0.1  # seconds between two looks at what has changed
ALIVE = 15.0  # seconds after which something is said in any case, so that a browser that is gone is noticed


@taking("moment")
def list_work(request: Request) -> Response:
    return JSONResponse({"work": _work(request).documents(request.state.space)})


async def start(request: Request) -> Response:
    """`{"setup": …, "pace": null}`: what is set up, as `web/setup.py` reads it."""
    body = await json_body(request)
    space: Space = request.state.space
    pace = pace_of(body)
    task = await in_turn(request, "moment", asked_task, body.get("setup"), space, request.app.state.settings)
    return JSONResponse(await run_in_threadpool(_work(request).start, space, task, pace=pace), 201)


@taking("moment")
def one(request: Request) -> Response:
    """With what it printed."""
    return JSONResponse(_work(request).document(request.state.space, request.path_params["id"], output=True))


@taking("moment")
def cancel(request: Request) -> Response:
    return JSONResponse(_work(request).cancel(request.state.space, request.path_params["id"]))


@taking("moment")
def again(request: Request) -> Response:
    return JSONResponse(_work(request).again(request.state.space, request.path_params["id"]), 201)


async def pace(request: Request) -> Response:
    """`{"pace": 3600}`: simulated seconds a second at most; 0 waits, null does not."""
    wanted = pace_of(await json_body(request))
    answered = await run_in_threadpool(_work(request).pace, request.state.space, request.path_params["id"], wanted)
    return JSONResponse(answered)


async def events(request: Request) -> Response:
    """Server-sent events: `status` whenever it has changed, with `?frames` also `frame`; the last one is a status."""
    space: Space = request.state.space
    record = await run_in_threadpool(find, space, request.path_params["id"])
    frames = record.id if "frames" in request.query_params else ""
    return _Stream(request, _events(_work(request), space, frames, only=record.id))


async def all_events(request: Request) -> Response:
    """The same of everything that is open, in one stream, which does not end; pictures of the one `?frames=ID` names.

    Browsers have six connections for a server, so a page cannot have a stream for each."""
    space: Space = request.state.space
    frames = request.query_params.get("frames", "")
    if frames:
        await run_in_threadpool(find, space, frames)
    return _Stream(request, _events(_work(request), space, frames))


async def _events(work: Work, space: Space, frames: str, only: str = "") -> AsyncIterator[str]:
    told: dict[str, int] = {only: -1} if only else {}
    quiet, shown = 0.0, None
    with work.watched(frames) if frames else nullcontext():
        while not work.closed:
            now = {id: version for id, version in work.open(space).items() if not only or id == only}
            changed = [id for id in (*told, *now) if told.get(id) != now.get(id)]
            for id in dict.fromkeys(changed):
                quiet = 0.0
                yield _event("status", await run_in_threadpool(work.document, space, id))
            told = now
            if only and only not in now:
                return
            if frames and (frame := work.frame(frames)) is not None and frame is not shown:
                shown, quiet = frame, 0.0
                yield _event("frame", frame)
            await asyncio.sleep(EVERY)
            quiet += EVERY
            if quiet >= ALIVE:
                quiet = 0.0
                yield ": still here\n\n"


class _Stream(StreamingResponse):
    """One of those that a person may have."""

    def __init__(self, request: Request, events: AsyncIterator[str]) -> None:
        super().__init__(events, media_type="text/event-stream")
        self._turns: Turns = request.app.state.turns.streams
        self._who: str = request.state.space.id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._turns.turn(self._who):
            await super().__call__(scope, receive, send)


def pace_of(body: dict[str, Any]) -> float | None:
    pace = body.get("pace")
    if pace is None:
        return None
    if isinstance(pace, bool) or not isinstance(pace, int | float) or not 0 <= pace < 1e12:
        hint = "give seconds of simulated time a second, such as 3600"
        raise InputError(f"{json.dumps(pace)[:40]} is not a pace", where="pace", hint=hint)
    return float(pace)


def _event(name: str, document: Any) -> str:
    return f"event: {name}\ndata: {json.dumps(document, allow_nan=False)}\n\n"


def _work(request: Request) -> Work:
    work: Work = request.app.state.work
    return work


routes: list[BaseRoute] = [
    Route("/api/work", list_work),
    Route("/api/work", start, methods=["POST"]),
    Route("/api/work/events", all_events),
    Route("/api/work/{id}", one),
    Route("/api/work/{id}/cancel", cancel, methods=["POST"]),
    Route("/api/work/{id}/again", again, methods=["POST"]),
    Route("/api/work/{id}/pace", pace, methods=["POST"]),
    Route("/api/work/{id}/events", events),
]
