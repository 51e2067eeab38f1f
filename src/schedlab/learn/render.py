"""A choice in a few lines of text."""

from __future__ import annotations

from schedlab.learn.episode import Episode

SHOWN = 8
HOUR = 3600.0


def rendered(episode: Episode, cores: int) -> str:
    if episode.over:
        return f"all {episode.jobs} jobs have started"
    view, queue = episode.view, episode.queue
    free = f"{view.free_cores} of {cores} cores free"
    head = f"{view.now / HOUR:.2f} h: {free}, {len(queue)} jobs wait, {episode.started} of {episode.jobs} have started"
    rows = [
        f"{position:4} job {job.id:<7} {job.cores:5} cores for {job.estimate / HOUR:6.2f} h, "
        f"has waited {job.wait / HOUR:6.2f} h{', fits' if episode.seen[0][position, 5] else ''}"
        for position, job in zip(range(min(episode.visible, SHOWN)), queue, strict=False)
    ]
    return "\n".join([head, *rows, *(["     …"] if len(queue) > SHOWN else [])])
