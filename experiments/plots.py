"""Pictures made of panels, as PNG and SVG files and as SVG text to put into a page.

Lines differ by marker and dash, bars by hatch, so that everything can be read in grey. The same
figures give the same bytes.
"""

from __future__ import annotations

import importlib.util
import io
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from experiments.rendering import score, seconds
from sameas.compute.atomic import replacing_file
from sameas.errors import OptionError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#000000", "#c1440e", "#1f78b4", "#3a7d2c", "#7b4fa3", "#8c6d1f", "#666666")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (1, 2)))
FILLS = {
    "reading": ("#4d4d4d", ""),
    "inputs": ("#b3b3b3", ""),
    "features": ("#ffffff", "////"),
    "neighbours": ("#cccccc", ""),
    "profit": ("#ffffff", "xxxx"),
    "candidates": ("#ffffff", "...."),
    "refinement": ("#8c8c8c", ""),
    "assignment": ("#ffffff", "\\\\\\\\"),
    "confidence": ("#e6e6e6", "----"),
    "writing": ("#ffffff", "||||"),
    "rest": ("#ffffff", "++++"),
}
"""Colour and hatch of bars. A phase of a run looks the same in every plot."""
WIDTH = 7.2
"""Inches."""


@dataclass(frozen=True)
class Panel:
    """One pair of axes.

    ``series`` maps the label of each series to its values: a number for each place. Places are
    numbers for lines, and names for (lying) bars, stacked bars and dots.
    """

    kind: Literal["lines", "bars", "stacked", "dots"]
    series: Mapping[str, Mapping[Any, float]]
    title: str = ""
    axes: Mapping[str, Any] = field(default_factory=dict)
    """What matplotlib sets of axes: xlabel, ylabel, xscale, ylim, ..."""
    mark: float | None = None
    """Where a thin vertical line is drawn."""
    mark_label: str | None = None
    diagonal: bool = False
    """Whether a thin line is drawn from (0, 0) to (1, 1)."""
    ticks: int = 16
    """How many places on the horizontal axis have room for their labels."""
    x_show: Callable[[float], str] = "{:g}".format
    y_show: Callable[[float], str] = score

    @property
    def places(self) -> list[Any]:
        """All places, in the order in which they come."""
        return list(dict.fromkeys(place for values in self.series.values() for place in values))


def draw(
    folder: Path, name: str, panels: Sequence[Panel], *, height: float, columns: int = 1
) -> str:
    """Write ``name``.png and ``name``.svg; the SVG is returned, ready to be put into a page.

    ``height`` is that of a row of panels, in inches. The legend is that of the first panel.
    """
    require_matplotlib()
    import matplotlib
    from matplotlib.figure import Figure

    style: Any = {
        # The defaults first: a user's matplotlibrc must not change the report.
        **{key: value for key, value in matplotlib.rcParamsDefault.items() if key != "backend"},
        **{"svg.hashsalt": name, "svg.fonttype": "none", "hatch.linewidth": 0.7},
        **{"font.family": ["DejaVu Sans"], "font.size": 9},
        **{"axes.spines.top": False, "axes.spines.right": False, "axes.titlesize": 9},
        **{"lines.linewidth": 1.5, "lines.markersize": 5},
    }
    with matplotlib.rc_context(style):
        columns = min(columns, len(panels))
        rows = math.ceil(len(panels) / columns)
        figure = Figure(figsize=(WIDTH, height * rows), layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False).flatten()
        for axes, panel in zip(grid, panels, strict=False):
            _draw_panel(axes, panel)
        for axes in grid[len(panels) :]:
            axes.remove()
        handles, texts = grid[0].get_legend_handles_labels()
        width = max(1, min(4, 110 // (8 + max(map(len, texts), default=1))))
        figure.legend(handles, texts, loc="outside upper left", ncols=width, frameon=False)
        text = io.StringIO()
        nobody = {"Date": None, "Creator": None, "Format": None, "Type": None}
        figure.savefig(text, format="svg", metadata=nobody)
        figure.set_layout_engine("none")  # the layout is done; doing it again would take time
        with replacing_file(folder / f"{name}.png") as draft:
            figure.savefig(draft, format="png", dpi=160, metadata={"Software": None})
    svg = "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"
    with replacing_file(folder / f"{name}.svg") as draft:
        draft.write_text(svg, encoding="utf8", newline="\n")
    # For a page: without file header and style, and with ids that no other picture has.
    svg = re.sub(r"<style.*?</style>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", svg)
    return svg.replace("fill: #ffffff", "fill: none").strip()


def require_matplotlib() -> None:
    """Raise an OptionError that says what to install, unless plots can be drawn."""
    if importlib.util.find_spec("matplotlib") is None:
        raise OptionError(
            "the report needs matplotlib for its plots; install it: "
            "pip install -r experiments/requirements.txt"
        )


def _draw_panel(axes: Axes, panel: Panel) -> None:
    axes.set(title=panel.title, **panel.axes)
    {"lines": _lines, "bars": _bars, "stacked": _bars, "dots": _dots}[panel.kind](axes, panel)
    thin: Any = {"color": "#999999", "linewidth": 0.8, "zorder": 0}
    if panel.diagonal:
        axes.plot([0, 1], [0, 1], **thin)
    if panel.mark is not None:
        axes.axvline(panel.mark, label=panel.mark_label, **thin)


def _lines(axes: Axes, panel: Panel) -> None:
    for number, (label, values) in enumerate(panel.series.items()):
        axes.plot(list(values), list(values.values()), label=label, **_line(number))
    places = sorted(panel.places)
    axes.set_xticks(places[:: math.ceil(len(places) / panel.ticks)])
    axes.set_xticks([], minor=True)
    axes.xaxis.set_major_formatter(lambda value, _: panel.x_show(value))
    axes.yaxis.set_major_formatter(lambda value, _: panel.y_show(value))


def _bars(axes: Axes, panel: Panel) -> None:
    """Lying bars, one group for each place: side by side, or one after the other if stacked."""
    stacked, at = panel.kind == "stacked", np.arange(len(panel.places))
    width = 0.62 if stacked else 0.8 / len(panel.series)
    starts = np.zeros(len(at))
    for number, (label, values) in enumerate(panel.series.items()):
        lengths = np.array([values.get(place, 0.0) for place in panel.places])
        colour, hatch = FILLS.get(label, list(FILLS.values())[number % len(FILLS)])
        style: Any = {"facecolor": colour, "hatch": hatch, "edgecolor": "#000000"}
        where = at if stacked else at + number * width
        drawn = axes.barh(where, lengths, width, left=starts, label=label, **style)
        if stacked:
            starts = starts + lengths
        else:
            axes.bar_label(drawn, labels=[score(x) for x in lengths], padding=3, fontsize=8)
    if stacked:
        axes.bar_label(drawn, labels=[seconds(x) for x in starts], padding=4, fontsize=8)
    axes.set_yticks(at if stacked else at + 0.4 - width / 2, panel.places)
    axes.invert_yaxis()
    axes.margins(x=0.08)


def _dots(axes: Axes, panel: Panel) -> None:
    for number, (label, values) in enumerate(panel.series.items()):
        heights = [panel.places.index(place) for place in values]
        style = {**_line(number), "linestyle": "none"}
        axes.plot(list(values.values()), heights, label=label, **style)
    axes.set_yticks(range(len(panel.places)), panel.places)
    axes.set_ylim(len(panel.places) - 0.4, -0.6)
    axes.grid(axis="y", color="#dddddd", linewidth=0.5)
    axes.xaxis.set_major_formatter(lambda value, _: score(value))


def _line(number: int) -> dict[str, Any]:
    colour, marker, dash = (kinds[number % len(kinds)] for kinds in (COLOURS, MARKERS, DASHES))
    face = "none" if number % 2 else colour
    return {"color": colour, "marker": marker, "linestyle": dash, "markerfacecolor": face}
