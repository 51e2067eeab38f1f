"""Jobs of Batsim on a platform under policies of schedlab: the times of their profiles there."""

import json
from dataclasses import replace

import pytest
from tests.batsim_platforms import STAR, save

import schedlab as sl
from schedlab.cluster.read import read_cluster
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.workload.read import read_workload

PROFILES = {
    "work": {"type": "parallel_homogeneous", "cpu": 5e8, "com": 1e7},
    "send": {"type": "parallel_homogeneous", "cpu": 0, "com": 1e8},
    "load": {"type": "parallel_homogeneous_pfs", "bytes_to_read": 5e6},
    "wait": {"type": "delay", "delay": 3},
    "replay": {"type": "usage_trace", "trace": "t.txt"},
}


def job(number, profile, res, **more):
    return {"id": number, "subtime": 10 * number, "walltime": 8, "res": res, "profile": profile} | more


def workload(folder, *jobs, **more):
    path = folder / "w.json"
    (folder / "t.txt").write_text("r.txt\n")
    (folder / "r.txt").write_text("0 m_usage 1 2e9\n")
    used = {name: PROFILES[name] for one in jobs for name in [one["profile"]]}
    path.write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": used} | more))
    return path


def lasted(run):
    return dict(zip(run.jobs["job"], (run.jobs["end"] - run.jobs["start"]).round(9), strict=True))


@pytest.fixture
def star(tmp_path):
    return save(tmp_path, STAR)


def test_profiles_take_their_time_on_the_nodes(tmp_path, star):
    path = workload(
        tmp_path, job(1, "work", 4), job(2, "work", 2), job(3, "wait", 1), job(4, "load", 2), job(5, "replay", 1)
    )
    run = sl.simulate(path, star, "easy", validate=True)
    # The rank of the trace says that it has ended: 4 bytes along its own links, with 4 ms of latency.
    assert lasted(run) == pytest.approx({1: 0.604, 2: 0.504, 3: 3.0, 4: 1.007, 5: 2.00400004}, abs=1e-8)
    assert run.config["execution"] == [{"name": "profiles", "model": "profiles"}]


def test_jobs_at_the_same_time_share_the_backbone(tmp_path, star):
    path = workload(tmp_path, job(1, "send", 2), job(2, "send", 2, subtime=10))
    assert lasted(sl.simulate(path, star, "fcfs", validate=True)) == pytest.approx({1: 2.004, 2: 2.004}, abs=1e-8)


def test_elsewhere_times_are_those_of_the_reference(tmp_path, star):
    path = workload(tmp_path, job(1, "work", 4))
    assert lasted(sl.simulate(path, "4x1", "easy")) == {1: 0.5}
    assert lasted(sl.simulate(read_workload(path), star, "easy")) == {1: 0.5}  # it was read without the machine


def test_jobs_without_a_walltime_have_no_limit(tmp_path, star):
    path = workload(
        tmp_path, job(1, "work", 4, walltime=-1), job(2, "load", 2, walltime=-1), job(3, "wait", 1, walltime=-1)
    )
    workload_read = read_workload(path, hosts=4, max_procs=4)
    (batch,) = workload_read.batches()
    assert batch.limit.tolist() == [float("inf"), float("inf"), 3.0]
    assert lasted(sl.simulate(path, star, "easy")) == pytest.approx({1: 0.604, 2: 1.007, 3: 3.0}, abs=1e-8)


def test_walltimes_end_jobs(tmp_path, star):
    run = sl.simulate(workload(tmp_path, job(1, "work", 4, walltime=0.25)), star, "easy")
    assert lasted(run) == {1: 0.25}
    assert run.jobs["state"].to_list() == ["killed"]


def test_types_that_nobody_can_time_are_refused(tmp_path, star):
    PROFILES["talk"] = {"type": "send", "msg": {}}
    with pytest.raises(InputError, match="of type send, which has no run time"):
        sl.simulate(workload(tmp_path, job(1, "talk", 1)), star, "easy")


def test_a_host_of_several_cores_is_one_host(tmp_path):
    star = save(tmp_path, STAR.replace('radical="0-3" speed="1Gf"', 'radical="0-3" speed="1Gf" core="8"'))
    path = workload(tmp_path, job(1, "work", 4), job(2, "wait", 3, subtime=10), job(3, "wait", 2, subtime=10))
    run = sl.simulate(path, star, "fcfs", validate=True)
    assert lasted(run)[1] == pytest.approx(0.604)
    starts = dict(zip(run.jobs["job"], run.jobs["start"], strict=True))
    assert starts == pytest.approx({1: 10.0, 2: 10.604, 3: 13.604})  # three hosts and two do not fit beside each other


def test_what_is_done_to_a_workload_does_not_change_profiles(tmp_path, star):
    path = workload(tmp_path, job(7, "work", 4), job(8, "work", 2))
    read = read_workload(path, hosts=4, max_procs=4)
    (batch,) = read.batches()
    renumbered = replace(batch, id=batch.id + 100)
    changed = replace(read, source=lambda: iter((renumbered,)))
    run = sl.simulate(changed, star, "easy")
    assert sorted(lasted(run).values()) == pytest.approx([0.504, 0.604])


def test_a_run_with_checkpoints_goes_on(tmp_path, star):
    from schedlab.engine.checkpoint import Checkpoint

    jobs = [job(number, "send", 2, subtime=10 * (number // 2)) for number in range(1, 9)]
    path = workload(tmp_path, *jobs)
    whole = sl.simulate(path, star, "easy", out=tmp_path / "whole")
    kept = sl.simulate(path, star, "easy", out=tmp_path / "kept", checkpoint=Checkpoint(tmp_path / "c", 0.0, {}))
    assert kept.jobs.equals(whole.jobs)


def test_a_platform_is_kept_with_the_run(tmp_path, star):
    cluster = read_cluster(star)
    again = Cluster.from_dict(json.loads(json.dumps(cluster.to_dict())))
    assert again == cluster
    assert again.network.others[0].properties == {"role": "master"}
    run = sl.simulate(workload(tmp_path, job(1, "work", 4)), star, "easy", out=tmp_path / "run")
    assert run.cluster.network == cluster.network


def test_hosts_have_to_have_a_speed(tmp_path):
    star = save(tmp_path, STAR.replace('radical="0-3" speed="1Gf"', 'radical="0-3" speed="0f"'))
    with pytest.raises(InputError, match=r"h\[0-3\] has no speed above 0"):
        sl.simulate(workload(tmp_path, job(1, "work", 4)), star, "easy")
