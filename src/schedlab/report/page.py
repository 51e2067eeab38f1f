"""What all pages share: the templates, and figures put inside."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass
from functools import cache
from html import escape
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedlab.files.whole_file import whole_file

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup
    from matplotlib.figure import Figure

LARGEST_SVG = 300_000  # characters; larger figures become images of dots
_DPI = 200
_NOTHING: dict[str, None] = dict.fromkeys(("Creator", "Date", "Format", "Type"))


def page(template: str, **data: Any) -> str:
    """The template, filled in with the data, all of which is escaped."""
    return _templates().get_template(template).render(data)


def write_page(path: Path, text: str) -> None:
    with whole_file(path) as file:
        file.write(text.encode())


@cache
def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("schedlab.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure inside the page, and what is to be said below it."""

    drawing: Markup
    caption: str = ""


def picture(figure: Figure, caption: str = "", name: str = "") -> Picture:
    """`name` is for those who cannot see it."""
    from markupsafe import Markup

    return Picture(Markup(_drawing(figure, name or caption)), caption)


def _drawing(figure: Figure, name: str) -> str:
    from matplotlib import rc_context

    text = StringIO()
    with rc_context({"svg.hashsalt": "schedlab", "svg.fonttype": "none", "font.family": "sans-serif"}):
        figure.savefig(text, format="svg", metadata=_NOTHING)
        svg = text.getvalue()
        if len(svg) <= LARGEST_SVG:
            # Without the lines in front that only a file of its own needs, and without names that figures share.
            plain = re.sub(r'<g id="[^"]*"', "<g", svg[svg.index("<svg") :])
            return plain.replace("<svg", f'<svg role="img" aria-label="{escape(name)}"', 1)
        image = BytesIO()
        figure.savefig(image, format="png", dpi=_DPI, metadata={"Software": None})
    return f'<img alt="{escape(name)}" src="data:image/png;base64,{b64encode(image.getvalue()).decode()}">'
