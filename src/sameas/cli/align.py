"""``sameas align``: the main job."""

from __future__ import annotations

import shlex
import shutil
import time
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import click

from sameas.cli.reading import counts_in_words, reading_options, take_reading
from sameas.cli.terminal import (
    START,
    json_option,
    peak_memory,
    print_json,
    print_table,
    progress_display,
    warn,
)
from sameas.errors import OptionError

if TYPE_CHECKING:
    import polars as pl

    from sameas.alignment import Alignment
    from sameas.options import Options

EPILOG = """\b
Examples:
  sameas align zh_en -o links.tsv
  sameas align left.tsv right.parquet --names names.tsv -o run
  sameas align left.nt.gz right.ttl --language en,de -o links.tsv
  sameas align zh_en --preset paper --features hybrid \\
      --word-vectors glove.6B.300d.txt --among gold -o run
"""


IDLE_WITH_PARIS = {
    *("features", "text", "word_vectors", "embeddings", "adjacency", "depth", "solver"),
    *("temperature", "rounds", "seeds", "reject", "without", "candidates", "gap", "time_limit"),
}
"""Options that PARIS has no use for."""
MATCHES_SHOWN = 5
"""Relation matches in the summary; all are in the run folder."""


@click.command(epilog=EPILOG)
@click.argument("inputs", nargs=-1, required=True, metavar="LEFT RIGHT | PAIR")
@click.option(
    "-o",
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="Where the links go: .tsv, .csv, .parquet, .jsonl, .sssom.tsv, .nt, .ttl or .rdf; "
    "no suffix for a run folder.",
)
@click.option(
    "--predicate",
    default="sameAs",
    metavar="NAME|IRI",
    help="What RDF and SSSOM say of a link: sameAs, exactMatch, schema:sameAs or an IRI.",
)
@click.option(
    "--preset",
    type=click.Choice(["best", "paper"]),
    default="best",
    show_default=True,
    help="The best we know, or the method exactly as published.",
)
@click.option(
    "--method",
    type=click.Choice(["seu", "paris"]),
    help="Names spread over the graph (seu), or a second opinion: PARIS.  [seu]",
)
@click.option(
    "--features",
    type=click.Choice(["char", "word", "hybrid"]),
    help="What names are turned into: character n-grams, word vectors, both.  [char]",
)
@click.option(
    "--text",
    type=click.Choice(["weighted", "plain"]),
    help="N-grams: folded, weighted trigrams, or plain bigrams as published.  [weighted]",
)
@click.option(
    "--word-vectors",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="GloVe or word2vec text file; else the vectors of the extra sameas[glove].",
)
@click.option(
    "--embeddings",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Own feature rows instead of names: .npy or .parquet.",
)
@click.option(
    "--names",
    multiple=True,
    metavar="FILE|uri",
    help="Names of entities: a file for both sides, two files, or from the URIs.",
)
@click.option(
    "--adjacency",
    type=click.Choice(["relational", "plain", "random-walk", "laplacian"]),
    help="How neighbours are weighted.  [relational]",
)
@click.option("--depth", type=int, help="How many hops features are spread.  [2]")
@click.option(
    "--solver",
    type=click.Choice(["sinkhorn", "hungarian"]),
    help="Soft assignment, or the exact one.  [sinkhorn]",
)
@click.option(
    "--cardinality",
    type=click.Choice(["one-to-one", "one-to-many", "many-to-one", "many-to-many"]),
    help="How many partners a left and a right entity may have.  [one-to-one]",
)
@click.option("--iterations", type=int, help="Rounds of Sinkhorn.  [10]")
@click.option("--temperature", type=float, help="How soft Sinkhorn's plan is.  [0.02]")
@click.option(
    "--rounds", type=int, help="Rounds of refinement by neighbours that are linked; 0: none.  [4]"
)
@click.option(
    "--seeds",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Links that are known (two columns: left, right); never required.",
)
@click.option(
    "--reject",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Pairs that are known not to be links (two columns: left, right).",
)
@click.option(
    "--without",
    multiple=True,
    type=click.Choice(
        [
            *("folding", "numbers", "sounds", "boundaries", "rarity", "namesakes"),
            *("votes", "lacking", "relations"),
        ]
    ),
    metavar="PART",
    help="Leave a part of the preset best out, to see what it is good for: folding, numbers, "
    "sounds, boundaries, rarity, namesakes, votes, lacking or relations; can be repeated.",
)
@click.option(
    "--among",
    metavar="FILE|gold",
    help="Only entities of these links are candidates (the paper protocol).",
)
@click.option(
    "--candidates",
    type=int,
    metavar="K",
    help="Partners considered for each entity, from both sides; small problems take all.  [50]",
)
@click.option(
    "--gap",
    type=float,
    help="Let the exact solver stop once proven to be within this share of the best.  [0.0]",
)
@click.option(
    "--time-limit",
    type=float,
    metavar="SECONDS",
    help="Stop the exact solver after so long, with what it has proven by then.",
)
@click.option("--top", type=int, help="Ranked candidates kept per entity.  [10]")
@click.option("--memory", metavar="SIZE", help="Ceiling, such as 4G or 512M.  [4G]")
@click.option(
    "--min-confidence",
    type=float,
    help="Links less sure than this are dropped; the preset paper keeps all.  [0.5]",
)
@click.option("--seed", type=int, help="For what is left to chance: nothing today.  [0]")
@reading_options
@json_option
def align(
    inputs: tuple[str, ...],
    out: Path,
    predicate: str,
    preset: str,
    names: tuple[str, ...],
    as_json: bool,
    **chosen: Any,
) -> None:
    """Link the entities of two graphs.

    LEFT and RIGHT are RDF (.nt, .nq, .ttl, .trig, .rdf, .owl, .xml, .jsonld, plain or .gz, .bz2
    or .zst; a folder of such files, a pattern in quotes, files with commas between them, - for
    standard input, or sparql+http://... for an endpoint), or tables of triples (head, relation,
    tail: .tsv, .csv, .parquet); PAIR is a benchmark folder in the DBP15K or OpenEA layout.
    """
    from sameas.links import predicate_iri
    from sameas.reading import read_pair
    from sameas.writing import check_target, write

    reading = take_reading(chosen)
    options = make_options(preset, chosen)
    if len(inputs) > 2:
        raise OptionError(f"one PAIR or LEFT and RIGHT expected, got {len(inputs)} paths instead")
    predicate_iri(predicate)
    check_target(out)
    with progress_display(quiet=as_json) as progress:
        begin = time.perf_counter()
        progress("reading", 0.0)
        # The libraries of the stages that follow load while files are read.
        Thread(target=import_module, args=("sameas.pipeline",), daemon=True).start()
        pair = read_pair(*inputs, names=_names(names), reading=reading)
        progress("reading", 1.0)
        seconds = {"reading": time.perf_counter() - begin}
        from sameas.pipeline import align as align_pair

        kept = out.with_name(f".{out.name}.resume")
        alignment = align_pair(pair, options, progress=progress, checkpoint=kept)
        begin = time.perf_counter()
        progress("writing", 0.0)
        not_held = write(alignment, out, predicate=predicate)
        progress("writing", 1.0)
        shutil.rmtree(kept, ignore_errors=True)
        seconds.update(alignment.seconds, writing=time.perf_counter() - begin)
    report = {
        **alignment.summary(),
        "seconds": {phase: round(value, 3) for phase, value in seconds.items()},
        "total_seconds": round(time.perf_counter() - START, 3),
        "peak_memory_bytes": peak_memory(),
        "resumed": list(alignment.resumed),
        "reading": {"left": pair.left.reading_counts, "right": pair.right.reading_counts},
        "output": str(out),
        "not_held": list(not_held),
    }
    for sentence in not_held:
        warn(f"{out}: cannot hold {sentence}")
    if as_json:
        print_json(report)
    else:
        print_summary(alignment, report)
        click.echo(f"Written to {out}." + _next_step(inputs, out, alignment), err=True)


def make_options(preset: str, chosen: dict[str, Any]) -> Options:
    """The options of a preset, with those that were given on the command line."""
    from dataclasses import replace

    from sameas.options import PRESETS, parse_size

    given = {name: value for name, value in chosen.items() if value not in (None, ())}
    if "memory" in given:
        given["memory"] = parse_size(given["memory"])
    if given.get("among") not in (None, "gold"):
        given["among"] = Path(given["among"])
    idle = sorted(IDLE_WITH_PARIS & set(given))
    if given.get("method") == "paris" and idle:
        raise OptionError(f"{idle[0]} is not used by the method paris; leave it out")
    if "embeddings" in given and "features" in given:
        raise OptionError("embeddings take the place of features; give one of the two options")
    return replace(PRESETS[preset], **given)  # type: ignore[index]


def print_summary(alignment: Alignment, report: dict[str, Any]) -> None:
    """Print what came out, and what it took."""
    pair = alignment.pair
    gap = report["optimality_gap"]
    if report["resumed"]:
        note = ", ".join(report["resumed"])
        warn(f"went on from an interrupted run, whose finished phases were used: {note}")
    rows = [
        ("left graph", f"{len(pair.left.entities):,} entities, {len(pair.left.triples):,} triples"),
        (
            "right graph",
            f"{len(pair.right.entities):,} entities, {len(pair.right.triples):,} triples",
        ),
        ("links", f"{report['links']:,}"),
        ("left unmatched", f"{report['unmatched_left']:,} of {report['left_candidates']:,}"),
        ("right unmatched", f"{report['unmatched_right']:,} of {report['right_candidates']:,}"),
        ("solver", report["solver"]),
    ]
    if alignment.relations is not None:
        rows.append(
            (
                "refinement",
                f"{report['refinement_rounds']} rounds, {report['anchors']:,} anchors, "
                f"{len(alignment.relations):,} relation matches",
            )
        )
    if gap is not None:
        bound = f", at most {gap:.2%} below the best possible" if gap else ", the best possible"
        total = "total profit" if alignment.relations is None else "total log-odds"
        rows.append((total, f"{report['objective']:,.1f}{bound}"))
    if report.get("form") == "candidates":
        found = f"{report['candidate_pairs']:,} of {report['form_reason']}"
        if "search_recall" in report:
            found += f"; {report['search_recall']:.1%} of the best pairs of a sample are among them"
        rows.append(("candidates", found))
    if "words_without_vector" in report:
        rows.append(
            (
                "words",
                f"{report['words']:,}, {report['words_without_vector']:,} of them "
                f"without a vector ({report['word_vectors']})",
            )
        )
    if report.get("entities_without_features"):
        rows.append(("no features", f"{report['entities_without_features']:,} entities"))
    for side, graph in (("left", pair.left), ("right", pair.right)):
        if graph.reading_counts:
            rows.append((f"{side} input", counts_in_words(graph)))
    phases = ", ".join(f"{phase} {value:.1f}" for phase, value in report["seconds"].items())
    rows.append(("seconds", f"{report['total_seconds']:.1f} ({phases})"))
    if report["peak_memory_bytes"]:
        rows.append(("peak memory", f"{report['peak_memory_bytes'] / 2**30:.2f} GiB"))
    print_table(rows)
    if alignment.relations is not None and len(alignment.relations):
        _print_relations(alignment.relations)


def _print_relations(relations: pl.DataFrame) -> None:
    """Print the relations of which most edges were matched."""
    from sameas.iri import last_part

    top = relations.sort("edges", descending=True, maintain_order=True).head(MATCHES_SHOWN)
    print_table(
        [
            (
                last_part(left),
                f"{last_part(right)} (inverse)" if inverse else last_part(right),
                f"{match:.2f}",
                f"{edges:,}",
            )
            for left, right, inverse, match, edges in top.iter_rows()
        ],
        header=("left relation", "right relation", "match", "edges"),
    )


def _names(names: tuple[str, ...]) -> str | tuple[str, ...] | None:
    if not names:
        return None
    return names[0] if len(names) == 1 else names


def _next_step(inputs: tuple[str, ...], out: Path, alignment: Alignment) -> str:
    if alignment.pair.gold is None or len(inputs) != 1:
        return ""
    compare = shlex.join(["sameas", "evaluate", str(out), inputs[0]])
    return f" Gold links are known; to compare: {compare}"
