"""A SPARQL endpoint on this machine that misbehaves, in a process of its own."""

from __future__ import annotations

import contextlib
import gzip
import os
import signal
import socket
import socketserver
import time
from collections.abc import Callable, Iterator

Send = Callable[[bytes], object]
URI = '{{"type":"uri","value":"a:{0}"}}'
ROW = f'{{{{"s":{URI},"p":{URI},"o":{URI}}}}}'
HEAD = '{"head":{"vars":["s","p","o"]},"results":{"bindings":['
RESULTS = (HEAD + ",".join(ROW.format(n) for n in range(50)) + "]}}").encode()
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XML = f'<rdf:RDF xmlns:rdf="{RDF}" xmlns:e="a:">'.encode()
XML_ROW = b'<rdf:Description rdf:about="a:b"><e:p>x</e:p></rdf:Description>'
ANSWERS = {
    "json": ("application/sparql-results+json", RESULTS),
    "xml": (
        "application/sparql-results+xml",
        b'<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head><variable name="s"/>'
        b'<variable name="p"/><variable name="o"/></head><results>'
        + b'<result><binding name="s"><uri>a:a</uri></binding><binding name="p"><uri>a:p</uri>'
        b'</binding><binding name="o"><uri>a:o</uri></binding></result>'
        * 50
        + b"</results></sparql>",
    ),
    "nt": ("application/n-triples", b"<a:a> <a:b> <a:c> .\n" * 50),
    "ttl": ("text/turtle", b"<a:a> <a:b> <a:c> .\n" * 50),
    "rdf": ("application/rdf+xml", XML + XML_ROW * 50 + b"</rdf:RDF>"),
    "jsonld": ("application/ld+json", b"[" + b'{"@id":"a:b","a:p":"x"},' * 50 + b"{}]"),
}
REPEATED = {
    "json": (HEAD.encode(), ROW.format(1).encode() + b","),
    "nt": (b"", b"<a:a> <a:b> <a:c> .\n"),
    "ttl": (b"", b"<a:a> <a:b> <a:c> .\n"),
    "rdf": (XML, XML_ROW),
    "jsonld": (b"[", b'{"@id":"a:b","a:p":"x"},'),
}
"""How answers without end begin and go on."""


def head(kind: str, length: int | None, *, status: str = "200 OK", more: str = "") -> bytes:
    """The head of an answer."""
    size = "" if length is None else f"Content-Length: {length}\r\n"
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{size}{more}\r\n".encode()


def _whole(kind: str, content: bytes, **rest: str) -> Callable[[Send], None]:
    return lambda send: send(head(kind, len(content), **rest) + content) and None


def _announced(kind: str, content: bytes, length: int) -> Callable[[Send], None]:
    return lambda send: send(head(kind, length) + content) and None


def _endless(kind: str, begin: bytes, piece: bytes) -> Callable[[Send], None]:
    def answer(send: Send) -> None:
        send(head(kind, None) + begin)
        block = piece * (2**20 // len(piece))
        for _ in range(4000):
            send(block)

    return answer


def _slow(kind: str, content: bytes) -> Callable[[Send], None]:
    def answer(send: Send) -> None:
        send(head(kind, len(content)))
        for byte in content:
            send(bytes([byte]))
            time.sleep(0.5)

    return answer


def _slow_head(send: Send) -> None:
    for _ in range(200):
        send(b"X: y\r\n" if _ else b"HTTP/1.1 200 OK\r\n")
        time.sleep(0.5)


def behaviours() -> dict[str, Callable[[Send], None]]:
    """What the server does, by the path that is asked for."""
    known: dict[str, Callable[[Send], None]] = {}
    for name, (kind, content) in ANSWERS.items():
        known[f"cut-{name}"] = _announced(kind, content, len(content) + 100)
        known[f"half-{name}"] = _announced(kind, content[: len(content) // 2], len(content))
        known[f"longer-{name}"] = _announced(kind, content + b"garbage", len(content) + 7)
        known[f"damaged-{name}"] = _whole(kind, content[:100] + b"\xff\0<<" + content[100:])
        known[f"empty-{name}"] = _whole(kind, b"")
        known[f"slow-{name}"] = _slow(kind, content)
        known[f"packed-{name}"] = _whole(
            kind, gzip.compress(content), more="Content-Encoding: gzip\r\n"
        )
        half = content[: len(content) // 2]
        chunk = f"{len(half):x}\r\n".encode() + half
        known[f"chunk-{name}"] = lambda send, kind=kind, chunk=chunk: send(
            head(kind, None, more="Transfer-Encoding: chunked\r\n") + chunk
        )
    for name, (begin, piece) in REPEATED.items():
        known[f"endless-{name}"] = _endless(ANSWERS[name][0], begin, piece)
    for status in (201, 204, 206, 300, 304, 400, 401, 403, 404, 407, 418, 429, 500, 503, 599, 999):
        known[f"status-{status}"] = _whole(
            "text/html", b"<p>\x1b[31mno" * 500, status=f"{status} X"
        )
    for name, place in {
        "itself": "/redirect-itself",
        "file": "file:///etc/passwd",
        "ftp": "ftp://127.0.0.1/x",
        "host": "http://127.0.0.2:9/x",
        "nowhere": "http://",
        "data": "data:text/turtle,<a:a> <a:b> <a:c> .",
    }.items():
        for code in (301, 302, 307, 308):
            known[f"redirect-{name}-{code}"] = _whole(
                "text/html", b"", status=f"{code} Moved", more=f"Location: {place}\r\n"
            )
    known["redirect-itself"] = known["redirect-itself-307"]
    json_kind = ANSWERS["json"][0]
    known |= {
        "silent": lambda send: time.sleep(100),
        "slow-head": _slow_head,
        "nothing": lambda send: None,
        "no-http": lambda send: send(b"SSH-2.0-OpenSSH_9.0\r\n"),
        "many-headers": lambda send: send(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 10_000 + b"\r\n"),
        "long-header": lambda send: send(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 10**6 + b"\r\n\r\n"),
        "long-status": lambda send: send(b"HTTP/1.1 200 " + b"x" * 10**6 + b"\r\n\r\n"),
        "wrong-length": lambda send: send(
            b"HTTP/1.1 200 OK\r\nContent-Length: -7\r\nContent-Type: text/turtle\r\n\r\n<a:a>"
        ),
        "wrong-chunk": lambda send: send(
            head(json_kind, None, more="Transfer-Encoding: chunked\r\n") + b"zz\r\n" + RESULTS
        ),
        "html": _whole("text/html", b"<html>hello</html>"),
        "no-type": lambda send: send(b"HTTP/1.1 200 OK\r\n\r\n" + RESULTS),
        "pages-without-end": _whole(json_kind, RESULTS),
        "boolean": _whole(json_kind, b'{"head":{},"boolean":true}'),
        "two-columns": _whole(json_kind, RESULTS.replace(b'["s","p","o"]', b'["s","p"]')),
        "literal-subject": _whole(json_kind, RESULTS.replace(b'"uri"', b'"literal"')),
        "deep-jsonld": _whole("application/ld+json", b'{"a:p":[' * 200_000),
        "deep-json": _whole(json_kind, b"[" * 200_000),
        "laughs": _whole(
            "application/rdf+xml",
            b'<!DOCTYPE r [<!ENTITY a "'
            + b"ha" * 1000
            + b'"><!ENTITY b "'
            + b"&a;" * 1000
            + b'"><!ENTITY c "'
            + b"&b;" * 1000
            + b'">]>'
            + XML
            + XML_ROW.replace(b">x<", b">&c;<")
            + b"</rdf:RDF>",
        ),
    }
    return known


KNOWN = behaviours()


class _Handler(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        self.request.settimeout(30)
        with contextlib.suppress(OSError):
            request = b""
            while b"OFFSET" not in request and b"GET" not in request:
                request += self.request.recv(2**16)
            path = request.split(b" ")[1].decode().strip("/")
            later = not request.rstrip().endswith(b"+0") and path != "pages-without-end"
            answer = _whole(ANSWERS["nt"][0], b"") if later else KNOWN[path]
            answer(lambda data: self.request.sendall(data) or True)


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 100


@contextlib.contextmanager
def serving() -> Iterator[str]:
    """The address of the server; a path below it chooses how it misbehaves."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = _Server(("127.0.0.1", port), _Handler)
    process = os.fork()
    if not process:
        server.serve_forever()
        os._exit(0)
    server.socket.close()
    try:
        yield f"sparql+http://127.0.0.1:{port}"
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
