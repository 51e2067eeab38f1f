"""What `sbatch --dependency` says, and which predecessors that makes."""

import pytest
from tests.batches import after

from schedlab.model.predecessors import COMPLETED, ENDED, NOT_COMPLETED, STARTED, Predecessor, Predecessors
from schedlab.workload.options import ReadOptions
from schedlab.workload.slurm.dependency import (
    ARRAY_OR,
    FAILED_THERE,
    WHOLE_ARRAY_FAILS,
    Dependency,
    Wait,
    dependency_of_line,
    dependency_texts,
    parse_dependency,
    predecessors,
)
from schedlab.workload.slurm.order import dependency
from schedlab.workload.slurm.read import read_slurm_events
from schedlab.workload.slurm.sbatch import OptionError
from schedlab.workload.slurm.waiting import ABSENT, NAMELESS, SINGLETON_OR
from schedlab.workload.slurm.write import write_slurm_events


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("afterok:12", Dependency((Wait("afterok", 12),), told="afterok:12")),
        ("AfterOK:jobid_12", Dependency((Wait("afterok", 12),), told="afterok:jobid_12")),
        ("12", Dependency((Wait("afterany", 12),), told="afterany:12")),
        (
            "afterok:12:13,afterany:14_2",
            Dependency(
                (Wait("afterok", 12), Wait("afterok", 13), Wait("afterany", 14, 2)), told="afterok:12:13,afterany:14_2"
            ),
        ),
        ("afterok:12(unfulfilled)", Dependency((Wait("afterok", 12),), told="afterok:12")),
        (
            "afterany:12?afternotok:13",
            Dependency((Wait("afterany", 12), Wait("afternotok", 13)), any=True, told="afterany:12?afternotok:13"),
        ),
        ("after:12+5", Dependency((Wait("after", 12, None, 5),), told="after:12+5")),
        ("afterok:12+1", Dependency((Wait("afterok", 13),), told="afterok:12+1")),  # a component
        ("aftercorr:5_*", Dependency((Wait("aftercorr", 5),), told="aftercorr:5_*")),
        (
            "afterok:13:$JOB:12_3,singleton",
            Dependency((Wait("afterok", 13), Wait("afterok", 12, 3)), singleton=True, told="afterok:13:12_3", lost=2),
        ),
        ("singleton", Dependency(singleton=True, lost=1)),
        ("expand:12", Dependency(lost=1)),
        ("", Dependency()),
    ],
)
def test_what_is_written(text, expected):
    assert parse_dependency(text) == expected


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("sbatch --dependency=afterok:12 run.sh", "afterok:12"),
        ("sbatch --dependency afterok:12 run.sh", "afterok:12"),
        ("sbatch -d afterany:7:8 run.sh", "afterany:7:8"),
        ("sbatch -dafterany:7 run.sh", "afterany:7"),
        ("sbatch -d after:7 run.sh", "after:7"),
        ("sbatch run.sh -d data", ""),
        ("sbatch run.sh", ""),
    ],
)
def test_dependencies_in_command_lines(line, told):
    assert dependency_of_line(line).told == told


def test_an_option_has_to_make_sense():
    assumed = []
    assert dependency("afterany:jobid_7", assumed).waits == (Wait("afterany", 7),)
    assert dependency("7:8", assumed).waits == (Wait("afterany", 7), Wait("afterany", 8))
    assert not assumed
    dependency("expand:3", assumed)
    assert assumed == ["dependency: expand is not used"]
    with pytest.raises(OptionError, match="afterok:1001"):
        dependency("afterok:x", [])


IDS = {(1, None): [1], (2, None): [20, 21, 22], (2, 0): [20], (2, 1): [21], (2, 2): [22]}


def meant(text, **more):
    noted = []
    found = predecessors(parse_dependency(text), lambda *job: IDS.get(job, []), noted.append, absent=ABSENT, **more)
    return found and [tuple(one) for one in found.jobs], noted


def test_who_is_meant():
    assert meant("afterany:1") == ([(1, ENDED, 0)], [])
    assert meant("afterok:1:2_1") == ([(1, COMPLETED, 0), (21, COMPLETED, 0)], [])
    assert meant("after:1+5") == ([(1, STARTED, 300)], [])
    assert meant("afternotok:1") == ([(1, NOT_COMPLETED, 0)], [])
    assert meant("afterany:7,afterany:2_7") == (None, [ABSENT, ABSENT])
    assert meant("afterok:2") == ([(20, COMPLETED, 0), (21, COMPLETED, 0), (22, COMPLETED, 0)], [])
    assert meant("aftercorr:2", task=1) == ([(21, COMPLETED, 0)], [])
    assert meant("aftercorr:2", task=5) == (None, [ABSENT])
    assert meant("aftercorr:1") == ([(1, COMPLETED, 0)], [])


def test_what_is_made_simpler():
    assert meant("afternotok:2")[1] == [WHOLE_ARRAY_FAILS]
    assert {one[1] for one in meant("afternotok:2")[0]} == {ENDED}
    assert meant("afternotok:1", ran=True) == ([(1, ENDED, 0)], [FAILED_THERE])
    assert meant("afterany:2?afterany:1")[1] == [ARRAY_OR]


def test_texts():
    before = Predecessors.of(
        [
            [Predecessor(1, STARTED, 300.0), Predecessor(2, COMPLETED)],
            [],
            [Predecessor(3), Predecessor(4, NOT_COMPLETED)],
        ],
        [False, False, True],
    )
    assert dependency_texts(before) == ["after:1+5,afterok:2", "", "afterany:3?afternotok:4"]


def line(options, dt=0):
    return f"-dt {dt} -e submit_batch_job | -sim-walltime 60 -t 5 {options} pseudo.job\n"


@pytest.fixture
def read(tmp_path):
    def reader(*lines):
        path = tmp_path / "jobs.events"
        path.write_text("".join(lines))
        return read_slurm_events(path, ReadOptions())

    return reader


def test_arrays_in_event_files(read):
    workload = read(
        line("-J jobid_1 --array=3-5"),
        line("-J jobid_2 -d afterany:1 ", dt=1),
        line("-J jobid_3 -d aftercorr:1 --array=4-6", dt=2),
        line("-J jobid_4 -d afterok:1_3?after:3_5+1", dt=3),
    )
    (jobs,) = workload.batches()
    assert jobs.names == ("1_3", "1_4", "1_5", "2", "3_4", "3_5", "3_6", "4")
    assert [[one.job for one in some] for some in jobs.predecessors.lists()] == [
        *([], [], [], [1, 2, 3], [2], [3], [], [1, 6]),
    ]
    assert jobs.predecessors.lists()[-1] == [Predecessor(1, COMPLETED), Predecessor(6, STARTED, 60.0)]
    assert jobs.predecessors.any.tolist() == [0, 0, 0, 0, 0, 0, 0, 1]
    assert workload.report.filled[ABSENT] == 1  # 1_6 is not there
    assert workload.dependencies[4] == "afterany:1"  # the real Slurm is told as it is written


def test_singletons(read):
    """All earlier jobs of the same user and name; one that is a singleton stands for those before it."""
    workload = read(
        line("-J a --uid=u"),
        line("-J a --uid=u", dt=1),
        line("-J a --uid=v", dt=2),
        line("-J a --uid=u -d singleton", dt=3),
        line("-J a --uid=u -d afterok:9,singleton", dt=4),
        line("-J b --uid=u -d singleton", dt=5),
        line("--uid=u -d singleton", dt=6),
        line("-J a --uid=u -jid 9", dt=7),
        line("-J a --uid=u -d afterok:9?singleton", dt=8),
    )
    (jobs,) = workload.batches()
    found = [[one.job for one in some] for some in jobs.predecessors.lists()]
    assert found == [[], [], [], [1, 2], [8, 4], [], [], [], [8]]
    filled = workload.report.filled
    assert (filled[NAMELESS], filled[SINGLETON_OR]) == (1, 1)


def test_what_is_written_is_read_again(read, tmp_path):
    texts = ("afterok:1:2", "after:1+5?afternotok:2", "afterany:3,after:4")
    workload = read(
        line("-J jobid_1"),
        line("-J jobid_2"),
        *(line(f"-J jobid_{3 + number} -d {text}", dt=number + 1) for number, text in enumerate(texts)),
    )
    write_slurm_events(tmp_path / "again.events", workload)
    again = read_slurm_events(tmp_path / "again.events", ReadOptions())
    (first,), (second,) = workload.batches(), again.batches()
    assert first.predecessors.lists() == second.predecessors.lists()
    assert first.predecessors.any.tolist() == second.predecessors.any.tolist() == [0, 0, 0, 1, 0]
    assert after(second) == [-1, -1, 1, 1, 3]
