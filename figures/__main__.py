"""``python -m figures DATA``: measure what README.md and docs state, and fill it in.

Run it from the root of the repository, with nothing else running::

    python -m figures DATA            # all that takes less than an hour: see --list
    python -m figures DATA --long     # the rest: a million entities, a cluster, the report
    python -m figures                 # measure nothing, fill the pages from docs/results

DATA holds the benchmark datasets and pairs of RDF files, as for ``python -m experiments``. What was
measured is kept in docs/results; it is measured again only if code that it depends on has changed,
or with --again. An interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from experiments.datasets import find_datasets
from experiments.store import code_checksum
from figures.blocks import BLOCKS, draw_plots
from figures.filling import fill_pages
from figures.measure import PARTS, Case, Part, Places, installed
from figures.results import ROOT, Results, make_entry
from sameas.errors import SameasError

FAILURES = (SameasError, RuntimeError, OSError, subprocess.SubprocessError)
"""What a measurement that fails raises."""


def say(message: str) -> None:
    """Print what is being done to standard error."""
    print(message, file=sys.stderr, flush=True)


def is_chosen(part: Part, case: str, only: Sequence[str], *, long: bool) -> bool:
    """Whether a case is to be measured: named by its part, by "part:case", or by neither."""
    if only:
        return part.name in only or f"{part.name}:{case}" in only
    return part.long == long


def missing(
    parts: Sequence[Part], places: Places, results: Results, *, again: bool
) -> Iterator[tuple[Part, Case, str]]:
    """The cases that were not measured with this code, each with the checksum of the code."""
    for part in parts:
        code = code_checksum(part.code, part.without)[:16]
        for name, measure in part.cases(places):
            entry = results.entries.get(part.name, {}).get(name)
            if again or entry is None or entry.code != code:
                yield part, (name, measure), code


def measure_missing(
    places: Places, results: Results, *, only: Sequence[str], long: bool, again: bool
) -> int:
    """Measure what is missing and keep each result at once; the number of cases that failed."""
    say(f"Installed for other languages: {', '.join(installed()) or 'nothing'}")
    known = {part.name for part in PARTS}
    for name in only:
        if name.partition(":")[0] not in known:
            raise SystemExit(f"--only must name one of {', '.join(sorted(known))}, got {name}")
    wanted = {name.partition(":")[0] for name in only}
    parts = [part for part in PARTS if (part.name in wanted if only else part.long == long)]
    failed = 0
    for part, (case, measure), code in missing(parts, places, results, again=again):
        if not is_chosen(part, case, only, long=long):
            continue
        say(f"{part.name}: {case}")
        begin = time.perf_counter()
        try:
            values = measure()
        except (
            SameasError,
            RuntimeError,
            OSError,
        ) as error:  # the others are measured all the same
            say(f"  failed: {error}")
            failed += 1
            continue
        seconds = time.perf_counter() - begin
        results.keep(part.name, case, make_entry(values, code=code, seconds=seconds))
        say(f"  {seconds:.0f} s")
    return failed


def listing(results: Results) -> str:
    """A line for each part: how long it takes, what is known of it."""
    lines = []
    for part in PARTS:
        code = code_checksum(part.code, part.without)[:16]
        entries = results.entries.get(part.name, {})
        current = sum(entry.code == code for entry in entries.values())
        command = "--long" if part.long else ""
        taken = sum(entry.seconds or 0 for entry in entries.values()) / 60
        lines.append(
            f"{part.name:12} {command:6} about {part.minutes:>4g} minutes ({taken:.1f} taken), "
            f"{len(entries)} cases known, {current} of them with this code"
        )
    for long, name in ((False, "first"), (True, "second")):
        total = sum(part.minutes for part in PARTS if part.long == long)
        lines.append(f"{name} command: about {total:g} minutes")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is missing, then fill all pages."""
    parser = argparse.ArgumentParser(
        prog="python -m figures",
        description="Measure what README.md and docs state, and fill it in.",
        epilog="example: python -m figures DATA --only real open:dbp15k/zh_en",
    )
    add = parser.add_argument
    add("data", nargs="?", type=Path, metavar="DATA", help="folder of datasets; without: only fill")
    add("--long", action="store_true", help="measure what takes longer than an hour instead")
    add("--only", nargs="+", default=[], metavar="PART[:CASE]", help="measure these alone")
    add("--again", action="store_true", help="measure also what is known")
    add("--list", action="store_true", help="show what there is, and measure nothing")
    add("--scratch", type=Path, help="where generated pairs go [a temporary folder]")
    add("--yardstick", type=Path, help="another script than experiments/plain.py for speed")
    options = parser.parse_args(arguments)
    results, failed = Results(), 0
    if options.list:
        print(listing(results))
        return
    if options.data:
        datasets = {dataset.key: dataset for dataset in find_datasets(options.data)}
        with tempfile.TemporaryDirectory(prefix="sameas-figures-") as folder:
            scratch = options.scratch or Path(folder)
            places = Places(datasets, options.data, scratch, options.yardstick)
            failed = measure_missing(
                places, results, only=options.only, long=options.long, again=options.again
            )
        draw_plots(results)
    for page in fill_pages(results, BLOCKS):
        say(f"filled {page.relative_to(ROOT)}")
    if failed:
        raise SystemExit(f"{failed} cases failed; see above")


if __name__ == "__main__":
    main()
