"""The pages Home, Set up and Work, and what their forms ask: choices, policies, logs, machines, commands."""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from schedlab.model.errors import InputError
from schedlab.web.body import json_body
from schedlab.web.catalogue import entries
from schedlab.web.checks import check_model, check_policy, found_mistakes, read_machine
from schedlab.web.choices import choices, policy_parts, policy_text
from schedlab.web.errors import document
from schedlab.web.look import look
from schedlab.web.machine import racks
from schedlab.web.page import page
from schedlab.web.sample import example, sample_name
from schedlab.web.settings import Settings
from schedlab.web.setup import Setup, Sweep, read_form
from schedlab.web.shown import run_cards
from schedlab.web.space import Space
from schedlab.web.start import start_run

MOST_RUNS = 60  # that Home shows
LOGS = (".swf", ".csv", ".parquet", ".json", ".txt", ".gz", ".zst", ".events", ".xml", ".tsv")
MACHINES = (".toml", ".conf", ".xml", ".yaml", ".yml", ".json")


def home(_request: Request) -> Response:
    return page("Home", "home", at="/")


def set_up(_request: Request) -> Response:
    return page("Set up", "setup_page", at="/setup", styles=("forms",), data=all_choices())


def work(_request: Request) -> Response:
    return page("Work", "work_page", at="/work")


def things(request: Request) -> Response:
    """What is in the folder, as Home and the choosers show it: runs with their numbers, studies, logs, machines."""
    space: Space = request.state.space
    found = entries(space)
    runs = [entry for entry in found if entry.kind == "run"][:MOST_RUNS]
    cards = run_cards([space.folder / entry.name for entry in runs])
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
    body = await json_body(request)
    text = body.get("text")
    if text is None:
        keys = body.get("keys")
        if not isinstance(keys, dict) or not all(isinstance(value, str) for value in keys.values()):
            raise InputError("expected the keys of a policy as texts", where="keys")
        known = {entry["name"]: entry["parameters"] for entry in all_choices()["kinds"]["backfill"]}
        backfill = str(body.get("backfill", ""))
        own = {key["name"] for key in known.get(backfill, ())}
        text = policy_text(backfill, {name: value for name, value in keys.items() if name in own})
    if not isinstance(text, str):
        raise InputError("expected a text", where="text")
    space, settings = request.state.space, request.app.state.settings
    spec = await run_in_threadpool(check_policy, text.strip(), space, settings)
    return JSONResponse(policy_parts(spec))


async def command(request: Request) -> Response:
    """A form as the command and the study file that it stands for, and all that is wrong with it."""
    body = await json_body(request)
    space, settings = request.state.space, request.app.state.settings
    sweep = read_form(Sweep, body["study"]) if "study" in body else Sweep(setup=read_form(Setup, body.get("setup")))
    setup = sweep.setup
    form, of_study = (sweep, True) if "study" in body else (setup, False)
    mistakes = await run_in_threadpool(
        lambda: [*form.mistakes(), *found_mistakes(setup, space, settings, of_study=of_study)]
    )
    try:
        text = sweep.text()
    except ValueError:  # a value that is no number: it is among the mistakes
        text = ""
    return JSONResponse(
        {
            "command": setup.command(setup.name or "results"),
            "study": text,
            "folder": space.folder.name,
            "mistakes": [document(mistake) for mistake in mistakes],
        }
    )


def sample(request: Request) -> Response:
    """The log that comes with schedlab, as a file of this browser."""
    return JSONResponse({"name": sample_name(request.state.space)})


def start_example(request: Request) -> Response:
    """Four schedulers on the sample: the first click."""
    space: Space = request.state.space
    task = start_run(example(space), space, request.app.state.settings)
    return JSONResponse(request.app.state.work.start(space, task), 201)


async def inspect(request: Request) -> Response:
    """What is in the log, or what the model makes."""
    body = await json_body(request)
    setup = read_form(Setup, body.get("setup"))
    return JSONResponse(await run_in_threadpool(_looked, setup, request.state.space, request.app.state.settings))


def _looked(setup: Setup, space: Space, settings: Settings) -> dict[str, Any]:
    if setup.cluster:
        read_machine(setup.cluster, space)
    if setup.model:
        check_model(setup.model, space)
        if not setup.jobs and not setup.span:
            raise InputError("say how many jobs it is to make, or for how long", where=setup.model)
        asked = {"jobs": setup.jobs, "span": setup.span, "seed": setup.seed}
        return look(setup.model, {"model": asked}, setup.cluster, space, settings)
    versions = _version(space.path(setup.log)), _version(space.folder / setup.cluster)
    return _look_at_log(setup.log, setup.clean, setup.procs, setup.cluster, versions, space, settings)


def _version(path: Path) -> tuple[int, int]:
    if not path.is_file():  # a machine in words, or none
        return (0, 0)
    status = path.stat()
    return status.st_size, status.st_mtime_ns


@lru_cache(maxsize=64)
def _look_at_log(
    name: str,
    clean: str,
    procs: str,
    cluster: str,
    _versions: tuple[tuple[int, int], ...],
    space: Space,
    settings: Settings,
) -> dict[str, Any]:
    return look(name, {"clean": clean, "procs": procs, "bad_rows": "drop"}, cluster, space, settings)


async def machine(request: Request) -> Response:
    """`{"cluster": "64x4"}` as racks."""
    body = await json_body(request)
    text = body.get("cluster")
    if not isinstance(text, str) or not text.strip():
        raise InputError("on which machine?", hint="64x4 is 64 nodes of 4 cores; or choose a file")
    found = await run_in_threadpool(read_machine, text.strip(), request.state.space)
    return JSONResponse(racks(found))


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
