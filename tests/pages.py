"""The parts of the documentation that follow from declarations. `python -m tests.pages` writes them."""

from __future__ import annotations

import re
from pathlib import Path

from schedlab.model.tables import TABLES

DOCS = Path(__file__).parents[1] / "docs"


def written(page: str) -> str:
    """A page as it should be: after a mark `<!-- columns of jobs -->` comes what is declared."""
    text = (DOCS / page).read_text()
    for mark, content in declared().items():
        text = re.sub(rf"(?<=<!-- {mark} -->\n)(\|.*\n)+", lambda _: content, text)  # noqa: B023 - used at once
    return text


def declared() -> dict[str, str]:
    """Mark -> what comes after it."""
    return {f"columns of {name}": table.markdown() for name, table in TABLES.items()}


PAGES = ("runs.md",)

if __name__ == "__main__":
    for page in PAGES:
        (DOCS / page).write_text(written(page))
