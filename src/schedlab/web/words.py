"""What pages share with the command line and with figures: the sentences of `schedlab why`, and colours."""

from __future__ import annotations

from schedlab.model.states import WAIT_REASONS
from schedlab.model.story import FITTED, Stretch
from schedlab.model.story_words import in_words
from schedlab.plot.gantt_colours import JOB_COLOURS
from schedlab.plot.style import COLOURS

WHO, WORDS = "{who}", "{words}"

# Every fifteenth of `plot.style.shades`: a server that draws nothing itself does not load matplotlib.
SHADES = (
    *("#e6f5b2", "#d6efb3", "#c6e9b4", "#abdeb7", "#8ed3ba", "#73c8bd", "#59bfc0", "#40b5c4", "#33a7c2"),
    *("#2498c1", "#1e86bb", "#2072b1", "#225da8", "#234da0", "#243c98", "#1f2f87", "#13266f", "#081d58"),
)


def story_words() -> dict[str, object]:
    """A sentence for each reason, with and without a job in the way; and the reasons of jobs that would have fitted."""
    with_who = [in_words(Stretch(0, 0, why, WHO, WORDS)) for why in WAIT_REASONS]
    without = [in_words(Stretch(0, 0, why, None, WORDS)) for why in WAIT_REASONS]
    return {"with": with_who, "without": without, "fitted": list(FITTED)}


def colours() -> dict[str, list[str]]:
    """Those of figures: of runs and users, of jobs in turn, and of numbers from small to large."""
    return {"names": list(COLOURS), "jobs": list(JOB_COLOURS), "shades": list(SHADES)}
