"""``sameas demo``: align the graphs that ship with the package."""

from __future__ import annotations

import shlex
import time
from typing import TYPE_CHECKING, Any

from sameas.cli.command import command, print_table, progress_display, say

if TYPE_CHECKING:
    import polars as pl

    from sameas.result.alignment import Alignment


@command(
    """Align two small graphs that ship with the package.

    Countries, languages, currencies and cities, in French from CLDR and in English from
    GeoNames; every link is compared with the true one.
    """,
    examples="""
    sameas demo
    sameas demo --json
    """,
)
def demo() -> dict[str, Any]:
    """Align the demo with both presets; the scores and ten links."""
    import sameas

    begin = time.perf_counter()
    with progress_display() as progress:
        pair = sameas.read_pair(sameas.DEMO)
        assert pair.gold is not None
        results = {
            preset: sameas.align(pair, options, progress=progress)
            for preset, options in sameas.PRESETS.items()
        }
    seconds = time.perf_counter() - begin
    scores = {name: sameas.evaluate(found, pair.gold) for name, found in results.items()}
    examples = _examples(results["best"], pair.gold)
    say(
        f"Two graphs of one world: {len(pair.left.entities):,} entities named in French (CLDR) and "
        f"{len(pair.right.entities):,} in English (GeoNames).\n{len(pair.gold):,} of them are on "
        "both sides; the others have no counterpart. No name was translated, no link was given."
    )
    say("\nHow well it did (all true links are known here, so every other link is wrong):")
    print_table(
        (
            (name, m.links, m.links_correct, m.strict_precision, m.recall, m.hits_at_1)
            for name, m in scores.items()
        ),
        header=("preset", "links", "correct", "precision", "recall", "Hits@1"),
    )
    say('Ten of the links of "best", from the surest to the least sure:')
    print_table(
        examples["left name", "right name", "confidence", "verdict"].iter_rows(),
        header=("French", "English", "confidence", "true?"),
    )
    data = shlex.quote(str(sameas.DEMO))
    say(f"Done in {seconds:.1f} s. The data is in {sameas.DEMO}. To try next:\n")
    say(f"  sameas inspect {data}\n  sameas align {data} -o run\n  sameas evaluate run {data}")
    say("  sameas align left.tsv right.tsv -o links.tsv    # tables of yours: head, relation, tail")
    return {
        "data": str(sameas.DEMO),
        "scores": {name: metrics.asdict() for name, metrics in scores.items()},
        "links": examples.to_dicts(),
        "total_seconds": round(seconds, 3),
    }


def _examples(alignment: Alignment, gold: pl.DataFrame) -> pl.DataFrame:
    """Ten links spread evenly over the confidences, with names and whether they are right."""
    import numpy as np
    import polars as pl

    links = alignment.links.sort(["confidence", "left"], descending=[True, False])
    rows = links[np.linspace(0, len(links) - 1, 10).round().astype(int).tolist()]
    left, right = alignment.pair.left, alignment.pair.right
    known = gold.with_columns(verdict=pl.lit("yes"))
    table: pl.DataFrame = rows.join(
        known, on=["left", "right"], how="left", maintain_order="left"
    ).with_columns(
        pl.col("verdict").fill_null("no"),
        pl.col("left").replace_strict(left.entities, left.names).alias("left name"),
        pl.col("right").replace_strict(right.entities, right.names).alias("right name"),
    )
    return table
