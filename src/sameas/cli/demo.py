"""``sameas demo``: align the graphs that ship with the package."""

from __future__ import annotations

import shlex
import time
from typing import TYPE_CHECKING, Any

from sameas.cli.command import command, load_libraries, print_table, progress_display, say

if TYPE_CHECKING:
    import polars as pl

    from sameas.graph.matched import MatchedPair


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
    load_libraries()
    with progress_display() as progress:
        pair = sameas.read_pair(sameas.DEMO)
        assert pair.gold is not None
        results = {
            preset: sameas.align(pair, options, progress=progress)
            for preset, options in sameas.PRESETS.items()
        }
    seconds = time.perf_counter() - begin
    scores = {name: sameas.evaluate(alignment, pair.gold) for name, alignment in results.items()}
    shown = sample_links(results["best"].links, pair)
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
    say('Ten of the links of "best", one from every tenth of the list:')
    columns = shown["left name", "right name", "confidence", "verdict"]
    # Processors differ in the third decimal, and of unsure links in the second.
    print_table(
        (
            (french, english, f"{confidence:.2f}", verdict)
            for french, english, confidence, verdict in columns.iter_rows()
        ),
        header=("French", "English", "confidence", "true?"),
    )
    data = shlex.quote(str(sameas.DEMO))
    say(f"Done in {seconds:.1f} s. The data is in {sameas.DEMO}. To try next:\n")
    say(f"  sameas inspect {data}\n  sameas align {data} -o run\n  sameas evaluate run {data}")
    say("  sameas align left.tsv right.tsv -o links.tsv    # tables of yours: head, relation, tail")
    return {
        "data": str(sameas.DEMO),
        "scores": {name: metrics.asdict() for name, metrics in scores.items()},
        "links": shown.to_dicts(),
        "total_seconds": round(seconds, 3),
    }


def sample_links(links: pl.DataFrame, pair: MatchedPair) -> pl.DataFrame:
    """Ten links with the names of their entities and whether gold has them.

    They are spread evenly over the left ids, in their order: the choice depends on which links
    there are, and not on the last digits of their scores, which differ between processors.
    """
    import numpy as np
    import polars as pl

    ordered = links.sort("left", "right")
    rows = ordered[np.linspace(0, len(links) - 1, 10).round().astype(int).tolist()]
    assert pair.gold is not None
    known = pair.gold.with_columns(verdict=pl.lit("yes"))
    table: pl.DataFrame = rows.join(
        known, on=["left", "right"], how="left", maintain_order="left"
    ).with_columns(
        pl.col("verdict").fill_null("no"),
        pl.col("left").replace_strict(pair.left.entities, pair.left.names).alias("left name"),
        pl.col("right").replace_strict(pair.right.entities, pair.right.names).alias("right name"),
    )
    return table
