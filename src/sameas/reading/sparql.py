"""A SPARQL endpoint as a graph: its statements, fetched page by page."""

from __future__ import annotations

import io
import re
import urllib.error
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Iterator
from http.client import HTTPException
from os import PathLike
from pathlib import Path
from typing import Any

import pyoxigraph as ox

from sameas.errors import InputError, first_line, shortened
from sameas.files import read_text, too_large
from sameas.rdf.rules import Reading
from sameas.rdf.statements import Statements, Terms, statements_of

QUERY = "SELECT ?s ?p ?o WHERE { ?s ?p ?o } ORDER BY ?s ?p ?o"
"""Everything in the default graph; in order, for only then do pages fit together."""
PAGE = 10_000
"""Rows asked for at a time; many endpoints give no more."""
SECONDS = 120
"""How long to wait for an answer."""
ACCEPT = "application/sparql-results+json, application/n-triples;q=0.9, text/turtle;q=0.5"


def endpoint_of(place: str | PathLike[str]) -> str | None:
    """The address in a place such as ``sparql+http://host/path``; None if it is no endpoint.

    >>> endpoint_of("sparql+https://example.org/sparql")
    'https://example.org/sparql'
    """
    found = re.fullmatch(r"sparql\+(https?://\S+)", str(place), re.IGNORECASE)
    return found[1] if found else None


def read_endpoint(
    address: str, query: Path | None, reading: Reading, terms: Terms, tally: Counter[str]
) -> Iterator[Statements]:
    """The statements that a query finds, a page at a time.

    The query is a SELECT of subject, predicate and object in this order, or a CONSTRUCT. One
    that has a LIMIT or OFFSET is put once and as it is. Blank nodes are told apart by page, for
    an endpoint may use their names again.
    """
    text = QUERY if query is None else read_text(query).strip()
    once = re.search(r"\b(LIMIT|OFFSET)\s+\d+\s*", text, re.IGNORECASE) is not None
    offset, page = 0, 0
    budget = reading.max_bytes
    while True:
        page += 1
        asked = text if once else f"{text}\nLIMIT {PAGE} OFFSET {offset}"
        kind, content = _answer(address, asked, budget)
        budget -= len(content)
        if budget < 0:
            raise too_large(address, reading.max_bytes)
        rows, selected = _rows(address, kind, content)
        quads = [ox.Quad(*row) for row in rows if not isinstance(row[0], ox.Triple)]
        for what in ("statements", "quoted"):  # statements about statements
            tally[what] += len(rows) - len(quads)
        yield from statements_of(quads, terms, tag=f"{page}.")
        if once or not rows:
            return
        # Of a SELECT an endpoint may give fewer rows than were asked for, and more are left.
        offset += len(rows) if selected else PAGE


def _answer(address: str, query: str, budget: int) -> tuple[str, bytes]:
    """The media type and the content of the answer to a query."""
    try:
        request = urllib.request.Request(
            address,
            data=urllib.parse.urlencode({"query": query}).encode(),
            headers={"Accept": ACCEPT, "Content-Type": "application/x-www-form-urlencoded"},
        )
        with urllib.request.urlopen(request, timeout=SECONDS) as response:
            kind: str = response.headers.get_content_type()
            content = io.BytesIO()
            while content.tell() <= budget and (piece := response.read(2**20)):
                content.write(piece)
    except urllib.error.HTTPError as error:
        said = shortened(" ".join(error.read(2000).decode(errors="replace").split()), 200)
        raise InputError(address, f"answers {error.code} {error.reason}: {said}") from None
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise InputError(
            address, f"cannot be asked ({first_line(str(reason))}); is the address right?"
        ) from None
    return kind, content.getvalue()


def _rows(address: str, kind: str, content: bytes) -> tuple[list[Any], bool]:
    wrong = "SELECT with subject, predicate, object expected, or a CONSTRUCT"
    try:
        if kind.startswith("application/sparql-results"):
            found = ox.parse_query_results(content, format=_results_format(kind))
            if not isinstance(found, ox.QuerySolutions) or len(found.variables) != 3:
                raise InputError(address, f"{wrong}; mend the query")
            rows = [tuple(solution) for solution in found]
            for row in rows:
                if not _is_statement(row):
                    raise InputError(
                        address,
                        f"{wrong}, found a row that is no statement: "
                        f'"{shortened(" ".join(map(str, row)))}"; mend the query',
                    )
            return rows, True
        format = ox.RdfFormat.from_media_type(kind)
        if format is None:
            raise InputError(
                address, f"answers with {kind or 'nothing'}, which is no RDF; is it an endpoint?"
            )
        return list(ox.parse(input=content, format=format)), False
    except (SyntaxError, ValueError, MemoryError) as error:
        reason = shortened(first_line(error), 200)
        raise InputError(address, f"its answer cannot be read ({reason})") from None


def _results_format(kind: str) -> ox.QueryResultsFormat:
    found = ox.QueryResultsFormat.from_media_type(kind)
    if found is None:
        raise ValueError(f"{kind} is not known")
    return found


def _is_statement(row: tuple[Any, ...]) -> bool:
    subject, predicate, value = row
    return (
        isinstance(subject, ox.NamedNode | ox.BlankNode | ox.Triple)
        and isinstance(predicate, ox.NamedNode)
        and value is not None
    )
