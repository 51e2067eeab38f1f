"""The groups of a study as a table that can be sorted."""

from __future__ import annotations

from html import escape
from typing import Any

from schedlab.analysis.verdict import metric_better, metric_name
from schedlab.report.findings import Findings

LONGEST = 40  # rows; longer tables scroll

STYLE = """
table.words td { padding-top: .2rem; } table.words td:first-child { min-width: 3rem; font-size: .9rem; }
.wide { overflow-x: auto; width: fit-content; min-width: 100%; max-width: calc(100vw - 3rem); margin-left: 50%;
  transform: translateX(-50%); } .long { max-height: 75vh; overflow-y: auto; }
.long thead th { position: sticky; top: 0; background: var(--paper); }
table.groups { font-size: .88rem; } table.groups th, table.groups td { padding-right: .7rem; }
table.groups tbody tr:hover { background: var(--faint); } table.groups td.best { font-weight: 700; }
table.groups td.best::before { content: "★ "; color: var(--good); }
table.groups td.name, table.groups th.name { text-align: left; } table.groups th { white-space: normal; }
th[role=button] { cursor: pointer; } th[aria-sort=ascending]::after { content: " ▲"; }
th[aria-sort=descending]::after { content: " ▼"; }
.pairs { display: grid; grid-template-columns: repeat(auto-fit, minmax(26rem, 1fr)); gap: 0 .8rem; }
@media (max-width: 30rem) { .pairs { display: block; } }
@media print { .wide { overflow: visible; max-width: none; margin-left: 0; transform: none; }
  .long { max-height: none; overflow: visible; } .pairs { grid-template-columns: 1fr 1fr; } }
"""

# Numbers by their value, words by the alphabet; what is missing comes last either way.
SCRIPT = """
for (const table of document.querySelectorAll("table.groups")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  const sort = column => {
    const up = heads[column].getAttribute("aria-sort") !== "ascending";
    const key = row => row.cells[column].dataset.value;
    heads.forEach(head => head.removeAttribute("aria-sort"));
    heads[column].setAttribute("aria-sort", up ? "ascending" : "descending");
    const rows = [...body.rows].sort((one, other) => {
      const a = key(one), b = key(other);
      if (a === "" || b === "") return (a === "") - (b === "");
      const order = isNaN(a) || isNaN(b) ? a.localeCompare(b) : a - b;
      return up ? order : -order;
    });
    body.append(...rows);
  };
  heads.forEach((head, column) => {
    head.setAttribute("role", "button");
    head.tabIndex = 0;
    head.title = "sort";
    head.onclick = () => sort(column);
    head.onkeydown = event => { if (event.key === "Enter") sort(column); };
  });
}
"""


def groups_table(found: Findings) -> str:
    """One row per group: its parameters, how many runs, the mean of each metric with its interval."""
    if not found.points:
        return ""
    rows = "\n".join(_row(found, group) for group in found.points)
    long = " long" if len(found.points) > LONGEST else ""
    return (
        f'{_about(found)}\n<div class="wide{long}"><table class="groups"><thead><tr>{_heads(found)}</tr></thead>'
        f"<tbody>\n{rows}\n</tbody></table></div>"
    )


def _about(found: Findings) -> str:
    repeated = max(found.runs.values()) > 1
    said = ["Means over the repetitions" if repeated else "One run of each group"]
    if any(row["low"] is not None for row in found.merged.values()):
        said.append("± half the width of the 95 % confidence interval")
    if any(metric_better(metric) for metric in found.metrics) and len(found.points) > 1:
        of = " of each setting" if len(found.contexts) > 1 else ""
        said.append(f"★ the best{of}" + (", by chance maybe where intervals overlap" if repeated else ""))
    return f'<p class="about">{"; ".join(said)}. A click on a title sorts.</p>'


def _heads(found: Findings) -> str:
    names = "".join(f'<th class="name">{escape(name)}</th>' for name in found.results.varied or ["study"])
    metrics = []
    for metric in found.metrics:
        unit = found.scales[metric].unit
        metrics.append(f"<th>{escape(metric_name(metric))}{f'<small>{unit}</small>' if unit else ''}</th>")
    return f"{names}<th>runs</th>{''.join(metrics)}"


def _row(found: Findings, group: str) -> str:
    point, results = found.points[group], found.results
    cells = [_cell(point.get(name, ""), results.short(name, point.get(name, "–")), "name") for name in results.varied]
    if not cells:
        cells = [_cell(results.name, results.name, "name")]
    runs = found.runs[group]
    cells.append(_cell(runs, f"{runs:,}"))
    for metric in found.metrics:
        row = found.merged[group, metric]
        mark = "best" if group in found.winners[metric] else ""
        cells.append(_cell("" if row["mean"] is None else row["mean"], found.scales[metric].text(row), mark))
    return f"<tr>{''.join(cells)}</tr>"


def _cell(value: Any, text: str, kind: str = "") -> str:
    marked = f' class="{kind}"' if kind else ""
    return f'<td{marked} data-value="{escape(str(value))}">{escape(text)}</td>'
