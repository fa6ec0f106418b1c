"""A report about a run: one HTML file that needs nothing else, to be mailed."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from markupsafe import Markup

from sameas.compute.atomic import replacing_file
from sameas.errors import writing_to
from sameas.result.export import check_place
from sameas.web.review.folder import Review
from sameas.web.review.pages import overview
from sameas.web.review.pair import pair
from sameas.web.review.queue import filter_of
from sameas.web.review.templates import render, static_file


def write_report(run: Path, path: Path, *, count: int) -> int:
    """Write the overview and the least certain links with their scores; how many of these.

    Nothing in it depends on the clock. The run folder is only read.
    """
    check_place(path, path.suffix.lower(), (".html",), remedy="which any browser shows")
    with writing_to("a temporary folder", "cannot be made", "; set TMPDIR to a folder with space"):
        scratch = TemporaryDirectory(prefix="sameas-")
    with scratch as folder:
        review, chosen = Review(run, scratch=Path(folder)), filter_of({"status": "all"})
        review.prepare(wait=True)
        with review.queue() as queue:
            rows = queue.page_of_links(chosen, limit=count)
            text = render(
                "report.html.jinja",
                overview=overview(review, queue, {}),
                pairs=[pair(review, queue, chosen | row) for row in rows],
                style=Markup(static_file("style.css").decode()),
            )
    with replacing_file(path) as draft:
        draft.write_text(text, encoding="utf8")
    return len(rows)
