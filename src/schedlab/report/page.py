"""What all pages share: the frame, the looks, tables, and figures put inside."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable
from html import escape
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from schedlab.files.whole_file import whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LARGEST_SVG = 300_000  # characters; larger figures become images of dots
_DPI = 200
_NOTHING: dict[str, None] = dict.fromkeys(("Creator", "Date", "Format", "Type"))

STYLE = """
:root { color-scheme: light dark; --ink: #202124; --grey: #5f6368; --line: #9aa0a6; --faint: #eceef1; --paper: #fff;
  --good: #00734f; --fair: #8a5a00; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e5e8; --grey: #a4a9b0; --line: #6b7178; --faint: #2b2e33;
  --paper: #191b1e; --good: #5fd0a5; --fair: #e0b050; --bad: #ff8a80; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 62rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: .2rem; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 .3rem; }
p { margin: .4rem 0; } ul { margin: .3rem 0; padding-left: 1.2rem; }
p.about, td.note, figcaption, th small { color: var(--grey); } p.about, figcaption { font-size: .9rem; }
table { border-collapse: collapse; margin: .3rem 0; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .15rem .9rem .15rem 0; white-space: nowrap; vertical-align: top; }
th:first-child, td:first-child, td.note, td.text, th.text { text-align: left; }
td.text { white-space: normal; overflow-wrap: anywhere; }
thead th { border-bottom: 1px solid var(--line); font-weight: 600; vertical-align: bottom; }
tbody th { padding-top: .8rem; text-align: left; } th small { display: block; font-weight: 400; }
.good, .kept { color: var(--good); } .changed { color: var(--fair); } .bad, .lost { color: var(--bad); }
.lost { font-weight: 600; }
pre { background: var(--faint); padding: .8rem 1rem; border-radius: .3rem; overflow-x: auto; font-size: .85rem; }
code { font-size: .9em; overflow-wrap: anywhere; } summary { cursor: pointer; color: var(--grey); margin: .3rem 0; }
figure { margin: .8rem 0; padding: .4rem; background: #fff; border-radius: .3rem; break-inside: avoid; }
figure svg, figure img { width: 100%; height: auto; display: block; } figcaption { color: #5f6368; padding: 0 .4rem; }
@media print { html { font-size: 11px; } body { margin: 0; max-width: none; font-size: 1rem; }
  h2, h3 { break-after: avoid; } tr { break-inside: avoid; } thead { display: table-header-group; }
  pre { white-space: pre-wrap; } }
"""


def page(title: str, body: str, *, style: str = "", script: str = "") -> str:
    """A whole page; `style` and `script` come on top of what all have."""
    end = f"<script>{script}</script>\n" if script else ""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<style>{STYLE}{style}</style></head>'
        f"<body>\n<h1>{escape(title)}</h1>\n{body}\n{end}</body></html>\n"
    )


def write_page(path: Path, text: str) -> None:
    with whole_file(path) as file:
        file.write(text.encode())


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Names and what is to be said of them."""
    lines = (f'<tr><td>{escape(name)}</td><td class="text">{escape(said)}</td></tr>' for name, said in rows)
    return "<table><tbody>\n" + "\n".join(lines) + "\n</tbody></table>"


def embedded(figure: Figure, caption: str = "", name: str = "") -> str:
    """A figure inside the page, with what is to be said below it; `name` is for those who cannot see it."""
    below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f"<figure>{_drawn(figure, name or caption)}{below}</figure>"


def _drawn(figure: Figure, name: str) -> str:
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
