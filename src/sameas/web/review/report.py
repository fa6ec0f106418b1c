"""A report about a run: one HTML file that needs nothing else, to be mailed."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from markupsafe import Markup

from sameas.compute.atomic import replacing_file
from sameas.errors import writing_to
from sameas.result.export import check_place
from sameas.web.review.cluster_pages import cluster_values
from sameas.web.review.clusters import (
    cluster_filter,
    cluster_states,
    decided_pairs,
    find_cluster,
    page_of_clusters,
)
from sameas.web.review.folder import Review
from sameas.web.review.pages import overview
from sameas.web.review.pair import pair
from sameas.web.review.parameters import Record
from sameas.web.review.queue import Queue, filter_of
from sameas.web.review.templates import render, static_file


def write_report(run: Path, path: Path, *, count: int) -> int:
    """Write the overview and the least certain links or clusters; how many of these.

    Nothing in it depends on the clock. The run folder is only read.
    """
    check_place(path, path.suffix.lower(), (".html",), remedy="which any browser shows")
    with writing_to("a temporary folder", "cannot be made", "; set TMPDIR to a folder with space"):
        scratch = TemporaryDirectory(prefix="sameas-")
    with scratch as folder:
        review = Review(run, scratch=Path(folder))
        if not review.of_clusters:
            review.prepare(wait=True)
        with review.queue() as queue:
            least_certain = (_clusters if review.of_clusters else _pairs)(review, queue, count)
            text = render(
                "report.html.jinja",
                overview=overview(review, queue, {}),
                **least_certain,
                style=Markup(static_file("style.css").decode()),
            )
    with replacing_file(path) as draft:
        draft.write_text(text, encoding="utf8")
    return max(map(len, least_certain.values()))


def _pairs(review: Review, queue: Queue, count: int) -> dict[str, list[Record]]:
    """The least certain links, with how their scores come about."""
    chosen = filter_of({"status": "all"})
    rows = queue.page_of_links(chosen, limit=count)
    return {"pairs": [pair(review, queue, chosen | row) for row in rows], "clusters": []}


def _clusters(review: Review, queue: Queue, count: int) -> dict[str, list[Record]]:
    """The least certain clusters, with their members and links."""
    states, chosen = cluster_states(queue, decided_pairs(queue)), cluster_filter({"status": "all"})
    found = []
    for row in page_of_clusters(queue, chosen, states, limit=count):
        shown = find_cluster(queue, row["cluster"])
        assert shown is not None
        found.append({**cluster_values(review, shown), "state": row["state"]})
    return {"pairs": [], "clusters": found}
