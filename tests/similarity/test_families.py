"""Leads of names: by chance, in twos, and in larger clusters."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sameas.similarity.families import in_twos, leads_of

tables = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 20).map(lambda tenths: tenths / 10)), max_size=40
)


def slow_leads(pairs):
    """The leads by their definition, entity by entity."""
    leads = []
    for entity in sorted({end for end, _ in pairs}):
        best = sorted((value for end, value in pairs if end == entity), reverse=True)
        if len(best) >= 4:
            leads.append([k * (best[k - 1] - best[k]) for k in (1, 2, 3)])
    return np.array(leads).reshape(-1, 3)


@given(tables)
def test_leads_are_those_of_their_definition(pairs):
    ends, values = (np.array([pair[k] for pair in pairs]) for k in (0, 1))
    assert_allclose(leads_of(ends.astype(np.int64), values), slow_leads(pairs), atol=1e-12)


def drawn(copies):
    """Leads of entities with so many partners that are alike, among siblings that are chance."""
    generator = np.random.default_rng(0)
    values = generator.exponential(size=(2000, 30))
    values[:, :copies] += 20.0
    return leads_of(np.repeat(np.arange(2000), 30), values.ravel())


def test_by_chance_all_leads_are_alike_on_average():
    assert_allclose(drawn(0).mean(axis=0), 1.0, atol=0.1)


def test_one_duplicate_leads_and_several_do_not():
    assert in_twos(drawn(0))
    assert in_twos(drawn(1))
    assert not in_twos(drawn(2))
    assert not in_twos(drawn(3))
