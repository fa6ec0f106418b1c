"""A run folder under review: what is loaded of it, and kept between requests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from threading import Lock, Thread
from time import monotonic

import polars as pl

from sameas.errors import SameasError
from sameas.options.options import Side
from sameas.result.alignment import Alignment
from sameas.result.decisions import copy_decisions, decisions_of, require_own_file
from sameas.result.explanation.sentences import Explanation
from sameas.result.run_folder import read_run
from sameas.web.review.again import Again
from sameas.web.review.index import FILE, ensure_index, stamp
from sameas.web.review.queue import Queue, filter_of, open_queue

PRESENT = 15.0
"""Seconds since the last question of a page from which on its reviewer is taken to be away."""
FEW = 200_000
"""Entities up to which explanations are made ready before the first link is opened, and up to
which a page waits for them."""


@dataclass(frozen=True)
class Loaded:
    """A run as it was when it was loaded."""

    stamp: str
    alignment: Alignment
    index: Path
    preparing: Thread
    """Computes what all explanations need."""


@dataclass(eq=False)
class Review:
    """A run folder under review. Explanations are made one at a time by one scorer."""

    run: Path
    reviewer: str = ""
    """The name that decisions are stored under, unless a reviewer gives another."""
    scratch: Path | None = None
    """A folder for the index and a copy of the decisions, if the run folder is only read."""
    loaded: Loaded | None = None
    loading: Lock = field(default_factory=Lock)
    explaining: Lock = field(default_factory=Lock)
    writing: Lock = field(default_factory=Lock)
    """Held while decisions are written, and while another run takes the place of this one."""
    again: Again = field(default_factory=Again)
    seen: dict[str, float] = field(default_factory=dict)
    """When each reviewer last asked for something."""

    def check(self) -> None:
        """Raise an error if decisions cannot be kept in the run folder."""
        require_own_file(self.run / FILE)
        with decisions_of(self.run):
            pass

    def load(self) -> Loaded:
        """The run as it is now; its index is made again if it has changed."""
        with self.loading:
            current = stamp(self.run)
            if self.loaded is None or self.loaded.stamp != current:
                if self.scratch is not None:
                    copy_decisions(self.run, self.scratch)
                index = ensure_index(self.run, self.scratch or self.run)
                preparing = Thread(target=self._explain_one, daemon=True)
                self.loaded = Loaded(current, read_run(self.run), index, preparing)
            return self.loaded

    @property
    def alignment(self) -> Alignment:
        """The alignment of the run, as it is now."""
        return self.load().alignment

    @property
    def of_clusters(self) -> bool:
        """Whether the run has clusters: of one graph, or of three or more."""
        return self.alignment.diagnostics.clusters is not None

    @contextmanager
    def queue(self, reviewer: str = "") -> Iterator[Queue]:
        """The queue of the run as it is now, for a reviewer."""
        with open_queue(self.scratch or self.run, self.load().index, reviewer) as queue:
            yield queue

    def here(self, reviewer: str = "") -> list[str]:
        """Who has a page open, this reviewer included."""
        now = monotonic()
        if reviewer:
            self.seen[reviewer] = now
        return sorted(name for name, time in [*self.seen.items()] if now - time < PRESENT)

    def explain(self, uri: str, other: str | None, side: Side) -> Explanation | None:
        """The explanation of a pair or an entity; None for methods that have none."""
        alignment = self.alignment
        if alignment.options.method != "seu":
            return None
        with self.explaining:
            if alignment.parts is not None and other is not None:
                return explain_part(alignment, uri, other)
            return alignment.explain(uri, other, side=side)

    @property
    def is_large(self) -> bool:
        """Whether explanations need a lot of memory, and minutes before the first one."""
        counts = self.alignment.diagnostics
        return counts.left_entities + counts.right_entities > FEW

    def prepare(self, *, wait: bool = False) -> bool:
        """Compute what all explanations need, in the background; whether it is there."""
        preparing = self.load().preparing
        with self.loading:
            if preparing.ident is None:
                preparing.start()
        if wait:
            preparing.join()
        return not preparing.is_alive()

    def _explain_one(self) -> None:
        with suppress(SameasError):  # the page that asks will say it
            with self.queue() as queue:
                links = queue.page_of_links(filter_of({"status": "all"}), limit=1)
            for link in links:
                self.explain(link["left"], link["right"], "left")


def explain_part(alignment: Alignment, uri: str, other: str) -> Explanation | None:
    """The explanation of a pair by the run of its two graphs; None for two of one graph.

    ``uri`` and ``other`` are ids of the run, which can differ from those of the graphs.
    """
    names, parts = alignment.diagnostics.graphs or (), alignment.parts or ()
    rows = alignment.origins.filter(pl.col("id").is_in([uri, other])).to_dicts()
    ends = sorted((names.index(row["graph"]), row["entity"]) for row in rows)
    if len(ends) != 2 or ends[0][0] == ends[1][0]:
        return None
    places = list(combinations(range(len(names)), 2))
    part = parts[places.index((ends[0][0], ends[1][0]))]
    return part.explain(ends[0][1], ends[1][1], side="left")
