"""Configurations of kube-scheduler: what holds, what does not, and what cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from schedlab.bridge.kubernetes.settings import Settings, check_served, gates_text, read_settings
from schedlab.model.errors import InputError

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def read(tmp_path: Path, text: str, head: str = HEAD) -> Settings:
    path = tmp_path / "config.yaml"
    path.write_text(head + text)
    return read_settings(path)


def test_what_would_make_runs_differ_is_set_and_told(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        """parallelism: 16
leaderElection: {leaderElect: true}
clientConnection: {kubeconfig: /etc/kubernetes/scheduler.conf, qps: 50, contentType: application/json}
podMaxBackoffSeconds: 20
""",
    )
    told = found.differences()
    assert [line.split(":")[0] for line in told] == [
        "parallelism is 1, not 16",
        "leaderElection.leaderElect is false, not true",
        "clientConnection.qps is 100000, not 50",
        "clientConnection.kubeconfig is that of the simulated cluster",
    ]
    written = json.loads(found.text(tmp_path / "kubeconfig"))
    assert written["parallelism"] == 1
    assert written["podMaxBackoffSeconds"] == 20
    assert written["leaderElection"] == {"leaderElect": False}
    assert written["clientConnection"]["kubeconfig"] == str(tmp_path / "kubeconfig")


def test_without_a_configuration_it_is_as_it_comes(tmp_path: Path) -> None:
    assert Settings().scheduler_names() == ["default-scheduler"]
    assert Settings().differences() == []
    assert "profiles" not in json.loads(Settings().text(tmp_path))


def test_all_mistakes_come_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        read(
            tmp_path,
            """apiVersion: v1
kind: Pod
extenders: [{urlPrefix: "http://elsewhere"}]
profiles: [{schedulerName: a}, {schedulerName: a}]
""",
            head="",
        )
    text = str(error.value)
    assert "apiVersion is 'v1', not 'kubescheduler.config.k8s.io/v1'" in text
    assert "kind is 'Pod'" in text
    assert "extenders are other programs" in text
    assert "several profiles are called a" in text
    assert text.count(str(tmp_path / "config.yaml")) == 4


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [", "is not YAML"),
        ("- 1\n- 2\n", "is not the configuration of a scheduler"),
        ("", "is not the configuration of a scheduler"),
        (HEAD + "---\n" + HEAD, "is not the configuration of a scheduler"),
        (HEAD + "profiles: 3\n", "profiles is not a list of tables"),
    ],
)
def test_files_that_are_something_else(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        read(tmp_path, text, head="")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file or directory"):
        read_settings(tmp_path / "absent.yaml")


def test_every_pod_needs_one_scheduler(tmp_path: Path) -> None:
    two = read(tmp_path, "profiles: [{schedulerName: a}, {}]\n")
    assert two.scheduler_names() == ["a", "default-scheduler"]
    check_served(["a", "default-scheduler"], [two])
    with pytest.raises(InputError, match="pods want the scheduler b, and there is only a, default-scheduler"):
        check_served(["a", "b"], [two])
    with pytest.raises(InputError, match="two schedulers are called default-scheduler"):
        check_served([], [two, Settings()])


def test_feature_gates() -> None:
    assert gates_text("") == "WatchListClient=false"
    assert gates_text("A=true,B=false") == "A=true,B=false,WatchListClient=false"
    with pytest.raises(InputError, match="WatchListClient=true makes runs differ"):
        gates_text("WatchListClient=true")
    with pytest.raises(InputError, match="'A' is not a feature gate"):
        gates_text("A")
