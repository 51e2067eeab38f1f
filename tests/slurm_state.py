"""What slurmctld would find in the files of accounts that schedlab writes: the other way round, for tests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schedlab.slurm.accounts.layout import StateLayout
from schedlab.slurm.accounts.state import layout_of
from schedlab.slurm.wire.buffer import Reader, WireError


@dataclass(frozen=True, slots=True)
class State:
    """What the three files hold, record by record, with the names of the layout."""

    cluster: str
    when: int
    users: list[dict[str, Any]]
    qos: list[dict[str, Any]]
    associations: list[dict[str, Any]]
    tres: list[dict[str, Any]]


def read_state(folder: Path, release: str = "22.05") -> State:
    """What slurmctld would find in the folder."""
    layout = layout_of(release)
    reader, when = _opened(folder / "assoc_mgr_state", layout)
    kinds = {number: kind for kind, number in layout.sections.items()}
    found: dict[str, list[dict[str, Any]]] = {}
    while reader.left():
        number = reader.u16()
        if number not in kinds:
            raise WireError(f"assoc_mgr_state: section {number} is not known")
        found[kinds[number]] = layout.read_list(kinds[number], reader)
    reader, _ = _opened(folder / "last_tres", layout)
    tres = layout.read_list("tres", reader)
    cluster = (folder / "clustername").read_text().strip()
    return State(cluster, when, found["user"], found["qos"], found["association"], tres)


def _opened(path: Path, layout: StateLayout) -> tuple[Reader, int]:
    reader = Reader(path.read_bytes())
    if (protocol := reader.u16()) != layout.protocol:
        raise WireError(f"{path.name} is of protocol {protocol}; {layout.protocol} was expected")
    return reader, reader.time()
