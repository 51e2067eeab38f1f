"""What a `schedlab run` is going to do: which policies, on which machine, into which folders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from schedlab.model.errors import InputError, InputErrors

if TYPE_CHECKING:
    from schedlab.model.cluster import Cluster
    from schedlab.model.plugins import Plugin
    from schedlab.model.workload import Workload
    from schedlab.policy.spec import PolicySpec


def parse_policies(texts: Sequence[str]) -> list[PolicySpec]:
    """All policies, or all that is wrong with them."""
    from schedlab.policy.spec import parse_policy

    found: list[PolicySpec] = []
    errors: list[InputError] = []
    for text in texts:
        try:
            policy = parse_policy(text)
        except InputError as error:
            errors.append(error)
            continue
        if policy in found:
            same = "" if text == policy.text else f" (it is the same as {policy})"
            errors.append(InputError(f"given twice{same}", where=f"policy '{text}'", hint="name each policy once"))
        found.append(policy)
    _raise(errors)
    return found


def load_observers(texts: Sequence[str]) -> list[Plugin]:
    if not texts:
        return []
    from schedlab.model.plugins import load

    return [load("observer", text) for text in texts]


def request_detail(cluster: Cluster | None) -> str:
    """How much of a request counts: everything, if the cluster has more than cores."""
    more = cluster is not None and cluster.more_than_cores
    return "full" if more else "cores"


def run_folders(
    out: Path | None, policies: Sequence[PolicySpec], force: bool, finished: bool = False
) -> list[Path | None]:
    """The folder of each policy: `out` itself for a single one, unless `out` holds runs; else one inside it.

    With `finished` some of them may be there already, of a run that goes on.
    """
    if out is None:
        return [None] * len(policies)
    from schedlab.engine.folder import check_target, holds_run

    if len(policies) == 1 and not _holds_runs(out):
        folders = [out]
    elif holds_run(out):
        hint = "choose another folder: with several policies each gets one inside it"
        raise InputError("is itself the folder of a run", where=str(out), hint=hint)
    else:
        folders = [out / policy.folder for policy in policies]
    errors: list[InputError] = []
    for folder in folders:
        if finished and holds_run(folder):
            continue
        try:
            check_target(folder, force)
        except InputError as error:
            errors.append(error)
    _raise(errors)
    return list(folders)


def cluster_of_header(workload: Workload, log: str) -> tuple[Cluster, str]:
    """A pool as large as the log's header says, and a word about that."""
    from schedlab.model.cluster import Cluster
    from schedlab.workload.swf.header import machine_size

    if found := machine_size(workload.header):
        return Cluster.of_cores(found[0]), f", {found[1]} of the log's header"
    raise InputError(
        "the header does not say how large the machine was (no MaxProcs)",
        where=log,
        hint="say it: --cluster 120x2 for 120 nodes of 2 cores, --cluster pool:240 for 240 cores",
    )


def _holds_runs(folder: Path) -> bool:
    from schedlab.engine.folder import holds_run

    return folder.is_dir() and not holds_run(folder) and any(holds_run(entry) for entry in folder.iterdir())


def _raise(errors: Sequence[InputError]) -> None:
    if errors:
        raise errors[0] if len(errors) == 1 else InputErrors(errors)
