"""How all figures look: sizes for paper, colours and dashes, plain axes, legends that cover nothing, files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from schedlab.model.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Width = Literal["column", "page"]
INCHES: dict[Width, float] = {"column": 3.4, "page": 7.0}

# Points on paper.
TEXT, SMALL = 7.5, 6.5
LINE = 1.2
_LONGEST_BAR = 2.6  # inches
CHARACTER = 0.59 * SMALL / 72  # inches, a little more than the mean of the letters
_BOLD = 0.7 * TEXT / 72
_ROW = 1.55 * SMALL / 72
_HANDLE = 0.5  # inches beside a name in a legend

# Okabe and Ito's colours, which the colour-blind can tell apart; the dashes help where there is no colour at all.
COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_DOTTED, _DOT_DASH, _LONG = (0, (1, 1.2)), (0, (4, 1.2, 1, 1.2)), (0, (6, 2))
DASHES: tuple[Any, ...] = ("-", "-", "-", "--", "--", "--", ":", _DOT_DASH, _DOT_DASH, _DOT_DASH, "-", "-", "-", _LONG)
GREY, LIGHT, FAINT = "#5f6368", "#d9dce0", "#eceef1"

ENDINGS = (".pdf", ".png", ".svg")
_DPI = 300
# Without dates and versions inside: the same run gives the same bytes.
_METADATA: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".pdf": {"Creator": "schedlab", "Producer": None, "CreationDate": None},
    ".svg": {"Creator": "schedlab", "Date": None},
}


def series(number: int) -> dict[str, Any]:
    """The line of the run of that number: fourteen that differ in colour or in dashes."""
    return {"color": COLOURS[number % 7], "linestyle": DASHES[number % 14], "linewidth": LINE}


def shades() -> Any:
    """Colours for numbers, from light to dark; the lightest can still be told from paper."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap([colormaps["YlGnBu"](0.15 + 0.85 * step / 255) for step in range(256)], "schedlab")


def colour_bar(scale: Any, axes: Any, label: str, *, below: bool = False) -> Any:
    """The scale of `shades` beside the axes (or a list of them), or below."""
    from matplotlib.ticker import StrMethodFormatter

    figure = figure_of(axes[0] if isinstance(axes, list) else axes)
    length = figure.get_figwidth() if below else figure.get_figheight()
    place: Any = {"location": "bottom" if below else "right", "pad": 0.015, "fraction": 0.06}
    bar = figure.colorbar(scale, ax=axes, aspect=22, shrink=min(0.9, _LONGEST_BAR / length), **place)
    bar.set_label(label, fontsize=TEXT, color=GREY)
    bar.ax.minorticks_off()
    bar.ax.tick_params(which="both", colors=GREY, labelsize=SMALL, length=0)
    bar.formatter = StrMethodFormatter("{x:,g}")
    outline: Any = bar.outline
    outline.set_visible(False)
    return bar


def new_figure(width: Width, height: float) -> Figure:
    """A figure for one column or a whole page, so many inches high; a legend adds what it needs."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    if width not in INCHES:
        raise InputError(f"there is no width '{width}'", hint="column (3.4 in) or page (7 in)")
    layout = ConstrainedLayoutEngine(w_pad=0.05, h_pad=0.04, wspace=0.03, hspace=0.03)
    return Figure(figsize=(INCHES[width], height), layout=layout, facecolor="white")


def panels(labels: Sequence[str], width: Width, height: float, across: int) -> tuple[Figure, list[Axes]]:
    """A panel for each label, with the label above it, at most `across` in a row; all with the same axis of x."""
    columns = min(across, len(labels))
    rows = -(-len(labels) // columns)
    narrow = columns > 1
    letters = (INCHES[width] - 1.0) / columns / (CHARACTER if narrow else _BOLD)
    names = [wrapped(label, int(letters)) for label in labels]
    lines = 1 + max(name.count("\n") for name in names)
    figure = new_figure(width, 0.5 + rows * (height + lines * _ROW))
    every = list(figure.subplots(rows, columns, sharex=True, squeeze=False).flat)
    for axes, name in zip(every, names, strict=False):
        if narrow:
            axes.set_title(name, loc="left", fontsize=SMALL)
        else:
            headline(axes, name)
    for number, axes in enumerate(every[len(labels) :], len(labels)):
        axes.remove()
        every[number - columns].tick_params(labelbottom=True)
    return figure, every[: len(labels)]


def legend(figure: Figure, handles: Sequence[Any], labels: Sequence[str], width: Width) -> None:
    """Below everything else, in as many columns as there is room for; the figure grows by its height."""
    columns = _columns(labels, width)
    names = [wrapped(label, int((INCHES[width] - _HANDLE) / CHARACTER)) for label in labels] if columns == 1 else labels
    lines = -(-len(labels) // columns) + sum(name.count("\n") for name in names)
    figure.set_figheight(figure.get_figheight() + _ROW * (0.5 + lines))
    figure.legend(
        handles,
        names,
        loc="outside lower left",
        ncols=columns,
        fontsize=SMALL,
        frameon=False,
        handlelength=2.6,
        columnspacing=1.4,
        borderaxespad=0.2,
        labelspacing=0.35,
    )


def _columns(labels: Sequence[str], width: Width) -> int:
    longest = max(map(len, labels), default=0) * CHARACTER + _HANDLE
    return max(1, min(len(labels), int(INCHES[width] / longest)))


def explain(axes: Axes, handles: Sequence[Any], labels: Sequence[str], width: Width, *, own: bool) -> None:
    """What the colours mean: below a figure of our own, inside the axes of somebody else's."""
    if own:
        legend(figure_of(axes), handles, labels, width)
    else:
        axes.legend(handles, labels, fontsize=SMALL, frameon=False, handlelength=2.6)


def finish_series(axes: Axes, labels: Sequence[str], width: Width, title: str, *, own: bool) -> None:
    """The title and the legend of a figure with a line for each label; a single line needs only its name above."""
    headline(axes, title or (labels[0] if len(labels) == 1 else ""))
    if len(labels) > 1:
        explain(axes, axes.get_legend_handles_labels()[0], labels, width, own=own)


def figure_of(axes: Axes) -> Figure:
    """The whole figure, also if the axes are in a part of one."""
    found: Any = axes.get_figure(root=True)
    return found  # type: ignore[no-any-return]


def headline(axes: Axes, text: str) -> None:
    if text:
        axes.set_title(text, loc="left", fontsize=TEXT, fontweight="bold")


def figure_headline(figure: Figure, text: str) -> None:
    if text:
        figure.suptitle(text, x=0.01, ha="left", fontsize=TEXT + 1, fontweight="bold")


def plain(axes: Axes, grid: Literal["x", "y", "both", ""] = "y") -> None:
    """Nothing but the data and a few grey lines to read it by."""
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(GREY)
    axes.spines["bottom"].set_linewidth(0.7)
    if grid:
        axes.grid(axis=grid, color=LIGHT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(which="both", colors=GREY, length=0, labelsize=SMALL)
    axes.tick_params(axis="x", pad=5)
    for axis in (axes.xaxis, axes.yaxis):
        axis.label.set(color=GREY, size=TEXT)
        axis.get_offset_text().set(color=GREY, size=SMALL)


def wrapped(label: str, characters: int) -> str:
    """A long name in lines of about so many characters, broken after colons and commas."""
    lines = [""]
    for part in label.replace(",", ",\0").replace(":", ":\0").replace(" ", " \0").split("\0"):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > characters:
            lines.append("")
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


def checked_ending(path: str | Path) -> str:
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise InputError("is not the name of a figure", where=str(path), hint=f"names end in {', '.join(ENDINGS)}")
    return ending


def save(figure: Figure, path: str | Path | None) -> None:
    """Write the figure if a path is given. Letters stay letters in PDF; the same figure gives the same bytes."""
    if path is None:
        return
    from matplotlib import rc_context

    from schedlab.files.whole_file import whole_file

    ending = checked_ending(path)
    options: Any = {"format": ending[1:], "dpi": _DPI, "metadata": _METADATA[ending]}
    with rc_context({"pdf.fonttype": 42, "svg.hashsalt": "schedlab"}), whole_file(Path(path)) as file:
        figure.savefig(file, **options)


def save_axes(axes: Axes, path: str | Path | None) -> None:
    save(figure_of(axes), path)
