"""Runs of a study that die and go on where they were, and what is said where they cannot."""

from __future__ import annotations

import json
import os
from collections import deque
from pathlib import Path

import pytest
from tests.studies import STUDY, Inline, found, results, run

from schedlab.experiment import coordinator
from schedlab.experiment.coordinator import run_study
from schedlab.experiment.folder import checkpoint_folder
from schedlab.experiment.plan import PlannedRun
from schedlab.experiment.pool import Outcome
from schedlab.experiment.study import parse_study
from schedlab.model.errors import InputError

POLICY = """
import time
from pathlib import Path
import schedlab as sl

class Gone(BaseException):
    pass

class Mortal(sl.Policy):
    \"\"\"First come, first served; dies in the middle of a run, once for each file that is there to be removed.\"\"\"

    def __init__(self, deaths="deaths"):
        self.asked, self.deaths = 0, deaths

    def decide(self, view, events):
        self.asked += 1
        time.sleep(0.006)
        for job in view.queue:
            if job.id % 7 == self.asked % 7 and len(view.queue) > 1:
                continue
            if not view.start(job):
                break
        deaths = sorted(Path(self.deaths).glob("*")) if self.asked > 80 else []
        if deaths:
            deaths[0].unlink()
            raise Gone

class Holding(Mortal):
    def __init__(self):
        super().__init__()
        self.file = open(__file__)

class Elsewhere(Mortal):
    resumable = False
"""
ONE = STUDY.replace("repetitions = 3", "repetitions = 1").replace('["fcfs", "easy"]', '"mine.py:Mortal"')
ONE = ONE.replace('baseline = { policy = "fcfs" }\n', "")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(POLICY)
    return tmp_path


def dying(text: str, folder: Path, **options: float) -> None:
    """Start a study whose only run dies with its process, as far as it can tell."""
    deaths = Path("deaths")
    deaths.mkdir(exist_ok=True)
    (deaths / "one").touch()
    with pytest.raises(BaseException) as death:
        run_study(parse_study(text, "study.toml"), folder, workers=Inline, **options)  # type: ignore[arg-type]
    assert type(death.value).__name__ == "Gone"


@pytest.mark.parametrize("keep", ["tables", "summary"])
def test_a_run_goes_on_where_it_was(place: Path, keep: str) -> None:
    text = f'keep = "{keep}"\n{ONE}'
    run(text, place / "calm")
    dying(text, place / "cut", checkpoint_every=0.0)
    (checkpoint,) = (place / "cut" / "checkpoints").iterdir()
    assert json.loads((checkpoint / "checkpoint.json").read_text())["passes"] > 10
    assert not results(place / "cut")
    status, told = run(text, place / "cut", checkpoint_every=0.0)
    assert (status.done, told) == (1, [])
    assert found(place / "cut") == found(place / "calm")
    (calm,), (cut,) = results(place / "calm").values(), results(place / "cut").values()
    assert calm["performance"]["total"] > 0 and cut["performance"] is None  # it was taken up
    assert not list((place / "cut" / "checkpoints").iterdir())


def test_a_checkpoint_is_taken_up_without_the_option(place: Path) -> None:
    dying(ONE, place / "cut", checkpoint_every=0.0)
    run(ONE, place / "cut")
    (cut,) = results(place / "cut").values()
    assert cut["performance"] is None
    assert not list((place / "cut" / "checkpoints").iterdir())


def test_without_checkpoints_it_begins_anew(place: Path) -> None:
    dying(ONE, place / "cut")
    assert not (place / "cut" / "checkpoints").exists()
    run(ONE, place / "cut")
    (cut,) = results(place / "cut").values()
    assert cut["performance"]["total"] > 0


def test_a_damaged_checkpoint_is_not_taken_up(place: Path) -> None:
    run(ONE, place / "calm")
    dying(ONE, place / "cut", checkpoint_every=0.0)
    (checkpoint,) = (place / "cut" / "checkpoints").iterdir()
    next(checkpoint.glob("state-*")).write_bytes(b"junk")
    status, told = run(ONE, place / "cut", checkpoint_every=0.0)
    assert status.done == 1
    (note,) = told
    assert "its run began anew" in note and "is damaged" in note
    assert found(place / "cut") == found(place / "calm")


def test_what_cannot_be_saved_is_said_and_the_run_goes_on(place: Path) -> None:
    status, told = run(ONE.replace("Mortal", "Holding"), place / "study", checkpoint_every=0.0)
    assert status.done == 1
    (note,) = told
    assert note.startswith("no checkpoints can be made of mine.py:Holding (")
    assert "cannot be saved" in note and note.endswith("a run of it that is interrupted begins anew")


def test_deciders_that_cannot_are_named_before_anything_runs(place: Path) -> None:
    text = ONE.replace('"mine.py:Mortal"', '["mine.py:Elsewhere", "mine.py:Elsewhere(deaths=\'none\')", "fcfs"]')
    status, told = run(text, place / "study", checkpoint_every=0.0)
    assert status.done == 3
    assert told == ["no checkpoints can be made of mine.py:Elsewhere: a run of it that is interrupted begins anew"]
    text = ONE.replace('"mine.py:Mortal"', '[{ name = "far", policy = "mine.py:Elsewhere" }]')
    assert run(text, place / "named", checkpoint_every=0.0)[1] == [
        "no checkpoints can be made of far: a run of it that is interrupted begins anew"
    ]


def test_what_decisions_cost_is_not_known_of_a_run_that_was_taken_up(place: Path) -> None:
    with pytest.raises(InputError, match=r"--checkpoint-every: does not go with the metric performance\.deciding"):
        run('metrics = ["performance.deciding"]\n' + ONE, place / "study", checkpoint_every=1.0)
    assert not (place / "study").exists()


@pytest.mark.parametrize(("getting_on", "done"), [(True, 1), (False, 0)])
def test_a_run_that_gets_on_is_tried_again_and_again(
    place: Path, monkeypatch: pytest.MonkeyPatch, getting_on: bool, done: int
) -> None:
    """Its worker dies more often than a run is tried: at the wall time of a batch job, say."""
    monkeypatch.setattr(coordinator, "FIRST_PAUSE", 0.0)
    deaths = iter(range(2 * coordinator.ATTEMPTS))

    class Dying(Inline):
        def take(self, waiting: deque[PlannedRun]) -> None:
            if waiting and (death := next(deaths, None)) is not None:
                if getting_on:
                    saved = checkpoint_folder(self._folder, waiting[0].identity) / "checkpoint.json"
                    saved.parent.mkdir(parents=True, exist_ok=True)
                    saved.write_text("{")
                    os.utime(saved, ns=(death, death + 1))
                self._done.append(Outcome(waiting.popleft(), error="the worker was killed", lost=True))
            else:
                super().take(waiting)

    status = run_study(parse_study(ONE, "study.toml"), place / "study", workers=Dying, checkpoint_every=60.0)
    assert (status.done, status.failed) == (done, 1 - done)
