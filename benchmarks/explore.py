"""The explorer of a million jobs in a browser: how soon it is there, how smoothly it moves, what the server needs.

Also the page of one file, of 100,000 jobs.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

from benchmarks.chromium import chromium, missing, opened
from benchmarks.measure import process
from benchmarks.report import Line
from benchmarks.settings import Settings
from benchmarks.workload import LogSpec, write_log

NODES, CORES, LOAD = 1024, 4, 0.85
SLOWEST = 30  # frames a second
SCHEDLAB = (str(Path(sys.executable).with_name("schedlab")),)

# Zoom in to a thousandth of the time, move, zoom out, move: one step a frame, and the time from frame to frame.
MOVES = """
const done = arguments[0], {axis} = explorer, gaps = {zoom: [], pan: []};
const steps = [];
const middle = axis.first + 0.4 * (axis.last - axis.first);
const zoom = factor => () => axis.zoomAt(middle, factor), pan = share => () => axis.pan(share * axis.length);
for (const factor of [4, 4, 4, 16]) {
  for (let i = 0; i < 40; i++) steps.push(["zoom", zoom(factor ** (1 / 40))]);
  for (let i = 0; i < 80; i++) steps.push(["pan", pan(i < 40 ? 0.02 : -0.02)]);
}
for (let i = 0; i < 120; i++) steps.push(["zoom", zoom(1024 ** (-1 / 120))]);
let before = null, kind = null;
const frame = now => {
  if (before !== null && kind) gaps[kind].push(now - before);
  before = now;
  if (!steps.length) { done(gaps); return; }
  const [next, move] = steps.shift();
  kind = next;
  move();
  requestAnimationFrame(frame);
};
requestAnimationFrame(frame);
"""
STORY = """
const done = arguments[1], begin = performance.now();
explorer.choose({run: 0, row: arguments[0]}).then(() => done(performance.now() - begin), error => done(String(error)));
"""
SORT = """
const done = arguments[0], begin = performance.now(), {table} = explorer.runs[0];
table.sort("wait"); const sorted = performance.now(); table.filter("cores>=16 wait>1h");
done([sorted - begin, performance.now() - sorted]);
"""


def lines(settings: Settings) -> Iterator[Line]:
    if reason := missing():
        yield Line("explore", f"skipped: {reason}", 0.0, "")
        return
    spec = LogSpec(settings.jobs(1_000_000), NODES, CORES, LOAD)
    folder = _run(spec, settings.folder / "explore")
    what = f"{spec.jobs:,} jobs on {NODES:,} nodes"
    found = [_looked_at(folder) for _ in range(min(settings.repeats, 3))]
    cold, warm = (median(getattr(one, name) for one in found) for name in ("cold", "warm"))
    yield Line("explore", f"explorer of {what}: painted, the server has just started", cold, "s", at_most=3)
    yield Line("explore", "painted, the server has seen the run", warm, "s", at_most=3)
    for kind, told in (("zoom", "zooming"), ("pan", "panning")):
        gaps = [gap for one in found for gap in one.gaps[kind]]
        worst = quantiles(gaps, n=20)[-1]
        note = f"{len(gaps)} frames; 95 % within {worst:.1f} ms, longest {max(gaps):.0f} ms"
        yield Line("explore", f"{told}, median", 1000 / median(gaps), "frames/s", at_least=SLOWEST, note=note)
        yield Line("explore", f"{told}, 95th percentile", 1000 / worst, "frames/s", at_least=SLOWEST)
    yield Line("explore", "why a job waited, told", median(one.story for one in found), "s")
    yield Line("explore", "all jobs sorted by wait", median(one.sort for one in found), "s")
    yield Line("explore", "all jobs filtered", median(one.filter for one in found), "s")
    peak = max(one.peak_mb for one in found)
    yield Line("explore", "peak memory of the server", peak, "MB", at_most=500)
    yield from _file(LogSpec(settings.jobs(100_000)), settings.folder / "explore-file")


@dataclass(frozen=True)
class Looked:
    cold: float  # seconds
    warm: float
    gaps: dict[str, list[float]]  # from frame to frame, milliseconds
    story: float
    sort: float
    filter: float
    peak_mb: float


def _looked_at(folder: Path) -> Looked:
    """With a server and a browser of its own."""
    with _server(folder.parent) as (address, pid), chromium() as driver:
        driver.get(address)  # the browser itself is awake, and has its cookies
        page = f"{address.partition('?')[0]}explore?run={folder.name}"
        cold = opened(driver, page)
        warm = opened(driver, page)
        gaps = driver.execute_async_script(MOVES)
        story = driver.execute_async_script(
            STORY, 500_000 % driver.execute_script("return explorer.runs[0].jobs.number")
        )
        sort, filtered = driver.execute_async_script(SORT)
        return Looked(cold, warm, gaps, story / 1000, sort / 1000, filtered / 1000, _peak_mb(pid))


def _run(spec: LogSpec, folder: Path, *options: str) -> Path:
    """The run in a folder to be served; made once."""
    target = folder / f"run-{spec.jobs}"
    if not (target / "run.json").is_file():
        log = write_log(spec, folder)
        cluster = f"{spec.nodes}x{spec.cores}"
        process([*SCHEDLAB, "run", log, "--cluster", cluster, "--policy", "easy", "--reasons", "--out", target])
        log.unlink()
    return target


@contextmanager
def _server(folder: Path) -> Iterator[tuple[str, int]]:
    """Its address and its process."""
    command = [*SCHEDLAB, "web", str(folder), "--port", "0", "--no-browser"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        said = server.stdout.readline().split()
        if not said:
            raise RuntimeError("the server did not start")
        yield said[0], server.pid
    finally:
        server.terminate()
        server.wait()


def _peak_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise RuntimeError("the system does not tell the peak memory")


def _file(spec: LogSpec, folder: Path) -> Iterator[Line]:
    run, page = _run(spec, folder), folder / "page.html"
    page.unlink(missing_ok=True)
    spent, _ = process([*SCHEDLAB, "explore", run, "-o", page])
    what = f"page of one file, {spec.jobs:,} jobs with reasons"
    yield Line("explore", what, page.stat().st_size / 1e6, "MB", at_most=15, note=f"made in {spent.wall:.1f} s")
    with chromium() as driver:
        yield Line("explore", "opened from disk and painted", opened(driver, page.as_uri()), "s")
    shutil.rmtree(folder)
