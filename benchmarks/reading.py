"""N-Triples read as a graph, against pyoxigraph's bare parsing of the same file.

Run it from the root of the repository::

    python benchmarks/reading.py --size 10M --repeat 3

Lines are generated: labels, numbers and relations of entities in no order, which is the hardest
to read. Each program is a process of its own, in turn: a loop over ``pyoxigraph.parse`` that does
nothing with what it gets, and ``sameas.read_graph``, which makes a whole graph with names.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tables
from generate import parse_size
from processes import say, timed
from tables import Check

from sameas.reproduction.rendering import Table, count, gib
from sameas.reproduction.store import machine

TITLE = "Reading RDF"
PROGRAMS = {
    "pyoxigraph": """
from pyoxigraph import RdfFormat, parse
count = 0
for quad in parse(path=sys.argv[1], format=RdfFormat.N_TRIPLES):
    count += 1
""",
    "sameas": """
graph = read_graph(sys.argv[1])
count = graph.reading_counts["statements"]
""",
}
"""What is timed; imports are not."""
AROUND = """
import json, sys, time
from sameas.reading import read_graph
from sameas.budget import peak_memory
before, begin, cpu = peak_memory(), time.perf_counter(), time.process_time()
{program}
print(json.dumps({{
    "statements": count,
    "seconds": time.perf_counter() - begin,
    "cpu_seconds": time.process_time() - cpu,
    "start_memory_bytes": before,
    "peak_memory_bytes": peak_memory(),
}}))
"""
ENTITY, RELATION = "http://example.org/resource/Entity_", "http://example.org/ontology/"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
INTEGER = "http://www.w3.org/2001/XMLSchema#integer"


def write_lines(file: Path, size: int, *, seed: int) -> None:
    """Write so many statements about an eighth as many entities."""
    chance = random.Random(seed)
    entities = max(size // 8, 2)
    with file.open("w", encoding="utf8") as out:
        for _ in range(size):
            head, kind = f"<{ENTITY}{chance.randrange(entities)}>", chance.random()
            if kind < 0.12:
                name = f"Entity number {chance.randrange(entities)}"
                out.write(f'{head} <{LABEL}> "{name}"@en .\n')
            elif kind < 0.35:
                number = chance.randrange(10**6)
                relation = f"<{RELATION}attribute{chance.randrange(20)}>"
                out.write(f'{head} {relation} "{number}"^^<{INTEGER}> .\n')
            else:
                relation = f"<{RELATION}relation{chance.randrange(60)}>"
                out.write(f"{head} {relation} <{ENTITY}{chance.randrange(entities)}> .\n")


def compare(file: Path, *, size: int, seed: int, repeat: int) -> dict[str, Any]:
    """Times and memory of both programs, each run ``repeat`` times, in turn."""
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in PROGRAMS}
    for number in range(repeat):
        for name, program in PROGRAMS.items():
            say(f"{name}, run {number + 1} of {repeat}")
            script = AROUND.format(program=program)
            found = timed([sys.executable, "-c", script, str(file)]).values(name)
            if found["statements"] != size:
                sys.exit(f"{name} has read {found['statements']} statements of {size}")
            runs[name].append(found)
    bare = statistics.median(run["seconds"] for run in runs["pyoxigraph"])
    return {
        "machine": machine(),
        "size": size,
        "seed": seed,
        "file_bytes": file.stat().st_size,
        "runs": {name: _summary(found, size, bare) for name, found in runs.items()},
    }


def _summary(runs: Sequence[dict[str, Any]], size: int, bare: float) -> dict[str, Any]:
    taken = statistics.median(run["seconds"] for run in runs)
    return {
        "seconds": [run["seconds"] for run in runs],
        "median_seconds": taken,
        "cpu_seconds": statistics.median(run["cpu_seconds"] for run in runs),
        "statements_per_second": size / taken,
        "of_bare_speed": bare / taken,
        "start_memory_bytes": max(run["start_memory_bytes"] for run in runs),
        "peak_memory_bytes": max(run["peak_memory_bytes"] for run in runs),
    }


def tables_of(record: Mapping[str, Any]) -> list[Table]:
    """How fast each program reads the same lines."""
    columns = {
        "median_seconds": ("seconds", tables.seconds),
        "cpu_seconds": ("CPU seconds", tables.seconds),
        "statements_per_second": ("statements a second", count),
        "of_bare_speed": ("of bare speed", "{:.2f}".format),
        "start_memory_bytes": ("GiB at the start", gib),
        "peak_memory_bytes": ("peak GiB", gib),
    }
    caption = f"{record['size']:,} lines of N-Triples, {gib(record['file_bytes'])} GiB"
    return [tables.rows_of(caption, record["runs"], columns, first="program")]


def checks_of(record: Mapping[str, Any]) -> list[Check]:
    """At least a third of the speed of bare parsing."""
    found = record["runs"]["sameas"]["of_bare_speed"]
    asked = "at least a third of pyoxigraph's bare speed"
    return [Check(asked, f"{found:.2f}", found >= 1 / 3)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, run all, keep the results and print them."""
    parser = tables.parser_of("reading", __doc__, "--size 10M --repeat 3")
    add = parser.add_argument
    add("--size", type=parse_size, default=10**6, help="lines, such as 10M [1M]")
    add("--seed", type=int, default=0, help="[0]")
    add("--repeat", type=int, default=1, help="runs of each, of which the median counts [1]")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="sameas-reading-") as folder:
        file = Path(folder) / "lines.nt"
        write_lines(file, options.size, seed=options.seed)
        record = compare(file, size=options.size, seed=options.seed, repeat=options.repeat)
    tables.save(options.results, record)
    print(tables.report("reading", record))


if __name__ == "__main__":
    main()
