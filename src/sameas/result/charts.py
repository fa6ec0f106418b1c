"""Charts of results, by Altair (the extra sameas[plot]): the same as in the review."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from sameas.errors import OptionError
from sameas.graph.given_tables import Table, as_links
from sameas.graph.iri import last_part

if TYPE_CHECKING:
    import altair

BINS = 20
"""Columns of the histogram of confidences."""
INTERVALS = 10
"""Intervals of confidence within which links are compared with gold links."""
RELATIONS = 20
"""Relation matches in the chart, those on most edges first."""
COLOURS = {"adds": "#2f9e64", "takes off": "#d2463c", "total": "#4678dc"}


def load_altair() -> Any:
    """The charting library; an OptionError that says how to install it."""
    try:
        return import_module("altair")
    except ImportError:
        raise OptionError('charts need Altair: pip install "sameas[plot]"') from None


@dataclass(frozen=True, eq=False)
class Plots:
    """Charts of an alignment: ``alignment.plot.confidence()``."""

    links: pl.DataFrame
    matches: pl.DataFrame | None
    """Relation matches: left, right, inverse, match, edges."""
    load_gold: Callable[[], pl.DataFrame | None]

    def confidence(self) -> altair.Chart:
        """How many links have which confidence."""
        return confidence_chart(self.links["confidence"], "links")

    def reliability(self, gold: Table | None = None) -> altair.LayerChart:
        """Which share of the links of a confidence is correct; on the diagonal if it is as said.

        ``gold`` are known links, those of the pair unless given; links count that touch an entity
        which they mention.
        """
        alt = load_altair()
        known = self.load_gold() if gold is None else as_links(gold, "gold")
        if known is None:
            raise OptionError("`gold` must be given: this pair has no gold links to compare with")
        rows = reliability_rows(self.links, known)
        line = alt.Chart(alt.Data(values=[{"x": 0, "y": 0}, {"x": 1, "y": 1}]))
        points = alt.Chart(alt.Data(values=rows), title="Reliability", width=300, height=300)
        unit = alt.Scale(domain=[0, 1])
        drawn: altair.LayerChart = line.mark_line(color="gray", strokeDash=[4, 4]).encode(
            x="x:Q", y="y:Q"
        ) + points.mark_line(color=COLOURS["total"], point=True).encode(
            x=alt.X("confidence:Q", title="confidence", scale=unit),
            y=alt.Y("correct:Q", title="share that is correct", scale=unit),
            tooltip=["confidence:Q", "correct:Q", "links:Q"],
        )
        return drawn

    def relations(self) -> altair.Chart:
        """Which relation matches which, and how well."""
        alt = load_altair()
        if self.matches is None:
            raise OptionError("this run learned no relation matches; they need refinement")
        order = self.matches.sort(["edges", "left", "right"], descending=[True, False, False]).head(
            RELATIONS
        )
        rows = [
            {
                "relations": f"{last_part(row['left'])} = {last_part(row['right'])}"
                + " (inverse)" * row["inverse"],
                "match": row["match"],
                "edges": row["edges"],
            }
            for row in order.iter_rows(named=True)
        ]
        chart = alt.Chart(alt.Data(values=rows), title="Relations that match", width=400)
        drawn: altair.Chart = chart.mark_bar(color=COLOURS["total"]).encode(
            x=alt.X("match:Q", scale=alt.Scale(domain=[0, 1])),
            y=alt.Y("relations:N", sort=None, title=None, axis=alt.Axis(labelLimit=400)),
            tooltip=["relations:N", "match:Q", "edges:Q"],
        )
        return drawn


def confidence_chart(confidence: pl.Series, what: str) -> altair.Chart:
    """How many links or clusters have which confidence."""
    alt = load_altair()
    counts, edges = np.histogram(confidence.drop_nulls().to_numpy(), bins=BINS, range=(0.0, 1.0))
    rows = [
        {"from": round(low, 4), "to": round(low + 1 / BINS, 4), what: count}
        for count, low in zip(counts.tolist(), edges.tolist(), strict=False)
    ]
    chart = alt.Chart(alt.Data(values=rows), title=f"Confidence of the {what}", width=400)
    drawn: altair.Chart = chart.mark_bar(color=COLOURS["total"]).encode(
        x=alt.X("from:Q", bin="binned", title="confidence", scale=alt.Scale(domain=[0, 1])),
        x2="to:Q",
        y=alt.Y(f"{what}:Q", title=what),
        tooltip=["from:Q", "to:Q", f"{what}:Q"],
    )
    return drawn


def reliability_rows(links: pl.DataFrame, gold: pl.DataFrame) -> list[dict[str, Any]]:
    """Mean confidence, share of correct links and count, by intervals of confidence."""
    known = [pl.col(side).is_in(gold[side].implode()) for side in ("left", "right")]
    agreeing = gold.select("left", "right").unique().with_columns(correct=True)
    interval = (pl.col("confidence") * INTERVALS).floor().clip(0, INTERVALS - 1)
    table = (
        links.filter(pl.any_horizontal(known))
        .drop_nulls("confidence")
        .join(agreeing, on=["left", "right"], how="left")
        .group_by(interval=interval)
        .agg(
            pl.col("confidence").mean(),
            pl.col("correct").fill_null(False).mean(),
            links=pl.len(),
        )
        .sort("interval")
    )
    return table.drop("interval").to_dicts()


def waterfall_chart(steps: Sequence[Mapping[str, Any]], scale: str) -> altair.Chart:
    """The parts of a score, each from where the sum so far ends."""
    alt = load_altair()
    rows, end = [], 0.0
    for step in steps:
        is_total = step["kind"] == "total"
        begin = 0.0 if is_total else end
        end = begin + step["score"]
        effect = "total" if is_total else "adds" if step["score"] >= 0 else "takes off"
        row = {"part": step["title"], "from": begin, "to": end}
        rows.append({**row, "score": step["score"], "effect": effect})
    chart = alt.Chart(alt.Data(values=rows), title="How the score comes about", width=400)
    colours = alt.Scale(domain=[*COLOURS], range=[*COLOURS.values()])
    drawn: altair.Chart = chart.mark_bar().encode(
        x=alt.X("from:Q", title=scale),
        x2="to:Q",
        y=alt.Y("part:N", sort=None, title=None, axis=alt.Axis(labelLimit=400)),
        color=alt.Color("effect:N", scale=colours, title=None),
        tooltip=["part:N", "score:Q"],
    )
    return drawn
