"""What helpers are asked for. Only here are the texts and files of others read: each of these is called in a process of
its own (`aside.ask`), with what the person may see, and what it gives becomes JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, Protocol, runtime_checkable

from schedlab.analysis.job_by_job import baseline_of
from schedlab.engine.store import read_run
from schedlab.model.errors import InputError
from schedlab.model.run import Run
from schedlab.web.checks import check_model, check_policy, found_mistakes, read_machine
from schedlab.web.choices import choices, policy_parts, policy_text
from schedlab.web.compared import compared
from schedlab.web.errors import document
from schedlab.web.look import described, made
from schedlab.web.machine import racks
from schedlab.web.play.small import cores_of, read_small
from schedlab.web.play.tell import play
from schedlab.web.reader import Reader, checked_files
from schedlab.web.settings import Settings
from schedlab.web.setup import Setup, Sweep, read_form, task_of
from schedlab.web.shown import classes_of, extremes, run_cards, study_document
from schedlab.web.space import Space
from schedlab.workload.swf.write import swf_text

LONGEST_POLICY = 2000  # characters


@runtime_checkable
class Stays(Protocol):
    """A helper that is asked again and again, by several at once."""

    def first(self) -> Any: ...

    def answer(self, **asked: Any) -> Any: ...


def policy(space: Space, settings: Settings, body: dict[str, Any]) -> dict[str, Any]:
    """`{"text": …}`, or `{"backfill": …, "keys": {…}}`: the policy, in parts and in one line."""
    text = body.get("text")
    if text is None:
        keys = body.get("keys")
        if not isinstance(keys, dict) or not all(isinstance(value, str) for value in keys.values()):
            raise InputError("expected the keys of a policy as texts", where="keys")
        known = {entry["name"]: entry["parameters"] for entry in choices()["kinds"]["backfill"]}
        backfill = str(body.get("backfill", ""))
        own = {key["name"] for key in known.get(backfill, ())}
        text = policy_text(backfill, {name: value for name, value in keys.items() if name in own})
    if not isinstance(text, str) or len(text) > LONGEST_POLICY:
        raise InputError(f"expected a text of at most {LONGEST_POLICY} characters", where="text")
    return policy_parts(check_policy(text.strip(), space, settings))


def command(space: Space, settings: Settings, body: dict[str, Any]) -> dict[str, Any]:
    """A form as the command and the study file that it stands for, and all that is wrong with it."""
    sweep = read_form(Sweep, body["study"]) if "study" in body else Sweep(setup=read_form(Setup, body.get("setup")))
    setup = sweep.setup
    form, of_study = (sweep, True) if "study" in body else (setup, False)
    mistakes = [*form.mistakes(), *found_mistakes(setup, space, settings, of_study=of_study)]
    try:
        text = sweep.text()
    except ValueError:  # a value that is no number: it is among the mistakes
        text = ""
    return {
        "command": setup.command(setup.name or "results"),
        "study": text,
        "folder": space.folder.name,
        "mistakes": [document(mistake) for mistake in mistakes],
    }


def machine(space: Space, _settings: Settings, cluster: str) -> dict[str, Any]:
    return racks(read_machine(cluster, space))


def inspect(space: Space, _settings: Settings, setup: dict[str, Any]) -> dict[str, Any]:
    """What is in a log, or what a model makes."""
    form = read_form(Setup, setup)
    cluster = read_machine(form.cluster, space) if form.cluster else None
    if form.log:
        reading = {"clean": form.clean, "procs": form.procs, "bad_rows": "drop"}
        return described(space.name(space.path(form.log)), reading, cluster)
    check_model(form.model, space)
    if not form.jobs and not form.span:
        raise InputError("say how many jobs it is to make, or for how long", where=form.model)
    return described(made(form.model, form.jobs, form.span, form.seed), {}, cluster)


def task(space: Space, settings: Settings, setup: Any) -> dict[str, Any]:
    """A form is looked at, and gets a folder for its results."""
    return asdict(task_of(setup, space, settings))


def cards(space: Space, _settings: Settings, names: Sequence[str]) -> list[dict[str, Any] | None]:
    return run_cards([space.folder / name for name in names])


def genuine(space: Space, _settings: Settings, names: Sequence[str]) -> bool:
    """The runs are what their run.json says: for commands, which do not look."""
    return bool(_runs(space, names))


def compare(space: Space, _settings: Settings, names: Sequence[str]) -> dict[str, Any]:
    """The table, and each run against the recorded or the first one."""
    runs = _runs(space, names)
    baseline = baseline_of(runs)
    found = compared(runs, baseline)
    found["extremes"] = [extremes(run, runs[baseline]) if found["pairs"][at] else None for at, run in enumerate(runs)]
    return found | {"names": names}


def classes(space: Space, _settings: Settings, names: Sequence[str], by: str) -> dict[str, Any]:
    return classes_of(_runs(space, names), by)


def study(space: Space, _settings: Settings, name: str) -> dict[str, Any]:
    return study_document(space.path(name))


def plays(_space: Space, _settings: Settings, scenario: dict[str, Any]) -> dict[str, Any]:
    """A scenario as it was typed, step by step."""
    return {"plays": [play(small).to_dict() for small in read_small(scenario)]}


def swf(_space: Space, _settings: Settings, scenario: dict[str, Any]) -> bytes:
    """The jobs of a scenario as a log."""
    small = read_small(scenario)[0]
    note, cores = f"a small scenario, for a machine of {small.machine}", cores_of(small.machine)
    return swf_text(small.workload, {"Note": note, "MaxProcs": str(cores)})


def look(space: Space, settings: Settings, names: Sequence[str]) -> Reader:
    """Runs side by side, in the explorer."""
    return Reader([space.folder / name for name in names], settings.memory)


def _runs(space: Space, names: Sequence[str]) -> list[Run]:
    folders = [space.path(name) for name in names]
    runs = [read_run(folder) for folder in folders]
    for folder, run in zip(folders, runs, strict=True):
        checked_files(folder, run)
    return runs


ANSWERS: dict[str, Callable[..., Any]] = {
    each.__name__: each
    for each in (policy, command, machine, inspect, task, cards, genuine, compare, classes, study, plays, swf, look)
}
