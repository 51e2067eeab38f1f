"""What lessons play is what the command line plays: their commands, run as they are shown, and `schedlab why`."""

import json
import shlex

from tests.commands import schedlab

from schedlab.engine.store import read_run
from schedlab.web.play.lesson import find, played
from schedlab.workload.swf.write import swf_text


def test_the_command_that_a_lesson_shows_plays_the_same(tmp_path):
    for lesson in map(find, ("backfilling", "estimates", "slurm")):
        for place, (part, plays) in enumerate(zip(lesson.parts, played(lesson), strict=True)):
            (tmp_path / "jobs.swf").write_bytes(swf_text(part.scenarios[0].workload, {}))
            for at, told in enumerate(plays):
                out = tmp_path / f"{lesson.id}-{place}-{at}"
                done = schedlab(*shlex.split(told.command)[1:], "--out", out, folder=tmp_path)
                assert done.returncode == 0, done.stderr
                run = read_run(out)
                rows = run.jobs.sort("job").select("job", "start", "end").rows()
                assert rows == [(job.id, job.start, job.end) for job in told.jobs]


def test_a_step_has_the_reasons_of_why(tmp_path):
    lesson = find("backfilling")
    (told,) = played(lesson)[1]
    (tmp_path / "jobs.swf").write_bytes(swf_text(lesson.parts[1].scenarios[0].workload, {}))
    done = schedlab(*shlex.split(told.command)[1:], "--out", "easy", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    for job in told.jobs:
        why = json.loads(schedlab("why", "easy", job.id, "--json", folder=tmp_path).stdout)
        for step in told.steps:
            (expected,) = [
                (row["why"], row["who"]) for row in why["waited"] if row["begin"] <= step.time < row["end"]
            ] or [None]
            said = next(((wait.why, wait.who) for wait in step.waits if wait.job == job.id), None)
            assert (said and (said[0], said[1] and str(said[1]))) == expected, (job.id, step.time)
