"""``sameas align``: the main job."""

from __future__ import annotations

import shlex
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from sameas.cli.audit import audit_lines, why_no_audit
from sameas.cli.command import (
    START,
    command,
    graphs_argument,
    is_json,
    is_quiet,
    is_verbose,
    load_libraries,
    note,
    print_table,
    progress_display,
    say,
)
from sameas.cli.convert import note_not_held
from sameas.cli.many import align_graphs
from sameas.cli.output import Output, finished_phases, timed
from sameas.errors import printable
from sameas.formats.files import address_of
from sameas.graph.rdf.reading import Reading
from sameas.options.declare import Option
from sameas.options.options import Options, Preset, Where, make_options, refuse_unused

if TYPE_CHECKING:
    from sameas.graph.matched import MatchedGraph, MatchedPair
    from sameas.pipeline.phases import PhaseProgress
    from sameas.result.alignment import Alignment
    from sameas.text.languages.support import LanguageSupport

MANY, FEW, NEARLY = 0.1, 10, 5.0
"""Further partners are worth a note if they are more than this share of the links and than so
many, and score nearly as much as the partner."""
MATCHES_SHOWN = 5
"""Relation matches that --verbose shows; all are in the run folder."""
LONGEST_NAME = 45
"""Letters of a name in a table."""


@dataclass(frozen=True, kw_only=True)
class InputFiles:
    """The files that are given besides the graphs and their names."""

    word_vectors: Annotated[
        str | None,
        Option(
            "GloVe or word2vec text file; else the vectors of the extra sameas[glove].",
            metavar="FILE",
        ),
    ] = None
    embeddings: Annotated[
        str | None,
        Option("Feature rows to use instead of names: .npy or .parquet.", metavar="FILE"),
    ] = None
    seeds: Annotated[
        str | None,
        Option(
            "Links that are known: two columns (left, right), or a run folder, for those accepted "
            "in it.",
            metavar="FILE|RUN",
        ),
    ] = None
    reject: Annotated[
        str | None,
        Option(
            "Pairs that are known not to be links: two columns, or a run folder, for those "
            "rejected in it.",
            metavar="FILE|RUN",
        ),
    ] = None
    since: Annotated[
        str | None,
        Option(
            "A run of earlier versions of the graphs, whose links and decisions are kept where "
            "nothing contradicts them; where little has changed, that is much faster. Clusters of "
            "three graphs or more keep their names.",
            metavar="RUN",
        ),
    ] = None
    dictionary: Annotated[
        str | None,
        Option(
            "What texts in names mean in the other graph's language (two columns).",
            metavar="FILE",
        ),
    ] = None
    among: Annotated[
        str | None,
        Option(
            "Only entities of these links are candidates (the paper protocol).",
            metavar="FILE|gold",
        ),
    ] = None

    def given(self) -> dict[str, Any]:
        """The files that were given, by the name of their option."""
        return {name: file for name, file in asdict(self).items() if file is not None}


@command(
    """Link the entities of two graphs, or find the clusters of several.

    LEFT and RIGHT are tables of records (a row is an entity: .csv, .tsv, .parquet, .jsonl, .json,
    .xlsx; a folder of tables, or files with commas between them, whose columns may hold ids of
    each other), RDF (.nt, .nq, .ttl, .trig, .rdf, .owl, .xml, .jsonld, .ofn, .omn, .owx, .obo,
    plain or .gz, .bz2 or .zst; a folder of such files, a pattern in quotes, files with commas
    between them, - for standard input, or sparql+http://... for an endpoint), or tables of triples
    with a header (head, relation, tail); PAIR is a benchmark folder in the DBP15K or OpenEA
    layout. With MORE graphs, each two are aligned, and tables hold all members of clusters (entity,
    graph, cluster, confidence); a cluster has one member of each graph at most, unless the
    cardinality is many-to-many.
    """,
    examples=r"""
    sameas align left.csv right.csv -o links.csv --with name,city
    sameas align left.csv right.csv --id left=nr,right=key --name title -o -
    sameas align zh_en -o links.tsv
    sameas align left.tsv right.parquet --names names.tsv -o run
    sameas align left.nt.gz right.ttl --language en,de -o links.tsv
    sameas align left.csv right.csv --since last-week -o this-week
    sameas align one.ttl two.csv three.nt -o clusters.csv
    sameas align one.ttl two.csv three.nt --since run -o run2
    sameas align zh_en --preset paper --features hybrid \
        --word-vectors glove.6B.300d.txt --among gold -o run
    """,
)
@graphs_argument
def align(
    inputs: tuple[str, ...],
    *,
    preset: Annotated[
        Preset, Option("The best we know, or the method exactly as published.")
    ] = "best",
    names: Annotated[
        tuple[str, ...],
        Option(
            "Names of entities: a file for both sides, two files, or from the URIs.",
            metavar="FILE|uri",
        ),
    ] = (),
    output: Output,
    input_files: InputFiles,
    choices: Annotated[dict[str, Any], Options],
    reading: Reading,
    where: Where,
) -> dict[str, Any]:
    """Read, align and write; the summary of the run."""
    from sameas.pipeline.cluster import working
    from sameas.result.carried import check_carried
    from sameas.result.overwriting import refuse_inputs

    files, out = input_files.given(), output.out
    options = make_options(preset, **choices)
    refuse_unused(options, [*choices, *files], embeddings="embeddings" in files)
    write_out = output.writer()
    learned_from = [files.pop(name, None) for name in ("seeds", "reject", "since")]
    read = (*inputs, *names, *files.values(), *reading.query, options.encoder)
    refuse_inputs(out, read, learned_from=learned_from)
    if len(inputs) > 2:
        return align_graphs(
            inputs,
            names,
            options=options,
            output=output,
            files=input_files.given(),
            reading=reading,
            where=where,
        )
    seconds: dict[str, float] = {}
    with working(options, where), progress_display() as progress:

        def read_in() -> MatchedPair:
            with timed("reading", seconds, progress):
                pair = _read(inputs, names, reading)
                check_carried(pair, output.with_)
                return pair

        alignment = _aligned(read_in, options, input_files, out, progress)
        changed = changed_links(input_files, alignment)  # before that run may be replaced
        seconds.update(alignment.seconds)
        with timed("writing", seconds, progress):
            not_held = write_out(alignment)
        shutil.rmtree(finished_phases(out), ignore_errors=True)
    values = _values(alignment, seconds, out, not_held, changed)
    note_not_held(out, not_held)
    if output.is_printed:
        return values
    _show(alignment, values)
    say(f"Written to {values['output']}.", err=True)
    for step in _next_steps(inputs, out, alignment.pair.gold is not None):
        say(f"  {step}", err=True)
    return values


def _read(inputs: tuple[str, ...], names: tuple[str, ...], reading: Reading) -> MatchedPair:
    """The pair of graphs; meanwhile, the libraries of the stages that follow are loaded."""
    from sameas.formats.pair import read_pair

    load_libraries()
    names_given = names[0] if len(names) == 1 else names or None
    return read_pair(*inputs, names=names_given, reading=reading)


def _aligned(
    read: Callable[[], MatchedPair],
    options: Options,
    input_files: InputFiles,
    out: Path,
    progress: PhaseProgress,
) -> Alignment:
    """The alignment; finished phases are kept until it is written.

    Nobody else holds the pair as it was read, which is let go of once it is in order.
    """
    from sameas.pipeline.inputs import Given
    from sameas.pipeline.pair import align_pair

    given = Given(**input_files.given())
    return align_pair(read(), options, given, progress=progress, checkpoint=finished_phases(out))


def _values(
    alignment: Alignment,
    seconds: dict[str, float],
    out: Path,
    not_held: tuple[str, ...],
    changed: dict[str, int] | None,
) -> dict[str, Any]:
    """The summary of the run, as --json prints it."""
    from sameas.pipeline.memory import peak_memory  # which loads nearly everything

    pair = alignment.pair
    return {
        **alignment.summary(),
        "audit": None if alignment.audit is None else alignment.audit.asdict(),
        "seconds": {phase: round(value, 3) for phase, value in seconds.items()},
        "total_seconds": round(time.perf_counter() - START, 3),
        "peak_memory_bytes": peak_memory(),
        "resumed": list(alignment.resumed),
        "reading": {"left": pair.left.reading_counts, "right": pair.right.reading_counts},
        "output": address_of(out) or str(out),
        "not_held": list(not_held),
        **({"changed": changed} if changed else {}),
    }


def _show(alignment: Alignment, values: dict[str, Any]) -> None:
    """Print what came out, for people."""
    if is_quiet() or is_json():
        return
    if alignment.resumed:
        phases = ", ".join(alignment.resumed)
        text = f"went on from an interrupted run, whose finished phases were used: {phases}"
        note(text, always=False)
    print_table(_summary(alignment, values))
    print_table(_link_changes(values), header=("links", "why", "count"))
    if is_verbose():
        print_table(_how(alignment, values))
        print_table(
            _relation_matches(alignment),
            header=("left relation", "right relation", "match", "edges"),
        )
    _show_examples(alignment)
    used = alignment.diagnostics.languages
    for sentence in (*(used.notes if used else ()), *_doubles(alignment)):
        note(sentence, always=False)


def _show_examples(alignment: Alignment) -> None:
    """Print some of the surest links, and some of the least certain ones."""
    from sameas.result.examples import example_links

    examples = example_links(alignment.links, alignment.pair, alignment.inputs.seeds)
    titles = ("the surest links", "the least certain links")
    for title, links in zip(titles, examples, strict=True):
        rows = [(short(one.left), short(one.right), f"{one.confidence or 0:.2f}") for one in links]
        print_table(rows, header=(title, "", "confidence"))


def short(name: str) -> str:
    """A name that fits in a table."""
    text = printable(" ".join(name.split()))
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"


def _next_steps(inputs: tuple[str, ...], out: Path, gold: bool) -> Iterator[str]:
    """What can be done with the output, as commands."""
    if gold and len(inputs) == 1:
        command = shlex.join(["sameas", "evaluate", str(out), *inputs])
        yield f"compare with the gold links: {command}"
    if out.suffix or address_of(out):
        yield "look at links, decide, see why: -o FOLDER keeps all that review and explain need"
        return
    yield f"look at the links and decide: {shlex.join(['sameas', 'review', str(out)])}"
    yield f"why an entity has its link, or none: {shlex.join(['sameas', 'explain', str(out)])} NAME"


def _summary(alignment: Alignment, values: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """What came out."""
    from sameas.graph.labels import MOST_LETTERS

    figures = alignment.diagnostics
    graphs = {"left": alignment.pair.left, "right": alignment.pair.right}
    for side, graph in graphs.items():
        yield f"{side} graph", described(graph, values[f"{side}_entities"])
    yield "links", values["links"]
    if since := values.get("since"):
        texts = (f"{count:,} {change}" for change, count in since["links"].items())
        yield "since then", f"links: {', '.join(texts)}"
        for side in graphs:
            texts = (f"{count:,} {change}" for change, count in since[side].items())
            yield f"{side} since then", f"entities: {', '.join(texts)}"
    if changed := values.get("changed"):
        text = "{links:,} links because of {decisions:,} decisions: {new:,} new, {gone:,} gone"
        yield "changed", text.format(**changed)
    for side in graphs:
        unmatched, candidates = values[f"unmatched_{side}"], values[f"{side}_candidates"]
        yield f"{side} unmatched", f"{unmatched:,} of {candidates:,}"
    if alignment.audit is not None:
        yield from audit_lines(alignment.audit)
    elif figures.refinement_rounds is not None and not alignment.options.no_audit:
        yield "how good", f"cannot be told: {why_no_audit(alignment)}"
    if figures.same_iri:
        yield "same IRI", f"{figures.same_iri:,} things in both graphs, not listed (see --link)"
    if figures.kinds_meet:
        yield "kinds", "classes and individuals are linked: one graph has next to none of a kind"
    if figures.languages is not None:
        yield "languages", _languages(figures.languages)
    if figures.long_names:
        yield (
            "long names",
            f"{figures.long_names:,}, compared by their first {MOST_LETTERS:,} letters",
        )
    if figures.entities_without_features:
        yield "not comparable", f"{figures.entities_without_features:,} entities without any name"
    for side, graph in graphs.items():
        if graph.reading_counts:
            of_rdf = {"statements": 0, "malformed": 0} if graph.source.shape == "rdf" else {}
            counts = {**of_rdf, **graph.reading_counts}
            texts = (f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items())
            yield f"{side} input", ", ".join(texts)
    memory = values["peak_memory_bytes"]
    used = f", {memory / 2**30:.2f} GiB of memory" if memory else ""
    yield "took", f"{values['total_seconds']:.1f} seconds{used}"


def _how(alignment: Alignment, values: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """How the links were found, for those who want to know."""
    figures = alignment.diagnostics
    yield "solver", figures.solver
    unit = "profit"
    if figures.refinement_rounds is not None:
        unit = "log-odds"
        learned = f"{figures.anchors:,} anchors, {figures.relation_matches:,} relation matches"
        yield "refinement", f"{figures.refinement_rounds} rounds, {learned}"
    if (gap := figures.optimality_gap) is not None and gap < 1:
        bound = f"at most {gap:.2%} below the best possible" if gap else "the best possible"
        yield f"total {unit}", f"{figures.objective:,.1f}, {bound}"
    if figures.form == "candidates" and figures.candidate_pairs is not None:
        pairs = figures.left_candidates * figures.right_candidates
        if figures.candidate_pairs >= pairs:
            yield "compared", f"all {pairs:,} pairs"
        else:
            sample = "; {:.1%} of the best pairs of a sample are among them"
            recall = "" if figures.search_recall is None else sample.format(figures.search_recall)
            yield "compared", f"{figures.candidate_pairs:,} of {pairs:,} pairs{recall}"
    if figures.words_without_vector is not None:
        lacking = f"{figures.words_without_vector:,} of them without a vector"
        yield "words", f"{figures.words:,}, {lacking} ({figures.word_vectors})"
    phases = ", ".join(f"{phase} {value:.1f}" for phase, value in values["seconds"].items())
    yield "seconds", phases


def _link_changes(values: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """What became of the links of an earlier run, and why."""
    from sameas.result.changes import REASONS

    for row in values.get("since", {}).get("reasons", ()):
        yield row["change"], REASONS[row["reason"]], row["links"]


def described(graph: MatchedGraph, count: int) -> str:
    """What a graph holds; of records, which columns were taken for ids and names."""
    reading = graph.source.reading
    if graph.source.shape != "records":
        repeated = len(graph.triples) - len(graph.distinct_triples)
        again = f" ({repeated:,} repeated; each counts once)" if repeated else ""
        return f"{count:,} entities, {len(graph.triples):,} triples{again}"
    ids = ", ".join(f'"{column}"' for column in reading.id)
    id = f"id column {ids}" if ids else "row numbers are ids"
    names = ", ".join(f'"{column}"' for column in graph.name_paths)
    name = f"name column {names}" if names else "no names"
    relations = f", {len(graph.relations):,} relations" * bool(len(graph.relations))
    return f"{count:,} records, {id}, {name}{relations}"


def _languages(used: LanguageSupport) -> str:
    """The languages of names, and what was used to compare names across them."""
    sources = ", ".join(used.sources) or "the given one"
    means = [f"dictionaries ({sources})"] if used.glossed else []
    means += ["a sentence encoder"] * used.encoder
    means += ["a dictionary learnt from links"] * used.learnt
    if not used.foreign:
        return f"synonyms by {' and '.join(means)}"
    return f"{used.left} and {used.right}: {', '.join(means) or 'spelling alone'}"


def changed_links(input_files: InputFiles, alignment: Alignment) -> dict[str, int] | None:
    """What decisions of a run folder, given as seeds or rejected pairs, changed in its links.

    A link that has become another one is counted once.
    """
    from sameas.result.run_folder import is_run, read_run

    runs = {Path(file) for file in (input_files.seeds, input_files.reject) if file is not None}
    reviewed = [run for run in runs if is_run(run)]
    if len(reviewed) != 1:
        return None
    earlier, pair = read_run(reviewed[0]), ["left", "right"]
    gone = earlier.links.join(alignment.links, on=pair, how="anti")
    new = alignment.links.join(earlier.links, on=pair, how="anti")
    return {
        "links": len({*gone["left"], *new["left"]}),
        "decisions": 0 if earlier.decisions is None else len(earlier.decisions),
        "new": len(new),
        "gone": len(gone),
    }


def _doubles(alignment: Alignment) -> Iterator[str]:
    """What speaks for several partners of an entity, where only one is allowed."""
    import polars as pl

    single_left, single_right = alignment.options.single
    for side, other, choice, single in (
        ("left", "right", "many-to-one", single_right),
        ("right", "left", "one-to-many", single_left),
    ):
        linked = alignment.links.select(candidate=other, linked="score")
        unmatched = alignment.unmatched.filter(side=side).join(linked, on="candidate")
        count = len(unmatched.filter(pl.col("score") > pl.col("linked") - NEARLY))
        if single and count > max(MANY * len(alignment.links), FEW):
            yield (
                f"{count:,} {side} entities fit a {other} one nearly as well as its partner "
                f"does; if the {side} graph holds things twice, use `cardinality` {choice}"
            )


def _relation_matches(alignment: Alignment) -> Iterator[tuple[Any, ...]]:
    """The relations of which most edges were matched."""
    from sameas.graph.iri import last_part

    if alignment.relations is None:
        return
    matches = alignment.relations.sort("edges", descending=True, maintain_order=True)
    columns = matches["left", "right", "inverse", "match", "edges"]
    for left, right, inverse, match, edges in columns.head(MATCHES_SHOWN).iter_rows():
        name = last_part(right) + (" (inverse)" if inverse else "")
        yield last_part(left), name, f"{match:.2f}", edges
