"""Releases of Slurm whose messages are understood, and how to find the one of an installed Slurm."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from schedlab.model.errors import InputError
from schedlab.slurm.wire import release_22_05
from schedlab.slurm.wire.layout import Layout
from schedlab.slurm.wire.release_22_05 import description, messages, records


@dataclass(frozen=True, slots=True)
class Layouts:
    """What the messages of a release consist of."""

    # of nodes
    registration: Layout
    gres_of_node: Layout
    launch: Layout
    termination: Layout
    suspension: Layout
    signal: Layout
    prolog: Layout
    prolog_complete: Layout
    epilog_complete: Layout
    batch_complete: Layout
    ping_of_node: Layout
    # of those who submit and administer
    job_description: Layout
    submitted: Layout
    return_code: Layout
    return_message: Layout
    kill: Layout
    node_update: Layout
    shutdown: Layout
    job_info: Layout
    priority: Layout
    share: Layout
    statistics: Layout


@dataclass(frozen=True)
class Release:
    """A release of Slurm, as its messages know it."""

    name: str  # 22.05
    protocol: int
    older_protocols: tuple[int, ...]  # heard from slurmctld before a node has said which release it is
    numbers: Mapping[str, int]  # of messages, by Slurm's names
    layouts: Layouts

    def __post_init__(self) -> None:
        object.__setattr__(self, "_names", {number: name for name, number in self.numbers.items()})

    def name_of(self, number: int) -> str:
        """Slurm's name of a message, or `message 1234` for one that is not in the table."""
        names: dict[int, str] = self.__dict__["_names"]
        return names.get(number) or f"message {number}"


SLURM_22_05 = Release(
    name="22.05",
    protocol=release_22_05.PROTOCOL,
    older_protocols=release_22_05.OLDER_PROTOCOLS,
    numbers=release_22_05.MESSAGES,
    layouts=Layouts(
        registration=messages.NODE_REGISTRATION,
        gres_of_node=messages.GRES_OF_NODE,
        launch=messages.LAUNCH,
        termination=messages.TERMINATION,
        suspension=messages.SUSPENSION,
        signal=messages.SIGNAL,
        prolog=messages.PROLOG,
        prolog_complete=messages.PROLOG_COMPLETE,
        epilog_complete=messages.EPILOG_COMPLETE,
        batch_complete=messages.BATCH_COMPLETE,
        ping_of_node=messages.PING_OF_NODE,
        job_description=description.JOB_DESCRIPTION,
        submitted=messages.SUBMITTED,
        return_code=messages.RETURN_CODE,
        return_message=messages.RETURN_MESSAGE,
        kill=messages.KILL,
        node_update=messages.NODE_UPDATE,
        shutdown=messages.SHUTDOWN,
        job_info=records.JOB_INFO,
        priority=messages.PRIORITY,
        share=messages.SHARE,
        statistics=records.STATISTICS,
    ),
)

RELEASES = {release.name: release for release in (SLURM_22_05,)}


def release_of(version: str) -> Release:
    """The release of a version such as `22.05.8` or `slurm-wlm 22.05.8`."""
    found = re.search(r"(?<![0-9.])([0-9]{2})\.([0-9]{2})(?![0-9])", version)
    release = RELEASES.get(f"{found[1]}.{found[2]}") if found else None
    if release is None:
        raise InputError(
            f"Slurm {version.strip()[:60]!r}: its messages are not understood; the releases that are: "
            + ", ".join(RELEASES),
            hint="use Slurm 22.05, which is Debian 12's; `schedlab slurm doctor` fetches it",
        )
    return release
