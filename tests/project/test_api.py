"""The Python interface: the public names, and data in, one result out."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import sameas
from sameas import Graph, GraphPair, InputError, OptionError, Options
from sameas.options.options import PRESETS

MODULES = sorted(module.name for module in pkgutil.walk_packages(sameas.__path__, prefix="sameas."))

PUBLIC = {
    "DEMO",
    "PRESETS",
    "Alignment",
    "Audit",
    "Calibration",
    "Diagnostics",
    "Explanation",
    "Graph",
    "GraphPair",
    "ClusterError",
    "ClusterMetrics",
    "Clusters",
    "InputError",
    "MatchedGraph",
    "MatchedPair",
    "MemoryCeilingError",
    "Metrics",
    "OptionError",
    "Options",
    "Where",
    "OutputError",
    "Reading",
    "SameasError",
    "__version__",
    "align",
    "audit_alignment",
    "calibration",
    "dedupe",
    "evaluate",
    "evaluate_clusters",
    "hide_half",
    "inspect",
    "merge",
    "read_gold",
    "read_graph",
    "read_links",
    "read_pair",
    "read_run",
    "translate",
    "verify",
    "write",
    "write_links",
    "write_names",
}


def test_the_exported_names_are_exactly_the_public_ones():
    assert set(sameas.__all__) == PUBLIC
    assert len(sameas.__all__) == len(PUBLIC)
    assert set(dir(sameas)) == PUBLIC


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_public_name_can_be_had(name):
    assert getattr(sameas, name) is getattr(sameas, name)


def test_other_names_are_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        sameas.nonsense  # noqa: B018


def test_every_error_of_ours_is_a_sameas_error():
    for name in PUBLIC:
        value = getattr(sameas, name)
        if inspect.isclass(value) and issubclass(value, Exception):
            assert issubclass(value, sameas.SameasError)


def test_importing_the_package_imports_nothing_heavy():
    code = (
        "import sameas, sys; print([m for m in ('numpy', 'polars', 'scipy') if m in sys.modules])\n"
        "sameas.read_run, sameas.evaluate, sameas.write_links  # which need no kernels\n"
        "print([m for m in ('numba', 'faiss', 'rapidfuzz') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "[]\n[]\n"


def public_members(module):
    """The functions and classes that a module defines itself, and the methods of its classes."""
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
            continue
        if inspect.isfunction(value) or inspect.isclass(value):
            yield name, value
        if inspect.isclass(value):
            for inner, method in vars(value).items():
                if inspect.isfunction(method) and not inner.startswith("_"):
                    yield f"{name}.{inner}", method


@pytest.mark.parametrize("name", ["sameas", *MODULES])
def test_everything_public_has_a_docstring(name):
    module = importlib.import_module(name)
    assert module.__doc__ or name.endswith("_version")
    for member, value in public_members(module):
        assert value.__doc__, f"{name}.{member} has no docstring"


@pytest.mark.parametrize("name", ["sameas", *MODULES])
def test_the_examples_in_docstrings_hold(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


# --- graphs from data ---------------------------------------------------------------------------

NAMES = [
    *("Adelheid", "Boris", "Clemens", "Dorothea", "Eberhard", "Friedrich", "Gertrud", "Heinrich"),
    *("Ingeborg", "Johannes", "Katharina", "Leopold", "Mathilde", "Norbert", "Ottilie", "Philipp"),
]


def uri(side, name):
    return f"http://{side}.example/{name}"


def triples(side):
    """Everybody knows the next and likes the third after; only the left has a Zacharias."""
    names = [*NAMES, "Zacharias"] if side == "left" else NAMES
    return [
        (uri(side, name), uri(side, relation), uri(side, other))
        for step, relation in ((1, "knows"), (3, "likes"))
        for name, other in zip(names, names[step:], strict=False)
    ]


def same(names):
    return {(uri("left", name), uri("right", name)) for name in names}


def links_of(alignment):
    return set(alignment.links.select("left", "right").iter_rows())


TABLE = ["head", "relation", "tail"]
KINDS = {
    "tuples": list,
    "an iterator": iter,
    "polars": lambda rows: pl.DataFrame(rows, schema=TABLE, orient="row"),
    "pandas": lambda rows: pytest.importorskip("pandas").DataFrame(rows, columns=TABLE),
    "Arrow": lambda rows: pl.DataFrame(rows, schema=TABLE, orient="row").to_arrow(),
}


@pytest.fixture(scope="module")
def pair():
    gold = pl.DataFrame(sorted(same(NAMES)), schema=["left", "right"], orient="row")
    left, right = (Graph.from_triples(triples(side)) for side in ("left", "right"))
    return GraphPair(left=left, right=right, gold=gold)


@pytest.fixture(scope="module")
def alignment(pair):
    return sameas.align(pair)


@pytest.mark.parametrize("kind", KINDS)
def test_a_graph_from_triples(pair, kind):
    graph = Graph.from_triples(KINDS[kind](triples("left")))
    assert graph.entities.to_list() == pair.left.entities.to_list()
    assert graph.names.to_list() == pair.left.names.to_list()
    assert set(NAMES) < set(graph.names)
    assert graph.triples.tolist() == pair.left.triples.tolist()


def test_a_graph_from_triples_names_and_attributes():
    names = {uri("left", "Boris"): "Boris the Great"}
    attributes = [(uri("left", "Boris"), "born", "1984")]
    graph = Graph.from_triples(triples("left"), names=names, attributes=attributes)
    named = dict(zip(graph.entities, graph.names, strict=True))
    assert named[uri("left", "Boris")] == "Boris the Great"
    assert named[uri("left", "Clemens")] == "Clemens"
    assert graph.attributes.rows() == attributes


def test_a_graph_from_rdflib(pair):
    rdflib = pytest.importorskip("rdflib")
    graph = rdflib.Graph()
    for triple in triples("right"):
        graph.add(tuple(map(rdflib.URIRef, triple)))
    graph.add((rdflib.URIRef(uri("right", "Boris")), rdflib.RDFS.label, rdflib.Literal("Bob")))
    found = Graph.from_rdflib(graph)
    assert dict(zip(found.entities, found.names, strict=True))[uri("right", "Boris")] == "Bob"
    assert same(NAMES[2:]) <= links_of(sameas.align(pair.left, found))


def test_a_graph_from_pyoxigraph(pair):
    ox = pytest.importorskip("pyoxigraph")
    store = ox.Store()
    for triple in triples("right"):
        store.add(ox.Quad(*map(ox.NamedNode, triple)))
    assert links_of(sameas.align(pair.left, Graph.from_pyoxigraph(store))) == same(NAMES)


def test_a_graph_from_networkx(pair):
    networkx = pytest.importorskip("networkx")
    graph = networkx.MultiDiGraph()
    for head, relation, tail in triples("right"):
        graph.add_edge(head, tail, key=relation)
    assert links_of(sameas.align(pair.left, Graph.from_networkx(graph))) == same(NAMES)


# --- aligning -----------------------------------------------------------------------------------


def test_two_graphs_a_pair_or_files_can_be_aligned(pair, alignment, tmp_path):
    assert links_of(alignment) == same(NAMES)
    assert links_of(sameas.align(pair.left, pair.right)) == same(NAMES)
    for side in ("left", "right"):
        lines = [" ".join(f"<{part}>" for part in triple) + " .\n" for triple in triples(side)]
        (tmp_path / f"{side}.nt").write_text("".join(lines))
    read = sameas.align(tmp_path / "left.nt", str(tmp_path / "right.nt"))
    assert links_of(read) == same(NAMES)


def test_a_folder_can_be_aligned(part):
    assert sameas.align(part).links.equals(sameas.align(sameas.read_pair(part)).links)


def test_options_are_keywords_or_an_object(pair):
    chosen = replace(PRESETS["paper"], solver="hungarian")
    found = sameas.align(pair, preset="paper", solver="hungarian")
    assert found.options == chosen
    for other in (sameas.align(pair, chosen), sameas.align(pair.left, pair.right, chosen)):
        assert other.options == chosen
        assert other.links.equals(found.links)


@pytest.mark.parametrize("kind", KINDS)
def test_seeds_rejected_pairs_and_candidates_are_tables(pair, kind):
    def table(names, others=None):
        rows = [
            (uri("left", name), uri("right", other))
            for name, other in zip(names, others or names, strict=True)
        ]
        made = KINDS[kind](rows) if kind in ("tuples", "an iterator") else None
        return made or frames[kind](rows)

    columns = ["left", "right"]
    frames = {
        "polars": lambda rows: pl.DataFrame(rows, schema=columns, orient="row"),
        "pandas": lambda rows: pytest.importorskip("pandas").DataFrame(rows, columns=columns),
        "Arrow": lambda rows: pl.DataFrame(rows, schema=columns, orient="row").to_arrow(),
    }
    found = sameas.align(
        pair,
        seeds=table(["Boris", "Clemens"], ["Clemens", "Boris"]),
        reject=table(["Gertrud"]),
        among=table(NAMES[:10]),
    )
    assert (uri("left", "Boris"), uri("right", "Clemens")) in links_of(found)
    assert not same(["Gertrud"]) & links_of(found)
    assert links_of(found) >= same({*NAMES[:10]} - {"Boris", "Clemens", "Gertrud"})
    assert found.diagnostics.left_candidates == 10
    assert found.inputs.seeds.columns == columns


def test_embeddings_are_arrays(pair):
    sizes = len(pair.left.entities), len(pair.right.entities)
    left = np.eye(max(sizes))[: sizes[0]]
    places = pair.left.positions(pair.right.entities.str.replace("right", "left"))
    assert links_of(sameas.align(pair, embeddings=(left, left[places]))) == same(NAMES)
    with pytest.raises(OptionError, match="`embeddings`"):
        sameas.align(pair, embeddings=(left[:3], left[places]))


def test_word_vectors_are_a_mapping(pair):
    vectors = {name.lower(): row for name, row in zip(NAMES, np.eye(len(NAMES)), strict=True)}
    found = sameas.align(pair, features="word", word_vectors=vectors)
    assert links_of(found) == same(NAMES)
    assert found.diagnostics.words_without_vector == 1


def test_what_has_no_effect_is_refused(pair):
    links = sorted(same(["Boris"]))
    rows = np.eye(len(pair.left.entities)), np.eye(len(pair.right.entities))
    for name, choices in {
        "gap": {"gap": 0.1},
        "seeds": {"preset": "paper", "seeds": links},
        "reject": {"method": "paris", "reject": links},
        "word_vectors": {"word_vectors": {"boris": [1.0]}},
        "text": {"embeddings": rows, "text": "plain"},
        "features": {"embeddings": rows, "features": "word"},
    }.items():
        with pytest.raises(OptionError, match=f"^`{name}` has no effect here"):
            sameas.align(pair, **choices)


def test_arguments_that_do_not_go_together_are_refused(pair):
    with pytest.raises(OptionError, match="`depth` was given beside an Options object"):
        sameas.align(pair, Options(), depth=1)
    with pytest.raises(OptionError, match="`preset` was given beside an Options object"):
        sameas.align(pair, Options(), preset="paper")
    with pytest.raises(OptionError, match="`right` must be left out"):
        sameas.align(pair, pair.right)
    with pytest.raises(OptionError, match="`left` and `right` must be two graphs"):
        sameas.align(pair.left, "right.nt")
    with pytest.raises(OptionError, match="`left` and `right` must be two graphs"):
        sameas.align(pair.left)
    with pytest.raises(OptionError, match="'seed' is not an option"):
        sameas.align(pair, seed=1)


def link(left, right):
    return [(uri("left", left), uri("right", right))]


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"depth": -1}, "`depth` must be a whole number from 0 to 20"),
        ({"preset": "worst"}, "`preset` must be one of best, paper"),
        ({"seeds": link("Boris", "Boris"), "reject": link("Boris", "Boris")}, "`seeds` must not"),
        ({"seeds": link("A", "A") + link("A", "B")}, "`seeds` must name entities"),
        (
            {"seeds": link("Boris", "Boris") + link("Boris", "Clemens")},
            "`seeds` must name a left entity once",
        ),
        ({"among": link("Boris", "Boris"), "seeds": link("Boris", "Clemens")}, "`seeds` must not"),
        ({"reject": [("a", "b", "c", "d", "e", "f")]}, "`reject` must be a table of left, right"),
        ({"among": 3}, "`among` must be a table of left, right"),
        ({"features": "word", "word_vectors": {"boris": "no"}}, "`word_vectors` must"),
        ({"embeddings": (np.eye(2), np.eye(3))}, "`embeddings` must"),
    ],
)
def test_errors_speak_of_arguments(pair, choices, message):
    with pytest.raises(OptionError) as caught:
        sameas.align(pair, **choices)
    assert str(caught.value).startswith(message)
    assert "--" not in str(caught.value)


# --- one result ---------------------------------------------------------------------------------


def test_links_are_a_table(alignment):
    sure = alignment.links.filter(pl.col("confidence") > 0.9)
    assert 0 < len(sure) <= len(alignment.links)
    pytest.importorskip("pandas")
    assert list(alignment.links.to_pandas().columns) == alignment.links.columns


def test_a_run_can_be_evaluated(pair, alignment, tmp_path):
    sameas.write(alignment, tmp_path / "run")
    run = sameas.read_run(tmp_path / "run")
    assert isinstance(run, sameas.Alignment)
    expected = sameas.evaluate(alignment, pair.gold)
    assert expected.mrr == 1
    assert sameas.evaluate(run, pair.gold) == expected
    rows = pair.gold.rows()
    assert sameas.evaluate(alignment.links.to_dict(as_series=False), rows).f1 == expected.f1


def test_links_are_written(pair, alignment, tmp_path):
    sameas.write(alignment, tmp_path / "links.ttl")
    assert set(sameas.read_gold(tmp_path / "links.ttl").iter_rows()) == same(NAMES)
    sameas.write_links(pair.gold, tmp_path / "links.sssom.tsv")
    assert set(sameas.read_gold(tmp_path / "links.sssom.tsv").iter_rows()) == same(NAMES)


def test_graphs_are_merged(pair, alignment, tmp_path):
    sameas.merge(alignment, tmp_path / "merged.nq")
    merged = sameas.read_graph(tmp_path / "merged.nq")
    assert {uri("left", name) for name in NAMES} <= set(merged.entities)


def test_a_pair_is_inspected(pair):
    found = sameas.inspect(pair)
    assert found.left.entities == len(pair.left.entities)
    assert found.gold_links == len(pair.gold)


def test_after_the_first_explanation_nothing_large_is_computed_again(align_demo, monkeypatch):
    alignment = align_demo()
    entities = alignment.links["left"].head(5).to_list()
    first = str(alignment.explain(entities[0]))
    for name in ("name_features", "neighbourhood_rows", "edges_of", "adjacency_matrices"):
        for module in [m for key, m in sys.modules.items() if key.startswith("sameas")]:
            if hasattr(module, name):
                monkeypatch.setattr(module, name, None)
    for entity in entities:
        assert len(str(alignment.explain(entity))) > 100
    assert str(alignment.explain(entities[0])) == first


def test_a_run_is_loaded_when_it_is_asked_for(alignment, tmp_path):
    sameas.write(alignment, tmp_path / "run")
    run = sameas.read_run(tmp_path / "run")
    (tmp_path / "run" / "left" / "triples.parquet").write_bytes(b"damaged")
    (tmp_path / "run" / "relations.parquet").write_bytes(b"damaged")
    assert run.links.equals(alignment.links)
    assert run.links is run.links
    assert run.summary() == alignment.summary()
    for ask in (lambda: run.pair, lambda: run.relations):
        with pytest.raises(InputError, match="is missing or damaged"):
            ask()
