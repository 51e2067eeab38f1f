"""The files in which slurmctld finds its accounts without a database: assoc_mgr_state, last_tres, clustername."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schedlab.model.errors import InputError
from schedlab.slurm.accounts.layout import RELEASES, StateLayout
from schedlab.slurm.accounts.model import Accounts
from schedlab.slurm.accounts.records import association_records, qos_records, user_records
from schedlab.slurm.accounts.resources import Resources
from schedlab.slurm.wire.buffer import Reader, WireError

_HEADER = struct.Struct(">Hq")  # protocol, seconds since the epoch


@dataclass(frozen=True, slots=True)
class State:
    """What the three files hold, record by record, with the names of the layout."""

    cluster: str
    when: int
    users: list[dict[str, Any]]
    qos: list[dict[str, Any]]
    associations: list[dict[str, Any]]
    tres: list[dict[str, Any]]


def write_state(
    folder: Path,
    accounts: Accounts,
    uids: Mapping[str, int],
    *,
    release: str = "22.05",
    tres: Sequence[str] = (),
    when: int = 0,
) -> None:
    """Writes the files into StateSaveLocation.

    `tres` are those of AccountingStorageTRES, `when` is the time that the files say they were written.
    """
    layout = layout_of(release)
    resources = Resources(tres, accounts)
    records = {
        "user": user_records(accounts, uids),
        "license": [],
        "qos": qos_records(accounts, resources),
        "association": association_records(accounts, uids, resources),
    }
    header = _HEADER.pack(layout.protocol, when)
    sections = b"".join(
        struct.pack(">H", number) + layout.list_of(kind, records[kind]) for kind, number in layout.sections.items()
    )
    (folder / "assoc_mgr_state").write_bytes(header + sections)
    (folder / "last_tres").write_bytes(header + layout.list_of("tres", resources.records()))
    (folder / "clustername").write_text(accounts.cluster)


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


def layout_of(release: str) -> StateLayout:
    layout = RELEASES.get(release)
    if layout is None:
        raise InputError(
            f"Slurm {release}: its files of accounts are not known; those that are: {', '.join(RELEASES)}",
            hint="use Slurm 22.05, which is Debian 12's",
        )
    return layout


def _opened(path: Path, layout: StateLayout) -> tuple[Reader, int]:
    reader = Reader(path.read_bytes())
    if (protocol := reader.u16()) != layout.protocol:
        raise WireError(f"{path.name} is of protocol {protocol}; {layout.protocol} was expected")
    return reader, reader.time()
