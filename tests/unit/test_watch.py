"""What is shown of a run while it goes on: snapshots of real runs, and pure functions of snapshots."""

from __future__ import annotations

import io
import os
import re
import signal
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console, RenderableType

import schedlab as sl
from schedlab.cli import output, watch
from schedlab.cli.chart import bar, columns, round_time, thin_bar
from schedlab.cli.frame import brief, closing, frame
from schedlab.cli.node_map import node_map
from schedlab.cli.status import Status, final_line, reading_line, status_line
from schedlab.cli.watch import Monitor, Pace
from schedlab.engine.snapshot import Facts, Past, Recorder, Running, Snapshot, Used, Waiting

DEMO = Path(__file__).parents[2] / "examples" / "demo.swf"
HOUR, DAY = 3_600.0, 86_400.0
MARCH = datetime(2026, 3, 2, tzinfo=UTC)


def lines(picture: RenderableType, width: int) -> list[str]:
    console = Console(record=True, width=width, height=200, file=io.StringIO(), legacy_windows=False)
    console.print(picture)
    return console.export_text().splitlines()


def snapshot(cluster: sl.Cluster | None = None, free: Sequence[int] = (0, 1, 4, 4), **more: Any) -> Snapshot:
    """Four nodes of four cores: one full, one with a free core, two empty."""
    cluster = cluster or sl.Cluster.uniform(4, 4)
    total = [group.resources["cores"] for group in cluster.groups for _ in range(group.count)]
    facts = Facts("easy", "demo", cluster, 200, MARCH)
    known = {"facts": facts, "now": 2 * DAY, "done": 50, "jobs": 200, "busy": sum(total) - sum(free)} | more
    return Snapshot(free=np.array(free), total=np.array(total), **known)


def busy_snapshot(cluster: sl.Cluster | None = None, **more: Any) -> Snapshot:
    """One in which there is something to show in every place."""
    cluster = cluster or sl.Cluster.uniform(64, 4)
    free = [number % 5 if number % 5 < 5 else 4 for number in range(cluster.nodes)]
    queue = tuple(Waiting(100 + job, 32, HOUR, DAY) for job in range(60))
    ending = tuple(Running(10 + job, 8, DAY, 3 * DAY) for job in range(20))
    past = Past(np.array([0, DAY, 2 * DAY]), np.array([10.0, 20.0, 5.0]), np.array([0.0, 90.0, 90.0]))
    shown = snapshot(cluster, free, queued=300, queued_cores=9_600, queue=queue, running=20, ending=ending, past=past)
    return replace(shown, time_speed=DAY, job_speed=310.0, **more)


# Snapshots


def seen(policy: str, at: float, cluster: sl.Cluster, jobs: sl.Workload) -> Snapshot:
    """The state of things after the pass at that time."""
    recorder = Recorder(Facts(policy, "log", cluster, len(jobs)))
    found: list[Snapshot] = []

    class Taker(sl.Observer):
        def after(self, view: Any) -> None:
            if view.now == at:
                found.append(recorder.complete(recorder.take(view)))

    sl.simulate(jobs, cluster, policy, observers=[Taker()])
    return found[-1]


def test_jobs_that_are_submitted_during_the_run_count() -> None:
    """One that has entered, one that has not, and not the one that was withdrawn."""
    cluster, jobs = sl.Cluster.uniform(2, 1), sl.Workload.of(submit=[0.0], runtime=[5.0])
    recorder = Recorder(Facts("easy", "log", cluster, len(jobs)))
    found: list[Snapshot] = []

    class Submitter(sl.Observer):
        def begin(self, view: Any) -> None:
            view.submit_many([1.0, 1.0], at=[1.0, 3.0])
            view.withdraw(view.submit(1.0, at=4.0))

        def after(self, view: Any) -> None:
            found.append(recorder.complete(recorder.take(view)))

    run = sl.simulate(jobs, cluster, "easy", observers=[Submitter()])
    assert {one.jobs for one in found} == {3}
    assert "0 of 3 jobs done" in status_line(found[0])
    assert (recorder.closing(run, 1.0).done, recorder.closing(run, 1.0).jobs) == (3, 3)


def test_a_snapshot_of_three_jobs() -> None:
    """Job 1 has both cores until 100; 2 and 3 wait for it."""
    jobs = sl.Workload.of(submit=[0, 10, 20], runtime=[100, 50, 50], limit=[200, 60, 60], count=[2, 1, 2])
    found = seen("easy", 20.0, sl.Cluster.uniform(2, 1), jobs)
    assert (found.now, found.busy, found.utilisation, found.states) == (20, 2, 1.0, ())
    assert found.free.tolist() == [0, 0]
    assert found.queue == (Waiting(2, 1, 60, 10), Waiting(3, 2, 60, 20))
    assert (found.queued, found.queued_cores) == (2, 3)
    assert (found.running, found.ending) == (1, (Running(1, 2, 0, 200),))


def test_resources_besides_cores() -> None:
    """Two nodes of 4 cores, 2 GPUs and some memory, of which no job asks for any."""
    cluster = sl.Cluster.uniform(2, 4, gpus=2, memory=2**30)
    gpu = sl.Request({"cores": 1, "gpus": 1})
    jobs = sl.Workload.of(submit=[0, 10], runtime=[100, 50], count=[3, 2], requests=[gpu])
    found = seen("easy", 10.0, cluster, jobs)
    assert found.others == (Used("gpus", 3, 4),)
    assert "37.5% of cores, 75.0% of gpus busy" in status_line(found)
    assert any(line.startswith("gpus ") and line.endswith(" 75% of 4") for line in lines(frame(found, 90, 30), 90))
    plain = seen(
        "easy", 10.0, sl.Cluster.uniform(2, 4), sl.Workload.of(submit=[0, 10], runtime=[100, 50], count=[3, 2])
    )
    assert plain.others == ()
    assert "62.5% busy" in status_line(plain)


def test_a_closed_node_is_in_the_snapshot_with_what_still_runs_there() -> None:
    jobs = sl.Workload.of(submit=[0, 10], runtime=[100, 50], limit=[100, 60], count=[2, 1])
    cluster = sl.Cluster.uniform(3, 1)
    recorder, found = Recorder(Facts("easy", "log", cluster, 2)), []

    class Closing(sl.Observer):
        def before(self, view: Any) -> None:
            if view.now == 10:
                view.close(0, "drained")

        def after(self, view: Any) -> None:
            found.append(recorder.take(view))

    sl.simulate(jobs, cluster, "easy", observers=[Closing()])
    (at_ten,) = [one for one in found if one.now == 10]
    assert at_ten.states == ("drained", "up", "up")
    assert at_ten.busy == 3  # the job on it goes on


def test_means_over_the_past() -> None:
    """4 cores for 10 s, then 2 for 30 s."""
    past = Past(np.array([0.0, 10, 40]), np.array([4.0, 2, 0]), np.array([0.0, 1, 0]))
    assert past.mean(past.busy) == (4 * 10 + 2 * 30) / 40
    assert past.cells(past.busy, 0, 20, 2).tolist() == [(40 + 20) / 20, 2]
    assert past.cells(past.waiting, 30, 10, 2).tolist() == pytest.approx([1, nan], nan_ok=True)


def test_speeds_are_those_of_the_last_seconds() -> None:
    clock = [0.0]
    recorder = Recorder(Facts("easy", "log", sl.Cluster.uniform(1, 1), 9), clock=lambda: clock[0])
    for second in range(11):  # slow for five seconds, then ten times as fast
        clock[0], recorder.done = second, second if second <= 5 else 5 + 10 * (second - 5)
        recorder.note(recorder.done * HOUR)
    assert recorder._speeds() == (10 * HOUR, 10)


def test_the_past_does_not_grow_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schedlab.engine.snapshot.SAMPLES", 100)
    recorder = Recorder(Facts("easy", "log", sl.Cluster.uniform(1, 1), 9))
    for time in range(10_000):
        recorder._remember(time, 1, 0)
    assert len(recorder._samples) <= 100
    assert recorder._samples[0][0] == 0
    assert recorder._samples[-1][0] == 9_999


# Pictures


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        *((-5, "0s"), (0, "0s"), (45, "45s"), (600, "10m"), (605, "10m 05s")),
        *((3 * HOUR + 300, "3h 05m"), (1.5 * DAY, "1d 12h"), (120.5 * DAY, "120d")),
    ],
)
def test_brief_times(seconds: float, text: str) -> None:
    assert brief(seconds) == text


def test_round_times() -> None:
    assert [round_time(seconds) for seconds in (1, 61, 3_000, 5 * HOUR)] == [60, 120, HOUR, 6 * HOUR]
    assert round_time(40 * DAY) == 42 * DAY


def test_columns() -> None:
    assert [line.plain for line in columns([0, 1, 4, 8, nan], 8, 1, "")] == [" ▁▄█ "]
    assert [line.plain for line in columns([0, 4, 6, 8, 0.01], 8, 2, "")] == ["  ▄█ ", " ███▁"]


def test_bars() -> None:
    assert bar(0.5, 4, "").plain == "██──"
    assert bar(0.28125, 4, "").plain == "█▏──"
    assert thin_bar(0.5, 4, "").plain == "━━──"
    assert bar(7.0, 3, "").plain == "███"


def test_a_cell_for_each_node() -> None:
    states = ("up", "up", "down", "up")
    shown = [line.plain.rstrip() for line in node_map(snapshot(states=states), 40, 6, 6)]
    assert shown[0] == "n1 ▇▇▇▇ ▆▆▆▆ xxxx ····"
    assert re.findall(r"(\S) (\w+)", shown[1]) == [("·", "free"), ("▄", "partly"), ("▇", "full"), ("x", "down")]


def test_rows_of_round_numbers() -> None:
    cluster = sl.Cluster.uniform(120, 2)
    shown = [line.plain.rstrip() for line in node_map(snapshot(cluster, [0] * 120), 80, 8, 8)]
    assert [line[:5] for line in shown[:-1]] == [f"n{first:03} " for first in range(1, 120, 24)]
    assert {line.count("▇") for line in shown[:-1]} == {2 * 24}


def test_groups_have_labels() -> None:
    groups = (sl.NodeGroup("thin", 3, {"cores": 4}, prefix="t"), sl.NodeGroup("gpu", 2, {"cores": 8}, prefix="g"))
    shown = node_map(snapshot(sl.Cluster(groups), [0, 0, 0, 8, 4]), 40, 6, 6)
    assert [line.plain.rstrip() for line in shown[:2]] == ["thin ▇▇▇▇ ▇▇▇▇ ▇▇▇▇", "gpu  ···· ▄▄▄▄"]


def test_more_nodes_than_cells() -> None:
    """A cell for ten nodes is as full as they are together; one is closed if most of them are."""
    cluster = sl.Cluster.uniform(1_000, 4)
    states = ["up"] * 1_000
    states[:6], states[10:14] = ["off"] * 6, ["off"] * 4
    shown = snapshot(cluster, [4] * 500 + [0] * 500, states=tuple(states))
    first, second, legend = (line.plain for line in node_map(shown, 65, 3, 3))
    assert "one cell is 10 nodes" in legend
    assert (first + second).replace(" ", "").count("▇") == 50
    assert first.split()[1][:2] == "o·"


def test_more_groups_than_rows() -> None:
    groups = tuple(sl.NodeGroup(f"rack{number}", 2, {"cores": 1}, prefix=f"r{number}n") for number in range(30))
    shown = node_map(snapshot(sl.Cluster(groups), [0] * 60), 80, 4, 8)
    assert len(shown) <= 8
    assert sum(line.plain.count("▇▇ ") for line in shown[:-1]) + len(shown[:-1]) == 60


@pytest.mark.parametrize(("width", "height"), [(80, 24), (160, 50), (110, 24), (40, 15), (64, 20), (250, 80), (20, 5)])
@pytest.mark.parametrize("cluster", ["64x4", "pool:256", "20000x1", "racks"])
def test_a_picture_fits_its_terminal(width: int, height: int, cluster: str) -> None:
    racks = tuple(sl.NodeGroup(f"rack{number}", 9, {"cores": 4}, prefix=f"r{number}n") for number in range(40))
    machine = sl.Cluster(racks) if cluster == "racks" else sl.read_cluster(cluster)
    for shown in (busy_snapshot(machine), snapshot(machine, [0] * machine.nodes)):
        assert cluster == "pool:256" or all(row.cell_len <= width for row in node_map(shown, width, 9, 12)[:-1])
        text = lines(frame(shown, width, height), width)
        assert len(text) <= height
        assert max(map(len, text)) <= width


def test_what_80_columns_show() -> None:
    text = "\n".join(lines(frame(busy_snapshot(), 80, 24), 80))
    for part in (
        "easy  demo on 64x4",
        "2026-03-04 00:00",
        "50 of 200 jobs ━",
        "25%  1.00 d/s  310 jobs/s",
        "64 nodes, 256 cores · ",
        "over 2d · a column is 45m · waiting up to 90 cores",
        "waiting 300 jobs, 9,600 cores",
        "running 20 jobs, ",
        "100       32          1h       1d",  # the first one: its cores, estimate and wait
        "10        8      1d         1d",  # the next one to end
        "more",
    ):
        assert part in text


def test_a_wide_terminal_has_the_jobs_beside_the_map() -> None:
    text = lines(frame(busy_snapshot(), 160, 50), 160)
    (row,) = [line for line in text if line.startswith("n01 ")]
    assert len(text) == 50
    assert "cores" in row
    assert sum(re.search(r" 1\d\d       32 ", line) is not None for line in text) > 20


def test_a_pool_is_a_bar() -> None:
    text = lines(frame(snapshot(sl.Cluster.of_cores(80), [20]), 80, 24), 80)
    assert "█" * 60 + "─" * 20 in text
    assert "80 cores · 75.0% busy" in "\n".join(text)


def test_a_pace_shows_what_was_seen_in_a_minute() -> None:
    """At a day a second, 60 days; of 100."""
    past = Past(np.arange(101) * DAY, np.full(101, 8.0), np.zeros(101))
    facts = Facts("easy", "demo", sl.Cluster.uniform(4, 4), 200, MARCH, pace=DAY)
    text = "\n".join(lines(frame(snapshot(past=past, facts=facts, now=100 * DAY), 80, 24), 80))
    (shown, cell) = re.findall(r"the last (\d+)d · a column is (\d+)d", text)[0]
    assert (shown, cell) == ("71", "1")


def test_nobody_waits_and_nothing_is_known_of_the_past() -> None:
    text = "\n".join(lines(frame(snapshot(), 80, 24), 80))
    assert "nobody waits" in text


def test_what_stays_on_the_terminal() -> None:
    jobs, cluster = sl.read_workload(DEMO), sl.Cluster.uniform(64, 4)
    run = sl.simulate(jobs, cluster, "easy")
    recorder = Recorder(Facts("easy", "demo", cluster, 2_000, jobs.origin))
    text = "\n".join(lines(closing(recorder.closing(run, 0.5), 80), 80))
    assert "2,000 of 2,000 jobs" in text
    assert "4,000 jobs/s" in text
    assert f"\n{run.summary['utilisation']:.0%}" in text


def test_nothing_ran() -> None:
    cluster = sl.Cluster.uniform(1, 1)
    run = sl.simulate(sl.Workload.of(submit=[0], runtime=[5], count=[9]), cluster, "easy")
    text = "\n".join(lines(closing(Recorder(Facts("easy", "log", cluster, 1)).closing(run, 0.5), 80), 80))
    assert "1 of 1 jobs" in text


# Lines


def test_status_lines() -> None:
    shown = replace(busy_snapshot(), busy=64)
    expected = "easy: 2026-03-04 00:00, 50 of 200 jobs done, 20 running, 300 waiting, 25.0% busy, 1.00 d/s, 310 jobs/s"
    assert status_line(shown) == expected
    assert status_line(replace(shown, running=None, time_speed=None, job_speed=None)) == expected.replace(
        " 20 running,", ""
    ).replace(", 1.00 d/s, 310 jobs/s", "")
    assert "3 suspended" in status_line(replace(shown, suspended=3))
    assert reading_line("log.swf", 5_000_000, 20_000_000) == "reading log.swf: 25%, 5.0 of 20.0 MB"
    assert final_line("easy", 2_000, 0.5) == "easy: over, 2,000 jobs in 0.50 s"


def test_when_a_line_is_due(capfd: pytest.CaptureFixture[str]) -> None:
    clock = [0.0]
    status = Status(10.0, clock=lambda: clock[0])
    assert not status.due
    clock[0] = 10
    assert status.due
    status.say("one [line]")
    assert not status.due
    assert capfd.readouterr().err == "one [line]\n"
    assert not Status(None).due


def test_a_signal_leaves_a_mark_while_it_is_wanted() -> None:
    before = signal.getsignal(signal.SIGUSR1)
    with Status(None) as status:
        os.kill(os.getpid(), signal.SIGUSR1)
        assert status.due
    assert signal.getsignal(signal.SIGUSR1) == before


# Whole runs


def demo(monitor: Monitor, policy: str = "easy", **options: Any) -> sl.Run:
    return monitor.simulate(sl.Scenario(DEMO, "64x4", policy, **options).loaded())


def test_without_anything_nothing_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}

    class Spy(watch.Simulation):
        def __init__(self, scenario: sl.Scenario, **options: Any) -> None:
            given.update(options, observers=scenario.observers)
            super().__init__(scenario, **options)

    monkeypatch.setattr(watch, "Simulation", Spy)
    demo(Monitor(False, None, None, False))
    assert given["watch"] is None
    assert not given["observers"]


def test_being_looked_at_changes_nothing() -> None:
    plain = sl.simulate(sl.read_workload(DEMO), sl.Cluster.uniform(64, 4), "easy")
    paced = demo(Monitor(False, "400d", "1ms", False))
    assert paced.jobs.equals(plain.jobs)
    assert paced.timeline.equals(plain.timeline)
    assert paced.summary == plain.summary


def test_asked_while_reading(capfd: pytest.CaptureFixture[str]) -> None:
    with Monitor(False, None, None, False) as monitor:
        read = monitor.reading(None, "log.swf")
        read(1_000_000, 2_000_000)
        os.kill(os.getpid(), signal.SIGUSR1)
        read(1_500_000, 2_000_000)
    assert capfd.readouterr().err == "reading log.swf: 75%, 1.5 of 2.0 MB\n"


@pytest.mark.parametrize("policy", ["fcfs", "easy"])
def test_asked_while_nobody_looks_on(
    policy: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """FCFS needs no list of who runs, so the engine keeps none; the line leaves it out."""

    class Ticking(watch.Simulation):
        def run(self) -> sl.Run:
            self.core.set_ticks(100, 0.0)
            return super().run()

    monkeypatch.setattr(watch, "Simulation", Ticking)
    jobs = sl.Workload.of(submit=np.arange(1_000) * 10, runtime=[35] * 1_000, count=[1] * 1_000)
    with Monitor(False, None, None, False) as monitor:

        def ask(now: float, done: int) -> None:
            os.kill(os.getpid(), signal.SIGUSR1)

        monitor.simulate(sl.Scenario(jobs, sl.Cluster.uniform(8, 1), policy), progress=ask)
    first = capfd.readouterr().err.splitlines()[0]
    running = " 4 running," if policy == "easy" else ""
    assert re.fullmatch(
        rf"{policy}: day 0.0, \d\d of 1,000 jobs done,{running} 0 waiting, (50.0|37.5)% busy(, .* jobs/s)?", first
    )


def test_status_every(capfd: pytest.CaptureFixture[str]) -> None:
    demo(Monitor(False, "40d", "20ms", False))
    *some, last = capfd.readouterr().err.splitlines()
    assert len(some) > 2
    assert all(re.match(r"easy: 2026-03-\d\d .* of 2,000 jobs done, \d+ running, \d+ waiting, ", line) for line in some)
    assert re.fullmatch(r"easy: over, 2,000 jobs in [\d.]+ s", last)


def test_a_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten seconds of simulated time a second, on a clock that only sleep moves."""
    clock, told = [100.0], []
    monkeypatch.setattr(watch.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(watch.time, "sleep", lambda seconds: clock.__setitem__(0, clock[0] + seconds))
    pace = Pace(10.0)
    assert not pace.wait(50.0, told.append)
    assert pace.wait(55.0, told.append)
    assert clock[0] == pytest.approx(100.5, abs=0.002)
    assert told == pytest.approx([50, 51, 52, 53, 54])
    clock[0] += 2  # something takes long: that is not caught up
    assert not pace.wait(56.0, told.append)
    assert pace.wait(66.0, told.append)
    assert clock[0] == pytest.approx(103.5, abs=0.002)


@pytest.mark.parametrize(("pace", "every"), [("0", None), ("soon", None), (None, "0s"), (None, "-1")])
def test_mistakes(pace: str | None, every: str | None) -> None:
    with pytest.raises(sl.InputError, match="--pace" if pace else "--status-every"):
        Monitor(False, pace, every, False)


def test_no_terminal_no_picture(capfd: pytest.CaptureFixture[str]) -> None:
    output.messages.cache_clear()
    demo(Monitor(True, None, None, False))
    assert "--watch needs a terminal" in capfd.readouterr().err
