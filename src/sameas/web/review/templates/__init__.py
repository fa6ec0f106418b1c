"""The templates of the pages, and the files that they use."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment

from sameas.graph.iri import last_part
from sameas.result.cluster_drawing import KINDS
from sameas.result.explanation.result import Relation
from sameas.result.explanation.sentences import REASONS, environment_of, printable, relation_text
from sameas.web.review.differences import marked

STATIC = {"style.css": "text/css", "review.js": "text/javascript", "icon.svg": "image/svg+xml"}
"""The files that pages may ask for, with their media types."""
STATES = {
    "open": "open",
    "changed": "changed",
    "accept": "accepted",
    "reject": "rejected",
    "unsure": "unsure",
    "no-match": "no match",
    "conflict": "conflict",
}
"""What the states of decisions are called."""
RELATED = {"broad": "broader", "narrow": "narrower", "related": "related"}
"""What the right entity is to the left one where the two are not the same."""


def render(template: str, **values: Any) -> str:
    """A page: everything that is not markup of the template is escaped."""
    return _environment().get_template(template).render(**values)


def static_file(name: str) -> bytes:
    """The content of a file that pages use."""
    return (resources.files("sameas.web.review") / "static" / name).read_bytes()


def address(path: str, given: dict[str, Any] | None = None, **values: Any) -> str:
    """An address with a query; values that are empty are left out.

    >>> address("/links", {"sort": "name", "text": ""}, after=7)
    '/links?sort=name&after=7'
    """
    every = {**(given or {}), **values}
    query = urlencode({name: value for name, value in every.items() if value not in (None, "")})
    return f"{path}?{query}" if query else path


def web_page(uri: str) -> str | None:
    """The address of an entity's own page, if its URI is one that a browser can safely open.

    >>> web_page("http://dbpedia.org/resource/Paris"), web_page("javascript:alert(1)")
    ('http://dbpedia.org/resource/Paris', None)
    """
    return uri if re.match(r"https?://[^/?#]", uri, re.IGNORECASE) else None


@cache
def _environment() -> Environment:
    environment = environment_of("sameas.web.review.templates")
    filters: dict[str, Callable[..., Any]] = {
        "last_part": lambda uri: printable(last_part(uri)) or printable(uri),
        "signed": lambda score, digits=2: f"{round(score, digits) + 0.0:+.{digits}f}",
        "relations": lambda rows: relation_text([Relation(**row) for row in rows]),
        "moment": lambda time: time[:19].replace("T", " "),
        "web_page": web_page,
        "marked": lambda text, other: marked(printable(text), printable(other)),
    }
    environment.filters |= filters
    reasons = {**REASONS, "unsure": "not confident enough"}
    environment.globals |= {"address": address, "REASONS": reasons, "STATES": STATES}
    environment.globals |= {"LINE_KINDS": KINDS}
    environment.globals |= {"RELATED": RELATED, "new_request": lambda: secrets.token_hex(16)}
    return environment
