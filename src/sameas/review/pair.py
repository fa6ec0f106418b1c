"""One pair of entities: its score taken apart, its alternatives, and what surrounds the two."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import asdict

import polars as pl

from sameas.errors import OptionError
from sameas.explanation import Explanation
from sameas.explanation.result import Considered, Entity
from sameas.explanation.words import REASONS, label
from sameas.graph import Graph
from sameas.review import queue
from sameas.review.charts import waterfall
from sameas.review.folder import Review
from sameas.review.pages import filter_of
from sameas.review.queue import Filter, Record, Side

SHOWN = 40
"""Attributes of an entity that are shown."""


class NotFoundError(OptionError):
    """What was asked for is not in the run."""


def pair(review: Review, values: Record) -> Record:
    """Two entities side by side; or one, with its partner or nearest candidate."""
    uris = {"left": values["left"], "right": values["right"]}
    if not any(uris.values()):
        raise OptionError("left or right is missing: the URI of an entity")
    with review.databases() as connection:
        for side, uri in uris.items():
            if uri and queue.find_entity(connection, side, uri) is None:  # type: ignore[arg-type]
                raise NotFoundError(f"the {side} graph has no such entity")
    ready = not review.is_large or review.prepare()
    near: Side = "left" if uris["left"] else "right"
    far: Side = "right" if near == "left" else "left"
    explanation = review.explain(uris[near], uris[far] or None, near) if ready else None
    shown = explanation.shown if explanation else None
    if shown is not None:
        uris = {"left": shown.left.uri, "right": shown.right.uri}
    both = bool(uris["left"] and uris["right"])
    with review.databases() as connection:
        link = queue.find_link(connection, uris["left"], uris["right"]) if both else None
        page: Record = {
            "entities": {
                side: _entity(connection, review if ready else None, side, uri) if uri else None
                for side, uri in uris.items()
            },
            "ready": ready,
            "near": near,
            "link": link,
            "state": _state(connection, uris),
            "no_match": {
                side: _state(connection, {"left": "", "right": "", side: uris[side]})
                for side in uris
                if uris[side]
            },
            "decided": [
                row
                for side in uris
                if uris[side]
                for row in queue.states_about(connection, side, uris[side])  # type: ignore[arg-type]
                if (row["left"], row["right"]) != (uris["left"], uris["right"])
            ],
            "history": queue.history(connection, **uris) if both else [],
            "version": queue.version(connection),
            "filter": asdict(filter_of(values)),
            **_around_in_queue(connection, filter_of(values), link),
        }
    return page | _explained(explanation, near)


def _state(connection: sqlite3.Connection, uris: dict[str, str]) -> str:
    query = "SELECT state FROM states WHERE left = ? AND right = ?"
    row = connection.execute(query, (uris["left"], uris["right"])).fetchone()
    return row["state"] if row else "open"


def _around_in_queue(connection: sqlite3.Connection, chosen: Filter, link: Record | None) -> Record:
    """The links before and after one in the queue: left, right; None at its ends."""
    if link is None:
        return {"next": None, "previous": None}
    after = queue.page_of_links(connection, chosen, after=link["id"], limit=1)
    before = queue.page_of_links(connection, chosen, before=link["id"], limit=1)
    return {
        name: {"left": rows[0]["left"], "right": rows[0]["right"]} if rows else None
        for name, rows in (("next", after), ("previous", before))
    }


def _entity(connection: sqlite3.Connection, review: Review | None, side: str, uri: str) -> Record:
    """An entity with its names and attributes; of a run that is not loaded, its name alone."""
    known = queue.find_entity(connection, side, uri)  # type: ignore[arg-type]
    name = (known or {}).get("name") or ""
    page: Record = {"uri": uri, "name": name, "label": label(Entity(uri, name))}
    if review is None:
        return page | {"other_names": [], "attributes": [], "more_attributes": 0}
    graph: Graph = getattr(review.alignment.pair, side)
    values = graph.attributes.filter(pl.col("entity") == uri)
    others = graph.alternatives.filter(pl.col("entity") == uri)
    return page | {
        "other_names": others["name"].to_list(),
        "attributes": values.select("attribute", "value").head(SHOWN).to_dicts(),
        "more_attributes": max(len(values) - SHOWN, 0),
    }


def _explained(explanation: Explanation | None, near: Side) -> Record:
    """The score of the pair, the alternatives on both sides, and the neighbours of both."""
    if explanation is None:
        return {"explained": False}
    shown, around = explanation.shown, explanation.neighbourhood
    far: Side = "right" if near == "left" else "left"
    reason = REASONS.get(explanation.reason or "", "").format(explanation.min_confidence)
    return {
        "explained": True,
        "scale": explanation.scale,
        "score": None if shown is None else shown.score,
        "waterfall": None if shown is None else waterfall(shown),
        "reason": reason,
        "why": list(explanation.why()),
        "alternatives": {
            near: _listed(_alternatives(explanation)),
            far: _listed(explanation.rivals),
        },
        "neighbourhood": None if around is None else asdict(around),
    }


def _alternatives(explanation: Explanation) -> tuple[Considered, ...]:
    """The candidates of an entity other than the one that is shown, best first."""
    chosen, shown = explanation.comparison, explanation.shown
    found = list(explanation.others)
    if chosen is not None:
        linked = explanation.entity if explanation.partner else None
        found.append(Considered(explanation.far(chosen), chosen.score, linked))
    away = None if shown is None else explanation.far(shown)
    kept = (one for one in found if one.entity != away)
    return tuple(sorted(kept, key=lambda one: -one.score))


def _listed(found: Iterable[Considered]) -> list[Record]:
    return [
        {
            "uri": one.entity.uri,
            "label": label(one.entity),
            "score": one.score,
            "linked_with": None if one.linked_with is None else label(one.linked_with),
        }
        for one in found
    ]
