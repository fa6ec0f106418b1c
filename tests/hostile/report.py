"""Tables of docs/hostile.md: what was tried, what was held, what was mended since.

Each table stands between ``<!-- table: NAME -->`` and ``<!-- end of table -->``. Kinds that were
not tried this time keep their rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import sameas

from .attempt import Outcome
from .mended import MENDED

END = "<!-- end of table -->"
HEADER = ("kind", "tried", "held", "mended", "seconds", "most MB")
KILLS = ("command", "SIGKILL", "SIGTERM, SIGINT", "held")

Row = tuple[str, ...]


def attempts_table(outcomes: Iterable[Outcome], known: Iterable[Row] = ()) -> list[Row]:
    """A row of each kind and one of all; ``known`` are the rows of an earlier table."""
    by_kind = {row[0]: row for row in known if row[0] != "all"}
    kinds: dict[str, list[Outcome]] = {}
    for one in outcomes:
        kinds.setdefault(one.attempt.kind, []).append(one)
    for kind, some in kinds.items():
        held, seconds = sum(not one.broken for one in some), sum(one.seconds for one in some)
        most = max(one.megabytes for one in some)
        mended = len(MENDED.get(kind, ()))
        numbers = (len(some), held, mended, round(seconds), most)
        by_kind[kind] = (kind, *(f"{number:,}" for number in numbers))
    columns = list(zip(*(map(_number, row[1:]) for row in by_kind.values()), strict=True))
    totals = [sum(column) for column in columns[:-1]] + [max(columns[-1])] if columns else []
    return [*by_kind.values(), ("all", *(f"{number:,}" for number in totals))]


def kills_table(outcomes: Iterable[Outcome]) -> list[Row]:
    """A row of each command that was killed: how often, and how often nothing was lost."""
    commands: dict[str, list[Outcome]] = {}
    for one in sorted(outcomes, key=lambda one: one.number):
        commands.setdefault(_shown(one.attempt.command), []).append(one)
    rows = [
        (f"`{command}`", *_signals(some), str(sum(not one.broken for one in some)))
        for command, some in commands.items()
    ]
    totals = [str(sum(int(row[place]) for row in rows)) for place in (1, 2, 3)]
    return [*rows, ("all", *totals)]


def _signals(some: list[Outcome]) -> tuple[str, str]:
    """How many were SIGKILL, and how many others."""
    kills = sum(one.attempt.name.startswith("SIGKILL") for one in some)
    return str(kills), str(len(some) - kills)


def _shown(command: tuple[str, ...]) -> str:
    """A command as it is typed, without paths of this machine and tokens."""
    words = list(command)
    if "--token" in words:
        del words[words.index("--token") :]
    return " ".join("DEMO" if word == str(sameas.DEMO) else word.split("/")[-1] for word in words)


def markdown(header: Row, rows: Iterable[Row], *, numbers: bool = True) -> str:
    """A table; all columns but the first are ``numbers``, or texts."""
    lines = [header, ("---", *["--:" if numbers else "---"] * (len(header) - 1)), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def fill(page: Path, name: str, content: str) -> None:
    """Put a table, or a sentence, at its place in a page."""
    text = page.read_text("utf8")
    before, start, rest = text.partition(f"<!-- table: {name} -->\n")
    _, end, after = rest.partition(END)
    if not (start and end):
        raise SystemExit(f"{page}: there is no place for the table {name}")
    page.write_text(f"{before}{start}{content}{end}{after}", "utf8")


def rows_of(page: Path, name: str) -> list[Row]:
    """The rows of a table in a page."""
    rest = page.read_text("utf8").partition(f"<!-- table: {name} -->\n")[2]
    lines = rest.partition(END)[0].splitlines()[2:]
    return [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]


def _number(text: str) -> int:
    return int(text.replace(",", ""))
