"""A run folder under review: what is loaded of it, and kept between requests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, Thread

from sameas.errors import SameasError
from sameas.graph.iri import Side
from sameas.result.alignment import Alignment
from sameas.result.explanation.words import Explanation
from sameas.result.run_folder import read_run
from sameas.web.review.index import ensure_index, stamp
from sameas.web.review.queue import Queue, filter_of, open_queue

FEW = 200_000
"""Entities up to which explanations are made ready before the first link is opened, and up to
which a page waits for them."""


@dataclass(eq=False)
class Review:
    """A run folder under review. Explanations are made one at a time by one scorer."""

    run: Path
    reviewer: str = ""
    """The name that decisions are stored under, unless a reviewer gives another."""
    loaded: tuple[str, Alignment, Thread] | None = None
    """The stamp of the run, the run, and the thread that computes what all explanations need."""
    loading: Lock = field(default_factory=Lock)
    explaining: Lock = field(default_factory=Lock)

    def load(self) -> tuple[Alignment, Thread]:
        """The run as it is now; its index is made again if it has changed."""
        with self.loading:
            current = stamp(self.run)
            if self.loaded is None or self.loaded[0] != current:
                ensure_index(self.run)
                preparing = Thread(target=self._explain_one, daemon=True)
                self.loaded = current, read_run(self.run), preparing
            return self.loaded[1:]

    @property
    def alignment(self) -> Alignment:
        """The alignment of the run, as it is now."""
        return self.load()[0]

    @contextmanager
    def queue(self) -> Iterator[Queue]:
        """The queue of the run as it is now."""
        self.load()
        with open_queue(self.run) as queue:
            yield queue

    def explain(self, uri: str, other: str | None, side: Side) -> Explanation | None:
        """The explanation of a pair or an entity; None for methods that have none."""
        alignment = self.alignment
        if alignment.options.method != "seu":
            return None
        with self.explaining:
            return alignment.explain(uri, other, side=side)

    @property
    def is_large(self) -> bool:
        """Whether explanations need a lot of memory, and minutes before the first one."""
        found = self.alignment.diagnostics
        return found.left_entities + found.right_entities > FEW

    def prepare(self, *, wait: bool = False) -> bool:
        """Compute what all explanations need, in the background; whether it is there."""
        _, preparing = self.load()
        with self.loading:
            if preparing.ident is None:
                preparing.start()
        if wait:
            preparing.join()
        return not preparing.is_alive()

    def _explain_one(self) -> None:
        with self.queue() as queue:
            links = queue.page_of_links(filter_of({"status": "all"}), limit=1)
        with suppress(SameasError):  # the page that asks will say it
            for link in links:
                self.explain(link["left"], link["right"], "left")
