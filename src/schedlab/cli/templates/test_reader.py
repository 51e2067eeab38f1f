"""Two jobs on one core, out of order in the file."""

from mine import read_table

import schedlab as sl


def test_a_table(tmp_path):
    log = tmp_path / "two.csv"
    log.write_text("submitted,ran,asked_for,processors,user\n50,10,20,1,3\n0,100,200,1,4\n")
    jobs = read_table(log)
    run = sl.simulate(jobs, sl.Cluster.of_cores(1), "fcfs")
    assert jobs.name == "two"
    assert run.jobs["user"].to_list() == [4, 3]
    assert run.jobs["start"].to_list() == [0, 100]
