"""The command line of Batsim 4: its options, its defaults, and what it makes of mistakes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from schedlab.bridge.batsim.version import BATSIM_VERSION

WRONG_USAGE = 255  # what Batsim exits with

DESCRIPTION = """Simulate a platform and its workloads under a scheduler that speaks Batsim's protocol.

The options are those of Batsim 4: a program named batsim that calls this one takes its place.
What is marked with * is refused: there is neither Redis nor SimGrid here."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"Arguments did not match expected patterns: {message}\n")
        sys.stdout.write(f"{self.format_usage()}\nbatsim --help says more\n")
        raise SystemExit(WRONG_USAGE)


def parser() -> argparse.ArgumentParser:
    made = _Parser(
        prog="batsim", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter, add_help=False
    )
    made.set_defaults(workload=[], workflow=[], cut_workflow=[], events=[], role=[], sg_cfg=[], sg_log=[])
    group = made.add_argument_group("Input")
    add = group.add_argument
    add("-p", "--platform", metavar="FILE", required=True, help="the SimGrid platform (XML)")
    add("-w", "--workload", metavar="FILE", action="append", help="a workload (JSON); once for each")
    add("-W", "--workflow", metavar="FILE", action="append", help="a workflow (DAX); once for each")
    add(
        *("--WS", "--workflow-start"),
        dest="cut_workflow",
        metavar=("FILE", "TIME"),
        nargs=2,
        action="append",
        help="a workflow that starts then",
    )
    add("--events", metavar="FILE", action="append", help="external events; once for each file")

    add = made.add_argument_group("Most common").add_argument
    add("-m", "--master-host", metavar="NAME", default="master_host", help="the host that has no jobs [%(default)s]")
    add(
        *("-r", "--add-role-to-hosts"),
        dest="role",
        metavar="HOSTS:ROLE",
        action="append",
        help="host1,host2:storage; roles are master, storage, compute_node",
    )
    add("-E", "--energy", action="store_true", help="power states, and what hosts consume")

    add = made.add_argument_group("Execution context").add_argument
    add(
        *("-s", "--socket-endpoint"),
        metavar="ENDPOINT",
        default="tcp://localhost:28000",
        help="where the scheduler listens [%(default)s]",
    )
    add("--enable-redis", action="store_true", help="*")
    add("--redis-hostname", metavar="HOST", default="127.0.0.1", help="taken, and not used [%(default)s]")
    add("--redis-port", metavar="PORT", type=int, default=6379, help="taken, and not used [%(default)s]")
    add("--redis-prefix", metavar="PREFIX", default="default", help="taken, and not used [%(default)s]")

    add = made.add_argument_group("Output").add_argument
    add("-e", "--export", metavar="PREFIX", default="out", help="what names of output files begin with [%(default)s]")
    add("--disable-schedule-tracing", action="store_true", help="no PREFIX_schedule.trace")
    add("--disable-machine-state-tracing", action="store_true", help="no PREFIX_machine_states.csv")

    add = made.add_argument_group("Size of the platform").add_argument
    add("--mmax", metavar="N", type=int, default=0, help="use no more than N hosts; 0: all [%(default)s]")
    add("--mmax-workload", action="store_true", help="use no more hosts than nb_res of the workloads says")

    add = made.add_argument_group("Jobs").add_argument
    add("--forward-profiles-on-submission", action="store_true", help="JOB_SUBMITTED has the job's profile")
    add("--enable-dynamic-jobs", action="store_true", help="the scheduler may register jobs and profiles")
    add("--acknowledge-dynamic-jobs", action="store_true", help="JOB_SUBMITTED answers each REGISTER_JOB")
    add("--enable-profile-reuse", action="store_true", help="profiles stay when their jobs are gone")

    add = made.add_argument_group("Verbosity").add_argument
    add(
        *("-v", "--verbosity"),
        choices=("quiet", "network-only", "information", "debug"),
        default="information",
        help="what is written to standard error [%(default)s]",
    )
    add("-q", "--quiet", action="store_true", help="--verbosity quiet")

    add = made.add_argument_group("Workflows").add_argument
    add("--workflow-jobs-limit", metavar="N", type=int, default=0, help="at most N jobs of a workflow at once; 0: any")
    add("--ignore-beyond-last-workflow", action="store_true", help="jobs that come after the last workflow do not")

    other = made.add_argument_group("Other")
    add = other.add_argument
    add("--dump-execution-context", action="store_true", help="print where the scheduler is, as JSON, and stop")
    add("--enable-compute-sharing", action="store_true", help="a compute host may have several jobs")
    add("--disable-storage-sharing", action="store_true", help="a storage host may have one job only")
    add("--no-sched", action="store_true", help="no scheduler: the jobs run one after the other, each alone")
    config = other.add_mutually_exclusive_group()
    config.add_argument("--sched-cfg", metavar="TEXT", help="a text for the scheduler")
    config.add_argument("--sched-cfg-file", metavar="FILE", help="the same from a file")
    add("--sg-cfg", metavar="NAME:VALUE", action="append", help="*")
    add("--sg-log", metavar="OPTION", action="append", help="has no effect")
    add("--forward-unknown-events", action="store_true", help="external events of unknown types go to the scheduler")
    add("--version", action="version", version=BATSIM_VERSION)
    add("--simgrid-version", action=_NoSimGrid, nargs=0, help="*")
    add("-h", "--help", action="help")
    return made


class _NoSimGrid(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        raise SystemExit("there is no SimGrid here")


def parse(words: Sequence[str]) -> argparse.Namespace:
    given = parser().parse_args(words)
    if given.quiet:
        given.verbosity = "quiet"
    return given
