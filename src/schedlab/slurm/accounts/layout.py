"""What slurmctld's files of accounts consist of, one table for each release."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from schedlab.slurm.wire.buffer import NO_VALUE_32, Reader, WireError
from schedlab.slurm.wire.layout import TEXT, TEXTS, U16, U32, U64, Kind, Layout, pack_text

NO_VALUE = NO_VALUE_32
UNLIMITED = 0xFFFF_FFFF
_SCALE = 1_000_000  # floating-point numbers are kept multiplied by this


def _always(value: int) -> Kind:
    """A count of entries that we never write: none, or no list at all."""

    def read(reader: Reader) -> int:
        if (found := reader.u32()) != value:
            raise WireError(f"{found} entries of a list that is not read here")
        return found

    return Kind(struct.Struct(">I").pack, read, value)


def _pack_bits(value: tuple[int, frozenset[int]] | None) -> bytes:
    """A set of small numbers and the size of its bitmap, which travels as hexadecimal text."""
    if value is None:
        return struct.pack(">I", NO_VALUE)
    size, numbers = value
    mask = sum(1 << number for number in numbers)
    return struct.pack(">I", size) + pack_text(f"0x{mask:0{(size + 3) // 4}X}")


def _read_bits(reader: Reader) -> tuple[int, frozenset[int]] | None:
    if (size := reader.u32()) == NO_VALUE:
        return None
    mask = int(reader.text() or "0x0", 16)
    return size, frozenset(number for number in range(size) if mask >> number & 1)


def _pack_scaled(value: float) -> bytes:
    return struct.pack(">d", value * _SCALE)


_NO_LIST, _EMPTY_LIST = _always(NO_VALUE), _always(0)
_SCALED = Kind(_pack_scaled, Reader.double, 0.0)
_BITS = Kind(_pack_bits, _read_bits)
_LIMIT = Kind(U32.pack, U32.read, UNLIMITED)


@dataclass(frozen=True, slots=True)
class StateLayout:
    """The records of a release, and the numbers of the sections they are in."""

    protocol: int
    sections: Mapping[str, int]
    records: Mapping[str, Layout]

    def list_of(self, kind: str, records: list[dict[str, Any]]) -> bytes:
        """Records with their number in front and a code of success behind."""
        packed = b"".join(self.records[kind].pack(record) for record in records)
        return struct.pack(">I", len(records)) + packed + struct.pack(">I", 0)

    def read_list(self, kind: str, reader: Reader) -> list[dict[str, Any]]:
        records = self.records[kind].records(reader, reader.u32())
        reader.u32()
        return records


_USER = Layout(
    "user",
    ("admin_level", U16, 1),
    ("associations", _NO_LIST),
    ("coordinated", _EMPTY_LIST),
    ("default_account", TEXT),
    ("default_wckey", TEXT, ""),
    ("flags", U32),
    ("name", TEXT),
    ("old_name", TEXT),
    ("uid", U32),
    ("wckeys", _NO_LIST),
)

_QOS = Layout(
    "QOS",
    ("description", TEXT),
    ("id", U32),
    ("flags", U32),
    ("grace_time", U32),
    ("grp_tres_mins", TEXT),
    ("grp_tres_run_mins", TEXT),
    ("grp_tres", TEXT),
    ("grp_jobs", _LIMIT),
    ("grp_jobs_accrue", _LIMIT),
    ("grp_submit", _LIMIT),
    ("grp_wall", _LIMIT),
    ("max_tres_mins", TEXT),
    ("max_tres_run_mins_per_account", TEXT),
    ("max_tres_run_mins_per_user", TEXT),
    ("max_tres_per_account", TEXT),
    ("max_tres", TEXT),
    ("max_tres_per_node", TEXT),
    ("max_tres_per_user", TEXT),
    ("max_jobs_per_account", _LIMIT),
    ("max_jobs_per_user", _LIMIT),
    ("max_jobs_accrue_per_account", _LIMIT),
    ("max_jobs_accrue_per_user", _LIMIT),
    ("min_prio_threshold", _LIMIT),
    ("max_submit_per_account", _LIMIT),
    ("max_submit_per_user", _LIMIT),
    ("max_wall", _LIMIT),
    ("min_tres", TEXT),
    ("name", TEXT),
    ("preempt", _BITS),
    ("preempt_names", _NO_LIST),
    ("preempt_mode", U16),
    ("preempt_exempt_time", _LIMIT),
    ("priority", U32),
    ("usage_factor", _SCALED, 1.0),
    ("usage_threshold", _SCALED, float(UNLIMITED)),
    ("limit_factor", _SCALED, float(UNLIMITED)),
)

_ASSOCIATION = Layout(
    "association",
    ("usage", _NO_LIST),
    ("account", TEXT),
    ("cluster", TEXT),
    ("default_qos", U32),
    ("flags", U16),
    ("fairshare", U32, 1),
    ("grp_tres_mins", TEXT),
    ("grp_tres_run_mins", TEXT),
    ("grp_tres", TEXT),
    ("grp_jobs", _LIMIT),
    ("grp_jobs_accrue", _LIMIT),
    ("grp_submit", _LIMIT),
    ("grp_wall", _LIMIT),
    ("id", U32),
    ("is_default", U16),
    ("left", U32),
    ("max_tres_mins", TEXT),
    ("max_tres_run_mins", TEXT),
    ("max_tres", TEXT),
    ("max_tres_per_node", TEXT),
    ("max_jobs", _LIMIT),
    ("max_jobs_accrue", _LIMIT),
    ("min_prio_threshold", _LIMIT),
    ("max_submit", _LIMIT),
    ("max_wall", _LIMIT),
    ("parent", TEXT),
    ("parent_id", U32),
    ("partition", TEXT),
    ("priority", U32),
    ("qos", TEXTS),
    ("right", U32),
    ("uid", U32, NO_VALUE),
    ("user", TEXT),
)

_TRES = Layout("resource", ("allocated_seconds", U64), ("count", U64), ("id", U32), ("name", TEXT), ("type", TEXT))

RELEASES = {
    "22.05": StateLayout(
        protocol=38 << 8,
        # In the order of the file: associations come last, as they refer to users and QOS.
        sections={"user": 1406, "license": 1477, "qos": 1447, "association": 1404},
        records={
            "user": _USER,
            "license": Layout("license"),
            "qos": _QOS,
            "association": _ASSOCIATION,
            "tres": _TRES,
        },
    )
}
