"""What is measured: parts, each with its cases, the code it depends on and the time it takes."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

import sameas
from benchmarks import cluster, compare_duplicates, growth, ladder, reconciling
from benchmarks.decisions.audited import said_and_true
from benchmarks.decisions.dump import dump_task
from benchmarks.decisions.tasks import Made, bench_tasks
from benchmarks.duplicates import make_graph
from benchmarks.generate import HARD_OVERLAP, OVERLAP, parse_size
from experiments import experiments
from experiments.datasets import Dataset
from experiments.figures import DATASETS
from experiments.real import links_of, real_rdf, scores_of_judged
from experiments.reproduce import ONE_DATASET, reproduce
from experiments.runs import Setup, forget, make_setup
from experiments.store import PRESENTATION
from figures.results import ROOT, Values
from sameas.formats.pair import read_gold, read_pair
from sameas.text.encoders import find_encoder
from sameas.text.languages.dictionaries import RESOURCES

BEST, PAPER = make_setup("best"), make_setup("paper")
LARGE = ("real/chemicals-chebi-mesh",)
"""Pairs that take longer than all others together."""
SEVERAL_NAMES = "real/disease-doid-mondo"
"""A pair of RDF files whose entities have several names each."""
LIMIT = 7200
"""Seconds that a command may take on one of these."""
METHOD = ("sameas/*", "experiments/*")
WITHOUT = (*PRESENTATION, "experiments/reproduce.py", "experiments/store.py")
"""Code that changes no value of an experiment."""
EXAMPLES = {
    "demo": {"amharique": "amharique", "londres": "Londres"},
    ONE_DATASET: {
        "cup": "http://zh.dbpedia.org/resource/2011年中国足协杯",
        "han": "汉族",
    },
}
"""Entities that the documentation explains, by the pair that they are of."""


@dataclass(frozen=True)
class Places:
    """What the user gives: the datasets, and where generated pairs and runs may go."""

    datasets: Mapping[str, Dataset]
    data: Path
    scratch: Path
    yardstick: Path | None = None

    def paper(self) -> list[Dataset]:
        """The paper's datasets that are there."""
        return [self.datasets[key] for key in DATASETS if key in self.datasets]


Case = tuple[str, Callable[[], Mapping[str, Any]]]


@dataclass(frozen=True)
class Part:
    """Some cases that are measured in the same way."""

    name: str
    cases: Callable[[Places], Iterator[Case]]
    minutes: float
    """What all cases take on two quiet cores, roughly."""
    long: bool = False
    """Whether it belongs to the second command."""
    code: Sequence[str] = METHOD
    """Patterns of the files that values depend on."""
    without: Sequence[str] = WITHOUT


# Benchmark datasets


def of_datasets(measure: Callable[[Dataset, Setup], Mapping[str, Any]], setup: Setup) -> Any:
    """Cases: a measurement of each of the paper's datasets."""

    def cases(places: Places) -> Iterator[Case]:
        for dataset in places.paper():
            yield dataset.key, partial(measure, dataset, setup)
            forget()

    return cases


def whole(dataset: Dataset, setup: Setup) -> Values:
    """Scores, seconds and memory of the whole command in the paper protocol."""
    return dict(experiments.whole_command(dataset, setup)[""])


def open_protocol(dataset: Dataset, setup: Setup) -> Values:
    """Scores of the links of whole graphs."""
    return dict(experiments.open_protocol(dataset, setup)[""])


def paris(dataset: Dataset, setup: Setup) -> Values:
    """The same of PARIS."""
    return dict(experiments.paris(dataset, setup)[""])


def raw_names(dataset: Dataset, setup: Setup) -> Values:
    """Untranslated names, by ingredient; and which dictionaries and encoders were installed."""
    return {**experiments.raw_names(dataset, setup), "installed": installed()}


def installed() -> list[str]:
    """The dictionaries and encoders for other languages that are installed."""
    encoder = ["sentence encoder"] if find_encoder() else []
    return [one.name for one in RESOURCES if one.installed] + encoder


def both_names(places: Places) -> Iterator[Case]:
    """Hits@1 with names as in the URIs first and their translations as further names."""

    def measure(dataset: Dataset) -> Values:
        pair = read_pair(dataset.folder)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "names.tsv"
            raw = read_pair(dataset.folder, names="uri")
            rows = [
                f"{entity}\t{name}"
                for graph in (raw.left, raw.right, pair.left, pair.right)
                for entity, name in zip(graph.entities, graph.names, strict=True)
                if name.strip()
            ]
            file.write_text("entity\tname\n" + "\n".join(rows) + "\n", encoding="utf8")
            both = read_pair(dataset.folder, names=file)
            scores = sameas.evaluate(sameas.align(both, among="gold"), both.gold)
        return {"hits@1": scores.hits_at_1, "mrr": scores.mrr}

    if ONE_DATASET in places.datasets:
        yield ONE_DATASET, partial(measure, places.datasets[ONE_DATASET])


# Real RDF


def real(places: Places) -> Iterator[Case]:
    """Pairs of RDF files: sameas, PARIS and equal labels."""
    for key, dataset in places.datasets.items():
        if dataset.real and key not in LARGE:
            yield key, partial(real_rdf, dataset, BEST)


def sides_of(dataset: Dataset) -> list[str]:
    """The files of a pair of RDF files."""
    return [str(min(dataset.folder.glob(f"{side}.*"))) for side in ("left", "right")]


def several_names(places: Places) -> Iterator[Case]:
    """Seconds by phase and memory of RDF whose entities have several names."""

    def measure(dataset: Dataset) -> Values:
        with tempfile.TemporaryDirectory() as folder:
            out = str(Path(folder) / "links.tsv")
            found = json.loads(printed("align", *sides_of(dataset), "-o", out, "--json"))
        return {key: found[key] for key in ("seconds", "total_seconds", "peak_memory_bytes")}

    if SEVERAL_NAMES in places.datasets:
        yield SEVERAL_NAMES, partial(measure, places.datasets[SEVERAL_NAMES])


def large(places: Places) -> Iterator[Case]:
    """The same of large pairs, by commands that are stopped after a time."""

    def measure(dataset: Dataset) -> Values:
        gold = read_gold(dataset.folder / "gold.tsv")
        judged = dataset.folder / "judged.txt"
        values: Values = {"": {"links": len(gold)}}
        with tempfile.TemporaryDirectory() as folder:
            for method, options in (("best", []), ("PARIS", ["--method", "paris"])):
                out = Path(folder) / "links.tsv"
                try:
                    printed("align", *sides_of(dataset), "-o", str(out), *options, limit=LIMIT)
                    links = pl.read_csv(out, separator="\t", infer_schema=False)
                    values[method] = scores_of_judged(links, gold, judged)
                except subprocess.TimeoutExpired:
                    values[method] = {"error": f"not finished within {LIMIT / 3600:g} hours"}
        links = links_of("equal labels", dataset.pair, gold)
        return {**values, "equal labels": scores_of_judged(links, gold, judged)}

    for key in LARGE:
        if key in places.datasets:
            yield key, partial(measure, places.datasets[key])


# Records


def records(places: Places) -> Iterator[Case]:
    """Tables in which a row is an entity, files as they are: DATA/records/NAME.

    Gold is complete, so that every other link is wrong.
    """

    def linked(folder: Path) -> Values:
        gold = read_gold(folder / "gold.csv")
        alignment = sameas.align(str(folder / "left.csv"), str(folder / "right.csv"), no_audit=True)
        links = set(alignment.links.select("left", "right").rows())
        correct = len(links & set(gold.select("left", "right").rows()))
        precision, recall = correct / max(len(links), 1), correct / len(gold)
        f1 = 2 * precision * recall / max(precision + recall, 1e-9)
        return {"gold": len(gold), "f1": f1, "precision": precision, "recall": recall}

    for folder in sorted(places.data.glob("records/*")):
        if (folder / "left.csv").is_file():
            yield folder.name, partial(linked, folder)


def duplicates(places: Places) -> Iterator[Case]:
    """One table with duplicates, the file as it is (DATA/records/NAME); graphs with some put in."""

    def judged(table: Path, gold: Path) -> Values:
        with tempfile.TemporaryDirectory() as place:
            out = str(Path(place) / "clusters.csv")
            printed("dedupe", str(table), "-o", out)
            values: Values = json.loads(printed("evaluate", out, str(gold), "--json"))
        kept = ("pairwise_precision", "pairwise_recall", "pairwise_f1", "cluster_f1")
        return {key: values[key] for key in kept}

    def put_in(folder: Path) -> Values:
        with tempfile.TemporaryDirectory() as place:
            graph = Path(place) / "graph"
            make_graph(folder, graph, 0.05)
            return judged(graph.with_suffix(".nt"), graph.with_suffix(".gold.csv"))

    for folder in sorted(places.data.glob("records/*")):
        if (folder / "table.csv").is_file():
            yield folder.name, partial(judged, folder / "table.csv", folder / "gold.csv")
    for dataset in places.paper():
        if dataset.key.startswith("dbp15k"):
            name = f"English graph of DBP15K {dataset.folder.name.replace('_', '-')}, 5% put in"
            yield name, partial(put_in, dataset.folder)


def peers(places: Places) -> Iterator[Case]:
    """Duplicates found by others, if the variable SAMEAS_PEERS names a Python that has them."""
    if python := os.environ.get("SAMEAS_PEERS"):
        every = compare_duplicates.cases(
            places.data, places.scratch, python, people=(100_000, 1_000_000), limit=900
        )
        yield from every.items()
        yield "versions", lambda: dict(compare_duplicates.versions(python))


# Text that commands print


def printed(*words: str, limit: float | None = None) -> str:
    """What a command of sameas prints on standard output; it may take so many seconds."""
    command = [sys.executable, "-m", "sameas", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit)
    if done.returncode:
        raise RuntimeError(f"sameas {shlex.join(words)} failed: {done.stderr.strip()[-500:]}")
    return done.stdout


def demo(places: Places) -> Iterator[Case]:
    """What ``sameas demo`` prints, up to where it says how long it took."""
    yield "text", lambda: {"text": printed("demo").partition("\nDone in")[0].strip("\n")}


def explain(places: Places) -> Iterator[Case]:
    """Explanations of some entities, and what ``sameas align`` prints."""

    def measure(folder: Path, entities: Mapping[str, str]) -> Values:
        with tempfile.TemporaryDirectory() as place:
            out = str(Path(place) / "run")
            values: Values = {"align": printed("align", str(folder), "-o", out)}
            for name, entity in entities.items():
                values[name] = printed("explain", out, entity)
            values["seconds"] = explanation_seconds(out, list(entities.values()))
        return values

    folders = {"demo": sameas.DEMO}
    folders |= {key: places.datasets[key].folder for key in EXAMPLES if key in places.datasets}
    for key, folder in folders.items():
        yield key, partial(measure, folder, EXAMPLES[key])


def explanation_seconds(run: str, entities: Sequence[str]) -> list[float]:
    """How long the first explanation of a run takes, and the further ones."""
    alignment, taken = sameas.read_run(run), []
    for entity in [*entities, *entities]:
        begin = time.process_time()
        alignment.explain(entity)
        taken.append(round(time.process_time() - begin, 3))
    return taken


def territories(places: Places) -> Iterator[Case]:
    """The table of ``scripts/territories.py``."""

    def measure() -> Values:
        command = [sys.executable, str(ROOT / "scripts" / "territories.py"), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return {**json.loads(done.stdout), "installed": installed()}

    yield "table", measure


# Speed and scale


def by_script(name: str, *words: str) -> Values:
    """The record of a benchmark, run in a process of its own: large ones distort peak memory."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}.json"
        command = [sys.executable, "-m", f"benchmarks.{name}", *words, "--results", str(file)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
        record: Values = json.loads(file.read_text(encoding="utf8"))
    return {key: value for key, value in record.items() if key != "machine"}


def of_one(name: str, *words: str) -> Any:
    """Cases: a benchmark on one dataset."""

    def cases(places: Places) -> Iterator[Case]:
        if ONE_DATASET in places.datasets:
            pair = str(places.datasets[ONE_DATASET].folder.absolute())
            given = name == "speed" and places.yardstick
            more = ["--yardstick", str(places.yardstick)] if given else []
            yield ONE_DATASET, partial(by_script, name, pair, *words, *more)

    return cases


def rungs(*names: str) -> Any:
    """Cases: generated pairs of these sizes, harder ones if the name says so."""

    def measure(name: str, places: Places) -> Values:
        hard, size = name.startswith("hard "), parse_size(name.removeprefix("hard "))
        settings = {
            **{"noise": 0.02, "overlap": HARD_OVERLAP if hard else OVERLAP, "hard": hard},
            **{"seed": 0, "preset": "best", "solver": "sinkhorn"},
            **{"memory": "20G", "languages": "none"},
        }
        places.scratch.mkdir(parents=True, exist_ok=True)
        pair = ladder.generated(places.scratch, size, settings)
        taken = ladder.aligned(pair, settings)
        kept = ("f1", "precision", "recall", "hits@1", "mrr", "candidate_recall", "search_recall")
        more = ("total_seconds", "cpu_seconds", "seconds", "peak_memory_bytes", "links")
        return {"size": size, **{key: taken.get(key) for key in (*kept, *more)}}

    def cases(places: Places) -> Iterator[Case]:
        for name in names:
            yield name, partial(measure, name, places)

    return cases


def growing(*sizes: str) -> Any:
    """Cases: each kind of input in these sizes."""

    def cases(places: Places) -> Iterator[Case]:
        for kind in ("N-Triples", "records"):  # folders are those of the ladder
            for size in sizes:
                measure = partial(growth.measure, kind, parse_size(size), places.scratch)
                yield f"{kind} {size}", measure

    return cases


def profiles(*names: str) -> Any:
    """Cases: where runs on generated pairs spend their time, and what is alive at their peaks."""

    def measure(name: str, places: Places) -> Values:
        size = name.removesuffix(", alive")
        pair = growth.made("folders", parse_size(size), places.scratch)[1]
        return by_script("profile", pair, *(["--alive"] * (name != size)))

    def cases(places: Places) -> Iterator[Case]:
        for name in names:
            yield name, partial(measure, name, places)

    return cases


def killed(places: Places) -> Iterator[Case]:
    """Cases: a run on a generated pair that is killed in each of its phases."""

    def measure(size: str) -> Values:
        pair = growth.made("folders", parse_size(size), places.scratch)[1]
        options = ["--options", "--memory 20G --languages none", "--signals", "SIGKILL"]
        folder = ["--folder", str(places.scratch / f"resume_{size}")]
        return by_script("resume", pair, "--one-run", *options, *folder)

    yield "1M", partial(measure, "1M")


def lines(size: int) -> Any:
    """Cases: reading N-Triples of so many lines."""

    def cases(places: Places) -> Iterator[Case]:
        yield f"{size:,}", partial(by_script, "reading", "--size", str(size))

    return cases


def together(places: Places) -> Iterator[Case]:
    """Cases: three graphs or more, beside two at a time."""
    if (places.data / "real" / "anatomy").is_dir() and (places.data / "dbp15k").is_dir():
        yield "all", partial(by_script, "many", str(places.data.absolute()))


def starting(places: Places) -> Iterator[Case]:
    """Cases: the first command after installation, and the smallest ones."""
    yield "startup", partial(by_script, "startup")


def serving(places: Places) -> Iterator[Case]:
    """Cases: the names of one dataset asked of ``sameas serve``."""
    key = "srprs/fr_en"
    if key in places.datasets:
        folder = str(places.datasets[key].folder)
        yield key, lambda: reconciling.measure(folder, size=50)


def on_cluster(places: Places) -> Iterator[Case]:
    """Cases: generated pairs in parts, in threads and on two workers; the largest on these only."""

    def costs(size: str, *, parts: int, threads: bool = True) -> Values:
        pair = places.scratch / f"parts_{size}"
        if not (pair / "done").exists():
            words = [size, str(pair), "--noise", "0.02", "--parts", str(parts)]
            subprocess.run([sys.executable, "-m", "benchmarks.generate", *words], check=True)
            (pair / "done").touch()
        dask = {"engine": "dask", "workers": 2, "parts": 8, "worker_memory": "4GiB"}
        with tempfile.TemporaryDirectory() as folder:
            settings: list[cluster.Settings] = [{"engine": "threads"}] if threads else []
            settings.append(dask)
            return dict(cluster.measure(pair, settings, Path(folder) / "cluster.json"))

    yield "100k", partial(costs, "100k", parts=16)
    yield "1M", partial(costs, "1M", parts=64)
    yield "3M", partial(costs, "3M", parts=192, threads=False)


def audited(places: Places) -> Iterator[Case]:
    """Cases: the tasks of the bench of decisions, of which the audit says something."""

    def measure(make: Made) -> Values:
        return said_and_true(dump_task(make()))

    for name, make in bench_tasks(places.data):
        if not any(name.endswith(Path(large).name) for large in LARGE):
            yield name, partial(measure, make)


def report(places: Places) -> Iterator[Case]:
    """The report of all experiments, in docs/reproduction."""

    def measure() -> Values:
        vectors = min(places.data.glob("vectors/*.txt"), default=None)
        found = reproduce(places.data, ROOT / "docs" / "reproduction", word_vectors=vectors)
        return {"results": len(found["results"])}

    yield "report", measure


BENCHMARKED = (*METHOD, "benchmarks/*")
PARTS = (
    Part("demo", demo, 0.1, code=("sameas/*",), without=("sameas/web/*",)),
    Part("explain", explain, 0.5, code=("sameas/*",), without=("sameas/web/*",)),
    Part("paper", of_datasets(whole, PAPER), 0.5),
    Part("best", of_datasets(whole, BEST), 1),
    Part("open", of_datasets(open_protocol, BEST), 1.5),
    Part("paris", of_datasets(paris, BEST), 0.2),
    Part("hidden", of_datasets(experiments.audit, BEST), 3.5),
    Part("raw", of_datasets(raw_names, BEST), 5),
    Part("both", both_names, 1),
    Part("real", real, 1.5),
    Part("several", several_names, 0.3, code=("sameas/*",), without=("sameas/web/*",)),
    Part("records", records, 0.3),
    Part("duplicates", duplicates, 4, code=BENCHMARKED),
    Part("territories", territories, 0.3),
    Part("speed", of_one("speed", "--repeat", "3"), 9, code=BENCHMARKED),
    Part("solver", of_one("solver"), 2, code=BENCHMARKED),
    Part("memory", of_one("memory", "--ceilings", "1G", "4G"), 0.2, code=BENCHMARKED),
    Part("reading", lines(10**6), 0.2, code=BENCHMARKED),
    Part("many", together, 5, code=BENCHMARKED),
    Part("startup", starting, 0.5, code=BENCHMARKED),
    Part("next_week", of_one("next_week", "--repeat", "3"), 1, code=BENCHMARKED),
    Part("ladder", rungs("10k", "30k", "100k", "300k", "hard 100k"), 3.5, code=BENCHMARKED),
    Part(
        "serving", serving, 0.2, code=BENCHMARKED, without=("sameas/cli/*", "sameas/web/review/*")
    ),
    Part("ladder-long", rungs("1M", "3M"), 35, long=True, code=BENCHMARKED),
    Part("audit", audited, 8, long=True, code=BENCHMARKED),
    Part("peers", peers, 85, long=True, code=BENCHMARKED),
    Part("growth", growing(*growth.SIZES), 17, long=True, code=BENCHMARKED),
    Part("profile", profiles("1M", "100k, alive"), 9, long=True, code=BENCHMARKED),
    Part("resume", killed, 15, long=True, code=BENCHMARKED),
    Part("cluster", on_cluster, 80, long=True, code=BENCHMARKED),
    Part("report", report, 90, long=True),
    Part("large", large, 5, long=True),
)
