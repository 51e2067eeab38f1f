"""Workloads as schedulers of Batsim are told of them: files, transformed logs, other logs; and their mistakes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from tests.batsim_talk import Fcfs, Scripted, Talk, small_platform, talk, write_workload

from schedlab.bridge.batsim.decider import Batsim
from schedlab.bridge.batsim.documents import Documents
from schedlab.bridge.batsim.external import read_external
from schedlab.bridge.batsim.machine import nodes_of
from schedlab.bridge.batsim.platform import Host, Platform
from schedlab.bridge.batsim.rules import Rules
from schedlab.engine.scenario import Scenario
from schedlab.engine.simulate import simulate
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.workload import Workload
from schedlab.policy.spec import parse_policy
from schedlab.workload.read import read_workload
from schedlab.workload.transform.load import stretch


def conversation(workload: Workload, cluster: Cluster | str, **options: object) -> Talk:
    """With a scheduler that knows nothing of where the jobs come from."""
    scheduler = Scripted(Fcfs())
    policy = Batsim(scheduler.endpoint, deadline=20, **options)  # type: ignore[arg-type]
    try:
        run = simulate(Scenario(workload, cluster, policy, validate=True))
    finally:
        policy.close()
        scheduler.dismissed.set()
        scheduler.join(20)
    return Talk(run, scheduler.heard)


def told(talk: Talk) -> list[dict[str, object]]:
    return [event["data"]["job"] for event in talk.events("JOB_SUBMITTED")]


def test_a_workload_that_was_read_as_a_log_is_told_as_it_is_written(tmp_path: Path) -> None:
    jobs = [{"id": "b", "color": "red"}, {"id": "a", "subtime": 3, "walltime": 5, "user": "ann"}]
    heard = conversation(read_workload(write_workload(tmp_path, jobs)), "4x1")
    assert told(heard) == [
        {"id": "w0!b", "subtime": 0, "res": 1, "profile": "ten", "color": "red"},
        {"id": "w0!a", "subtime": 3, "res": 1, "profile": "ten", "walltime": 5, "user": "ann"},
    ]
    assert heard.times() == {"b": (0, 10), "a": (3, 8)}
    states = [event["data"]["job_state"] for event in heard.events("JOB_COMPLETED")]
    assert states == ["COMPLETED_WALLTIME_REACHED", "COMPLETED_SUCCESSFULLY"]


def test_times_of_a_transformed_workload_are_those_of_the_transformation(tmp_path: Path) -> None:
    jobs = [{"id": number, "subtime": 100.0 * number} for number in range(1, 6)]
    workload = read_workload(write_workload(tmp_path, jobs))
    heard = conversation(stretch(workload, 0.5), "4x1")
    submits = [job["subtime"] for job in told(heard)]
    assert submits == heard.run.jobs["submit"].to_list()
    assert submits[-1] - submits[0] == pytest.approx(200)


def test_jobs_of_other_logs_ask_for_cores_and_are_delays() -> None:
    """Users and groups by their names, where they have some; a limit is a walltime."""
    workload = Workload.of(
        id=[7, 8],
        submit=[0.0, 1.0],
        runtime=[2.5, 3.0],
        limit=[10.0, 3600.0],
        count=[3, 1],
        user=[0, 1],
        group=[5, -1],
        labels={"user": ["ann", "bob"]},
    )
    heard = conversation(workload, "2x2")
    assert told(heard) == [
        {"id": "w0!7", "subtime": 0, "res": 3, "profile": "delay_2.5", "walltime": 10, "user": "ann", "group": 5},
        {"id": "w0!8", "subtime": 1, "res": 1, "profile": "delay_3", "walltime": 3600, "user": "bob"},
    ]
    begins = heard.heard[0]["events"][0]["data"]
    assert begins["profiles"]["w0"] == {
        "delay_2.5": {"type": "delay", "delay": 2.5},
        "delay_3": {"type": "delay", "delay": 3.0},
    }
    assert [host["name"] for host in begins["compute_resources"]] == ["n1.0", "n1.1", "n2.0", "n2.1"]
    assert heard.run.jobs["nodes"].to_list() == ["n1.[0-1],n2.0", "n2.1"]
    assert heard.times() == {"7": (0, 2.5), "8": (1, 4)}


def test_the_cores_of_a_pool_are_hosts() -> None:
    heard = conversation(Workload.of(submit=[0.0], runtime=[2.0], count=[3]), "pool:5")
    assert heard.heard[0]["events"][0]["data"]["nb_resources"] == 5
    assert heard.events("JOB_COMPLETED")[0]["data"]["alloc"] == "0-2"


def test_compressed_workloads_can_be_read(tmp_path: Path) -> None:
    plain = write_workload(tmp_path, [{"id": 1}])
    packed = tmp_path / "w.json.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    documents = Documents.read([packed], small_platform())
    assert documents.workload().report.kept == 1


def test_ids_that_are_numbers_are_the_engines_own(tmp_path: Path) -> None:
    jobs = [{"id": "12", "subtime": 5}, {"id": 7, "subtime": 1}, {"id": "w0!9", "subtime": 3}]
    (batch,) = Documents.read([write_workload(tmp_path, jobs)], small_platform()).workload().batches()
    assert batch.id.tolist() == [7, 9, 12] and batch.names is None


def test_all_mistakes_of_a_workload_are_told_at_once(tmp_path: Path) -> None:
    jobs = [
        {"id": 1, "subtime": -1},
        {"id": 2, "res": -1},
        {"id": 3, "walltime": 0},
        {"id": 4, "profile": "nine"},
        {"id": "a!b"},
        {"id": 6, "res": "two"},
        {"id": 7},
        {"id": 7},
    ]
    documents = Documents.read([write_workload(tmp_path, jobs)], small_platform())
    with pytest.raises(InputError) as error:
        documents.workload()
    for words in (
        "jobs[0]: job '1': 'subtime' is -1",
        "jobs[1]: job '2': 'res' is -1",
        "jobs[2]: job '3': 'walltime' is 0",
        "jobs[3]: job '4': there is no profile 'nine'",
        "jobs[4]: 'a!b' is not the id of a job of w0",
        "jobs[5]: Expected `int`, got `str` - at `$.res`",
        "two jobs have the id '7'",
    ):
        assert words in str(error.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[]", "Expected `object`, got `array`"),
        ("{", "is not a Batsim workload"),
        ('{"nb_res": 4, "profiles": {}}', "missing required field `jobs`"),
        ('{"nb_res": 0, "jobs": [], "profiles": {}}', "'nb_res' is 0"),
        ('{"nb_res": 4, "jobs": [], "profiles": {"p": 5}}', "profile 'p'"),
        ('{"nb_res": 4, "jobs": [], "profiles": {"p": {"type": "delay", "delay": -1}}}', "'delay' is -1"),
        ('{"nb_res": 4, "jobs": [], "profiles": {"p": {"type": "delay", "delay": 1, "ret": "x"}}}', "'ret' is 'x'"),
        ('{"nb_res": 4, "jobs": [], "profiles": {"p": {"type": "dream"}}}', "dream"),
    ],
)
def test_files_that_are_no_workloads(content: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "w.json"
    file.write_text(content)
    with pytest.raises(InputError) as error:
        Documents.read([file], small_platform())
    assert words in str(error.value) and str(file) in str(error.value)


def test_all_mistakes_of_external_events_are_told_at_once(tmp_path: Path) -> None:
    lines = [
        {"type": "machine_available", "resources": "0", "timestamp": -1},
        {"type": "machine_available", "resources": "9", "timestamp": 1},
        {"type": "machine_available", "timestamp": 1},
        {"type": "flood", "timestamp": 1},
        {"timestamp": 1},
    ]
    file = tmp_path / "events.txt"
    file.write_text("\n".join([*map(json.dumps, lines), "tea", ""]))
    with pytest.raises(InputError) as error:
        read_external([file], 4, unknown=False)
    for row, words in enumerate(
        ("'timestamp' is -1", "has host 9, and there are 4", "'resources' is None", "'flood' is not known", "'type'"), 1
    ):
        assert f"line {row}: " in str(error.value) and words in str(error.value)
    assert "line 6: " in str(error.value)


def test_external_events_are_sorted_as_batsim_sorts_them(tmp_path: Path) -> None:
    """By time; of one time file by file, and hosts that become available first."""
    one, two = tmp_path / "one.txt", tmp_path / "two.txt"
    one.write_text('{"type": "x", "timestamp": 5}\n{"type": "machine_unavailable", "resources": "1", "timestamp": 5}\n')
    two.write_text('{"type": "machine_available", "resources": "0", "timestamp": 5}\n{"type": "y", "timestamp": 1}\n')
    events = read_external([one, two], 4, unknown=True)
    assert [event.kind for event in events] == ["y", "machine_unavailable", "x", "machine_available"]


def test_options_are_known_by_name() -> None:
    assert Rules.of({"dynamic": True}) == Rules(dynamic=True)
    with pytest.raises(InputError, match="there is no option 'dynamics'"):
        Rules.of({"dynamics": True})
    with pytest.raises(InputError, match="dynamic cannot be 1"):
        Rules.of({"dynamic": 1})


def test_a_policy_is_written_with_its_socket() -> None:
    short = parse_policy("batsim:tcp://localhost:28000")
    assert short.text == "batsim(socket='tcp://localhost:28000')"
    assert parse_policy(short.text) == short
    long = parse_policy("batsim(command='batsched -v easy_bf -s {socket}', dynamic=True)")
    assert long.plugin is not None and long.plugin.arguments["dynamic"] is True


def test_hosts_of_two_speeds_are_two_groups() -> None:
    platform = Platform([Host("a0", (1e9,)), Host("a1", (2e9,)), Host("a2", (2e9,)), Host("b-1.x.org", (1e9,))])
    groups = nodes_of(platform, "m").groups
    assert [(group.name, group.count, group.speed) for group in groups] == [
        ("a0", 1, 1e9),
        ("a[1-2]", 2, 2e9),
        ("b-1.x.org", 1, 1e9),
    ]


def test_of_many_mistakes_the_others_are_counted(tmp_path: Path) -> None:
    jobs = [{"id": number, "subtime": 0, "res": 1, "profile": "nowhere"} for number in range(100)]
    path = tmp_path / "w.json"
    path.write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": {"a": {"type": "delay", "delay": 1}}}))
    with pytest.raises(InputErrors) as told:
        Documents.read([path]).workload()
    assert len(told.value.errors) == 21
    assert "and 80 more mistakes" in str(told.value)


def test_a_field_of_the_schedulers_that_cannot_be_told(tmp_path: Path) -> None:
    file = write_workload(tmp_path, [{"id": 1}])
    file.write_text(file.read_text().replace('"id": 1', '"id": 1, "note": 1e400'))
    with pytest.raises(InputError, match="job 1: Number out of range") as error:
        talk(file, Fcfs(4))
    assert error.value.where == str(file)
