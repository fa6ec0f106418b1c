"""What the pages about clusters show, as plain values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
import polars as pl

from sameas.errors import OptionError
from sameas.graph.iri import last_part
from sameas.result.cluster_audit import audit_clusters
from sameas.result.cluster_decisions import Pair, contradictions
from sameas.result.cluster_drawing import ClusterDrawing, draw_cluster
from sameas.result.decisions import Claim, decide, decisions_of
from sameas.result.explanation.result import Entity
from sameas.result.explanation.sentences import label
from sameas.text.folding import fold_text
from sameas.web.review.clusters import (
    Decided,
    Shown,
    claims_of,
    cluster_filter,
    cluster_states,
    count_clusters,
    decided_pairs,
    find_cluster,
    group_with,
    page_of_clusters,
    with_members,
)
from sameas.web.review.folder import Review
from sameas.web.review.pair import NotFoundError
from sameas.web.review.parameters import Record
from sameas.web.review.queue import PAGE, Queue

MOST_MEMBERS = 60
"""Members of a cluster that stand side by side; all are in the drawing and in decisions."""
MOST_ROWS = 40
"""Properties that are shown of a cluster."""
NEIGHBOURS = 6
"""Neighbours that are named of each member."""
SAID = {
    "same": "all the same",
    "different": "all different",
    "split": "split off",
    "join": "joined",
    "unsure": "unsure",
}
"""What each action is called once it is done."""


def cluster_progress(queue: Queue, states: dict[int, str]) -> Record:
    """How far the review of clusters has come."""
    total = queue.rows("SELECT count(*) AS clusters, total(confidence) AS sure FROM clusters")[0]
    clusters, sure = total["clusters"], total["sure"]
    firm = [number for number, state in states.items() if state in ("accept", "changed", "reject")]
    known = ",".join(map(str, firm))
    before = queue.rows(f"SELECT total(confidence) AS sure FROM clusters WHERE id IN ({known})")
    decided = sum(state != "open" for state in states.values())
    text = f"{decided:,} of {clusters:,} clusters decided."
    if clusters:
        now = (sure - before[0]["sure"] + len(firm)) / clusters
        text += f" Expected share of correct clusters {now:.3f}"
        text += f" (before: {sure / clusters:.3f})." if firm else "."
    return {"links": clusters, "decided": decided, "text": text}


def cluster_overview(review: Review, queue: Queue) -> Record:
    """Counts, sizes and confidences of the clusters of a run, and what the run expects of them."""
    alignment = review.alignment
    clusters = alignment.clusters
    assert clusters is not None
    confidence = clusters.summary["confidence"].to_numpy()
    counts = np.histogram(confidence, bins=20, range=(0.0, 1.0))[0].tolist()
    sizes = Counter(clusters.summary["size"].to_list())
    decided = decided_pairs(queue)
    return {
        "of_clusters": True,
        "run": review.run.resolve().name,
        "clusters": len(clusters),
        "members": len(clusters.members),
        "entities": alignment.diagnostics.left_candidates,
        "graphs": clusters.members["graph"].unique().sort().to_list(),
        "sizes": [{"size": size, "clusters": sizes[size]} for size in sorted(sizes)],
        "counts": counts,
        "states": Counter(cluster_states(queue, decided).values()),
        "pairs_decided": len(decided.states),
        "progress": cluster_progress(queue, cluster_states(queue, decided)),
        "audit": audit_clusters(clusters).asdict(),
        "diagnostics": alignment.diagnostics.asdict(),
        "options": {
            name: value
            for name, value in alignment.options.asdict().items()
            if value not in (None, ())
        },
        "version": alignment.version,
    }


def clusters(review: Review, queue: Queue, values: Record) -> Record:
    """A page of the list of clusters."""
    _require_clusters(review)
    states = cluster_states(queue, decided_pairs(queue))
    chosen, after, before = cluster_filter(values), values["after"], values["before"]
    rows = page_of_clusters(queue, chosen, states, after=after, before=before, limit=PAGE + 1)
    more, backwards = len(rows) > PAGE, before is not None
    rows = rows[-PAGE:] if backwards else rows[:PAGE]
    return {
        "clusters": with_members(queue, rows),
        "filter": chosen,
        "count": count_clusters(queue, chosen, states),
        "next": rows[-1]["id"] if rows and (more or backwards) else None,
        "previous": rows[0]["id"] if rows and (after or (before and more)) else None,
        "progress": cluster_progress(queue, states),
        "here": review.here(values["reviewer"]),
        "version": queue.version(),
    }


def cluster(review: Review, queue: Queue, values: Record) -> Record:
    """A cluster with its members side by side, and the drawing of its links."""
    _require_clusters(review)
    shown = find_cluster(queue, values["cluster"])
    if shown is None:
        raise NotFoundError("the run has no such cluster")
    states, chosen = cluster_states(queue, decided_pairs(queue)), cluster_filter(values)
    number = shown.row["id"]
    following = page_of_clusters(queue, chosen, states, after=number, limit=1)
    preceding = page_of_clusters(queue, chosen, states, before=number, limit=1)
    return {
        **cluster_values(review, shown),
        "state": states.get(number, "open"),
        "history": _history(queue, shown.uris),
        "progress": cluster_progress(queue, states),
        "left_in_filter": count_clusters(queue, chosen, states),
        "filter": chosen,
        "next": following[0]["cluster"] if following else None,
        "previous": preceding[0]["cluster"] if preceding else None,
        "version": queue.version(),
    }


def cluster_values(review: Review, shown: Shown) -> Record:
    """What is shown of a cluster itself."""
    labels = {each["uri"]: label(Entity(each["uri"], each["name"])) for each in shown.members}
    group_of = {uri: place for place, group in enumerate(shown.groups) for uri in group}
    members = [
        {
            **member,
            "number": place,
            "label": labels[member["uri"]],
            "canonical": place == 1,
            "group": group_of[member["uri"]],
            "joined": member["uri"] not in shown.own,
        }
        for place, member in enumerate(shown.members, start=1)
    ]
    split = weak_part(shown)
    return {
        "cluster": shown.row["cluster"],
        "confidence": shown.row["confidence"],
        "size": shown.row["size"],
        "label": labels[shown.uris[0]],
        "members": members[:MOST_MEMBERS],
        "more_members": max(len(members) - MOST_MEMBERS, 0),
        "groups": len(shown.groups),
        "graphs": len({member["graph"] for member in members}),
        "split": [member["number"] for member in members if member["uri"] in split],
        "properties": property_rows(review, shown.uris[:MOST_MEMBERS]),
        "drawing": drawn_values(drawing_of(shown, labels)),
        "problems": _problems(review, shown, labels),
    }


def weak_part(shown: Shown) -> set[str]:
    """The part of a cluster without its canonical member, where it would split first."""
    part = {member["uri"] for member in shown.members if member["split"]}
    return {*shown.own} - part if shown.own[0] in part else part & {*shown.own}


def drawing_of(shown: Shown, labels: dict[str, str]) -> ClusterDrawing:
    """The drawing of a cluster with what was decided about it."""
    return draw_cluster(
        labels,
        shown.scores,
        holding=shown.holding,
        split=weak_part(shown),
        decided=shown.decided,
        groups=shown.groups,
    )


def drawn_values(drawing: ClusterDrawing) -> Record:
    """A drawing as plain values."""
    return {**asdict(drawing), "kinds": drawing.kinds, "has_labels": drawing.has_labels}


def _problems(review: Review, shown: Shown, labels: dict[str, str]) -> list[str]:
    """What cannot hold, in sentences."""
    texts = contradiction_texts([(one.different, one.same) for one in shown.problems], labels)
    if review.alignment.diagnostics.graphs is not None and all(review.alignment.options.single):
        graph = {member["uri"]: member["graph"] for member in shown.members}
        for group in shown.parts:
            several = [name for name, n in Counter(graph[uri] for uri in group).items() if n > 1]
            texts += [
                f"Two members are of {name}. One-to-one clusters have one at most: the next "
                "sameas align takes this only with --cardinality many-to-many."
                for name in several
            ]
    return texts


def contradiction_texts(
    found: Sequence[tuple[Pair, Sequence[Pair]]], labels: dict[str, str]
) -> list[str]:
    """Contradicting decisions in sentences."""
    return [
        f"Decisions contradict each other: {' and '.join(_equals(pair, labels) for pair in same)} "
        f"{'is' if len(same) == 1 else 'are'} accepted, {_equals(different, labels)} is rejected. "
        "All are kept; the next run keeps the members together and says so. Undo one of them."
        for different, same in found
    ]


def _equals(pair: Pair, labels: dict[str, str]) -> str:
    return " = ".join(f"“{labels.get(uri) or uri}”" for uri in pair)


def _history(queue: Queue, uris: Sequence[str]) -> list[Record]:
    """The decisions about pairs of members, one row a request, the latest first."""
    marks = {f"u{place}": uri for place, uri in enumerate(uris)}
    listed = ", ".join(f":{name}" for name in marks)
    query = f"""
        SELECT d.request, d.verdict, d.reviewer, max(d.time) AS time, d.undone_by,
               count(*) AS pairs, max(coalesce(r.comment, '')) AS comment
        FROM decisions d LEFT JOIN remarks r ON r.request = d.request AND r.part = d.part
        WHERE d.left IN ({listed}) AND d.right IN ({listed})
        GROUP BY d.request, d.verdict ORDER BY max(d.id) DESC LIMIT {PAGE}
    """
    return queue.rows(query, **marks)


def property_rows(review: Review, uris: Sequence[str]) -> list[Record]:
    """The properties of all members, a row each: attribute, values, and whether all are equal.

    Those that most members have come first; neighbours are the last row.
    """
    graph = review.alignment.pair.left
    place = {uri: number for number, uri in enumerate(uris)}
    rows: dict[str, list[list[str]]] = {}
    attributes = graph.attributes.filter(pl.col("entity").is_in(list(uris)))
    for uri, attribute, value in attributes.select("entity", "attribute", "value").iter_rows():
        cells = rows.setdefault(last_part(attribute), [[] for _ in uris])
        cells[place[uri]].append(str(value))
    for uri, name in (
        graph.alternatives.select("entity", "name")
        .filter(pl.col("entity").is_in(list(uris)))
        .iter_rows()
    ):
        rows.setdefault("also called", [[] for _ in uris])[place[uri]].append(name)
    order = sorted(rows, key=lambda name: (-sum(map(bool, rows[name])), name))[:MOST_ROWS]
    found = [_property_row(name, [" · ".join(cell) for cell in rows[name]]) for name in order]
    near = _neighbours(review, uris)
    return [*found, _property_row("neighbours", near)] if any(near) else found


def _property_row(name: str, values: list[str]) -> Record:
    said = {fold_text(value, numbers=False) for value in values if value}
    first = next((value for value in values if value), "")
    equal = len(said) == 1 and sum(map(bool, values)) > 1
    return {"attribute": name, "values": values, "equal": equal, "first": first}


def _neighbours(review: Review, uris: Sequence[str]) -> list[str]:
    """Some neighbours of each entity by name, those that members share first."""
    graph = review.alignment.pair.left
    triples, positions = graph.triples, graph.positions(pl.Series(list(uris), dtype=pl.String))
    near = []
    for position in positions.tolist():
        tails = triples[triples[:, 0] == position, 2]
        heads = triples[triples[:, 2] == position, 0]
        near.append(np.unique(np.concatenate([tails, heads])))
    shared = Counter(np.concatenate(near).tolist()) if near else Counter()
    texts = []
    for numbers in near:
        order = sorted(numbers.tolist(), key=lambda one: (-shared[one], one))
        names = [graph.names[one] or last_part(graph.entities[one]) for one in order[:NEIGHBOURS]]
        more = f" and {len(order) - NEIGHBOURS} more" if len(order) > NEIGHBOURS else ""
        texts.append(" · ".join(names) + more)
    return texts


def decide_cluster(review: Review, queue: Queue, values: Record) -> Record:
    """Store what a reviewer says about a cluster; undone as one."""
    _require_clusters(review)
    shown = find_cluster(queue, values["cluster"])
    if shown is None:
        raise NotFoundError("the run has no such cluster")
    order = {member["uri"]: member["id"] for member in shown.members}
    others: dict[str, list[str]] = {}
    for uri in values["members"] if values["action"] == "join" else ():
        group = group_with(queue, uri)
        if not group:
            raise OptionError("members must be ids of entities of the run")
        order |= {member["uri"]: member["id"] for member in group}
        others[uri] = [member["uri"] for member in group]
    claims = claims_of(shown, values, order, others)
    with review.writing, decisions_of(review.run) as connection:
        decide(
            connection,
            claims,
            reviewer=values["reviewer"],
            request=values["request"],
            single=(False, False),
        )
    return {**changed_clusters(queue), "pairs": len(claims), "said": SAID[values["action"]]}


def changed_clusters(queue: Queue) -> Record:
    """The states of all clusters about which something was decided, and how far the review is."""
    decided = decided_pairs(queue)
    states = cluster_states(queue, decided)
    numbers = ",".join(map(str, states))
    names = queue.rows(f"SELECT id, cluster FROM clusters WHERE id IN ({numbers})")
    return {
        "states": [],
        "clusters": {row["cluster"]: states[row["id"]] for row in names},
        "problems": _all_problems(queue, decided),
        "version": queue.version(),
        "progress": cluster_progress(queue, states),
    }


def _all_problems(queue: Queue, decided: Decided) -> list[str]:
    """All contradictions, in sentences."""
    found = contradictions(decided.pairs("accept"), decided.pairs("reject"))
    labels: dict[str, str] = {}
    for uri in {uri for one in found for pair in (one.different, *one.same) for uri in pair}:
        entity = queue.find_entity("left", uri)
        labels[uri] = label(Entity(uri, entity["name"])) if entity else uri
    return contradiction_texts([(one.different, one.same) for one in found], labels)


def in_order(queue: Queue, claim: Claim) -> Claim:
    """A claim about two entities of one graph, the one that comes first on the left."""
    if not claim.left or not claim.right:
        return claim
    numbers = [(queue.find_entity("left", uri) or {"id": -1})["id"] for uri in claim[:2]]
    return claim if numbers[0] <= numbers[1] else claim._replace(left=claim.right, right=claim.left)


def _require_clusters(review: Review) -> None:
    if not review.of_clusters:
        raise NotFoundError("this run has links, not clusters; look at the page of links")
