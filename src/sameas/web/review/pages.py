"""What the lists show, as plain values: templates make HTML of them, `.json` shows them bare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from sameas.errors import OptionError
from sameas.result.decisions import Claim, decide, decisions_of, undo
from sameas.web.review.cluster_pages import changed_clusters, cluster_overview, in_order
from sameas.web.review.folder import Review
from sameas.web.review.parameters import Record
from sameas.web.review.progress import agreement, progress
from sameas.web.review.queue import (
    AT_ONCE,
    NAMES,
    PAGE,
    SECOND,
    Queue,
    filter_of,
    full_text,
    ids_named,
)

LONGEST_COMMENT = 1000
"""Characters of a comment."""
UNMATCHED = """
SELECT u.id, u.side, e.uri, e.name, e.type, e.fact, u.reason, f.uri AS candidate,
       f.name AS candidate_name, f.type AS candidate_type, f.fact AS candidate_fact,
       u.score, coalesce(s.state, 'open') AS state
FROM unmatched u JOIN entities e ON e.id = u.entity LEFT JOIN entities f ON f.id = u.candidate
LEFT JOIN states s
  ON s.left = iif(u.side = 'left', e.uri, '') AND s.right = iif(u.side = 'right', e.uri, '')
WHERE u.side = :side AND u.id > :after AND :reason IN ('', u.reason)
  AND :status IN ('all', coalesce(s.state, 'open'))
"""
"""Unmatched entities that fit a filter; by their ids, the nearest misses come first."""
CONFLICTS = f"""
SELECT s.left, s.right, e.name AS left_name, f.name AS right_name,
       (SELECT group_concat(d.reviewer || ': ' || d.verdict, ', ') FROM decisions d
        WHERE d.left = s.left AND d.right = s.right AND d.undone_by IS NULL) AS said
FROM states s {NAMES} WHERE s.state = 'conflict' ORDER BY s.version LIMIT {PAGE}
"""
"""Pairs about which reviewers disagree, with who says what."""


def overview(review: Review, queue: Queue, values: Record) -> Record:
    """Counts, confidences, relation matches and how the run was made."""
    if review.of_clusters:
        found = cluster_overview(review, queue)
        return {**found, "histogram": histogram(found["counts"])}
    alignment, about = review.alignment, queue.about()
    figures, audit = alignment.diagnostics.asdict(), alignment.audit
    options = alignment.options.asdict()
    sides = []
    for side in ("left", "right"):
        reasons = {row["reason"]: row["len"] for row in about["unmatched"] if row["side"] == side}
        counts = {name: figures[f"{side}_{name}"] for name in ("entities", "candidates")}
        unmatched = {"unmatched": sum(reasons.values()), "reasons": reasons}
        sides.append({"side": side, **counts, **unmatched})
    return {
        "of_clusters": False,
        "run": review.run.resolve().name,
        "links": about["links"],
        "sides": sides,
        "histogram": histogram(about["histogram"]),
        "relations": about["relations"],
        "states": about["states"],
        "progress": progress(queue),
        "audit": None if audit is None else asdict(audit),
        "diagnostics": figures,
        "options": {name: value for name, value in options.items() if value not in (None, ())},
        "version": alignment.version,
    }


def histogram(counts: Sequence[int]) -> list[Record]:
    """A column for each of equal bins from 0 to 1, as high as ``height`` percent.

    The smallest can still be seen.
    """
    most, bins = max(counts, default=0), len(counts)
    return [
        {
            "low": place / bins,
            "high": (place + 1) / bins,
            "count": count,
            "height": max(100 * count / most, 1.5) if count else 0.0,
        }
        for place, count in enumerate(counts)
    ]


# --- lists ---


def links(review: Review, queue: Queue, values: Record) -> Record:
    """A page of the queue."""
    chosen, after, before = filter_of(values), values["after"], values["before"]
    rows = queue.page_of_links(chosen, after=after, before=before, limit=PAGE + 1)
    more, backwards = len(rows) > PAGE, before is not None
    rows = rows[-PAGE:] if backwards else rows[:PAGE]
    count, all_states = queue.count_links(chosen), chosen["status"] == "all"
    if chosen["status"] == SECOND:  # what others said is not shown before
        rows = [{**row, "state": "open"} for row in rows]
    return {
        "links": rows,
        "filter": chosen,
        "count": count,
        "to_decide": queue.count_links({**chosen, "status": "open"}) if all_states else count,
        "next": rows[-1]["id"] if rows and (more or backwards) else None,
        "previous": rows[0]["id"] if rows and (after or (before and more)) else None,
        "relations": queue.facets("relation"),
        "types": queue.facets("type"),
        "states": queue.about()["states"],
        "progress": progress(queue),
        "here": review.here(values["reviewer"]),
        "version": queue.version(),
    }


def unmatched(review: Review, queue: Queue, values: Record) -> Record:
    """A page of entities without a link."""
    chosen = {name: values[name] for name in ("side", "text", "reason", "status")}
    named = f"u.entity IN ({ids_named(chosen['text'])})" if chosen["text"] else "true"
    query = f"{UNMATCHED} AND {named} ORDER BY u.id LIMIT {PAGE}"
    rows = queue.rows(query, **values, words=full_text(chosen["text"]))
    counts = queue.about()["unmatched"]
    return {
        "unmatched": rows,
        "filter": chosen,
        "reasons": [row for row in counts if row["side"] == chosen["side"]],
        "next": rows[-1]["id"] if len(rows) == PAGE else None,
        "version": queue.version(),
    }


def search(review: Review, queue: Queue, values: Record) -> Record:
    """Entities by words of their names, to link one by hand."""
    # Those without much besides the words come first, then the well-connected ones.
    query = f"""
        SELECT uri, name, degree, type, fact FROM entities WHERE id IN ({ids_named(values["text"])})
        AND side = :side ORDER BY length(name) > length(:text), degree DESC, id LIMIT 20
    """
    return {"entities": queue.rows(query, **values, words=full_text(values["text"]))}


def decisions(review: Review, queue: Queue, values: Record) -> Record:
    """What was decided, the latest first, and what reviewers disagree about."""
    rows = queue.history(before=values["before"])
    of_clusters = changed_clusters(queue) if review.of_clusters else None
    return {
        "decisions": rows,
        "conflicts": queue.rows(CONFLICTS),
        "problems": of_clusters["problems"] if of_clusters else [],
        "agreement": agreement(queue, review.alignment.single),
        "progress": of_clusters["progress"] if of_clusters else progress(queue),
        "again": review.again.state(),
        "states": queue.about()["states"],
        "next": rows[-1]["id"] if len(rows) == PAGE else None,
        "version": queue.version(),
    }


def changes(review: Review, queue: Queue, values: Record) -> Record:
    """States that changed after a version."""
    query = "SELECT left, right, state, version FROM states WHERE version > :since"
    rows = queue.rows(f"{query} ORDER BY version LIMIT 1000", **values)
    of_clusters = changed_clusters(queue) if rows and review.of_clusters else {}
    return {
        **{name: of_clusters[name] for name in ("clusters", "progress") if name in of_clusters},
        "version": rows[-1]["version"] if rows else values["since"],
        "states": rows,
        "here": review.here(values["reviewer"]),
        "again": review.again.state(),
    }


# --- what changes something ---


def take_decision(review: Review, queue: Queue, values: Record) -> Record:
    """Store what a reviewer says; the answer means that it is on disk."""
    claims = [Claim(**one) for one in values["claims"]]
    for claim in claims:
        _check(queue, claim)
    if review.of_clusters:
        claims = [in_order(queue, claim) for claim in claims]
    answer = _stored(review, queue, values, claims)
    same = queue.alike(claims[0]) if len(claims) == 1 else []
    return {**answer, "alike": len(same)}


def decide_about_all(review: Review, queue: Queue, values: Record) -> Record:
    """Decide about all links that a filter shows; undone as one."""
    pairs, counted = queue.open_links(filter_of(values)), values["count"]
    if len(pairs) > AT_ONCE:
        raise OptionError(f"at most {AT_ONCE:,} links can be decided about at once; filter more")
    if len(pairs) != counted:
        raise OptionError(
            f"the filter has {len(pairs):,} links to decide about now, not {counted:,}; look again"
        )
    claims = [Claim(*pair, values["verdict"]) for pair in pairs]
    return _stored(review, queue, values, claims)


def align_again(review: Review, queue: Queue, values: Record) -> Record:
    """Align again in the background, with what was decided as known links and non-links."""
    return review.again.start(review.run, review.writing)


def repeat_decision(review: Review, queue: Queue, values: Record) -> Record:
    """Decide about all open links with the same two names as about one; undone as one."""
    query = "SELECT left, right, verdict FROM decisions WHERE request = :of AND part = 0"
    rows = queue.rows(f"{query} AND undone_by IS NULL", **values)
    if not rows:
        raise OptionError("of must be the request of a decision that stands")
    return _stored(review, queue, values, queue.alike(Claim(**rows[0])))


def take_back(review: Review, queue: Queue, values: Record) -> Record:
    """Undo what a reviewer decided."""
    return _stored(review, queue, values, None)


def _stored(review: Review, queue: Queue, values: Record, claims: list[Claim] | None) -> Record:
    """Store claims, or undo a request; the states that follow."""
    request, reviewer = values["request"], values["reviewer"]
    single = review.alignment.single
    with review.writing, decisions_of(review.run) as connection:
        if claims is None:
            undone = undo(connection, request, reviewer=reviewer, single=single)
        else:
            undone = decide(connection, claims, reviewer=reviewer, request=request, single=single)
    rows = [
        {"left": left, "right": right, "state": state} for (left, right), state in undone.items()
    ]
    if review.of_clusters:
        return {**changed_clusters(queue), "states": rows}
    return {"states": rows, "version": queue.version(), "progress": progress(queue)}


def _check(queue: Queue, claim: Claim) -> None:
    """Raise an OptionError unless a claim is about entities of the two graphs."""
    given = {side: uri for side, uri in (("left", claim.left), ("right", claim.right)) if uri}
    if len(claim.comment) > LONGEST_COMMENT:
        raise OptionError(f"comment must have at most {LONGEST_COMMENT:,} characters")
    if len(given) != (1 if claim.verdict == "no-match" else 2) and claim.verdict != "open":
        raise OptionError(
            "left and right must both be given, and one of them alone for the verdict no-match"
        )
    for side, uri in given.items():
        if queue.find_entity(side, uri) is None:
            raise OptionError(f"{side} must be the URI of an entity of the {side} graph")
