"""Study files: the grid they make, and every mistake with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.experiment.plan import identity, plan, repetition_seed
from schedlab.experiment.study import Study, parse_study, read_study
from schedlab.model.errors import InputError, InputErrors

GOOD = """
name = "test"
repetitions = 2
baseline = { policy = "fcfs" }
[workload]
model = "lublin(processors=64)"
jobs = 100
pressure = { from = 0.7, to = 0.9, step = 0.1 }
[run]
cluster = "pool:64"
policy = ["fcfs", "easy"]
"""


def study(text: str = GOOD, **changes: str) -> Study:
    for old, new in changes.items():
        text = text.replace(old, new)
    return parse_study(text, "study.toml")


def mistakes(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        parse_study(text, "s.toml")
    error = caught.value
    return [str(one) for one in error.errors] if isinstance(error, InputErrors) else [str(error)]


def test_a_grid_is_the_product_of_its_lists() -> None:
    found = study()
    points = list(found.points())
    assert len(points) == 6
    assert {point["pressure"] for point in points} == {0.7, 0.8, 0.9}
    assert points[0] == {
        "model": "lublin(processors=64)",
        "jobs": 100,
        "pressure": 0.7,
        "cluster": "pool:64",
        "policy": "fcfs",
    }
    assert found.varied == ("pressure", "policy")
    assert len(plan(found)) == 12


def test_points_are_excluded_and_added() -> None:
    more = '\n[[exclude]]\npolicy = "easy"\npressure = [0.7, 0.8]\n[[point]]\npolicy = "sjf"\npressure = 0.5\n'
    points = list(study(GOOD + more).points())
    assert len(points) == 5
    assert points[-1]["policy"] == "sjf"
    assert points[-1]["jobs"] == 100  # what is not varied comes from the file
    again = GOOD + '[[point]]\npolicy = "easy"\npressure = 0.7\n'
    assert len(list(study(again).points())) == 6  # a point of the grid is not run twice


def test_all_mistakes_at_once_with_their_lines() -> None:
    text = (
        'nmae = "x"\nrepetitions = 0\nkeep = "all"\nmetrics = ["wait.meen"]\n'
        '[workload]\nlog = "nowhere.swf"\nmodel = "lublin"\nstrech = 2\njobs = -1\n'
        '[run]\npolicy = ["easy", "esay", "easy"]\ncluster = "12y"\nlog = "a"\n'
        '[[exclude]]\npolicy = "fcfs"\n'
    )
    found = mistakes(text)
    expected = {
        1: "unknown key 'nmae'",
        2: "repetitions = 0: expected a whole number of at least 1",
        3: 'keep = "all": expected tables or summary',
        4: 'there is no metric "wait.meen"',
        5: "a study needs jobs: a log or a model",
        6: "there is no such file",
        8: "unknown key 'strech'",
        9: "jobs = -1: expected a whole number of at least 1",
        11: "a value appears twice",
        12: 'cluster = "12y"',
        13: "unknown key 'log'",
        15: "does not occur, so nothing is excluded",
    }
    for line, message in expected.items():
        assert any(one.startswith(f"s.toml:{line}: ") and message in one for one in found), (line, found)
    assert any('policy = "esay"' in one for one in found)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{ from = 0.7, to = 0.9, step = 0.1 }", "[]", "the list is empty"),
        ("{ from = 0.7, to = 0.9, step = 0.1 }", "{ from = 1, to = 2 }", "expected { from"),
        ("{ from = 0.7, to = 0.9, step = 0.1 }", "{ from = 1, to = 0, step = 1 }", "the range has 0 values"),
        ("jobs = 100", "", "how many jobs shall the model make"),
        ('cluster = "pool:64"', "", "on which machine"),
        ('policy = ["fcfs", "easy"]', "policy = 7", "expected a text"),
        ("repetitions = 2", "repetitions = true", "expected a whole number"),
        ("[run]", "[[run]]", "expected a table"),
        ('name = "test"', 'trim = "10%"\nphase = "experiment"', "both say what to leave out"),
        ("jobs = 100", 'fill = "2h"\njobs = 100', "a fill needs an experiment"),
    ],
)
def test_single_mistakes(old: str, new: str, message: str) -> None:
    assert any(message in one for one in mistakes(GOOD.replace(old, new)))


def test_not_toml() -> None:
    assert "s.toml:1" in mistakes("name = = 2")[0]


def test_files_are_relative_to_the_study(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def order(jobs):\n    return jobs.submit\n")
    (tmp_path / "log.swf").write_text("1 0 -1 10 1 -1 -1 1 10 -1 1 1 1 -1 -1 -1 -1 -1\n")
    (tmp_path / "s.toml").write_text('[workload]\nlog = "log.swf"\n[run]\ncluster = "pool:4"\n')
    found = read_study(tmp_path / "s.toml")
    assert found.name == "s"
    assert found.grid["log"] == (str(tmp_path / "log.swf"),)


def test_identity_is_all_that_determines_the_result(tmp_path: Path) -> None:
    log, other = tmp_path / "a.swf", tmp_path / "b.swf"
    log.write_text("1 0 -1 10 1 -1 -1 1 10 -1 1 1 1 -1 -1 -1 -1 -1\n")
    other.write_text(log.read_text())
    base = study()
    point = {"log": str(log), "policy": "easy"}
    one = identity(point, 1, base)
    assert one == identity({"log": str(other), "policy": "easy"}, 1, base)  # the same content elsewhere
    assert one == identity(dict(reversed(point.items())), 1, base)
    assert one != identity(point, 2, base)
    assert one != identity(point | {"policy": "fcfs"}, 1, base)
    assert one != identity(point, 1, study(GOOD.replace("repetitions = 2", 'keep = "summary"')))
    other.write_text(log.read_text().replace(" 10 ", " 11 "))
    assert one != identity({"log": str(other), "policy": "easy"}, 1, base)
    code = tmp_path / "mine.py"
    code.write_text("x = 1\n")
    mine = identity(point | {"policy": f"easy:order={code}:f"}, 1, base)
    code.write_text("x = 22\n")
    assert mine != identity(point | {"policy": f"easy:order={code}:f"}, 1, base)


def test_repetitions_share_seeds_between_policies() -> None:
    runs = plan(study())
    assert {run.seed for run in runs if run.repetition == 0} == {repetition_seed(0, 0)}
    assert len({run.seed for run in runs}) == 2
    assert len({run.identity for run in runs}) == len(runs)


def test_no_two_repetitions_have_the_same_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it comes with 32 bits and a million of them."""
    monkeypatch.setattr(
        "schedlab.experiment.plan.repetition_seed", lambda _seed, repetition: 2**32 - 1 - repetition % 2
    )
    runs = plan(study(repetitions="repetitions = 6 #"))
    assert len({run.seed for run in runs}) == 6
    assert len({run.identity for run in runs}) == len(runs)


NAMED = GOOD.replace('["fcfs", "easy"]', '[{ name = "plain", policy = "fcfs" }, { name = "filled", policy = "easy" }]')


def test_values_may_have_short_names() -> None:
    found = study(NAMED.replace('policy = "fcfs" }\n', 'policy = "plain" }\n'))
    assert found.names == {"policy": {"fcfs": "plain", "easy": "filled"}}
    assert found.baseline == {"policy": "fcfs"} and found.grid["policy"] == ("fcfs", "easy")
    assert [run.identity for run in plan(found)] == [run.identity for run in plan(study())]  # a name changes no run
    rule = '\n[[exclude]]\npolicy = "filled"\npressure = [0.7, 0.8]\n'
    assert len(list(study(NAMED + rule).points())) == 4


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ('[{ name = "plain", policy = "fcfs" }, { name = "plain", policy = "easy" }]', "appears twice"),
        ('[{ name = "plain" }]', "expected { name = …, policy = … } with texts"),
        ('[{ name = "plain", policy = "feasy" }]', "feasy"),
    ],
)
def test_names_that_do_not_serve_are_refused(value: str, said: str) -> None:
    (found,) = mistakes(GOOD.replace('["fcfs", "easy"]', value))
    assert said in found and found.startswith("s.toml:11: policy")
