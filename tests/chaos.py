"""Kill workers and coordinator of a study at random, and see that nothing is lost and nothing changes.

python -m tests.chaos --runs 200 --kills 40 --rounds 10
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STUDY = """
name = "chaos"
repetitions = {repetitions}
keep = "tables"
[workload]
model = "lublin(processors=64)"
jobs = {jobs}
[run]
cluster = "pool:64"
policy = ["fcfs", "easy", "sjf", "easy:order=sjf", "conservative"]
"""


def command(study: Path, out: Path) -> list[str]:
    script = Path(sys.executable).with_name("schedlab")
    return [str(script), "experiment", "run", str(study), "--out", str(out), "--quiet"]


def mirror(out: Path) -> Path:
    return out.with_name(f"{out.name}-mirror")


def children(pid: int) -> list[int]:
    """The processes that this one has started."""
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def disturbed(study: Path, out: Path, kills: int, chance: random.Random) -> tuple[int, int]:
    """Run the study while killing; the number of workers and of coordinators that were killed."""
    workers = coordinators = 0
    while True:
        process = subprocess.Popen([*command(study, out), "--mirror", str(mirror(out)), "--checkpoint-every", "0.2s"])
        while process.poll() is None:
            time.sleep(chance.uniform(0.2, 1.6))
            if workers + coordinators >= kills:
                process.wait()
                break
            victims = children(process.pid)
            if victims and chance.random() < 0.6:
                os.kill(chance.choice(victims), signal.SIGKILL)
                workers += 1
            elif process.poll() is None:
                process.kill()
                process.wait()
                coordinators += 1
        if process.returncode == 0:
            return workers, coordinators


def tables(out: Path) -> dict[str, object]:
    """What a study has found, without what differs from one execution to the next."""
    found: dict[str, object] = {}
    for path in sorted((out / "results").glob("*.json")):
        result = json.loads(path.read_text())
        files = {name: digest for name, digest in result["files"].items() if name != "run.json"}
        found[path.stem] = [result["point"], result["repetition"], result["summary"], files]
        run = json.loads((out / "runs" / path.stem / "run.json").read_text())
        run.pop("timing")
        found[f"{path.stem} run"] = run
    return found


def compare(runs: int, kills: int, seed: int, folder: Path, jobs: int = 2000) -> str:
    """One round: an undisturbed study, a disturbed one, and whether they agree."""
    study = folder / "study.toml"
    study.write_text(STUDY.format(repetitions=runs // 5, jobs=jobs))
    calm, wild = folder / "calm", folder / f"wild-{seed}"
    subprocess.run(command(study, calm), check=True)
    workers, coordinators = disturbed(study, wild, kills, random.Random(seed))
    expected, found = tables(calm), tables(wild)
    assert len(expected) == 2 * runs // 5 * 5
    assert found == expected
    assert tables(mirror(wild)) == expected
    for place in (wild, mirror(wild)):
        checked = subprocess.run([*command(study, wild)[:2], "verify", str(place)], capture_output=True, text=True)
        assert checked.returncode == 0, checked.stdout
    leftovers = [
        path.name for path in (wild / "runs").iterdir() if not (wild / "results" / f"{path.name}.json").exists()
    ]
    assert leftovers == []
    assert not list((wild / "checkpoints").glob("*"))
    return f"{runs // 5 * 5} runs, {workers} workers and {coordinators} coordinators killed: the same tables"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--runs", type=int, default=200)
    arguments.add_argument("--kills", type=int, default=40)
    arguments.add_argument("--rounds", type=int, default=10)
    asked = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(asked.rounds):
            print(compare(asked.runs, asked.kills, number, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
