"""Duplicates as other tools find them; run by `compare_duplicates.py` with the Python of the peers.

``peers.py TOOL FILE OUT SECONDS`` writes the clusters of two or more, as lists of ids, and the peak
of its memory to OUT as JSON; the system ends it after so many seconds of processor time. FILE is a
CSV with a column ``id`` (splink), or JSON with ``nodes`` (id, name, type, description) and
``edges`` (source, target, relation). This file needs nothing of sameas.
"""

from __future__ import annotations

import json
import resource
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

NAMES, DATES = ("first_name", "surname", "given_name"), ("dob", "born", "date_of_birth")
EMAILS = ("email", "mail")
EXACT = ("city", "suburb", "state", "month", "year", "volume", "type")
"""Columns that a comparison of splink's library is made for; others are compared by letters."""
Rules = list[tuple[str, ...]]
RULES: list[tuple[set[str], Rules, Rules]] = [
    (
        {"first_name", "surname"},
        [("first_name", "city"), ("surname",), ("@date",), ("@email",)],
        [("first_name", "surname"), ("@date",)],
    ),
    (
        {"given_name", "surname"},
        [("given_name", "surname"), ("@date",), ("soc_sec_id",), ("postcode", "surname")],
        [("given_name", "surname"), ("@date",)],
    ),
    (
        {"title", "author"},
        [("substr(title,1,10)",), ("author",), ("pages", "year")],
        [("substr(title,1,10)",), ("author",)],
    ),
    ({"name", "addr"}, [("name",), ("phone",), ("addr",)], [("name",), ("phone",)]),
]
"""By the columns that a table has: its blocking rules, then those of the training."""
MOST_PAIRS = 1e8
"""Pairs that a blocking rule may give; rules of more are left out. Our choice: a million people
give 1.8 billion by first name and city, more than two cores can compare."""
FAST = {
    "name_similarity": 0.43,
    "semantic_similarity": 0.0,
    "type_agreement": 0.29,
    "neighbor_overlap": 0.29,
    "description_similarity": 0.0,
}
"""nodecanon's fast mode, as its documentation gives it: its default downloads an encoder."""


def pairs_of(table: Any, names: tuple[str, ...]) -> float:
    """How many pairs of rows a blocking rule gives; none is counted for rules of parts of texts."""
    if not set(names) <= set(table.columns):
        return 0.0
    counts = table.groupby(list(names)).size().astype(float)
    return float((counts * (counts - 1) / 2).sum())


def splink(path: Path) -> list[list[str]]:
    """The clusters of splink's tutorial: u by sampling, m by EM, probability one half."""
    import pandas as pd
    import splink.comparison_library as cl
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on

    table = pd.read_csv(path, dtype=str)
    columns = [column for column in table.columns if column != "id"]
    table = table.dropna(axis=1, how="all")
    comparisons = []
    for column in columns:
        if column in NAMES:
            comparisons.append(cl.NameComparison(column))
        elif column in DATES:
            comparisons.append(cl.LevenshteinAtThresholds(column, [1, 2]))
        elif column in EMAILS:
            comparisons.append(cl.EmailComparison(column))
        elif column in EXACT:
            comparison = cl.ExactMatch(column)
            comparisons.append(comparison.configure(term_frequency_adjustments=True))
        else:
            comparisons.append(cl.JaroWinklerAtThresholds(column, [0.9, 0.7]))
    blocking, training = next((each, train) for held, each, train in RULES if held <= set(columns))

    def rule(names: tuple[str, ...]) -> Any:
        special = {"@date": DATES, "@email": EMAILS}
        named = [
            next(c for c in special[name] if c in columns) if name in special else name
            for name in names
        ]
        return block_on(*named)

    rules = [rule(names) for names in blocking if pairs_of(table, names) <= MOST_PAIRS]
    settings = SettingsCreator(
        link_type="dedupe_only",
        unique_id_column_name="id",
        comparisons=comparisons,
        blocking_rules_to_generate_predictions=rules,
    )
    api = DuckDBAPI()
    given = api.register(table) if hasattr(api, "register") else table
    linker = Linker(given, settings) if given is not table else Linker(table, settings, api)
    linker.training.estimate_probability_two_random_records_match(rules, recall=0.8)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6)
    for names in training:
        linker.training.estimate_parameters_using_expectation_maximisation(rule(names))
    found = linker.inference.predict(threshold_match_probability=0.2)
    clusters = linker.clustering.cluster_pairwise_predictions_at_threshold(
        found, threshold_match_probability=0.5
    )
    grouped = clusters.as_pandas_dataframe().groupby("cluster_id")["id"].apply(list)
    return [sorted(members) for members in grouped if len(members) > 1]


class NoEncoder:
    """Stands for an encoder whose rows count nothing."""

    def encode(self, texts: Any, **_: Any) -> Any:
        """A row of one number for each text."""
        import numpy as np

        return np.ones(1) if isinstance(texts, str) else np.ones((len(texts), 1))


def nodecanon(path: Path) -> list[list[str]]:
    """The merges of nodecanon's fast mode."""
    from nodecanon import KGEdge, KGGraph, KGNode, Resolver
    from nodecanon.core.matching import RuleBasedMatcher
    from nodecanon.core.scoring import NodeScorer

    read = json.loads(path.read_text(encoding="utf8"))
    nodes = [KGNode(**node) for node in read["nodes"]]
    edges = [KGEdge(edge["source"], edge["target"], edge["relation"]) for edge in read["edges"]]
    scorer = NodeScorer(weights=FAST, cache_dir=None)
    scorer._encoder = NoEncoder()  # it would be loaded, although its weight is zero
    resolver = Resolver(
        scorer=scorer,
        matcher=RuleBasedMatcher(threshold=0.72, weights=FAST),
    )
    result = resolver.resolve(KGGraph(nodes=nodes, edges=edges))
    return [sorted({record.canonical_id, *record.merged_ids}) for record in result.merge_records]


def neo4j(path: Path) -> list[list[str]]:
    """The sets that neo4j-graphrag's FuzzyMatchResolver would merge, found without a database.

    Names of one label are compared by its function, all pairs, at its default threshold; pairs that
    overlap are put together by its own function.
    """
    from neo4j_graphrag.components.resolver import BasePropertySimilarityResolver
    from rapidfuzz import fuzz, process, utils

    read = json.loads(path.read_text(encoding="utf8"))
    by_label: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for node in read["nodes"]:
        by_label[node["type"] or ""].append((node["id"], utils.default_process(node["name"])))
    sets: list[list[str]] = []
    for members in by_label.values():
        names = [name for _, name in members]
        pairs = []
        for place, name in enumerate(names):
            rest = process.extract_iter(
                name, names[place + 1 :], scorer=fuzz.WRatio, processor=None, score_cutoff=80
            )
            pairs += [{members[place][0], members[place + 1 + k][0]} for _, _, k in rest]
        merged = BasePropertySimilarityResolver._consolidate_sets(pairs)
        sets += [sorted(group) for group in merged]
    return sets


MOST_BYTES = 16 * 2**30
"""Memory beyond which a tool is said to have failed, so that the machine goes on."""
TOOLS = {"splink": splink, "nodecanon": nodecanon, "neo4j-graphrag": neo4j}


def peak_bytes() -> int:
    """The most that this process had in memory.

    What ``getrusage`` reports may be of the process that started this one.
    """
    status = Path("/proc/self/status").read_text(encoding="utf8")
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(peak.split()[1]) * 1024


def main() -> None:
    """Run one tool."""
    tool, path, out, seconds = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 10))
    clusters = TOOLS[tool](Path(path))
    found = {"clusters": clusters, "peak_bytes": peak_bytes()}
    Path(out).write_text(json.dumps(found), encoding="utf8")


if __name__ == "__main__":
    main()
