"""Three graphs or more together, and two at a time: pairwise F1 of each pair that has gold links.

Run it from the root of the repository::

    python -m benchmarks.many ../shared/data

The folder holds ``dbp15k`` (zh_en, ja_en, fr_en) and ``real`` (anatomy, anatomy-ehdaa2-zfa). Of
DBP15K four graphs are made: the Chinese, the Japanese and the French one, and one of all English
sides; two entities of the first three are the same if both are linked with one English entity.
Each two graphs are aligned as if they were alone, so that one run gives both figures.
"""

from __future__ import annotations

import json
import tempfile
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks import tables
from benchmarks.next_week import fraction
from benchmarks.processes import sameas, say, timed
from benchmarks.tables import Check
from experiments.rendering import Table

TITLE = "Three graphs or more"
LANGUAGES = ("zh", "ja", "fr")
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
WORSE = 0.005
"""What F1 of a pair may fall by when others are beside it."""
Link = tuple[str, str]


@dataclass(frozen=True)
class Gold:
    """The links of two graphs, and the entities of which all links are known."""

    links: frozenset[Link]
    left: frozenset[str]
    right: frozenset[str]

    def f1(self, links: set[Link]) -> float:
        """F1 of the links of such entities."""
        judged = {one for one in links if one[0] in self.left or one[1] in self.right}
        correct = len(judged & self.links)
        return 2 * correct / max(len(judged) + len(self.links), 1)


@dataclass(frozen=True)
class Case:
    """Graphs that are aligned together: their files by name, and gold by two names."""

    files: dict[str, Path]
    gold: dict[tuple[str, str], Gold]

    def of(self, names: Sequence[str]) -> Case:
        """Some of the graphs."""
        gold = {pair: each for pair, each in self.gold.items() if {*pair} <= {*names}}
        return Case({name: self.files[name] for name in names}, gold)


def anatomies(data: Path) -> Case:
    """Mouse and human, and the human embryo and the zebrafish."""
    one, other = data / "real" / "anatomy", data / "real" / "anatomy-ehdaa2-zfa"
    files = {
        "mouse": one / "left.rdf",
        "human": one / "right.rdf",
        "ehdaa2": other / "left.nt",
        "zfa": other / "right.nt",
    }

    def gold(folder: Path) -> Gold:
        links = frozenset(_rows(folder / "gold.tsv")[1:])
        judged = (folder / "judged.txt").read_text(encoding="utf8").splitlines()
        return Gold(links, frozenset(judged), frozenset())

    return Case(files, {("mouse", "human"): gold(one), ("ehdaa2", "zfa"): gold(other)})


def dbpedia(data: Path, out: Path) -> Case:
    """The four languages of DBP15K, written as N-Triples with the translated names as labels."""
    english: dict[str, None] = {}
    partner: dict[str, dict[str, str]] = {}
    files = {name: out / f"{name}.nt" for name in (*LANGUAGES, "en")}
    for language in LANGUAGES:
        folder = data / "dbp15k" / f"{language}_en"
        left, right = (dict(_entities(folder, side)) for side in "12")
        files[language].write_text("\n".join(_statements(folder, "1")) + "\n", encoding="utf8")
        english |= dict.fromkeys(_statements(folder, "2"))
        partner[language] = {right[b]: left[a] for a, b in _rows(folder / "ref_ent_ids")}
    files["en"].write_text("\n".join(english) + "\n", encoding="utf8")
    partner["en"] = {one: one for each in partner.values() for one in each}
    gold = {
        (a, b): _complete({(partner[a][e], partner[b][e]) for e in partner[a] if e in partner[b]})
        for a, b in combinations(files, 2)
    }
    return Case(files, gold)


def _complete(links: set[Link]) -> Gold:
    return Gold(frozenset(links), frozenset(a for a, _ in links), frozenset(b for _, b in links))


def _rows(file: Path) -> list[Any]:
    lines = file.read_text(encoding="utf8").replace("\r", "").splitlines()
    return [tuple(line.split("\t")) for line in lines]


def _entities(folder: Path, side: str) -> Iterator[Link]:
    """The number and the IRI of each entity, as it may stand in N-Triples."""
    for number, iri in _rows(folder / f"ent_ids_{side}"):
        yield number, "".join(f"%{ord(c):02X}" if c in ' "<>\\^`{|}' else c for c in iri)


def _statements(folder: Path, side: str) -> Iterator[str]:
    """The names and triples of a side."""
    entities, relations = dict(_entities(folder, side)), dict(_rows(folder / f"rel_ids_{side}"))
    names = json.loads((folder / "translated_names.json").read_text(encoding="utf8"))
    for number, words in names:
        if words and str(number) in entities:
            name = json.dumps(" ".join(words), ensure_ascii=False)
            yield f"<{entities[str(number)]}> {LABEL} {name} ."
    for head, relation, tail in _rows(folder / f"triples_{side}"):
        yield f"<{entities[head]}> <{relations[relation]}> <{entities[tail]}> ."


def compared(case: Case, out: Path) -> dict[str, Any]:
    """F1 of each pair of graphs with gold, by the clusters of all and by the links of the two."""
    names = list(case.files)
    say(", ".join(names))
    words = ["align", *map(str, case.files.values()), "-o", str(out), "--json"]
    finished = timed(sameas(*words))
    called = finished.values("sameas align")["graphs"]
    members = pl.read_parquet(out / "members.parquet").select("entity", "graph", "cluster")
    of = [members.filter(graph=each["graph"]).drop("graph") for each in called]
    scores = {}
    for number, (a, b) in enumerate(combinations(names, 2), start=1):
        if (a, b) not in case.gold:
            continue
        left, right = of[names.index(a)], of[names.index(b)]
        together = left.join(right, on="cluster").select("entity", "entity_right")
        alone = pl.read_parquet(out / "pairs" / str(number) / "links.parquet")
        scores[f"{a} {b}"] = {
            "two": case.gold[a, b].f1({*alone.select("left", "right").iter_rows()}),
            "together": case.gold[a, b].f1({*together.iter_rows()}),
            "gold": len(case.gold[a, b].links),
        }
    taken = {"seconds": round(finished.seconds, 1), "cpu_seconds": round(finished.cpu_seconds, 1)}
    return {"graphs": names, "scores": scores, **taken}


def measure(given: Namespace) -> dict[str, Any]:
    """Both families: three of the anatomies, all four, and the four languages."""
    with tempfile.TemporaryDirectory(prefix="sameas-many-") as name:
        folder = Path(name)
        every = anatomies(given.data)
        cases = [
            every.of(["mouse", "human", "ehdaa2"]),
            every.of(["mouse", "human", "zfa"]),
            every.of(["mouse", "ehdaa2", "zfa"]),
            every.of(["human", "ehdaa2", "zfa"]),
            every,
        ]
        if not given.anatomies:
            cases.append(dbpedia(given.data, folder))
        runs = [compared(case, folder / f"run{n}") for n, case in enumerate(cases)]
    return {"runs": runs}


def tables_of(record: Mapping[str, Any]) -> list[Table]:
    """A row for each pair of graphs with gold, in each run."""
    rows = {
        f"{pair}, of {', '.join(run['graphs'])}": {
            **score,
            "gain": score["together"] - score["two"],
        }
        for run in record["runs"]
        for pair, score in run["scores"].items()
    }
    columns: tables.Columns = {
        "gold": ("gold links", str),
        "two": ("F1, the two alone", fraction),
        "together": ("F1, together", fraction),
        "gain": ("gain", lambda value: f"{value:+.4f}"),
    }
    return [tables.rows_of("Pairwise F1", rows, columns, first="pair")]


def checks_of(record: Mapping[str, Any]) -> list[Check]:
    """No pair is worse for the others beside it, and most are better."""
    gains = [
        score["together"] - score["two"]
        for run in record["runs"]
        for score in run["scores"].values()
    ]
    better = sum(gain >= 0 for gain in gains)
    return [
        Check("no pair below two at a time", f"{better} of {len(gains)}", better == len(gains)),
        Check(f"none by more than {WORSE}", f"{min(gains):+.4f}", min(gains) >= -WORSE),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, measure, keep the results and print them."""
    parser = tables.parser_of("many", __doc__, "../shared/data")
    add = parser.add_argument
    add("data", metavar="DATA", type=Path, help="folder with dbp15k and real")
    add("--anatomies", action="store_true", help="without DBP15K, which takes longest")
    options = parser.parse_args(arguments)
    tables.keep("many", options.results, measure(options))


if __name__ == "__main__":
    main()
