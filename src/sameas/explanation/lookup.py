"""Which entity is meant: by URI, by name, or by the last part of its URI."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from sameas.errors import OptionError
from sameas.explanation.result import Side
from sameas.features import folded, ngram_rows
from sameas.graph import GraphPair
from sameas.iri import last_part

NEAREST = 5
"""Names suggested where none fits."""


@dataclass(frozen=True, eq=False)
class Lookup:
    """The URIs and names of both graphs, as they are looked up."""

    pair: GraphPair

    @cached_property
    def _texts(self) -> dict[Side, tuple[tuple[pl.Series, ...], ...]]:
        """Of each side the URIs; names and last parts of URIs; and these without case."""
        texts: dict[Side, tuple[tuple[pl.Series, ...], ...]] = {}
        sides: tuple[Side, Side] = ("left", "right")
        for side, graph in zip(sides, (self.pair.left, self.pair.right), strict=True):
            last = graph.entities.str.strip_chars_end("/#").str.extract(r"([^/#]*)$")
            names = graph.names, last
            texts[side] = (graph.entities,), names, tuple(_loose(text) for text in names)
        return texts

    def find(self, wanted: str, side: Side | None) -> tuple[Side, int]:
        """The side and position of the entity that is meant; the left graph is searched first."""
        sides: tuple[Side, ...] = ("left", "right") if side is None else (side,)
        loose = _loose(pl.Series([wanted], dtype=pl.String))[0]
        for level, text in enumerate((wanted, wanted, loose)):
            for near in sides:
                found = _places(self._texts[near][level], text)
                if len(found) == 1:
                    return near, found[0]
                if found:
                    uris = self._texts[near][0][0].gather(found[:NEAREST]).to_list()
                    raise OptionError(
                        f'"{wanted}" is the name of {len(found)} {near} entities; give the URI of '
                        f"one: {', '.join(uris)}{' ...' if len(found) > NEAREST else ''}"
                    )
        where = f"the {side} graph" if side else "either graph"
        nearest = [f'"{name}" ({uri})' for uri, name in self._nearest(wanted, sides)]
        hint = f"; nearest are {', '.join(nearest)}" if nearest else ""
        raise OptionError(f'no entity of {where} has the URI or name "{wanted}"{hint}')

    def _nearest(self, wanted: str, sides: tuple[Side, ...]) -> list[tuple[str, str]]:
        """URI and name of the entities whose names are most like what was asked for."""
        uris = pl.concat([self._texts[side][0][0] for side in sides])
        names = pl.concat([self._texts[side][1][0].fill_null("") for side in sides])
        every = pl.concat([names, pl.Series(names.name, [last_part(wanted)], dtype=pl.String)])
        rows = ngram_rows(folded(every), n=2, boundaries=True).sparse
        alike = (rows[:-1] @ rows[[-1]].T).toarray().ravel()
        best = np.argsort(-alike, kind="stable")[:NEAREST]
        return [(uris[int(place)], names[int(place)]) for place in best if alike[place] > 0]


def _loose(texts: pl.Series) -> pl.Series:
    """Texts in lower case, with spaces for underscores."""
    return texts.str.replace_all("_", " ", literal=True).str.strip_chars().str.to_lowercase()


def _places(texts: tuple[pl.Series, ...], wanted: str) -> list[int]:
    """Where one of these texts is the one wanted."""
    if not wanted:
        return []
    found = {place for text in texts for place in (text == wanted).arg_true().to_list()}
    return sorted(found)
