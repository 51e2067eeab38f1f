"""Parts of messages of Slurm 22.05 whose length depends on what they hold: credentials, generic resources, cores."""

from __future__ import annotations

from typing import Any

from schedlab.slurm.wire.buffer import NO_VALUE_32, Reader, WireError
from schedlab.slurm.wire.layout import (
    BITMAP,
    MEMORY,
    TEXT,
    TEXTS,
    TIME,
    U8,
    U16,
    U16S,
    U32,
    U32S,
    U64,
    U64S,
    Field,
    Layout,
    arrays,
    flagged,
    received,
)

GRES_MAGIC = 0x438A34D4

STEP: tuple[Field, ...] = (
    ("job_id", U32),
    ("step_id", U32, NO_VALUE_32),
    ("step_het_comp", U32, NO_VALUE_32),
)

_GRES_OF_PROLOG = Layout("gres of a job", ("magic", U32), ("plugin_id", U32), ("node_count", U32))
_GRES_OF_JOB = Layout(
    "gres of a job",
    ("magic", U32),
    ("plugin_id", U32),
    ("cpus_per_gres", U16),
    ("flags", U16),
    ("gres_per_job", U64),
    ("gres_per_node", U64),
    ("gres_per_socket", U64),
    ("gres_per_task", U64),
    ("mem_per_gres", U64),
    ("ntasks_per_gres", U16),
    ("total_gres", U64),
    ("type_name", TEXT),
    ("node_count", U32),
)
_GRES_OF_STEP = Layout(
    "gres of a step",
    ("magic", U32),
    ("plugin_id", U32),
    ("cpus_per_gres", U16),
    ("flags", U16),
    ("gres_per_step", U64),
    ("gres_per_node", U64),
    ("gres_per_socket", U64),
    ("gres_per_task", U64),
    ("mem_per_gres", U64),
    ("total_gres", U64),
    ("node_count", U32),
    ("node_in_use", BITMAP),
)
_COUNTS = flagged(U64S)


def _bitmaps(reader: Reader, count: int) -> list[str | None]:
    """One for each node, if the byte in front says that there are any."""
    if not reader.u8():
        return []
    if count * 4 > reader.left():
        raise WireError(f"bitmaps of {count} nodes in {reader.left()} bytes")
    return [BITMAP.read(reader) for _ in range(count)]


def _gres(layout: Layout, *, steps: bool = False) -> Any:
    """Records of generic resources, each with its amount and devices on each node; how many are in front."""

    def read(reader: Reader) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for _ in range(reader.u16()):
            record = layout.read(reader)
            if record["magic"] != GRES_MAGIC:
                raise WireError(f"{layout.name}: no record begins at byte {reader.position}")
            record["counts"] = _COUNTS.read(reader)
            record["devices"] = _bitmaps(reader, record["node_count"])
            if steps:  # the same of the steps of the job; slurmctld keeps them out of credentials
                _bitmaps(reader, record["node_count"])
                if reader.u8():
                    reader.take(8 * record["node_count"])
            found.append(record)
        return found

    return received(read)


PROLOG_GRES = _gres(_GRES_OF_PROLOG)

CREDENTIAL = Layout(
    "credential",
    *STEP,
    ("uid", U32),
    ("gid", U32),
    ("pw_name", TEXT),
    ("pw_gecos", TEXT),
    ("pw_dir", TEXT),
    ("pw_shell", TEXT),
    ("gids", U32S),
    ("group_names", TEXTS),
    ("job_gres", _gres(_GRES_OF_JOB, steps=True)),
    ("step_gres", _gres(_GRES_OF_STEP)),
    ("core_spec", U16),
    ("account", TEXT),
    ("alias_list", TEXT),
    ("comment", TEXT),
    ("constraints", TEXT),
    ("partition", TEXT),
    ("reservation", TEXT),
    ("restart_count", U16),
    ("std_err", TEXT),
    ("std_in", TEXT),
    ("std_out", TEXT),
    ("step_hosts", TEXT),
    ("x11", U16),
    ("time", TIME),
    ("core_count", U32),
    ("job_cores", BITMAP),
    ("step_cores", BITMAP),
    ("sockets", arrays(U16, U16S, U16S, U32S)),
    ("cpus", arrays(U32, U16S, U32S)),
    ("node_count", U32),
    ("ntasks", U32),
    ("nodes", TEXT),
    ("job_memory", arrays(U32, U64S, U32S)),
    ("step_memory", arrays(U32, U64S, U32S)),
    ("selinux_context", TEXT),
    ("signature", MEMORY),
)

_RESOURCES = Layout(
    "resources of a job",
    ("ncpus", U32),
    ("node_req", U32),
    ("nodes", TEXT),
    ("whole_node", U8),
    ("threads_per_core", U16),
    ("cr_type", U16),
    ("cpu_array_reps", U32S),
    ("cpu_array_value", U16S),
    ("cpus", U16S),
    ("cpus_used", U16S),
    ("memory_allocated", U64S),
    ("memory_used", U64S),
    ("sockets_per_node", U16S),
    ("cores_per_socket", U16S),
    ("sock_core_rep_count", U32S),
    ("core_bitmap", BITMAP),
    ("core_bitmap_used", BITMAP),
)


def _read_resources(reader: Reader) -> dict[str, Any] | None:
    hosts = reader.u32()
    return None if hosts == NO_VALUE_32 else _RESOURCES.read(reader)


JOB_RESOURCES = received(_read_resources)
_MULTI_CORE = Layout("sockets, cores and threads", *((f"part{number}", U16) for number in range(9)))
MULTI_CORE = flagged(received(_MULTI_CORE.read))
