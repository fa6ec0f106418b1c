"""What became of the links of an earlier run, against a slow comparison pair by pair."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from sameas.graph.task import EARLIER_ENTITIES, EARLIER_PAIRS, Earlier, Inputs
from sameas.result.changes import REASONS, count_changes, link_changes, staying_links

LEFT, RIGHT = "abcd", "wxyz"
matchings = st.lists(
    st.tuples(st.sampled_from(LEFT), st.sampled_from(RIGHT)),
    unique_by=(lambda pair: pair[0], lambda pair: pair[1]),
    max_size=4,
)
changes = st.dictionaries(
    st.sampled_from([("left", e) for e in LEFT] + [("right", e) for e in RIGHT]),
    st.sampled_from(["new", "changed", "gone"]),
)
known = st.lists(st.tuples(st.sampled_from(LEFT), st.sampled_from(RIGHT)), max_size=2)


def table(pairs) -> pl.DataFrame:
    return pl.DataFrame(pairs, schema={"left": pl.String, "right": pl.String}, orient="row")


def earlier_of(links, changed) -> Earlier:
    rows = [(left, right, None, 0.9) for left, right in links]
    entities = [(side, entity, change, "") for (side, entity), change in changed.items()]
    return Earlier(
        pairs=pl.DataFrame(rows, schema=EARLIER_PAIRS, orient="row"),
        entities=pl.DataFrame(entities, schema=EARLIER_ENTITIES, orient="row"),
    )


@given(matchings, matchings, changes, known, known)
def test_every_link_is_in_one_row_with_a_reason_that_holds(old, new, changed, seeds, reject):
    inputs = Inputs(seeds=table(seeds), reject=table(reject))
    earlier = earlier_of(old, changed)
    rows = link_changes(earlier, table(new), inputs).rows()
    now, before = dict(new), dict(old)
    expected = {}
    for left in {*now, *before}:
        mine, had = now.get(left), before.get(left)
        change = "kept" if mine == had else "changed" if mine and had else "new" if mine else "gone"
        replaced = had if change == "changed" else None
        expected[left] = (left, mine or had, change, replaced)
    assert sorted((row[0], row[1], row[2], row[4]) for row in rows) == sorted(expected.values())
    for left, right, change, reason, had in rows:
        assert reason in REASONS
        states = [changed.get(("left", left)), changed.get(("right", right))]
        states.append(changed.get(("right", had)))
        if reason == "known":
            assert (left, right) in seeds
        elif reason == "unchanged":
            assert change == "kept"
            assert not any(states)
        elif reason in ("new-entity", "gone-entity", "changed-entity"):
            assert reason.removesuffix("-entity") in states
        elif reason == "rejected":
            assert {(left, right), (left, had)} & {*reject}
        elif reason == "taken":
            assert change == "gone"
            assert right in dict(map(reversed, new))
        elif reason == "evidence":
            assert not any(states)
    counts = count_changes(link_changes(earlier, table(new), inputs), earlier)
    assert sum(counts["links"].values()) == len(rows)
    assert sum(row["links"] for row in counts["reasons"]) == len(rows)


@given(matchings, matchings, changes)
def test_links_stay_if_neither_end_has_changed_or_is_taken(old, new, changed):
    links = table(new).with_columns(score=1.0, confidence=0.8)
    every = table([(left, right) for left in LEFT for right in RIGHT]).with_columns(score=-1.0)
    stay = staying_links(earlier_of(old, changed), links, every, least=0.5, single=(True, True))
    expected = [
        (left, right)
        for left, right in old
        if left not in dict(new)
        and right not in dict(map(reversed, new))
        and changed.get(("left", left)) != "changed"
        and changed.get(("right", right)) != "changed"
    ]
    assert sorted(stay.select("left", "right").rows()) == sorted(expected)
    assert set(stay["confidence"]) <= {0.9}
    assert staying_links(
        earlier_of(old, changed), links, every, least=0.95, single=(True, True)
    ).is_empty()
