"""How alike two workloads are: numbers by hand and by SciPy, words, picture and page."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from schedlab.analysis.fidelity import Fidelity, compare_workloads
from schedlab.analysis.fidelity_distances import autocorrelation, correlation, distances, ranks, share_distance
from schedlab.analysis.week import hour_of_week
from schedlab.cli.fidelity import print_fidelity
from schedlab.model.errors import InputError
from schedlab.model.request import Request
from schedlab.model.workload import Workload
from schedlab.plot.fidelity import plot_fidelity
from schedlab.report.fidelity import write_fidelity


def test_distances_by_hand() -> None:
    one, other = np.array([1.0, 2.0, 3.0, 4.0]), np.array([3.0, 4.0, 5.0, 6.0])
    assert distances(one, other) == (0.5, 2.0)  # at 2: half of the one, nothing of the other
    assert distances(one, one) == (0.0, 0.0)
    assert distances(one, one + 10) == (1.0, 10.0)
    assert distances(np.array([0.0]), np.array([0.0, 0.0, 0.0, 8.0])) == (0.25, 2.0)
    assert share_distance(np.array([0.5, 0.5]), np.array([0.75, 0.25])) == 0.25


def test_dependence_by_hand() -> None:
    assert ranks(np.array([5, 1, 5, 9])).tolist() == [1.5, 0, 1.5, 3]
    up = ranks(np.array([1, 2, 3]))
    assert correlation(up, ranks(np.array([10, 100, 1000]))) == pytest.approx(1)
    assert correlation(up, ranks(np.array([9, 8, 7]))) == pytest.approx(-1)
    assert correlation(up, ranks(np.array([7, 7, 7]))) is None
    # 0 1 0 1: centred ±0.5; three products of neighbours are -0.25 each, the sum of squares is 1.
    assert autocorrelation(np.array([0.0, 1.0, 0.0, 1.0]), 1) == pytest.approx(-0.75)
    assert autocorrelation(np.array([0.0, 1.0, 0.0, 1.0]), 2) == pytest.approx(0.5)
    assert autocorrelation(np.array([0.0, 1.0]), 5) is None


def test_distances_as_scipy_has_them() -> None:
    random = np.random.default_rng(1)
    for _ in range(20):
        one = np.round(random.lognormal(3, 2, 300))
        other = np.round(random.lognormal(3.3, 1.7, 170))
        ks, wasserstein = distances(one, other)
        assert ks == pytest.approx(stats.ks_2samp(one, other).statistic)
        assert wasserstein == pytest.approx(stats.wasserstein_distance(one, other))
        spearman = stats.spearmanr(one[:170], other).statistic
        assert correlation(ranks(one[:170]), ranks(other)) == pytest.approx(spearman)


def test_hours_of_the_week() -> None:
    times = np.array([0.0, 3599.0, 3600.0, 86_400.0, 7 * 86_400.0])
    assert hour_of_week(times, None).tolist() == [0, 0, 1, 24, 0]
    thursday_noon = datetime(1970, 1, 1, 12, tzinfo=UTC)
    assert hour_of_week(times, thursday_noon).tolist() == [84, 84, 85, 108, 84]


def four_jobs() -> Workload:
    return Workload.of(
        name="four",
        requests=[Request(), Request({"cores": 2})],
        submit=[0, 10, 20, 40],
        runtime=[10, 20, 30, 40],
        limit=[20, 20, 60, 160],
        count=[1, 2, 3, 4],
        request=[0, 0, 1, 1],
        user=[0, 0, 0, 1],
    )


def twice_as_long() -> Workload:
    return Workload.of(name="long", submit=[0, 20, 40, 80], runtime=[20, 40, 60, 80], count=[1, 1, 1, 1])


def test_a_comparison_by_hand() -> None:
    found = compare_workloads(four_jobs(), twice_as_long(), processors=10)
    assert found.variables["runtime"].ks == 0.5  # up to 30: three of four, up to 20: one of four
    assert found.variables["runtime"].mean == (25, 50)
    assert found.variables["runtime"].quantiles["median"] == (25, 50)
    assert found.variables["accuracy"].mean == (0.5625, 1.0)  # (0.5 + 1 + 0.5 + 0.25) / 4
    assert found.variables["interarrival"].mean == pytest.approx((40 / 3, 80 / 3))
    # Cores are 1, 2, 6, 8: work 10 + 40 + 180 + 320 in 40 s; 200 in 80 s.
    assert found.workload.offered_load == pytest.approx(550 / (10 * 40))
    assert found.reference.offered_load == pytest.approx(200 / (10 * 80))
    assert found.correlations["count–runtime"] == (pytest.approx(1), None)
    assert (found.workload.users, found.workload.busiest_user, found.workload.jobs_per_user) == (2, 0.75, 2)
    assert (found.reference.users, found.reference.busiest_user) == (0, None)
    assert found.hours_moved == 0


def test_a_workload_is_like_itself() -> None:
    found = compare_workloads(four_jobs(), four_jobs())
    assert found.largest_ks == found.hours_moved == found.days_moved == 0
    assert {verdict.level for verdict in found.verdicts()} == {"kept"}
    assert found.processors == 8  # the largest job


def test_verdicts() -> None:
    words = {one.about: (one.level, one.text) for one in compare_workloads(four_jobs(), twice_as_long()).verdicts()}
    assert words["run time"] == ("lost", "KS 0.500, another distribution")
    assert words["offered load"][0] == "lost"
    assert words["offered load"][1] == "450.0 % more work a day than in the reference"
    assert words["hours of the day"] == ("kept", "0.0 % of the jobs come at other hours")
    random = np.random.default_rng(2)
    size = np.sort(random.integers(1, 100, 5000))
    sorted_jobs = Workload.of(submit=np.arange(5000), runtime=size, count=size)
    shuffled = Workload.of(submit=np.arange(5000), runtime=random.permutation(size), count=random.permutation(size))
    words = {one.about: (one.level, one.text) for one in compare_workloads(shuffled, sorted_jobs).verdicts()}
    assert words["size"] == ("kept", "KS 0.000, practically the same distribution")
    assert words["size with run time"][0] == "lost"
    assert words["size with that of the job before"][0] == "lost"
    assert words["size with that of the job before"][1].endswith("1.00 in the reference")


def test_json_and_rows() -> None:
    found = compare_workloads(four_jobs(), twice_as_long())
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["variables"]["runtime"]["ks"] == 0.5
    assert document["variables"]["runtime"]["quantiles"]["median"] == {"workload": 25, "reference": 50}
    assert document["autocorrelations"]["count"]["5"] == {"workload": None, "reference": None}
    assert ("run time", "median", "25 s", "50 s", "") in found.table()
    assert ("jobs", "number", "4", "4", "") in found.table()


def test_too_few_jobs() -> None:
    one = Workload.of(name="one", submit=[0], runtime=[1])
    with pytest.raises(InputError, match="one: has fewer than 2 jobs"):
        compare_workloads(four_jobs(), one)


def test_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_fidelity(compare_workloads(four_jobs(), twice_as_long()))
    said = capsys.readouterr().out
    assert "four against long" in said
    assert "lost run time: KS 0.500, another distribution" in said
    assert "25 s | 50 s" in said


def thousand(seed: int) -> Fidelity:
    random = np.random.default_rng(seed)

    def some(name: str) -> Workload:
        return Workload.of(
            name=name,
            submit=np.cumsum(random.integers(0, 9000, 1000)),
            runtime=random.integers(1, 10**5, 1000),
            limit=np.full(1000, 86_400),
            count=2 ** random.integers(0, 8, 1000),
        )

    return compare_workloads(some("<new> & old"), some("reference"))


def test_the_picture(tmp_path: Path) -> None:
    figure = plot_fidelity(thousand(1), tmp_path / "fidelity.png")
    assert (tmp_path / "fidelity.png").read_bytes().startswith(b"\x89PNG")
    assert len(figure.axes) == 13  # six distributions, three histograms, three autocorrelations, the week
    cumulative = figure.axes[0].get_lines()
    assert len(cumulative) == 2
    assert [float(np.max(line.get_ydata())) for line in cumulative] == [100, 100]


def test_a_picture_of_jobs_that_do_not_vary(tmp_path: Path) -> None:
    plot_fidelity(compare_workloads(four_jobs(), twice_as_long()), tmp_path / "small.png")
    same = Workload.of(submit=[0, 0, 0], runtime=[0, 0, 0])
    plot_fidelity(compare_workloads(same, same), tmp_path / "zero.png")


def test_the_page_needs_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "fidelity.html"
    write_fidelity(path, thousand(1))
    page = path.read_text()
    assert page.startswith("<!doctype html>")
    assert "&lt;new&gt; &amp; old against reference" in page
    assert "<svg" in page
    for outside in ("<script", "<link", "src=", "url(http"):
        assert outside not in page
    write_fidelity(path, thousand(1))
    assert path.read_text() == page
