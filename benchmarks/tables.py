"""Results of the benchmarks: kept as JSON, printed as tables, collected in RESULTS.md.

Run it from the root of the repository once the benchmarks have been run::

    python benchmarks/tables.py

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

from sameas.atomic import replacing_file
from sameas.reproduction.rendering import (
    NOTHING,
    Document,
    Plot,
    Section,
    Table,
    gib,
    markdown,
    table_of,
)

RESULTS = Path(__file__).parent / "results"
BENCHMARKS = ("speed", "solver", "ladder", "places", "memory", "resume", "reading", "cluster")
GIB = 2**30

Record = Mapping[str, Any]


class Check(NamedTuple):
    """What was asked for, what was found, and whether that is enough."""

    asked: str
    found: str
    met: bool


def save(file: Path, record: Record) -> None:
    """Write a record; it is there whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with replacing_file(file) as draft:
        draft.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf8")


def load(file: Path) -> dict[str, Any] | None:
    """What was saved there, or None if nothing was."""
    if not file.exists():
        return None
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf8"))
    return found


def rows_of(
    caption: str,
    records: Mapping[str, Record],
    columns: Mapping[str, tuple[str, Callable[[Any], str]]],
    *,
    first: str,
) -> Table:
    """A row for each record; ``columns`` are keys of records, with header and how to show them."""
    rows = [
        [name, *(_shown(record.get(key), show) for key, (_, show) in columns.items())]
        for name, record in records.items()
    ]
    return table_of(caption, [first, *(header for header, _ in columns.values())], rows)


def _shown(value: Any, show: Callable[[Any], str]) -> str:
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


def label(size: int) -> str:
    """A size as it is asked for.

    >>> label(300), label(15_000), label(1_000_000)
    ('300', '15k', '1M')
    """
    for unit, name in ((10**6, "M"), (10**3, "k")):
        if size >= unit and size % unit == 0:
            return f"{size // unit}{name}"
    return str(size)


def parts_of(name: str, record: Record) -> list[Table]:
    """The tables of a benchmark, the last of them what was asked for."""
    module = importlib.import_module(name)
    tables: list[Table] = module.tables_of(record)
    checks: list[Check] = module.checks_of(record)
    rows = [(check.asked, check.found, "met" if check.met else "NOT met") for check in checks]
    if rows:
        tables.append(table_of("What was asked for", ("asked for", "found", ""), rows))
    return tables


def report(name: str, record: Record) -> str:
    """The tables of one benchmark as text for a terminal."""
    return "\n".join(_text(table) for table in parts_of(name, record))


def _text(table: Table) -> str:
    rows = [[cell.text for cell in row] for group in table.groups for row in group]
    lines = [list(table.header), *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    shown = [
        "  ".join(
            text.rjust(width) if i else text.ljust(width)
            for i, (text, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    ]
    return "\n".join([table.caption, shown[0].rstrip(), "-" * len(shown[0]), *shown[1:], ""])


def results_page(folder: Path) -> str:
    """All results that are there, as Markdown."""
    sections = []
    for name in BENCHMARKS:
        for file in sorted(folder.glob(f"{name}*.json")):
            record = load(file)
            assert record is not None
            title = importlib.import_module(name).TITLE
            parts: list[Table | Plot] = [*parts_of(name, record)]
            if file.with_suffix(".svg").exists():
                parts.insert(-1, Plot(f"{folder.name}/{file.stem}", title))
            sections.append(Section(title, _about(record["machine"]), parts))
    text = "Made by `python benchmarks/tables.py` from `results/`."
    return markdown(Document("Results", [text], sections))


def _about(found: Record) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in found["packages"].items())
    return (
        f"{found['processor']}, {found['cores']} cores, {gib(found['memory_bytes'])} GiB, "
        f"{found['system']}; Python {found['python']}, {versions}."
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Write RESULTS.md."""
    parser = argparse.ArgumentParser(
        description="Collect the results of the benchmarks in one Markdown file.",
        epilog="example: python benchmarks/tables.py",
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
