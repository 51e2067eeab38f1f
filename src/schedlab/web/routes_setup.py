"""The pages Home, Set up and Work, and what their forms ask: choices, policies, logs, machines, commands."""

from __future__ import annotations

import json
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from schedlab.model.errors import InputError
from schedlab.web.aside import WHILE, ask
from schedlab.web.body import asked, json_body
from schedlab.web.catalogue import entries
from schedlab.web.choices import choices
from schedlab.web.page import page
from schedlab.web.sample import example, sample_name
from schedlab.web.settings import Settings
from schedlab.web.setup import LONGEST, Setup, as_document, read_form
from schedlab.web.space import Space
from schedlab.web.start import asked_task
from schedlab.web.turns import in_turn, taking

MOST_RUNS = 60  # that Home shows
MOST_LOOKED = 1 << 20  # bytes of what is told of a log
LOGS = (".swf", ".csv", ".parquet", ".json", ".txt", ".gz", ".zst", ".events", ".xml", ".tsv")
MACHINES = (".toml", ".conf", ".xml", ".yaml", ".yml", ".json")


def home(_request: Request) -> Response:
    return page("Home", "home", at="/")


def set_up(_request: Request) -> Response:
    return page("Set up", "setup_page", at="/setup", styles=("forms",), data=all_choices())


def work(_request: Request) -> Response:
    return page("Work", "work_page", at="/work")


@taking("moment")
def things(request: Request) -> Response:
    """What is in the folder, as Home and the choosers show it: runs with their numbers, studies, logs, machines."""
    space: Space = request.state.space
    found = entries(space)
    runs = [entry for entry in found if entry.kind == "run"][:MOST_RUNS]
    names = [entry.name for entry in runs]
    cards = json.loads(ask("cards", space, request.app.state.settings, names=names)) if names else []
    files = [entry for entry in found if entry.kind == "file"]
    of_studies = {f"{entry.name}.toml" for entry in found if entry.kind == "study"}
    return JSONResponse(
        {
            "runs": [
                {"name": run.name, "own": run.own, "modified": run.modified, **card}
                for run, card in zip(runs, cards, strict=True)
                if card
            ],
            "studies": [
                {"name": each.name, "own": each.own, "modified": each.modified}
                for each in found
                if each.kind == "study"
            ],
            "logs": [_file(each) for each in files if each.name.endswith(LOGS)],
            "machines": [_file(each) for each in files if each.name.endswith(MACHINES) and each.name not in of_studies],
        }
    )


def _file(entry: Any) -> dict[str, Any]:
    return {"name": entry.name, "own": entry.own, "size": entry.size, "modified": entry.modified}


@cache
def all_choices() -> dict[str, Any]:
    return choices()


async def policy(request: Request) -> Response:
    """`{"text": …}`, or `{"backfill": …, "keys": {…}}`: the policy, in parts and in one line."""
    return await _moment(request, "policy", body=await json_body(request))


async def command(request: Request) -> Response:
    """A form as the command and the study file that it stands for, and all that is wrong with it."""
    return await _moment(request, "command", body=await json_body(request))


async def _moment(request: Request, what: str, **arguments: Any) -> Response:
    answered: Response = await in_turn(request, "moment", asked, request, what, **arguments)
    return answered


@taking("moment")
def sample(request: Request) -> Response:
    """The log that comes with schedlab, as a file of this browser."""
    return JSONResponse({"name": sample_name(request.state.space)})


@taking("moment")
def start_example(request: Request) -> Response:
    """Four schedulers on the sample: the first click."""
    space: Space = request.state.space
    task = asked_task(as_document(example(space)), space, request.app.state.settings)
    return JSONResponse(request.app.state.work.start(space, task), 201)


async def inspect(request: Request) -> Response:
    """What is in the log, or what the model makes."""
    setup = read_form(Setup, (await json_body(request)).get("setup"))
    space, settings = request.state.space, request.app.state.settings
    found = await in_turn(request, "long", _looked, setup, space, settings)
    return Response(found, media_type="application/json")


def _looked(setup: Setup, space: Space, settings: Settings) -> bytes:
    if setup.model:
        return ask("inspect", space, settings, WHILE, setup=as_document(setup))
    versions = _version(space.path(setup.log)), _version(space.folder / setup.cluster)
    form = Setup(log=setup.log, clean=setup.clean, procs=setup.procs, cluster=setup.cluster)
    return _look_at_log(form, versions, space, settings)


def _version(path: Path) -> tuple[int, ...]:
    try:
        status = path.stat()
    except (OSError, ValueError):  # a machine in words, or none
        return ()
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


@lru_cache(maxsize=64)
def _look_at_log(form: Setup, _versions: tuple[tuple[int, ...], ...], space: Space, settings: Settings) -> bytes:
    return ask("inspect", space, settings, WHILE, MOST_LOOKED, setup=as_document(form))


async def machine(request: Request) -> Response:
    """`{"cluster": "64x4"}` as racks."""
    body = await json_body(request)
    text = body.get("cluster")
    if not isinstance(text, str) or not text.strip() or len(text) > LONGEST:
        raise InputError("on which machine?", hint="64x4 is 64 nodes of 4 cores; or choose a file")
    return await _moment(request, "machine", cluster=text.strip())


routes: list[BaseRoute] = [
    Route("/", home),
    Route("/setup", set_up),
    Route("/work", work),
    Route("/api/things", things),
    Route("/api/policy", policy, methods=["POST"]),
    Route("/api/command", command, methods=["POST"]),
    Route("/api/inspect", inspect, methods=["POST"]),
    Route("/api/machine", machine, methods=["POST"]),
    Route("/api/sample", sample, methods=["POST"]),
    Route("/api/example", start_example, methods=["POST"]),
]
