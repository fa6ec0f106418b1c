"""Commands about results: audit, evaluate, explain, convert, merge, report, reproduce."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from sameas.cli.command import (
    FILE,
    START,
    Side,
    command,
    note,
    print_table,
    run_argument,
    say,
)
from sameas.errors import OptionError

if TYPE_CHECKING:
    from sameas.audit.record import Audit

Links = Annotated[int, "from 0 to 1000"]
WORST = 3
"""Groups that the summary of a run names."""
WORSE = 0.02
"""How far the precision of such a group is below that of all links, at least."""


@command()
@run_argument
def audit(run: Path) -> dict[str, Any]:
    """Estimate how many links of a run are right, and how many were missed.

    RUN is a run folder that sameas align wrote. No gold links are needed: partners of links are
    taken away, and what their entities are linked with then shows how often an entity without a
    counterpart is linked. A run that has no audit yet is refined again. See docs/audit.md.

    Examples:
      sameas audit run
      sameas audit run --json
    """
    import sameas

    found = sameas.audit_alignment(sameas.read_run(run))
    if found is None:
        say("How good the run is cannot be told: there are too few links for an audit.")
        return {"audit": None}
    counts = f"{found.left_decoys:,} left and {found.right_decoys:,} right entities"
    decoys = "decoys", f"{counts} whose partner was taken away"
    print_table([*audit_lines(found), ("F1", f"about {found.f1:.3f}"), decoys])
    print_table(
        ((f"{point.probability:g}", f"{point.confidence:.3f}") for point in found.curve),
        header=("probability in the plan", "confidence"),
    )
    print_table(
        ((group.by, group.name, group.links, group.precision) for group in found.groups),
        header=("by", "group", "links", "share that is right"),
    )
    return {"audit": found.asdict()}


def audit_lines(found: Audit) -> Iterator[tuple[str, str]]:
    """The estimates in words."""
    between = f"between {round(found.right_low):,} and {round(found.right_high):,}"
    yield "right links", f"about {round(found.right):,} of {found.links:,} ({between})"
    between = f"between {round(found.missed_low):,} and {round(found.missed_high):,}"
    yield "missed", f"about {round(found.missed):,} counterparts ({between})"
    shares = f"{found.left_without:.0%} of the left, {found.right_without:.0%} of the right"
    yield "no counterpart", f"about {shares} entities"
    worse = [group for group in found.groups if group.precision < found.precision - WORSE]
    worst = sorted(worse, key=lambda group: group.precision)[:WORST]
    if worst:
        texts = (f"{each.by} {each.name} ({each.precision:.0%} right)" for each in worst)
        yield "worse than most", ", ".join(texts)


@command()
@click.argument("out", type=FILE)
@click.argument("gold", type=FILE)
def evaluate(
    out: Path, gold: Path, *, no_match: Path | None = None, complete: bool = False
) -> dict[str, Any]:
    """Compare links with gold links.

    OUT is a run folder or a file of links; GOLD is a two-column file of links or a benchmark
    folder. Gold links are taken as partial: precision and F1 are over the links that touch an
    entity which gold mentions, strict precision and strict F1 over all links. With --complete,
    precision is over all links of the kinds that gold mentions; a file of links does not tell
    kinds, so there it is the strict one. The calibration error says how far the confidence of the
    judged links is from the share of them that is right. With --no-match, unmatched recall is the
    share of those entities that have no link. Gold that does not fit the graphs is pointed out.

    Options:
      no_match FILE: Entities known to have no counterpart, one a line; any link of them is wrong.
      complete: Gold has all links of the kinds of entities (individuals, classes, properties)
        that it mentions: any other link of these kinds is wrong.

    Examples:
      sameas evaluate run zh_en
      sameas evaluate links.tsv gold.tsv --json
      sameas evaluate run gold.tsv --no-match nobody.txt
      sameas evaluate run gold.rdf --complete
    """
    import sameas
    from sameas.reading.tables import read_table

    found = sameas.read_run(out) if out.is_dir() else sameas.read_links(out)
    excluded = None if no_match is None else read_table(no_match, ("entity",))["entity"]
    known = sameas.read_gold(gold)
    metrics = sameas.evaluate(found, known, no_match=excluded, complete=complete)
    scores = metrics.asdict()
    print_table((name.replace("_", " "), score) for name, score in scores.items())
    if not out.is_dir():
        say("Hits and MRR need ranked candidates: align with -o RUN (no suffix) to keep them.")
    return {**scores, "warnings": metrics.warnings}


@command()
@run_argument
@click.argument("entity")
@click.argument("other", required=False)
def explain(
    run: Path,
    entity: str,
    other: str | None,
    *,
    side: Side | None = None,
    drawing: Path | None = None,
) -> dict[str, Any]:
    """Say why ENTITY has the partner it has, or none; with OTHER, why not that one.

    RUN is a run folder that sameas align wrote. Entities are given by URI, or by a name (or the
    last part of the URI) that only they have. The score is taken apart: the parts add up to it.

    Options:
      side: The graph that ENTITY is from.  [left, else right]
      drawing FILE: Also draw both neighbourhoods side by side: .svg, or .html with the text.

    Examples:
      sameas explain run http://fr.dbpedia.org/resource/Londres
      sameas explain run Londres
      sameas explain run Londres "London, Ontario"
      sameas explain run London --side right --json
      sameas explain run Londres --drawing londres.svg
    """
    import sameas
    from sameas.atomic import replacing_file

    if drawing is not None and drawing.suffix not in (".svg", ".html"):
        raise OptionError(f"`drawing` must end in .svg or .html, got {str(drawing)!r} instead")
    explanation = sameas.read_run(run).explain(entity, other, side=side)
    written = ""
    if drawing is not None:
        text = explanation.drawing() if drawing.suffix == ".svg" else explanation.page()
        with replacing_file(drawing) as draft:
            draft.write_text(text, encoding="utf8")
        written = f"\n\nDrawing written to {drawing}."
    say(f"{explanation}{written}")
    return explanation.asdict()


@command()
@click.argument("source", metavar="IN", type=FILE)
@click.argument("target", metavar="OUT", type=FILE)
def convert(
    source: Path, target: Path, *, predicate: str | None = None, meta: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Write links in another format.

    IN is a file of links, or a run folder, whose links are written as its reviewers decided. The
    suffixes of IN and OUT decide: .tsv, .csv, .parquet, .jsonl, .sssom.tsv, .nt, .ttl or .rdf
    (Alignment API). What OUT cannot hold is said on standard error.

    Options:
      predicate NAME|IRI: What RDF and SSSOM say of a link: sameAs, exactMatch, schema:sameAs or
        an IRI; else what IN says; of a run, what fits the left entity.
      meta NAME=VALUE: Metadata of SSSOM: license, mapping_set_id, subject_source, mapping_date,
        ...

    Examples:
      sameas convert run links.tsv
      sameas convert run links.sssom.tsv --meta license=https://example.org/cc0
      sameas convert links.parquet links.nt --predicate exactMatch
      sameas convert oaei.rdf links.jsonl
    """
    from sameas.links import predicate_iri
    from sameas.reading.links import read_link_set
    from sameas.writing import prepare, read_run
    from sameas.writing.curated import curated

    statements = {name: value for name, _, value in (text.partition("=") for text in meta)}
    write_out = prepare(target, predicate=predicate, meta=statements)
    iri = None if predicate is None else predicate_iri(predicate)
    skipped: list[str] = []
    if source.is_dir():
        run = read_run(source)
        not_held, count = write_out(run), len(curated(run).links)
    else:
        found = read_link_set(source, predicate=iri)
        not_held, count, skipped = write_out(found), len(found.links), list(found.skipped)
    for sentence in skipped:
        note(f"{source}: left out: {sentence}")
    note_not_held(target, not_held)
    say(f"{count:,} links written to {target}.")
    return {"links": count, "output": str(target), "skipped": skipped, "not_held": not_held}


def note_not_held(path: Path, not_held: Iterable[str]) -> None:
    """Say on standard error what a file cannot hold."""
    for sentence in not_held:
        note(f"{path}: cannot hold {sentence}")


@command()
@run_argument
def merge(run: Path, *, out: Path, keep: Side = "left") -> dict[str, Any]:
    """Write the two graphs of a run as one, in which linked entities are one.

    RUN is a run folder. A linked entity has the IRI of the left graph (or of the right one),
    and a triple (owl:sameAs, or what fits a class, a property or a SKOS concept) leads from
    there to the IRI that was replaced. RDF is written as it was read. In N-Quads (.nq) every triple
    is in its own named graph, or in one that says which graph it came from.

    Options:
      out OUT: Where the graph goes: .nt, .ttl or .nq, plain, .gz or .zst.
      keep: Whose IRI a linked entity has.

    Examples:
      sameas merge run -o merged.nt
      sameas merge run -o merged.nq.gz --keep right
    """
    import sameas

    merged = sameas.merge(sameas.read_run(run), out, keep=keep)
    total = sum(merged.triples.values())
    note_not_held(out, merged.not_held)
    parts = ", ".join(f"{count:,} {part}" for part, count in merged.triples.items())
    say(f"{total:,} triples written to {out} ({parts}).")
    counts = {f"{part}_triples": count for part, count in merged.triples.items()}
    return {"triples": total, **counts, "output": str(out), "not_held": merged.not_held}


@command()
@run_argument
def report(run: Path, *, out: Path, links: Links = 25) -> dict[str, Any]:
    """Write a run as one HTML file that needs nothing else, to be mailed.

    It holds counts, confidences, relation matches, how the run was made, and the least certain
    links with how their scores come about.

    Options:
      out OUT: The file to write: .html.
      links N: How many of the least certain links are in it.

    Examples:
      sameas report run -o report.html
      sameas report run -o report.html --links 100
    """
    from sameas.review.report import write_report

    shown = write_report(run, out, count=links)
    say(f"Written to {out}, with {shown} links.")
    return {"output": str(out), "links": shown}


@command()
@click.argument("data", type=FILE)
def reproduce(
    data: Path,
    *,
    report: Path = Path("report"),
    only: tuple[str, ...] = (),
    word_vectors: Path | None = None,
) -> dict[str, Any]:
    """Repeat the paper's whole evaluation.

    Every table and figure comes beside the published figures.

    DATA holds dataset folders at any depth, and pairs of RDF files (folders with left.*, right.*
    and gold.tsv) for the section on real RDF. What is in the report already is not run again
    unless data, settings or code have changed, so an interrupted run goes on where it stopped.

    Options:
      report DIR: Where tables, plots and results.json go.
      only NAME,...: Experiments or datasets to run, separated by commas or given one by one.
      word_vectors FILE: GloVe or word2vec text file; else the vectors of the extra sameas[glove].

    Examples:
      sameas reproduce data
      sameas reproduce data --report report --word-vectors glove.6B.300d.txt
      sameas reproduce data --only main --only srprs/de_en
      sameas reproduce data --only real
    """
    from sameas.reproduction import reproduce as run

    def progress(done: int, total: int, what: str) -> None:
        say(f"{done}/{total} {what}", err=True)

    results = run(data, report, only=only, word_vectors=word_vectors, progress=progress)
    if results["word_vectors"] is None:
        say("No word vectors at hand: only char rows were run. See --word-vectors, sameas[glove].")
    say(f"{len(results['results'])} results in {report / 'results.json'}.")
    say(f"Read {report / 'report.md'}, or open {report / 'report.html'} in a browser.")
    return {**results, "total_seconds": round(time.perf_counter() - START, 3)}
