"""The configuration of a kube-scheduler (KubeSchedulerConfiguration): what of it holds in simulated time.

Profiles, plug-ins and their arguments, weights and back-off stay as they are. What would make two runs differ, or
needs another server, is set here, and told: `differences`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import yaml

from schedlab.bridge.kubernetes.pods import DEFAULT_SCHEDULER
from schedlab.model.errors import InputError, InputErrors

VERSION, KIND = "kubescheduler.config.k8s.io/v1", "KubeSchedulerConfiguration"
_HINT = f"a file that begins with apiVersion: {VERSION} and kind: {KIND}"
_MANY = 100_000  # requests a second: the usual limit of 50 would be waited for in simulated time
_GATES = {"WatchListClient": "false"}  # its lists come in pieces whose number is not always the same
_FIXED: tuple[tuple[str, Any, str], ...] = (
    ("parallelism", 1, "with several threads, who was quicker decides among nodes"),
    ("leaderElection.leaderElect", False, "there is nobody else to be the leader"),
    ("clientConnection.contentType", "application/json", "the server speaks JSON"),
    ("clientConnection.acceptContentTypes", "application/json", "the server speaks JSON"),
    ("clientConnection.qps", _MANY, "requests take no simulated time"),
    ("clientConnection.burst", _MANY, "requests take no simulated time"),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """One configuration; that of nobody is a kube-scheduler as it comes."""

    where: str = ""
    given: Mapping[str, Any] = field(default_factory=dict)

    @staticmethod
    def of_names(names: Sequence[str]) -> Settings:
        """That of a scheduler which has no such file; `names` are those that pods ask for."""
        return Settings(given={"profiles": [{"schedulerName": name} for name in names]} if names else {})

    def scheduler_names(self) -> list[str]:
        """The names of its profiles, which pods ask for."""
        profiles = self.given.get("profiles") or [{}]
        return [profile.get("schedulerName") or DEFAULT_SCHEDULER for profile in profiles]

    def differences(self) -> list[str]:
        """What the file says and does not hold here."""
        told = []
        for key, value, why in _FIXED:
            said = _value(self.given, key)
            if said is not None and said != value:
                told.append(f"{key} is {_shown(value)}, not {_shown(said)}: {why}")
        if _value(self.given, "clientConnection.kubeconfig"):
            told.append("clientConnection.kubeconfig is that of the simulated cluster")
        return told

    def text(self, kubeconfig: Path) -> str:
        """As the scheduler reads it; JSON is YAML."""
        found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self.given))
        found |= {"apiVersion": VERSION, "kind": KIND}
        for key, value, _ in (*_FIXED, ("clientConnection.kubeconfig", str(kubeconfig), "")):
            *path, last = key.split(".")
            place = found
            for part in path:
                place = place.setdefault(part, {})
            place[last] = value
        return msgspec.json.encode(found).decode()


def read_settings(path: Path) -> Settings:
    where = str(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        words = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise InputError(f"cannot be read: {words}", where=where, hint=_HINT) from error
    try:
        documents = [found for found in yaml.safe_load_all(text) if found is not None]
        found = msgspec.json.decode(msgspec.json.encode(documents[0])) if len(documents) == 1 else None
    except (yaml.YAMLError, msgspec.EncodeError, TypeError, RecursionError) as error:
        raise InputError(f"is not YAML: {' '.join(str(error).split())}", where=where, hint=_HINT) from error
    if not isinstance(found, dict):
        raise InputError("is not the configuration of a scheduler", where=where, hint=_HINT)
    mistakes = [InputError(words, where=where, hint=hint) for words, hint in _mistakes(found)]
    if mistakes:
        raise InputErrors(mistakes)
    return Settings(where, found)


def _mistakes(found: dict[str, Any]) -> list[tuple[str, str]]:
    """What cannot hold here. What else may be wrong, the scheduler itself says when it starts."""
    told: list[tuple[str, str]] = []
    for key, expected in (("apiVersion", VERSION), ("kind", KIND)):
        if found.get(key) != expected:
            told.append((f"{key} is {found.get(key)!r}, not {expected!r}", _HINT))
    tables = ("leaderElection", "clientConnection")
    told += [(f"{key} is not a table", _HINT) for key in tables if not isinstance(found.get(key, {}), dict)]
    profiles = found.get("profiles")
    if profiles is not None and not (isinstance(profiles, list) and all(isinstance(one, dict) for one in profiles)):
        told.append(("profiles is not a list of tables", "- schedulerName: default-scheduler"))
    elif profiles:
        names = [one.get("schedulerName") or DEFAULT_SCHEDULER for one in profiles]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            told.append(
                (f"several profiles are called {', '.join(map(str, twice))}", "give each another schedulerName")
            )
    if found.get("extenders"):
        words = "extenders are other programs, whose time is not simulated"
        told.append((words, "leave them out, write them as plug-ins, or use schedlab kube serve"))
    return told


def gates_text(given: str) -> str:
    """Feature gates for the command line: those that are asked for, and ours."""
    asked = dict(part.split("=", 1) for part in given.split(",") if "=" in part)
    if wrong := [part for part in given.split(",") if part and "=" not in part]:
        raise InputError(f"gates: {wrong[0]!r} is not a feature gate", hint="Name=true,Other=false")
    for name, value in _GATES.items():
        if asked.get(name, value).lower() != value:
            raise InputError(f"gates: {name}={asked[name]} makes runs differ", hint=f"leave it out: it is {value} here")
    needed = {"GenericWorkload": "true"} if knows_gangs(given) else {}
    return ",".join(f"{name}={value}" for name, value in (needed | asked | _GATES).items())


def knows_gangs(gates: str) -> bool:
    """Whether a scheduler with these feature gates starts all pods of a Workload or none."""
    return "GangScheduling=true" in gates.split(",")


def check_served(wanted: Sequence[str], settings: Sequence[Settings]) -> None:
    """Every pod needs a scheduler, and not two."""
    served = [name for one in settings for name in one.scheduler_names()]
    if twice := sorted({name for name in served if served.count(name) > 1}):
        where = ", ".join(one.where or "the usual configuration" for one in settings)
        hint = "name their profiles apart: profiles: [{schedulerName: other}]"
        raise InputError(f"two schedulers are called {', '.join(twice)}", where=where, hint=hint)
    missing = sorted(set(wanted) - set(served))
    if missing:
        hint = f"name a profile so (profiles: [{{schedulerName: {missing[0]}}}]), or change the pods"
        raise InputError(
            f"pods want the scheduler {', '.join(missing)}, and there is only {', '.join(served)}", hint=hint
        )


def _value(found: Mapping[str, Any], key: str) -> Any:
    for part in key.split("."):
        found = (found.get(part) or {}) if isinstance(found, Mapping) else {}
    return None if found == {} else found


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
