"""What can be chosen in forms: from the tables that `schedlab policies` prints, and from nowhere else."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from schedlab.model.plugins import registered
from schedlab.policy.catalogue import catalogue, registered_entries
from schedlab.web.setup import Setup, Sweep, allowed_words, as_document

SIMPLE = {"float": "number", "int": "whole", "bool": "flag", "str": "text"}


def choices() -> dict[str, Any]:
    """Entries by kind, each with its parameters; words of fields; and a form as it is before anybody touches it."""
    found: dict[str, list[dict[str, Any]]] = {}
    targets = {("observer", entry.name): entry.load for entry in registered("observer")}
    for entry in (*catalogue(), *registered_entries()):
        load = targets.get((entry.kind, entry.name))
        more = {"arguments": parameters(load())} if load else {}
        found.setdefault(entry.kind, []).append(asdict(entry) | more)
    found["model"] = [*found.get("model", []), *_models()]
    return {"kinds": found, "words": allowed_words(), "setup": as_document(Setup()), "study": as_document(Sweep())}


def parameters(target: Callable[..., Any]) -> list[dict[str, Any]] | None:
    """Those of a class that a form can ask for; None if it cannot be made without another one."""
    found = []
    for parameter in inspect.signature(target).parameters.values():
        needed = parameter.default is inspect.Parameter.empty
        kind = _kind(parameter.annotation)
        if kind is None:
            if needed and parameter.kind is not inspect.Parameter.VAR_KEYWORD:
                return None
            continue
        found.append({"name": parameter.name, "kind": kind, "needed": needed, "default": _default(parameter.default)})
    return found


def _kind(annotation: Any) -> str | None:
    """Of a type as it is written; one of several simple ones is written as a text."""
    parts = [part.strip() for part in str(getattr(annotation, "__name__", annotation)).split("|")]
    simple = [SIMPLE[part] for part in parts if part in SIMPLE]
    if not simple and parts == ["Victims"]:
        return "text"
    return "text" if "text" in simple else next(iter(simple), None)


def _default(value: Any) -> Any:
    plain = isinstance(value, str | int | float | bool) and value == value and value not in (float("inf"),)
    return value if plain else None


def _models() -> Iterator[dict[str, Any]]:
    """Models in words: those whose parameters can be typed in."""
    from schedlab.generate.store import KINDS, model_class

    for name in KINDS:
        target = model_class(name)
        if (own := parameters(target)) is not None:
            summary = (inspect.getdoc(target) or "").partition("\n")[0]
            yield {"kind": "model", "name": name, "summary": summary, "arguments": own}


def policy_parts(spec: Any) -> dict[str, Any]:
    """A parsed policy for the form: its text, and what each key is, as text; nothing where it is not a product."""
    if spec.plugin is not None:
        return {"text": spec.text, "composed": False}
    own = {"order": spec.order.text, "place": str(spec.place), "nodes": "exclusive" if spec.exclusive else "shared"}
    own |= {"scan": spec.scan.text if spec.scan else "", "depth": "" if spec.depth is None else str(spec.depth)}
    own |= {"reservations": str(spec.reservations)}
    head = spec.text.partition(":")[0]
    return {"text": spec.text, "composed": True, "backfill": head if head == "cosched" else spec.backfill, "keys": own}


def policy_text(backfill: str, keys: typing.Mapping[str, str]) -> str:
    """As it would be written: empty keys are left out. `parse_policy` makes it short."""
    given = ",".join(f"{key}={value}" for key, value in keys.items() if value)
    return f"{backfill}:{given}" if given else backfill
