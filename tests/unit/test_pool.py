"""A pool of applications: which are drawn, when they arrive, and the files that pools are read from."""

import json

import numpy as np
import pytest

from schedlab.generate.gaps import Gaps
from schedlab.generate.pool import model as module
from schedlab.generate.pool.model import Application, Pool
from schedlab.model.errors import InputError, InputErrors

A, B, C = Application("bt.D.121", 121, 100.0), Application("cg.D.32", 32, 50.0), Application("ep.D.32", 32, 10.0)


def jobs(pool: Pool, seed: int = 0, **length) -> dict[str, np.ndarray]:
    batches = [batch.columns() for batch in pool.batches(seed, **length)]
    return {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}


def test_a_list_in_turn_at_a_constant_rate():
    pool = Pool(
        applications=[A, B], draw="list", order=["cg.D.32", "bt.D.121", "bt.D.121"], arrivals=Gaps("constant", gap=60)
    )
    made = jobs(pool, jobs=5)
    assert made["submit"].tolist() == [60, 120, 180, 240, 300]
    assert made["count"].tolist() == [32, 121, 121, 32, 121]
    assert made["runtime"].tolist() == [50, 100, 100, 50, 100]
    assert made["limit"].tolist() == pytest.approx([70, 140, 140, 70, 140])
    assert [pool.labels["executable"][number] for number in made["executable"]][:2] == ["cg.D.32", "bt.D.121"]
    assert made["id"].tolist() == [1, 2, 3, 4, 5]


ORDER = ["cg.D.32", "bt.D.121", "bt.D.121", "ep.D.32"]


def test_a_list_can_be_shuffled():
    """Each round has what the list has, in an order of its own."""
    pool = Pool(applications=[A, B, C], draw="list", order=ORDER, shuffle=True)
    made = jobs(pool, jobs=4000)["executable"].reshape(-1, 4)
    assert np.array_equal(np.sort(made, axis=1), np.tile([0, 0, 1, 2], (1000, 1)))
    assert len({tuple(one) for one in made.tolist()}) == 12  # all orders of two, one and one
    assert not np.array_equal(made, jobs(pool, seed=1, jobs=4000)["executable"].reshape(-1, 4))
    assert np.array_equal(made, jobs(pool, jobs=4000)["executable"].reshape(-1, 4))


@pytest.mark.parametrize("shuffle", [False, True])
def test_exact_counts(shuffle):
    counts = {"bt.D.121": 700, "ep.D.32": 1}
    pool = Pool(applications=[A, B, C], draw="counts", counts=counts, shuffle=shuffle)
    made = jobs(pool, jobs=701)["executable"]
    assert np.bincount(made, minlength=3).tolist() == [700, 0, 1]
    assert np.array_equal(made, np.sort(made)) is not shuffle
    assert np.bincount(jobs(pool, jobs=701 * 200)["executable"], minlength=3).tolist() == [140_000, 0, 200]
    again = Pool.from_dict(json.loads(json.dumps(pool.to_dict())), "model")
    assert again == pool


def test_uniform_draws_all_at_once():
    made = jobs(Pool(applications=[A, B, C]), jobs=90_000)
    assert not made["submit"].any()
    # Three standard deviations of a share of a third in 90,000 are 0.0047.
    shares = np.bincount(made["executable"]) / 90_000
    assert np.abs(shares - 1 / 3).max() < 0.0047


def test_frequencies():
    pool = Pool(applications=[A, B, C], draw="frequencies", frequencies={"bt.D.121": 3, "ep.D.32": 1}, limit_factor=2)
    made = jobs(pool, jobs=90_000)
    assert np.bincount(made["executable"], minlength=3) / 90_000 == pytest.approx([0.75, 0, 0.25], abs=0.0044)
    assert np.array_equal(made["limit"], 2 * made["runtime"])


@pytest.mark.parametrize(
    ("gaps", "mean", "deviation"),
    [
        (Gaps("poisson", mean=60), 60, 60),
        (Gaps("uniform", low=10, high=40), 25, 30 / 12**0.5),
        (Gaps("weibull", shape=2, scale=100), 88.6227, 46.3251),
        (Gaps("gamma", shape=4, scale=5), 20, 10),
        (Gaps("lognormal", mu=3, sigma=0.5), 22.7599, 12.1296),
    ],
)
def test_arrivals(gaps, mean, deviation):
    assert gaps.mean == pytest.approx(mean, rel=1e-5)
    gap = np.diff(jobs(Pool(applications=[A], arrivals=gaps), 3, jobs=160_001)["submit"])
    assert gap.mean() == pytest.approx(mean, abs=4 * deviation / 400)
    assert gap.std() == pytest.approx(deviation, rel=0.03)


def test_same_seed_same_jobs_whatever_the_batches(monkeypatch):
    pool = Pool(applications=[A, B, C], arrivals=Gaps("gamma", shape=0.5, scale=100))
    whole = jobs(pool, 5, jobs=3_000)
    assert not np.array_equal(whole["executable"], jobs(pool, 6, jobs=3_000)["executable"])
    monkeypatch.setattr(module, "BATCH", 64)
    again = jobs(pool, 5, jobs=3_000)
    assert np.array_equal(whole["submit"], again["submit"])
    assert np.array_equal(whole["executable"], again["executable"])
    hour = jobs(pool, 5, span=3600.0)["submit"]
    assert np.array_equal(hour, whole["submit"][whole["submit"] < 3600])


def test_a_span_needs_gaps():
    with pytest.raises(InputError, match=r"all jobs arrive at once, which no span ends"):
        Pool(applications=[A]).batches(0, span=100.0)


def test_round_trip_and_files(tmp_path):
    pool = Pool(applications=[A, C], draw="frequencies", frequencies={"ep.D.32": 2.5}, arrivals=Gaps("poisson", mean=9))
    assert Pool.from_dict(pool.to_dict(), "pool.json") == pool
    (tmp_path / "pool.json").write_text(json.dumps({"schedlab": 1, "model": "pool", **pool.to_dict()}))
    assert Pool.read(tmp_path / "pool.json") == pool
    (tmp_path / "pool.toml").write_text(
        """
        draw = "list"
        order = ["short"]
        arrivals = { distribution = "uniform", low = 0, high = 60 }
        [[applications]]
        name = "short"
        processes = 4
        runtime = "1m30s"
        """
    )
    read = Pool.read(str(tmp_path / "pool.toml"))
    assert read.applications == [Application("short", 4, 90.0)]
    assert read.arrivals == Gaps("uniform", low=0, high=60)
    assert read.limit_factor == 1.4


def row(**changed):
    return {"name": "a", "processes": 1, "runtime": 1.0, **changed}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"applications": []}, r"pool\.toml: applications: expected at least one"),
        ({}, r"applications: expected a list of tables"),
        ({"applications": [row()], "drew": 1}, r"unknown key 'drew'\n  hint: did you mean 'draw'\?"),
        ({"applications": [row(), row()]}, r"applications\[1\]\.name = 'a': expected a name of its own"),
        (
            {"applications": [row(processes=0)]},
            r"applications\[0\]\.processes = 0: expected a whole number, at least 1",
        ),
        ({"applications": [row(runtime=-1)]}, r"applications\[0\]\.runtime = -1: expected a number of 0 or more"),
        ({"applications": [row(runtime="soon")]}, r"'soon' is not a duration"),
        ({"applications": [{"name": "a"}]}, r"applications\[0\] has no processes"),
        ({"applications": [row(cores=1)]}, r"unknown key 'applications\[0\]\.cores'"),
        ({"applications": [row()], "draw": "list"}, r"order: draw = 'list' needs the names"),
        ({"applications": [row()], "draw": "frequencies"}, r"frequencies: draw = 'frequencies' needs at least one"),
        ({"applications": [row()], "frequencies": {"aa": 1}}, r"frequencies names 'aa', which is no application"),
        ({"applications": [row()], "frequencies": [1]}, r"frequencies = \[1\]: expected a table"),
        ({"applications": [row()], "order": ["b"]}, r"order names 'b', which is no application"),
        ({"applications": [row()], "draw": "any"}, r"draw = 'any' is unknown"),
        ({"applications": [row()], "limit_factor": 0}, r"limit_factor = 0: expected a number above 0"),
        ({"applications": [row()], "arrivals": "poisson"}, r"'poisson': expected a table with a distribution"),
        ({"applications": [row()], "arrivals": {"distribution": "possion"}}, r"did you mean 'poisson'\?"),
        ({"applications": [row()], "arrivals": {"distribution": "weibull", "shape": 1}}, r"weibull needs scale"),
        ({"applications": [row()], "arrivals": {"distribution": "zero", "mean": 1}}, r"unknown key 'zero\.mean'"),
        (
            {"applications": [row()], "arrivals": {"distribution": "uniform", "low": 2, "high": 1}},
            r"uniform\.high = 1: expected at least low, 2",
        ),
    ],
)
def test_wrong_parameters(data, message):
    with pytest.raises(InputErrors, match=message):
        Pool.from_dict(data, "pool.toml")


def test_a_heatmap(tmp_path):
    path = tmp_path / "heatmap.json"
    loads = [
        json.dumps({"load_name": "lu.D.64", "compact_timelogs": [9.0, 5.0, 7.0, 6.0]}),
        {"load_name": "628.pot3d_s.1024", "compact_timelogs": [425.5]},
    ]
    path.write_text(json.dumps({"machine": "x", "loads": loads}))
    pool = Pool.from_heatmap(path, arrivals=Gaps("poisson", mean=5))
    assert pool.applications == [Application("lu.D.64", 64, 6.5), Application("628.pot3d_s.1024", 1024, 425.5)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", r"heatmap\.json: this is not JSON"),
        ("[]", r"there is no heatmap in this JSON"),
        ('{"loads": [{"load_name": "lu", "compact_timelogs": [1]}]}', r"lu: nobody says how many processes"),
        ('{"names": ["lu.4"], "speedups": [[1]], "processes": [4]}', r"lu\.4: nobody says how long it runs alone"),
        ('{"loads": [{"load_name": "lu"}, {"load_name": "lu.4"}]}', r"loads\[1\]\.compact_timelogs of lu\.4 = \[\]"),
        ('{"loads": ["{"]}', r"loads\[0\]: this is not JSON"),
        ('{"loads": [3]}', r"load_name = null"),
    ],
)
def test_wrong_heatmaps(tmp_path, content, message):
    path = tmp_path / "heatmap.json"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        Pool.from_heatmap(path)


@pytest.mark.traces
def test_real_heatmaps(traces):
    pool = Pool.from_heatmap(traces / "heatmaps" / "lm-remake-g5k.nancy.grvingt-NAS.json.gz")
    assert len(pool.applications) == 13
    assert pool.applications[:2] == [Application("cg.D.32", 32, 347.0), Application("lu.D.64", 64, 454.0)]
    assert len(Pool.from_heatmap(traces / "heatmaps" / "lm-aris.compute-NAS.json.gz").applications) == 33
