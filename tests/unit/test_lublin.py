"""The Lublin-Feitelson model: its published numbers, and a sample that the authors' program made."""

import math

import numpy as np
import pytest

from schedlab.generate.base import Model, generate
from schedlab.generate.lublin import model as lublin
from schedlab.generate.lublin.model import Lublin
from schedlab.generate.lublin.parameters import published
from schedlab.model.errors import InputErrors
from schedlab.model.workload import JobBatch
from schedlab.workload.read import read_workload


def columns(model: Model, seed: int, **length) -> dict[str, np.ndarray]:
    batches = [batch.columns() for batch in model.batches(seed, **length)]
    return {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}


def distance(one: np.ndarray, other: np.ndarray) -> float:
    """Of Kolmogorov and Smirnov: the largest difference of the two empirical distributions."""
    values = np.concatenate([one, other])
    shares = [np.searchsorted(np.sort(sample), values, side="right") / len(sample) for sample in (one, other)]
    return float(np.max(np.abs(shares[0] - shares[1])))


def test_sizes_of_all_jobs():
    jobs = columns(Lublin(processors=256), 1, jobs=200_000)
    size = jobs["count"]
    assert size.min() == 1
    assert size.max() == 256
    # Three standard deviations of a share in 200,000 are below 0.0034.
    assert np.mean(size == 1) == pytest.approx(0.244, abs=0.0034)
    # Sizes of 2^x with x rounded or not: of the rest, 18 %, only few fall on a power of two by chance.
    assert 0.244 + 0.576 <= np.mean(np.log2(size) % 1 == 0) <= 0.244 + 0.576 + 0.18 * 0.4
    # The second uniform distribution, 14 % of the parallel jobs, is that of sizes from 2^5.5 = 45.3 up.
    assert np.mean(size >= 46) == pytest.approx(0.756 * 0.14, abs=0.0034)


def test_runtimes_of_jobs_of_one_size():
    changed = {"whole": {"serial": 1.0, "power_of_two": 0.0}}
    runtime = columns(Lublin(parameters=changed), 2, jobs=200_000)["runtime"]
    # 0.78 - 0.0054 of the logarithms have mean 4.2 * 0.94, the others 312 * 0.03; whole seconds take a little.
    mean = 0.7746 * 4.2 * 0.94 + 0.2254 * 312 * 0.03
    assert np.log(runtime + 0.5).mean() == pytest.approx(mean, abs=0.02)
    assert runtime.min() >= 1
    assert runtime.max() <= math.exp(12)


def test_the_share_of_short_jobs_stays_a_share():
    changed = {"whole": {"serial": 1.0, "power_of_two": 0.0, "short_share": 3.0}}
    runtime = columns(Lublin(parameters=changed), 2, jobs=100_000)["runtime"]
    assert np.log(runtime + 0.5).mean() == pytest.approx(4.2 * 0.94, abs=0.03)


def test_half_hours_of_the_day():
    weights = published("whole", 128).half_hours()
    # The mode of a gamma distribution, (8.1737 - 1) * 3.9631 = 28.43, is nearest to the 28th half-hour, from 13:30.
    assert int(np.argmax(weights)) == 27
    assert int(np.argmin(weights)) == 10  # the 11th: the day begins there
    # SciPy's incomplete gamma function, gammainc(8.1737, x / 3.9631) at 28.5 less at 27.5, at 58.5 less at 10.5.
    assert weights[27] == pytest.approx(0.0371053270, abs=1e-7)
    assert weights.sum() == pytest.approx(0.9716012169, abs=1e-7)


def test_arrivals_follow_the_day():
    jobs = columns(Lublin(), 3, jobs=500_000)
    found = np.bincount((jobs["submit"] % 86400 // 1800).astype(int), minlength=48) / 500_000
    weights = published("whole", 128).half_hours()
    # Jobs come in bunches: a day's worth of them is one draw, not a thousand.
    assert np.abs(found - weights / weights.sum()).max() < 0.004


def test_gaps_of_an_even_day():
    """So wide a distribution of the half-hours makes them all alike, and the gaps what the gamma distribution says."""
    changed = {"whole": {"day": [1.0, 1e7]}}
    submit = columns(Lublin(parameters=changed), 4, jobs=300_000)["submit"]
    gap = np.diff(submit)
    # 1 % of the logarithms are below 2.2: whole seconds hardly move the mean, 10.2303 * 1.0225 * 0.4871.
    assert np.log(np.maximum(gap, 1)).mean() == pytest.approx(5.0953, abs=0.02)
    assert gap.max() <= math.exp(13) + 1


@pytest.mark.parametrize(
    ("jobs", "serial", "longest_mean", "largest"),
    [("batch", 0.2927, 639.1 * 0.0156, 128), ("interactive", 0.1541, 7.073 * 0.6856, 45)],
)
def test_batch_and_interactive(jobs, serial, longest_mean, largest):
    made = columns(Lublin(jobs=jobs), 5, jobs=200_000)
    assert np.mean(made["count"] == 1) == pytest.approx(serial, abs=0.0034)
    assert made["count"].max() == largest
    assert Lublin(jobs=jobs).labels["queue"][made["queue"][0]] == jobs
    changed = {jobs: {"short_share": -1.0}}
    only_long = columns(Lublin(jobs=jobs, parameters=changed), 5, jobs=100_000)
    assert np.log(only_long["runtime"] + 0.5).mean() == pytest.approx(longest_mean, abs=0.03)


def test_both_is_the_two_streams_in_submit_order():
    span = 40 * 86400
    both = columns(Lublin(jobs="both"), 6, span=span)
    assert np.all(np.diff(both["submit"]) >= 0)
    assert both["id"].tolist() == list(range(1, len(both["id"]) + 1))
    for number, name in enumerate(("interactive", "batch")):
        alone = columns(Lublin(jobs=name), 6, span=span)
        mine = both["queue"] == number
        for column in ("submit", "runtime", "count"):
            assert np.array_equal(both[column][mine], alone[column])
    tie = np.diff(both["submit"]) == 0
    assert np.all(np.diff(both["queue"])[tie] <= 1)


def test_machines_that_are_no_power_of_two():
    for processors in (1, 2, 3, 5, 100, 1000):
        count = columns(Lublin(processors=processors), 7, jobs=50_000)["count"]
        assert count.min() == 1
        assert 0.95 * processors <= count.max() <= processors


def test_same_seed_same_jobs_whatever_the_batches(monkeypatch):
    model = Lublin(jobs="both")
    whole = columns(model, 8, jobs=70_000)
    assert not np.array_equal(whole["submit"], columns(model, 9, jobs=70_000)["submit"])
    monkeypatch.setattr(lublin, "BATCH", 1_000)
    again = columns(model, 8, jobs=70_000)
    for column in ("id", "submit", "runtime", "limit", "count", "queue"):
        assert np.array_equal(whole[column], again[column])
    assert np.array_equal(columns(model, 8, jobs=123)["submit"], whole["submit"][:123])
    day = columns(model, 8, jobs=70_000, span=86400.0)["submit"]
    assert np.array_equal(day, whole["submit"][whole["submit"] < 86400])


def test_generate_makes_a_workload():
    workload = generate(Lublin(processors=64), jobs=10, seed=1)
    (batch,) = workload.batches()
    assert isinstance(batch, JobBatch)
    assert len(batch) == 10
    assert np.array_equal(batch.limit, batch.runtime)
    assert workload.header["MaxProcs"] == "64"


def test_round_trip():
    model = Lublin(processors=200, jobs="both", parameters={"batch": {"gap": [6.0, 0.8], "serial": 0.25}})
    again = Lublin.from_dict(model.to_dict(), "model.json")
    assert again.to_dict() == model.to_dict()
    assert again.used["batch"].gap == (6.0, 0.8)
    assert again.used["interactive"].serial == 0.1541
    assert np.array_equal(columns(model, 1, jobs=500)["runtime"], columns(again, 1, jobs=500)["runtime"])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"processors": 0}, r"model\.json: processors = 0: expected a whole number, at least 1"),
        ({"processors": True}, r"processors = True"),
        ({"jobs": "bach"}, r"jobs = 'bach' is unknown\n  hint: did you mean 'batch'\?"),
        ({"procesors": 4}, r"unknown key 'procesors'\n  hint: did you mean 'processors'\?"),
        ({"parameters": {"batch": {}}}, r"unknown key 'parameters\.batch'"),
        ({"parameters": {"whole": {"serail": 1}}}, r"unknown key 'parameters\.whole\.serail'"),
        (
            {"parameters": {"whole": {"serial": 1.5}}},
            r"parameters\.whole\.serial = 1\.5: expected a number from 0 to 1",
        ),
        ({"parameters": {"whole": {"serial": 0.5}}}, r"serial \+ parameters\.whole\.power_of_two = 1\.076: at most 1"),
        ({"parameters": {"whole": {"gap": [1]}}}, r"gap = \(1,\): expected the shape and the scale"),
        ({"parameters": {"whole": {"gap": [10, -1]}}}, r"gap scale = -1: expected a number above 0"),
        ({"parameters": {"whole": {"gap": [26, 0.5]}}}, r"below 13, not 13"),
        ({"parameters": {"whole": {"size_high": 9}}}, r"size_high = 9: expected a number from 0 to 7"),
        ({"parameters": {"whole": {"size_medium": 0.1}}}, r"size_medium = 0\.1: expected from size_low, 0\.8"),
        ({"parameters": {"whole": {"gap_ratio": "x"}}}, r"gap_ratio = 'x'"),
    ],
)
def test_wrong_parameters(data, message):
    with pytest.raises(InputErrors, match=message):
        Lublin.from_dict(data, "model.json")


def test_all_mistakes_at_once():
    with pytest.raises(InputErrors) as caught:
        Lublin(parameters={"whole": {"serial": -1, "gap_ratio": 0, "day": [0, 1]}})
    assert len(caught.value.errors) == 3


@pytest.mark.traces
def test_against_a_sample_of_the_authors_program(traces):
    """lublin_256 was made with one kind of jobs, 256 processors and everything else as published."""
    (log,) = read_workload(traces / "lublin_256.swf.gz").batches()
    made = columns(Lublin(processors=256), 1, jobs=400_000)
    # 1.63 / sqrt(10000) = 0.0163 is the 1 % limit of the distance for a sample of 10,000.
    assert distance(log.count, made["count"]) < 0.0163
    assert distance(log.runtime, made["runtime"]) < 0.0163
    assert distance(np.diff(log.submit), np.diff(made["submit"])) < 0.0163
