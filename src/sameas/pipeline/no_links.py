"""Why a run has no links, and which option would change that, in one sentence."""

from __future__ import annotations

import unicodedata
from collections import Counter

import numpy as np
import polars as pl

from sameas.errors import shortened
from sameas.graph.kind import Kind
from sameas.graph.matched import MatchedGraph
from sameas.graph.task import Task
from sameas.text.languages.support import LanguageSupport

SAMPLE = 2000
"""Names by whose letters the script of a graph's names is told."""
FURTHER = (
    "known links (`seeds`), names from a file (`names`) or from another property (`label`) may "
    "help; `preset` paper links every entity with its best candidate"
)


def why_no_links(
    task: Task,
    pairs: pl.DataFrame,
    best: pl.DataFrame,
    *,
    level: float,
    same_iri: int,
    languages: LanguageSupport | None,
) -> str:
    """What stood in the way of links, and which option would change it.

    ``pairs`` are those that would be links if they were confident enough (``level``), ``best``
    the candidates, the best first; both have left, right (names of entities), and confidence or
    score.
    """
    if same_iri:
        return (
            f"no links: the {same_iri:,} things that fit have the same IRI in both graphs, which "
            "needs no link; `link` all lists them"
        )
    for side, positions, graph in zip(("left", "right"), task.sides, task.pair.graphs, strict=True):
        if not len(positions):
            return f"no links: {_nothing_to_link(side, graph)}"
    if clash := _kinds_that_clash(task):
        return f"no links: {clash}"
    scripts = [_script(graph.names.gather(graph.linkable)) for graph in task.pair.graphs]
    if scripts[0] and scripts[1] and scripts[0] != scripts[1]:
        remedy = "a `dictionary`, translated `names`, or `features` multilingual would compare them"
        if languages is not None and languages.used:
            remedy = "known links (`seeds`) or translated `names` would tell more"
        left, right = scripts
        return f"no links: names are in different scripts ({left}, {right}); {remedy}"
    if len(pairs):
        return f"no links: {_below_level(task, pairs, level)}"
    if not len(best):
        return (
            f"no links: no two entities have a part of a name or a neighbour in common; {FURTHER}"
        )
    row = best.row(0, named=True)
    told = _pair_text(row["left"], row["right"])
    return f"no links: no pair is likelier than not, the best candidate is {told}; {FURTHER}"


def _nothing_to_link(side: str, graph: MatchedGraph) -> str:
    problem = f"the {side} graph has no entity that may be linked"
    if graph.source.shape != "rdf":
        return problem
    remedies = "`blank_nodes`, `link` all, or fewer classes in `include` may change that"
    return f"{problem}: only blank nodes, nodes that hold a value, or terms; {remedies}"


def _kinds_that_clash(task: Task) -> str:
    """A clause if no left entity is of the kind of a right one; else nothing."""
    sides = [
        kinds[positions] for kinds, positions in zip(task.known.kinds, task.sides, strict=True)
    ]
    if len(np.intersect1d(sides[0], sides[1])) or task.known.puns is not None:
        return ""
    left, right = (" and ".join(_kind_name(kind) for kind in np.unique(side)) for side in sides)
    return (
        f"the left graph has only {left}, the right only {right}, which are not linked with each "
        "other; without the statements that declare them (`exclude`), both are individuals"
    )


def _kind_name(kind: int) -> str:
    return {Kind.CLASS: "classes", Kind.PROPERTY: "properties"}.get(Kind(kind), "individuals")


def _below_level(task: Task, pairs: pl.DataFrame, level: float) -> str:
    """The clause about pairs that are not confident enough."""
    row = pairs.sort("confidence", descending=True, maintain_order=True).row(0, named=True)
    told = f"{_pair_text(row['left'], row['right'])}, has confidence {row['confidence']:.2f}"
    best = f"the best of {len(pairs):,} candidate links, {told}"
    if level != task.options.min_confidence:
        return f"{best}, below the {level:.2f} that `max_error` asks for; a larger one keeps more"
    raising = "known links (`seeds`) or better names (`names`, `label`) raise confidence"
    return f"{best}, below {level:.2f}; a lower `min_confidence` keeps it, {raising}"


def _pair_text(left: str, right: str) -> str:
    return f"{shortened(left)} and {shortened(right)}"


def _script(names: pl.Series) -> str:
    """The script of most letters in names, such as latin or cjk; empty if there are none."""
    some = names.gather_every(max(len(names) // SAMPLE, 1))
    letters = Counter(letter for name in some for letter in name[:80] if letter.isalpha())
    scripts: Counter[str] = Counter()
    for letter, count in letters.items():
        scripts[unicodedata.name(letter, "unknown").split()[0].lower()] += count
    return scripts.most_common(1)[0][0] if scripts else ""
