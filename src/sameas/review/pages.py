"""What the lists show, as plain values: templates make HTML of them, `.json` shows them bare."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict

from sameas.decisions import Claim, decide, decisions_of, undo
from sameas.errors import OptionError
from sameas.review import queue
from sameas.review.charts import histogram
from sameas.review.folder import Review
from sameas.review.parameters import Record


def overview(review: Review, values: Record) -> Record:
    """Counts, confidences, relation matches and how the run was made."""
    alignment = review.alignment
    with review.databases() as connection:
        about = queue.about(connection)
    found, audit = alignment.diagnostics.asdict(), alignment.audit
    options = alignment.options.asdict()
    sides = []
    for side in ("left", "right"):
        reasons = {row["reason"]: row["len"] for row in about["unmatched"] if row["side"] == side}
        counts = {name: found[f"{side}_{name}"] for name in ("entities", "candidates")}
        unmatched = {"unmatched": sum(reasons.values()), "reasons": reasons}
        sides.append({"side": side, **counts, **unmatched})
    return {
        "run": review.run.resolve().name,
        "links": about["links"],
        "sides": sides,
        "histogram": histogram(about["histogram"]),
        "relations": about["relations"],
        "states": about["states"],
        "audit": None if audit is None else asdict(audit),
        "diagnostics": found,
        "options": {name: value for name, value in options.items() if value not in (None, ())},
        "version": alignment.version,
    }


# --- lists ---


def links(review: Review, values: Record) -> Record:
    """A page of the queue."""
    chosen, after, before = queue.filter_of(values), values["after"], values["before"]
    with review.databases() as connection:
        rows = queue.page_of_links(
            connection, chosen, after=after, before=before, limit=queue.PAGE + 1
        )
        more, backwards = len(rows) > queue.PAGE, before is not None
        rows = rows[-queue.PAGE :] if backwards else rows[: queue.PAGE]
        count = queue.count_links(connection, chosen)
        return {
            "links": rows,
            "filter": chosen,
            "count": min(count, queue.COUNTED),
            "more_than_counted": count > queue.COUNTED,
            "next": rows[-1]["id"] if rows and (more or backwards) else None,
            "previous": rows[0]["id"] if rows and (after or (before and more)) else None,
            "relations": queue.facets(connection, "relation"),
            "types": queue.facets(connection, "type"),
            "states": queue.about(connection)["states"],
            "version": queue.version(connection),
        }


def unmatched(review: Review, values: Record) -> Record:
    """A page of entities without a link."""
    chosen = {name: values[name] for name in ("side", "text", "reason", "status")}
    with review.databases() as connection:
        rows = queue.page_of_unmatched(connection, **chosen, after=values["after"])
        counts = queue.about(connection)["unmatched"]
        return {
            "unmatched": rows,
            "filter": chosen,
            "reasons": [row for row in counts if row["side"] == chosen["side"]],
            "next": rows[-1]["id"] if len(rows) == queue.PAGE else None,
            "version": queue.version(connection),
        }


def search(review: Review, values: Record) -> Record:
    """Entities by words of their names, to link one by hand."""
    with review.databases() as connection:
        return {"entities": queue.search_entities(connection, values["side"], values["text"])}


def decisions(review: Review, values: Record) -> Record:
    """What was decided, the latest first, and what reviewers disagree about."""
    with review.databases() as connection:
        rows = queue.history(connection, before=values["before"])
        return {
            "decisions": rows,
            "conflicts": queue.conflicts(connection),
            "states": queue.about(connection)["states"],
            "next": rows[-1]["id"] if len(rows) == queue.PAGE else None,
            "version": queue.version(connection),
        }


def changes(review: Review, values: Record) -> Record:
    """States that changed after a version."""
    with review.databases() as connection:
        return queue.changes(connection, values["since"])


# --- what changes something ---


def take_decision(review: Review, values: Record) -> Record:
    """Store what a reviewer says; the answer means that it is on disk."""
    claims = [Claim(**one) for one in values["claims"]]
    with review.databases() as connection:
        for claim in claims:
            _check(connection, claim)
    answer = _stored(review, values, claims)
    with review.databases() as connection:
        same = queue.alike(connection, claims[0]) if len(claims) == 1 else []
    return {**answer, "alike": len(same)}


def repeat_decision(review: Review, values: Record) -> Record:
    """Decide about all open links with the same two names as about one; undone as one."""
    query = "SELECT left, right, verdict FROM decisions WHERE request = ? AND part = 0"
    with review.databases() as connection:
        row = connection.execute(f"{query} AND undone_by IS NULL", [values["of"]]).fetchone()
        if row is None:
            raise OptionError("of must be the request of a decision that stands")
        claims = queue.alike(connection, Claim(*row))
    return _stored(review, values, claims)


def take_back(review: Review, values: Record) -> Record:
    """Undo what a reviewer decided."""
    return _stored(review, values, None)


def _stored(review: Review, values: Record, claims: list[Claim] | None) -> Record:
    """Store claims, or undo a request; the states that follow."""
    request, reviewer = values["request"], values["reviewer"]
    single = review.alignment.options.single
    with decisions_of(review.run) as connection:
        if claims is None:
            found = undo(connection, request, reviewer=reviewer, single=single)
        else:
            found = decide(connection, claims, reviewer=reviewer, request=request, single=single)
        rows = [
            {"left": left, "right": right, "state": state} for (left, right), state in found.items()
        ]
        return {"states": rows, "version": queue.version(connection)}


def _check(connection: sqlite3.Connection, claim: Claim) -> None:
    """Raise an OptionError unless a claim is about entities of the two graphs."""
    given = {side: uri for side, uri in (("left", claim.left), ("right", claim.right)) if uri}
    if len(given) != (1 if claim.verdict == "no-match" else 2) and claim.verdict != "open":
        raise OptionError(
            "left and right must both be given, and one of them alone for the verdict no-match"
        )
    for side, uri in given.items():
        if queue.find_entity(connection, side, uri) is None:
            raise OptionError(f"{side} must be the URI of an entity of the {side} graph")
