"""Jobs that wait for each other as workflows: of scripts that call sbatch, and of logs."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.model.errors import InputError, InputErrors
from schedlab.model.workflow import Task
from schedlab.workflow.read import read_workflow, read_workflows

SCRIPT = r"""#!/bin/bash
# prep, then two side by side, then merge
set -e
N=8
prep=$(sbatch --parsable -n 4 -t 10 prep.sh)
left=$(sbatch --parsable --dependency=afterok:$prep \
        -n $N -t 1:00:00 --comment="runtime=40m" left.sh --deep)
right=$(sbatch -J wide -d afterok:${prep##* } -N 2 --ntasks-per-node=4 -t 30 right.sh | awk '{print $4}')
sbatch --dependency=afterok:$left:$right -t 5 lib/merge.sh   # the end
echo "sbatch is done"
"""

EVENTS = """
-dt 0 -e submit_batch_job | -J jobid_1 -sim-walltime 100 -t 00:10:00 -n 4 x.job
-dt 1 -e submit_batch_job | -J jobid_2 -sim-walltime 50 -t 00:10:00 -n 2 -d afterok:1 x.job
-dt 2 -e submit_batch_job | -J jobid_3 -sim-walltime 70 -t 00:20:00 -n 1 -c 3 -d afterany:1,afterok:2:99 x.job
-dt 3 -e submit_batch_job | -J jobid_4 -sim-walltime 70 -t 00:10:00 -n 2 x.job
-dt 4 -e submit_batch_job | -J jobid_5 -sim-walltime 60 -t 00:10:00 -n 2 x.job
-dt 5 -e submit_batch_job | -J jobid_6 -sim-walltime 7 -t 00:10:00 -n 2 -d after:5+1 x.job
"""
FIRST = (Task("1", 4, 100, 600), Task("2", 2, 50, 600, ("1",)), Task("3", 3, 70, 1200, ("1", "2")))

SACCT = """JobID|Submit|Start|End|Elapsed|Timelimit|AllocCPUS|NNodes|State|SubmitLine
7|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T00:10:00|00:10:00|00:20:00|4|1|COMPLETED|sbatch a.sh
8|2024-01-01T00:00:01|2024-01-01T00:10:00|2024-01-01T00:15:00|00:05:00|00:20:00|2|1|COMPLETED|sbatch -d afterok:7 b.sh
9|2024-01-01T00:00:02|2024-01-01T00:10:00|2024-01-01T00:15:00|00:05:00|00:20:00|2|1|COMPLETED|sbatch c.sh
"""


def written(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


def test_a_script_is_a_workflow(tmp_path: Path) -> None:
    found = read_workflow(written(tmp_path, "pipe.sh", SCRIPT))
    assert found.name == "pipe"
    assert found.tasks == (
        Task("prep", 4, 600, 600, (), "prep"),
        Task("left", 8, 2400, 3600, ("prep",), "left"),
        Task("wide", 8, 1800, 1800, ("prep",), "wide"),
        Task("merge", 1, 300, 300, ("left", "wide"), "merge"),
    )
    assert found.notes == ()


def test_the_same_script_again_arrays_and_options_inside_scripts(tmp_path: Path) -> None:
    """step.sh asks for 2 tasks and 10 min in its #SBATCH lines; the command line wins."""
    written(tmp_path, "step.sh", "#!/bin/sh\n#SBATCH -n 2\n#SBATCH --time=10  # minutes\nrun\n#SBATCH -n 9\n")
    text = "j=`sbatch step.sh`\nj=${j##* }\nj=$(sbatch -d $j -n 3 -a 1-2 step.sh)\nsbatch -d afterok:$j step.sh\n"
    found = read_workflow(written(tmp_path, "steps.sh", text))
    assert [(task.id, task.cores, task.runtime, task.after) for task in found.tasks] == [
        ("step", 2, 600, ()),
        ("step_1", 3, 600, ("step",)),
        ("step_2", 3, 600, ("step",)),
        ("step-2", 2, 600, ("step_1", "step_2")),
    ]
    assert found.notes == (
        "2 of 4 dependencies wait for the end of a job, however it ends (the handling can do that: failure=continue); "
        "a task waits for completion",
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("sbatch -t 5 --dependency=afterok:$b b.sh", "--dependency is 'afterok:$b', and $b is not known here"),
        ("sbatch -t 5 -d afterok:1234 b.sh", "--dependency is on job 1234, which this script does not submit"),
        ("sbatch -n 4 b.sh", "neither the run time of this job is known nor a limit"),
        ("sbatch -t 5 -n four b.sh", "-n, --ntasks is 'four', expected a whole number from 1 to 1,000,000,000"),
        ("sbatch --comment=runtime=long b.sh", "'long' is not a duration"),
        ("for i in 1 2; do sbatch -t 5 b.sh; done", "sbatch is not understood here (in a loop, condition or pipe)"),
        ("if x; then sbatch -t 5 b.sh; fi", "sbatch is not understood here (in a loop, condition or pipe)"),
        ("sbatch -t 5 'b.sh", "a quotation mark is not closed"),
    ],
)
def test_a_wrong_script(tmp_path: Path, line: str, message: str) -> None:
    path = written(tmp_path, "pipe.sh", f"a=$(sbatch -t 1 a.sh)\n\n{line}\n")
    with pytest.raises((InputError, InputErrors)) as raised:
        read_workflow(path)
    [error] = raised.value.errors if isinstance(raised.value, InputErrors) else [raised.value]
    assert (error.message, error.where) == (message, f"{path}:3")


def test_all_mistakes_at_once(tmp_path: Path) -> None:
    path = written(tmp_path, "pipe.sh", "for i in 1 2\ndo\n  sbatch -t 1 a.sh\ndone\nsbatch b.sh\nsbatch -t 3 c.sh\n")
    with pytest.raises(InputErrors) as raised:
        read_workflow(path)
    assert [error.where for error in raised.value.errors] == [f"{path}:3", f"{path}:5"]


def test_workflows_of_a_log(tmp_path: Path) -> None:
    path = written(tmp_path, "jobs.events", EVENTS)
    first, second = read_workflows(path)
    assert (first.name, first.tasks) == ("jobs-1", FIRST)
    assert (second.name, second.tasks) == ("jobs-5", (Task("5", 2, 60, 600), Task("6", 2, 7, 600, ("5",))))
    assert second.notes == (
        "1 of 1 dependencies wait for the start of a job; a task waits for completion",
        "1 of 1 dependencies have a delay, which is not used",
    )
    for job in "123":
        assert read_workflow(f"{path}:{job}").tasks == FIRST
    assert read_workflow(f"{path}:jobs-5") == second


def test_which_of_several_workflows_of_a_log(tmp_path: Path) -> None:
    path = written(tmp_path, "jobs.events", EVENTS)
    with pytest.raises(InputError, match="has 2 workflows") as raised:
        read_workflow(path)
    assert raised.value.hint == f"say which: {path}:1; there are 1 (3 jobs), 5 (2 jobs)"
    with pytest.raises(InputError, match="there is no workflow '4'") as raised:
        read_workflow(f"{path}:4")
    assert raised.value.hint == "there are 1 (3 jobs), 5 (2 jobs)"


def test_a_dump_of_the_accounting(tmp_path: Path) -> None:
    found = read_workflow(written(tmp_path, "dump.sacct", SACCT))
    assert found.name == "dump"
    assert [(task.id, task.cores, task.runtime, task.limit, task.after) for task in found.tasks] == [
        ("7", 4, 600, 1200, ()),
        ("8", 2, 300, 1200, ("7",)),
    ]


def test_a_log_in_which_nobody_waits(tmp_path: Path) -> None:
    path = written(tmp_path, "jobs.events", EVENTS.splitlines()[1])
    with pytest.raises(InputError, match="no job of this log waits for another"):
        read_workflow(path)
