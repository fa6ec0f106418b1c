"""What notebooks show: HTML that is whole and escaped, charts of the right numbers, bars."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from types import SimpleNamespace

import polars as pl
import pytest

import sameas
from pairs import matched_pair
from sameas.graph.notebook import html_columns, html_table
from sameas.pipeline.meanings import MEANINGS
from sameas.result.charts import reliability_rows
from sameas.result.cluster_drawing import KINDS
from sameas.result.clusters import Clusters
from sameas.result.examples import example_links

CLUSTERS = pl.DataFrame({"entity": ["a", "b", "c"], "cluster": ["x", "x", "y"]})
HOSTILE = "<script>alert(1)</script>"


class Balanced(HTMLParser):
    """Keeps open elements, all that were seen, and the text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.text = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += f" {data}"


def test_everything_is_shown_as_html_without_scripts(align_small, small):
    alignment = align_small()
    unmatched = alignment.unmatched["entity"][0]
    for value, text in (
        (alignment, f"{len(alignment.links):,} links"),
        (small, "gold links"),
        (small.left, small.left.names[0]),
        (alignment.explain(alignment.links["left"][0]), "threshold"),
        (alignment.explain(unmatched), "is not linked"),
        (alignment.audit, f"{alignment.audit.precision:.3f}"),
        (sameas.evaluate(alignment, small.gold), "recall"),
        (sameas.evaluate_clusters(CLUSTERS, CLUSTERS), "B-cubed"),
    ):
        page = Balanced(value._repr_html_())
        assert not page.open
        assert not {"script", "style", "link"} & {*page.seen}
        assert text in page.text


def test_clusters_are_shown_with_their_members():
    members = pl.DataFrame({"entity": ["a<", "b", "c", "d"], "cluster": ["x", "x", "y", "y"]})
    summary = pl.DataFrame({"cluster": ["x", "y"], "size": [2, 2], "confidence": [0.9, 0.8]})
    page = Balanced(Clusters(members, summary, pl.DataFrame())._repr_html_())
    assert not page.open
    assert "a< · b" in page.text
    assert "2 clusters of 4 entities" in page.text


def test_a_cluster_is_drawn_by_its_name_or_a_member():
    pytest.importorskip("altair")
    rows = [
        ("1", "Ada Lovelace"),
        ("2", "Ada Lovelase"),
        ("3", "Ada M. Lovelace"),
        ("4", "Hypatia"),
    ]
    table = pl.DataFrame(rows, schema=["id", "name"], orient="row")
    clusters = sameas.dedupe(table.with_columns(born=pl.lit("1815-12-10")), id="id").clusters
    name, members = clusters.summary["cluster"][0], clusters.members["entity"].to_list()
    drawn = clusters.plot.drawing(name).to_dict()
    assert clusters.plot.drawing(members[1]).to_dict() == drawn
    assert clusters.plot.drawing("Ada Lovelase").to_dict() == drawn
    assert clusters.plot.drawing().to_dict() == drawn  # the only one
    lines, nodes = (drawn["layer"][place]["data"]["values"] for place in (0, 1))
    assert sorted(node["number"] for node in nodes) == [*range(1, len(members) + 1)]
    held = [line for line in lines if line["link"] in (KINDS["holds"], KINDS["weakest"])]
    assert len(held) == len(members) - 1
    assert {node["name"] for node in nodes} <= {text for _, text in rows}
    sizes = clusters.plot.sizes().to_dict()["data"]["values"]
    assert sizes == [{"size": len(members), "clusters": 1}]
    counts = clusters.plot.confidence().to_dict()["data"]["values"]
    assert sum(row["clusters"] for row in counts) == 1
    with pytest.raises(sameas.SameasError, match="no cluster has 'Hypatia'"):
        clusters.plot.drawing("Hypatia")
    alone = Clusters(clusters.members, clusters.summary, clusters.links)  # without names
    assert len(alone.plot.drawing().to_dict()["layer"][1]["data"]["values"]) == len(members)


def test_names_of_strangers_are_escaped():
    names = {"a": HOSTILE, "b": "b"}
    graph = sameas.Graph.from_triples([("a", "r", "b")], names=names)
    pair = matched_pair(left=graph, right=graph)
    for value in (graph, pair.left, sameas.align(pair)):
        assert "<script" not in value._repr_html_()
    assert "<script" not in html_table([(HOSTILE, 1.0)], header=(HOSTILE,))
    assert "<script" not in html_columns([1.0], [HOSTILE])


def test_examples_are_the_surest_and_the_least_certain_links(align_small):
    alignment = align_small()
    surest, doubtful = example_links(alignment.links, alignment.pair, None)
    confidence = sorted(alignment.links["confidence"])
    assert [one.confidence for one in surest] == confidence[::-1][:5]
    assert [one.confidence for one in doubtful] == confidence[:5]
    few = alignment.links.head(3)
    assert [len(each) for each in example_links(few, alignment.pair, None)] == [2, 1]
    seeds = few.select("left", "right")
    assert example_links(few, alignment.pair, seeds) == ([], [])
    assert example_links(few.clear(), alignment.pair, None) == ([], [])


def test_reliability_is_that_of_the_calibration(align_small, small):
    alignment = align_small()
    bins = sameas.calibration(alignment, small.gold).bins
    rows = reliability_rows(alignment.links, small.gold)
    assert [row["links"] for row in rows] == [one.count for one in bins]
    assert [row["correct"] for row in rows] == pytest.approx([one.accuracy for one in bins])
    assert [row["confidence"] for row in rows] == pytest.approx([one.confidence for one in bins])


def test_charts_hold_the_numbers(align_small):
    pytest.importorskip("altair")
    alignment = align_small()
    counts = alignment.plot.confidence().to_dict()["data"]["values"]
    assert sum(row["links"] for row in counts) == len(alignment.links)
    assert alignment.plot.reliability().to_dict()["layer"]
    assert alignment.plot.relations().to_dict()["data"]["values"]
    explanation = alignment.explain(alignment.links["left"][0])
    *steps, total = explanation.plot().to_dict()["data"]["values"]
    assert total["to"] == pytest.approx(explanation.shown.score)
    assert sum(step["score"] for step in steps) == pytest.approx(total["to"], abs=0.01)
    gold = pl.DataFrame({"left": ["a"], "right": ["b"]})
    assert alignment.plot.reliability(gold).to_dict()["layer"]


def test_charts_say_what_they_lack(align_small, monkeypatch):
    pytest.importorskip("altair")
    paper = align_small(preset="paper")
    with pytest.raises(sameas.OptionError, match="need refinement"):
        paper.plot.relations()
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(sameas.OptionError, match=r"pip install \"sameas\[plot\]\""):
        paper.plot.confidence()


def test_bars_of_a_notebook_are_brought_up_to_date(small, monkeypatch, capsys):
    shown = []
    shell = type("ZMQInteractiveShell", (), {})()
    handle = SimpleNamespace(update=shown.append)
    display = SimpleNamespace(HTML=str, display=lambda value, display_id: handle)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    sameas.align(small, progress=True, no_audit=True)
    assert MEANINGS["refinement"] in shown[-1]
    assert "100%" in shown[-1]
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    sameas.align(small, progress=True, no_audit=True)
    assert MEANINGS["refinement"] in capsys.readouterr().err
