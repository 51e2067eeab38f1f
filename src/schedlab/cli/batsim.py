"""`schedlab batsim`: the command line of Batsim 4, so that whatever starts a `batsim` can be pointed here."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Sequence
from math import inf
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from schedlab.bridge.batsim.log import Log, corresponds, exported, version
from schedlab.bridge.batsim.version import BATSIM_VERSION
from schedlab.cli.batsim_arguments import parse
from schedlab.model.errors import InputError, InputErrors, SchedlabError

if TYPE_CHECKING:
    from schedlab.bridge.batsim.flows import Flow
    from schedlab.bridge.batsim.platform import Platform

# What Batsim exits with. (Of values that it cannot read it only says so, and exits with 0: here that is 1, too.)
NO_PLATFORM, NO_WORKLOAD, NO_WORKFLOW, NO_CUT_WORKFLOW, NEGATIVE_START, NO_START = 0x01, 0x02, 0x04, 0x10, 0x20, 0x40
DEADLINE = inf  # Batsim waits for its scheduler, however long that takes
ABORTED = 134  # its assertions end it with SIGABRT, which shells show so


def batsim(
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[OPTIONS OF BATSIM]…", show_default=False, help="See --help.")
    ] = None,
) -> None:
    """Take the place of Batsim 4: its options, exit codes, log lines and output files.

    [b]schedlab batsim -p platform.xml -w workload.json -e out/run -s tcp://localhost:28000[/b]

    A program named batsim for tools that start one: [b]#!/bin/sh[/b] and [b]exec schedlab batsim "$@"[/b]
    """
    raise typer.Exit(run_batsim(arguments or []))


def run_batsim(words: Sequence[str]) -> int:
    """The exit code."""
    given = parse(words)
    log = Log(given.verbosity)
    code = _missing_files(given, log)
    if given.dump_execution_context:
        print(json.dumps(_context(given), separators=(",", ":")))
        return 0
    if code:
        return code
    log.always(version())
    try:
        _refuse(given)
        _simulate(given, log)
    except SchedlabError as error:
        for line in str(error).splitlines():
            log.error(0.0, line)
        return ABORTED
    return 0


def _missing_files(given: Namespace, log: Log) -> int:
    """Says which files are what, or missing; the exit code if one is."""
    code = 0
    wanted = [("Platform", "", given.platform, NO_PLATFORM)]
    for kind, prefix, files, bit in (
        ("Workload", "w", given.workload, NO_WORKLOAD),
        ("Workflow", "wf", given.workflow, NO_WORKFLOW),
        ("Cut workflow", "wfc", [file for file, _ in given.cut_workflow], NO_CUT_WORKFLOW),
        ("Events", "we", given.events, NO_WORKLOAD),
    ):
        wanted += [(kind, f"{prefix}{number}", file, bit) for number, file in enumerate(files)]
    for kind, name, file, bit in wanted:
        if not Path(file).exists():
            log.error(0.0, f"{kind} file '{file}' cannot be read.")
            code |= bit
        elif name:
            log.always(corresponds(kind, name, file))
    for _, time in given.cut_workflow:
        try:
            if float(time) < 0:
                log.error(0.0, f"<start_time> '{time}' should be positive.")
                code |= NEGATIVE_START
        except ValueError:
            log.error(0.0, f"Cannot read the <start_time> '{time}' as a double.")
            code |= NO_START
    return code


def _context(given: Namespace) -> dict[str, object]:
    return {
        "socket_endpoint": given.socket_endpoint,
        "redis_enabled": given.enable_redis,
        "redis_hostname": given.redis_hostname,
        "redis_port": given.redis_port,
        "redis_prefix": given.redis_prefix,
        "export_prefix": given.export,
        "external_scheduler": not given.no_sched,
    }


def _refuse(given: Namespace) -> None:
    """Options that would change the simulation, and that nothing here can follow."""
    mistakes = []
    if given.enable_redis:
        mistakes.append(InputError("--enable-redis: jobs are told in messages only", hint="leave it out"))
    hint = "leave it out"
    mistakes += [InputError(f"--sg-cfg {option}: there is no SimGrid here", hint=hint) for option in given.sg_cfg]
    if given.ignore_beyond_last_workflow:
        mistakes.append(InputError("--ignore-beyond-last-workflow: all jobs come here", hint=hint))
    if given.enable_profile_reuse and not given.enable_dynamic_jobs:
        mistakes.append(InputError("--enable-profile-reuse needs --enable-dynamic-jobs"))
    if mistakes:
        raise InputErrors(mistakes)


def _rules(given: Namespace) -> dict[str, Any]:
    """As `Rules` has them."""
    config = given.sched_cfg or ""
    if given.sched_cfg_file:
        try:
            config = Path(given.sched_cfg_file).read_text(encoding="utf-8")
        except OSError as error:
            said = f"cannot be read: {error.strerror}"
            raise InputError(said, where=f"--sched-cfg-file {given.sched_cfg_file}") from None
    return {
        "dynamic": given.enable_dynamic_jobs,
        "acknowledge": given.acknowledge_dynamic_jobs,
        "reuse_profiles": given.enable_profile_reuse,
        "forward_profiles": given.forward_profiles_on_submission,
        "compute_sharing": given.enable_compute_sharing,
        "storage_sharing": not given.disable_storage_sharing,
        "energy": given.energy,
        "forward_unknown_events": bool(given.events) and given.forward_unknown_events,
        "scheduler_config": config,
    }


def _flows(given: Namespace) -> list[Flow]:
    from schedlab.bridge.batsim.flows import Flow

    limit = given.workflow_jobs_limit
    whole = [Flow(f"wf{number}", Path(file), limit=limit) for number, file in enumerate(given.workflow)]
    cut = [
        Flow(f"wfc{number}", Path(file), float(start), limit) for number, (file, start) in enumerate(given.cut_workflow)
    ]
    return [*whole, *cut]


def _roles(given: Namespace) -> dict[str, str]:
    roles = {given.master_host: "master"}
    for text in given.role:
        hosts, colon, role = text.partition(":")
        if not colon or ":" in role:
            hint = "write hosts, a colon, and their role: host1,host2:storage"
            raise InputError("is not a role of hosts", where=f"--add-role-to-hosts {text}", hint=hint)
        roles |= dict.fromkeys(hosts.split(","), role)
    return roles


def _platform(given: Namespace) -> Platform:
    """The machine, with no more hosts than asked for."""
    from schedlab.bridge.batsim.documents import Documents
    from schedlab.bridge.batsim.platform import Platform

    platform = Platform.read(Path(given.platform), _roles(given))
    limits = [given.mmax] if given.mmax > 0 else []
    if given.mmax_workload and given.workload:
        workloads = Documents.read([Path(file) for file in given.workload], None)
        limits.append(max(workload.hosts for workload in workloads.documents))
    if not limits:
        return platform
    if min(limits) > len(platform.compute):
        said = f"cannot have {min(limits)} hosts: the platform has {len(platform.compute)}"
        raise InputError(said, where="--mmax", hint="give a smaller number")
    return Platform(platform.compute[: min(limits)], platform.storage, platform.routing)


def _simulate(given: Namespace, log: Log) -> None:
    from schedlab.bridge.batsim.decider import Batsim
    from schedlab.bridge.batsim.documents import Documents
    from schedlab.bridge.batsim.machine import nodes_of
    from schedlab.bridge.batsim.one_by_one import OneByOne
    from schedlab.bridge.batsim.outputs import Outputs
    from schedlab.bridge.batsim.recorder import Recorder
    from schedlab.engine.scenario import Scenario
    from schedlab.engine.simulate import Simulation
    from schedlab.engine.writer import Discard

    began = perf_counter()
    platform = _platform(given)
    documents = Documents.read([Path(file) for file in given.workload], platform)
    log.always(exported(given.export))
    outputs = Outputs(
        given.export,
        [host.name for host in platform.hosts],
        version=BATSIM_VERSION,
        storage=len(platform.storage),
        trace=not given.disable_schedule_tracing,
        states=not given.disable_machine_state_tracing,
        energy=given.energy,
    )
    try:
        if given.energy:
            states = [host.pstate for host in platform.hosts]
            for state in sorted(set(states)):
                outputs.in_pstate(0.0, [host for host, begins in enumerate(states) if begins == state], state)
        recorder = Recorder(outputs, Log("quiet") if given.no_sched else log)
        policy = Batsim(
            given.socket_endpoint,
            events=given.events,
            documents=documents,
            flows=_flows(given),
            listeners=[recorder],
            link=OneByOne() if given.no_sched else None,
            deadline=DEADLINE,
            **_rules(given),
        )
        scenario = Scenario(documents.workload(), nodes_of(platform, Path(given.platform).stem), policy)
        try:
            Simulation(scenario, writer=Discard()).run()
        finally:
            recorder.write_down()
        outputs.finish(recorder.time, simulation_seconds=perf_counter() - began, scheduler_seconds=recorder.waited)
    finally:
        outputs.close()
