"""What tests start from: the method as published, and what hypothesis draws: names, small graphs,
small matrices; awkward ones on purpose."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sameas import PRESETS, Graph, GraphPair


def paper(**changes):
    """The options of the method as published, with some changed."""
    return replace(PRESETS["paper"], **changes)


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
        names=pl.Series("name", [draw(names()) for _ in range(size)], dtype=pl.String),
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
    return GraphPair(left=left, right=right, gold=gold if count else None)


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
