"""Plays: what the pages of lessons tell is what the engine does, and what lessons say of it is true."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import schedlab as sl
from schedlab._core import DecisionError
from schedlab.model.errors import InputError, InputErrors
from schedlab.web.play.lesson import Lesson, document, find, lessons, played, read_lesson
from schedlab.web.play.small import MOST_JOBS, Small, SmallJob, read_small
from schedlab.web.play.tell import play
from schedlab.web.play.told import Play

FIVE = ((0, 5, 60, 60), (0, 8, 40, 40), (10, 2, 40, 40), (15, 1, 60, 60), (20, 1, 30, 30))


def small(policy: str, machine: str = "pool:8", jobs=FIVE, **more) -> Small:
    return Small(machine, policy, tuple(SmallJob(*job) for job in jobs), **more)


def by_time(told: Play) -> dict[float, object]:
    return {step.time: step for step in told.steps}


def test_a_play_by_hand():
    """Five of eight cores until 60; job 2 needs all: the shadow time is 60, and no core is left over then."""
    steps = by_time(play(small("easy")))
    assert list(steps) == [0, 10, 15, 20, 50, 60, 100, 160]
    at = steps[10]
    assert (at.queue_before, at.free_before, at.free) == ([2, 3], 3, 1)
    assert [(start.job, start.backfilled) for start in at.starts] == [(3, True)]
    assert at.starts[0].words == (
        "Job 3 starts now, ahead of job 2 (backfilling): it needs 2 cores, 3 are free, and it ends by 50, before "
        "job 2's reservation at 60."
    )
    assert [(each.job, each.start, each.end, each.spare, each.rows) for each in at.plan] == [(2, 60, 100, 0, [(0, 8)])]
    assert [wait.words for wait in steps[15].waits] == [
        "Job 2 waits: it needs 8 cores, 1 is free. Its reservation is at 60, when job 1 will have ended.",
        "Job 4 waits, although there is room: it may run until 75, and job 2 has its reservation at 60, beside which "
        "no core is left over.",
    ]
    assert play(small("easy")).metrics["mean wait"] == "29 s"  # 0, 60, 0, 85 and 0
    assert steps[60].starts[0].words == "Job 2 starts, as reserved: it needs 8 cores, 8 are free."


def test_what_a_reservation_leaves_over_is_counted_down():
    """6 of 10 cores until 60. Job 2 needs 7 then, so 3 are left over: jobs 3 and 4 take them, job 5 cannot."""
    jobs = ((0, 6, 60, 60), (0, 7, 40, 40), (0, 1, 99, 99), (0, 2, 99, 99), (0, 1, 99, 99))
    first = play(small("easy", "pool:10", jobs)).steps[0]
    assert [start.job for start in first.starts] == [1, 3, 4]
    assert "but 3 cores are left over then" in first.starts[1].words
    assert "but 2 cores are left over then" in first.starts[2].words
    assert first.waits[1].words.endswith("beside which no core is left over.")


def test_jobs_that_end_early_and_jobs_that_are_killed():
    told = play(small("conservative", jobs=((0, 8, 20, 50), (0, 8, 30, 10), (0, 8, 5, 5))))
    words = [each.words for step in told.steps for each in (*step.news, *step.starts)]
    assert "Job 1 ends, 30 s before its estimated end." in words
    assert "Job 2 starts: its reservation moves up from 50 to now, because cores became free early." in words
    assert "Job 2 has reached its limit of 10 s and is killed." in words


@pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: lesson.id)
def test_lessons_say_what_is_true(lesson: Lesson):
    assert lesson.parts and lesson.summary and lesson.text
    for part, plays in zip(lesson.parts, played(lesson), strict=True):
        times = {step.time for told in plays for step in told.steps}
        assert part.notes, part.title
        for note in part.notes:
            assert note.text and note.at in times, (part.title, note.at)
        for scenario, told, starts, metrics in zip(part.scenarios, plays, part.starts, part.metrics, strict=True):
            assert tuple(job.start for job in told.jobs) == starts, (part.title, told.policy)
            assert metrics.items() <= told.metrics.items(), (part.title, told.policy)
            as_the_engine_does(scenario, told)


def as_the_engine_does(scenario: Small, told: Play) -> None:
    """The same run through `simulate`: starts, ends, who was backfilled, and every reason of `schedlab why`."""
    run = sl.simulate(scenario.scenario(reasons=True))
    jobs = {row["job"]: row for row in run.jobs.iter_rows(named=True)}
    assert {job.id: (job.start, job.end, job.state) for job in told.jobs} == {
        job: (row["start"], row["end"], row["state"]) for job, row in jobs.items()
    }
    starts = {start.job: (step.time, start.backfilled) for step in told.steps for start in step.starts}
    assert starts == {
        job: (
            row["start"],
            row["backfilled"] == "yes" if isinstance(row["backfilled"], str) else bool(row["backfilled"]),
        )
        for job, row in jobs.items()
        if row["start"] is not None
    }
    for step in told.steps:
        waiting = {wait.job: (wait.why, wait.who) for wait in step.waits}
        for job in jobs:
            stretch = next((each for each in run.why(job).stretches if each.begin <= step.time < each.end), None)
            assert waiting.get(job) == (stretch and (stretch.why, int(stretch.who) if stretch.who else None)), step.time
        rows_are_apart(told, step)


def rows_are_apart(told: Play, step) -> None:
    """Nobody is drawn over another: running jobs until their believed ends, and reservations."""
    running = {each.job: each.end for each in step.running}
    boxes = [
        (bar.job, step.time, max(running[bar.job], step.time), bar.low, bar.high)
        for bar in told.bars
        if bar.job in running and bar.begin <= step.time < bar.end
    ]
    assert {box[0] for box in boxes} == set(running)
    for each in step.plan:
        boxes += [(each.job, each.start, each.end, low, high) for low, high in each.rows]
        drawn = sum(high - low for low, high in each.rows)
        assert drawn >= next(job.cores for job in told.jobs if job.id == each.job)
    for place, (job, begin, end, low, high) in enumerate(boxes):
        for other, since, until, bottom, top in boxes[:place]:
            apart = end <= since or until <= begin or high <= bottom or top <= low
            assert apart or job == other, (step.time, job, other)


@settings(max_examples=60, deadline=None)
@given(
    jobs=st.lists(
        st.tuples(st.integers(0, 40), st.integers(1, 8), st.integers(1, 50), st.integers(1, 80)), min_size=1, max_size=9
    ),
    policy=st.sampled_from(
        ("none", "skip", "easy", "easy-strict", "easy:reservations=2", "conservative", "easy:order=sjf", "easy:depth=1")
    ),
    machine=st.sampled_from(("pool:8", "4x2")),
)
def test_any_small_scenario_is_told_as_the_engine_plays_it(jobs, policy, machine):
    scenario = small(policy, machine, jobs)
    as_the_engine_does(scenario, play(scenario))


TYPED = {"machine": "8", "policies": ["easy"], "jobs": [["0", "5", "1m", ""], ["0", "8", "40", "40", "ann"]]}


def test_a_typed_scenario_is_read():
    (found,) = read_small(TYPED)
    assert found == Small("pool:8", "easy", (SmallJob(0, 5, 60, 60), SmallJob(0, 8, 40, 40, "ann")))
    assert [each.policy for each in read_small({**TYPED, "policies": ["sjf", "conservative"]})] == [
        "sjf",
        "conservative",
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"jobs": [["0", "five", "60"]]}, "job 1, cores: 'five' is no number of cores"),
        ({"jobs": [["0", "0", "60"]]}, "job 1, cores: '0' is no number of cores"),
        ({"jobs": [["0", "1", "60"], ["0", "9", "60"]]}, "job 2, cores: 9, and the machine has 8"),
        ({"jobs": [["0", "1", ""]]}, "job 1, run time: nothing is there"),
        ({"jobs": [["-5", "1", "60"]]}, "job 1, submit: -5.0: a duration cannot be negative"),
        ({"jobs": [["0", "1", "0"]]}, "job 1, run time: a job that runs for no time"),
        ({"jobs": [["0", "1", "1e999"]]}, "job 1, run time: "),
        ({"jobs": [["0", "1", "9", "soon"]]}, "job 1, estimate: "),
        ({"jobs": [{"when": 3}]}, "job 1: there is no field 'when'"),
        ({"jobs": ["abc"]}, "job 1: is not a job"),
        ({"jobs": []}, "jobs: there are none"),
        ({"jobs": [["0", "1", "1"]] * (MOST_JOBS + 1)}, f"jobs: there are {MOST_JOBS + 1}"),
        ({"machine": "0"}, "machine: '0' is not a small machine"),
        ({"machine": "65x1"}, "machine: '65x1' is not a small machine"),
        ({"machine": "/etc/passwd"}, "machine: '/etc/passwd' is no machine"),
        ({"policies": []}, "policy: there are 1 to 3 policies"),
        ({"policies": ["esy"]}, "policy: there is no policy 'esy' here"),
        ({"policies": ["evil.py:Cap"]}, "policy: there is no policy 'evil.py:Cap' here"),
        ({"policies": ["easy:order=evil.py:key"]}, "names more than built-in parts"),
        ({"policies": ["easy:order=lab/evil.py"]}, "names more than built-in parts"),
        ({"policies": ["easy:place=os.path:join"]}, "names more than built-in parts"),
        ({"policies": ["slurm-real"]}, "policy: there is no policy 'slurm-real' here"),
        ({"policies": ["batsim:tcp://localhost:1"]}, "policy: there is no policy"),
        ({"policies": ["reject"]}, "policy: there is no policy 'reject' here"),
        ({"policies": ["easy:depth=x"]}, "policy: "),
        ({"estimate": "guess"}, "estimates: 'guess' is not known"),
    ],
)
def test_mistakes_name_their_field(change, said):
    with pytest.raises(InputError) as failure:
        read_small({**TYPED, **change})
    assert said in str(failure.value)


def test_a_policy_that_cannot_go_on_is_told_as_a_mistake(monkeypatch):
    def refuse(*_):
        raise DecisionError("cannot wake the policy")

    assert play(small("easy:every=0.1"))
    monkeypatch.setattr("schedlab.web.play.record._note", refuse)
    with pytest.raises(InputError, match=r"policy 'easy:every=0.1': cannot wake the policy"):
        play(small("easy:every=0.1"))
    assert [each.policy for each in read_small({**TYPED, "policies": ["easy:order=cores/estimate"]})]


def test_all_mistakes_come_at_once():
    with pytest.raises(InputErrors) as failure:
        read_small({"machine": "x", "policies": ["easy"], "jobs": [["0", "a", "b"], ["0", "1", "1"]]})
    where = [error.where for error in failure.value.errors]
    assert where == ["machine", "job 1, cores", "job 1, run time", "job 1, estimate"]


def test_a_lesson_with_a_key_that_there_is_not_is_refused():
    with pytest.raises(InputErrors, match="'titel' is no key"):
        read_lesson("01-x.toml", "titel = 'x'")
    with pytest.raises(InputError, match="there is no such lesson"):
        find("nothing")


def test_a_lesson_is_data_for_a_page():
    found = json.loads(json.dumps(document("conservative"), allow_nan=False))
    assert found["parts"][0]["typed"]["policies"] == ["easy", "conservative"]
    assert [step["time"] for step in found["parts"][0]["plays"][0]["steps"]][:3] == [0, 5, 10]
