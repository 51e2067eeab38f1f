"""What the real Slurm in simulated time needs, looked at one by one: each with what was found and what cures it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from schedlab.model.errors import InputError, SchedlabError
from schedlab.model.finding import Finding, failed
from schedlab.slurm import workplace
from schedlab.slurm.install.packages import REMEDIES, Progress, fetch_programs
from schedlab.slurm.install.programs import Programs, Search, search, start_slurmctld

# What slurmctld loads, whatever a site's slurm.conf says about scheduling.
PLUGINS = (
    *("auth/none", "cred/none", "accounting_storage/slurmdbd", "accounting_storage/none", "jobcomp/none"),
    *("select/cons_tres", "select/cons_res", "select/linear", "sched/backfill", "sched/builtin"),
    *("priority/multifactor", "priority/basic", "preempt/none", "preempt/qos", "preempt/partition_prio"),
    *("topology/none", "topology/tree", "site_factor/none", "prep/script", "route/default", "mcs/none"),
    *("switch/none", "ext_sensors/none", "jobacct_gather/none", "mpi/none"),
    *("acct_gather_energy/none", "acct_gather_profile/none"),
    *("acct_gather_interconnect/none", "acct_gather_filesystem/none"),
)

TRIAL = """
ClusterName=trial
SlurmctldHost=head
NodeName=n1 CPUs=1
PartitionName=all Nodes=n1 Default=YES
"""


def examine(fetch: bool, progress: Progress | None = None) -> list[Finding]:
    """Everything at once; with `fetch`, programs that are missing are fetched, and leftovers are always removed."""
    programs, findings = _programs(fetch, progress)
    if programs is not None:
        findings += [_starts(programs), _plugins(programs)]
    findings += [*_clock(programs), _room(), *_leftovers(), _running()]
    return [*findings, _trial()] if all(finding.ok for finding in findings) else findings


def _programs(fetch: bool, progress: Progress | None) -> tuple[Programs | None, list[Finding]]:
    what = "Slurm's programs"
    try:
        found = search()
        programs = found.programs or (fetch_programs(progress) if fetch else None)
    except SchedlabError as error:
        return None, [failed(what, error)]
    if programs is None:
        cure = f"schedlab slurm doctor fetches Debian's packages; or {REMEDIES}"
        return None, [*_passed_over(found), Finding(False, what, "there are none on this machine", cure)]
    clients = ", ".join(programs.clients) or "none"
    detail = f"Slurm {programs.version} ({programs.origin}): {programs.slurmctld}; client programs: {clients}"
    return programs, [*_passed_over(found), Finding(True, what, detail)]


def _passed_over(found: Search) -> list[Finding]:
    return [Finding(True, "another Slurm, not used", f"{error.where} {error.message}") for error in found.passed_over]


def _starts(programs: Programs) -> Finding:
    what = "slurmctld starts"
    try:
        answer = start_slurmctld(programs, "-V")
    except InputError as error:
        return failed(what, error)
    return Finding(True, what, answer.stdout.strip())


def _plugins(programs: Programs) -> Finding:
    what = "plug-ins"
    absent = [plugin for plugin in PLUGINS if not programs.has_plugin(*plugin.split("/"))]
    if absent:
        detail = f"{programs.plugin_folder} does not have {', '.join(absent)}"
        return Finding(False, what, detail, f"use Debian's packages: {REMEDIES}")
    try:
        missing = {plugin: libraries for plugin in PLUGINS if (libraries := programs.needs(plugin))}
    except InputError as error:
        return failed(what, error)
    if missing:
        detail = "; ".join(f"{plugin} lacks {', '.join(libraries)}" for plugin, libraries in missing.items())
        return Finding(False, what, detail, "install the packages that have these libraries")
    return Finding(True, what, f"{len(PLUGINS)} of {len(programs.plugins())} are needed, all are there and load")


def _clock(programs: Programs | None) -> Iterator[Finding]:
    what = "virtual clock"
    try:
        from schedlab.slurm.clock import shim_path

        shim = shim_path()
    except (ImportError, SchedlabError) as error:
        yield Finding(False, what, str(error), "install schedlab again: pip install --force-reinstall schedlab")
        return
    if not shim.is_file():
        yield Finding(False, what, f"{shim} is not there", "install schedlab again; it is built with the core")
        return
    yield Finding(True, what, str(shim))
    if programs is not None:
        yield _preloads(programs, str(shim))


def _preloads(programs: Programs, shim: str) -> Finding:
    what = "virtual clock in slurmctld"
    try:
        answer = start_slurmctld(programs, "-V", preload=shim)
    except InputError as error:
        return failed(what, error)
    # The loader goes on without a library that it cannot load, and only says so.
    if answer.returncode != 0 or "LD_PRELOAD" in answer.stderr:
        words = answer.stderr.strip() or f"slurmctld -V ended with code {answer.returncode}"
        return Finding(False, what, words, "install schedlab again, on this machine")
    return Finding(True, what, "is loaded, and slurmctld starts with it")


def _room() -> Finding:
    what = "room for a run"
    try:
        base = workplace.best_base()
    except InputError as error:
        return failed(what, error)
    free = shutil.disk_usage(base).free
    kind = "in memory" if workplace.in_memory(base) else "on disk, which is slower than memory"
    detail = f"{base}, {kind}, {free / 1e9:.1f} GB free"
    if free < workplace.ROOM:
        return Finding(False, what, detail, f"free {workplace.ROOM / 1e6:.0f} MB there, in /dev/shm or in $TMPDIR")
    return Finding(True, what, detail)


def _leftovers() -> Iterator[Finding]:
    what = "leftovers of earlier runs"
    found = workplace.leftovers()
    if not found:
        yield Finding(True, what, "none")
    for leftover in found:
        pids = ", ".join(map(str, leftover.pids))
        detail = f"{leftover.folder}" + (f" with processes {pids}" if pids else "")
        if workplace.remove(leftover):
            yield Finding(True, what, f"removed {detail}")
        else:
            yield Finding(False, what, f"cannot remove {detail}", f"look at it, then: rm -r {leftover.folder}")


def _running() -> Finding:
    folders = workplace.occupied()
    return Finding(True, "runs at this moment", ", ".join(map(str, folders)) or "none")


def _trial() -> Finding:
    """Whether a job really runs, on this machine, in this folder: one of a minute on one node."""
    from schedlab.engine.simulate import simulate
    from schedlab.model.workload import Workload
    from schedlab.slurm.decider import RealSlurm

    what = "a job runs"
    try:
        with TemporaryDirectory() as folder:
            conf = Path(folder) / "slurm.conf"
            conf.write_text(TRIAL)
            slurm = RealSlurm(conf, evidence=0)
            run = simulate(Workload.of(submit=[0], runtime=[60], count=[1]), slurm.setup.cluster(), slurm)
    except SchedlabError as error:
        cure = error.hint if isinstance(error, InputError) else ""
        return Finding(False, what, str(error).partition("\n")[0], cure or "see to what slurmctld says there")
    (state,) = run.jobs["state"].to_list()
    return Finding(state == "completed", what, state, "" if state == "completed" else "see slurmctld's log")
