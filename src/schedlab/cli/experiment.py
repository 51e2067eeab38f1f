"""`schedlab experiment`: many runs from one file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from schedlab.cli.options import ForceFile, Json

if TYPE_CHECKING:
    from schedlab.experiment.plan import Part
    from schedlab.experiment.results import Results
    from schedlab.experiment.study import Study

SAFETY = "Against losses"

experiment = typer.Typer(
    name="experiment",
    help="Many runs from one file: planned, executed on all cores or machines, never lost, never done twice.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the study.", show_default=False)]


@experiment.command()
def run(
    study: Annotated[Path, typer.Argument(metavar="STUDY.toml", help="The study file.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="The folder of the study. [dim]\\[default: STUDY][/dim]"),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="How many at once. [dim]\\[default: one a core][/dim]")
    ] = None,
    on: Annotated[
        Path | None,
        typer.Option("--on", metavar="PARSL.py", help="Execute on what this Parsl configuration describes."),
    ] = None,
    checkpoint_every: Annotated[
        str | None,
        typer.Option(
            "--checkpoint-every",
            metavar="10m",
            help="Save the state of each run that often, so that the same command can take it up again after whatever "
            "happens to the machine.",
            rich_help_panel=SAFETY,
        ),
    ] = None,
    mirror: Annotated[
        Path | None,
        typer.Option(
            "--mirror",
            metavar="DIR",
            help="Copy each result to this folder too, on another disk, as soon as it is finished. It is the folder of "
            "a study like any other.",
            rich_help_panel=SAFETY,
        ),
    ] = None,
    part: Annotated[
        str | None,
        typer.Option(
            "--part",
            metavar="1/2",
            help="Run only this part, where machines share nothing; [b]schedlab experiment import[/b] merges parts.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", metavar="", help="Show the plan and what it will cost, run nothing else.")
    ] = False,
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", metavar="", help="Stop at the first run that fails.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", metavar="", help="Print errors only.")] = False,
) -> None:
    """Run what the study has not run yet; failed runs are tried again. Interrupt it whenever you like.

    [b]schedlab experiment run study.toml[/b]
    """
    from schedlab.experiment.plan import Part
    from schedlab.experiment.study import read_study
    from schedlab.model.units import parse_duration

    chosen = None if part is None else Part.parse(part)
    every = None if checkpoint_every is None else parse_duration(checkpoint_every, where="--checkpoint-every")
    wanted = read_study(study)
    folder = out or study.with_suffix("")
    if dry_run:
        _show_plan(wanted, folder, workers, chosen)
        return
    run_and_report(
        wanted,
        folder,
        quiet=quiet,
        workers=_workers(workers, on),
        part=chosen,
        mirror=mirror,
        checkpoint_every=every,
        fail_fast=fail_fast,
    )


@experiment.command()
def status(folder: Folder, as_json: Json = False) -> None:
    """Show how far a study is, and what went wrong."""
    from schedlab.cli.experiment_output import print_status
    from schedlab.cli.output import print_json

    found = _results(folder)
    if as_json:
        state = found.status
        failures = [{**run.to_dict(), "error": error, "traceback": trace} for run, error, trace in state.failures]
        counts = {"planned": state.planned, "done": state.done, "open": state.open, "seconds": state.seconds}
        damaged = [*found.warnings, *found.losses()]
        told = {"name": found.name, "part": found.study.get("part"), **counts, "failed": failures, "damaged": damaged}
        print_json(told)
        return
    print_status(found)


@experiment.command()
def table(
    folder: Folder,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="A .csv or .parquet file.", show_default=False)
    ],
    force: ForceFile = False,
) -> None:
    """Write one row per run: parameters, repetition, seed, every metric."""
    from io import BytesIO

    from schedlab.cli.output import check_new_file, say
    from schedlab.files.whole_file import whole_file
    from schedlab.model.errors import InputError

    check_new_file(out, force)
    if out.suffix not in (".csv", ".parquet"):
        raise InputError("is neither .csv nor .parquet", where=str(out), hint="choose one of these endings")
    found = _results(folder).table
    with whole_file(out) as file:
        if out.suffix == ".csv":
            file.write(found.write_csv().encode())
        else:
            found.write_parquet(content := BytesIO())  # polars would hide what a full disk says
            file.write(content.getvalue())
    say(f"{len(found):,} runs in {out}")


@experiment.command()
def report(
    folder: Folder,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="REPORT.html", help="The page to write.", show_default=False)
    ],
    force: ForceFile = False,
) -> None:
    """Write one HTML page: what was run, tables with intervals, verdicts in words, figures, how to run it again."""
    from schedlab.cli.output import check_new_file, say
    from schedlab.report.study import write_study_report

    check_new_file(out, force)
    write_study_report(out, _results(folder))
    say(f"the report is in {out}")


@experiment.command()
def verify(
    folder: Folder,
    discard: Annotated[
        bool, typer.Option("--discard", metavar="", help="Forget the runs that are damaged; run makes them again.")
    ] = False,
) -> None:
    """Compare every file of every finished run with the hash it had."""
    from schedlab.cli.output import say, warn
    from schedlab.experiment.keeping import verify as verify_study

    found = _results(folder)
    wrong = verify_study(found.folder, discard=discard)
    for sentence in wrong:
        warn(sentence)
    say(f"{found.status.done:,} finished runs, {len(wrong):,} offence{'' if len(wrong) == 1 else 's'}")
    if wrong and not discard:
        raise typer.Exit(1)


@experiment.command("export")
def export_study(
    folder: Folder,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="STUDY.tar.zst", help="The archive.", show_default=False)],
    force: ForceFile = False,
) -> None:
    """Write a study as one archive."""
    from schedlab.cli.output import check_new_file, say
    from schedlab.experiment.keeping import export_study as pack
    from schedlab.files.bytestream import plain_name
    from schedlab.model.errors import InputError

    if not plain_name(out).endswith(".tar"):
        raise InputError(
            "is not the name of an archive", where=str(out), hint="let it end in .tar, .tar.gz or .tar.zst"
        )
    check_new_file(out, force)
    say(f"{pack(_results(folder).folder, out):,} runs in {out}")


@experiment.command("import")
def import_study(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="SOURCE...", help="Folders of the same study, or archives from export.", show_default=False
        ),
    ],
    folder: Folder,
) -> None:
    """Put the runs of other folders or archives into a study's folder, new or not; what is there already stays.

    [b]schedlab experiment import part1 part2 study[/b]
    """
    from schedlab.cli.output import say
    from schedlab.experiment.keeping import import_study as merge
    from schedlab.model.errors import InputError, InputErrors

    lacking = [InputError("no such file or folder", where=str(source)) for source in sources if not source.exists()]
    if lacking:
        raise lacking[0] if len(lacking) == 1 else InputErrors(lacking)
    for source in sources:
        new, there = merge(source, folder)
        say(f"{new:,} new runs in {folder} from {source}" + (f", {there:,} were there" if there else ""))
    status = _results(folder).status
    say(f"{status.done:,} of {status.planned:,} runs are done", "dim")


def run_and_report(
    study: Study, folder: Path, *, quiet: bool = False, workers: Any = None, part: Part | None = None, **options: Any
) -> None:
    """Run what is left of a study, and print what came out. The options are those of `run_study`."""
    from schedlab.cli.experiment_output import StudyBar, print_summary
    from schedlab.cli.output import InterruptedError, say, warn
    from schedlab.experiment.coordinator import run_study

    with StudyBar(study.name, quiet, part) as bar:
        try:
            status = run_study(
                study,
                folder,
                workers=workers or _workers(None, None),
                part=part,
                watch=bar,
                tell=warn,
                stopping=_stopping,
                **options,
            )
        except KeyboardInterrupt:
            raise InterruptedError(f"what is done is kept in {folder}; the same command goes on") from None
    if not quiet:
        print_summary(_results(folder), bar.seconds)
        say(f"results in {folder}; schedlab experiment report {folder} --out report.html")
    if status.failed:
        if quiet:
            warn(f"{status.failed:,} runs failed; schedlab experiment status {folder} tells why")
        raise typer.Exit(1)


def _stopping(running: int) -> None:
    from schedlab.cli.output import warn

    warn(f"finishing {running} running {'run' if running == 1 else 'runs'}; Ctrl-C again gives them up")


def _results(folder: Path) -> Results:
    from schedlab.cli.output import warn
    from schedlab.experiment.results import Results

    found = Results(folder)
    for sentence in found.warnings:
        warn(sentence)
    return found


def _workers(count: int | None, on: Path | None) -> Any:
    from functools import partial

    from schedlab.model.errors import InputError

    if on is not None:
        if count is not None:
            hint = "the Parsl file says how many workers there are"
            raise InputError("--workers and --on do not go together", hint=hint)
        from schedlab.experiment.parsl_workers import ParslWorkers

        return partial(ParslWorkers, on)
    from schedlab.experiment.pool import LocalWorkers

    return partial(LocalWorkers, count=count)


def _show_plan(study: Study, folder: Path, workers: int | None, part: Part | None) -> None:
    from schedlab.cli.experiment_output import print_plan
    from schedlab.cli.output import messages
    from schedlab.experiment.cost import expected_cost
    from schedlab.experiment.folder import check_study_folder

    check_study_folder(folder)
    messages().print("measuring what a run takes …", style="dim")
    print_plan(study, folder, expected_cost(study, folder, workers, part), part)
