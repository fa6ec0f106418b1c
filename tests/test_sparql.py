"""A SPARQL endpoint as a side: pages, queries, and what becomes of answers that are none."""

from __future__ import annotations

import contextlib
import http.server
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pytest

import sameas
from folders import named_triples, names_of, put
from sameas import InputError, Reading
from sameas.reading import sparql

E = "http://example.org/"
DATA = "".join(
    f"<{E}{n}> <{E}r> <{E}{(n * 7 + 1) % 50}> .\n"
    f'<{E}{n}> <http://www.w3.org/2000/01/rdf-schema#label> "entity {n}"@en .\n'
    f'<{E}{n}> <{E}p> "{n}" .\n'
    for n in range(50)
)
SERVER = shutil.which("oxigraph") or shutil.which("oxigraph", path=Path(sys.executable).parent)


@pytest.fixture(scope="module")
def endpoint():
    """The address of an Oxigraph server on this machine that holds DATA."""
    if SERVER is None:
        pytest.skip("the oxigraph server is not installed")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{probe.getsockname()[1]}"
    process = subprocess.Popen(
        [SERVER, "serve", "--bind", place], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        load = urllib.request.Request(
            f"http://{place}/store?default",
            data=DATA.encode(),
            headers={"Content-Type": "application/n-triples"},
        )
        while process.poll() is None:
            with contextlib.suppress(OSError), urllib.request.urlopen(load, timeout=30):
                break
            time.sleep(0.05)
        yield f"sparql+http://{place}/query"
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def answering(status, kind, content):
    """The address of a server that gives one answer to everything."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"sparql+http://127.0.0.1:{server.server_port}/sparql"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("page", [7, 50, 10_000])
def test_an_endpoint_is_read_like_a_file_page_by_page(endpoint, tmp_path, monkeypatch, page):
    monkeypatch.setattr(sparql, "PAGE", page)
    found = sameas.read_graph(endpoint)
    expected = sameas.read_graph(put(tmp_path / "g.nt", DATA))
    assert sorted(named_triples(found)) == sorted(named_triples(expected))
    assert names_of(found) == names_of(expected)
    assert sorted(found.attributes.rows()) == sorted(expected.attributes.rows())
    assert found.reading_counts["statements"] == 150


@pytest.mark.parametrize(
    ("query", "count"),
    [
        (f"SELECT ?a ?b ?c WHERE {{ ?a ?b ?c FILTER(?b = <{E}r>) }} ORDER BY ?a", 50),
        (f"SELECT ?a ?b ?c WHERE {{ ?a <{E}p> ?b ; <{E}r> ?c }} LIMIT 5", None),
        ("SELECT ?a ?c WHERE { ?a ?b ?c } LIMIT 5", None),
        (f"SELECT ?a (<{E}s> AS ?b) ?c WHERE {{ ?a <{E}r> ?c }} LIMIT 5", 5),
        (f"CONSTRUCT {{ ?c <{E}back> ?a }} WHERE {{ ?a <{E}r> ?c }} ORDER BY ?a", 50),
    ],
)
def test_the_query_may_be_given(endpoint, tmp_path, monkeypatch, query, count):
    monkeypatch.setattr(sparql, "PAGE", 20)
    reading = Reading(query=put(tmp_path / "q.rq", query))
    if count is None:
        with pytest.raises(InputError, match="SELECT with subject, predicate, object expected"):
            sameas.read_graph(endpoint, reading=reading)
    else:
        assert len(sameas.read_graph(endpoint, reading=reading).triples) == count


def test_each_side_may_have_its_query(endpoint, tmp_path):
    queries = [
        put(tmp_path / f"{n}.rq", f"SELECT ?a ?b ?c {{ ?a ?b ?c }} ORDER BY ?a ?b LIMIT {n}")
        for n in (30, 60)
    ]
    pair = sameas.read_pair(endpoint, endpoint, reading=Reading(query=tuple(queries)))
    assert pair.left.reading_counts["statements"] == 30
    assert pair.right.reading_counts["statements"] == 60


def test_two_endpoints_are_aligned(endpoint):
    pair = sameas.read_pair(endpoint, endpoint, reading=Reading(link="all"))
    alignment = sameas.align(pair)
    assert len(alignment.links)
    assert (alignment.links["left"] == alignment.links["right"]).mean() > 0.9


def test_a_query_that_the_endpoint_refuses(endpoint, tmp_path):
    reading = Reading(query=put(tmp_path / "q.rq", "SELEKT"))
    with pytest.raises(InputError, match=r"/query: answers 400 "):
        sameas.read_graph(endpoint, reading=reading)


@pytest.mark.parametrize(
    ("status", "kind", "content", "words"),
    [
        (200, "text/html", b"<html>", "answers with text/html, which is no RDF"),
        (500, "text/plain", b"out\nof memory", "answers 500 Internal Server Error: out of memory"),
        (200, "application/sparql-results+json", b"{", "its answer cannot be read"),
        (200, "application/sparql-results+json", b'{"head":{},"boolean":true}', "SELECT with"),
        (200, "application/sparql-results+odd", b"", "its answer cannot be read"),
        (200, "application/n-triples", b"<a> <b>", "its answer cannot be read"),
        (200, "application/n-triples", b"x" * 2000, "holds more than 1,000 bytes"),
        (200, "application/n-triples", b"", "holds no triples"),
    ],
)
def test_answers_that_cannot_be_used(status, kind, content, words):
    with (
        answering(status, kind, content) as address,
        pytest.raises(InputError, match=words) as caught,
    ):
        sameas.read_graph(address, reading=Reading(max_bytes=1000))
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:9/q", "http://[bad/q", "http://127.0.0.1:x/"]
)
def test_an_endpoint_that_is_not_there(address):
    with pytest.raises(InputError, match="cannot be asked"):
        sameas.read_graph(f"sparql+{address}")


def test_blank_nodes_of_two_pages_are_not_the_same(monkeypatch):
    content = (
        b'{"head":{"vars":["s","p","o"]},"results":{"bindings":[{"s":{"type":"bnode","value":"b"},'
        b'"p":{"type":"uri","value":"x:r"},"o":{"type":"uri","value":"x:o"}}]}}'
    )
    pages = iter([content, content, b'{"head":{"vars":["s","p","o"]},"results":{"bindings":[]}}'])
    known = sparql._rows
    monkeypatch.setattr(sparql, "_rows", lambda place, kind, _: known(place, kind, next(pages)))
    with answering(200, "application/sparql-results+json", b"{}") as address:
        graph = sameas.read_graph(address)
    assert graph.entities.to_list() == ["_:1.b", "x:o", "_:2.b"]
