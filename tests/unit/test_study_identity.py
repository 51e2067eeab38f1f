"""What a run is known by: its files, by what is in them and in all that is read with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from schedlab.experiment.plan import identity, plan
from schedlab.experiment.study import Study, parse_study
from schedlab.model.errors import InputError

JOB = "1 0 -1 10 1 -1 -1 1 10 -1 1 1 1 -1 -1 -1 -1 -1\n"
POLICY = "class P:\n    def decide(self, view, events):\n        pass\n"
CONF = "NodeName=n[1-4] CPUs=8\nPartitionName=work Nodes=ALL\nInclude more/parts.conf\n"


def of(**point: Any) -> str:
    return identity(point, 1, Study("study", {}))


@pytest.mark.parametrize(
    ("log", "policy"),
    [('["a/log.swf", "b/log.swf"]', '"easy"'), ('"a/log.swf"', '["a/mine.py:P", "b/mine.py:P"]')],
)
def test_two_points_that_are_one_run(tmp_path: Path, log: str, policy: str) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(POLICY)
        (tmp_path / folder / "log.swf").write_text(JOB)
    text = f'repetitions = 2\n[workload]\nlog = {log}\n[run]\ncluster = "pool:4"\npolicy = {policy}\n'
    study = parse_study(text, str(tmp_path / "study.toml"))
    with pytest.raises(InputError, match=r"^study study: (\w+) = .*/a/.* and \1 = .*/b/.* are the same run"):
        plan(study)
    (tmp_path / "b" / "mine.py").write_text(f"{POLICY}\n")
    (tmp_path / "b" / "log.swf").write_text(JOB * 2)
    assert len({run.identity for run in plan(study)}) == 4


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "more").mkdir()
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "gres.conf").write_text("Name=gpu\n")
    (tmp_path / "more" / "parts.conf").write_text("PartitionName=other Nodes=n1\n")
    (tmp_path / "accounts").write_text("Cluster - 'small'\n")
    (tmp_path / "qos").write_text("Name|Priority\n")
    (tmp_path / "cgroup.conf").write_text("ConstrainCores=yes\n")
    return tmp_path


@pytest.mark.parametrize("given", ["cluster", "policy", "otherwise"])
def test_a_slurm_conf_is_known_by_all_that_is_read_with_it(site: Path, given: str) -> None:
    conf, accounts, qos = site / "slurm.conf", site / "accounts", site / "qos"
    if given == "otherwise":  # Slurm does not mind how it is called
        conf = conf.rename(site / "slurm.settings")
        (site / "gres.conf").rename(site / "gres.settings")
    point = {"policy": f"slurm-real(conf='{conf}', accounts='{accounts}', qos='{qos}')"}
    if given == "cluster":
        point = {"cluster": str(conf), "policy": "easy"}
    read = [conf, conf.with_name(conf.name.replace("slurm", "gres")), site / "more" / "parts.conf"]
    known = [of(**point)]
    for path in [*read, *([] if given == "cluster" else [accounts, qos])]:
        path.write_text(path.read_text() + "# changed\n")
        known.append(of(**point))
    conf.with_name(conf.name.replace("slurm", "topology")).write_text("SwitchName=s Nodes=n[1-4]\n")
    known.append(of(**point))
    assert len(set(known)) == len(known)
    (site / "cgroup.conf").write_text("ConstrainCores=no\n")  # nobody reads it
    assert of(**point) == known[-1]


def test_identities_of_other_studies_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What has no slurm.conf keeps its results."""
    monkeypatch.setattr("schedlab.experiment.plan.VERSION", "0")
    monkeypatch.chdir(tmp_path)
    Path("log.swf").write_text(JOB)
    Path("mine.py").write_text("x = 1\n")
    Path("machine.toml").write_text("x = 1\n")
    Path("a=b.json").write_text("{}\n")
    points = [
        {"log": "log.swf", "cluster": "machine.toml", "policy": "easy"},
        {"model": "lublin(processors=64)", "cluster": "pool:64", "policy": "easy:order=mine.py:f", "jobs": 10},
        {"model": "a=b.json", "cluster": "4x2", "policy": "mine.py:P(log='log.swf')", "observe": "mine.py:O + none"},
    ]
    assert [of(**point) for point in points] == ["cbdf3039adf715405d2a", "b40c9c48d38a69376a11", "f28b300ef607a7cf23aa"]
