"""A report about a run: one HTML file that needs nothing else, to be mailed."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from markupsafe import Markup

from sameas.atomic import replacing_file
from sameas.review import queue
from sameas.review.folder import Review
from sameas.review.pages import overview
from sameas.review.pair import pair
from sameas.review.queue import Filter
from sameas.review.templates import render, static_files
from sameas.writing.links import check_place


def write_report(run: Path, path: Path, *, count: int) -> int:
    """Write the overview and the least certain links with their scores; how many of these.

    Nothing in it depends on the clock.
    """
    check_place(path, path.suffix.lower(), (".html",), remedy="which any browser shows")
    review, chosen = Review(run), Filter(status="all")
    review.prepare(wait=True)
    values = overview(review, {})
    with review.databases() as connection:
        rows = queue.page_of_links(connection, chosen, limit=count)
    asked = ({**asdict(chosen), "left": row["left"], "right": row["right"]} for row in rows)
    pairs = [pair(review, one) for one in asked]
    style = Markup(static_files()["style.css"][0].decode())
    text = render("report.html.jinja", overview=values, pairs=pairs, style=style)
    with replacing_file(path) as draft:
        draft.write_text(text, encoding="utf8")
    return len(pairs)
