"""`kubernetes:config.yaml`: a policy of one argument, whose file belongs to the study that names it."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.experiment.named_files import file_names, files_of, is_text
from schedlab.experiment.study import parse_study
from schedlab.model.errors import InputError
from schedlab.policy.spec import parse_policy

CONFIG = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def test_the_argument_may_stand_behind_a_colon() -> None:
    assert parse_policy("kubernetes:a b.yaml").text == "kubernetes(config='a b.yaml')"
    assert parse_policy("kubernetes").text == "kubernetes"
    assert parse_policy("kubernetes(config=['a.yaml','b.yaml'],seed=3)").plugin is not None


def test_another_name_is_still_unknown() -> None:
    with pytest.raises(InputError, match="kubernets"):
        parse_policy("kubernets:a.yaml")


def test_the_file_is_one_of_the_study(tmp_path: Path) -> None:
    (tmp_path / "pack.yaml").write_text(CONFIG)
    (tmp_path / "jobs.swf").write_text("")
    text = '[workload]\nlog = "jobs.swf"\n[run]\ncluster = "2x4"\npolicy = ["easy", "kubernetes:pack.yaml"]\n'
    study = parse_study(text, str(tmp_path / "study.toml"))
    easy, kubernetes = study.grid["policy"]
    assert kubernetes == f"kubernetes:{tmp_path / 'pack.yaml'}"
    assert is_text("policy", kubernetes) and not is_text("policy", easy)
    assert file_names("policy", kubernetes) == files_of("policy", kubernetes) == [str(tmp_path / "pack.yaml")]
    assert file_names("policy", easy) == []
