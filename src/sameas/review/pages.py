"""What the lists show, as plain values: templates make HTML of them, `.json` shows them bare."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sameas.decisions import Claim, decide, decisions_of, undo
from sameas.errors import OptionError
from sameas.review import queue
from sameas.review.charts import histogram
from sameas.review.folder import Review
from sameas.review.queue import Filter, Record


def overview(review: Review, values: Record) -> Record:
    """Counts, confidences, relation matches and how the run was made."""
    alignment = review.alignment
    with review.databases() as connection:
        about = queue.about(connection)
    found, options = alignment.diagnostics, alignment.options.asdict()
    audit = alignment.audit
    return {
        "run": review.run.resolve().name,
        "links": about["links"],
        "sides": [_side_counts(side, found, about["unmatched"]) for side in ("left", "right")],
        "histogram": histogram(about["histogram"]),
        "relations": about["relations"],
        "states": about["states"],
        "audit": None if audit is None else asdict(audit),
        "diagnostics": found.asdict(),
        "options": {name: value for name, value in options.items() if value not in (None, ())},
        "version": alignment.version,
    }


def _side_counts(side: str, found: Any, unmatched: list[Record]) -> Record:
    reasons = {row["reason"]: row["len"] for row in unmatched if row["side"] == side}
    return {
        "side": side,
        "entities": getattr(found, f"{side}_entities"),
        "candidates": getattr(found, f"{side}_candidates"),
        "unmatched": sum(reasons.values()),
        "reasons": reasons,
    }


# --- lists ---


def filter_of(values: Record) -> Filter:
    """The filter of the queue that a request asks for."""
    return Filter(**{name: values[name] for name in Filter.__dataclass_fields__})


def links(review: Review, values: Record) -> Record:
    """A page of the queue."""
    chosen, after, before = filter_of(values), values["after"], values["before"]
    with review.databases() as connection:
        rows = queue.page_of_links(
            connection, chosen, after=after, before=before, limit=queue.PAGE + 1
        )
        more, rows = _page_of(rows, backwards=before is not None)
        count = queue.count_links(connection, chosen)
        return {
            "links": rows,
            "filter": asdict(chosen),
            "count": min(count, queue.COUNTED),
            "more_than_counted": count > queue.COUNTED,
            "next": rows[-1]["id"] if rows and (more or before is not None) else None,
            "previous": rows[0]["id"] if rows and (after or (before and more)) else None,
            "relations": queue.facets(connection, "relation"),
            "types": queue.facets(connection, "type"),
            "states": queue.about(connection)["states"],
            "version": queue.version(connection),
        }


def _page_of(rows: list[Record], *, backwards: bool) -> tuple[bool, list[Record]]:
    """Whether there are more rows than a page has, and those of the page."""
    more = len(rows) > queue.PAGE
    return more, (rows[-queue.PAGE :] if backwards else rows[: queue.PAGE])


def unmatched(review: Review, values: Record) -> Record:
    """A page of entities without a link."""
    chosen = {name: values[name] for name in ("side", "text", "reason", "status")}
    with review.databases() as connection:
        rows = queue.page_of_unmatched(connection, **chosen, after=values["after"])
        return {
            "unmatched": rows,
            "filter": chosen,
            "reasons": [
                row for row in queue.about(connection)["unmatched"] if row["side"] == chosen["side"]
            ],
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


def take_decision(review: Review, values: Record, reviewer: str) -> Record:
    """Store what a reviewer says; the answer means that it is on disk."""
    claims = [
        Claim(one["left"] or "", one["right"] or "", one["verdict"]) for one in values["claims"]
    ]
    with review.databases() as connection:
        for claim in claims:
            _check(connection, claim)
    answer = _stored(review, values, reviewer, claims)
    with review.databases() as connection:
        same = queue.alike(connection, claims[0]) if len(claims) == 1 else []
    return {**answer, "alike": len(same)}


def repeat_decision(review: Review, values: Record, reviewer: str) -> Record:
    """Decide about all open links with the same two names as about one; undone as one."""
    query = "SELECT left, right, verdict FROM decisions WHERE request = ? AND part = 0"
    with review.databases() as connection:
        row = connection.execute(f"{query} AND undone_by IS NULL", [values["of"]]).fetchone()
        if row is None:
            raise OptionError("of must be the request of a decision that stands")
        claims = queue.alike(connection, Claim(*row))
    return _stored(review, values, reviewer, claims)


def _stored(review: Review, values: Record, reviewer: str, claims: list[Claim]) -> Record:
    with decisions_of(review.run) as connection:
        request, who = values["request"], _named(reviewer)
        found = decide(connection, claims, reviewer=who, request=request, single=review.single)
        return _as_states(connection, found)


def take_back(review: Review, values: Record, reviewer: str) -> Record:
    """Undo what a reviewer decided."""
    with decisions_of(review.run) as connection:
        request, who = values["request"], _named(reviewer)
        found = undo(connection, request, reviewer=who, single=review.single)
        return _as_states(connection, found)


def _check(connection: Any, claim: Claim) -> None:
    """Raise an OptionError unless a claim is about entities of the two graphs."""
    given = [side for side in ("left", "right") if getattr(claim, side)]
    if len(given) != (1 if claim.verdict == "no-match" else 2) and claim.verdict != "open":
        raise OptionError(
            "left and right must both be given, and one of them alone for the verdict no-match"
        )
    for side in given:
        if queue.find_entity(connection, side, getattr(claim, side)) is None:  # type: ignore[arg-type]
            raise OptionError(f"{side} must be the URI of an entity of the {side} graph")


def _named(reviewer: str) -> str:
    if not reviewer:
        raise OptionError("reviewer is missing: give your name first")
    return reviewer


def _as_states(connection: Any, found: dict[tuple[str, str], str]) -> Record:
    rows = [
        {"left": left, "right": right, "state": state} for (left, right), state in found.items()
    ]
    return {"states": rows, "version": queue.version(connection)}
