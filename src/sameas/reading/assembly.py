"""From statements to a graph: what is a relation, what an attribute, what a name."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.graph import Graph, Positions
from sameas.reading.labels import XL_FORM, XL_LABELS, choose_labels, label_ranks
from sameas.reading.options import Reading
from sameas.reading.statements import LITERAL_SCHEMA, Statements
from sameas.reading.terms import BLANK, Codes, Terms

log = logging.getLogger(__name__)

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
TOLD_BY_ALL = (
    "http://www.w3.org/2000/01/rdf-schema#Resource",
    "http://www.w3.org/2002/07/owl#NamedIndividual",
    "http://www.w3.org/2002/07/owl#Thing",
)
"""Classes that everything is in."""

UNMET = np.iinfo(np.int64).max

Mask = NDArray[np.bool_]


@dataclass
class Parts:
    """All statements of a graph, as they pile up."""

    terms: Terms
    reading: Reading
    tally: Counter[str]
    triples: list[Codes] = field(default_factory=list)
    literals: list[pl.DataFrame] = field(default_factory=list)
    excluded: dict[int, bool] = field(default_factory=dict)
    """Whether each predicate that was met is left out."""
    ranks: Positions = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """When each resource was met first, by number; UNMET where it was not."""
    met: int = 0

    def add(self, batch: Statements) -> None:
        """Keep statements, but for those with a predicate that was not asked for."""
        self.tally["statements"] += len(batch.triples) + len(batch.literals) + batch.quoted
        self.tally["quoted"] += batch.quoted
        self._rank(batch)
        dropped = self._excluded(batch.triples[:, 1])
        self.triples.append(batch.triples[~dropped] if dropped.any() else batch.triples)
        wrong = self._excluded(batch.literals["relation"].to_numpy())
        kept = batch.literals.filter(pl.Series(~wrong)) if wrong.any() else batch.literals
        self.literals.append(kept)
        self.tally["excluded"] += int(dropped.sum() + wrong.sum())

    def _rank(self, batch: Statements) -> None:
        """Remember the order in which resources are met: by statement, the head before the tail."""
        grown = len(self.terms) - len(self.ranks)
        self.ranks = np.pad(self.ranks, (0, grown), constant_values=UNMET)
        codes = np.concatenate(
            [batch.triples[:, [0, 2]].ravel(), batch.literals["head"].to_numpy()]
        )
        times = np.concatenate(
            [np.add.outer(2 * batch.rows, [0, 1]).ravel(), 2 * batch.literal_rows]
        )
        new = np.flatnonzero(self.ranks[codes] == UNMET)
        new = new[np.argsort(times[new], kind="stable")]
        fresh, first = np.unique(codes[new], return_index=True)
        self.ranks[fresh[np.argsort(first)]] = self.met + np.arange(len(fresh))
        self.met += len(fresh)

    def _excluded(self, relations: Codes) -> Mask:
        if not self.reading.exclude or not len(relations):
            return np.zeros(len(relations), dtype=np.bool_)
        distinct, place = np.unique(relations, return_inverse=True)
        new = [code for code in distinct.tolist() if code not in self.excluded]
        if new:
            texts = _iris(self.terms.texts(np.array(new)))
            self.excluded.update(zip(new, _matching(texts, self.reading.exclude), strict=True))
        return np.array([self.excluded[code] for code in distinct.tolist()])[place]


def assemble(
    batches: Iterable[Statements], terms: Terms, reading: Reading, tally: Counter[str]
) -> tuple[Graph, pl.DataFrame]:
    """The graph of some statements, and a table of the names given in them (entity, name)."""
    parts = Parts(terms, reading, tally)
    for batch in batches:
        parts.add(batch)
    triples = np.concatenate([np.zeros((0, 3), dtype=np.uint32), *parts.triples])
    literals = pl.concat([pl.DataFrame(schema=LITERAL_SCHEMA), *parts.literals])
    parts.triples.clear()
    parts.literals.clear()

    labels = pl.DataFrame(
        schema={"head": pl.UInt32, "value": pl.String, "language": pl.String, "rank": pl.Int64}
    )  # names are found later, when both sides are known
    classes = triples[triples[:, 1] == terms.code(f"<{TYPE}>")][:, [0, 2]]
    triples, literals, labels = _without_classes(triples, literals, labels, classes, parts)
    triples, literals = _included(triples, literals, classes, parts)

    used = np.zeros(len(terms), dtype=np.bool_)
    if not reading.include and not reading.exclude:
        used[classes[:, 0]] = True  # also those of which nothing is said but that they are things
    for heads in (triples[:, [0, 2]].ravel(), *(t["head"].to_numpy() for t in (literals, labels))):
        used[heads] = True
    entities = np.flatnonzero(used).astype(np.uint32)
    entities = entities[np.argsort(parts.ranks[entities])]
    position = np.full(len(terms), -1, dtype=np.int64)
    position[entities] = np.arange(len(entities))
    uris = _iris(terms.texts(entities)).rename("entity")
    linkable = _linkable(triples, entities, [literals, labels], classes, parts)
    return _graph(triples, literals, labels, uris, position, linkable, parts)


def _graph(
    triples: Codes,
    literals: pl.DataFrame,
    labels: pl.DataFrame,
    uris: pl.Series,
    position: Positions,
    linkable: Mask,
    parts: Parts,
) -> tuple[Graph, pl.DataFrame]:
    names, alternatives, others = choose_labels(labels, parts.reading)
    parts.tally["labels_in_other_languages"] += others
    relations = _in_order(triples[:, 1], len(parts.terms))
    number = np.zeros(len(parts.terms), dtype=np.int64)
    number[relations] = np.arange(len(relations))

    def named(table: pl.DataFrame) -> pl.DataFrame:
        places = position[table["head"].to_numpy()]
        order = np.argsort(places, kind="stable")
        entity = uris.gather(places[order])
        return pl.DataFrame({"entity": entity, "name": table["name"].gather(order)})

    kinds, kind = np.unique(literals["relation"].to_numpy(), return_inverse=True)
    attributes = pl.DataFrame(
        {
            "entity": uris.gather(position[literals["head"].to_numpy()]),
            "attribute": _iris(parts.terms.texts(kinds)).gather(kind),
            "value": literals["value"],
            "language": literals["language"],
        }
    )
    graph = Graph(
        entities=uris,
        names=pl.repeat("", len(uris), dtype=pl.String, eager=True).rename("name"),
        relations=_iris(parts.terms.texts(relations)).rename("relation"),
        triples=np.stack(
            [position[triples[:, 0]], number[triples[:, 1]], position[triples[:, 2]]], axis=1
        ),
        attributes=attributes,
        alternatives=named(alternatives),
        linkable=None if linkable.all() else np.flatnonzero(linkable),
        reading_counts={"statements": 0, "malformed": 0} | dict(+parts.tally),
    )
    return graph, named(names)


def _labels(
    triples: Codes, literals: pl.DataFrame, parts: Parts
) -> tuple[pl.DataFrame, Codes, pl.DataFrame]:
    """The labels (head, value, language, rank), and the statements that are none."""
    terms = parts.terms
    ranks = label_ranks(parts.reading)
    codes = terms.codes(pl.Series([f"<{iri}>" for iri in (*ranks, *XL_LABELS, XL_FORM)]))
    order = pl.DataFrame({"relation": codes[: len(ranks)], "rank": list(ranks.values())})
    plain = literals.join(order, on="relation", how="inner", maintain_order="left")
    columns = ("head", "value", "language", "rank")
    found = [plain.select(columns)]
    literals = literals.join(order, on="relation", how="anti", maintain_order="left")
    if not len(triples):
        return found[0], triples, literals

    leading = codes[len(ranks) : -1].tolist()
    leads = dict(zip(leading, (ranks[iri] for iri in XL_LABELS.values()), strict=True))
    mask = np.isin(triples[:, 1], list(leads))
    if mask.any():  # labels that are resources: what is said of them is not about entities
        form = literals.filter(pl.col("relation") == int(codes[-1]))
        uses = pl.DataFrame(triples[mask], schema=["owner", "relation", "head"])
        rank = pl.col("relation").replace_strict(leads, return_dtype=pl.Int64)
        texts = uses.with_columns(rank=rank).join(form, on="head", maintain_order="left")
        found.append(texts.select(pl.col("owner").alias("head"), "value", "language", "rank"))
        resources = np.unique(triples[mask][:, 2])
        about = np.isin(triples[:, 0], resources)
        said = literals["head"].is_in(pl.Series(resources).implode())
        parts.tally["about_labels"] += int((about & ~mask).sum()) + int(said.sum()) - len(form)
        triples, literals = triples[~(mask | about)], literals.filter(~said)
    return pl.concat(found), triples, literals


def _without_classes(
    triples: Codes,
    literals: pl.DataFrame,
    labels: pl.DataFrame,
    classes: Codes,
    parts: Parts,
) -> tuple[Codes, pl.DataFrame, pl.DataFrame]:
    """The statements without those about members of excluded classes, and without empty types."""
    terms, reading = parts.terms, parts.reading
    distinct = np.unique(classes[:, 1])
    texts = _iris(terms.texts(distinct))
    type_code = terms.code(f"<{TYPE}>")
    empty = distinct[texts.is_in(list(TOLD_BY_ALL)).to_numpy()]
    if len(empty):
        dropped = (triples[:, 1] == type_code) & np.isin(triples[:, 2], empty)
        parts.tally["types_told_by_all"] += int(dropped.sum())
        triples = triples[~dropped]
    if not reading.exclude:
        return triples, literals, labels
    wrong = distinct[_matching(texts, reading.exclude)]
    _warn_idle(reading.exclude, pl.concat([texts, _met(parts)]), "exclude")
    if not len(wrong):
        return triples, literals, labels
    out = np.zeros(len(terms), dtype=np.bool_)
    out[classes[np.isin(classes[:, 1], wrong), 0]] = True
    out[wrong] = True
    kept = ~(out[triples[:, 0]] | out[triples[:, 2]])
    said, labelled = (~out[table["head"].to_numpy()] for table in (literals, labels))
    left_out = [~kept, ~said, ~labelled]
    parts.tally["excluded"] += sum(int(mask.sum()) for mask in left_out)
    return triples[kept], literals.filter(pl.Series(said)), labels.filter(pl.Series(labelled))


def _met(parts: Parts) -> pl.Series:
    """The predicates that --exclude was held against."""
    return _iris(parts.terms.texts(np.array(list(parts.excluded), dtype=np.int64)))


def _included(
    triples: Codes, literals: pl.DataFrame, classes: Codes, parts: Parts
) -> tuple[Codes, pl.DataFrame]:
    """The statements whose predicate was asked for; all if only classes, or nothing, was."""
    patterns = parts.reading.include
    if not patterns:
        return triples, literals
    used = literals["relation"].to_numpy()
    distinct = np.unique(np.concatenate([triples[:, 1], used]))
    texts = _iris(parts.terms.texts(distinct))
    kinds = _iris(parts.terms.texts(np.unique(classes[:, 1])))
    _warn_idle(patterns, pl.concat([texts, kinds]), "include")
    wanted = distinct[_matching(texts, patterns)]
    if not len(wanted):
        return triples, literals
    kept, said = np.isin(triples[:, 1], wanted), np.isin(used, wanted)
    parts.tally["excluded"] += int((~kept).sum() + (~said).sum())
    return triples[kept], literals.filter(pl.Series(said))


def _linkable(
    triples: Codes,
    entities: Codes,
    tables: Sequence[pl.DataFrame],
    classes: Codes,
    parts: Parts,
) -> Mask:
    """Which entities may be linked: no blank nodes, and no classes of which nothing else is said.

    Where classes were asked for, only their members.
    """
    terms, reading = parts.terms, parts.reading
    spoken_of = np.zeros(len(terms), dtype=np.bool_)
    types = triples[:, 1] == terms.code(f"<{TYPE}>")
    spoken_of[triples[:, 0]] = True
    spoken_of[triples[~types, 2]] = True
    for table in tables:
        spoken_of[table["head"].to_numpy()] = True
    linkable = spoken_of[entities]
    blank = terms.states[entities] == BLANK
    parts.tally["classes_not_linked"] += int((~linkable & ~blank).sum())
    if not reading.blank_nodes:
        parts.tally["blank_nodes_not_linked"] += int(blank.sum())
        linkable &= ~blank
    if reading.include and len(classes):
        distinct = np.unique(classes[:, 1])
        wanted = distinct[_matching(_iris(terms.texts(distinct)), reading.include)]
        if len(wanted):
            member = np.zeros(len(terms), dtype=np.bool_)
            member[classes[np.isin(classes[:, 1], wanted), 0]] = True
            parts.tally["other_classes_not_linked"] += int((linkable & ~member[entities]).sum())
            linkable &= member[entities]
    return linkable


def _in_order(codes: Codes, size: int) -> Codes:
    """The distinct ones of some numbers below ``size``, in order of first appearance."""
    first = np.full(size, UNMET, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # the last that is written is the first met
    met = np.flatnonzero(first != UNMET)
    return met[np.argsort(first[met])].astype(np.uint32)


def _iris(texts: pl.Series) -> pl.Series:
    """Terms without the brackets around IRIs."""
    return texts.str.strip_prefix("<").str.strip_suffix(">")


def _matching(texts: pl.Series, patterns: Sequence[str]) -> Mask:
    """Which texts are one of the patterns, or begin like one that ends in an asterisk."""
    found = np.zeros(len(texts), dtype=np.bool_)
    for pattern in patterns:
        found |= _fits(texts, pattern)
    return found


def _fits(texts: pl.Series, pattern: str) -> Mask:
    if pattern.endswith("*"):
        return texts.str.starts_with(pattern[:-1]).to_numpy()
    return (texts == pattern).to_numpy()


def _warn_idle(patterns: Sequence[str], texts: pl.Series, option: str) -> None:
    for pattern in patterns:
        if not _fits(texts, pattern).any():
            log.warning("--%s %s fits no predicate or class", option, pattern)
