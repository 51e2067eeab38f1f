"""Jobs injected into a workload: when, which, and what becomes of the workload's own jobs."""

import itertools

import numpy as np
import pytest

from schedlab.engine import simulate
from schedlab.generate.base import generate
from schedlab.generate.gaps import Gaps
from schedlab.generate.lublin.model import Lublin
from schedlab.generate.streams import merged
from schedlab.generate.triggers.inject import (
    FIRST_ID,
    AtRandom,
    AtTimes,
    InTurn,
    JobTemplate,
    OneOf,
    Periodic,
    Programmed,
    inject,
)
from schedlab.model.cluster import Cluster, NodeGroup
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.request import Request
from schedlab.model.workload import JobBatch, Shape, Workload

WIDE = JobTemplate(name="wide", runtime=100.0, count=8, limit=200.0)
GPU = JobTemplate(name="gpu", runtime=10.0, request=Request({"cores": 1, "gpus": 1}))


def base() -> Workload:
    return Workload.of(
        submit=[0, 10, 10, 20],
        runtime=[1, 2, 3, 4],
        count=[1, 2, 3, 4],
        user=[0, 1, -1, 0],
        executable=[7, -1, 5, 7],
        labels={"user": ["ann", "bob"]},
    )


def injected_times(workload: Workload) -> list[float]:
    return [t for batch in workload.batches() for t in batch.submit[batch.id >= FIRST_ID].tolist()]


def test_injected_jobs_are_merged_and_marked():
    workload = inject(base(), AtTimes([10, 25]), [WIDE, GPU])
    jobs = workload.jobs
    assert jobs["submit"].to_list() == [0, 10, 10, 10, 20, 25]
    assert jobs["id"].to_list() == [1, 2, 3, FIRST_ID, 4, FIRST_ID + 1]
    assert jobs["runtime"].to_list() == [1, 2, 3, 100, 4, 10]
    assert jobs["limit"].to_list() == [1, 2, 3, 200, 4, 10]
    assert jobs["count"].to_list() == [1, 2, 3, 8, 4, 1]
    users = [workload.labels["user"][n] if n >= 0 else None for n in jobs["user"]]
    assert users == ["ann", "bob", None, "injected", "ann", "injected"]
    programs = [workload.labels["executable"][n] if n >= 0 else None for n in jobs["executable"]]
    assert programs == ["7", None, "5", "injected:wide", "7", "injected:gpu"]
    requests = [workload.requests[n].chunk for n in jobs["request"]]
    assert requests == [{"cores": 1}] * 5 + [{"cores": 1, "gpus": 1}]


def test_the_workload_itself_is_unchanged():
    given = base()
    before = given.jobs.clone()
    inject(given, AtTimes([1]), WIDE).jobs  # noqa: B018
    assert given.jobs.equals(before)
    assert given.labels == {"user": ["ann", "bob"]}
    assert given.requests == [Request()]


def test_periodic():
    def times(**options) -> list[float]:
        return injected_times(inject(base(), Periodic(**options), WIDE))

    assert times(every=8) == [0, 8, 16]  # without an end of its own: with the last job, at 20
    assert times(every=10, start=5, count=4) == [5, 15, 25, 35]
    assert times(every=10, until=30) == [0, 10, 20, 30]
    assert times(every=10, count=0) == []
    assert times(every=20) == [0, 20]


def test_programmed_waits_after_the_one_before():
    trigger = Programmed(2, lambda last: last.time + last.template.runtime / 10 if last.number < 3 else None)
    assert injected_times(inject(base(), trigger, InTurn([GPU, WIDE]))) == [2, 3, 13, 14]
    assert injected_times(inject(base(), Programmed(0, lambda last: last.time + 7), GPU)) == [0, 7, 14]


def test_a_program_that_goes_back_in_time():
    workload = inject(base(), Programmed(5, lambda last: 4.0), GPU)
    with pytest.raises(InputError, match=r"trigger: injection 1 is at 4 s, after one at 5 s"):
        list(workload.batches())
    with pytest.raises(InputError, match=r"injection 0 is at nan s"):
        list(inject(base(), Programmed(float("nan"), lambda last: None), GPU).batches())


def test_random_times_and_choices():
    gaps = AtRandom(gaps=Gaps("poisson", mean=50), start=1000, count=20_000)
    workload = inject(base(), gaps, OneOf([WIDE, GPU], [3, 1]), seed=4)
    times = np.array(injected_times(workload))
    assert len(times) == 20_000
    assert times[0] > 1000
    assert np.diff(times).mean() == pytest.approx(50, abs=3 * 50 / 141)
    counts = workload.jobs.filter(workload.jobs["id"] >= FIRST_ID)["count"]
    assert (counts == 8).mean() == pytest.approx(0.75, abs=0.0092)
    assert injected_times(workload) == times.tolist()  # every pass is the same
    assert injected_times(inject(base(), gaps, WIDE, seed=5))[:3] != times[:3].tolist()
    uniform = AtRandom(gaps=Gaps("uniform", low=5, high=6), until=60)
    assert injected_times(inject(base(), uniform, WIDE))[-1] <= 60


def test_streams_of_many_batches():
    model = Lublin(jobs="both")
    given = generate(model, jobs=200_000, seed=1)
    workload = inject(given, Periodic(every=500.0, start=250.0), WIDE)
    batches = list(workload.batches())
    assert len(batches) > 3
    submit = np.concatenate([batch.submit for batch in batches])
    ids = np.concatenate([batch.id for batch in batches])
    assert np.all(np.diff(submit) >= 0)
    assert np.all((np.diff(submit) > 0) | (np.diff(ids) > 0))
    own = np.concatenate([batch.submit for batch in given.batches()])
    assert np.array_equal(submit[ids < FIRST_ID], own)
    assert np.count_nonzero(ids >= FIRST_ID) == int((own[-1] - 250) // 500) + 1
    queues = np.concatenate([batch.queue for batch in batches])
    assert set(queues[ids >= FIRST_ID]) == {-1}
    assert workload.labels["queue"] == ["interactive", "batch"]


def test_labels_and_requests_that_grow_while_reading():
    requests, labels = [Request()], {"user": ["ann"]}

    def source():
        yield JobBatch.of(id=[1], submit=[0], runtime=[1], user=[0])
        if len(requests) == 1:
            requests.append(Request({"cores": 2}))
            labels["user"].append("zoe")
            labels["queue"] = ["day"]
        yield JobBatch.of(id=[2], submit=[9], runtime=[1], user=[1], request=[1], queue=[0])

    workload = inject(Workload("grows", source, requests, labels=labels), AtTimes([3, 99]), GPU)
    for _ in range(2):
        rows = [(batch, row) for batch in workload.batches() for row in range(len(batch))]
        assert [workload.labels["user"][batch.user[row]] for batch, row in rows] == [
            "ann",
            "injected",
            "zoe",
            "injected",
        ]
        chunks = [workload.requests[batch.request[row]].chunk for batch, row in rows]
        assert chunks == [{"cores": 1}, GPU.request.chunk, {"cores": 2}, GPU.request.chunk]
    assert workload.labels["queue"] == ["day"]


def test_names_and_shapes_survive():
    given = Workload.of(
        submit=[0, 5],
        runtime=[1, 1],
        shapes=[[Shape(2, 0.5)], [Shape(4, 0.25), Shape(8, 0.125)]],
        malleable=[True, False],
    )
    batch = JobBatch.joined(list(inject(given, AtTimes([3]), GPU).batches()))
    assert batch.id.tolist() == [1, FIRST_ID, 2]
    assert batch.shapes is not None
    assert batch.shapes.end.tolist() == [1, 1, 3]
    assert batch.shapes.count.tolist() == [2, 4, 8]
    assert batch.shapes.request.tolist() == [1, 1, 1]  # the request of the injected job is in front
    assert batch.shapes.malleable.tolist() == [1, 0, 0]
    named = Workload("named", lambda: iter([JobBatch.of(submit=[0.0, 5.0], runtime=[1.0, 1.0], names=("x", "y"))]))
    batch = JobBatch.joined(list(inject(named, AtTimes([3]), GPU).batches()))
    assert batch.names == ("x", str(FIRST_ID), "y")


def test_injected_jobs_are_simulated_like_others():
    workload = inject(generate(Lublin(processors=64), jobs=300, seed=1), Periodic(every=3600.0), WIDE)
    cluster = Cluster((NodeGroup("n", 64, {"cores": 1}),))
    run = simulate.simulate(workload, cluster, "easy", validate=True)
    assert len(run.jobs) == len(workload)


def test_an_empty_workload():
    empty = Workload("none", lambda: iter(()))
    assert injected_times(inject(empty, Periodic(every=5, count=2), WIDE)) == [0, 5]
    assert injected_times(inject(empty, Periodic(every=5), WIDE)) == []


def test_high_job_numbers_are_refused():
    given = Workload.of(name="mine", id=[FIRST_ID], submit=[0], runtime=[1])
    with pytest.raises(InputError, match=r"mine: there is a job number 1000000001"):
        list(inject(given, AtTimes([1]), WIDE).batches())


def test_merging_prefers_the_earlier_stream():
    def stream(user: int, *batches: list[float]):
        for times in batches:
            yield JobBatch.of(submit=times, runtime=[1.0] * len(times), user=[user] * len(times))

    found = list(merged([stream(0, [1, 3], [3, 3], [8]), stream(1, [3, 3, 4]), stream(2, [0], [3], [9])]))
    rows = list(itertools.chain.from_iterable(zip(b.submit.tolist(), b.user.tolist(), strict=True) for b in found))
    assert rows == [(0, 2), (1, 0), (3, 0), (3, 0), (3, 0), (3, 1), (3, 1), (3, 2), (4, 1), (8, 0), (9, 2)]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Periodic(every=0), r"trigger periodic: every = 0: expected a number above 0"),
        (lambda: Periodic(every=1, start=-1, count=-1, until="x"), r"start = -1.*\n.*count = -1.*\n.*until = 'x'"),
        (lambda: AtTimes([1, 3, 2]), r"times\[2\] = 2: expected no time before"),
        (lambda: AtTimes([float("nan")]), r"times\[0\] = nan"),
        (lambda: AtRandom(gaps=Gaps("zero")), r"gaps of 0 seconds never end"),
        (
            lambda: JobTemplate(name="", runtime=-1, count=0, limit=-2),
            r"name = ''.*\n.*runtime = -1.*\n.*count = 0.*\n.*limit",
        ),
        (lambda: InTurn([]), r"expected at least one job template"),
        (lambda: OneOf([WIDE, GPU], [1]), r"weights = \[1\]: expected 2 numbers"),
        (lambda: OneOf([WIDE], [0]), r"not all of them 0"),
    ],
)
def test_wrong_parameters(make, message):
    with pytest.raises(InputErrors, match=message):
        make()
