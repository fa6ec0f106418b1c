"""From statements to the parts of a graph: what is a relation, an attribute, a name."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.naming import SKOS, choose_labels, label_table
from sameas.rdf.rules import Reading
from sameas.rdf.statements import LITERAL_SCHEMA, Codes, Statements, Terms

log = logging.getLogger(__name__)

Mask = NDArray[np.bool_]

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
UNIVERSAL_CLASSES = (
    "http://www.w3.org/2000/01/rdf-schema#Resource",
    "http://www.w3.org/2002/07/owl#NamedIndividual",
    "http://www.w3.org/2002/07/owl#Thing",
)
"""Classes that everything is in."""
SKOSXL = "http://www.w3.org/2008/05/skos-xl#"
XL_LABELS = {f"{SKOSXL}prefLabel": f"{SKOS}prefLabel", f"{SKOSXL}altLabel": f"{SKOS}altLabel"}
"""Properties that lead to a label that is a resource, and those they stand for."""
XL_FORM = f"{SKOSXL}literalForm"
UNMET = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False, kw_only=True)
class Parts:
    """What a graph is made of; see ``sameas.Graph``."""

    entities: pl.Series
    relations: pl.Series
    triples: NDArray[np.int64]
    attributes: pl.DataFrame
    names: pl.DataFrame
    """The names given in the statements: entity, name."""
    alternatives: pl.DataFrame
    linkable: NDArray[np.int64] | None
    reading_counts: dict[str, int]


def assemble(
    batches: Iterable[Statements], terms: Terms, reading: Reading, tally: Counter[str]
) -> Parts:
    """The parts of the graph that statements make; what was met is counted in ``tally``."""
    found = _Assembly(terms, reading, tally)
    for batch in batches:
        found.add(batch)
    return found.parts()


@dataclass
class _Assembly:
    """The statements of a graph as they are collected and sorted out."""

    terms: Terms
    reading: Reading
    tally: Counter[str]
    triple_batches: list[Codes] = field(default_factory=list)
    literal_batches: list[pl.DataFrame] = field(default_factory=list)
    excluded: dict[int, bool] = field(default_factory=dict)
    """Whether each predicate that was met is left out."""
    ranks: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """When each resource was met first, by number; UNMET where it was not."""
    met: int = 0

    def add(self, batch: Statements) -> None:
        """Keep the statements whose predicate is not excluded."""
        self.tally["statements"] += len(batch.triples) + len(batch.literals) + batch.quoted
        self.tally["quoted"] += batch.quoted
        self._rank(batch)
        dropped = self._excluded(batch.triples[:, 1])
        self.triple_batches.append(batch.triples[~dropped] if dropped.any() else batch.triples)
        wrong = self._excluded(batch.literals["relation"].to_numpy())
        self.literal_batches.append(
            batch.literals.filter(~wrong) if wrong.any() else batch.literals
        )
        self.tally["excluded"] += int(dropped.sum() + wrong.sum())

    def _rank(self, batch: Statements) -> None:
        """Remember the order in which resources are met: by statement, the head before the tail."""
        grown = len(self.terms) - len(self.ranks)
        self.ranks = np.pad(self.ranks, (0, grown), constant_values=UNMET)
        ends, times = batch.triples[:, [0, 2]].ravel(), np.add.outer(2 * batch.rows, [0, 1])
        codes = np.concatenate([ends, batch.literals["head"].to_numpy()])
        times = np.concatenate([times.ravel(), 2 * batch.literal_rows])
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
            fits = _matching(self.terms.iris(np.array(new)), self.reading.exclude)
            self.excluded.update(zip(new, fits.tolist(), strict=True))
        return np.array([self.excluded[code] for code in distinct.tolist()])[place]

    def parts(self) -> Parts:
        """The parts of the graph."""
        self.triples = np.concatenate([np.zeros((0, 3), np.uint32), *self.triple_batches])
        self.literals = pl.concat([pl.DataFrame(schema=LITERAL_SCHEMA), *self.literal_batches])
        self.triple_batches.clear()
        self.literal_batches.clear()
        self.type_code = self.terms.code(f"<{TYPE}>")
        self._take_labels()
        types = self.triples[self.triples[:, 1] == self.type_code]
        self.members, self.classes = types[:, 0], types[:, 2]
        self._drop_universal_types()
        self._drop_excluded_classes()
        self._keep_included()
        entities = self._entities()
        linkable = self._linkable(entities)
        return self._parts(entities, linkable)

    def _heads(self) -> list[Codes]:
        """The heads of literals and of labels."""
        return [table["head"].to_numpy() for table in (self.literals, self.labels)]

    def _marked(self, *codes: NDArray[Any]) -> Mask:
        """Which numbers are among these."""
        mask = np.zeros(len(self.terms), dtype=np.bool_)
        for some in codes:
            mask[some] = True
        return mask

    def _take_labels(self) -> None:
        """Separate the labels (head, value, language, rank, further) from other statements."""
        columns = ("head", "value", "language", "rank", "further")
        ranks = label_table(self.reading.label)
        codes = self.terms.codes("<" + ranks["property"] + ">")
        known = ranks.with_columns(pl.Series("relation", codes))
        self.labels = self.literals.join(known, on="relation", maintain_order="left").select(
            columns
        )
        self.literals = self.literals.join(known, on="relation", how="anti", maintain_order="left")
        leading = self.terms.codes(pl.Series([f"<{iri}>" for iri in XL_LABELS]))
        leads = pl.DataFrame({"property": list(XL_LABELS.values()), "relation": leading})
        leads = leads.join(ranks, on="property", maintain_order="left")
        mask = np.isin(self.triples[:, 1], leads["relation"].to_numpy())
        if not mask.any():
            return
        # Labels that are resources: statements about them are not about entities.
        form = self.literals.filter(pl.col("relation") == self.terms.code(f"<{XL_FORM}>"))
        uses = pl.DataFrame(self.triples[mask], schema=["owner", "relation", "head"])
        texts = uses.join(leads, on="relation", maintain_order="left")
        texts = texts.join(form.drop("relation"), on="head", maintain_order="left")
        self.labels = pl.concat([self.labels, texts.with_columns(head="owner").select(columns)])
        resources = self._marked(self.triples[mask, 2])
        about = resources[self.triples[:, 0]]
        said = resources[self.literals["head"].to_numpy()]
        self.tally["about_labels"] += int((about & ~mask).sum()) + int(said.sum()) - len(form)
        self.triples, self.literals = self.triples[~(mask | about)], self.literals.filter(~said)

    def _drop_universal_types(self) -> None:
        distinct = np.unique(self.classes)
        universal = distinct[self.terms.iris(distinct).is_in(list(UNIVERSAL_CLASSES)).to_numpy()]
        dropped = (self.triples[:, 1] == self.type_code) & np.isin(self.triples[:, 2], universal)
        self.tally["types_told_by_all"] += int(dropped.sum())
        self.triples = self.triples[~dropped]

    def _drop_excluded_classes(self) -> None:
        """Leave out excluded classes, their members and what is said of them."""
        if not self.reading.exclude:
            return
        wrong = self._matching_classes(self.reading.exclude)
        tested = np.concatenate([np.unique(self.classes), np.array([*self.excluded], np.uint32)])
        _warn_unused(self.reading.exclude, self.terms.iris(tested), "exclude")
        out = self._marked(wrong, self.members[np.isin(self.classes, wrong)])
        gone = out[self.triples[:, 0]] | out[self.triples[:, 2]]
        gone_literals, gone_labels = (out[heads] for heads in self._heads())
        self.tally["excluded"] += int(gone.sum() + gone_literals.sum() + gone_labels.sum())
        self.triples = self.triples[~gone]
        self.literals = self.literals.filter(~gone_literals)
        self.labels = self.labels.filter(~gone_labels)

    def _keep_included(self) -> None:
        """Keep the predicates asked for; all if none was, or if only classes were."""
        if not self.reading.include:
            return
        used = self.literals["relation"].to_numpy()
        distinct = np.unique(np.concatenate([self.triples[:, 1], used]))
        texts = self.terms.iris(distinct)
        classes = self.terms.iris(np.unique(self.classes))
        _warn_unused(self.reading.include, pl.concat([texts, classes]), "include")
        wanted = distinct[_matching(texts, self.reading.include)]
        if not len(wanted):
            return
        kept, kept_literals = np.isin(self.triples[:, 1], wanted), np.isin(used, wanted)
        self.tally["excluded"] += int((~kept).sum() + (~kept_literals).sum())
        self.triples, self.literals = self.triples[kept], self.literals.filter(kept_literals)

    def _matching_classes(self, patterns: Sequence[str]) -> Codes:
        distinct = np.unique(self.classes)
        return distinct[_matching(self.terms.iris(distinct), patterns)]

    def _entities(self) -> Codes:
        """The entities, in the order in which they were met."""
        used = self._marked(self.triples[:, 0], self.triples[:, 2], *self._heads())
        entities = np.flatnonzero(used).astype(np.uint32)
        return entities[np.argsort(self.ranks[entities])]

    def _linkable(self, entities: Codes) -> Mask:
        """Which entities may be linked: no blank nodes, no classes of which nothing else is said.

        Where classes were asked for, only their members.
        """
        tails = self.triples[self.triples[:, 1] != self.type_code, 2]
        linkable = self._marked(self.triples[:, 0], tails, *self._heads())[entities]
        blank = self.terms.texts(entities).str.starts_with("_:").to_numpy()
        self.tally["classes_not_linked"] += int((~linkable & ~blank).sum())
        if not self.reading.blank_nodes:
            self.tally["blank_nodes_not_linked"] += int(blank.sum())
            linkable &= ~blank
        wanted = self._matching_classes(self.reading.include)
        if len(wanted):
            member = self._marked(self.members[np.isin(self.classes, wanted)])[entities]
            self.tally["other_classes_not_linked"] += int((linkable & ~member).sum())
            linkable &= member
        return linkable

    def _parts(self, entities: Codes, linkable: Mask) -> Parts:
        names, alternatives, others = choose_labels(self.labels, self.reading.language)
        self.tally["labels_in_other_languages"] += others
        uris = self.terms.iris(entities).rename("entity")
        position = np.full(len(self.terms), -1, dtype=np.int64)
        position[entities] = np.arange(len(entities))
        relations = _in_order(self.triples[:, 1])
        number = np.zeros(len(self.terms), dtype=np.int64)
        number[relations] = np.arange(len(relations))
        head, relation, tail = self.triples.T
        kinds, kind = np.unique(self.literals["relation"].to_numpy(), return_inverse=True)

        def by_entity(table: pl.DataFrame) -> pl.DataFrame:
            places = position[table["head"].to_numpy()]
            order = np.argsort(places, kind="stable")
            entity = uris.gather(places[order])
            return pl.DataFrame({"entity": entity, "name": table["name"].gather(order)})

        return Parts(
            entities=uris,
            relations=self.terms.iris(relations).rename("relation"),
            triples=np.stack([position[head], number[relation], position[tail]], axis=1),
            attributes=pl.DataFrame(
                {
                    "entity": uris.gather(position[self.literals["head"].to_numpy()]),
                    "attribute": self.terms.iris(kinds).gather(kind),
                    "value": self.literals["value"],
                }
            ),
            names=by_entity(names),
            alternatives=by_entity(alternatives),
            linkable=None if linkable.all() else np.flatnonzero(linkable),
            reading_counts={"statements": 0, "malformed": 0} | dict(+self.tally),
        )


def _in_order(codes: Codes) -> Codes:
    """The distinct numbers, in order of first appearance."""
    distinct, first = np.unique(codes, return_index=True)
    return distinct[np.argsort(first)]


def _matching(texts: pl.Series, patterns: Sequence[str]) -> Mask:
    """Which texts fit one of the patterns."""
    found = np.zeros(len(texts), dtype=np.bool_)
    for pattern in patterns:
        found |= _fits(texts, pattern)
    return found


def _fits(texts: pl.Series, pattern: str) -> Mask:
    """Which texts are the pattern, or begin like one that ends in an asterisk."""
    if pattern.endswith("*"):
        return texts.str.starts_with(pattern[:-1]).to_numpy()
    return (texts == pattern).to_numpy()


def _warn_unused(patterns: Sequence[str], texts: pl.Series, option: str) -> None:
    for pattern in patterns:
        if not _fits(texts, pattern).any():
            log.warning("`%s` %s fits no predicate or class", option, pattern)
