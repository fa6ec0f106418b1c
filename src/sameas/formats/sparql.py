"""A SPARQL endpoint as a graph: its statements, fetched page by page."""

from __future__ import annotations

import io
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, wait
from http.client import HTTPException
from pathlib import Path
from threading import Thread
from typing import IO, Any, cast

import polars as pl
import pyoxigraph as ox

from sameas.errors import InputError, first_line, shortened
from sameas.formats.files import Stream, max_bytes, read_text, read_whole, stream_of, too_large
from sameas.formats.guards import Guarded
from sameas.formats.rdf import parsed
from sameas.formats.rdf_syntax import FORMATS
from sameas.graph.rdf.reading import RdfKind
from sameas.graph.rdf.statements import statements_of

QUERY = "SELECT ?s ?p ?o WHERE { ?s ?p ?o } ORDER BY ?s ?p ?o"
"""Everything in the default graph; in order, for only then do pages fit together."""
PAGE = 10_000
"""Rows asked for at a time; many endpoints give no more."""
SECONDS = 120
"""How long to wait for an answer; one of many bytes may take longer, at a rate of at least:"""
LEAST_RATE = 2**14
KINDS: dict[ox.RdfFormat | None, RdfKind] = {format: kind for kind, format in FORMATS.items()}
ACCEPT = "application/sparql-results+json, application/n-triples;q=0.9, text/turtle;q=0.5"


def read_endpoint(address: str, query: Path | None, tally: Counter[str]) -> Iterator[pl.DataFrame]:
    """The statements that a query finds, a page at a time.

    The query is a SELECT of subject, predicate and object in this order, or a CONSTRUCT. One
    that has a LIMIT or OFFSET is put once and as it is. Two equal pages in a row are an
    InputError, for an endpoint that ignores OFFSET would be asked for ever. Blank nodes are told
    apart by page, for an endpoint may use their names again.
    """
    text = QUERY if query is None else read_text(query).strip()
    once = re.search(r"\b(LIMIT|OFFSET)\s+\d+\s*", text, re.IGNORECASE) is not None
    offset, page = 0, 0
    before: list[Any] = []
    most = budget = max_bytes()
    while True:
        page += 1
        asked = text if once else f"{text}\nLIMIT {PAGE} OFFSET {offset}"
        kind, content = _answer(address, asked, most)
        budget -= len(content)
        if budget < 0:
            raise too_large(address, most)
        rows, selected = _rows(address, kind, content)
        if rows and rows == before:
            problem = f"sent the same {len(rows):,} statements for two pages in a row"
            raise InputError(
                address, f"{problem}; if it knows no OFFSET, give a `query` with a LIMIT"
            )
        before = rows
        quads = [ox.Quad(*row) for row in rows if not isinstance(row[0], ox.Triple)]
        for what in ("statements", "quoted"):  # statements about statements
            tally[what] += len(rows) - len(quads)
        yield from statements_of(quads, tag=f"{page}.")
        if once or not rows:
            return
        # Of a SELECT an endpoint may give fewer rows than were asked for, and more are left.
        offset += len(rows) if selected else PAGE


def _answer(address: str, query: str, most: int) -> tuple[str, bytes]:
    """The media type and the content of the answer to a query.

    The answer as a whole has a deadline, however slowly its bytes come. A thread fetches it,
    for no timeout of a socket could tell.
    """
    answer: Future[tuple[str, bytes]] = Future()
    sizes: list[int] = []  # of the pieces that were received so far

    def fetch() -> None:
        try:
            answer.set_result(_fetch(address, query, most, sizes))
        except Exception as error:
            answer.set_exception(error)

    begin = time.monotonic()
    Thread(target=fetch, daemon=True).start()
    while not answer.done():
        allowed = SECONDS + sum(sizes) / LEAST_RATE
        left = begin + allowed - time.monotonic()
        if left <= 0:
            problem = f"has not sent its whole answer within {allowed:.0f} seconds"
            raise InputError(address, f"{problem}; try again later, or ask for less with `query`")
        wait([answer], left)
    return answer.result()


def _fetch(address: str, query: str, most: int, sizes: list[int]) -> tuple[str, bytes]:
    def read(size: int) -> bytes:
        body: bytes = response.read(min(size, 2**16))
        sizes.append(len(body))
        return body

    try:
        # One out of range is a ValueError; a socket would take it modulo 65,536.
        if urllib.parse.urlsplit(address).port == 0:
            raise ValueError("Port out of range 1-65535")
        request = urllib.request.Request(
            address,
            data=urllib.parse.urlencode({"query": query}).encode(),
            headers={"Accept": ACCEPT, "Content-Type": "application/x-www-form-urlencoded"},
        )
        opener = urllib.request.build_opener(_NoRedirects)
        with opener.open(request, timeout=SECONDS) as response:
            content = read_whole(stream_of(address, read, most))
    except urllib.error.HTTPError as error:
        with error:
            said = shortened(" ".join(error.read(2000).decode(errors="replace").split()), 200)
        raise InputError(address, f"answers {error.code} {error.reason}: {said}") from None
    except (OSError, HTTPException, ValueError) as error:
        reason = first_line(str(getattr(error, "reason", None) or error))
        raise InputError(address, f"cannot be asked ({reason}); is the address right?") from None
    if response.length:  # what is missing
        sent = f"sent {sum(sizes):,} of the {sum(sizes) + response.length:,} bytes of its answer"
        raise InputError(address, f"{sent}; try again later")
    return response.headers.get_content_type(), content


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Refuses redirects: they lose the query, and may lead anywhere."""

    def redirect_request(
        self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: str
    ) -> None:
        """Say where to."""
        fp.close()
        problem = (
            "redirects to another address, which is not followed; if it is the right one, give"
        )
        raise InputError(req.full_url, f"{problem} sparql+{shortened(newurl, 200)}")


def _rows(address: str, kind: str, content: bytes) -> tuple[list[Any], bool]:
    """The statements of an answer as tuples of terms, and whether it is that of a SELECT."""
    stream = stream_of(address, io.BytesIO(content).read, len(content))
    try:
        if kind.startswith("application/sparql-results"):
            return _solutions(stream, kind), True
        format = KINDS.get(ox.RdfFormat.from_media_type(kind))
        if format is None:
            problem = f"answers with {kind or 'nothing'}, which is no RDF; is it an endpoint?"
            raise InputError(address, problem)
        return list(parsed(Guarded(stream, format), format)), False
    except (SyntaxError, ValueError, MemoryError) as error:
        reason = shortened(first_line(error), 200)
        raise InputError(address, f"its answer cannot be read ({reason})") from None


def _solutions(stream: Stream, kind: str) -> list[tuple[Any, ...]]:
    """The rows of a SELECT, which must be statements."""
    wrong = "SELECT with subject, predicate, object expected, or a CONSTRUCT"
    results = ox.QueryResultsFormat.from_media_type(kind)
    if results is None:
        raise ValueError(f"{kind} is not known")
    source = Guarded(stream, "jsonld") if kind.endswith("json") else stream
    solutions = ox.parse_query_results(cast(IO[bytes], source), format=results)
    if not isinstance(solutions, ox.QuerySolutions) or len(solutions.variables) != 3:
        raise InputError(stream.place, f"{wrong}; mend the query")
    rows = [tuple(solution) for solution in solutions]
    for subject, predicate, value in rows:
        if (
            not isinstance(subject, ox.NamedNode | ox.BlankNode | ox.Triple)
            or not isinstance(predicate, ox.NamedNode)
            or value is None
        ):
            found_row = shortened(f"{subject} {predicate} {value}")
            problem = f'found a row that is no statement: "{found_row}"; mend the query'
            raise InputError(stream.place, f"{wrong}, {problem}")
    return rows
