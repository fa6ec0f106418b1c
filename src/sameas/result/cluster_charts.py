"""Charts of clusters, by Altair: one cluster drawn, sizes, confidences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from sameas.errors import OptionError
from sameas.result.charts import COLOURS, confidence_chart, load_altair
from sameas.result.cluster_drawing import KINDS, ClusterDrawing, draw_cluster

if TYPE_CHECKING:
    import altair

LINES = {
    "holds": ("#4678dc", 3.0, [1, 0]),
    "weakest": ("#c98a1b", 3.0, [7, 4]),
    "other": ("#8a93a3", 1.0, [1, 0]),
    "against": ("#d2463c", 1.0, [2, 4]),
    "accept": ("#2f9e64", 4.0, [1, 0]),
    "reject": ("#d2463c", 2.0, [10, 4]),
}
"""Colour, width and dashes of each kind of line."""
WIDTH = 440
LETTERS = 24
"""Letters of a name beside a member."""


@dataclass(frozen=True, eq=False)
class ClusterDetails:
    """What the tables of clusters do not hold, for drawings."""

    entities: pl.DataFrame
    """id, entity, graph, name; the id is that of the run."""
    pairs: pl.DataFrame
    """left, right, score of pairs of entities, by the ids of the run."""
    decisions: pl.DataFrame | None = None
    """left, right, state."""


@dataclass(frozen=True, eq=False)
class ClusterPlots:
    """Charts of clusters: ``clusters.plot.drawing("r17")``."""

    members: pl.DataFrame
    summary: pl.DataFrame
    links: pl.DataFrame
    details: ClusterDetails | None = None

    def drawing(self, which: str | None = None) -> altair.LayerChart:
        """A cluster, by its name or that of a member: its members, and the links between them.

        Without one, the least certain cluster. It is the drawing of the review and the report.
        """
        drawn, confidence = self._drawn(self._name(which))
        return drawing_chart(drawn, f"{len(drawn.members)} members, confidence {confidence:.3f}")

    def sizes(self) -> altair.Chart:
        """How many clusters have how many members."""
        alt = load_altair()
        counts = self.summary["size"].value_counts().sort("size")
        rows = counts.select("size", clusters="count").to_dicts()
        chart = alt.Chart(alt.Data(values=rows), title="Sizes of the clusters", width=400)
        drawn: altair.Chart = chart.mark_bar(color=COLOURS["total"]).encode(
            x=alt.X("size:O", title="members", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("clusters:Q", title="clusters"),
            tooltip=["size:O", "clusters:Q"],
        )
        return drawn

    def confidence(self) -> altair.Chart:
        """How many clusters have which confidence."""
        return confidence_chart(self.summary["confidence"], "clusters")

    def _name(self, which: str | None) -> str:
        """The name of the cluster that is meant."""
        summary, members = self.summary, self.members
        if which is None:
            if not len(summary):
                raise OptionError("there are no clusters to draw")
            return str(summary.sort("confidence", "cluster")["cluster"][0])
        if which in summary["cluster"]:
            return which
        named = members.filter(pl.col("entity") == which)["cluster"].unique()
        if not len(named) and self.details is not None:
            called = self.details.entities.filter(
                (pl.col("name") == which) | (pl.col("id") == which)
            )
            named = members.join(called, on=["entity", "graph"])["cluster"].unique()
        if len(named) != 1:
            found = "several clusters have" if len(named) else "no cluster has"
            raise OptionError(f"`which` must be a cluster or a member of one: {found} {which!r}")
        return str(named[0])

    def _drawn(self, name: str) -> tuple[ClusterDrawing, float]:
        """The drawing of a cluster, and its confidence."""
        inside = pl.col("cluster") == name
        (row,) = self.summary.filter(inside).iter_rows(named=True)
        members, links = self.members.filter(inside), self.links.filter(inside)
        if self.details is None:
            known = members.select("entity", "graph", id="entity", name=pl.lit(""))
        else:
            known = self.details.entities
        on = ["entity", "graph"]
        listed = members.join(known, on=on, how="left", maintain_order="left")
        labels = {
            uri: name or entity
            for uri, name, entity in listed.select("id", "name", "entity").iter_rows()
        }
        ids = {(e, g): uri for e, g, uri in listed.select("entity", "graph", "id").iter_rows()}
        order = {uri: place for place, uri in enumerate(known["id"])}

        def pair(one: str, other: str) -> tuple[str, str]:
            return (one, other) if order[one] <= order[other] else (other, one)

        scores = {
            pair(ids[one, graph], ids[other, beside]): score
            for one, graph, other, beside, score in links.select(
                "left", "left_graph", "right", "right_graph", "score"
            ).iter_rows()
        }
        holding = list(scores)
        decided = {}
        if self.details is not None:
            both = pl.col("left").is_in(list(labels)) & pl.col("right").is_in(list(labels))
            for one, other, score in self.details.pairs.filter(both).iter_rows():
                scores.setdefault(pair(one, other), score)
            if self.details.decisions is not None:
                rows = self.details.decisions.filter(both).select("left", "right", "state")
                decided = {pair(one, other): state for one, other, state in rows.iter_rows()}
        split = {uri for (entity, _), uri in ids.items() if entity in (row["split"] or ())}
        if next(iter(labels)) in split:
            split = {*labels} - split
        drawn = draw_cluster(labels, scores, holding=holding, split=split, decided=decided)
        return drawn, row["confidence"]


def drawing_chart(drawn: ClusterDrawing, title: str) -> altair.LayerChart:
    """The drawing of a cluster as a chart."""
    alt = load_altair()
    places = {one.number: one for one in drawn.members}
    lines = [
        {
            "x": places[link.one].x,
            "y": -places[link.one].y,
            "x2": places[link.other].x,
            "y2": -places[link.other].y,
            "link": KINDS[link.kind],
            "width": LINES[link.kind][1],
            "members": f"{places[link.one].label} = {places[link.other].label}",
            "score": link.score,
        }
        for link in drawn.links
    ]
    nodes = [_node(one) for one in drawn.members]
    room, is_flat = (2.6 if drawn.has_labels else 1.25), len(drawn.members) == 2
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-room, room]))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[-0.6, 0.6] if is_flat else [-1.45, 1.45]))
    base = {"title": title, "width": WIDTH, "height": 120 if is_flat else 300}
    kinds, styles = zip(*((KINDS[kind], LINES[kind]) for kind in drawn.kinds), strict=True)
    rules = alt.Chart(alt.Data(values=lines), **base).mark_rule()
    edges = rules.encode(
        x=x,
        y=y,
        x2="x2:Q",
        y2="y2:Q",
        color=_scaled(alt, alt.Color, kinds, [style[0] for style in styles]),
        strokeWidth=alt.StrokeWidth("width:Q", scale=None),
        strokeDash=_scaled(alt, alt.StrokeDash, kinds, [style[2] for style in styles]),
        tooltip=["members:N", "link:N", "score:Q"],
    )
    points = alt.Chart(alt.Data(values=nodes)).encode(x=x, y=y)
    border = alt.condition("datum.split", alt.value("#c98a1b"), alt.value("#4678dc"))
    thick = alt.condition("datum.canonical", alt.value(4), alt.value(2))
    discs = points.mark_circle(size=520, fill="white", opacity=1).encode(
        stroke=border, strokeWidth=thick, tooltip=["number:Q", "name:N"]
    )
    numbers = points.mark_text(fontWeight="bold", color="#1b1f27").encode(text="number:Q")
    layers = [edges, discs, numbers]
    if drawn.has_labels:
        layers += _labels(alt, nodes, x, y)
    drawing: altair.LayerChart = alt.layer(*layers).configure_view(stroke=None)
    return drawing


def _node(one: Any) -> dict[str, Any]:
    """A member as a row; ``side`` is where there is room for its name."""
    side = "middle" if -0.3 < one.x < 0.3 else "right" if one.x > 0 else "left"
    label = one.label if len(one.label) <= LETTERS else f"{one.label[: LETTERS - 1]}…"
    shown = {"number": one.number, "name": one.label, "label": label, "side": side}
    return {**shown, "x": one.x, "y": -one.y, "canonical": one.canonical, "split": one.split}


def _scaled(alt: Any, channel: Any, kinds: Sequence[str], values: Sequence[Any]) -> Any:
    """A channel that gives each kind of line its look; all share one legend."""
    scale = alt.Scale(domain=list(kinds), range=list(values))
    legend = alt.Legend(orient="bottom", columns=2, symbolStrokeWidth=2) if len(kinds) > 1 else None
    return channel("link:N", scale=scale, title=None, legend=legend)


def _labels(alt: Any, nodes: Sequence[dict[str, Any]], x: Any, y: Any) -> list[Any]:
    """The names beside the members, where there is room for them."""
    looks: dict[str, dict[str, Any]] = {
        "right": {"align": "left", "dx": 18},
        "left": {"align": "right", "dx": -18},
        "middle": {"align": "center"},
    }
    found = []
    for side, look in looks.items():
        for above in (True, False):
            rows = [node for node in nodes if node["side"] == side and (node["y"] >= 0) == above]
            away = {"dy": -22 if above else 22} if side == "middle" else {}
            chart = alt.Chart(alt.Data(values=rows)).encode(x=x, y=y, text="label:N")
            if rows:
                found.append(chart.mark_text(color="#1b1f27", **look, **away))
    return found
