"""What speaks against a pair: values that disagree, types, relations, numbers in names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sameas.result.explanation.result import Comparison, Contradiction, Detail, Part, Relation

AGAINST = 1.0
"""Log-odds from which something is said to speak against a pair."""
LACKS = {"left lacks": 1, "right lacks": 0}
"""Of the parts about what one lacks: the side that has it."""


def contradictions_of(
    pair: Comparison, types: tuple[Sequence[str], Sequence[str]]
) -> tuple[Contradiction, ...]:
    """What speaks against a pair, most first; ``types`` are those of both, by IRI."""
    every = [one for part in pair.parts for one in _of_part(part, types)]
    return tuple(sorted(every, key=lambda one: one.score))


def _of_part(part: Part, types: tuple[Sequence[str], Sequence[str]]) -> Iterator[Contradiction]:
    if part.kind in ("threshold", "sketch"):
        return
    single = [one for one in part.details if one.count == 1 and one.score <= -AGAINST]
    if part.kind in ("attributes", "spelling", *LACKS):
        yield from (_of_detail(part, one) for one in single)
    if part.score > -AGAINST or single:
        return
    against = [one for one in part.details if one.score < 0]
    if part.kind in LACKS and against:
        largest = min(against, key=lambda one: (one.count > 1, one.score))
        together = sum(one.count for one in against)
        yield replace(_of_detail(part, largest), score=part.score, count=together)
        return
    left, right = types if part.kind == "types" else ((), ())
    yield Contradiction(part.kind, part.score, left=tuple(left), right=tuple(right))


def _of_detail(part: Part, detail: Detail) -> Contradiction:
    names = [
        None if entity is None else entity.name or entity.uri
        for entity in (detail.left, detail.right)
    ]
    left, right = (() if name is None else (name,) for name in names)
    if part.kind in LACKS:
        has = LACKS[part.kind]
        left, right = (left, ()) if has == 0 else ((), right)
        if not (left or right) and detail.text:
            left, right = ((detail.text,), ()) if has == 0 else ((), (detail.text,))
    relations: tuple[Relation, ...] = detail.left_relations or detail.right_relations
    return Contradiction(part.kind, detail.score, relations, left, right, detail.text)
