"""The columns of the tables that schedlab writes, and what it notes beside them in a Parquet file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from schedlab.model.errors import InputError
from schedlab.model.request import Request
from schedlab.model.workload import LABELLED, Phase
from schedlab.workload.stream import Known
from schedlab.workload.table.mapping import Column, Mapping

CHUNK = "chunk."  # chunk.cores, chunk.memory, …: what one chunk has
NAME = "_name"  # user_name: names; user: numbers
NEEDED = ("id", "submit", "runtime", "limit", "count")
PLAIN = (*NEEDED, "name", "status", "wait", "cancel", "predecessors", "after", "think")  # the last two: older tables
WHERE = ("per_node_min", "per_node_max", "features", "request_partition", "exclusive")


def is_own(titles: Sequence[str]) -> bool:
    return set(NEEDED) <= set(titles) and any(title.startswith(CHUNK) for title in titles)


def own_mapping(titles: Sequence[str]) -> Mapping:
    """How to read a table that schedlab wrote."""
    columns = {name: Column(name) for name in (*PLAIN, *WHERE, *LABELLED) if name in titles}
    columns |= {name: Column(f"{name}{NAME}") for name in LABELLED if f"{name}{NAME}" in titles}
    resources = {title.removeprefix(CHUNK): Column(title) for title in titles if title.startswith(CHUNK)}
    return Mapping(columns, resources, missing=("",), own=True)


@dataclass(slots=True)
class Noted:
    """What a workload has besides its jobs."""

    origin: datetime | None = None
    header: dict[str, str] = field(default_factory=dict)
    labels: dict[str, list[str]] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    phases: tuple[Phase, ...] = ()

    def to_json(self) -> bytes:
        return json.dumps(
            {
                "origin": self.origin.isoformat() if self.origin else None,
                "header": self.header,
                "labels": self.labels,
                "requests": [request.to_dict() for request in self.requests],
                "phases": [[phase.name, phase.begin, phase.end] for phase in self.phases],
            }
        ).encode()

    @classmethod
    def read(cls, metadata: bytes | None, path: Path) -> Noted:
        if metadata is None:
            return cls()
        try:
            return cls._parsed(json.loads(metadata))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            hint = "write the table again, or leave its metadata key 'schedlab' out"
            raise InputError(f"its notes by schedlab are damaged: {error}", where=str(path), hint=hint) from None

    @classmethod
    def _parsed(cls, data: dict[str, Any]) -> Noted:
        origin = data["origin"]
        return cls(
            datetime.fromisoformat(origin) if origin else None,
            {str(label): str(value) for label, value in data["header"].items()},
            {column: [str(name) for name in names] for column, names in data["labels"].items() if column in LABELLED},
            [Request.from_dict(request) for request in data["requests"]],
            tuple(Phase(str(name), float(begin), float(end)) for name, begin, end in data["phases"]),
        )

    def seed(self, known: Known) -> None:
        """Requests and names keep their numbers."""
        for request in self.requests:
            known.request(request)
        for column, names in self.labels.items():
            for name in names:
                known.number(column, name)
