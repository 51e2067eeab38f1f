"""The cyclic model: its clock, its jobs, and what it finds in a log."""

from datetime import UTC, date, datetime

import numpy as np
import pytest

from schedlab.generate.base import generate
from schedlab.generate.cyclic import model as module
from schedlab.generate.cyclic.clock import SlotClock
from schedlab.generate.cyclic.fit import best_gaps
from schedlab.generate.cyclic.jobs import Resource, Work
from schedlab.generate.cyclic.model import Cyclic
from schedlab.generate.gaps import Gaps
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.request import Request
from schedlab.model.workload import Workload
from schedlab.workload.read import read_workload

HOUR, DAY = 3600.0, 86400.0
CORES = {"cores": Resource(gflops=1.0)}


def model(**changed) -> Cyclic:
    given = {"gaps": Gaps("poisson", mean=60), "nodes": {4: 1.0}, "resources": CORES, "work": Work(mu=7.0, sigma=1.0)}
    return Cyclic(**{**given, **changed})


def jobs(made: Cyclic, seed: int = 0, **length) -> dict[str, np.ndarray]:
    batches = [batch.columns() for batch in made.batches(seed, **length)]
    return {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}


class TestClock:
    # Nothing from midnight to noon, twice the average from noon on.
    NIGHT = [0.0] * 24 + [2.0] * 24

    def test_time_passes_only_where_there_is_weight(self):
        clock = SlotClock(self.NIGHT)
        even = np.array([1.0, 7200, 43200, 86399, 86401])
        assert clock.time(even).tolist() == pytest.approx(
            [12 * HOUR + 0.5, 13 * HOUR, 18 * HOUR, DAY - 0.5, DAY + 12 * HOUR + 0.5]
        )

    def test_a_gap_is_paid_with_the_weights_it_passes(self):
        # Half-hours of weight 1, 3, 1, 3, …: on average 2. A gap of 1350 even seconds from 0 pays 900 for the first
        # half-hour and 450 of 2700 for the second, a sixth of it.
        clock = SlotClock([1.0, 3.0] * 24)
        assert clock.time(np.array([1350.0])).tolist() == pytest.approx([1800 + 300])

    def test_weekdays_and_months(self):
        # From Friday, 30 January 2026; weekends have none; January half of what February has (mean: 0.5, 1, …).
        months = [0.5] + [1.0] * 11
        clock = SlotClock([1.0] * 48, [1.0] * 5 + [0.0] * 2, months, date(2026, 1, 30))
        mean = 11.5 / 12
        friday = 7 / 5 * 0.5 / mean * DAY
        monday = 7 / 5 / mean * DAY
        even = np.array([friday / 2, friday + monday / 4, friday + monday * 1.5])
        assert clock.time(even).tolist() == pytest.approx([DAY / 2, 3.25 * DAY, 4.5 * DAY])

    def test_there_and_back(self):
        random = np.random.default_rng(1)
        clock = SlotClock(random.random(48), random.random(7), random.random(12))
        time = np.sort(random.uniform(0, 900 * DAY, 1000))
        assert clock.time(clock.even(time)) == pytest.approx(time)


def test_runtime_is_work_over_power():
    made = jobs(
        model(
            nodes={3: 1.0},
            resources={"cores": Resource(low=2, high=2, gflops=10.0), "gpus": Resource(low=1, high=1, gflops=940.0)},
            work=Work(mu=np.log(5760.0), sigma=0.0),
        ),
        jobs=10,
    )
    assert set(made["runtime"]) == {2.0}  # 5760 GFLOP at 3 * (2 * 10 + 940) GFLOPS
    assert np.array_equal(made["limit"], made["runtime"])
    independent = model(nodes={1: 1, 64: 1}, work=Work(mu=5.0, sigma=0.0, slope=1.0))
    assert set(jobs(independent, jobs=1000)["runtime"]) == {148.0}  # e^5 = 148.4 s on any number of nodes


def test_runtimes_stay_within_a_second_and_the_longest():
    runtime = jobs(model(work=Work(mu=7.0, sigma=4.0, longest=1000.0)), jobs=50_000)["runtime"]
    assert runtime.min() >= 1
    assert runtime.max() <= 1000
    assert np.mean(runtime >= 999) < 0.01  # drawn again, not cut


def test_serial_jobs_and_extra_resources():
    made = model(
        serial=0.3,
        nodes={1: 1.0, 2: 3.0},
        resources={
            "cores": Resource(low=1, high=4, gflops=1.0),
            "gpus": Resource(low=1, high=2, share=0.25, gflops=100.0),
            "memory": Resource(low=10, high=40, step=10),
        },
    )
    found = jobs(made, jobs=100_000)
    chunks = [made.requests[number].chunk for number in range(len(made.requests))]
    assert len(chunks) == 4 * 3 * 4
    cores, gpus, memory = (
        np.array([c.get(n, 0) for c in chunks])[found["request"]] for n in ("cores", "gpus", "memory")
    )
    serial = (found["count"] == 1) & (cores == 1)
    # Shares in 100,000 or a part of it: three standard deviations are below 0.006.
    assert serial.mean() == pytest.approx(0.3, abs=0.006)
    assert not gpus[serial].any()
    assert set(memory[serial]) == {10, 20, 30, 40}
    parallel = ~serial
    assert np.mean(gpus[parallel] > 0) == pytest.approx(0.25, abs=0.006)
    assert np.mean(gpus[parallel & (gpus > 0)] == 2) == pytest.approx(0.5, abs=0.02)
    assert np.mean(found["count"][parallel] == 2) == pytest.approx(0.75, abs=0.006)
    assert np.bincount(cores[found["count"] == 2])[1:] / np.sum(found["count"] == 2) == pytest.approx(
        [0.25] * 4, abs=0.01
    )
    assert cores[parallel & (found["count"] == 1)].min() == 2  # a parallel job on one node


def test_jobs_fit_the_machine():
    found = jobs(
        model(nodes={100: 1.0}, resources={"cores": Resource(low=3, high=3, gflops=1.0)}, processors=32), jobs=5
    )
    assert set(found["count"]) == {10}


def test_arrivals_have_the_cycles():
    half_hours = [0.5] * 24 + [1.5] * 24
    weekdays = [1.2] * 5 + [0.5] * 2
    months = [1.0, 3.0] + [1.0] * 10
    made = model(gaps=Gaps("poisson", mean=40), half_hours=half_hours, weekdays=weekdays, months=months)
    submit = jobs(made, 3, span=365 * DAY)["submit"]
    # At the average rate a day has 2160 jobs; months have a mean of 14 / 12.
    tuesdays_of_january = 2160 * 1.2 * 12 / 14
    found = np.mean([np.sum(submit // DAY == day) for day in (1, 8, 15, 22, 29)])
    assert found == pytest.approx(tuesdays_of_january, abs=3 * (tuesdays_of_january / 5) ** 0.5)
    february = np.sum((submit >= 31 * DAY) & (submit < 59 * DAY))  # four weeks
    assert february == pytest.approx(2160 * 28 * 3 * 12 / 14, rel=0.01)
    assert np.mean(submit % DAY < DAY / 2) == pytest.approx(0.25, abs=0.003)


def test_jobs_that_come_together():
    gap = np.diff(jobs(model(gaps=Gaps("constant", gap=100), together=0.4), 1, jobs=50_001)["submit"])
    assert np.mean(gap == 0) == pytest.approx(0.4, abs=0.0066)


def test_same_seed_same_jobs_whatever_the_batches(monkeypatch):
    made = model(
        gaps=Gaps("gamma", shape=0.4, scale=100),
        serial=0.2,
        together=0.1,
        work=Work(mu=7.0, sigma=3.0, longest=5000.0),
        half_hours=list(range(48)),
    )
    whole = jobs(made, 8, jobs=20_000)
    assert not np.array_equal(whole["runtime"], jobs(made, 9, jobs=20_000)["runtime"])
    monkeypatch.setattr(module, "BATCH", 700)
    again = jobs(made, 8, jobs=20_000)
    for column in ("id", "submit", "runtime", "count", "request"):
        assert np.array_equal(whole[column], again[column])


class TestFit:
    def test_finds_its_own_parameters(self):
        given = model(
            gaps=Gaps("weibull", shape=0.7, scale=2000),
            half_hours=[0.6] * 16 + [1.4] * 24 + [0.6] * 8,
            weekdays=[1.2] * 5 + [0.5] * 2,
            serial=0.3,
            nodes={2: 0.5, 16: 0.5},
            work=Work(mu=6.0, sigma=0.8, slope=0.5, longest=1e9),
            processors=64,
        )
        found = Cyclic.fit(generate(given, jobs=300_000, seed=2))
        assert found.gaps.distribution == "weibull"
        assert found.gaps.parameters["shape"] == pytest.approx(0.7, abs=0.03)
        assert found.gaps.mean * (1 - found.together) == pytest.approx(given.gaps.mean, rel=0.02)
        assert found.serial == pytest.approx(0.3, abs=0.003)
        assert found.nodes == pytest.approx({2: 0.5, 16: 0.5}, abs=0.004)
        assert found.weekdays == pytest.approx(given.weekdays, abs=0.04)
        assert np.mean(found.half_hours[:16]) == pytest.approx(0.6, abs=0.02)
        assert np.mean(found.half_hours[16:40]) == pytest.approx(1.4, abs=0.02)
        assert found.processors == 64
        # Whole seconds shorten small runtimes.
        assert (found.work.mu, found.work.sigma) == pytest.approx((6.0, 0.8), abs=0.03)
        assert found.work.slope == pytest.approx(0.5, abs=0.02)
        assert found.resources == {"cores": Resource(gflops=1.0)}

    def test_counts_by_hand(self):
        """One job each half-hour of the working days of one week, from Monday 5 January 2026; two at 12:00."""
        times = [day * DAY + slot * 1800.0 for day in range(5) for slot in range(48)]
        times += [day * DAY + 12 * HOUR + 60 for day in range(5)]
        workload = Workload.of(submit=times, runtime=[10.0] * 245, count=[1] * 49 + [4] * 196)
        workload.origin = datetime(2026, 1, 5, tzinfo=UTC)
        found = Cyclic.fit(workload)
        assert found.half_hours[24] == pytest.approx(2 * found.half_hours[0])
        assert found.weekdays[5] == found.weekdays[6]  # not in the log: average
        assert found.serial == pytest.approx(0.2)
        assert found.nodes == {4: 1.0}
        assert found.work.slope == pytest.approx(1.0)  # the same runtime on one and four cores
        assert found.work.sigma == pytest.approx(0.0, abs=1e-9)

    def test_the_hour_is_that_of_the_origin(self):
        times = [100.0 * i for i in range(10)] * 20 + [2000.0] * 10
        workload = Workload.of(submit=times, runtime=[10.0] * 210)
        workload.origin = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
        found = Cyclic.fit(workload)
        assert found.half_hours[19] == pytest.approx(20 * found.half_hours[20])
        assert found.together == pytest.approx(199 / 209)

    def test_processors_put_onto_nodes_and_gpus_added(self):
        workload = Workload.of(submit=list(range(0, 60_000, 300)), runtime=[10.0] * 200, count=[1] * 100 + [10] * 100)
        found = Cyclic.fit(workload, cores_per_node=4)
        assert found.nodes == {3: 1.0}
        assert found.serial == 0.5
        assert found.resources["cores"] == Resource(low=1, high=4, gflops=1.0)
        resources = {"cores": Resource(high=4, gflops=2.0), "gpus": Resource(share=0.5, gflops=50.0)}
        assert Cyclic.fit(workload, cores_per_node=4, resources=resources).resources == resources

    def test_amounts_of_the_log(self):
        requests = [Request({"cores": 2, "memory": 1000}), Request({"cores": 8, "gpus": 1})]
        workload = Workload.of(
            requests=requests, submit=list(range(0, 20_000, 100)), runtime=[5.0] * 200, request=[0, 0, 0, 1] * 50
        )
        found = Cyclic.fit(workload, gflops={"cores": 1.0, "gpus": 10.0})
        assert found.resources["cores"] == Resource(low=2, high=8, gflops=1.0)
        assert found.resources["gpus"] == Resource(share=0.25, gflops=10.0)
        assert found.resources["memory"] == Resource(low=1000, high=1000, share=0.75)
        assert found.serial == 0

    @pytest.mark.parametrize(
        "gaps",
        [
            Gaps("poisson", mean=30),
            Gaps("weibull", shape=0.5, scale=30),
            Gaps("gamma", shape=0.3, scale=99),
            Gaps("lognormal", mu=2, sigma=1.5),
        ],
    )
    def test_kinds_of_gaps(self, gaps):
        sample = gaps.draw(np.random.default_rng(3), 50_000)
        found = best_gaps(sample)
        assert found.mean == pytest.approx(sample.mean())
        # A Weibull or gamma distribution of shape 1 is that of a Poisson process.
        assert found.distribution == gaps.distribution or gaps.distribution == "poisson"
        if "shape" in gaps.parameters:
            assert found.parameters["shape"] == pytest.approx(gaps.parameters["shape"], rel=0.03)

    def test_logs_that_are_too_small(self):
        with pytest.raises(InputError, match=r"few: 3 jobs are too few for a fit"):
            Cyclic.fit(Workload.of(name="few", submit=[1, 2, 3], runtime=[1, 1, 1]))
        with pytest.raises(InputError, match=r"all jobs were submitted at the same time"):
            Cyclic.fit(Workload.of(submit=[1] * 100, runtime=[1] * 100))
        with pytest.raises(InputError, match=r"no job has done any work"):
            Cyclic.fit(Workload.of(submit=list(range(100)), runtime=[0] * 100))

    @pytest.mark.traces
    def test_a_real_log(self, traces):
        workload = read_workload(traces / "SDSC-SP2-1998-4.2-cln.swf.gz")
        found = Cyclic.fit(workload)
        (log,) = workload.batches()
        made = jobs(found, 1, jobs=len(log))
        assert found.processors == 128
        assert made["submit"][-1] == pytest.approx(log.submit[-1], rel=0.1)
        assert np.mean(made["count"]) == pytest.approx(np.mean(log.count), rel=0.02)
        # San Diego works from 10 to 17, which is 17 to 24 or later in UTC, and sleeps at 4.
        assert np.mean(found.half_hours[36:46]) > 3 * np.mean(found.half_hours[20:24])
        assert min(found.weekdays[:5]) > max(found.weekdays[5:])


def test_round_trip():
    given = model(serial=0.1, together=0.2, months=[2.0] + [1.0] * 11, processors=99)
    again = Cyclic.from_dict(given.to_dict(), "model.json")
    assert again.to_dict() == given.to_dict()
    assert np.array_equal(jobs(given, 1, jobs=500)["runtime"], jobs(again, 1, jobs=500)["runtime"])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"serail": 1}, r"model\.json: unknown key 'serail'\n  hint: did you mean 'serial'\?"),
        ({"serial": 2}, r"serial = 2: expected a number from 0 to 1"),
        ({"together": 1}, r"together = 1: expected a number from 0 to 0\.999"),
        ({"nodes": {}}, r"nodes: expected at least one"),
        ({"nodes": {"0": 1}}, r"a key of nodes = 0"),
        ({"nodes": {"x": 1}}, r"nodes = \{'x': 1\}: expected a table"),
        ({"nodes": {"4": -1}}, r"nodes = \[-1\]: expected 1 numbers"),
        ({"half_hours": [1] * 24}, r"half_hours = .*: expected 48 numbers of 0 or more"),
        ({"weekdays": [0] * 7}, r"weekdays = .*not all of them 0"),
        ({"months": 3}, r"months = 3: expected 12 numbers"),
        ({"processors": -1}, r"processors = -1"),
        ({"gaps": {"distribution": "zero"}}, r"gaps: expected a mean above 0 seconds"),
        ({"gaps": {"distribution": "poisson", "mean": "x"}}, r"poisson\.mean = 'x'"),
        ({"work": {"mu": 1}}, r"work: missing 1 required keyword-only argument: 'sigma'"),
        ({"work": {"mu": 1, "sigma": -1, "longest": 0}}, r"work\.sigma = -1.*\n.*work\.longest = 0"),
        ({"work": 3}, r"work = 3: expected a table"),
        ({"resources": {}}, r"resources\.cores: expected cores with gflops above 0"),
        (
            {"resources": {"cores": {"low": 4, "high": 2, "gflops": 1}}},
            r"resources\.cores\.high = 2: expected at least low, 4",
        ),
        ({"resources": {"cores": {"gflops": 1}, "gpus": {"share": 2}}}, r"resources\.gpus\.share = 2"),
        ({"resources": {"cores": {"gflops": 1}, "memory": {"high": 10**9}}}, r"1000000000 different chunks"),
    ],
)
def test_wrong_parameters(changed, message):
    with pytest.raises(InputErrors, match=message):
        Cyclic.from_dict({**model().to_dict(), **changed}, "model.json")


def test_missing_keys():
    with pytest.raises(InputErrors) as caught:
        Cyclic.from_dict({}, "model.json")
    assert [error.message for error in caught.value.errors] == [
        f"{key} is missing" for key in ("gaps", "nodes", "resources", "work")
    ]
