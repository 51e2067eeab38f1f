"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

READING = "How the log is read"
MODEL = "Jobs from a model"
WORKFLOWS = "Workflows"
WATCHING = "Looking on"
SIMULATING = "Do schedules behave alike?"

_LOG = typer.Argument(
    metavar="LOG",
    help="A log: .swf, sacct dump, Slurm-simulator events, Batsim JSON, CSV, Parquet…, compressed (.gz, .zst) or "
    "not. [b]schedlab formats[/b] lists what can be read.",
    show_default=False,
)
Log = Annotated[str, _LOG]
OptionalLog = Annotated[str | None, _LOG]


SomeLog = Annotated[
    str | None,
    typer.Argument(
        metavar="[LOG|MODEL]",
        help="A log: .swf, sacct dump, Slurm-simulator events, Batsim JSON, CSV, Parquet…, compressed (.gz, .zst) or "
        "not ([b]schedlab formats[/b] lists what can be read); with --jobs or --span a model that makes jobs, as for "
        "[b]schedlab generate[/b]; with --handling a workflow. Without: the workflows of --workflows, or jobs of the "
        "applications of --heatmap.",
        show_default=False,
    ),
]


class Cleaning(StrEnum):
    pwa = "pwa"
    strict = "strict"
    none = "none"


class Processors(StrEnum):
    requested = "requested"
    allocated = "allocated"


class BadRows(StrEnum):
    fail = "fail"
    drop = "drop"


class Detail(StrEnum):
    cores = "cores"
    full = "full"


Requests = Annotated[
    Detail | None,
    typer.Option(
        help="What of the requests counts: [b]cores[/b] (and GPUs), or everything, memory, partitions and features too "
        "([b]full[/b]). [dim]\\[default: full if the cluster has more than cores and GPUs, cores otherwise][/dim]",
        show_default=False,
        rich_help_panel=READING,
    ),
]
Clean = Annotated[
    Cleaning,
    typer.Option(
        help="What to leave out: [b]pwa[/b] jobs that did not run (the Parallel Workloads Archive's advice); "
        "[b]strict[/b] also jobs without a requested time or larger than the machine, and run times are cut at the "
        "request (the filter of the SC'15 study); [b]none[/b] nothing that can be scheduled.",
        rich_help_panel=READING,
    ),
]
Procs = Annotated[
    Processors,
    typer.Option(
        help="Which number of processors is a job's size; the other one where it is missing.", rich_help_panel=READING
    ),
]
MissingLimit = Annotated[
    str,
    typer.Option(
        metavar="runtime|TIME",
        help="The limit of a job without a requested time: its run time, or a time such as 3600, 4h, 1d12h.",
        rich_help_panel=READING,
    ),
]
OnBadRows = Annotated[
    BadRows,
    typer.Option(
        "--bad-rows",
        help="Whether a line that cannot be read ends the run, or is left out and counted.",
        rich_help_panel=READING,
    ),
]
Reader = Annotated[
    str | None,
    typer.Option(
        metavar="READER",
        help="The format, where the file does not tell: a name such as [b]sacct[/b], [b]table:mapping.toml[/b] for a "
        "table with columns of its own, or your own function [b]mine.py:read_xyz[/b].",
        rich_help_panel=READING,
    ),
]
Jobs = Annotated[int | None, typer.Option("--jobs", min=1, metavar="N", help="How many jobs.", rich_help_panel=MODEL)]
TimeOfJobs = Annotated[
    str | None,
    typer.Option(
        "--span",
        metavar="TIME",
        help="For how long jobs are submitted: [b]1y[/b], [b]30d[/b].",
        rich_help_panel=MODEL,
    ),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same jobs.", rich_help_panel=MODEL)]
Workflows = Annotated[
    str | None,
    typer.Option(
        metavar="WORKFLOWS",
        help="Put workflows into the jobs: [b]montage.json[/b], [b]chain(tasks=5)[/b], several with weights "
        "([b]0.4 montage.json, 0.6 sipht.json[/b]), or a .csv file with the columns time and workflow.",
        rich_help_panel=WORKFLOWS,
    ),
]
HandlingOfWorkflows = Annotated[
    str | None,
    typer.Option(
        "--handling",
        metavar="HANDLING",
        help="How they are submitted: as one job ([b]pilot[/b], [b]pilot(cores=480)[/b]), as a job for each task "
        "([b]chained[/b], [b]chained(ready)[/b], [b]aware[/b]), or in between ([b]clustered(levels)[/b], "
        "[b]clustered(branches)[/b]). [dim]\\[default: chained][/dim]",
        show_default=False,
        rich_help_panel=WORKFLOWS,
    ),
]
PeriodOfWorkflows = Annotated[
    str | None,
    typer.Option("--period", metavar="TIME", help="From one to the next: [b]12h[/b].", rich_help_panel=WORKFLOWS),
]
ShareOfWorkflows = Annotated[
    str | None,
    typer.Option(
        "--share",
        metavar="SHARE",
        help="Which part of the core-hours they are: [b]5%[/b]. They take the place of jobs.",
        rich_help_panel=WORKFLOWS,
    ),
]
Pattern = Annotated[
    str | None,
    typer.Option(
        "--inject",
        metavar="PATTERN",
        help="Put in jobs when your own function says so: [b]mine.py:every_night[/b].",
        rich_help_panel=WORKFLOWS,
    ),
]
HeatmapFile = Annotated[
    str | None,
    typer.Option(
        "--heatmap",
        metavar="FILE",
        help="How fast jobs run beside one another, by application: the observer [b]interference(FILE)[/b].",
    ),
]
ApplicationsOfJobs = Annotated[
    str,
    typer.Option(
        metavar="RULE",
        help="Which application of the heatmap a job is: by the name of its [b]executable[/b]; drawn for each job, "
        "[b]random(seed)[/b]; or for each executable, [b]executables(seed)[/b].",
    ),
]
Tau = Annotated[
    float | None,
    typer.Option(
        min=0.001,
        metavar="SECONDS",
        help="Shorter jobs count as this long in the bounded slowdown. [dim]\\[default: 10][/dim]",
    ),
]
Watch = Annotated[
    bool,
    typer.Option(
        "--watch",
        "-w",
        metavar="",
        help="Show the machine, the queue and the clock in the terminal while the simulation runs.",
        rich_help_panel=WATCHING,
    ),
]
Pace = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Let at most so much simulated time pass in a second: [b]1d[/b], [b]6h[/b].",
        rich_help_panel=WATCHING,
    ),
]
StatusEvery = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Print a line about the state of things that often; [b]kill -USR1[/b] asks for one at any time.",
        rich_help_panel=WATCHING,
    ),
]
SimulatedPolicies = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        "-p",
        metavar="POLICY",
        help="Under which policies both are simulated, to see whether schedules behave alike; may be repeated. "
        "[dim]\\[default: easy][/dim]",
        show_default=False,
        rich_help_panel=SIMULATING,
    ),
]
Seeds = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="How many workloads of a model are simulated, each as long as the log; more, up to 20, while they do not "
        "tell. 0: nothing is simulated.",
        rich_help_panel=SIMULATING,
    ),
]
Load = Annotated[
    float | None,
    typer.Option(
        metavar="LOAD",
        help="Scale the log to this offered load ([b]0.9[/b]) on the machine: times between submittals are "
        "multiplied by the load that it has / LOAD. Load: cores × run times / (cores of the machine × time from "
        "the first to the last submittal).",
    ),
]
ForceFile = Annotated[bool, typer.Option("--force", "-f", metavar="", help="Replace the file if there is one.")]
Json = Annotated[bool, typer.Option("--json", metavar="", help="Print one JSON document instead of tables.")]


def reading_options(
    clean: str, procs: str, missing_limit: str, bad_rows: str, reader: str | None = None
) -> dict[str, Any]:
    """As `read_workload` takes them. A reader is loaded here, where its mistakes cost no time."""
    from schedlab.model.units import parse_duration

    limit = missing_limit if missing_limit == "runtime" else parse_duration(missing_limit, where="--missing-limit")
    found = {"clean": str(clean), "procs": str(procs), "missing_limit": limit, "bad_rows": str(bad_rows)}
    from schedlab.workload.formats import load_reader

    return found | {"reader": load_reader(reader)}
