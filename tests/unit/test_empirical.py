"""The empirical model: fitted to hand-made jobs and to real logs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from schedlab.analysis.fidelity import compare_workloads
from schedlab.analysis.fidelity_distances import correlation, distances, ranks
from schedlab.analysis.week import hour_of_week
from schedlab.cli.fit import fit as fit_command
from schedlab.cli.generate import generate as generate_command
from schedlab.generate.base import BATCH, generate
from schedlab.generate.empirical.histogram import Histograms
from schedlab.generate.empirical.joint import Joint
from schedlab.generate.empirical.model import Empirical
from schedlab.generate.lublin.model import Lublin
from schedlab.generate.store import fit as fit_model
from schedlab.generate.store import read_model, write_model
from schedlab.model.errors import InputError
from schedlab.model.request import Request
from schedlab.model.workload import Workload
from schedlab.workload.read import read_workload

DAY = 86_400.0
YEAR = 365 * DAY


def fit(source: Workload | str, kind: str = "empirical", **options: Any) -> Any:
    return fit_model(source, kind, **options)


def columns(workload: Workload, *names: str) -> list[np.ndarray]:
    batches = list(workload.batches())
    return [np.concatenate([getattr(batch, name) for batch in batches]) for name in names]


def two_sorts(jobs: int = 20_000) -> Workload:
    """Seven of ten jobs are serial, run a minute and ask for ten; the others have four cores, an hour, two hours."""
    random = np.random.default_rng(3)
    large = random.random(jobs) < 0.3
    return Workload.of(
        name="two sorts",
        submit=np.cumsum(random.integers(0, 21, jobs)),
        runtime=np.where(large, 3600, 60),
        limit=np.where(large, 7200, 600),
        count=np.where(large, 4, 1),
        user=np.where(large, 1, 0),
        labels={"user": ["ann", "bob"]},
    )


def test_popular_values_stay_exact_and_rare_ones_share_bins() -> None:
    values = np.concatenate([np.full(500, 86_400.0), np.arange(100_000.0, 100_500.0)])
    found = Histograms.fit(values)
    # 1000 values: below 1.5 together no two share a bin. With ten times as many, five may.
    assert len(found.low) == 501
    many = Histograms.fit(np.concatenate([np.full(5000, 86_400.0), np.repeat(np.arange(100_000.0, 102_500.0), 2)]))
    assert (many.low[0], many.high[0], many.count[0]) == (86_400, 86_400, 5000)
    assert many.count[1:].max() == 4  # a twentieth of a percent is 5: two pairs fit
    assert many.count.sum() == 10_000


def test_values_within_the_resolution_share_a_bin() -> None:
    found = Histograms.fit(np.array([60.0, 61.0, 119.0, 120.0]), resolution=60)
    assert (found.low.tolist(), found.high.tolist(), found.count.tolist()) == ([60, 120], [119, 120], [3, 1])


def test_places_in_a_histogram() -> None:
    found = Histograms.fit(
        np.array([10.0, 20.0, 20.0, 20.0, 5.0, 7.0]), np.array([0, 0, 0, 0, 2, 2]), number=3, resolution=4, step=1
    )
    assert found.begin.tolist() == [0, 2, 2, 3]  # class 1 is empty, 5 and 7 share a bin
    assert found.draw(np.array([0.0, 0.24, 0.26, 0.99])).tolist() == [10, 10, 20, 20]
    assert found.draw(np.array([0.0, 0.5, 0.9999]), 2).tolist() == [5, 6, 7]
    assert found.draw(np.array([0.0, 0.5, 0.9999]), 2, mid=True).tolist() == [6, 6, 6]
    assert found.means().tolist() == [17.5, 0, 6]
    again = Histograms.from_dict(json.loads(json.dumps(found.to_dict())), "x", 3)
    assert again.draw(np.array([0.5]), 2).tolist() == [6]


def test_jobs_are_like_those_of_the_log() -> None:
    model = fit(two_sorts())
    count, runtime, limit, user = columns(generate(model, jobs=50_000, seed=1), "count", "runtime", "limit", "user")
    assert np.mean(count == 4) == pytest.approx(0.3, abs=0.01)
    assert set(zip(count, runtime, limit, user, strict=True)) == {(1, 60, 600, 0), (4, 3600, 7200, 1)}
    assert model.labels == {"user": ["ann", "bob"]}


def test_what_is_independent_is_no_longer_together() -> None:
    source = two_sorts()
    for joint, low, high in ((True, 0.99, 1.0), (False, -0.05, 0.05)):
        model = fit(source, joint=joint)
        count, limit = columns(generate(model, jobs=20_000), "count", "limit")
        assert low <= (correlation(ranks(count), ranks(limit)) or 0.0) <= high
        assert np.mean(count == 4) == pytest.approx(0.3, abs=0.02)
        assert set(limit.tolist()) == {600.0, 7200.0}


@pytest.mark.parametrize("joint", [True, False])
def test_the_same_seed_gives_the_same_jobs(joint: bool) -> None:
    source = two_sorts()
    model = fit(source, joint=joint)
    once = generate(model, jobs=30_000, seed=7)
    names = ("id", "submit", "runtime", "limit", "count", "user")
    first, again, short = (
        columns(once, *names),
        columns(once, *names),
        columns(generate(model, jobs=99, seed=7), *names),
    )
    other = columns(generate(model, jobs=30_000, seed=8), *names)
    for one, two, beginning in zip(first, again, short, strict=True):
        np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(one[:99], beginning)
    assert not np.array_equal(first[1], other[1])
    for one, two in zip(first[2:], other[2:], strict=True):
        assert distances(one, two)[0] < 0.02
    assert distances(np.diff(first[1]), np.diff(other[1]))[0] < 0.02


def test_how_many_and_how_long() -> None:
    model = fit(two_sorts())
    batches = list(generate(model, jobs=100_000).batches())
    assert sum(map(len, batches)) == 100_000
    assert max(map(len, batches)) <= BATCH
    number, submit = columns(generate(model, jobs=100_000), "id", "submit")
    assert number.tolist() == list(range(1, 100_001))
    assert np.all(np.diff(submit) >= 0)
    (until,) = columns(generate(model, span=3600), "submit")
    assert until.tolist() == submit[submit < 3600].tolist()
    assert len(columns(generate(model, span=3600, jobs=5), "id")[0]) == 5
    assert len(columns(generate(model, span=3600, jobs=10**6), "id")[0]) == len(until)
    for wrong, words in (({}, "no end"), ({"jobs": 0}, "expected 1 to"), ({"span": 0.0}, "above 0")):
        with pytest.raises(InputError, match=words):
            generate(model, **wrong)  # type: ignore[arg-type]


def test_the_header_tells_where_the_jobs_come_from() -> None:
    workload = generate(Empirical.fit(two_sorts(), processors=64), jobs=1, seed=5)
    assert workload.header["MaxProcs"] == "64"
    assert "model empirical, seed 5" in workload.header["Note"]
    assert workload.origin is not None
    assert workload.origin.strftime("%A %H:%M") == "Monday 00:00"


def test_requests_and_names_come_along() -> None:
    source = Workload.of(
        name="requests",
        requests=[Request(), Request({"cores": 8, "gpus": 1})],
        submit=np.arange(100) * 60,
        runtime=np.full(100, 30),
        count=np.tile([1, 2], 50),
        request=np.tile([0, 1], 50),
    )
    workload = generate(fit(source), jobs=1000)
    count, request = columns(workload, "count", "request")
    np.testing.assert_array_equal(count, request + 1)
    assert workload.requests == source.requests
    assert fit(source).processors == 16  # the largest job: two chunks of eight


def test_jobs_over_their_limit_stay_over_it() -> None:
    """Nine of ten run half their limit, the tenth is killed half a minute after it."""
    limit = np.tile(np.arange(1, 101) * 600.0, 100)
    runtime = np.where(np.arange(10_000) // 100 % 10 == 0, limit + 30, limit / 2)
    source = Workload.of(submit=np.arange(10_000) * 10, runtime=runtime, limit=limit)
    runtime, limit = columns(generate(fit(source), jobs=20_000), "runtime", "limit")
    over = runtime > limit
    assert np.mean(over) == pytest.approx(0.1, abs=0.01)
    assert set((runtime - limit)[over].tolist()) == {30.0}
    np.testing.assert_allclose((runtime / limit)[~over], 0.5, atol=0.05)


def test_limits_that_are_only_run_times_stay_so() -> None:
    random = np.random.default_rng(1)
    source = Workload.of(submit=np.arange(5000) * 30, runtime=random.integers(1, 10**5, 5000))
    runtime, limit = columns(generate(fit(source), jobs=5000), "runtime", "limit")
    np.testing.assert_array_equal(runtime, limit)
    assert len(np.unique(runtime)) > 1000


def test_sessions_of_equal_jobs() -> None:
    """Ten users take turns, ten jobs each: nine of ten jobs are like the one before."""
    user = np.repeat(np.arange(3000) * 7 % 10, 10)
    source = Workload.of(submit=np.arange(30_000) * 20, runtime=np.full(30_000, 60), user=user, count=user + 1)
    (kept,) = columns(generate(fit(source), jobs=30_000), "user")
    assert np.mean(kept[1:] == kept[:-1]) == pytest.approx(0.91, abs=0.01)  # and now and then by chance
    (lost,) = columns(generate(fit(source, joint=False), jobs=30_000), "user")
    assert np.mean(lost[1:] == lost[:-1]) == pytest.approx(0.1, abs=0.01)


def test_the_week_goes_on() -> None:
    """A job a minute in working hours, one an hour at other times."""
    minutes = np.arange(0, 26 * 7 * 1440) * 60.0
    hour = hour_of_week(minutes, None)
    working = (hour < 120) & (hour % 24 >= 9) & (hour % 24 < 17)
    submit = minutes[working | (minutes % 3600 == 0)]
    source = Workload.of(submit=submit, runtime=np.full(len(submit), 60))
    (drawn,) = columns(generate(fit(source), span=26 * 7 * DAY), "submit")
    assert len(drawn) == pytest.approx(len(submit), rel=0.02)
    found, shares = (np.bincount(hour_of_week(some, None), minlength=168) / len(some) for some in (drawn, submit))
    assert np.abs(found - shares).sum() / 2 < 0.02
    (flat,) = columns(generate(fit(source, joint=False), span=26 * 7 * DAY), "submit")
    lost = np.bincount(hour_of_week(flat, None), minlength=168) / len(flat)
    assert np.abs(lost - shares).sum() / 2 > 0.5


@pytest.mark.parametrize(
    "submit",
    [
        np.arange(3000) * DAY,  # always at midnight
        np.concatenate([np.arange(500.0), np.arange(500.0) + 4 * DAY]),  # two bursts, days apart
        np.arange(2000) * 600.0,  # a fortnight without any cycle
        np.repeat(np.arange(50.0), 50),  # most at once, and all in a minute
        np.array([0.0, 1e9]),
    ],
)
def test_odd_times_of_submission(submit: np.ndarray) -> None:
    source = Workload.of(submit=submit, runtime=np.full(len(submit), 60))
    (drawn,) = columns(generate(fit(source), jobs=100_000), "submit")
    assert np.all(np.diff(drawn) >= 0)
    assert np.diff(drawn).mean() == pytest.approx(np.diff(submit).mean(), rel=0.3)


def test_too_little_to_fit() -> None:
    with pytest.raises(InputError, match="fewer than 2 jobs"):
        fit(Workload.of(name="one", submit=[0], runtime=[1]))
    for name, options, words in (("lublin", {}, "that can be fitted"), ("empirical", {"joined": True}, "joint")):
        with pytest.raises(InputError, match=words):
            fit(two_sorts(100), name, **options)
    with pytest.raises(InputError, match="uniform, mid"):
        fit(two_sorts(100), draws="middle")
    together = fit(Workload.of(submit=[5, 5, 5], runtime=[1, 2, 3]))
    assert columns(generate(together, jobs=10), "submit")[0].tolist() == [0.0] * 10
    with pytest.raises(InputError, match="come at once"):
        list(generate(together, span=10).batches())


@pytest.mark.parametrize("options", [{}, {"joint": False}, {"draws": "mid"}])
def test_a_model_file_gives_the_same_jobs(tmp_path: Path, options: dict[str, Any]) -> None:
    model = fit(two_sorts(), **options)
    path = tmp_path / "model.json"
    write_model(path, model)
    assert json.loads(path.read_text())["model"] == "empirical"
    again = read_model(path)
    names = ("submit", "runtime", "limit", "count", "user")
    for one, two in zip(*(columns(generate(some, jobs=5000), *names) for some in (model, again)), strict=True):
        np.testing.assert_array_equal(one, two)


def test_models_in_words() -> None:
    model = read_model("lublin(processors=64)")
    assert isinstance(model, Lublin)
    assert model.processors == 64
    for text, words in (
        ("lubin", "lublin"),
        ("lublin(processers=64)", "processors"),
        ("lublin(64)", "name them"),
        ("lublin(processors=", "cannot be understood"),
        ("empirical", "fitted to a log"),
        ("nowhere.json", "nowhere.json"),
    ):
        with pytest.raises(InputError, match=words):
            read_model(text)


def spoiled(tmp_path: Path, change: Any) -> Path:
    path = tmp_path / "model.json"
    write_model(path, fit(two_sorts(1000)))
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))
    return path


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data.update(schedlab=2), "schedlab is 2"),
        (lambda data: data.pop("model"), "is not a model file"),
        (lambda data: data.update(model="empiric"), "empirical"),
        (lambda data: data.update(draw="mid"), "unknown key 'draw'"),
        (lambda data: data.update(draws="middle"), "'middle' is unknown"),
        (lambda data: data.update(requests=[]), "jobs have request 0, there are 0"),
        (lambda data: data.update(independent={}), "either the key joint"),
        (lambda data: data.update(arrivals=[]), "arrivals"),
        (lambda data: data["joint"]["kinds"].pop("count"), "joint, kinds: count is missing"),
        (lambda data: data["joint"]["kinds"].update(count=["many"]), "count has 'many'"),
        (lambda data: data["joint"]["kinds"].update(pool=[0, 99]), "a pool of kinds is not there"),
        (lambda data: data["joint"]["limits"].update(low=[1, 2, 3]), "differ in length"),
        (lambda data: data["joint"].update(correlation=7), "correlation is 7"),
        (lambda data: data["arrivals"].update(hour_groups=[0]), "168 numbers"),
        (lambda data: data["arrivals"].update(autocorrelation=[0.9, 0.9]), "at most 1"),
    ],
)
def test_mistakes_in_a_model_file(tmp_path: Path, change: Any, words: str) -> None:
    path = spoiled(tmp_path, change)
    with pytest.raises(InputError, match=words) as caught:
        read_model(path)
    assert str(path) in str(caught.value)


def test_a_file_that_is_no_model(tmp_path: Path) -> None:
    path = tmp_path / "jobs.swf"
    path.write_text("; Version: 2.2\n")
    with pytest.raises(InputError, match="is not a model file"):
        read_model(path)


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from schedlab.workload.formats import write_workload

    log, model, out = tmp_path / "log.swf", tmp_path / "model.json", tmp_path / "new.swf.gz"
    write_workload(log, two_sorts(5000))
    fit_command(str(log), model, model="empirical", seeds=1)
    said = capsys.readouterr().out
    assert "2 kinds of jobs" in said
    assert "run time: KS 0.00" in said
    generate_command(str(model), out, jobs=300, seed=7)
    assert "300 jobs" in capsys.readouterr().out
    assert len(read_workload(out)) == 300
    before = out.read_bytes()
    with pytest.raises(InputError, match="already there"):
        generate_command(str(model), out, jobs=300)
    generate_command(str(model), out, jobs=300, seed=7, force=True)
    assert out.read_bytes() == before
    with pytest.raises(InputError, match="--jobs 100000 or --span 1y"):
        generate_command(str(model), tmp_path / "x.swf")


# Source jobs a year, for the offered load: jobs / days of the log, from the traces' README.
LOGS = {"HPC2N-2002-2.2-cln": 202_871 / 1264 * 365, "RICC-2010-2": 447_784 / 153 * 365}


@pytest.mark.traces
@pytest.mark.parametrize("name", LOGS)
def test_a_generated_year_is_like_the_real_log(traces: Path, name: str) -> None:
    """The acceptance criterion: no variable is further than 0.02 (Kolmogorov–Smirnov) from the log."""
    log = read_workload(traces / f"{name}.swf.gz")
    model = fit(log)
    assert isinstance(model.jobs, Joint)
    found = compare_workloads(generate(model, span=YEAR, seed=1), log)
    assert {key: one.ks for key, one in found.variables.items() if one.ks > 0.02} == {}
    for have, want in found.correlations.values():
        assert have == pytest.approx(want, abs=0.05)
    assert found.workload.jobs == pytest.approx(LOGS[name], rel=0.05)
    assert found.workload.offered_load == pytest.approx(found.reference.offered_load, rel=0.1)
    assert found.hours_moved < 0.15
    for lags in found.autocorrelations.values():
        have, want = lags[1]
        assert have is not None and want is not None
        assert have > want / 2
    assert len(json.dumps(model.to_dict())) < 2_000_000
