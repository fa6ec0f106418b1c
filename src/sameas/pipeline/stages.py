"""The stages that both forms of the method share: rows, proposals, candidates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeVar

from sameas.candidates.clues import Proposals
from sameas.candidates.pairs import Candidates
from sameas.candidates.search import propose, search, searched_by_clues
from sameas.candidates.since import little_changed, search_since
from sameas.compute.arrays import Progress
from sameas.compute.parallel import is_apart, meanwhile
from sameas.graph.task import Sides, Task
from sameas.pipeline.phases import Phases
from sameas.result.alignment import Diagnostics
from sameas.similarity.features import (
    NameFeatures,
    TextRows,
    name_features,
    spread,
    text_rows,
)
from sameas.similarity.hops import HopMean
from sameas.similarity.model import PROFIT, Model, make_model, with_text
from sameas.similarity.several_names import ComparedNames, compared_names
from sameas.text.languages.support import LanguageSupport

T = TypeVar("T")
AHEAD_UP_TO = 30_000
"""Entities of a side up to which rows are made while pairs are proposed. Measured on zh-en: a
twelfth of the time of a run. Of more entities, both at once would take too much memory."""

Prepared = tuple[Model, Candidates | None, Diagnostics]
"""A model with similarities, the candidates (None if all pairs count), and figures about both."""


def prepare(
    task: Task,
    sides: Sides,
    support: LanguageSupport,
    phases: Phases,
    figures: Diagnostics,
    *,
    model: Model | None = None,
) -> Prepared:
    """What links between these entities are chosen from.

    ``figures`` are those that are known before; all pairs count if their form is complete.
    """
    complete = figures.form == "complete"
    since = not complete and little_changed(task)
    clues = not complete and not since and searched_by_clues(task, sides, support)
    names = compared_names(task.pair, task.options, task.inputs, tuning=task.tuning.search)
    make_features = partial(_features, task, names, support)
    make_text = partial(_text, task, sides, searched=not (clues or since))
    proposed: Proposals | None = None
    if clues and max(map(len, sides)) <= AHEAD_UP_TO and not is_apart():
        with meanwhile(lambda: make_text(make_features())) as rows:
            proposed = _propose(task, sides, names, phases)
            # Nearly all of that is done by now.
            text = _make_rows(phases, lambda report: rows(), lambda text: text)
    else:
        # Proposals come before the rows, which take most of the memory.
        proposed = _propose(task, sides, names, phases) if clues else None
        text = _make_rows(phases, make_features, make_text)
    figures = replace(
        figures,
        entities_without_features=text.entities_without_features,
        words=text.words,
        words_without_vector=text.words_without_vector,
        languages=support if support.matter else None,
    )
    with phases.timed("features"):
        model = _weighed(model or make_model(task), support)
        model = with_text(model, task, names, text)
    if complete:
        return model, None, figures
    candidates = _search(task, model, proposed, phases)
    figures = replace(figures, candidate_pairs=len(candidates), search_recall=candidates.recall)
    if isinstance(model.profit, HopMean):
        similarities = {**model.similarities, PROFIT: model.profit.without_search()}
        model = replace(model, similarities=similarities)
    return model, candidates, figures


def _weighed(model: Model, support: LanguageSupport) -> Model:
    """The model with the weight that encoded names have within one language, if they are."""
    if support.foreign or not support.encoder:
        return model
    weight = model.weights.embedding * model.tuning.languages.synonyms
    return replace(model, weights=replace(model.weights, embedding=weight))


def _propose(task: Task, sides: Sides, names: ComparedNames, phases: Phases) -> Proposals:
    def make() -> Proposals:
        with phases.timed("proposals") as report:
            return propose(task, sides, names, report)

    return phases.kept("proposals", Proposals, make)


def _features(
    task: Task, names: ComparedNames, support: LanguageSupport, progress: Progress | None = None
) -> NameFeatures:
    return name_features(
        task.pair,
        task.options,
        task.inputs,
        support,
        names=names,
        progress=progress,
        tuning=task.tuning,
    )


def _text(task: Task, sides: Sides, features: NameFeatures, *, searched: bool) -> TextRows:
    return spread(text_rows(features), features.rows, task, sides, searched=searched)


def _make_rows(
    phases: Phases, make_features: Callable[[Progress], T], make_text: Callable[[T], TextRows]
) -> TextRows:
    def make() -> TextRows:
        with phases.timed("features") as report:
            features = make_features(report)
        with phases.timed("neighbours"):
            return make_text(features)

    return phases.kept("neighbours", TextRows, make)


def _search(task: Task, model: Model, proposed: Proposals | None, phases: Phases) -> Candidates:
    def make() -> Candidates:
        with phases.timed("candidates") as report:
            if little_changed(task):
                return search_since(task, model)
            return search(model, task.options, proposed, report)

    return phases.kept("candidates", Candidates, make)
