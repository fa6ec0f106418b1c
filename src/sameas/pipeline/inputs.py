"""From what the caller gives besides the graphs to a Task, checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.compute.arrays import Positions
from sameas.errors import OptionError
from sameas.formats.names import read_dictionary
from sameas.formats.pair import read_gold
from sameas.formats.vectors import load_word_vectors, read_embeddings
from sameas.graph.iri import are_blank
from sameas.graph.labels import beginnings
from sameas.graph.matched import MatchedPair
from sameas.graph.tables import Table, as_links, as_table
from sameas.graph.task import Constraints, Inputs, Task
from sameas.options.options import Options, refuse_unused
from sameas.options.tuning import TUNING, Tuning
from sameas.result.decisions import decided_links
from sameas.text.embeddings import embedding_rows
from sameas.text.words import WordVectors, words_of

DECIDED: dict[str, Literal["accept", "reject"]] = {"seeds": "accept", "reject": "reject"}
"""Which decisions in a run folder each input takes."""


def collect_inputs(
    pair: MatchedPair,
    options: Options,
    *,
    seeds: Table | str | PathLike[str] | None = None,
    reject: Table | str | PathLike[str] | None = None,
    among: Table | str | PathLike[str] | Literal["gold"] | None = None,
    embeddings: tuple[NDArray[Any], NDArray[Any]] | str | PathLike[str] | None = None,
    word_vectors: Mapping[str, Any] | str | PathLike[str] | None = None,
    dictionary: Table | str | PathLike[str] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Inputs:
    """The inputs from data or files; one that the options leave without effect is refused."""
    given = {
        "seeds": seeds,
        "reject": reject,
        "among": among,
        "embeddings": embeddings,
        "word_vectors": word_vectors,
        "dictionary": dictionary,
    }
    names = [name for name, value in given.items() if value is not None]
    refuse_unused(options, names, embeddings=embeddings is not None)
    if isinstance(among, str) and among == "gold":
        if pair.gold is None:
            raise OptionError("`among` must be links, got 'gold' for a pair without gold links")
        among = pair.gold
    rows = None
    if isinstance(embeddings, str | PathLike):
        entities = pl.concat([pair.left.entities, pair.right.entities])
        rows = read_embeddings(Path(embeddings), entities)
    elif embeddings is not None:
        rows = embedding_rows(embeddings, (pair.left.entities, pair.right.entities))
    vectors = None
    if options.method == "seu" and options.features in ("word", "hybrid") and rows is None:
        texts = beginnings(pl.concat([pair.left.names, pair.right.names]))
        words = words_of(texts)["word"].unique()
        if isinstance(word_vectors, Mapping):
            vectors = WordVectors.from_mapping(word_vectors, words)
        else:
            path = None if word_vectors is None else Path(word_vectors)
            vectors = load_word_vectors(path, words, progress=progress)
    return Inputs(
        seeds=_rows_of("seeds", seeds),
        reject=_rows_of("reject", reject),
        among=_rows_of("among", among),
        embeddings=rows,
        word_vectors=vectors,
        dictionary=_rows_of("dictionary", dictionary),
    )


def _rows_of(name: str, value: Any) -> pl.DataFrame | None:
    """Distinct links (left, right), or entries (text, gloss), from a table or a file.

    A run folder stands for the links that its reviewers accepted or rejected.
    """
    if value is None:
        return None
    columns, is_file = ("left", "right"), isinstance(value, str | PathLike)
    if name == "dictionary":
        columns = ("text", "gloss")
        table = read_dictionary(Path(value)) if is_file else as_table(value, columns, argument=name)
    elif not is_file:
        table = as_links(value, name)
    elif name in DECIDED and (Path(value) / "run.json").is_file():
        table = decided_links(Path(value), DECIDED[name])
    else:
        table = read_gold(Path(value))
    return table.select(columns).unique(maintain_order=True)


def make_task(
    pair: MatchedPair, options: Options, inputs: Inputs, *, tuning: Tuning = TUNING
) -> Task:
    """The task, with seeds, rejected pairs and ``among`` checked against the graphs.

    Everything is sorted first, so that links do not depend on the order of statements. Of very
    long names only the beginning is kept.
    """
    if inputs.embeddings is not None:
        orders = [graph.entities.arg_sort().to_numpy() for graph in (pair.left, pair.right)]
        rows = np.concatenate([orders[0], len(orders[0]) + orders[1]], dtype=np.int64)
        inputs = replace(inputs, embeddings=inputs.embeddings.take(rows))
    cut = [graph.in_order().with_short_names() for graph in pair.graphs]
    pair = replace(pair, left=cut[0][0], right=cut[1][0])
    graphs = pair.left, pair.right
    if inputs.among is None:
        left, right = (graph.linkable for graph in graphs)
    else:
        left, right = (np.unique(column) for column in _positions(pair, inputs.among, "among").T)
    seeds = _positions(pair, inputs.seeds, "seeds")
    rejected = _positions(pair, inputs.reject, "reject")
    inside = [np.zeros(len(graph.entities), dtype=np.bool_) for graph in graphs]
    inside[0][left], inside[1][right] = True, True
    known = Constraints(
        seeds, rejected, (inside[0], inside[1]), pair.compared_kinds, options.single
    )
    _check_seeds(known)
    if pair.both_rdf:
        from sameas.similarity.types import contradictory, types_of  # with Numba

        # What both graphs call by the same IRI is the same.
        theirs = pair.right.positions(pair.left.entities)
        ours = np.flatnonzero((theirs >= 0) & ~are_blank(pair.left.entities).to_numpy())
        same = np.stack([ours, theirs[ours]], axis=1)
        types = types_of(pair, tuning=tuning.types)
        same = same[known.allows(*same.T) & ~contradictory(types, *same.T)]
        known = replace(known, seeds=np.unique(np.concatenate([seeds, same]), axis=0))
    return Task(pair, options, inputs, (left, right), known, cut[0][1] + cut[1][1], tuning)


def _check_seeds(known: Constraints) -> None:
    """Refuse seeds that contradict each other or what else was given."""
    seeds, inside = known.seeds, known.inside
    for column, side in enumerate(("left", "right")):
        if known.single[column] and len(np.unique(seeds[:, column])) < len(seeds):
            raise OptionError(
                f"`seeds` must name a {side} entity once, got one more often; if it may have "
                "several partners, say so with `cardinality`"
            )
    if (inside[0][seeds[:, 0]] != inside[1][seeds[:, 1]]).any():
        raise OptionError(
            "`seeds` must not link an entity that may be linked (option `among`) with one that "
            "may not, got such a link"
        )
    width = len(inside[1])
    if len(np.intersect1d(seeds @ [width, 1], known.rejected @ [width, 1])):
        raise OptionError("`seeds` must not be rejected, got a link that `reject` names too")


def _positions(pair: MatchedPair, links: pl.DataFrame | None, name: str) -> Positions:
    """The positions of the entities of links, shape (k, 2)."""
    if links is None:
        return np.zeros((0, 2), dtype=np.int64)
    columns = []
    for side, graph in (("left", pair.left), ("right", pair.right)):
        positions = graph.positions(links[side])
        unknown = links[side].filter(pl.Series(positions < 0))
        if len(unknown):
            raise OptionError(
                f"`{name}` must name entities of the two graphs, got {len(unknown)} that are not "
                f'in the {side} one, the first is "{unknown[0]}"; leave them out'
            )
        columns.append(positions)
    return np.stack(columns, axis=1)
