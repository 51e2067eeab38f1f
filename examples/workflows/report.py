"""ScSF's case study as a page: what its three sets of runs say, in sentences, tables and figures (docs/scsf.md).

schedlab experiment run examples/workflows/set0.toml --out set0      # and set1, set2
python examples/workflows/report.py set0 set1 set2 -o docs/scsf.md

Every number on the page is from the runs, but those that ScSF's authors report.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from report_data import METHODS, Point, Set
from report_figures import draw_all
from report_findings import findings, in_short, percent, place

from schedlab.analysis.interval import Interval
from schedlab.cluster.read import read_cluster
from schedlab.model.units import format_duration, parse_duration

Cell = Callable[[Point], str]
NOTHING = "–"
UNFINISHED = "No run of this set is finished."
HOUR = 3600.0
TEMPLATE = Path(__file__).with_name("report_page.md")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sets", nargs=3, type=Path, metavar="SET", help="folders of set0, set1 and set2")
    parser.add_argument("-o", "--out", type=Path, required=True, help="the page; figures go to images/ beside it")
    parser.add_argument("--took", default="", help="how long all of it took by the clock, if you know: 1h 40min")
    asked = parser.parse_args(arguments)
    sets = [Set.of(folder) for folder in asked.sets]
    draw_all(sets[2], asked.out.parent / "images")
    asked.out.write_text(page(sets, parse_duration(asked.took) if asked.took else None))


def page(sets: Sequence[Set], took: float | None) -> str:
    """The template with everything that the runs say."""
    fields = counts(sets) | settings(sets[2]) | costs(sets, took)
    fields |= {"short": in_short(sets[2]), "costs": cost_table(sets[2])}
    for number, study in enumerate(sets):
        said, shown = (bullets(findings(study)), "\n\n".join(tables(study))) if len(study.runs) else (UNFINISHED, "")
        fields |= {f"findings{number}": said, f"tables{number}": shown}
    return TEMPLATE.read_text().format(**fields)


def bullets(sentences: Sequence[str]) -> str:
    return "\n".join(f"- {sentence}" for sentence in sentences)


def counts(sets: Sequence[Set]) -> dict[str, str]:
    done, planned = (sum(getattr(one.results.status, name) for one in sets) for name in ("done", "planned"))
    missing = f"\n**{planned - done:,} of them are not finished: this page is about the others.**\n"
    return {
        "runs": f"{planned:,}",
        "sets": " + ".join(str(one.results.status.planned) for one in sets),
        "missing": "" if done == planned else missing,
        "millions": f"{sum(one.sum('number') for one in sets) / 1e6:.1f}",
    }


def settings(study: Set) -> dict[str, str]:
    point = study.results.planned[0].point
    cores = read_cluster(str(point["cluster"])).cores
    repetitions = study.results.study.get("repetitions", 1)
    return {name: str(value) for name, value in point.items()} | {"cores": f"{cores:,}", "repetitions": repetitions}


def tables(study: Set) -> list[str]:
    """Run times and their ratios; turnarounds; the machine and the other jobs."""

    def means(metric: str, unit: float, digits: int) -> list[Cell]:
        return [lambda point, of=method: _number(study.mean(metric, point, of), unit, digits) for method in METHODS]

    def ratio(metric: str, one: str, other: str) -> Cell:
        return lambda point: _with_interval(study.ratio(metric, point, one, other))

    runtime = {
        **_headed("{} h", means("runtime", HOUR, 2)),
        "chained / pilot": ratio("runtime", "chained", "pilot"),
        "aware / pilot": ratio("runtime", "aware", "pilot"),
    }
    turnaround = {
        **_headed("{} h", means("turnaround", HOUR, 1)),
        "chained / pilot": ratio("turnaround", "chained", "pilot"),
        "aware / pilot": ratio("turnaround", "aware", "pilot"),
        "counted of those that came": lambda point: _counted(study, point),
    }
    machine = {
        **_headed("{} %", means("utilisation", 0.01, 1)),
        **_headed("{}, less idle %", means("less_idle", 0.01, 1)),
        **_headed("others wait h, {}", means("others_wait", HOUR, 1)),
    }
    return [
        f"Median run time (ratios with intervals of 95 % over the repetitions):\n\n{_table(study, runtime)}",
        f"Median turnaround:\n\n{_table(study, turnaround)}",
        f"Utilisation, the same less idle cores, and median wait of other jobs:\n\n{_table(study, machine)}",
    ]


def _headed(words: str, cells: Sequence[Cell]) -> dict[str, Cell]:
    return {words.format(method): cell for method, cell in zip(METHODS, cells, strict=True)}


def _table(study: Set, columns: dict[str, Cell]) -> str:
    varies = [study.varies] if study.varies else []
    rows = []
    for point in study.with_workflows:
        x = [percent(point[1]) if study.varies == "share" else point[1]] if study.varies else []
        rows.append([point[0], *x, *(cell(point) for cell in columns.values())])
    return markdown(["workflow", *varies, *columns], rows, left=1 + len(varies))


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    rule = ["---" if at < left else "--:" for at in range(len(head))]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, rule, *rows])


def _number(found: Interval | None, unit: float, digits: int) -> str:
    return NOTHING if found is None else f"{found.estimate / unit:,.{digits}f}"


def _with_interval(found: Interval | None) -> str:
    if found is None:
        return NOTHING
    return f"{found.estimate:.2f} [{found.low:.2f}, {found.high:.2f}]"


def _counted(study: Set, point: Point) -> str:
    """Over the repetitions: n is the same for every method."""
    runs = study.at(point, METHODS[0])
    return f"{int(runs['n'].sum()):,} of {int(runs['number'].sum()):,}"


def costs(sets: Sequence[Set], took: float | None) -> dict[str, str]:
    seconds, cpu, simulated = (sum(one.sum(name) for one in sets) for name in ("seconds", "cpu", "simulated"))
    number = sum(len(one.runs) for one in sets)
    memory = max(float(one.runs["memory"].max() or 0) for one in sets)
    return {
        "number": f"{number:,}",
        "years": f"{simulated / 365.25 / 86_400:.1f}",
        "seconds": format_duration(round(seconds)),
        "halves": format_duration(round(seconds / 2)),
        "each": f"{seconds / number:.1f}",
        "clock": f" By the clock all of it took {format_duration(round(took))}." if took else "",
        "cpu": format_duration(round(cpu)),
        "speed": f"{simulated / seconds:,.0f}",
        "slowest": slowest(sets),
        "memory": f"{memory:,.0f}",
    }


def slowest(sets: Sequence[Set]) -> str:
    """`sipht at 100 %, aware: 12.1 s, 59,000 times as fast as life`."""
    study, row = max(
        ((one, row) for one in sets for row in one.runs.iter_rows(named=True)), key=lambda each: each[1]["seconds"]
    )
    run = f"{place(study, (row['workflow'], row['x']))}, {row['method']}"
    return f"{run}: {row['seconds']:.1f} s, {row['speed']:,.0f} times as fast as life"


def cost_table(study: Set) -> str:
    def cell(metric: str, method: str, digits: int) -> Cell:
        return lambda point: _number(study.median(metric, point, method), 1.0, digits)

    columns = {f"{method} s": cell("seconds", method, 1) for method in METHODS}
    columns |= {f"{method}, cpu s": cell("cpu", method, 1) for method in METHODS}
    columns |= {f"{method}, simulated / real": cell("speed", method, 0) for method in METHODS}
    return _table(study, columns)


if __name__ == "__main__":
    main()
