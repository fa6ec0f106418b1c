"""Results of the benchmarks: kept as JSON, shown as tables, collected in RESULTS.md.

Run it from the root of the repository once the benchmarks have been run::

    python -m benchmarks.tables

Each benchmark has a TITLE and turns its record into tables (``tables_of``) and into what was asked
for (``checks_of``).
"""

from __future__ import annotations

import argparse
import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from experiments.rendering import NOTHING, Plot, Section, Table, gib, render, table_of
from experiments.store import machine
from sameas.compute.atomic import replacing_file

RESULTS = Path(__file__).parent / "results"
BENCHMARKS = (
    *("speed", "solver", "ladder", "places", "memory", "resume", "reading", "cluster"),
    *("next_week", "many", "growth", "profile"),
)
GIB = 2**30

Record = Mapping[str, Any]
Columns = Mapping[str, tuple[str, Callable[[Any], str]]]
"""Keys of records, with their header and how to show them."""


class Check(NamedTuple):
    """What was asked for, what was found, and whether that is enough."""

    asked: str
    found: str
    met: bool


def parser_of(name: str, description: str, example: str) -> argparse.ArgumentParser:
    """The command line of a benchmark, with --results."""
    epilog = f"example: python -m benchmarks.{name} {example}"
    parser = argparse.ArgumentParser(description=description.split("\n")[0], epilog=epilog)
    file = RESULTS / f"{name}.json"
    parser.add_argument("--results", type=Path, default=file, help="where results go")
    return parser


def keep(name: str, file: Path, record: Record) -> None:
    """Write the record of a benchmark, with the machine that it came from, and print it."""
    save(file, {"machine": machine(), **record})
    print(report(name, load(file)))


def save(file: Path, record: Record) -> None:
    """Write a record; it is there whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with replacing_file(file) as draft:
        draft.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf8")


def load(file: Path) -> Any:
    """What was saved there, or None if nothing was."""
    return json.loads(file.read_text(encoding="utf8")) if file.exists() else None


def rows_of(
    caption: str,
    records: Mapping[str, Record],
    columns: Columns,
    *,
    first: str,
) -> Table:
    """A row for each record; ``columns`` are keys of records, with header and how to show them."""
    rows = [
        [name, *(shown(record.get(key), show) for key, (_, show) in columns.items())]
        for name, record in records.items()
    ]
    return table_of(caption, [first, *(header for header, _ in columns.values())], rows)


def phase_rows(runs: Mapping[str, Record]) -> list[list[str]]:
    """The seconds of each phase, a row for each phase and a column for each run."""
    phases = dict.fromkeys(phase for run in runs.values() for phase in run)
    return [[name, *(shown(run.get(name), seconds) for run in runs.values())] for name in phases]


def shown(value: Any, show: Callable[[Any], str]) -> str:
    """A value as text, if there is one."""
    return NOTHING if value is None else show(value)


def seconds(value: float) -> str:
    """Seconds, with more digits where they are few."""
    return f"{value:.2f}" if value < 10 else f"{value:,.1f}"


def ratio(value: float) -> str:
    """A ratio, below one as a fraction.

    >>> ratio(0.125), ratio(1.0), ratio(1.7)
    ('1/8.0', '1', '1.7')
    """
    return f"1/{1 / value:.1f}" if 0 < value < 0.995 else f"{value:.2g}"


def tiny(value: float) -> str:
    """A number near zero."""
    return "0" if value == 0 else f"{value:.1e}"


def report(name: str, record: Record) -> str:
    """The results of one benchmark as Markdown."""
    return render("report.md", "Results", [], [section_of(name, record)])


def section_of(name: str, record: Record, *plots: Plot) -> Section:
    """The results of a benchmark: its tables, its plots, and what was asked for."""
    module, about = importlib.import_module(f"benchmarks.{name}"), record["machine"]
    parts: list[Table | Plot] = [*module.tables_of(record), *plots]
    checks: list[Check] = module.checks_of(record)
    if rows := [(asked, found, "met" if met else "NOT met") for asked, found, met in checks]:
        parts.append(table_of("What was asked for", ("asked for", "found", ""), rows))
    versions = ", ".join(f"{package} {version}" for package, version in about["packages"].items())
    machine = (
        f"{about['processor']}, {about['cores']} cores, {gib(about['memory_bytes'])} GiB, "
        f"{about['system']}; Python {about['python']}, {versions}."
    )
    return Section(module.TITLE, machine, parts)


def results_page(folder: Path) -> str:
    """All results that are there, as Markdown."""
    sections = []
    for name in BENCHMARKS:
        title = importlib.import_module(f"benchmarks.{name}").TITLE
        for file in sorted(folder.glob(f"{name}*.json")):
            drawn = file.with_suffix(".svg").exists()
            plots = [Plot(f"{folder.name}/{file.stem}", title)] * drawn
            sections.append(section_of(name, load(file), *plots))
    text = "Made by `python -m benchmarks.tables` from `results/`."
    return render("report.md", "Results", [text], sections)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write RESULTS.md."""
    parser = argparse.ArgumentParser(
        description="Collect the results of the benchmarks in one Markdown file.",
        epilog="example: python -m benchmarks.tables",
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the JSON files")
    parser.add_argument("--out", type=Path, help="where to [RESULTS.md beside that folder]")
    options = parser.parse_args(arguments)
    if not any(options.results.glob("*.json")):
        parser.error(f"{options.results} has no results; run the benchmarks first")
    out = options.out or options.results.parent / "RESULTS.md"
    out.write_text(results_page(options.results), encoding="utf8")
    print(f"Written to {out}.")


if __name__ == "__main__":
    main()
