"""A graph of last week and one of today: how long ``align --since`` takes, and what it keeps.

Run it from the root of the repository::

    python -m benchmarks.next_week ../shared/data/dbp15k/zh_en

The pair is taken for today's. Last week's is made of it: on each side some entities are not there
yet, others have another name, some triples are missing, others lead elsewhere, and a few entities
are there that today's pair lacks. Today's pair is then aligned as a whole, and since last week.
"""

from __future__ import annotations

import json
import tempfile
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks import tables
from benchmarks.processes import in_turn, measured, say
from benchmarks.tables import Check, seconds
from experiments.rendering import Table, count, table_of

TITLE = "Next week"
SHARE = 0.05
SIDES = ("1", "2")
NAMES = "translated_names.json"


@dataclass(frozen=True)
class Side:
    """One graph of a folder in the DBP15K layout."""

    entities: pl.DataFrame
    """id, uri."""
    triples: pl.DataFrame
    """head, relation, tail."""


@dataclass(frozen=True)
class Week:
    """A pair at a time."""

    sides: tuple[Side, Side]
    names: dict[int, list[str]]
    """The words of the name of each entity, where names are given."""


def read_week(folder: Path) -> Week:
    """The pair in a folder."""
    sides = (
        Side(
            _table(folder / f"ent_ids_{side}", {"id": pl.Int64, "uri": pl.String}),
            _table(folder / f"triples_{side}", dict.fromkeys(("h", "r", "t"), pl.Int64)),
        )
        for side in SIDES
    )
    file = folder / NAMES
    names = dict(json.loads(file.read_text(encoding="utf8"))) if file.exists() else {}
    left, right = sides
    return Week((left, right), names)


def _table(file: Path, schema: Mapping[str, Any]) -> pl.DataFrame:
    text = file.read_text(encoding="utf8").replace("\r", "").encode()
    return pl.read_csv(text, separator="\t", has_header=False, schema=schema, quote_char=None)


def weeks_of(today: Week, share: float, rng: np.random.Generator) -> tuple[Week, Week]:
    """The pair of last week and that of today.

    Of the entities of a side, half the ``share`` are new and half have another name; of the
    triples between others, half are new and half lead elsewhere. A fifth of the share of the
    entities are there last week alone.
    """
    sides: list[tuple[Side, Side]] = []
    names = today.names.copy()
    for side in today.sides:
        ids = rng.permutation(side.entities["id"].to_numpy())
        half, fifth = round(share / 2 * len(ids)), round(share / 5 * len(ids))
        new, renamed, gone = np.split(ids[: 2 * half + fifth], [half, 2 * half])
        before = _without(side, new)
        names.update({id: other_name(names[id], rng) for id in renamed.tolist() if id in names})
        sides.append((_other_triples(before, share, rng), _without(side, gone)))
    (left, left_now), (right, right_now) = sides
    return Week((left, right), names), replace(today, sides=(left_now, right_now))


def _without(side: Side, entities: np.ndarray) -> Side:
    """A graph without some entities and their triples."""
    out = entities.tolist()
    kept = ~(pl.col("h").is_in(out) | pl.col("t").is_in(out))
    return Side(side.entities.filter(~pl.col("id").is_in(out)), side.triples.filter(kept))


def _other_triples(side: Side, share: float, rng: np.random.Generator) -> Side:
    """A graph of which half the share of triples are missing, and as many lead elsewhere."""
    order = rng.permutation(len(side.triples))
    half = round(share / 2 * len(order))
    tails = side.triples["t"].to_numpy().copy()
    tails[order[half : 2 * half]] = rng.choice(side.entities["id"].to_numpy(), half)
    kept = np.sort(order[half:])
    return replace(side, triples=side.triples.with_columns(t=pl.Series(tails))[kept])


def other_name(words: Sequence[str], rng: np.random.Generator) -> list[str]:
    """Another name of a thing: without one of its words, or with two letters exchanged.

    >>> other_name(["abdullah", "gul"], np.random.default_rng(0))
    ['abdullah']
    """
    if len(words) > 1:
        out = int(rng.integers(len(words)))
        return [word for place, word in enumerate(words) if place != out]
    word = "".join(words)
    place = int(rng.integers(max(len(word) - 1, 1)))
    return [word[:place] + word[place : place + 2][::-1] + word[place + 2 :]]


def write_week(week: Week, like: Path, folder: Path) -> None:
    """Write a pair in the layout of a folder, with the gold links whose ends are there."""
    folder.mkdir(parents=True)
    ids: list[int] = []
    for number, side in zip(SIDES, week.sides, strict=True):
        relations = f"rel_ids_{number}"
        (folder / relations).write_bytes((like / relations).read_bytes())
        for name, table in (("ent_ids", side.entities), ("triples", side.triples)):
            file = folder / f"{name}_{number}"
            table.write_csv(file, separator="\t", include_header=False, quote_style="never")
        ids += side.entities["id"].to_list()
    for name in ("ref_ent_ids", "sup_ent_ids"):
        if (like / name).exists():
            links = _table(like / name, {"left": pl.Int64, "right": pl.Int64})
            links = links.filter(pl.col("left").is_in(ids) & pl.col("right").is_in(ids))
            links.write_csv(folder / name, separator="\t", include_header=False)
    if week.names:
        words = [[id, week.names[id]] for id in ids if id in week.names]
        (folder / NAMES).write_text(json.dumps(words), encoding="utf8")


def measure(given: Namespace) -> dict[str, Any]:
    """Last week's run, and today's pair aligned as a whole and since then, in turn."""
    rng = np.random.default_rng(given.seed)
    before, today = weeks_of(read_week(given.pair), given.share, rng)
    with tempfile.TemporaryDirectory(prefix="sameas-week-") as name:
        folder = Path(name)
        for week, place in ((before, "before"), (today, "today")):
            write_week(week, given.pair, folder / place)
        say("last week")
        first = measured(folder / "before", folder / "run", given.options)
        since = f"{given.options} --since {folder / 'run'}"
        programs = {
            "whole": lambda: measured(folder / "today", folder / "whole", given.options),
            "since": lambda: measured(folder / "today", folder / "next", since),
        }
        runs = in_turn(programs, given.repeat)
        links = [pl.read_parquet(folder / run / "links.parquet") for run in ("whole", "next")]
        both = len(links[0].join(links[1], on=["left", "right"]))
    kept = ("total_seconds", "cpu_seconds", "phases", "links", "precision", "recall", "f1")
    medians = {
        name: sorted(each, key=lambda run: run["total_seconds"])[len(each) // 2]
        for name, each in runs.items()
    }
    return {
        "settings": {"pair": given.pair.name, "share": given.share, "options": given.options},
        "before": {key: first[key] for key in kept},
        **{name: {key: run[key] for key in kept} for name, run in medians.items()},
        "changes": medians["since"]["since"],
        "links_in_both": both,
    }


def tables_of(record: Mapping[str, Any]) -> list[Table]:
    """The two runs beside each other, and what became of the links."""
    settings = record["settings"]
    columns: tables.Columns = {
        "total_seconds": ("s", seconds),
        "cpu_seconds": ("CPU s", seconds),
        "links": ("links", count),
        "precision": ("precision", fraction),
        "recall": ("recall", fraction),
        "f1": ("F1", fraction),
    }
    runs = {"last week": record["before"], "whole": record["whole"], "since": record["since"]}
    caption = f"{settings['pair']}, {settings['share']:.0%} changed or new"
    rows = [(row["change"], row["reason"], count(row["links"])) for row in changed(record)]
    return [
        tables.rows_of(caption, runs, columns, first="run"),
        table_of("What became of links", ("links", "why", "count"), rows),
    ]


def changed(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """How many links are kept, new, changed and gone, by reason."""
    reasons: list[dict[str, Any]] = record["changes"]["reasons"]
    return reasons


def checks_of(record: Mapping[str, Any]) -> list[Check]:
    """Less time than a whole run, links as good, and most of them kept."""
    whole, since, links = record["whole"], record["since"], record["changes"]["links"]
    times = since["total_seconds"] / whole["total_seconds"]
    share = links["kept"] / max(record["before"]["links"], 1)
    return [
        Check("clearly less time than a whole run", tables.ratio(times), times < 0.75),
        Check(
            "F1 as good, within .005",
            f"{since['f1']:.4f} and {whole['f1']:.4f}",
            since["f1"] > whole["f1"] - 0.005,
        ),
        Check("most links kept", f"{share:.1%} of last week's", share > 0.9),
    ]


def fraction(value: float) -> str:
    """A score with four digits."""
    return f"{value:.4f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, measure, keep the results and print them."""
    parser = tables.parser_of("next_week", __doc__, "../shared/data/dbp15k/zh_en")
    add = parser.add_argument
    add("pair", metavar="PAIR", type=Path, help="benchmark folder in the DBP15K layout")
    add("--share", type=float, default=SHARE, help=f"of entities and triples [{SHARE}]")
    add("--seed", type=int, default=0, help="of what is changed [0]")
    add("--options", default="", help="further options of sameas align")
    add("--repeat", type=int, default=1, help="runs of which the median counts [1]")
    options = parser.parse_args(arguments)
    tables.keep("next_week", options.results, measure(options))


if __name__ == "__main__":
    main()
