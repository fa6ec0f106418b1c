"""Whether the memory ceiling is kept: resident memory under each, and the same links.

Run it from the root of the repository::

    python -m benchmarks.memory ../shared/data/dbp15k/zh_en

``sameas align`` is run once under each ceiling. Its peak is the larger of what the system tells
the process that started it, and what it tells the run itself.
"""

from __future__ import annotations

import tempfile
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks import tables
from benchmarks.processes import align_afresh, say
from benchmarks.tables import Check
from experiments.rendering import Table, count, gib
from sameas.options.declare import parse_size

TITLE = "The memory ceiling"
OPTIONS = "--preset paper --among gold"


def watched(pair: Path, out: Path, options: str, ceiling: str) -> dict[str, Any]:
    """What a run under a ceiling takes; or why it was refused."""
    options = f"{options} --memory {ceiling}"
    finished = align_afresh(pair, out, options)
    if finished.code == 2 and "ceiling" in finished.errors:
        return {"reason": finished.errors.strip().removeprefix("sameas: ")}
    found = finished.values(f"sameas align {pair} {options}")
    peak = max(finished.peak_bytes, found["peak_memory_bytes"])
    return {
        "form": found["form"],
        "reason": found["form_reason"],
        "total_seconds": round(finished.seconds, 3),
        "expected_bytes": found["memory_expected_bytes"],
        "peak_memory_bytes": peak,
        "of_ceiling": peak / parse_size(ceiling),
        "links": found["links"],
    }


def measure(given: Namespace) -> dict[str, Any]:
    """Runs under all ceilings, and whether their links are the same."""
    runs, first = {}, None
    with tempfile.TemporaryDirectory(prefix="sameas-memory-") as folder:
        for ceiling in given.ceilings:
            say(f"sameas align {given.options} --memory {ceiling}")
            out = Path(folder) / f"run_{ceiling}"
            run = runs[ceiling] = watched(given.pair, out, given.options, ceiling)
            if "links" in run:
                links = pl.read_parquet(out / "links.parquet", columns=["left", "right"])
                first = links if first is None else first
                run["other_links"] = len(links.join(first, on=["left", "right"], how="anti"))
                run["same_links"] = links.equals(first)
    same = all(run.get("same_links", True) for run in runs.values())
    return {
        "pair": given.pair.name,
        "options": given.options,
        "same_links": same,
        "runs": runs,
    }


def tables_of(record: Mapping[str, Any]) -> list[Table]:
    """The resident memory under each ceiling."""
    columns: tables.Columns = {
        "peak_memory_bytes": ("peak GiB", gib),
        "of_ceiling": ("of the ceiling", "{:.0%}".format),
        "expected_bytes": ("estimated GiB", gib),
        "total_seconds": ("seconds", tables.seconds),
        "links": ("links", count),
        "other_links": ("unlike the first run's", count),
        "form": ("form", str),
        "reason": ("why", str),
    }
    runs = {ceiling: {"form": "refused", **run} for ceiling, run in record["runs"].items()}
    caption = f"{record['pair']}, {record['options']}"
    return [tables.rows_of(caption, runs, columns, first="ceiling")]


def checks_of(record: Mapping[str, Any]) -> list[Check]:
    """Below 1.3 GiB under a ceiling of 1G, and the same links."""
    run = record["runs"].get("1G")
    if run is None:
        return []
    if "peak_memory_bytes" not in run:
        return [Check("a run with --memory 1G", "refused", met=False)]
    peak, same = run["peak_memory_bytes"], record["same_links"]
    return [
        Check("below 1.3 GiB with --memory 1G", f"{gib(peak)} GiB", peak < 1.3 * tables.GIB),
        Check("the same links", "the same" if same else "not the same", same),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, run all, keep the results and print them."""
    parser = tables.parser_of("memory", __doc__, "zh_en --ceilings 1G 4G")
    add = parser.add_argument
    add("pair", metavar="PAIR", type=Path, help="benchmark folder")
    add("--ceilings", nargs="+", default=["1G", "4G"], metavar="SIZE", help="[1G 4G]")
    add("--options", default=OPTIONS, help=f'options of sameas align ["{OPTIONS}"]')
    options = parser.parse_args(arguments)
    tables.keep("memory", options.results, measure(options))


if __name__ == "__main__":
    main()
