"""The report's pictures, as PNG and SVG files and as SVG text to put into a page.

Lines differ by marker and dash, bars by hatch: nothing is told by colour alone, so that all of it
can be read in grey. The same figures give the same bytes.
"""

from __future__ import annotations

import importlib.util
import io
import math
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sameas.atomic import replacing_file
from sameas.errors import OptionError
from sameas.reproduction.rendering import score, seconds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Points = Sequence[tuple[float, float]]

COLOURS = ("#000000", "#c1440e", "#1f78b4", "#3a7d2c", "#7b4fa3", "#8c6d1f", "#666666")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (1, 2)))
HATCHES = ("", "////", "", "xxxx", "....", "", "\\\\\\\\", "----", "||||", "++++")
FILLS = (
    *("#4d4d4d", "#ffffff", "#cccccc", "#ffffff", "#ffffff", "#8c8c8c", "#ffffff", "#e6e6e6"),
    *("#ffffff", "#ffffff"),
)
PHASES = (
    "reading",
    "features",
    "neighbours",
    "profit",
    "candidates",
    "refinement",
    "assignment",
    "confidence",
    "writing",
    "rest",
)
"""What runs are made of, in order."""
WIDTH = 7.2
"""Inches."""


def curves(
    folder: Path,
    name: str,
    series: Mapping[str, Points],
    *,
    x_label: str,
    y_label: str,
    x_scale: Literal["linear", "log"] = "linear",
    usual: float | None = None,
) -> str:
    """One line per series over a common axis; a thin line stands at the usual setting."""
    with _drawing(name):
        figure, axes = _canvas(height=3.8)
        for number, (label, points) in enumerate(series.items()):
            x, y = zip(*sorted(points), strict=True)
            axes.plot(x, y, label=label, **_line(number))
        if usual is not None:
            axes.axvline(usual, color="#999999", linewidth=0.8, zorder=0, label="paper's setting")
        axes.set_xscale(x_scale)
        places = sorted({x for points in series.values() for x, _ in points})
        axes.set_xticks(_apart(places, x_scale))
        axes.set_xticks([], minor=True)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.yaxis.set_major_formatter(lambda value, _: score(value))
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        _legend(axes, columns=3)
        return _save(figure, folder, name)


def bars(
    folder: Path,
    name: str,
    series: Mapping[str, Mapping[str, float | None]],
    *,
    y_label: str,
) -> str:
    """One bar per series in each group, side by side, with its figure above it."""
    groups = list(dict.fromkeys(group for values in series.values() for group in values))
    width = 0.8 / len(series)
    with _drawing(name):
        figure, axes = _canvas(height=3.6)
        for number, (label, values) in enumerate(series.items()):
            heights = [values.get(group) or 0.0 for group in groups]
            places = [at + (number - (len(series) - 1) / 2) * width for at in range(len(groups))]
            drawn = axes.bar(places, heights, width, label=label, **_fill(number))
            figures = [score(values.get(group)) for group in groups]
            axes.bar_label(drawn, labels=figures, padding=2, fontsize=8)
        axes.set_xticks(range(len(groups)), groups)
        axes.set_ylim(0, 1.08)
        axes.yaxis.set_major_formatter(lambda value, _: score(value))
        axes.set_ylabel(y_label)
        _legend(axes, columns=len(series))
        return _save(figure, folder, name)


def stacked(
    folder: Path,
    name: str,
    rows: Mapping[str, Mapping[str, float]],
    *,
    x_label: str,
) -> str:
    """One lying bar per row, made of its parts in their order; the total at its end."""
    present = {part for values in rows.values() for part in values}
    parts = [*PHASES, *sorted(present - set(PHASES))]  # a phase looks the same in every plot
    starts = [0.0] * len(rows)
    with _drawing(name):
        figure, axes = _canvas(height=1.5 + 0.42 * len(rows))
        for number, part in enumerate(parts):
            if part not in present:
                continue
            lengths = [values.get(part, 0.0) for values in rows.values()]
            axes.barh(range(len(rows)), lengths, 0.62, left=starts, label=part, **_fill(number))
            starts = [start + length for start, length in zip(starts, lengths, strict=True)]
        for at, end in enumerate(starts):
            axes.annotate(
                seconds(end),
                (end, at),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                fontsize=8,
            )
        axes.set_yticks(range(len(rows)), list(rows))
        axes.invert_yaxis()
        axes.set_xlim(0, 1.08 * max(starts, default=1.0) or 1.0)
        axes.set_xlabel(x_label)
        _legend(axes, columns=4)
        return _save(figure, folder, name)


def reliability(
    folder: Path,
    name: str,
    panels: Mapping[str, Mapping[str, Sequence[Mapping[str, float]]]],
    *,
    level: float,
) -> str:
    """For each panel, the share that is right against confidence, above how many links there are.

    The bins of each series have ``low``, ``confidence``, ``accuracy`` and ``count``. A thin line
    stands where the two agree, another at the confidence from which on links are made.
    """
    from matplotlib.figure import Figure

    columns = min(3, len(panels))
    rows = math.ceil(len(panels) / columns)
    labels = list(dict.fromkeys(label for series in panels.values() for label in series))
    with _drawing(name):
        figure = Figure(figsize=(WIDTH, 0.4 + 2.9 * rows), layout="constrained")
        heights = [3, 1.2] * rows
        grid = figure.subplots(2 * rows, columns, squeeze=False, height_ratios=heights)
        for number in range(rows * columns):
            above, below = grid[
                2 * (number // columns) : 2 * (number // columns) + 2, number % columns
            ]
            if number >= len(panels):
                above.remove()
                below.remove()
                continue
            title, series = list(panels.items())[number]
            above.plot([0, 1], [0, 1], color="#999999", linewidth=0.8, zorder=0)
            for place, label in enumerate(labels):
                bins = series.get(label, [])
                style = _line(place)
                x = [each["confidence"] for each in bins]
                above.plot(x, [each["accuracy"] for each in bins], label=label, **style)
                width = 0.09 / len(labels)
                starts = [each["low"] + 0.005 + place * width for each in bins]
                counts = [each["count"] for each in bins]
                below.bar(starts, counts, width, align="edge", label=label, **_fill(place))
            for axes in (above, below):
                axes.axvline(level, color="#999999", linewidth=0.8, linestyle=":", zorder=0)
                axes.set_xlim(0, 1.02)
                axes.set_xticks([0, 0.5, 1], ["0", ".5", "1"])
            above.set_ylim(0, 1.02)
            above.set_yticks([0, 0.5, 1], ["0", ".5", "1"])
            above.set_title(title, fontsize=9)
            below.set_yscale("log")
            below.set_ylim(0.7, 1e5)
            below.set_yticks([1, 100, 10_000], ["1", "100", "10,000"])
            below.set_yticks([], minor=True)
            below.set_xlabel("confidence")
            if not number % columns:
                above.set_ylabel("share that is right")
                below.set_ylabel("links")
        handles, texts = grid[0, 0].get_legend_handles_labels()
        figure.legend(
            handles, texts, loc="outside upper left", ncols=len(labels), frameon=False, fontsize=9
        )
        return _save(figure, folder, name)


def changes(
    folder: Path,
    name: str,
    panels: Mapping[str, Mapping[str, Mapping[str, float]]],
    usual: Mapping[str, float],
    *,
    x_label: str,
) -> str:
    """For each panel, a row for each setting with a mark for each of its changes.

    A thin line stands at the usual figure of the panel. All panels have the same scale.
    """
    from matplotlib.figure import Figure

    settings = list(dict.fromkeys(setting for rows in panels.values() for setting in rows))
    kinds = list(
        dict.fromkeys(kind for rows in panels.values() for marks in rows.values() for kind in marks)
    )
    ends = {title: _ends([usual[title], *_marks(own)]) for title, own in panels.items()}
    span = max(high - low for low, high in ends.values()) or 0.01
    columns = min(3, len(panels))
    rows = math.ceil(len(panels) / columns)
    with _drawing(name):
        figure = Figure(
            figsize=(WIDTH, 0.5 + rows * (0.8 + 0.2 * len(settings))), layout="constrained"
        )
        grid = figure.subplots(rows, columns, squeeze=False, sharey=True)
        for number, axes in enumerate(grid.flat):
            if number >= len(panels):
                axes.remove()
                continue
            title, own = list(panels.items())[number]
            axes.axvline(usual[title], color="#999999", linewidth=0.8, zorder=0)
            for place, kind in enumerate(kinds):
                found = [
                    (own[s][kind], y) for y, s in enumerate(settings) if kind in own.get(s, {})
                ]
                style = {**_line(place), "linestyle": "none"}
                axes.plot([x for x, _ in found], [y for _, y in found], label=kind, **style)
            axes.set_yticks(range(len(settings)), settings)
            axes.set_ylim(len(settings) - 0.4, -0.6)
            middle = sum(ends[title]) / 2
            axes.set_xlim(middle - 0.55 * span, middle + 0.55 * span)
            axes.grid(axis="y", color="#dddddd", linewidth=0.5)
            axes.locator_params(axis="x", nbins=4)
            axes.xaxis.set_major_formatter(lambda value, _: score(value))
            axes.set_title(title, fontsize=9)
            axes.set_xlabel(x_label)
        handles, texts = grid[0, 0].get_legend_handles_labels()
        figure.legend(handles, texts, loc="outside upper left", ncols=len(kinds), frameon=False)
        return _save(figure, folder, name)


def require_matplotlib() -> None:
    """Raise an OptionError that says what to install, unless plots can be drawn."""
    if importlib.util.find_spec("matplotlib") is None:
        raise OptionError(
            'the report needs matplotlib for its plots; install it: pip install "sameas[report]"'
        )


def _drawing(name: str) -> AbstractContextManager[None]:
    """Settings under which the same figures give the same picture."""
    require_matplotlib()
    import matplotlib

    settings: Any = {
        # The defaults first: a user's matplotlibrc must not change the report.
        **{key: value for key, value in matplotlib.rcParamsDefault.items() if key != "backend"},
        "svg.hashsalt": name,
        "svg.fonttype": "none",
        "font.family": ["DejaVu Sans"],
        "font.size": 9,
        "hatch.linewidth": 0.7,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    return matplotlib.rc_context(settings)


def _canvas(*, height: float) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    axes = figure.add_subplot()
    return figure, axes


def _marks(rows: Mapping[str, Mapping[str, float]]) -> list[float]:
    return [value for marks in rows.values() for value in marks.values()]


def _ends(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(values)


def _line(number: int) -> dict[str, Any]:
    """How the line of one series is drawn."""
    return {
        "color": COLOURS[number % len(COLOURS)],
        "marker": MARKERS[number % len(MARKERS)],
        "linestyle": DASHES[number % len(DASHES)],
        "linewidth": 1.5,
        "markersize": 5,
        "markerfacecolor": "none" if number % 2 else COLOURS[number % len(COLOURS)],
    }


def _fill(number: int) -> dict[str, Any]:
    """How the bars of one series are filled."""
    return {
        "facecolor": FILLS[number % len(FILLS)],
        "hatch": HATCHES[number % len(HATCHES)],
        "edgecolor": "#000000",
    }


def _legend(axes: Axes, *, columns: int) -> None:
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        ncols=columns,
        frameon=False,
        borderaxespad=0.3,
        handlelength=3.2,
    )


def _apart(places: Sequence[float], scale: str) -> list[float]:
    """Of the places on an axis, those whose labels do not run into each other."""
    position = {x: math.log(x) if scale == "log" else x for x in places}
    span = (position[places[-1]] - position[places[0]]) or 1.0
    kept: list[float] = []
    for x in places:
        if not kept or position[x] - position[kept[-1]] >= span / 16:
            kept.append(x)
    return kept


def _save(figure: Figure, folder: Path, name: str) -> str:
    """Write ``name``.png and ``name``.svg; the SVG comes back, ready to be put into a page."""
    text = io.StringIO()
    nobody = {"Date": None, "Creator": None, "Format": None, "Type": None}
    figure.savefig(text, format="svg", metadata=nobody)
    figure.set_layout_engine("none")  # all is in its place now; finding that takes its time
    svg = "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"
    with replacing_file(folder / f"{name}.svg") as draft:
        draft.write_text(svg, encoding="utf8", newline="\n")
    with replacing_file(folder / f"{name}.png") as draft:
        figure.savefig(draft, format="png", dpi=160, metadata={"Software": None})
    return _for_page(svg, name)


def _for_page(svg: str, name: str) -> str:
    """The SVG without what belongs to a file of its own, and with ids that no other has."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<style.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\b(id=")', rf"\g<1>{name}-", svg)
    svg = re.sub(r'(url\(#|href="#)', rf"\g<1>{name}-", svg)
    return svg.replace("fill: #ffffff", "fill: none").strip()
