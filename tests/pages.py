"""The parts of the documentation that follow from declarations. `python -m tests.pages` writes them."""

from __future__ import annotations

import re
from pathlib import Path

from schedlab import Estimator, Execution, Observer, Policy
from schedlab.model.hooks import markdown
from schedlab.model.tables import TABLES

DOCS = Path(__file__).parents[1] / "docs"


def written(page: str) -> str:
    """A page as it should be: after a mark, `<!-- columns of jobs -->` or `<!-- hooks of Policy -->`, comes what is
    declared."""
    text = (DOCS / page).read_text()
    for mark, content in declared().items():
        text = re.sub(rf"(?<=<!-- {mark} -->\n)(\|.*\n)+", lambda _: content, text)  # noqa: B023 - used at once
    return text


def declared() -> dict[str, str]:
    """Mark -> what comes after it."""
    columns = {f"columns of {name}": table.markdown() for name, table in TABLES.items()}
    return columns | {f"hooks of {base.__name__}": markdown(base) for base in (Policy, Observer, Execution, Estimator)}


PAGES = ("runs.md", "extending.md")

if __name__ == "__main__":
    for page in PAGES:
        (DOCS / page).write_text(written(page))
