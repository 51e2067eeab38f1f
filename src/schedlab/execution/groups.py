"""Numbers that may differ from one group of nodes to another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, TypeVar

from schedlab.model.errors import InputError
from schedlab.model.suggest import did_you_mean

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Numbers = TypeVar("Numbers", bound=DataclassInstance)
else:
    Numbers = TypeVar("Numbers")


def by_group(
    model: str, default: Numbers, groups: Mapping[str, Mapping[str, float]], names: Sequence[str]
) -> list[Numbers]:
    """The numbers of each group: `default`, or what `groups` says instead. A mistake in it names the `model`."""
    for group in groups:
        if group not in names:
            hint = did_you_mean(group, names, f"groups: {', '.join(names)}")
            raise InputError(f"{model}: the cluster has no node group '{group}'", hint=hint)
    known = [field.name for field in fields(default)]
    for group, numbers in groups.items():
        for name in numbers:
            if name not in known:
                hint = did_you_mean(name, known, f"one of {', '.join(known)}")
                raise InputError(f"{model}: group {group} has no '{name}'", hint=hint)
    return [replace(default, **groups.get(name, {})) for name in names]
