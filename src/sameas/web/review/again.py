"""Align again with what reviewers decided, in another process, while the review goes on."""

from __future__ import annotations

import shutil
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from threading import Lock

import polars as pl

from sameas.compute.atomic import hidden_beside, replacing_folder
from sameas.errors import OptionError, SameasError
from sameas.pipeline.align import align
from sameas.pipeline.cluster import working
from sameas.pipeline.dedupe import dedupe_graph
from sameas.pipeline.inputs import Given
from sameas.result.alignment import Alignment
from sameas.result.clusters import Clusters
from sameas.result.curated import curated
from sameas.result.decisions import copy_decisions, decided_links, read_decisions
from sameas.result.run_folder import read_run, write_run
from sameas.web.review.parameters import Record


@dataclass
class Again:
    """The last time that a run was aligned again; one at a time."""

    running: bool = False
    result: Record | None = None
    problem: str | None = None

    def state(self) -> Record:
        """Whether it is running, what came of it, and a text that says so."""
        text = self.problem or ""
        if self.running:
            text = "Aligning again. You can go on deciding."
        elif self.result:
            text = summary(self.result)
        return {"running": self.running, "result": self.result, "text": text}

    def start(self, run: Path, writing: Lock) -> Record:
        """Start it in another process; the new run takes the place of the old one at the end.

        Decisions that are made meanwhile are kept; ``writing`` is held while the runs are
        exchanged.
        """
        if self.running:
            raise OptionError("the run is being aligned again already; wait for it")
        check(read_run(run))
        self.running, self.result, self.problem = True, None, None
        draft = hidden_beside(run, "again")
        pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
        future = pool.submit(aligned_again, run, draft)

        def done(future: Future[Record]) -> None:
            try:
                result = future.result()
                with writing:
                    _exchange(run, draft)
                self.result = result
            except SameasError as error:
                self.problem = str(error)
            except Exception as error:
                self.problem = f"internal fault ({type(error).__name__}: {error})"
            finally:
                shutil.rmtree(draft, ignore_errors=True)
                self.running = False
                pool.shutdown(wait=False)

        future.add_done_callback(done)
        return self.state()


def check(alignment: Alignment) -> None:
    """Raise an OptionError if a run cannot be aligned again from its run folder alone."""
    inputs = alignment.inputs
    if not alignment.options.rounds or alignment.options.method != "seu":
        raise OptionError("decisions teach only a run with refinement (the preset best)")
    if inputs.embeddings is not None or inputs.word_vectors is not None or inputs.encoded_names:
        raise OptionError(
            "this run used vectors from a file; align again with: "
            "sameas align LEFT RIGHT --seeds RUN --reject RUN -o RUN"
        )
    if alignment.parts is not None:
        raise OptionError(
            "three graphs or more are aligned again in a terminal: "
            "sameas align A B C --seeds RUN --reject RUN -o RUN"
        )
    decided, telling = alignment.decisions, ["accept", "reject", "no-match"]
    if decided is None or not decided["state"].is_in(telling).any():
        raise OptionError("nothing is accepted or rejected yet, so that nothing would change")


def aligned_again(run: Path, draft: Path) -> Record:
    """Align a run again with its decisions, and write it to a draft; what became of it.

    ``changed`` counts the links that are new or gone besides those that were decided about.
    """
    earlier = read_run(run)
    inputs, pair = earlier.inputs, ["left", "right"]
    seeds = _joined(decided_links(run, "accept"), inputs.seeds)
    reject = _joined(decided_links(run, "reject"), inputs.reject)
    if earlier.clusters is not None:
        graph, called = earlier.pair.left, earlier.origins["graph"][0]
        with working(earlier.options):
            given = Given(seeds=seeds, reject=reject)
            alignment = dedupe_graph(graph, earlier.options, given, called=called)
    else:
        alignment = align(
            earlier.pair,
            earlier.options,
            seeds=seeds,
            reject=reject,
            among=inputs.among,
            dictionary=inputs.dictionary,
        )
    shutil.rmtree(draft, ignore_errors=True)
    write_run(alignment, draft)
    decided, before = earlier.decisions, curated(earlier)
    assert decided is not None
    if alignment.clusters is not None and before.clusters is not None:
        return {
            "decided": len(decided),
            "clusters": len(alignment.clusters),
            "changed": _changed_clusters(before.clusters, alignment.clusters),
        }
    changes = [
        one.links.join(other.links, on=pair, how="anti").join(decided, on=pair, how="anti")
        for one, other in ((before, alignment), (alignment, before))
    ]
    return {
        "decided": len(decided),
        "precision_before": _expected_precision(earlier),
        "precision": _expected_precision(alignment),
        "links": len(alignment.links),
        "changed": len({*changes[0]["left"], *changes[1]["left"]}),
    }


def summary(result: Record) -> str:
    """What became of it, in a sentence.

    >>> figures = {"decided": 40, "precision_before": 0.95, "precision": 0.97, "changed": 12}
    >>> summary(figures)
    'Decided 40: expected precision 0.950 to 0.970, 12 other links changed.'
    """
    if "clusters" in result:
        return (
            f"Decided about {result['decided']:,} pairs: {result['clusters']:,} clusters, "
            f"{result['changed']:,} of them not as decided or as before."
        )
    before, after = (result[name] or 0.0 for name in ("precision_before", "precision"))
    return (
        f"Decided {result['decided']:,}: expected precision {before:.3f} to {after:.3f}, "
        f"{result['changed']:,} other links changed."
    )


def _changed_clusters(before: Clusters, after: Clusters) -> int:
    """How many clusters have other members than any had before."""
    ids = pl.concat_str("graph", "entity", separator="\0").sort()
    sets = [
        {*map(tuple, one.members.group_by("cluster").agg(ids=ids)["ids"])}
        for one in (before, after)
    ]
    return len(sets[1] - sets[0])


def _joined(decided: pl.DataFrame, given: pl.DataFrame | None) -> pl.DataFrame:
    tables = [table.select("left", "right") for table in (decided, given) if table is not None]
    return pl.concat(tables).unique(maintain_order=True)


def _expected_precision(alignment: Alignment) -> float | None:
    """The mean confidence of the links; seeds have confidence 1."""
    mean = alignment.links["confidence"].mean()
    return float(mean) if isinstance(mean, float) else None


def _exchange(run: Path, draft: Path) -> None:
    """Put the draft in the place of the run, with the decisions as they are now."""
    with replacing_folder(run) as folder:
        for file in draft.iterdir():
            file.rename(folder / file.name)
        copy_decisions(run, folder)
    read_decisions(run)  # which fails if they were lost
