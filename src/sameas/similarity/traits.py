"""How alike two entities are besides names and neighbours, and what that is worth.

Types, attributes and spelling are compared pair by pair; what each likeness is worth is learned
from the most certain links of the run itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sameas.compute.arrays import Numbers, Positions, Vector
from sameas.compute.parallel import in_parallel, slices
from sameas.compute.topk import evenly_spread
from sameas.graph.matched import MatchedPair
from sameas.options.tuning import TUNING, Tuning
from sameas.similarity.attributes import Attributes, has_long_names, read_attributes
from sameas.similarity.cache import AT_ONCE, Terms
from sameas.similarity.conflicts import Conflicts, read_conflicts
from sameas.similarity.families import in_twos, leads_of
from sameas.similarity.matrix import RowProduct
from sameas.similarity.protocol import Similarity
from sameas.similarity.roles import Roles, read_roles
from sameas.similarity.several_names import ComparedNames, MaxOverNames
from sameas.similarity.spelling import Spelling, read_spelling
from sameas.similarity.types import Types, types_of
from sameas.similarity.wording import APART, Wording, read_wording


@dataclass(frozen=True, eq=False)
class Traits:
    """What pairs are compared by besides names and neighbours."""

    types: Types | None = None
    attributes: Attributes | None = None
    spelling: Spelling | None = None
    wording: Wording | None = None
    roles: Roles | None = None
    conflicts: Conflicts | None = None
    in_twos: bool = False
    """Whether the names of one table are long texts, as those of products, and duplicates come in
    twos."""

    @property
    def of_tables(self) -> bool:
        """Whether attributes and roles alone are compared, which are the same both ways round."""
        others = self.types, self.spelling, self.wording, self.conflicts
        return all(trait is None for trait in others)

    def learn(
        self, left: Positions, right: Positions, trust: Vector, *, taught: bool = True
    ) -> Worths:
        """What the anchors (left, right, trust) tell about the worth of each likeness.

        Attributes that are not ``taught`` by them count by a guess, as before there are any: where
        anchors are chance, they were chosen for values that happen to be equal.
        """
        traits = {name: each for name, each in vars(self).items() if not isinstance(each, bool)}
        known = {name: trait for name, trait in traits.items() if trait is not None}
        anchors = left, right, trust
        nobody = left[:0], right[:0], trust[:0]
        return Worths(
            self,
            {
                name: trait.learn(*(anchors if taught or name != "attributes" else nobody))
                for name, trait in known.items()
            },
        )

    def taught(self, left: Numbers, right: Numbers, surplus: Vector, thresholds: Vector) -> Traits:
        """The traits of one graph with what its pairs, above their thresholds, show of wording."""
        if self.wording is None:
            return self
        return replace(self, wording=self.wording.taught(left, right, surplus, thresholds))

    def with_wording(self, worth: tuple[float, ...]) -> Traits:
        """The traits of one graph with these worths of wording; earlier runs have fewer."""
        if self.wording is None:
            return self
        more = self.wording.worth[len(worth) :]
        return replace(self, wording=replace(self.wording, worth=(*worth, *more)))

    def remember(self, left: Numbers, right: Numbers) -> None:
        """Compare those of these pairs that are new, all at once."""
        if self.attributes is not None:
            self.attributes.remember(left, right)
        if self.spelling is not None:
            self.spelling.compare.remember(left, right)
        if self.wording is not None:
            self.wording.compare.remember(left, right)
        if self.conflicts is not None:
            self.conflicts.compare.remember(left, right)


@dataclass(frozen=True, eq=False)
class Worths:
    """What likeness is worth, in log-odds."""

    traits: Traits
    terms: dict[str, Terms]
    """What each trait says."""

    def score(self, left: Numbers, right: Numbers) -> Vector:
        """What all traits say about pairs together."""
        self.traits.remember(left, right)
        total = np.zeros(len(left))

        def add(part: slice) -> None:
            for terms in self.terms.values():
                total[part] += terms(left[part], right[part]).sum(axis=1)

        in_parallel(add, slices(len(left), AT_ONCE))
        return total


def make_traits(
    pair: MatchedPair, names: ComparedNames, cosines: Similarity, *, tuning: Tuning = TUNING
) -> Traits:
    """What pairs are compared by besides names and neighbours.

    ``cosines`` are those of the ``names``; marks and misspellings are looked for where these are
    compared by their letters.
    """
    spelling = wording = None
    twos = False
    alike, most = names.by_name(cosines), tuning.search.compare_all_up_to
    if pair.is_one_graph and pair.left.source.shape != "records":
        assert isinstance(cosines, MaxOverNames | RowProduct)
        wording = read_wording(names.left, cosines, pair.left, tuning=tuning)
    elif alike is not None and max(alike.shape) <= most:
        left, right = (evenly_spread(size, tuning.spelling.sample) for size in alike.shape)
        rivals = alike.alike(tuning.search.partners, only=(left, right))
        if pair.is_one_graph:
            one, other = np.divmod(rivals, alike.shape[1])
            rivals = rivals[one != other]
            if has_long_names(pair.left, tuning=tuning):
                one, other = (side[(one != other) & np.isin(one, left)] for side in (one, other))
                twos = in_twos(leads_of(one, alike.of(one, other)), tuning=tuning.duplicates)
        spelling = read_spelling((names.left, names.right), alike, rivals, tuning=tuning)
    attributes = read_attributes(pair, coded=twos, tuning=tuning)
    if attributes is not None and wording is not None and alike is not None:
        attributes = replace(attributes, siblings=_siblings(wording, alike, tuning))
    if attributes is not None and spelling is not None and twos:
        one, other = np.divmod(spelling.rivals, spelling.names.shape[1])
        attributes = replace(attributes, rivals=(one, other))
    traits = Traits(types_of(pair, tuning=tuning.types), attributes, spelling, wording)
    if not pair.is_one_graph:
        return traits
    return replace(
        traits,
        in_twos=twos,
        roles=read_roles(pair.left, tuning=tuning.roles),
        conflicts=read_conflicts(pair.left, tuning=tuning.conflicts),
    )


def _siblings(wording: Wording, names: MaxOverNames, tuning: Tuning) -> tuple[Positions, Positions]:
    """Pairs of one graph whose names are alike but for words that tell two things apart."""
    size = names.shape[0]
    sample = evenly_spread(size, tuning.spelling.sample)
    alike = names.alike(tuning.search.partners, only=(sample, np.arange(size)))
    left, right = np.divmod(alike, size)
    two = np.isin(wording.compare(left, right)[0], APART)
    return left[two], right[two]
