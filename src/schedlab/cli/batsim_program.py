"""`schedlab batsim` as a program without Python (native/batsim), in a fraction of its memory and time.

It carries jobs that are delays on hosts of their own, which is most of what is simulated so. For options that it does
not carry, nothing happens here; for a workload or a platform that it does not, it starts Python again.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import suppress

from schedlab.bridge.batsim.log import corresponds, exported, version
from schedlab.bridge.batsim.version import BATSIM_VERSION
from schedlab.cli.batsim_arguments import parse

PROGRAM = "schedlab_batsim"
CHOICE = "SCHEDLAB_BATSIM"  # environment variable: `python` for the one that carries all
CARRIED = frozenset(
    (
        *("platform", "workload", "master_host", "role", "socket_endpoint", "redis_hostname", "redis_port"),
        *("redis_prefix", "export", "disable_schedule_tracing", "disable_machine_state_tracing", "mmax", "sg_log"),
        *("forward_profiles_on_submission", "acknowledge_dynamic_jobs", "disable_storage_sharing", "sched_cfg"),
        *("verbosity", "quiet"),
    )
)


def take_our_place(words: Sequence[str]) -> None:
    """Does not return if the program can be started, and carries what is asked for."""
    if os.environ.get(CHOICE) == "python" or "--" in words:
        return
    program, arguments = _program(), program_arguments(parse(words))
    if program is None or arguments is None:
        return
    sys.stdout.flush()
    # -P: what is in the current folder is none of our modules.
    otherwise = ["/usr/bin/env", f"{CHOICE}=python", sys.executable, "-P", "-m", "schedlab", "batsim", *words]
    with suppress(OSError):
        os.execv(program, [program, *arguments, "--", *otherwise])


def _program() -> str | None:
    """Where it is: beside the core, which need not be imported for it."""
    import schedlab

    paths = (f"{folder}/{PROGRAM}" for folder in schedlab.__path__)
    return next((path for path in paths if os.access(path, os.X_OK)), None)


def program_arguments(given: Namespace) -> list[str] | None:
    """None: it does not carry that."""
    if any(value for name, value in vars(given).items() if name not in CARRIED):
        return None
    files = (given.platform, *given.workload)
    if not all(map(os.path.exists, files)) or any(text.count(":") != 1 for text in given.role):
        return None
    said = [*(corresponds("Workload", f"w{n}", file) for n, file in enumerate(given.workload)), version()]
    found = [
        f"platform={given.platform}",
        *(f"workload={os.path.realpath(file)}" for file in given.workload),
        *(f"note={line}" for line in (*said, exported(given.export))),
        f"role={given.master_host}:master",
        f"export={given.export}",
        f"socket={given.socket_endpoint}",
        f"verbosity={given.verbosity}",
        f"version={BATSIM_VERSION}",
        f"hosts={max(given.mmax, 0)}",
        f"config={given.sched_cfg or ''}",
    ]
    for text in given.role:
        hosts, _, role = text.partition(":")
        found += [f"role={host}:{role}" for host in hosts.split(",")]
    switches = {
        "no-trace": given.disable_schedule_tracing,
        "no-states": given.disable_machine_state_tracing,
        "forward-profiles": given.forward_profiles_on_submission,
        "acknowledge": given.acknowledge_dynamic_jobs,
        "no-storage-sharing": given.disable_storage_sharing,
    }
    return [*found, *(name for name, on in switches.items() if on)]
