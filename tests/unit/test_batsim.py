"""Batsim workloads: every profile by hand, every refusal, and all of Batsim's own."""

import gzip
import json

import numpy as np
import pytest
from tests.batsim_workloads import DELAY, job, read, save

from schedlab.model.errors import InputError, InputErrors
from schedlab.workload.batsim.quantity import quantity
from schedlab.workload.batsim.read import looks_like, write_batsim
from schedlab.workload.options import ReadOptions

DROP = ReadOptions(bad_rows="drop")


def runtime_of(folder, profile, res=1, more=None, **options):
    path = save(folder, [job(res=res, profile="p")], {"p": profile} | (more or {}))
    jobs, workload = read(path, **options)
    return jobs.runtime[0], workload.report.filled


@pytest.mark.parametrize("kind", ["delay", "DelayProfile"])
def test_delay(tmp_path, kind):
    assert runtime_of(tmp_path, {"type": kind, "delay": 20.2}) == (20.2, {})


@pytest.mark.parametrize("kind", ["parallel", "msg_par", "ptask", "ParallelTaskProfile"])
def test_the_host_with_most_to_compute_decides(tmp_path, kind):
    profile = {"type": kind, "cpu": [5e9, 0, 7e9], "com": [0, 1, 0, 0, 0, 0, 0, 0, 0]}
    filled = {"run time: computation at 1 Gf/s": 1, "run time: without communication": 1}
    assert runtime_of(tmp_path, profile, res=3) == (7.0, filled)


def test_parallel_without_communication(tmp_path):
    seconds, filled = runtime_of(tmp_path, {"type": "parallel", "cpu": [1e9, 3e9]}, res=2)
    assert (seconds, filled) == (3.0, {"run time: computation at 1 Gf/s": 1})


@pytest.mark.parametrize("kind", ["parallel_homogeneous", "msg_par_hg", "ptask_homogeneous"])
def test_every_host_computes_that_much(tmp_path, kind):
    assert runtime_of(tmp_path, {"type": kind, "cpu": 6e9, "com": 0}, res=3)[0] == 6.0


@pytest.mark.parametrize("kind", ["parallel_homogeneous_total", "msg_par_hg_tot"])
def test_hosts_share_what_is_to_be_computed(tmp_path, kind):
    assert runtime_of(tmp_path, {"type": kind, "cpu": 6e9, "com": 0}, res=3)[0] == 2.0


@pytest.mark.parametrize(
    ("strategy", "seconds"), [("DefinedAmountsUsedForEachValue", 6.0), ("DefinedAmountsSpreadUniformly", 2.0)]
)
def test_generation_strategies_of_version_5(tmp_path, strategy, seconds):
    profile = {"type": "ParallelTaskHomogeneousProfile", "cpu": 6e9, "com": 0, "generation_strategy": strategy}
    assert runtime_of(tmp_path, profile, res=3)[0] == seconds


@pytest.mark.parametrize("kind", ["composed", "sequence", "SequentialCompositionProfile"])
@pytest.mark.parametrize(("times", "seconds"), [({}, 14.0), ({"repeat": 4}, 56.0), ({"nb": 2}, 28.0)])
def test_sequences_take_the_sum(tmp_path, kind, times, seconds):
    more = {
        "d": {"type": "delay", "delay": 10},
        "t": {"type": "parallel_homogeneous_total", "cpu": 8e9, "com": 0},
        "inner": {"type": "composed", "repeat": 2, "seq": ["t"]},  # twice 8e9 / 4 hosts
    }
    assert runtime_of(tmp_path, {"type": kind, "seq": ["d", "inner"]} | times, res=4, more=more)[0] == seconds


def test_another_speed(tmp_path):
    profile = {"type": "parallel_homogeneous", "cpu": 1e9, "com": 0}
    assert runtime_of(tmp_path, profile, speed=1e8) == (10.0, {"run time: computation at 0.1 Gf/s": 1})
    with pytest.raises(InputError, match="speed cannot be 0"):
        runtime_of(tmp_path, profile, speed=0)


FIELDS = {"trace": "t.txt", "bytes_to_read": 1, "nb_bytes": 1, "from": "a", "to": "b"}  # what these types need
NO_RUNTIME = {
    "smpi": "a trace file",
    "usage_trace": "a trace file",
    "TraceReplayProfile": "a trace file",
    "parallel_homogeneous_pfs": "a storage",
    "msg_par_hg_pfs0": "a storage",
    "ParallelTaskOnStorageHomogeneousProfile": "a storage",
    "data_staging": "a storage",
    "ParallelTaskDataStagingBetweenStoragesProfile": "a storage",
    "send": "the scheduler answers",
    "recv": "the scheduler answers",
    "ForkJoinCompositionProfile": "does not run it",
    "made_up": "no such type",
}


@pytest.mark.parametrize("kind", NO_RUNTIME)
def test_types_without_a_run_time(tmp_path, kind):
    path = save(tmp_path, [job(1), job(2, profile="x")], DELAY | {"x": {"type": kind} | FIELDS})
    with pytest.raises(InputError, match=rf"w\.json, job 2: profile 'x' is of type {kind}, .*{NO_RUNTIME[kind]}"):
        read(path)
    jobs, workload = read(path, DROP)
    assert jobs.id.tolist() == [1]
    (reason,) = workload.report.dropped
    assert reason.startswith(f"profile type {kind}: ")
    assert NO_RUNTIME[kind] in reason


def test_all_types_without_a_run_time_are_named_at_once(tmp_path):
    profiles = DELAY | {
        "trace": {"type": "smpi", "trace": "t.txt"},
        "io": {"type": "data_staging", "nb_bytes": 1, "from": "a", "to": "b"},
        "seq": {"type": "composed", "seq": ["d", "io"]},
    }
    path = save(tmp_path, [job("a", profile="trace"), job("b", profile="seq"), job("c", profile="trace")], profiles)
    with pytest.raises(InputErrors) as caught:
        read(path)
    first, second = caught.value.errors
    assert str(first).startswith(f"{path}, job \"a\": profile 'trace' is of type smpi")
    assert "2 jobs have it" in str(first)
    assert str(second).startswith(f"{path}, job \"b\": profile 'seq' contains 'io' of type data_staging")
    with pytest.raises(InputError, match=r"no usable job among 3: 2 profile type smpi.*; 1 profile type data_staging"):
        read(path, DROP)


def test_jobs_that_only_communicate(tmp_path):
    profiles = DELAY | {"net": {"type": "parallel_homogeneous", "cpu": 0, "com": 1e6}}
    path = save(tmp_path, [job(1), job(2, profile="net")], profiles)
    assert read(path)[1].report.dropped == {"run time 0: its profile only communicates": 1}
    jobs, workload = read(path, ReadOptions(clean="none"))
    assert jobs.runtime.tolist() == [10, 0]
    assert workload.report.filled == {"run time: without communication": 1}


def test_limits(tmp_path):
    path = save(tmp_path, [job(1), job(2, walltime=-1), job(3, walltime=...), job(4, walltime=None)])
    jobs, workload = read(path)
    assert jobs.limit.tolist() == [100, 10, 10, 10]
    assert workload.report.filled == {"limit: run time": 3}
    jobs, workload = read(path, ReadOptions(missing_limit=3600))
    assert jobs.limit.tolist() == [100, 3600, 3600, 3600]
    assert workload.report.filled == {"limit: given number": 3}


def test_strict(tmp_path):
    path = save(tmp_path, [job(1, walltime=4), job(2, walltime=-1), job(3, res=3), job(4)])
    jobs, workload = read(path, ReadOptions(clean="strict", max_procs=2))
    assert (jobs.id.tolist(), jobs.runtime.tolist()) == ([1, 4], [4, 10])
    assert workload.report.dropped == {"larger than the machine": 1, "requested time 0 or unknown": 1}
    assert workload.report.filled == {"run time: cut to the requested time": 1}


def test_what_else_the_jobs_have(tmp_path):
    jobs = [
        job(1, subtime=5, user="bob", queue=3, color="red"),
        job(2, subtime=2, user="amy"),
        job(3, subtime=9, user="bob", res=0),
    ]
    found, workload = read(save(tmp_path, jobs, description="two jobs", version=3))
    assert found.id.tolist() == [2, 1]
    assert [workload.labels["user"][number] for number in found.user] == ["amy", "bob"]
    assert found.queue.tolist() == [-1, 3]
    assert workload.header == {"MaxProcs": "4", "Note": "two jobs"}
    assert workload.name == "w"
    assert workload.report.dropped == {"asks for 0 hosts": 1}
    assert workload.report.unkept == {
        "field 'color'": 1,
        "field 'version' of the file": 2,
    }


def test_fields_of_profiles(tmp_path):
    """Batkube's profiles say what a pod asks for; the rest is counted."""
    profiles = {
        "small": {"type": "delay", "delay": 3, "cpu": "500m", "memory": "64Mi", "scheduler": "default"},
        "large": {"type": "DelayProfile", "delay": 3, "cpu": 2, "memory": "1G"},
        "odd": {"type": "delay", "delay": 3, "cpu": "many", "command": "a.out"},
        "both": {"type": "composed", "seq": ["small", "large"], "np": 4},
    }
    jobs = [job(number, profile=name, res=3) for number, name in enumerate(profiles, 1)]
    path = save(tmp_path, jobs, profiles)
    batch, workload = read(path, ReadOptions(requests="full"))
    asked = [workload.requests[place].chunk for place in batch.request]
    large = {"cores": 2, "memory": 10**9}
    assert asked == [{"cores": 1, "memory": 64 * 2**20}, large, {"cores": 1}, large]
    assert batch.count.tolist() == [3] * 4
    assert workload.report.filled == {"cores of a host: rounded up to whole ones": 1}
    assert workload.report.unkept == {
        "field 'command' of the profile": 1,
        "field 'cpu' of the profile": 1,
        "field 'np' of the profile": 1,
        "field 'scheduler' of the profile": 2,
    }
    batch, workload = read(path, ReadOptions(requests="cores"))
    assert [workload.requests[place].chunk["cores"] for place in batch.request] == [1, 2, 1, 2]
    assert all("memory" not in request.chunk for request in workload.requests)
    assert workload.report.unkept["memory of the profile"] == 3


@pytest.mark.parametrize(
    ("text", "amount"),
    [("1", 1), (2.5, 2.5), ("500m", 0.5), ("1e3", 1000), ("2k", 2000), ("3Mi", 3 * 2**20), ("1.5G", 1.5e9)],
)
def test_quantities(text, amount):
    assert quantity(text) == amount


@pytest.mark.parametrize("text", ["", "many", "-1", -1, None, True, [1], "1 Gi", "1Q", float("nan"), "9" * 50])
def test_no_quantities(text):
    assert quantity(text) is None


def test_return_codes_are_counted(tmp_path):
    path = save(tmp_path, [job()], {"d": {"type": "delay", "delay": 3, "ret": 1}})
    assert read(path)[1].report.unkept == {"return code of the profile": 1}


def test_without_nb_res_the_largest_job_tells(tmp_path):
    path = tmp_path / "w.json"
    path.write_text(json.dumps({"jobs": [job(1, res=3), job(2)], "profiles": DELAY}))
    workload = read(path)[1]
    assert workload.header == {"MaxProcs": "3"}
    assert workload.report.filled == {"machine: as large as the largest job (no nb_res)": 1}


def test_ids(tmp_path):
    jobs, _ = read(save(tmp_path, [job("12"), job(7, subtime=1)]))
    assert (jobs.id.tolist(), jobs.names) == ([12, 7], None)
    jobs, _ = read(save(tmp_path, [job("w0!2", subtime=3), job(7), job("01")]))
    assert (jobs.id.tolist(), jobs.names) == ([1, 2, 3], ("7", "01", "w0!2"))


WRONG_JOBS = [
    (3, r"jobs\[1\]: is 3, expected an object"),
    ({}, r"jobs\[1\]: is an empty object"),
    (job(...), r"jobs\[1\]: 'id' is missing"),
    (job(1.5), r"jobs\[1\]: 'id' is 1.5"),
    (job(True), r"'id' is true"),
    (job(-4), r"job -4: 'id' is -4"),
    (job("first"), r"job \"first\": jobs\[1\] has the 'id' of jobs\[0\]"),
    (job("x", subtime=...), r"job \"x\": 'subtime' is missing, expected a time"),
    (job("x", subtime=-1), r"'subtime' is -1"),
    (job("x", subtime="now"), r"'subtime' is \"now\""),
    (job("x", subtime=10**400), r"'subtime' is a number of more than 70 digits"),
    (job("x", subtime=float("nan")), r"'subtime' is NaN"),
    (job("x", res=...), r"'res' is missing, expected a whole number of hosts"),
    (job("x", res=1.5), r"'res' is 1.5"),
    (job("x", res=-1), r"'res' is -1"),
    (job("x", res=True), r"'res' is true"),
    (job("x", walltime=0), r"'walltime' is 0, expected seconds above 0, or -1 for none"),
    (job("x", walltime="1h"), r"'walltime' is \"1h\""),
    (job("x", profile=...), r"'profile' is missing"),
    (job("x", profile=["d"]), r"'profile' is a list of 1"),
    (job("x", profile="dd"), r"'profile' is 'dd', which is not there\n  hint: did you mean 'd'\?"),
    (job("x", profile="two"), r"'res' is 1, its profile 'two' is for 2 hosts"),
]


@pytest.mark.parametrize(("wrong", "message"), WRONG_JOBS)
def test_wrong_jobs(tmp_path, wrong, message):
    path = save(tmp_path, [job("first"), wrong], DELAY | {"two": {"type": "parallel", "cpu": [1, 1]}})
    with pytest.raises(InputError, match=rf"w\.json, .*{message}"):
        read(path)
    jobs, workload = read(path, DROP)
    assert jobs.names == ("first",)
    assert workload.report.dropped == {"bad row": 1}
    assert len(workload.report.bad_rows) == 1


WRONG_PROFILES = [
    (5, "is 5, expected an object with a type"),
    ({}, "'type' is missing"),
    ({"type": "delay"}, "'delay' is missing, expected a number of seconds"),
    ({"type": "delay", "delay": -1}, "'delay' is -1"),
    ({"type": "delay", "delay": "ten"}, "'delay' is \"ten\""),
    ({"type": "delay", "delay": 1e20}, "takes more than 1e\\+18 s"),
    ({"type": "delay", "delay": 1, "ret": "bad"}, "'ret' is \"bad\""),
    ({"type": "parallel"}, "has neither 'cpu' nor 'com'"),
    ({"type": "parallel", "cpu": 5}, "'cpu' is 5, expected a list"),
    ({"type": "parallel", "cpu": [1, "x"]}, r"'cpu\[1\]' is \"x\""),
    ({"type": "parallel", "cpu": [1, 2], "com": [0, 0]}, r"'com' has 2 amounts, expected 4 \(2 × 2 hosts\)"),
    ({"type": "parallel_homogeneous", "com": 0}, "'cpu' is missing, expected a number of flops"),
    ({"type": "parallel_homogeneous", "cpu": 1, "com": "x"}, "'com' is \"x\", expected a number of bytes"),
    ({"type": "parallel_homogeneous", "cpu": 1, "generation_strategy": 4}, "'generation_strategy' is 4"),
    ({"type": "composed"}, "'seq' is missing"),
    ({"type": "composed", "seq": []}, "'seq' is an empty list"),
    ({"type": "composed", "seq": ["d"], "repeat": 0}, "'repeat' is 0"),
    ({"type": "composed", "seq": ["q"]}, "'seq' has 'q', which is not there"),
    ({"type": "composed", "seq": ["x"]}, "'seq' comes back to itself: x → x"),
    ({"type": "composed", "seq": ["d"], "repeat": 10**18}, "takes more than 1e\\+18 s"),
]


@pytest.mark.parametrize(("wrong", "message"), WRONG_PROFILES)
def test_wrong_profiles(tmp_path, wrong, message):
    path = save(tmp_path, [job(1), job(2, profile="x")], DELAY | {"x": wrong})
    with pytest.raises(InputError, match=rf"w\.json, profile 'x': {message}"):
        read(path)
    assert read(path, DROP)[1].report.dropped == {"bad row": 1}
    unused = save(tmp_path, [job(1)], DELAY | {"x": wrong})
    with pytest.raises(InputError, match="profile 'x'"):
        read(unused)


def test_a_circle_through_several_sequences(tmp_path):
    profiles = {name: {"type": "composed", "seq": [after]} for name, after in ("ab", "bc", "ca")}
    with pytest.raises(InputError, match="profile 'c': 'seq' comes back to itself: a → b → c → a"):
        read(save(tmp_path, [job(profile="a")], profiles))


def test_sequences_nested_too_deep(tmp_path):
    profiles = {f"p{n}": {"type": "composed", "seq": [f"p{n + 1}"]} for n in range(5000)}
    profiles["p5000"] = DELAY["d"]
    with pytest.raises(InputError, match="nested more than 100 deep"):
        read(save(tmp_path, [job(profile="p0")], profiles))


def test_all_mistakes_at_once(tmp_path):
    path = save(tmp_path, [job(1, res="x", subtime="y"), job(2, walltime=0), job(3, profile="no")])
    with pytest.raises(InputErrors) as caught:
        read(path)
    assert len(caught.value.errors) == 4
    path = save(tmp_path, [job(number, res=-1) for number in range(100)])
    with pytest.raises(InputErrors, match="and 80 more mistakes") as caught:
        read(path)
    assert len(caught.value.errors) == 21


WRONG_FILES = [
    ('{"jobs": [\n  {"id": 1,}\n]}', r"w\.json, line 2, column 12: is not JSON"),
    ("[1]", "is JSON, but a list of 1, expected an object"),
    ("{}", r"'jobs' is missing(.|\n)*'profiles' is missing"),
    ('{"jobs": {}, "profiles": {}}', "'jobs' is an empty object, expected a list"),
    ('{"jobs": [], "profiles": {}}', "'jobs' is empty"),
    ('{"nb_res": 0, "jobs": [], "profiles": {}}', "'nb_res' is 0"),
    ("[" * 100_000, "cannot be read as JSON"),
    ('{"jobs": ' + "9" * 5000 + "}", "cannot be read as JSON"),
    ("<?xml version='1.0'?><platform></platform>", "is a SimGrid platform, not a workload"),
    ("<html></html>", "is XML, not a workload"),
]


@pytest.mark.parametrize(("text", "message"), WRONG_FILES)
def test_wrong_files(tmp_path, text, message):
    path = tmp_path / "w.json"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read(path)


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "w.json"
    path.write_bytes(b'{\n"jobs": "\xff"}')
    with pytest.raises(InputError, match=r"w\.json, line 2: is not UTF-8 text"):
        read(path)


def test_recognition():
    assert looks_like('\n{"nb_res": 4, "jobs": [', "w.json")
    assert looks_like('{"jobs": [{"id": 1, "subtime": 0', "w.json")
    assert not looks_like('{"meta": {}, "jobs": [{"account": "a"', "sacct.json")
    assert not looks_like("<platform>", "p.xml")
    assert not looks_like("; Version: 2.2", "log.swf")


# What the samples hold that has no run time: jobs left, and the types.
STORAGE, TRACE = "ParallelTaskOnStorageHomogeneousProfile", "TraceReplayProfile"
REFUSED = {
    "test_smpi_collectives": (0, TRACE),
    "test_smpi_compute_only": (0, TRACE),
    "test_smpi_mapping": (0, TRACE),
    "test_smpi_mixed_comp_comm": (0, TRACE),
    "test_tuto_stencil": (0, STORAGE),
    "test_usage_trace": (2, TRACE),
    "test_walltime_smpi": (0, TRACE),
}
ONLY_COMMUNICATE = {"test_homo_ptasks": 4, "test_ptasks": 8, "test_various_profile_types": 2}


def documents(traces):
    paths = [*sorted((traces / "batsim" / "workloads").glob("*.json.gz")), traces / "batsim/evalys-medium_late.json.gz"]
    assert len(paths) >= 41
    for path in paths:
        with gzip.open(path) as file:
            yield path, path.name.removesuffix(".json.gz"), json.load(file)


def test_all_of_batsims_own(traces):
    for path, name, document in documents(traces):
        count = len(document["jobs"])
        if name in REFUSED:
            left, kind = REFUSED[name]
            with pytest.raises(InputError, match=f"job .*of type {kind}, which has no run time"):
                read(path)
            if not left:
                with pytest.raises(InputError, match=f"no usable job among {count}: {count} profile type {kind}"):
                    read(path, DROP)
                continue
            jobs, workload = read(path, DROP)
            assert len(jobs) == left
        else:
            jobs, workload = read(path)
            assert len(jobs) == count - ONLY_COMMUNICATE.get(name, 0), name
        assert workload.report.records == count
        assert workload.header["MaxProcs"] == str(document["nb_res"])
        by_id = {str(one["id"]): one for one in document["jobs"]}
        assert len(by_id) == count
        for row, key in enumerate(jobs.names or jobs.id.tolist()):
            one = by_id[str(key)]
            assert (jobs.submit[row], jobs.count[row]) == (one["subtime"], one["res"])
            assert jobs.limit[row] == one.get("walltime", jobs.runtime[row])
            profile = document["profiles"][one["profile"]]
            if "delay" in profile:
                assert jobs.runtime[row] == profile["delay"]
            elif "expected_execution_time" in profile and not any(np.ravel(profile.get("com", 0))):
                assert jobs.runtime[row] == profile["expected_execution_time"]  # as Batsim itself takes


def test_all_of_batsims_own_there_and_back(traces, tmp_path):
    for path, name, _ in documents(traces):
        if REFUSED.get(name, (1,))[0]:
            before, workload = read(path, DROP)
            copy = tmp_path / f"{name}.json"
            assert write_batsim(copy, workload) == []
            after, _ = read(copy)
            assert after.names == before.names
            for column in ("id", "submit", "runtime", "limit", "count"):
                np.testing.assert_array_equal(getattr(after, column), getattr(before, column))
