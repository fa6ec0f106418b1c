"""Duplicates found by ``sameas dedupe`` and by others, in one run on one machine.

``python -m benchmarks.compare_duplicates DATA --peers PYTHON`` gives the graphs of DATA/graphs, and
a graph of DBP15K with duplicates put in, to nodecanon and to neo4j-graphrag's fuzzy resolver, and
the tables of DATA/records to splink. PYTHON is that of an environment with
``benchmarks/peers-requirements.txt``. ``--people N`` adds tables of so many generated people.
"""

from __future__ import annotations

import argparse
import csv
import json
import signal
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import sameas as package
from benchmarks.duplicates import make_graph, make_people
from benchmarks.processes import sameas, say, timed

Clusters = list[list[str]]
GRAPHS = ("nodecanon", "neo4j-graphrag")
TABLES = ("splink",)
MEMORY = "16G"
"""As much as peers may take; the default, 4G, is for smaller tables than a million rows."""


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV."""
    with path.open(encoding="utf8", newline="") as file:
        return list(csv.DictReader(file))


def as_one_table(folder: Path, out: Path) -> tuple[Path, dict[str, str]]:
    """Two tables as one, and the cluster of each id: what gold links connect."""
    tables = [rows_of(folder / f"{side}.csv") for side in ("left", "right")]
    every = sorted(tables[0] + tables[1], key=lambda row: row["id"])
    with out.open("w", encoding="utf8", newline="") as file:
        writer = csv.DictWriter(file, dict.fromkeys(key for row in every for key in row))
        writer.writeheader()
        writer.writerows(every)
    links = [[row["left"], row["right"]] for row in rows_of(folder / "gold.csv")]
    return out, connected([*([row["id"]] for row in every), *links])


def connected(groups: Iterable[Sequence[str]]) -> dict[str, str]:
    """By member, the one that stands for all those that groups connect with it.

    >>> connected([["a", "b"], ["c"], ["d", "b"]])
    {'a': 'd', 'b': 'd', 'c': 'c', 'd': 'd'}
    """
    parent: dict[str, str] = {}

    def root(one: str) -> str:
        while parent.setdefault(one, one) != one:
            parent[one] = parent[parent[one]]
            one = parent[one]
        return one

    for first, *others in groups:
        for one in [first, *others]:
            parent[root(one)] = root(first)
    return {one: root(one) for one in parent}


def as_nodes(path: Path, out: Path) -> Path:
    """A graph as nodes and edges in JSON, for tools that take these."""
    graph = package.read_graph(str(path))
    names = dict(zip(graph.entities, graph.names, strict=True))
    types = {graph.entities[one]: graph.names[kind] for one, kind in graph.types.tolist()}
    said = graph.attributes.filter(graph.attributes["attribute"].str.ends_with("description"))
    texts = dict(said.select("entity", "value").iter_rows())
    classes = {graph.entities[kind] for kind in graph.types[:, 1].tolist()}
    nodes = [
        {"id": one, "name": name, "type": types.get(one), "description": texts.get(one)}
        for one, name in names.items()
        if one not in classes
    ]
    edges = [
        {"source": graph.entities[h], "target": graph.entities[t], "relation": graph.relations[r]}
        for h, r, t in graph.triples.tolist()
        if graph.entities[t] not in classes
    ]
    out.write_text(json.dumps({"nodes": nodes, "edges": edges}), encoding="utf8")
    return out


def pairs_within(sizes: Iterable[int]) -> int:
    """How many pairs clusters of these sizes have."""
    return sum(size * (size - 1) // 2 for size in sizes)


def judged(clusters: Clusters, gold: dict[str, str] | None) -> dict[str, Any]:
    """How many pairs were found, and their scores where gold is known.

    Clusters that overlap are one: whoever merges the pairs merges all of them. Pairs are counted,
    not listed: tools that join components may put most of a graph into one.
    """
    members: dict[str, list[str]] = defaultdict(list)
    for one, cluster in connected(clusters).items():
        members[cluster].append(one)
    clusters = list(members.values())
    found = pairs_within(map(len, clusters))
    if gold is None:
        return {"pairs": found}
    correct = sum(
        pairs_within(Counter(gold.get(one, one) for one in each).values()) for each in clusters
    )
    every = pairs_within(Counter(gold.values()).values())
    precision, recall = correct / max(found, 1), correct / max(every, 1)
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    return {"pairs": found, "precision": precision, "recall": recall, "f1": f1}


def by_sameas(path: Path, scratch: Path, _: str) -> tuple[Clusters, float, float, float]:
    """The clusters of ``sameas dedupe``; seconds, CPU seconds, GiB."""
    out = scratch / "sameas.csv"
    finished = timed(sameas("dedupe", str(path), "-o", str(out), "--json", "--memory", MEMORY))
    printed = finished.values("sameas dedupe")
    clusters: dict[str, list[str]] = defaultdict(list)
    for row in rows_of(out):
        clusters[row["cluster"]].append(row["entity"])
    gib = printed["peak_memory_bytes"] / 2**30
    return list(clusters.values()), finished.seconds, finished.cpu_seconds, gib


def by_peer(
    tool: str, limit: float
) -> Callable[[Path, Path, str], tuple[Clusters, float, float, float]]:
    """A function that gives the clusters of another tool.

    It is ended after so many seconds of processor time, so that it does not matter what else runs.
    """

    def found(path: Path, scratch: Path, python: str) -> tuple[Clusters, float, float, float]:
        script, out = str(Path(__file__).with_name("peers.py")), scratch / "peer.json"
        finished = timed([python, script, tool, str(path), str(out), f"{limit:.0f}"])
        if finished.code == -signal.SIGXCPU:
            raise TimeoutError(f"not ended after {limit:.0f} s of processor time")
        if finished.code:
            ended = f"ended with {finished.code}"  # a tool that was killed says nothing
            raise RuntimeError(finished.errors.strip()[-300:] or ended)
        read = json.loads(out.read_text(encoding="utf8"))
        gib = read["peak_bytes"] / 2**30
        return read["clusters"], finished.seconds, finished.cpu_seconds, gib

    return found


def compared(
    path: Path, gold: dict[str, str] | None, tools: Iterable[str], python: str, limit: float
) -> dict[str, Any]:
    """The figures of sameas and of other tools on one graph or table."""
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as place:
        scratch = Path(place)
        for tool in ("sameas", *tools):
            say(f"{path.name}: {tool}")
            given = as_nodes(path, scratch / "graph.json") if tool in GRAPHS else path
            run = by_sameas if tool == "sameas" else by_peer(tool, limit)
            try:
                clusters, seconds, cpu, gib = run(given, scratch, python)
            except (TimeoutError, RuntimeError) as error:
                figures[tool] = {"failed": str(error)}
                continue
            taken = {"seconds": seconds, "cpu_seconds": cpu, "gib": gib}
            figures[tool] = {**judged(clusters, gold), **taken}
    return figures


def versions(python: str) -> dict[str, str]:
    """The versions of the peers."""
    code = "import json, importlib.metadata as m; print(json.dumps({n: m.version(n) for n in "
    code += f"{(*GRAPHS, *TABLES)!r}}}))"
    output = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True)
    found: dict[str, str] = json.loads(output.stdout)
    return {"sameas": package.__version__, **found}


def cases(
    data: Path, scratch: Path, python: str, *, people: Iterable[int] = (), limit: float = 3600
) -> dict[str, Callable[[], dict[str, Any]]]:
    """By name, what compares the tools on each graph and table that there is."""
    scratch.mkdir(parents=True, exist_ok=True)

    def of_graph(name: str) -> dict[str, Any]:
        path = data / "graphs" / name
        path = next(path.glob("*.graphml"), path)
        return compared(path, None, GRAPHS, python, limit)

    def of_dbp15k() -> dict[str, Any]:
        make_graph(data / "dbp15k" / "zh_en", scratch / "dbp15k", 0.05)
        gold = {row["id"]: row["cluster"] for row in rows_of(scratch / "dbp15k.gold.csv")}
        return compared(scratch / "dbp15k.nt", gold, GRAPHS, python, limit)

    def of_table(name: str) -> dict[str, Any]:
        folder = data / "records" / name
        if (folder / "table.csv").is_file():
            path = folder / "table.csv"
            gold = {row["id"]: row["cluster"] for row in rows_of(folder / "gold.csv")}
        else:
            path, gold = as_one_table(folder, scratch / f"{name}.csv")
        return compared(path, gold, TABLES, python, limit)

    def of_people(count: int) -> dict[str, Any]:
        place = scratch / f"people_{count}"
        make_people(count, place)
        gold = {row["id"]: row["cluster"] for row in rows_of(place.with_suffix(".gold.csv"))}
        return compared(place.with_suffix(".csv"), gold, TABLES, python, limit)

    every: dict[str, Callable[[], dict[str, Any]]] = {}
    for name in ("graphrag", "lightrag"):
        every[name] = partial(of_graph, name)
    for name in ("fake_1000", "cora", "febrl4", "fodors-zagats"):
        every[name] = partial(of_table, name)
    every["dbp15k"] = of_dbp15k
    for count in people:
        every[f"{count:,} people"] = partial(of_people, count)
    return every


def main() -> None:
    """Compare, print and keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--peers", required=True, metavar="PYTHON")
    parser.add_argument("--people", type=int, nargs="+", default=[], metavar="N")
    parser.add_argument("--limit", type=float, default=3600, help="CPU seconds a peer may take")
    parser.add_argument("--only", nargs="+", default=None)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "compared")
    parser.add_argument("--results", type=Path, default=Path("benchmarks/results/compared.json"))
    given = parser.parse_args()
    every = cases(given.data, given.folder, given.peers, people=given.people, limit=given.limit)
    kept = json.loads(given.results.read_text()) if given.results.is_file() else {}
    kept["versions"] = versions(given.peers)
    given.results.parent.mkdir(parents=True, exist_ok=True)
    for name, measure in every.items():
        if given.only is None or name in given.only:
            kept[name] = measure()
            given.results.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf8")
            print(name, json.dumps(kept[name]))


if __name__ == "__main__":
    main()
