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
from sameas.formats import sparql

E = "http://example.org/"
DATA = "".join(
    f"<{E}{n}> <{E}r> <{E}{(n * 7 + 1) % 50}> .\n"
    f'<{E}{n}> <http://www.w3.org/2000/01/rdf-schema#label> "entity {n}"@en .\n'
    f'<{E}{n}> <{E}p> "{n}" .\n'
    for n in range(50)
)
ONE_ROW = (
    b'{"head":{"vars":["s","p","o"]},"results":{"bindings":[{"s":{"type":"bnode","value":"b"},'
    b'"p":{"type":"uri","value":"x:r"},"o":{"type":"uri","value":"x:%s"}}]}}'
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


def answering(status, kind, content, length=None, **headers):
    """The address of a server that gives one answer to everything."""

    def answer(handler):
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(content) if length is None else length))
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(content)

    return serving(answer)


@contextlib.contextmanager
def serving(answer):
    """The address of a server; ``answer`` is called with the handler of each request."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            answer(self)

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


@pytest.mark.parametrize("part", ["status", "headers", "content"])
def test_an_answer_has_a_deadline_as_a_whole(monkeypatch, part):
    monkeypatch.setattr(sparql, "SECONDS", 0.3)
    ended = threading.Event()

    def drip(handler):
        write = handler.wfile.write
        with contextlib.suppress(OSError):
            if part != "status":
                write(b"HTTP/1.0 200 OK\r\nContent-Type: application/n-triples\r\n")
            if part == "content":
                write(b"\r\n# ")
            while not ended.wait(0.05):
                write(b"x")

    try:
        with serving(drip) as address:
            begin = time.monotonic()
            with pytest.raises(InputError, match=r"has not sent its whole answer within 0 seconds"):
                sameas.read_graph(address)
            assert time.monotonic() - begin < 30
            ended.set()
    finally:
        ended.set()


def test_an_answer_that_is_cut_is_refused():
    content = DATA.encode()
    with (
        answering(200, "application/n-triples", content, len(content) + 9) as address,
        pytest.raises(InputError, match=r"sent [\d,]+ of the [\d,]+ bytes of its answer"),
    ):
        sameas.read_graph(address)

    def chunked(handler):
        handler.wfile.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/n-triples\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n" + f"{len(content):x}\r\n".encode() + content
        )

    with serving(chunked) as address, pytest.raises(InputError, match="IncompleteRead"):
        sameas.read_graph(address)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("target", ["http://other.example/sparql", "https://127.0.0.1/", "/again"])
def test_redirects_are_refused_with_the_address_to_give(status, target):
    with (
        answering(status, "text/plain", b"", Location=target) as address,
        pytest.raises(InputError) as caught,
    ):
        sameas.read_graph(address)
    message = str(caught.value)
    whole = target if ":" in target else address.removeprefix("sparql+").replace("/sparql", target)
    if sys.version_info >= (3, 11) or status != 308:
        assert "redirects to another address, which is not followed" in message
        assert f"sparql+{whole}" in message


def test_a_redirect_to_a_file_is_refused():
    with (
        answering(302, "text/plain", b"", Location="file:///etc/passwd") as address,
        pytest.raises(InputError, match="answers 302"),
    ):
        sameas.read_graph(address)


def test_answers_go_through_the_guards_of_files():
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 100}">' for n in range(1, 9))
    bomb = (
        f'<!DOCTYPE r [<!ENTITY e0 "xxxxxxxxxx">{entities}]>'
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="x:">'
        '<rdf:Description rdf:about="x:a"><x:p>&e8;</x:p></rdf:Description></rdf:RDF>'
    )
    with (
        answering(200, "application/rdf+xml", bomb.encode()) as address,
        pytest.raises(InputError, match="stands for"),
    ):
        sameas.read_graph(address)
    deep = b'{"x:p":' * 600 + b"{}" + b"}" * 600
    for kind in ("application/ld+json", "application/sparql-results+json"):
        with (
            answering(200, kind, deep) as address,
            pytest.raises(InputError, match="nested more than 256 levels deep"),
        ):
            sameas.read_graph(address)


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("application/rdf+xml", b"<!-- x -->"),
        ("application/ld+json", b'{"@id": "x:a"},'),
        ("application/sparql-results+json", b"[[]],"),
        ("text/turtle", b"<x:a> <x:b> <x:c> .\n"),
    ],
)
def test_an_answer_without_end_is_refused(kind, line):
    def endless(handler):
        handler.wfile.write(f"HTTP/1.0 200 OK\r\nContent-Type: {kind}\r\n\r\n".encode())
        with contextlib.suppress(OSError):
            while True:
                handler.wfile.write(line * 1000)

    with serving(endless) as address, pytest.raises(InputError, match="more than 1,000,000 bytes"):
        sameas.read_graph(address, reading=Reading(max_bytes=10**6))


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:9/q", "http://[bad/q", "http://127.0.0.1:x/"]
)
def test_an_endpoint_that_is_not_there(address):
    with pytest.raises(InputError, match="cannot be asked"):
        sameas.read_graph(f"sparql+{address}")


@pytest.mark.parametrize("kind", ["application/sparql-results+json", "application/n-triples"])
def test_an_endpoint_that_ignores_the_offset_is_refused(kind):
    content = DATA.encode() if kind.endswith("triples") else ONE_ROW % b"o"
    with (
        answering(200, kind, content) as address,
        pytest.raises(InputError, match=r"statements for two pages in a row.*`query` with a LIMIT"),
    ):
        sameas.read_graph(address)


def test_blank_nodes_of_two_pages_are_not_the_same(monkeypatch):
    pages = iter(
        [
            ONE_ROW % b"o",
            ONE_ROW % b"q",
            b'{"head":{"vars":["s","p","o"]},"results":{"bindings":[]}}',
        ]
    )
    known = sparql._rows
    monkeypatch.setattr(sparql, "_rows", lambda place, kind, _: known(place, kind, next(pages)))
    with answering(200, "application/sparql-results+json", b"{}") as address:
        graph = sameas.read_graph(address)
    assert graph.entities.to_list() == ["_:1.b", "x:o", "_:2.b", "x:q"]
