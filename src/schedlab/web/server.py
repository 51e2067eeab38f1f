"""The server of `schedlab web`: pages, and an API that calls the rooms which the command line calls.

Each `routes_*.py` has a list `routes`; handlers are plain functions (run in a thread) or coroutines, get what the
browser may see as `request.state.space`, and raise `SchedlabError` for whatever is wrong.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.resources import files
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles

from schedlab.web.errors import HANDLERS
from schedlab.web.guard import Guard
from schedlab.web.opened import Opened
from schedlab.web.settings import Settings
from schedlab.web.turns import Kinds
from schedlab.web.work import Work

PAGES = (
    "routes_setup",
    "routes_compare",
    "routes_studies",
    "routes_work",
    "routes_files",
    "routes_explore",
    "routes_lessons",
)


def create_app(folder: Path, settings: Settings | None = None) -> Starlette:
    """`folder` is what is served; everything that people make goes inside it."""
    settings = settings or Settings()
    routes: list[BaseRoute] = []
    for name in PAGES:
        routes.extend(import_module(f"schedlab.web.{name}").routes)
    routes.append(Mount("/static", StaticFiles(directory=str(files("schedlab.web").joinpath("static")))))
    folder = folder.resolve()
    work = Work(folder, settings)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await run_in_threadpool(work.close)
            await run_in_threadpool(app.state.opened.close)

    guard = Middleware(Guard, folder=folder, settings=settings)
    app = Starlette(routes=routes, middleware=[guard], exception_handlers=HANDLERS, lifespan=lifespan)
    app.state.settings, app.state.work = settings, work
    app.state.turns, app.state.opened = Kinds(), Opened(settings)
    return app
