"""One pair of entities: its score taken apart, its alternatives, and what surrounds the two."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

import polars as pl

from sameas.errors import OptionError
from sameas.graph.matched import MatchedGraph
from sameas.options.options import Side
from sameas.result.explanation.result import (
    SIDES,
    Considered,
    Entity,
)
from sameas.result.explanation.sentences import (
    REASONS,
    Explanation,
    label,
    waterfall,
)
from sameas.web.review.differences import property_table
from sameas.web.review.folder import Review
from sameas.web.review.parameters import Record
from sameas.web.review.progress import progress
from sameas.web.review.queue import LINK, SECOND, Queue, filter_of

SHOWN = 40
"""Attributes of an entity that are shown."""


class NotFoundError(OptionError):
    """What was asked for is not in the run."""

    status_code = 404


def pair(review: Review, queue: Queue, values: Record) -> Record:
    """Two entities side by side; or one, with its partner or nearest candidate."""
    uris = {side: values[side] for side in ("left", "right") if values[side]}
    if not uris:
        raise OptionError("left or right is missing: the URI of an entity")
    for side, uri in uris.items():
        if queue.find_entity(side, uri) is None:
            raise NotFoundError(f"the {side} graph has no such entity")
    if review.of_clusters and len(uris) == 2:  # of one graph: the one that comes first is left
        numbers = {side: (queue.find_entity("left", uri) or {})["id"] for side, uri in uris.items()}
        if numbers["left"] > numbers["right"]:
            uris = {"left": uris["right"], "right": uris["left"]}
    ready = not review.is_large or review.prepare()
    near: Side = "left" if "left" in uris else "right"
    far: Side = "right" if near == "left" else "left"
    explanation = review.explain(uris[near], uris.get(far), near) if ready else None
    if explanation is not None and explanation.shown is not None and len(uris) < 2:
        uris = {"left": explanation.shown.left.uri, "right": explanation.shown.right.uri}
    both, chosen = len(uris) == 2, filter_of(values)
    pair, following, preceding = (uris.get("left", ""), uris.get("right", "")), [], []
    query = f"{LINK} WHERE e.side = 'left' AND e.uri = :left AND f.uri = :right"
    if link := next(iter(queue.rows(query, left=pair[0], right=pair[1])), None):
        following = queue.page_of_links(chosen, after=link["id"], limit=1)
        preceding = queue.page_of_links(chosen, before=link["id"], limit=1)
    entities = {side: _entity(review, queue, side, uri, ready) for side, uri in uris.items()}
    alone = {side: (uri, "") if side == "left" else ("", uri) for side, uri in uris.items()}
    about = [
        row
        for side, uri in uris.items()
        for row in queue.rows(f"SELECT left, right, state FROM states WHERE {side} = :uri", uri=uri)
    ]
    history = queue.history(left=pair[0], right=pair[1]) if both else []
    mine = any(row["reviewer"] == queue.reviewer and not row["undone_by"] for row in history)
    if blind := chosen["status"] == SECOND and not mine:  # what others said is not shown before
        about, history = [], []
    states = {(row["left"], row["right"]): row["state"] for row in about}
    decided = [row for row in about if row["state"] != "open"]
    values_of = [entities[side]["attributes"] if side in entities else [] for side in SIDES]
    return {
        "entities": {"left": None, "right": None} | entities,
        "ready": ready,
        "near": near,
        "link": link,
        "state": states.get(pair, "open"),
        "no_match": {side: states.get(one, "open") for side, one in alone.items()},
        "decided": [row for row in decided if (row["left"], row["right"]) != pair],
        "history": history,
        "blind": blind,
        "properties": property_table(*values_of) if both else [],
        "progress": progress(queue),
        "left_in_filter": queue.count_links(chosen),
        "version": queue.version(),
        "filter": chosen,
        "next": _ends_of(following),
        "previous": _ends_of(preceding),
        **_explained(explanation, near, far),
    }


def _ends_of(rows: list[Record]) -> Record | None:
    """left and right of the only row, if there is one."""
    return {"left": rows[0]["left"], "right": rows[0]["right"]} if rows else None


def _entity(review: Review, queue: Queue, side: str, uri: str, ready: bool) -> Record:
    """An entity with its names and attributes; of a run that is not ready, its name alone."""
    found = queue.find_entity(side, uri) or {}
    name = found.get("name") or ""
    page: Record = {"uri": uri, "name": name, "label": label(Entity(uri, name))}
    page |= {"type": found.get("type") or "", "fact": found.get("fact") or ""}
    if not ready:
        return page | {"other_names": [], "attributes": [], "more_attributes": 0}
    graph: MatchedGraph = getattr(review.alignment.pair, side)
    values = graph.attributes.filter(pl.col("entity") == uri)
    others = graph.alternatives.filter(pl.col("entity") == uri)
    return page | {
        "other_names": others["name"].to_list(),
        "attributes": values.select("attribute", "value").head(SHOWN).to_dicts(),
        "more_attributes": max(len(values) - SHOWN, 0),
    }


def _explained(explanation: Explanation | None, near: Side, far: Side) -> Record:
    """The score of the pair, the alternatives on both sides, and the neighbours of both."""
    if explanation is None:
        return {"explained": False}
    shown, around = explanation.shown, explanation.neighbourhood
    return {
        "explained": True,
        "scale": explanation.scale,
        "score": None if shown is None else shown.score,
        "waterfall": None if shown is None else waterfall(shown),
        "reason": REASONS.get(explanation.reason or "", "").format(explanation.min_confidence),
        "why": list(explanation.why()),
        "alternatives": {
            near: _listed(_alternatives(explanation)),
            far: _listed(explanation.rivals),
        },
        "neighbourhood": None if around is None else asdict(around),
    }


def _alternatives(explanation: Explanation) -> list[Considered]:
    """The candidates of an entity other than the one that is shown, best first."""
    chosen, shown = explanation.comparison, explanation.shown
    others = list(explanation.others)
    if chosen is not None:
        linked = explanation.entity if explanation.partner else None
        others.append(Considered(explanation.far(chosen), chosen.score, linked))
    away = None if shown is None else explanation.far(shown)
    return sorted((one for one in others if one.entity != away), key=lambda one: -one.score)


def _listed(considered: Iterable[Considered]) -> list[Record]:
    return [
        {
            "uri": one.entity.uri,
            "label": label(one.entity),
            "score": one.score,
            "linked_with": None if one.linked_with is None else label(one.linked_with),
        }
        for one in considered
    ]
