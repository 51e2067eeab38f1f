"""`schedlab inspect --heatmap`: what is in a heatmap, and how well the jobs of a log go together."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

    from schedlab.heatmap.describe import Average, Description, Pair
    from schedlab.model.heatmap import Heatmap


def show_heatmap(
    path: Path, log: str | None, rule: str, reading: dict[str, Any], out: Path | None, force: bool, as_json: bool
) -> None:
    from schedlab.cli.output import check_new_file, console, print_json, print_sections, say
    from schedlab.heatmap.describe import describe_heatmap
    from schedlab.heatmap.read import read_heatmap

    if out is not None:
        from schedlab.plot.style import checked_ending

        checked_ending(out)
        check_new_file(out, force)
    heatmap = read_heatmap(path)
    found = describe_heatmap(heatmap)
    jobs = None if log is None else _jobs(heatmap, log, rule, reading)
    if out is not None:
        from schedlab.plot.speedups import plot_speedups

        plot_speedups(heatmap, out, title=path.name)
    if as_json:
        print_json(found.to_dict() | ({"workload": jobs} if jobs else {}))
        return
    print_sections([*_rows(path, found), *_job_rows(jobs)])
    say("")
    console().print(_averages_table(found.averages, jobs))
    if out is not None:
        say(f"in {out}")


def _jobs(heatmap: Heatmap, log: str, rule: str, reading: dict[str, Any]) -> dict[str, Any]:
    """The applications of a log's jobs, and the mean speed-up over all pairs of its jobs."""
    from schedlab.heatmap.applications import Applications
    from schedlab.workload.read import read_workload

    workload = read_workload(log, **reading, in_memory=False)
    counts = Applications.parse(rule, heatmap).count(workload)
    friendliness = heatmap.friendliness(counts)
    return {
        "name": workload.name,
        "applications": rule,
        "jobs": int(counts.sum()),
        "friendliness": None if friendliness != friendliness else friendliness,
        "known_pairs": heatmap.known_share(counts),
        "jobs_by_application": dict(zip(heatmap.names, counts.tolist(), strict=True)),
    }


def _rows(path: Path, found: Description) -> Iterator[tuple[str, str, str]]:
    yield "heatmap", "file", path.name
    yield "heatmap", "applications", f"{found.applications:,}"
    whole = found.applications**2
    told = "" if found.missing == 0 else f", {found.missing:,} missing ({100 * found.missing / whole:.1f} %)"
    yield "heatmap", "pairs", f"{found.pairs:,} of {whole:,}{told}"
    if found.mean is not None and found.slowed is not None:
        yield "speed-up", "lowest", f"{found.lowest:.3f}"
        yield "speed-up", "mean", f"{found.mean:.3f}"
        yield "speed-up", "highest", f"{found.highest:.3f}"
        yield "speed-up", "below 1", f"{100 * found.slowed:.1f} % of the pairs"
    for section, pairs in (("friendliest", found.best), ("worst", found.worst)):
        for pair in pairs:
            yield section, f"{pair.mean:.3f}", _pair(pair)


def _pair(pair: Pair) -> str:
    if pair.a == pair.b:
        return f"{pair.a} beside itself"
    return f"{pair.a} {pair.speedup_a:.3f} beside {pair.b} {pair.speedup_b:.3f}"


def _job_rows(jobs: dict[str, Any] | None) -> Iterator[tuple[str, str, str]]:
    if jobs is None:
        return
    yield "jobs", "log", jobs["name"]
    yield "jobs", "number", f"{jobs['jobs']:,}"
    yield "jobs", "applications", jobs["applications"]
    known = (
        "" if jobs["known_pairs"] == 1 else f" over the {100 * jobs['known_pairs']:.1f} % of pairs that are measured"
    )
    value = (
        "no two jobs whose pair is measured" if jobs["friendliness"] is None else f"{jobs['friendliness']:.4f}{known}"
    )
    yield "jobs", "friendliness", value


def _averages_table(averages: tuple[Average, ...], jobs: dict[str, Any] | None) -> Table:
    """Applications, the fastest beside others first."""
    from rich.table import Table

    from schedlab.model.units import format_duration

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("application", style="cyan", no_wrap=True)
    numbers = ["processes", "alone", "speed-up", "of its partners", "missing", *(["jobs"] if jobs else [])]
    for heading in numbers:
        table.add_column(heading, justify="right")
    for one in sorted(averages, key=lambda one: -(one.speedup or 0)):
        cells = [
            f"{one.processes:,}" if one.processes else "–",
            "–" if one.runtime is None else format_duration(one.runtime),
            *("–" if mean is None else f"{mean:.3f}" for mean in (one.speedup, one.of_partners)),
            f"{one.missing:,}",
        ]
        table.add_row(one.name, *cells, *([f"{jobs['jobs_by_application'][one.name]:,}"] if jobs else []))
    return table
