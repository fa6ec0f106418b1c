"""What tests start from: the method as published, and what hypothesis draws: names, small graphs,
small matrices; awkward ones on purpose."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pairs import matched_pair
from sameas import Graph
from sameas.options.options import make_options


def paper(**changes):
    """The options of the method as published, with some changed."""
    return make_options("paper", **changes)


AWKWARD_NAMES = [
    "",
    " ",
    "\t\n",
    "a",
    "..",
    "1984",
    "München",
    "İstanbul",
    "ΟΔΥΣΣΕΥΣ ΣΑΣ",
    "京都市",
    "القاهرة",
    "ירושלים",
    "👩‍👩‍👧 🇫🇷",
    "e\u0301te\u0301",
    "a\u3000b\u00a0cd",
    "New  York",
    "ﬁnal ẞ",
    "\x00\x00 \x1c\x1d",
    "\u202eabc\u202c",
]


@cache
def names(max_size=12):
    """Names in any script, with or without letters, often such as cause trouble."""
    letters = st.characters(exclude_categories=["Cs", "Cn"])
    return st.one_of(
        st.sampled_from(AWKWARD_NAMES),
        st.text(st.sampled_from("abAB éß "), max_size=max_size),
        st.text(letters, max_size=max_size),
    )


@st.composite
def graphs(draw, *, prefix="e", min_entities=1, max_entities=6, max_triples=10):
    """Graphs with loops, duplicates, entities without neighbours and relations without triples."""
    size = draw(st.integers(min_entities, max_entities))
    relations = draw(st.integers(1, 3))
    triples = []
    if size:
        entity = st.integers(0, size - 1)
        triple = st.tuples(entity, st.integers(0, relations - 1), entity)
        triples = draw(st.lists(triple, max_size=max_triples))
        triples += draw(st.lists(st.sampled_from(triples), max_size=3)) if triples else []
    return Graph(
        entities=pl.Series("entity", [f"{prefix}{i}" for i in range(size)], dtype=pl.String),
        given_names=pl.Series("name", [draw(names()) for _ in range(size)], dtype=pl.String),
        relations=pl.Series("relation", [f"r{i}" for i in range(relations)], dtype=pl.String),
        triples=np.array(triples, dtype=np.int64).reshape(-1, 3),
    )


@st.composite
def pairs(draw, **sizes):
    """Two graphs of unrelated sizes, with gold links between some of their entities."""
    left, right = draw(graphs(prefix="l", **sizes)), draw(graphs(prefix="r", **sizes))
    count = draw(st.integers(0, min(len(left.entities), len(right.entities))))
    chosen = [draw(st.permutations(list(graph.entities)))[:count] for graph in (left, right)]
    gold = pl.DataFrame(
        {"left": chosen[0], "right": chosen[1]}, schema={"left": pl.String, "right": pl.String}
    )
    return matched_pair(left=left, right=right, gold=gold if count else None)


FURTHER_NAMES = ["1984", " 1984", "Paris", "PARIS\u3000", "", " ", "ΣΑΣ", "x"]
"""Few values, some of which are the same once trimmed and in lower case."""


@st.composite
def with_further_names(draw, drawn):
    """A drawn pair, whose entities have further names that both sides often share."""
    pair = draw(drawn)
    graphs = []
    for graph in (pair.left, pair.right):
        rows = []
        if len(graph.entities):
            row = st.tuples(
                st.sampled_from(graph.entities.to_list()), st.sampled_from(FURTHER_NAMES)
            )
            rows = draw(st.lists(row, max_size=6))
        further = pl.DataFrame(rows, schema=graph.alternatives.schema, orient="row")
        graphs.append(replace(graph, alternatives=further))
    return replace(pair, left=graphs[0], right=graphs[1])


@st.composite
def kindred(draw, *, max_entities=7):
    """Two graphs that say much the same: most entities, names and triples of one are in the other.

    Right entities come in another order, relations under other names, some of them backwards.
    Two entities may have the same name.
    """
    size = draw(st.integers(2, max_entities))
    words = ["Anna", "Boris", "Clara", "Dora", "Emil", "Fritz", "Gustav", "Anna II", "Берлин"]
    called = draw(st.lists(st.sampled_from(words), min_size=size, max_size=size))
    entity = st.integers(0, size - 1)
    triples = draw(
        st.lists(st.tuples(entity, st.integers(0, 2), entity), min_size=1, max_size=12, unique=True)
    )
    left = Graph(
        entities=pl.Series("entity", [f"l{i}" for i in range(size)]),
        given_names=pl.Series("name", called),
        relations=pl.Series("relation", ["p", "q", "r"]),
        triples=np.array(triples, dtype=np.int64),
    )
    order = draw(st.permutations(range(size)))[: draw(st.integers(1, size))]
    place = {old: new for new, old in enumerate(order)}
    backwards = draw(st.sets(st.integers(0, 2)))
    kept = [
        (t, r, h) if r in backwards else (h, r, t)
        for h, r, t in triples
        if h in place and t in place and draw(st.integers(0, 5))
    ]
    right = Graph(
        entities=pl.Series("entity", [f"r{i}" for i in order]),
        given_names=pl.Series(
            "name", [called[i] if draw(st.integers(0, 4)) else "Somebody" for i in order]
        ),
        relations=pl.Series("relation", ["one", "two", "three"]),
        triples=np.array([(place[h], r, place[t]) for h, r, t in kept], dtype=np.int64).reshape(
            -1, 3
        ),
    )
    return matched_pair(left=left, right=right)


def values(low=-1.0, high=1.0):
    """Profits: a few values that make ties likely, or any between the bounds."""
    return st.one_of(
        st.sampled_from([0.0, low, high, high / 2]),
        st.floats(low, high, width=32, allow_subnormal=False),
    )


def matrices(low=-1.0, high=1.0, *, max_side=6):
    """Small float32 matrices with many ties, of any shape with at least one cell."""
    shapes = st.tuples(st.integers(1, max_side), st.integers(1, max_side))
    few = st.sampled_from(np.linspace(low, high, 4, dtype=np.float32).tolist())
    return st.one_of(
        hnp.arrays(np.float32, shapes, elements=few),
        hnp.arrays(np.float32, shapes, elements=values(low, high)),
    )
