"""A job's story, on schedules worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests import commands, format_1

import schedlab as sl
from schedlab.model.errors import InputError
from schedlab.model.story import Holder, Passer, Stretch
from schedlab.plot.waiting import plot_waiting

# Job 1 has 6 of 10 cores until 10, job 2 the machine's next 8 from 10 to 20. Job 3 (3 cores) would delay job 2, and has
# no room from 4 on, when jobs 4 and 5 have taken the cores that are over.
QUEUE = [(0, 6, 10), (1, 8, 10), (2, 3, 9), (3, 1, 100), (4, 1, 100)]
BACKFILLED = "backfilled: it was behind in the order, and there was room for it"


def simulated(**options: Any) -> sl.Run:
    submit, count, runtime = zip(*QUEUE, strict=True)
    jobs = sl.Workload.of(submit=submit, count=count, runtime=runtime, limit=runtime, **options.pop("columns", {}))
    return sl.simulate(jobs, "pool:10", options.pop("policy", "easy"), **options)


def test_what_it_waited_for() -> None:
    story = simulated(reasons=True).why(3)
    assert story.stretches == [
        Stretch(2, 4, "would delay job", "2", None),
        Stretch(4, 20, "not enough free", None, None),
    ]
    assert (story.submit, story.eligible, story.start, story.end, story.waited) == (2, 2, 20, 29, 18)
    assert story.could_start == 2


def test_who_passed_it_and_who_had_the_cores() -> None:
    story = simulated().why("3")
    assert story.passers == [Passer("4", 3, 1, BACKFILLED), Passer("5", 4, 1, BACKFILLED)]
    assert story.holders == [
        Holder("2", 8, 10, 20, 80 / 180),
        Holder("1", 6, 0, 10, 48 / 180),
        Holder("4", 1, 3, 103, 17 / 180),
        Holder("5", 1, 4, 104, 16 / 180),
    ]


def test_who_is_ahead_in_the_order_passes_by_that() -> None:
    # Shortest first: job 3 (9 s) is before job 2 (10 s), which came before it, and starts at once.
    story = simulated(policy="none:order=sjf").why(2)
    assert [(each.job, each.right) for each in story.passers] == [
        ("3", "ahead in the order: its key was 9, this one's was 10 when it started")
    ]


def test_in_words() -> None:
    text = str(simulated(reasons=True).why(3))
    assert text.splitlines()[:6] == [
        "Job 3 under easy: 3 cores, believed to run for 9s.",
        "Submitted at 2s; eligible at once; started 18s after that, and completed after 9s.",
        "",
        "It waited 18s for its start:",
        "            2s   11%  from 2s: it would have fitted, but would have delayed job 2",
        "           16s   89%  from 4s: not enough was free for it",
    ]
    assert "2 jobs that came later passed it:" in text
    assert "  44.4%  job 2 (8 cores), from 10s to 20s" in text
    assert text.endswith("It could first have started at 2s, 18s earlier (would delay job 2).")


def test_a_run_without_reasons_tells_what_it_knows_and_how_to_know_more() -> None:
    story = simulated().why(3)
    assert not story.told and story.stretches == []
    assert "It waited 18s. This run does not say why: simulate with --reasons" in str(story)
    assert str(story).endswith("It could first have started at 2s, 18s earlier (counting cores alone).")


def test_a_job_that_did_not_wait() -> None:
    assert str(simulated(reasons=True).why(1)).splitlines()[-1] == "It did not wait."


def test_one_that_was_held_and_one_that_never_started() -> None:
    columns = {"after": [-1, -1, -1, 1, -1], "cancel": [1e9, 5, 1e9, 1e9, 1e9]}
    run = simulated(columns=columns, dependencies="follow", reasons=True)
    held, cancelled = str(run.why(4)), str(run.why(2))
    assert "eligible 7s later" in held and "for job 1 to end" in held
    assert "it never started, and left at 5s (cancelled)" in cancelled


def test_many_stretches_are_put_together() -> None:
    rows = [(0, 10, 5)] + [(1, 10, 5)] * 20
    submit, count, runtime = zip(*rows, strict=True)
    jobs = sl.Workload.of(submit=submit, count=count, runtime=runtime, limit=runtime)
    text = str(sl.simulate(jobs, "pool:10", "fcfs", reasons=True).why(21))
    assert "            5s    5%  job 3 was before it in the queue, and could not start" in text
    assert "8 other reasons" in text


def test_an_unknown_job() -> None:
    with pytest.raises(InputError, match="there is no job '31'") as error:
        simulated().why("31")
    assert "did you mean '3'? it has 5 jobs" in str(error.value)


def test_the_command(tmp_path: Path) -> None:
    simulated(reasons=True, out=tmp_path / "run")
    done = commands.schedlab("why", str(tmp_path / "run"), "3", "-o", str(tmp_path / "why.png"))
    assert "It waited 18s for its start:" in done.stdout
    bars = [line for line in done.stdout.splitlines() if "█" in line]
    assert bars[0] == "would delay job 2    " + "█" * 7 + "·" * 53
    assert bars[1].startswith("not enough free      ······█")
    assert (tmp_path / "why.png").stat().st_size > 1000
    told = json.loads(commands.schedlab("why", str(tmp_path / "run"), "3", "--json").stdout)
    assert told["waited"][0] == {"begin": 2.0, "end": 4.0, "why": "would delay job", "who": "2", "words": None}
    assert told["could_start"] == 2.0


def test_drawn_without_reasons() -> None:
    axes = plot_waiting(simulated().why(3)).axes
    assert [text.get_text() for text in axes[0].texts] == ["the run does not say why"]


def test_a_run_of_format_1_says_what_it_does_not_know(tmp_path: Path) -> None:
    folder = format_1.write(tmp_path / "old")
    done = commands.schedlab("why", str(folder), "2")
    assert done.returncode == 0
    assert "It waited 50s. This run does not say why: simulate with --reasons" in done.stdout
    assert sl.read_run(folder).why(1).stretches == []
