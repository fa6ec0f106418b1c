"""What is wrong with bad files: damaged archives, bombs, odd encodings, odd shapes."""

from __future__ import annotations

import bz2
import gzip
import json
import struct
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Literal

import zstandard

Promise = Literal["read", "refused", "either"]
Bad = tuple[str, bytes, Promise]
MANY = 3 * 2**30
"""Bytes that a bomb holds."""


def _gzip_blocks(parts: list[bytes]) -> bytes:
    """A gzip file that was not finished, each part in a block of its own."""
    packer = zlib.compressobj(wbits=31)
    return b"".join(packer.compress(part) + packer.flush(zlib.Z_FULL_FLUSH) for part in parts)


def _zstd_blocks(parts: list[bytes]) -> bytes:
    packer = zstandard.ZstdCompressor().compressobj()
    flush = zstandard.COMPRESSOBJ_FLUSH_BLOCK
    return b"".join(packer.compress(part) + packer.flush(flush) for part in parts)


def _zstd(content: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(content)


CODECS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda content: gzip.compress(content, mtime=0),
    ".bz2": bz2.compress,
    ".zst": _zstd,
}
UNPACKED: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".zst": lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data),
}
UNFINISHED: dict[str, Callable[[list[bytes]], bytes]] = {
    ".gz": _gzip_blocks,
    ".bz2": lambda parts: bz2.compress(parts[0]) + bz2.compress(parts[1])[:-6],
    ".zst": _zstd_blocks,
}


def archives(codec: str, content: bytes) -> Iterator[Bad]:
    """Damage that is done to a compressed file, with what must come of it."""
    pack = CODECS[codec]
    middle = content.index(b"\n", len(content) // 2) + 1 if b"\n" in content[:-1] else 0
    first, second = (pack(part) for part in (content[:middle], content[middle:]))
    one, two = pack(content), first + second
    yield "whole", one, "read"
    yield "two frames", two, "read"
    for size in (0, 1, 6):
        yield f"first {size} bytes", one[:size], "refused"
    for part in (0.25, 0.5, 0.75, 0.9):
        yield f"cut at {part}", one[: int(len(one) * part)], "refused"
    for size in (1, 4, 8, 9):
        yield f"last {size} bytes missing", one[:-size], "refused"
    yield "cut after a block", UNFINISHED[codec]([content[:middle], content[middle:]]), "refused"
    yield "second frame cut at half", first + second[: len(second) // 2], "refused"
    yield "second frame: 3 bytes", first + second[:3], "refused"
    for place in (0.25, 0.5, 0.75):
        harmed = _flipped(one, int(len(one) * place))
        yield f"a bit flipped at {place}", harmed, _unless_whole(codec, harmed, content)
    yield "checksum wrong", _flipped(one, len(one) - 2), "refused"
    harmed = _flipped(two, len(first) + len(second) // 2)
    yield "a bit flipped in the second frame", harmed, _unless_whole(codec, harmed, content)
    yield "garbage at the end", one + b"garbage, and more of it", "refused"
    yield "zeros at the end", one + bytes(100), "either"
    yield "twice compressed", pack(one), "refused"
    yield "not compressed", content, "refused"
    other = next(each for each in CODECS if each != codec)
    yield "compressed with another", CODECS[other](content), "refused"


def bombs(codec: str, line: bytes) -> Iterator[tuple[str, Callable[[], bytes], Promise]]:
    """Archives that hold three gigabytes: the same line, one endless line, zeros.

    They are made when they are called, since a sample of the attempts needs few of them.
    """
    for name, unit in (("lines", line), ("one line", line.strip() or b"x"), ("zeros", bytes(1))):
        bomb = partial(_bomb, codec, unit)
        yield f"bomb of {name}", bomb, "refused"
    yield "bomb in an archive", lambda: CODECS[codec](bomb()), "refused"


def _bomb(codec: str, unit: bytes) -> bytes:
    part = unit * (2**20 // len(unit))
    return _endless_gzip(part) if codec == ".gz" else CODECS[codec](part) * (MANY // len(part))


def _endless_gzip(part: bytes) -> bytes:
    """One gzip member; its checksum is wrong, but nobody gets there."""
    packer = zlib.compressobj(9, wbits=-15)
    packer.compress(part) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(part) + packer.flush(zlib.Z_FULL_FLUSH)
    header = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
    return header + block * (MANY // len(part)) + b"\x03\0" + struct.pack("<II", 0, 0)


def _unless_whole(codec: str, harmed: bytes, content: bytes) -> Promise:
    """Refused, unless the bit was one that does not matter."""
    try:
        return "either" if UNPACKED[codec](harmed) == content else "refused"
    except Exception:
        return "refused"


def _flipped(content: bytes, at: int) -> bytes:
    return content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :]


def encodings(content: bytes) -> Iterator[Bad]:
    """A text that is not what UTF-8 text should be, or is only just."""
    text = content.decode()
    half = len(content) // 2
    line = content.index(b"\n", half) + 1 if b"\n" in content[half:] else len(content)
    for name in ("utf-16", "utf-16-le", "utf-32", "utf-8-sig"):
        yield name, text.encode(name), "either"
    for name, piece in {
        "Latin-1": b"\xe9 ",
        "overlong": b"\xc0\xaf",
        "a surrogate": b"\xed\xa0\x80",
        "beyond Unicode": b"\xf5\x80\x80\x80",
        "0xFF": b"\xff",
    }.items():
        yield f"{name} inside", content[:line] + piece + content[line:], "refused"
    yield "a letter cut at the end", content + b"\xe4\xba", "refused"
    for name, piece in {
        "NUL": b"\0",
        "100 NUL": bytes(100),
        "control characters": b"\x01\x02\x1b[31m\x7f",
        "a line break": b"\n",
        "carriage returns": b"\r\r",
        "U+2028": "\u2028".encode(),
        "a byte order mark": b"\xef\xbb\xbf",
        "a quote": b'"',
        "an odd word": b"\nnobody expected this\n",
        "separators": b"\t\t\t,,,;;;\n",
    }.items():
        yield f"{name} inside", content[:line] + piece + content[line:], "either"
    yield "CRLF", content.replace(b"\n", b"\r\n"), "either"
    yield "CR", content.replace(b"\n", b"\r"), "either"
    yield "no line break at the end", content.rstrip(b"\n"), "either"
    yield "cut at half", content[:half], "either"
    yield "reversed", content[::-1], "refused"
    yield "a long line", content[:line] + b"x" * 3_000_000 + b"\n" + content[line:], "either"
    for name, other in {
        "nothing": b"",
        "one byte": b"x",
        "line breaks": b"\n" * 100,
        "a byte order mark": b"\xef\xbb\xbf",
        "zeros": bytes(10_000),
        "a PDF": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",
        "a ZIP": b"PK\x03\x04\x14\0\0\0\x08\0",
        "a picture": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        "a program": b"\x7fELF\x02\x01\x01" + bytes(50),
        "random": bytes(n * n * 7919 % 251 for n in range(5000)),
    }.items():
        yield f"only {name}", other, "refused"


BIG = "9" * 5000
JSON_VALUES = [
    *("null", "true", "1", "-0.0", "NaN", "Infinity", "1e999", BIG, f"-{BIG}", f"0.{BIG}", '""'),
    *(
        '"\\ud800"',
        '"\\u0000"',
        '"\\x"',
        '"a',
        "[",
        "{",
        "[]",
        "{}",
        "[[]]",
        '{"a": {}}',
        '"a" "b"',
    ),
    *(
        '{"a": 1, "a": 2}',
        "[" * 100_000,
        '{"a":' * 100_000,
        "[" * 500 + "]" * 500,
        "'a'",
        "//",
        ",",
    ),
]


def names_shapes() -> Iterator[Bad]:
    """Names files in JSON with the wrong things in them."""
    for value in JSON_VALUES:
        for frame in ("{}", '[["l:é1", {}]]', '[[{}, ["a"]]]', '{{"l:é1": {}}}'):
            yield f"{frame} of {value[:20]}", frame.format(value).encode(), "either"


def jsonl_shapes() -> Iterator[Bad]:
    """Links as JSON lines with the wrong things in them."""
    for value in JSON_VALUES:
        for frame in (
            "{}",
            '{{"left": {}, "right": "b"}}',
            '{{"left":"a","right":"b","score":{}}}',
        ):
            yield f"{frame} of {value[:20]}", f"{frame.format(value)}\n".encode(), "either"


def jsonld_shapes() -> Iterator[Bad]:
    """JSON-LD with the wrong things in it."""
    frames = ("{}", '{{"@id": {}, "http://a.org/p": "x"}}', '{{"@id":"a:b","http://a.org/p":{}}}')
    for value in JSON_VALUES:
        for frame in (*frames, '{{"@context": {}, "@id": "a:b", "http://a.org/p": "x"}}'):
            yield f"{frame} of {value[:20]}", frame.format(value).encode(), "either"
    remote = {"@context": "http://127.0.0.1:9/context.jsonld", "@id": "a:b", "p": "x"}
    yield "a remote context", json.dumps(remote).encode(), "refused"


def xml_shapes() -> Iterator[Bad]:
    """RDF/XML made to hurt its reader."""
    head = '<?xml version="1.0"?>'
    body = (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.org/">'
        '<rdf:Description rdf:about="http://e.org/a"><e:p>{}</e:p></rdf:Description></rdf:RDF>'
    )
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 30))
    bomb = f'<!DOCTYPE r [<!ENTITY l0 "ha">{laughs}]>'
    yield "a billion laughs", f"{head}{bomb}{body.format('&l29;')}".encode(), "refused"
    for place in ("file:///etc/passwd", "http://127.0.0.1:9/x"):
        outside = f'<!DOCTYPE r [<!ENTITY x SYSTEM "{place}">]>'
        yield f"entity from {place}", f"{head}{outside}{body.format('&x;')}".encode(), "refused"
    yield "deep", f"{head}{body.format('<e:x>' * 50_000)}".encode(), "refused"
    yield "an unknown entity", f"{head}{body.format('&nope;')}".encode(), "refused"
    yield "NUL", f"{head}{body.format('&#0;')}".encode(), "refused"
    yield "another encoding", body.format("é").encode("latin1"), "refused"
    declared = '<?xml version="1.0" encoding="{}"?>'
    for name in ("latin1", "utf-16", "cp037", "nonsense", "utf-7"):
        yield f"declared {name}", (declared.format(name) + body.format("é")).encode(), "either"
    many = " ".join(f'e:a{n}="x"' for n in range(20_000))
    yield "20,000 attributes", body.format(f"<e:q {many}/>").encode(), "either"
    for name, one in (("attributes", 'e:a{}="x"'), ("namespaces", 'xmlns:a{}="http://a.org/{}"')):
        many = " ".join(one.format(n, n) for n in range(100_000))
        yield f"100,000 {name}", body.format(f"<e:q {many}/>").encode(), "refused"
    yield "no RDF", b"<html><body>404</body></html>", "either"


def turtle_shapes() -> Iterator[Bad]:
    """Turtle (and N-Triples) made to hurt its reader."""
    yield "deep blank nodes", b"<a:a> <a:b> " + b"[ <a:c> " * 50_000, "refused"
    yield "deep lists", b"<a:a> <a:b> " + b"( " * 50_000, "refused"
    yield "deep lists, closed", b"<a:a> <a:b> " + b"(" * 9_000 + b")" * 9_000 + b" .", "either"
    yield "an endless literal", b'<a:a> <a:b> "' + b"x" * 5_000_000, "refused"
    yield "a long literal", b'<a:a> <a:b> "' + b"x" * 5_000_000 + b'" .\n', "either"
    yield "a long IRI", b"<a:a> <a:b> <a:" + b"x" * 5_000_000 + b"> .\n", "either"
    yield "a prefix of itself", b"@prefix a: <a:> . a:a a:a a:a .", "either"
    yield "a long prefix", b"@prefix a: <a:" + b"x" * 10**6 + b"> . a:a a:b a:c, a:d .", "either"
    yield (
        "100,000 prefixes",
        b"".join(b"@prefix p%d: <a:%d> .\n" % (n, n) for n in range(10**5)),
        ("refused"),
    )
    yield "no such prefix", b"x:a x:b x:c .", "refused"
    yield "relative", b"<a> <b> <c> .", "either"
    yield "a number of 5,000 digits", b"<a:a> <a:b> " + BIG.encode() + b" .", "either"
    yield "escapes", b'<a:a> <a:b> "\\uD800 \\U0011FFFF" .', "refused"
    yield "a long language", b'<a:a> <a:b> "x"@' + b"a-" * 10_000 + b"a .", "either"


def sssom_shapes() -> Iterator[Bad]:
    """SSSOM with a wrong header or wrong columns."""
    columns = "subject_id\tpredicate_id\tobject_id\tmapping_justification\n"
    row = "a:b\tskos:exactMatch\ta:c\tsemapv:LexicalMatching\n"
    heads = {
        "deep YAML": "#x: " + "[" * 5000,
        "aliases": "#a: &a [x,x]\n" + "".join(f"#{c}: &{c} [*a,*a]\n" for c in "bcdefgh"),
        "a tag": "#x: !!python/object/apply:os.system ['true']",
        "a number": "#x: " + BIG,
        "a sexagesimal number": "#x: " + ":".join(["1"] * 20_000),
        "a tab": "#\tx: y",
        "not a mapping": "#- a\n#- b",
        "a map twice": "#curie_map:\n#  a: x\n#  a: y",
        "a map of lists": "#curie_map: [1, 2]",
        "a date": "#mapping_date: 2020-99-99",
    }
    for name, head in heads.items():
        yield f"header: {name}", f"{head}\n{columns}{row}".encode(), "either"
    for name, table in {
        "a column twice": columns.replace("object_id", "object_id\tobject_id")
        + row.replace("a:c", "a:c\ta:d"),
        "subject twice": columns.replace("subject_id", "subject_id\tsubject_id") + "a:x\t" + row,
        "no object": columns.replace("object_id", "x") + row,
        "no columns": "\n" + row,
    }.items():
        yield name, table.encode(), "refused"
    for name, value in {
        "text": "high",
        "nan": "nan",
        "inf": "inf",
        "two": "2",
        "neg": "-1",
    }.items():
        table = columns.strip() + "\tconfidence\n" + row.strip() + f"\t{value}\n"
        yield f"confidence {name}", table.encode(), "either"
