"""N-Triples read as a graph, against pyoxigraph's bare parsing of the same file.

Run it from the root of the repository::

    python -m benchmarks.reading --size 10M --repeat 3

Lines are generated: labels, numbers and relations of entities in no order, which is the hardest
to read. Each program is a process of its own, in turn: a loop over ``pyoxigraph.parse`` that does
nothing with what it gets, and ``sameas.read_graph``, which makes a whole graph with names.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
from argparse import Namespace
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import tables
from benchmarks.generate import parse_size
from benchmarks.processes import in_turn, timed
from benchmarks.tables import Check
from experiments.rendering import Table, count, gib

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
from sameas import read_graph
from sameas.pipeline.memory import peak_memory
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


def measure(given: Namespace) -> dict[str, Any]:
    """Times and memory of both programs on the same lines."""
    with tempfile.TemporaryDirectory(prefix="sameas-reading-") as folder:
        file = Path(folder) / "lines.nt"
        write_lines(file, given.size, seed=given.seed)
        programs = {name: partial(_read, file, name, given.size) for name in PROGRAMS}
        runs = in_turn(programs, given.repeat)
        size = file.stat().st_size
    taken = {name: statistics.median(run["seconds"] for run in runs[name]) for name in runs}
    summaries = {
        name: {
            "seconds": [run["seconds"] for run in found],
            "median_seconds": taken[name],
            "cpu_seconds": statistics.median(run["cpu_seconds"] for run in found),
            "statements_per_second": given.size / taken[name],
            "of_bare_speed": taken["pyoxigraph"] / taken[name],
            "start_memory_bytes": max(run["start_memory_bytes"] for run in found),
            "peak_memory_bytes": max(run["peak_memory_bytes"] for run in found),
        }
        for name, found in runs.items()
    }
    return {"size": given.size, "seed": given.seed, "file_bytes": size, "runs": summaries}


def _read(file: Path, name: str, size: int) -> dict[str, Any]:
    """What a program takes in a process of its own."""
    script = AROUND.format(program=PROGRAMS[name])
    found = timed([sys.executable, "-c", script, str(file)]).values(name)
    if found["statements"] != size:
        sys.exit(f"{name} has read {found['statements']} statements of {size}")
    return found


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
    """At least four fifths of the speed of bare parsing."""
    found = record["runs"]["sameas"]["of_bare_speed"]
    return [Check("at least .8 of pyoxigraph's bare speed", f"{found:.2f}", found >= 0.8)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, run all, keep the results and print them."""
    parser = tables.parser_of("reading", __doc__, "--size 10M --repeat 3")
    add = parser.add_argument
    add("--size", type=parse_size, default=10**6, help="lines, such as 10M [1M]")
    add("--seed", type=int, default=0, help="[0]")
    add("--repeat", type=int, default=1, help="runs of each, of which the median counts [1]")
    options = parser.parse_args(arguments)
    tables.keep("reading", options.results, measure(options))


if __name__ == "__main__":
    main()
