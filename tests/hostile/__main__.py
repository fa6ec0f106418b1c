"""All attempts, by kind; ``python -m tests.hostile --help`` says how."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from . import good, kills, server, table
from .attempt import Attempt, Outcome, started, tried, waited, warm_up

HEADER = "| kind | attempts | held | seconds | most MB |\n|---|--:|--:|--:|--:|\n"


def outcomes(
    kinds: list[str] | None = None, *, sample: float = 1.0, match: str = ""
) -> Iterator[Outcome]:
    """What comes of all attempts of some kinds, or of a part of them."""
    warm_up()
    with tempfile.TemporaryDirectory(prefix="sameas-hostile-") as name, server.serving() as address:
        folder = Path(name)
        folder.chmod(0o755)
        _lay_out(folder / "good")
        chance = random.Random(0)
        table.SOME = 1 if sample == 1 else 5
        for kind, made in table.attempts(folder, address).items():
            if kind not in (kinds or [kind]) or (kind == "memory" and sample < 1):  # takes minutes
                continue
            for number, attempt in enumerate(made()):
                words = f"{attempt.name} {' '.join(attempt.command)}"
                if chance.random() < sample and match in words:
                    yield tried(attempt, folder / f"{kind}-{number}")
        if "kills" in (kinds or ()) or (not kinds and sample == 1 and not match):
            yield from kills.killed(folder, count=round(kills.COUNT * sample))


def _lay_out(folder: Path) -> None:
    """Make the valid files, in a process of its own."""
    folder.mkdir()
    process = started(Attempt("", "", (), inside=lambda: good.lay_out(folder)), folder)
    if waited(process, 600)[0]:
        raise SystemExit(f"the valid files cannot be made: {process.said[1].decode()[-2000:]}")


def summary(found: list[Outcome]) -> str:
    """A table: attempts and those held, by kind."""
    kinds = list(dict.fromkeys(one.attempt.kind for one in found))
    rows = []
    for kind in [*kinds, "all"]:
        some = [one for one in found if kind in (one.attempt.kind, "all")]
        held = sum(not one.broken for one in some)
        spent = sum(one.seconds for one in some)
        most = max(one.megabytes for one in some)
        rows.append(f"| {kind} | {len(some):,} | {held:,} | {spent:.0f} | {most:,} |\n")
    return HEADER + "".join(rows)


def shown(one: Outcome) -> str:
    """An attempt that was not held, in a line."""
    words = " ".join(word if len(word) < 60 else f"{word[:20]}..." for word in one.attempt.command)
    said = " ".join(one.message.split())[:160]
    what = f"{one.attempt.kind}: {one.attempt.name[:60]!r}: {words!r}"
    return f"{what}: {'; '.join(one.broken)} | {said!r}"


def main() -> None:
    """Try all, print what was not held and a summary."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    add = parser.add_argument
    add("--only", nargs="+", metavar="KIND", help="only these kinds")
    add("--match", default="", help="only attempts whose name or command holds this text")
    add("--sample", type=float, default=1.0, metavar="SHARE", help="only this share of each kind")
    add("--report", type=Path, metavar="FILE", help="write the summary there, as Markdown")
    chosen = parser.parse_args()
    begin = time.perf_counter()
    found, causes = [], Counter()
    for one in outcomes(chosen.only, sample=chosen.sample, match=chosen.match):
        found.append(one)
        if one.broken:
            causes[one.broken[0]] += 1
            print(shown(one), flush=True)
    result = f"{summary(found)}\n{time.perf_counter() - begin:.0f} seconds in all.\n"
    print(result)
    if chosen.report:
        before, _, rest = chosen.report.read_text("utf8").partition(HEADER)
        after = rest.partition("seconds in all.\n")[2]
        chosen.report.write_text(before + result + after, "utf8")
    sys.exit(1 if causes else 0)


if __name__ == "__main__":
    main()
