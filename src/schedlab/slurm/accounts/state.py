"""The files in which slurmctld finds its accounts without a database: assoc_mgr_state, last_tres, clustername."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

from schedlab.model.errors import InputError
from schedlab.slurm.accounts.layout import RELEASES, StateLayout
from schedlab.slurm.accounts.model import Accounts
from schedlab.slurm.accounts.records import association_records, qos_records, user_records
from schedlab.slurm.accounts.resources import Resources

_HEADER = struct.Struct(">Hq")  # protocol, seconds since the epoch


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


def layout_of(release: str) -> StateLayout:
    layout = RELEASES.get(release)
    if layout is None:
        raise InputError(
            f"Slurm {release}: its files of accounts are not known; those that are: {', '.join(RELEASES)}",
            hint="use Slurm 22.05, which is Debian 12's",
        )
    return layout
