"""The page about the real Slurm: speeds stand beside those of the same machine, and follow from what is told."""

from __future__ import annotations

import re
from pathlib import Path

import schedlab as sl

PAGE = (Path(__file__).parents[2] / "docs" / "slurm.md").read_text()


def speeds() -> dict[str, list[tuple[str, int]]]:
    """Machine -> what was run there, and how much faster than life."""
    found: dict[str, list[tuple[str, int]]] = {}
    machine = ""
    for first, what, speed in re.findall(r"^\| (.*?) ?\| (.*?) \| ×([\d,]+) \|$", PAGE, re.MULTILINE):
        machine = first or machine
        found.setdefault(machine, []).append((what, int(speed.replace(",", ""))))
    return found


def test_speeds_of_others_stand_beside_ours_on_the_same_machine() -> None:
    pairs = {machine: lines for machine, lines in speeds().items() if any("Buffalo" in what for what, _ in lines)}
    assert [machine.split(":")[0] for machine in pairs] == ["micro cluster", "about 8,000 cores"]
    for lines in pairs.values():
        assert [what.split()[0].strip(",") for what, _ in lines] == ["Slurm", "schedlab"]
    for lines in speeds().values():
        assert all("[" in what for what, _ in lines if not what.startswith("schedlab"))  # the source is named


def test_what_others_report_of_the_micro_cluster() -> None:
    ((what, speed), _) = next(lines for machine, lines in speeds().items() if machine.startswith("micro"))
    hours, seconds = map(float, re.findall(r"([\d.]+) h in ([\d.]+) s", what)[0])
    assert round(hours * 3600 / seconds, -2) == speed == 2700


def test_the_week_is_that_of_a_machine_of_8000_cores(traces: Path) -> None:
    cluster = sl.read_cluster(traces / "slurm" / "ubccr-ubhpc-slurm.conf")
    assert f"({len(cluster.node_names())} nodes, {cluster.cores:,} cores)" in PAGE


def test_both_experiments_of_the_paper_are_there_with_what_it_found() -> None:
    page = (Path(__file__).parents[2] / "docs" / "slurm-fairshare.md").read_text()
    assert "users 4 *and* 5 gained" in page
    assert "user 4 waits 18 % less" in page
    for name in ("slurm_fairshare.toml", "slurm_given_jobs.toml"):
        assert f"schedlab experiment run examples/{name}" in page
        assert (Path(__file__).parents[2] / "examples" / name).is_file()
    # Differences are those of the means beside them, as printed, to the last digit.
    rows = re.findall(r"\| ([\d.]+) min \| ([\d.]+) min \| \**([+−])([\d.]+) min", page)
    assert len(rows) == 11
    for before, after, sign, difference in rows:
        change = float(difference) * (1 if sign == "+" else -1)
        assert abs(float(after) - float(before) - change) < 0.15
