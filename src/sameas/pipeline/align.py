"""From two graphs to an Alignment: the stages in their order, one module per method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

from numpy.typing import NDArray

from sameas.assignment.exact import Certificate
from sameas.errors import OptionError
from sameas.formats.pair import read_graph, read_pair
from sameas.formats.tabular import graph_of_frame
from sameas.graph.graph import Graph, GraphPair
from sameas.graph.matched import MatchedGraph, MatchedPair
from sameas.graph.rdf.reading import SIDES, Reading
from sameas.graph.semantics.understanding import understand
from sameas.options.declare import wrong
from sameas.options.options import Options, Preset, make_options, refuse_unused
from sameas.options.tuning import TUNING, Tuning
from sameas.pipeline.bars import progress_bars
from sameas.pipeline.best import audit_refined, verify_refined
from sameas.pipeline.cluster import working
from sameas.pipeline.inputs import Given, Links
from sameas.pipeline.many import align_many
from sameas.pipeline.pair import align_pair
from sameas.pipeline.paper import verify_published
from sameas.pipeline.phases import PhaseProgress
from sameas.pipeline.since import Since
from sameas.pipeline.sources import GRAPHS, Source, is_place, is_table, names_of_graphs
from sameas.result.alignment import Alignment
from sameas.result.audit.record import Audit
from sameas.similarity.make_task import make_task

__all__ = ["align", "audit_alignment", "verify"]

Columns = str | tuple[str, str]
"""A column of both tables, or one of the left and one of the right table."""


def align(
    left: Source,
    right: Source | Options | None = None,
    *others: Source | Options,
    options: Options | None = None,
    id: Columns | None = None,
    name: Columns | None = None,
    preset: Preset | None = None,
    seeds: Links | None = None,
    reject: Links | None = None,
    among: Links | None = None,
    embeddings: tuple[NDArray[Any], NDArray[Any]] | str | PathLike[str] | None = None,
    word_vectors: Mapping[str, Any] | str | PathLike[str] | None = None,
    dictionary: Links | None = None,
    since: Since | None = None,
    progress: PhaseProgress | bool | None = None,
    checkpoint: str | PathLike[str] | None = None,
    engine: Any = None,
    device: Any = None,
    tuning: Tuning = TUNING,
    **choices: Any,
) -> Alignment:
    """The links between the entities of two graphs, or the clusters of several.

    ``left`` and ``right`` are two graphs, or one pair, or anything ``read_pair`` takes, or two
    tables (polars, pandas, Arrow, a mapping of columns, a list of dictionaries): a row is an
    entity, unless the columns are head, relation and tail. ``id`` and ``name`` are the columns of
    ids and names, found if not given; a tuple has those of the two sides. Options are
    given as an ``Options``, or as keywords on top of a preset: ``align(pair, preset="paper",
    solver="hungarian")``.

    With ``others``, three graphs or more are aligned, each two of them, and all links together make
    the ``clusters`` of the result; a cluster has one member of each graph at most, unless the
    cardinality is many-to-many.

    ``seeds`` are known links and ``reject`` pairs known not to be links; with ``among``, only
    entities of these links are candidates ("gold" for the pair's own). Each is a table with the
    columns left and right (polars, pandas, Arrow, or an iterable of pairs), or a file.
    ``embeddings`` are feature rows used instead of names: one array for the left and one for the
    right entities, or a file. ``word_vectors`` map words to vectors, or are a file.
    ``dictionary`` says what texts in names mean in the language of the other graph: a table with
    the columns text and gloss, or a file.

    ``since`` is an alignment of earlier versions of the graphs, or its run folder: its links and
    decisions are kept where nothing contradicts them, and ``changes`` of the result (of three
    graphs or more, ``clusters.changes``) tells what became of each link or cluster. Where little
    has changed, that takes much less time.

    ``progress`` is called with the phase and the share of it that is done; True shows bars (in a
    notebook) or lines. ``checkpoint`` is a
    folder that keeps the results of long phases: called again with the same input, options and
    folder after an interruption, ``align`` goes on from there. Delete it when the result is safe.

    ``engine`` is where the work is done: "threads" of this process, "dask" for a Dask cluster of
    processes on this machine, or a ``distributed.Client`` for any cluster. The links are the same.
    ``device`` is where dense work is done: "cpu", "gpu", or a device of JAX.

    ``tuning`` has the numbers of the method, for experiments; nothing needs to be tuned.
    """
    if isinstance(right, Options):
        right, options = None, right
    if others and isinstance(others[-1], Options):
        *others, options = others  # type: ignore[assignment]
    if options is None:
        options = make_options(preset or "best", **choices)
        refuse_unused(options, choices, embeddings=embeddings is not None)
    elif choices or preset is not None:
        name = next(iter(choices), "preset")
        raise OptionError(f"`{name}` was given beside an Options object; put it into that")
    given = Given(
        seeds=seeds,
        reject=reject,
        among=among,
        embeddings=embeddings,
        word_vectors=word_vectors,
        dictionary=dictionary,
        since=since,
    )
    if isinstance(progress, bool):
        progress = progress_bars() if progress else None
    with working(options, engine, device):
        if others:
            sources = (left, right, *others)
            return align_many(
                _graphs(sources, id, name),
                names_of_graphs(sources),
                options,
                given,
                progress=progress,
                checkpoint=checkpoint,
                tuning=tuning,
            )
        return align_pair(
            _pair(*_as_graphs(left, right, id, name), tuning),
            options,
            given,
            progress=progress,
            checkpoint=checkpoint,
            tuning=tuning,
        )


def _graphs(sources: Sequence[Source], id: Columns | None, name: Columns | None) -> list[Graph]:
    """Three graphs or more, whatever they are given as."""
    for option, columns in (("id", id), ("name", name)):
        if columns is not None and not isinstance(columns, str):
            raise wrong(option, "one column of all tables", columns)
    chosen: dict[str, Any] = {"id": id, "name": name}
    graphs = []
    for number, source in enumerate(sources, start=1):
        if is_table(source):
            graphs.append(graph_of_frame(source, f"table {number}", **chosen))
        elif is_place(source):
            given = [() if column is None else (column,) for column in chosen.values()]
            graphs.append(read_graph(source, reading=Reading(id=given[0], name=given[1])))
        elif isinstance(source, Graph | MatchedGraph):
            graphs.append(source.source if isinstance(source, MatchedGraph) else source)
        else:
            found = type(source).__name__
            raise OptionError(f"graph {number} must be a graph, a table or a file, got {found}")
    return graphs


def _pair(left: Source, right: Source | None, tuning: Tuning) -> MatchedPair:
    """The two graphs as they are matched, whatever they are given as."""
    if isinstance(left, GraphPair | MatchedPair):
        if right is not None:
            raise OptionError("`right` must be left out where `left` is a pair of graphs")
        if isinstance(left, MatchedPair) and tuning is TUNING:
            return left
        return replace(_matched(left.left, left.right, tuning), gold=left.gold)
    if isinstance(left, Graph | MatchedGraph) and isinstance(right, Graph | MatchedGraph):
        return _matched(left, right, tuning)
    if isinstance(left, Graph | MatchedGraph) or isinstance(right, Graph | MatchedGraph):
        other = right if isinstance(left, Graph | MatchedGraph) else left
        raise OptionError(
            f"`left` and `right` must be two graphs, got one graph and {type(other).__name__!r}; "
            "read the other one with sameas.read_graph"
        )
    if isinstance(right, GraphPair | MatchedPair):
        raise OptionError("`right` must be a graph or a file, got a pair of graphs")
    pair = read_pair(left, right)
    return pair if tuning is TUNING else _pair(pair, None, tuning)


def _as_graphs(
    left: Source, right: Source | None, id: Columns | None, name: Columns | None
) -> tuple[Source, Source | None]:
    """What was given, with graphs in place of tables, and of files beside columns or tables."""
    sources = [left] if right is None else [left, right]
    are_tables = [is_table(source) for source in sources]
    for source, side in zip(sources, SIDES, strict=False):
        if not (is_table(source) or is_place(source) or isinstance(source, GRAPHS)):
            found = type(source).__name__
            raise OptionError(f"`{side}` must be a graph, a table or a file, got {found} instead")
    if not any(are_tables) and id is None and name is None:
        return left, right
    if right is None:
        raise OptionError("`right` must be given beside a table, got one side alone")
    columns = [_columns_of("id", id), _columns_of("name", name)]
    graphs = []
    for number, (source, tabular) in enumerate(zip(sources, are_tables, strict=True)):
        chosen = {"id": columns[0][number], "name": columns[1][number]}
        if tabular:
            graphs.append(graph_of_frame(source, SIDES[number], **chosen))
        elif is_place(source):
            given = [() if column is None else (column,) for column in chosen.values()]
            graphs.append(read_graph(source, reading=Reading(id=given[0], name=given[1])))
        else:
            graphs.append(source)
    return graphs[0], graphs[1]


def _columns_of(option: str, given: Columns | None) -> tuple[str | None, str | None]:
    """The column of each side."""
    if given is None or isinstance(given, str):
        return given, given
    if not isinstance(given, tuple | list) or [type(one) for one in given] != [str, str]:
        raise wrong(option, "a column, or one for each side", given)
    return given[0], given[1]


def _matched(
    left: Graph | MatchedGraph, right: Graph | MatchedGraph, tuning: Tuning
) -> MatchedPair:
    """Two graphs as they are matched; what names their entities depends on both."""
    left, right = (
        graph.source if isinstance(graph, MatchedGraph) else graph for graph in (left, right)
    )
    return understand(GraphPair(left=left, right=right), tuning=tuning)


def audit_alignment(alignment: Alignment) -> Audit | None:
    """How good an alignment is, estimated without labels; None if there are too few links.

    An alignment that was made with ``no_audit``, or by an earlier version, is refined again.
    """
    if alignment.audit is not None:
        return alignment.audit
    if alignment.options.method == "paris" or not alignment.options.rounds:
        raise OptionError("an audit needs a run with refinement, got one without; align with best")
    return audit_refined(alignment)


def verify(alignment: Alignment) -> Certificate:
    """Check the proof that comes with an exact alignment: its prices against every pair.

    The profit is computed anew and the solver is not asked. A ``gap`` of zero means that no
    other assignment has a larger total profit than the alignment's objective. (After
    refinement, the pairs that count are its candidates.)
    """
    if alignment.prices is None:
        raise OptionError("`solver` must be hungarian for a proof, got an alignment without prices")
    task = make_task(alignment.pair, alignment.options, alignment.inputs, tuning=alignment.tuning)
    return (verify_refined if task.options.rounds else verify_published)(task, alignment)
