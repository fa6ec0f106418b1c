"""Which attribute of one graph corresponds to which of the other.

That is found from values in common, or from what attributes are called where their values are
numbers, dates, coordinates or long texts, which are seldom equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from sameas.compute.joins import bounded_join
from sameas.graph.iri import last_part
from sameas.graph.semantics.paths import SEPARATOR
from sameas.options.tuning import TUNING, Tuning
from sameas.similarity.values import ValueKind
from sameas.text.folding import fold_text

NAMED = f"{SEPARATOR}(name)"
"""Behind a relation: the name of what it leads to, as a value."""
Kinds = Mapping[str, ValueKind]
"""The kind of the values of each attribute."""


def corresponding_attributes(
    left: pl.DataFrame,
    right: pl.DataFrame,
    kinds: tuple[Kinds, Kinds],
    *,
    tuning: Tuning = TUNING,
) -> list[tuple[str, str]]:
    """Pairs of attributes, the more telling first; one to one.

    Tables have the columns entity, attribute, value and many, as in ``Attributes``.
    """
    pairs = _with_values_in_common(left, right, tuning)
    pairs += _called_alike(left, right, kinds, pairs)
    return pairs[: tuning.attributes.most_pairs]


def _with_values_in_common(
    left: pl.DataFrame, right: pl.DataFrame, tuning: Tuning
) -> list[tuple[str, str]]:
    """Pairs of attributes with values in common, the rarer and the more the better; one to one."""
    ours, theirs = (
        table.select("attribute", "value", "many").unique(maintain_order=True)
        for table in (left, right)
    )
    sizes = [dict(side.group_by("attribute").len().iter_rows()) for side in (ours, theirs)]
    met = (
        bounded_join(ours, theirs, on=["value"], tuning=tuning.search)
        .group_by("attribute", "attribute_right")
        .agg(shared=pl.len(), weight=(1 / (pl.col("many") * pl.col("many_right")).sqrt()).sum())
        .filter(pl.col("shared") >= tuning.attributes.least_shared)
    )
    rows = sorted(
        # Rounded: sums depend on the order of terms, and equals are to go by their names.
        (round(-weight / np.sqrt(sizes[0][one] * sizes[1][other]), 9), one, other)
        for one, other, _, weight in met.iter_rows()
        # Two relations are compared by whom they lead to, not by what these are called.
        if not (one.endswith(NAMED) and other.endswith(NAMED))
    )
    chosen: dict[str, str] = {}
    for _, one, other in rows:
        if one not in chosen and other not in chosen.values():
            chosen[one] = other
    return list(chosen.items())


def _called_alike(
    left: pl.DataFrame,
    right: pl.DataFrame,
    kinds: tuple[Kinds, Kinds],
    chosen: Sequence[tuple[str, str]],
) -> list[tuple[str, str]]:
    """Further pairs of attributes: of one kind whose values are seldom equal, and called alike."""
    by_name = []
    for side, (table, of_side) in enumerate(zip((left, right), kinds, strict=True)):
        taken = {pair[side] for pair in chosen}
        sizes = sorted(
            table.group_by("attribute").len().iter_rows(), key=lambda row: (-row[1], row[0])
        )
        names: dict[tuple[str, str], str] = {}
        for attribute, _ in sizes:
            kind = of_side[attribute]
            if kind != "text" and attribute not in taken and not attribute.endswith(NAMED):
                names.setdefault((kind, "" if kind == "point" else _called(attribute)), attribute)
        by_name.append(names)
    return [(by_name[0][name], by_name[1][name]) for name in by_name[0] if name in by_name[1]]


def _called(path: str) -> str:
    """What an attribute is called, without what a namespace or a spelling adds.

    >>> _called("http://x.org/Date_Of_Birth") == _called("dateOfBirth")
    True
    """
    parts = (fold_text(last_part(part)) for part in path.split(SEPARATOR))
    return SEPARATOR.join(part.replace(" ", "") for part in parts)
