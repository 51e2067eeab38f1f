"""The log that comes with schedlab, of an invented cluster of 64 nodes with 4 cores, and who is tried on it."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from schedlab.files.whole_file import whole_file
from schedlab.model.confined import confined
from schedlab.model.errors import InputError
from schedlab.web.setup import Setup
from schedlab.web.space import Space

NAME = "demo.swf"
MACHINE = "64x4"
POLICIES = ("fcfs", "easy", "conservative", "easy:order=sjf,place=best-fit")  # as in the Makefile's `demo`


def sample_log() -> Path:
    """In an installed package, or in the sources."""
    places = (Path(str(files("schedlab.web"))) / "samples" / NAME, Path(__file__).parents[3] / "examples" / NAME)
    for path in places:
        if path.is_file():
            return path
    raise InputError("the sample log is not installed", hint="choose a model, or a log of your own")


def sample_name(space: Space) -> str:
    """The sample as a file that this browser may read: the folder's, if it is the same; else a copy of its own."""
    with confined(None):  # no text of anybody's says where it is
        log = sample_log().read_bytes()
    for path in (space.folder / NAME, space.own / NAME):
        if path.is_file() and path.stat().st_size == len(log) and path.read_bytes() == log:
            return space.name(path)
    path = space.free(Path(NAME).stem, Path(NAME).suffix)
    with whole_file(path) as file:
        file.write(log)
    return space.name(path)


def example(space: Space) -> Setup:
    """Four schedulers, with the reasons for waiting recorded."""
    return Setup(log=sample_name(space), cluster=MACHINE, policies=POLICIES, reasons=True)
