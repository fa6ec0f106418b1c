"""Alignment: the result, with all that is needed to judge and to explain it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from sameas import __version__
from sameas.graph.matched import MatchedPair
from sameas.graph.task import Inputs
from sameas.graph.union import distinct_ids
from sameas.options.options import Options, Side
from sameas.options.tuning import TUNING, Tuning
from sameas.result.audit.record import Audit
from sameas.result.changes import count_changes
from sameas.result.charts import Plots
from sameas.result.cluster_changes import count_cluster_changes
from sameas.result.cluster_charts import ClusterDetails
from sameas.result.clusters import Clusters
from sameas.result.examples import example_links
from sameas.result.explanation.sentences import Explanation
from sameas.result.shown import alignment_html
from sameas.text.languages.support import NO_SUPPORT, LanguageSupport

if TYPE_CHECKING:
    from sameas.result.explanation.terms import Decomposition

_PAIR = {"left": pl.String, "right": pl.String}
SCHEMAS = {
    "links": pl.Schema({**_PAIR, "score": pl.Float64, "confidence": pl.Float64}),
    "candidates": pl.Schema(
        {
            **_PAIR,
            "rank": pl.Int64,
            **dict.fromkeys(("score", "mean_rank", "strength"), pl.Float64),
        }
    ),
    "unmatched": pl.Schema(
        {
            **dict.fromkeys(("side", "entity", "reason", "candidate"), pl.String),
            "score": pl.Float64,
        }
    ),
    "relations": pl.Schema(
        {**_PAIR, "inverse": pl.Boolean, "match": pl.Float64, "edges": pl.Int64}
    ),
    **dict.fromkeys(("anchors", "taught"), pl.Schema({**_PAIR, "trust": pl.Float64})),
    "gold_ranks": pl.Schema({**_PAIR, "rank": pl.Float64}),
    "prices": pl.Schema({"side": pl.String, "entity": pl.String, "price": pl.Float64}),
    "changes": pl.Schema(dict.fromkeys(("left", "right", "change", "reason", "before"), pl.String)),
}
"""The columns of each table of a result."""


@dataclass(frozen=True, kw_only=True)
class Diagnostics:
    """Figures that tell how a run went; None where one does not apply."""

    solver: str
    objective: float
    """Total profit, surplus or probability of all links, before the least confident are dropped."""
    optimality_gap: float | None = None
    """How far the objective can be from the largest possible, as a share of it."""
    left_entities: int = 0
    right_entities: int = 0
    left_candidates: int = 0
    """Left entities that may be linked."""
    right_candidates: int = 0
    same_iri: int | None = None
    """Entities that both graphs call by the same IRI, and that are not listed for that."""
    kinds_meet: bool | None = None
    """True where classes may be linked with individuals: a graph has next to none of a kind."""
    no_links: str | None = None
    """Where there are no links: what stood in the way, and what would change it."""
    long_names: int | None = None
    """Names that were too long, and compared by their beginning."""
    form: str | None = None
    """"complete" if all pairs were considered, else "candidates"."""
    form_reason: str | None = None
    memory_expected_bytes: int | None = None
    candidate_pairs: int | None = None
    search_recall: float | None = None
    """Of the pairs that are each other's best in a sample, the share among the candidates."""
    entities_without_features: int | None = None
    word_vectors: str | None = None
    words: int | None = None
    words_without_vector: int | None = None
    refinement_rounds: int | None = None
    anchors: int | None = None
    relation_matches: int | None = None
    weights: dict[str, float] | None = None
    """What each kind of evidence was worth in log-odds, after refinement."""
    by_chance: bool | None = None
    """True where best pairs lead by no more than chance gives: links may all be wrong."""
    wording: tuple[float, ...] | None = None
    """Within one graph: what each way in which the words of names compare was worth."""
    languages: LanguageSupport | None = None
    """The languages of names and what was used for them, where they differ."""
    threshold: float | None = None
    """The log-odds a pair must exceed to be likelier than no link, after refinement."""
    thresholds: dict[str, float] | None = None
    """The same by kind of entity, where kinds are known."""
    chances: dict[str, dict[str, float]] | None = None
    """By kind of entity, what was taken to be chance (see ``Chance``), and the cut."""
    clusters: int | None = None
    """Where duplicates were looked for: how many clusters of two or more there are."""
    clustered_entities: int | None = None
    """How many entities these have."""
    graphs: tuple[str, ...] | None = None
    """What the graphs are called, where there are three or more."""
    plan_sweeps: int | None = None
    plan_deviation: float | None = None
    solver_rounds: int | None = None
    solver_pairs: int | None = None
    iterations: int | None = None
    converged: bool | None = None

    def asdict(self) -> dict[str, Any]:
        """The figures that apply, and the gap in any case, as plain values."""
        return {
            name: value
            for name, value in asdict(self).items()
            if value is not None or name == "optimality_gap"
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class Alignment:
    """Which left entity is which right one. Entities are named by URI in every table."""

    options: Options
    diagnostics: Diagnostics
    load: Callable[[str], Any]
    """Gives each attribute below by name, when it is first asked for."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Time by phase; not part of the result."""
    resumed: tuple[str, ...] = ()
    """Phases that were taken over from an interrupted run; not part of the result either."""
    version: str = __version__
    """The version of sameas that made the result."""
    tuning: Tuning = TUNING
    """The numbers that it was made with."""
    pair: MatchedPair = field(init=False)
    """Both graphs, and gold links where they are known."""
    inputs: Inputs = field(init=False)
    """What was given besides the graphs."""
    links: pl.DataFrame = field(init=False)
    """left, right, score, confidence. The score is the profit; after refinement, the log-odds of
    the pair above the threshold."""
    candidates: pl.DataFrame = field(init=False)
    """left, right, rank, score, mean_rank, strength: the best right entities of each left one.
    ``rank`` counts them from 1: the partner first, if there is one, then by the score less the
    price of the right entity, which is high where other left entities want it too. So scores need
    not fall. Candidates that are worth the same share the mean of their ranks, ``mean_rank``.
    ``strength`` is what the partner of the plan was weighed by, null for others."""
    unmatched: pl.DataFrame = field(init=False)
    """side, entity, reason (a ``Reason``), and the best candidate with its score, if any."""
    relations: pl.DataFrame | None = field(init=False)
    """left, right, inverse, match, edges: which relation matches which, where that was learned;
    ``edges`` is on how many edges between anchors both were seen."""
    anchors: pl.DataFrame | None = field(init=False)
    """left, right, trust: the links that refinement learned from in the end."""
    taught: pl.DataFrame | None = field(init=False)
    """left, right, trust: the links that a dictionary was learnt from, where there is one."""
    gold_ranks: pl.DataFrame | None = field(init=False)
    """left, right, rank of the gold links between candidates; for evaluation alone."""
    prices: pl.DataFrame | None = field(init=False)
    """side, entity, price, where the exact solver was used: no pair's profit exceeds the sum of
    its two prices, which proves the links optimal."""
    audit: Audit | None = field(init=False)
    """How good the links are, without labels; None without refinement, with ``no_audit``, and where
    there are too few links to tell."""
    clusters: Clusters | None = field(init=False)
    """Which entities are the same thing, where duplicates were looked for; None for two graphs."""
    parts: tuple[Alignment, ...] | None = field(init=False)
    """Of several graphs, the alignments of each two of them: 1 and 2, 1 and 3, ..., 2 and 3, ..."""
    decisions: pl.DataFrame | None = field(init=False)
    """left, right, state, reviewer, time: what reviewers of the run folder decided, if any did."""
    decision_log: pl.DataFrame | None = field(init=False)
    """All that they decided, one after the other, undone decisions included."""
    changes: pl.DataFrame | None = field(init=False)
    """left, right, change (kept, new, changed or gone), reason, before: what became of the links
    of an earlier run, where there was one; ``before`` is the partner that was replaced."""

    def __getattr__(self, name: str) -> Any:
        """An attribute that is loaded on first use."""
        if name not in LOADED:
            raise AttributeError(f"'Alignment' has no attribute {name!r}")
        value = self.load(name)
        if isinstance(value, Clusters):
            value = replace(value, load_details=self._cluster_details)
        object.__setattr__(self, name, value)
        return value

    @property
    def single(self) -> tuple[bool, bool]:
        """Whether a left, and whether a right entity has one partner at most; not in clusters."""
        return (False, False) if self.diagnostics.clusters is not None else self.options.single

    @property
    def origins(self) -> pl.DataFrame:
        """id, entity, graph of all entities of a run with clusters.

        The id is that of the run; ``entity`` is what the graph itself says. They differ for ids
        that several graphs have.
        """
        names, parts = self.diagnostics.graphs, self.parts
        if names is None or not parts:
            ids, clusters = self.pair.left.entities.rename("id"), self.clusters
            called = clusters.members["graph"][0] if clusters is not None and len(clusters) else ""
            return pl.DataFrame({"id": ids, "entity": ids}).with_columns(graph=pl.lit(called))
        # The first parts are those of the first graph with each of the others.
        graphs = [parts[0].pair.left, *(part.pair.right for part in parts[: len(names) - 1])]
        found = [graph.source.entities.rename("entity") for graph in graphs]
        sizes = [len(entities) for entities in found]
        called = pl.Series(np.repeat(np.array(names, dtype=object), sizes), dtype=pl.String)
        entities = pl.concat(found)
        ids = distinct_ids(entities, called)
        return pl.DataFrame({"id": ids, "entity": entities, "graph": called})

    @property
    def ranked(self) -> pl.DataFrame:
        """left, right, rank of every pair whose rank is known: candidates and gold links.

        Pairs that are worth the same share the mean of their ranks.
        """
        known = [self.candidates.select("left", "right", rank="mean_rank")]
        if self.gold_ranks is not None:
            known.append(self.gold_ranks.select("left", "right", "rank"))
        return pl.concat(known).unique(["left", "right"], keep="first", maintain_order=True)

    def explain(
        self, entity: str, other: str | None = None, *, side: Side | None = None
    ) -> Explanation:
        """Why an entity has its partner, or none; with ``other``, why not that one.

        Entities are given by URI, or by a name that only one has. Print the result.
        """
        from sameas.result.explanation.explainer import (
            explain,  # with Numba, which others do not need
        )
        from sameas.result.explanation.many import explain_part

        names = self.diagnostics.graphs
        if names is not None and self.parts is not None and self.clusters is not None:
            return explain_part(self.origins, names, self.parts, self.clusters, entity, other)
        return explain(self._decomposition, entity, other, side)

    @cached_property
    def _decomposition(self) -> Decomposition:
        """The model of the run, with which explanations take scores apart."""
        from sameas.result.explanation.tables import RunTables, both_ways
        from sameas.result.explanation.terms import Decomposition

        figures = self.diagnostics
        tables = RunTables(
            pair=self.pair,
            options=self.options,
            tuning=self.tuning,
            inputs=self.inputs,
            links=self.links,
            candidates=self.candidates,
            unmatched=self.unmatched,
            anchors=self.anchors,
            dictionary_anchors=self.taught,
            weights=figures.weights or {},
            wording=figures.wording,
            by_chance=bool(figures.by_chance),
            support=figures.languages or NO_SUPPORT,
            prices=self.prices,
            thresholds={"": figures.threshold or 0.0, **(figures.thresholds or {})},
            chances=figures.chances or {},
        )
        return Decomposition(both_ways(tables) if self.pair.is_one_graph else tables)

    def count_unmatched(self, side: Side) -> int:
        """How many candidates of a side have no link."""
        return int((self.unmatched["side"] == side).sum())

    def summary(self) -> dict[str, Any]:
        """The figures that describe the result, the same for the same input."""
        figures = {
            "links": len(self.links),
            "unmatched_left": self.count_unmatched("left"),
            "unmatched_right": self.count_unmatched("right"),
            **self.diagnostics.asdict(),
        }
        changed_clusters = None if self.clusters is None else self.clusters.changes
        if self.changes is not None and self.inputs.earlier is not None:
            figures["since"] = count_changes(self.changes, self.inputs.earlier)
        elif changed_clusters is not None and self.inputs.earlier is not None:
            figures["since"] = count_cluster_changes(changed_clusters, self.inputs.earlier)
        return figures

    def _cluster_details(self) -> ClusterDetails:
        """Names, scores and decisions, with which clusters are drawn."""
        graph = self.pair.left
        names = pl.DataFrame({"id": graph.entities, "name": graph.names})
        entities = self.origins.join(names, on="id", how="left", maintain_order="left")
        pairs = self.candidates.select("left", "right", "score")
        return ClusterDetails(entities, pairs, self.decisions)

    @property
    def plot(self) -> Plots:
        """Charts by Altair: confidence, reliability, relations (``sameas[plot]``)."""
        return Plots(self.links, self.relations, lambda: self.pair.gold)

    def _repr_html_(self) -> str:
        """Counts, estimates, confidences and some links, or the clusters, for notebooks."""
        if self.clusters is not None:
            return self.clusters._repr_html_()
        figures, counts = self.diagnostics, [("links", len(self.links), "")]
        sides: dict[Side, int] = {
            "left": figures.left_candidates,
            "right": figures.right_candidates,
        }
        for side, candidates in sides.items():
            unmatched = self.count_unmatched(side)
            counts.append((f"{side} entities unmatched", unmatched, f"of {candidates:,}"))
        audit = None if self.audit is None else self.audit.asdict()
        examples = example_links(self.links, self.pair, self.inputs.seeds)
        return alignment_html(self.links, counts, audit, examples)

    def __repr__(self) -> str:
        """Counts instead of contents."""
        if self.clusters is not None:
            return f"Alignment of {self.clusters!r}"
        return (
            f"Alignment({len(self.links)} links, {self.count_unmatched('left')} left and "
            f"{self.count_unmatched('right')} right entities unmatched)"
        )


LOADED = frozenset(each.name for each in fields(Alignment) if not each.init)
