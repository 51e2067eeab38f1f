"""The explorer of one or several runs as one file: page, program and data, without a server and without the network."""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedlab.analysis.job_by_job import baseline_of
from schedlab.files.whole_file import whole_file
from schedlab.model.errors import InputError
from schedlab.model.run import Run
from schedlab.web.bundle import bundle, static
from schedlab.web.compared import compared
from schedlab.web.pack import Pack
from schedlab.web.words import colours, story_words

if TYPE_CHECKING:
    from jinja2 import Environment

MOST_JOBS = 2_000_000  # in a file: 160 MB, which some browsers open; half a minute
_LEVEL = 6  # of compression: a higher one takes much longer and saves little


def packs_of(runs: Sequence[Run]) -> list[Pack]:
    """A pack for each; jobs are compared with those of the recorded schedule, or of the first run."""
    baseline = runs[baseline_of(runs)]
    return [Pack(run, None if run is baseline else baseline) for run in runs]


def explorer_facts(packs: Sequence[Pack]) -> dict[str, Any]:
    """All that the page has to know of the runs before it asks for their blocks."""
    runs = [pack.run for pack in packs]
    comparison = compared(runs, baseline_of(runs))
    facts = [pack.facts() | {"label": label} for pack, label in zip(packs, comparison["labels"], strict=True)]
    return {"runs": facts, "comparison": comparison, "story": story_words(), "colours": colours()}


def write_explorer(runs: Sequence[Run], path: Path) -> None:
    """The page as a file."""
    jobs = sum(int(run.summary["jobs"]) for run in runs)
    if jobs > MOST_JOBS:
        hint = "schedlab web, started in the folder of the runs, shows them part by part"
        raise InputError(f"{jobs:,} jobs are too many for a page of one file (at most {MOST_JOBS:,})", hint=hint)
    packs = packs_of(runs)
    with whole_file(path) as file:
        for part in _page(packs):
            file.write(part.encode())


def _page(packs: Sequence[Pack]) -> Iterator[str]:
    """Written piece by piece, so that memory holds one block at a time."""
    facts = explorer_facts(packs)
    script, style = bundle("file_page"), static("explore.css")
    template = templates().get_template("explore.html")
    blocks = ((f"{at}-{name}", _embedded(pack.block(name))) for at, pack in enumerate(packs) for name in pack.names())
    yield from template.generate(
        title=_title(packs),
        script=script,
        style=style,
        script_hash=_hash(script),
        style_hash=_hash(style),
        facts=safe_json(facts),
        blocks=blocks,
    )


def safe_json(document: Any) -> str:
    """JSON that cannot end the element it stands in, whatever jobs and users are called."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _embedded(block: bytes) -> str:
    return b64encode(zlib.compress(block, _LEVEL)).decode()


def _hash(text: str) -> str:
    """As the page's policy names the only script, and the only style, that may be run."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _title(packs: Sequence[Pack]) -> str:
    run = packs[0].run
    named = run.policy if len(packs) == 1 else f"{len(packs)} runs"
    return f"{named} · {run.workload['name']} on {run.cluster.name}"


@cache
def templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(loader=PackageLoader("schedlab.web"), autoescape=True, undefined=StrictUndefined)
