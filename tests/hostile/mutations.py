# ruff: noqa: E501
"""Valid files of every format, changed in their structure by chance: the third round of attempts.

Unlike `fuzz`, which damages bytes, these files are taken apart (JSON values, cells of tables,
terms of triples, elements of XML, columns of Parquet, files of folders), something in them is
changed, and they are put together again, so that most reach further than the parser. A kind and a
number always give the same attempt.
"""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from . import good, mutated_graphs
from .attempt import Attempt, apart
from .changed import LONG, TEXTS, as_json, as_table, changed_json, changed_rows, odd_columns

COUNT = 150
"""Attempts of each kind."""
ALIGN = ("align", "../good/l.tsv", "../good/r.tsv", "-o", "out/links.tsv")


def _rows(content: bytes, separator: str) -> list[list[str]]:
    return [line.split(separator) for line in content.decode().splitlines()]


def tables(kind: str, chance: random.Random) -> Attempt:
    """Graphs, records, links, gold, names, seeds, dictionaries and vectors as text tables."""
    suffix = chance.choice((".tsv", ".csv"))
    separator = good.TABLES[suffix]
    records = f"id{separator}name{separator}year\n" + "".join(
        f"r{n}{separator}name {n}{separator}{1900 + n}\n" for n in range(8)
    )
    numbered = f"left{separator}right{separator}score{separator}confidence\n" + "".join(
        f"l:é{n}{separator}r:é{n}{separator}{n / 10}{separator}0.{n}\n" for n in range(8)
    )
    file = f"x{suffix}"
    words = f"word{separator}gloss\n".encode() + b"".join(
        f"name{n}{separator}text {n}\n".encode() for n in range(5)
    )
    uses: tuple[tuple[bytes, tuple[str, ...]], ...] = (
        (good.triples(separator, 8), ("inspect", file)),
        (good.triples(separator, 8), ("align", file, "../good/r.tsv", "-o", "out/k.tsv")),
        (records.encode(), ("inspect", file, "--id", "id", "--name", "name")),
        (records.encode(), ("inspect", file)),
        (numbered.encode(), ("convert", file, "out/k.sssom.tsv")),
        (numbered.encode(), ("convert", file, "out/k.rdf")),
        (good.links(separator, 8), ("evaluate", "../good/few.tsv", file)),
        (numbered.encode(), ("evaluate", file, "../good/few.tsv")),
        (good.names(suffix, 8), (*ALIGN, "--names", file)),
        (good.links(separator, 4), (*ALIGN, "--seeds", file)),
        (good.links(separator, 4), (*ALIGN, "--reject", file)),
        (good.links(separator, 4), (*ALIGN, "--among", file)),
        (words, (*ALIGN, "--dictionary", file)),
    )
    content, command = uses[chance.randrange(len(uses))]
    what, rows = changed_rows(_rows(content, separator), chance)
    return Attempt(kind, what, command, files={file: as_table(rows, separator, chance)})


def vectors(kind: str, chance: random.Random) -> Attempt:
    """Word vectors as text, and embeddings as NumPy arrays whose headers lie."""
    if chance.random() < 0.5:
        what, rows = changed_rows(_rows(good.vectors(20), " "), chance)
        command = (*ALIGN, "--features", "word", "--word-vectors", "v.txt")
        return Attempt(kind, what, command, files={"v.txt": as_table(rows, " ", chance)})
    shape = chance.choice(
        [
            "(20, 3)",
            "(20,)",
            "()",
            "(-20, 3)",
            "(20, -3)",
            "(2**62, 3)",
            "(20, 3, 1)",
            "(0, 3)",
            "(20, 0)",
            "(4611686018427387904, 4)",
            "(20.0, 3)",
            "('20', 3)",
            "(20, 10**9)",
        ]
    )
    dtype = chance.choice(
        [
            "'<f4'",
            "'<f8'",
            "'<f2'",
            "'|O'",
            "'<U5'",
            "'|V8'",
            "'<c8'",
            "'|b1'",
            "'<M8[s]'",
            "'f'",
            "[('a', '<f4')]",
            "'>f4'",
            "'<i8'",
            "''",
            "None",
            "'<f4', 'x': __import__('os')",
        ]
    )
    order = chance.choice(("False", "True", "None", "1"))
    header = f"{{'descr': {dtype}, 'fortran_order': {order}, 'shape': {shape}, }}\n".encode()
    numbers = struct.pack("<60f", *[chance.choice((1.0, float("nan"), 3e38)) for _ in range(60)])
    length = chance.choice((len(header), len(header), 0, 65_535))
    data = b"\x93NUMPY" + chance.choice((b"\x01\0", b"\x01\0", b"\x02\0", b"\x09\0"))
    data += struct.pack("<H", length) + header + numbers * chance.choice((1, 1, 2, 0))
    return Attempt(
        kind, f"{dtype} {shape}", (*ALIGN, "--embeddings", "e.npy"), files={"e.npy": data}
    )


TERMS = (
    *(
        "<http://e.org/a>",
        "<a>",
        "<>",
        "<http://e.org/a b>",
        "<http://e.org/\\u0000>",
        "<http://[::1>",
    ),
    *(
        "<http://e.org/\\uD800>",
        "<http://e.org/%zz>",
        "<é:é>",
        "<urn:>",
        "<http://e.org/" + LONG + ">",
    ),
    *(
        '"x"',
        '"x"@en',
        '"x"@en-',
        '"x"@' + "a" * 300,
        '"x"^^<http://e.org/t>',
        '"x"^^<>',
        '"x"^^"y"',
    ),
    *('""', '"\\x"', '"\\u12"', '"\\U00110000"', '"\\uD83D\\uDE00"', '"a\nb"', '"""a\nb"""', "'x'"),
    *(
        f'"{LONG}"',
        "_:b",
        "_:",
        "_:b.",
        "_:1",
        "_:é",
        "[]",
        "[ <a:p> 1 ]",
        "( 1 2 )",
        "()",
        "<<( <a:a> <a:b> <a:c> )>>",
    ),
    *(
        "<< <a:a> <a:b> <a:c> >>",
        "a",
        "true",
        "1",
        "1.5e999",
        "-0",
        "1.",
        ".5",
        "0x1",
        "e:a",
        "e:",
        ":a",
        "?x",
    ),
    *(
        '"1"^^<http://www.w3.org/2001/XMLSchema#integer>',
        '"x"^^<http://www.w3.org/2001/XMLSchema#date>',
    ),
    *(
        "{ <a:a> <a:b> <a:c> }",
        "<http://www.w3.org/2002/07/owl#sameAs>",
        "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>",
    ),
)
ENDS = (
    " .\n",
    " .\n",
    " .\n",
    ".\n",
    "\n",
    " ;\n",
    " ,\n",
    " .",
    " . # é\n",
    " .\r\n",
    " . .\n",
    " <g:g> .\n",
)


def statements(kind: str, chance: random.Random) -> Attempt:
    """N-Triples, N-Quads, Turtle and TriG of terms that belong there, or do not."""
    suffix = chance.choice(("nt", "nq", "ttl", "trig"))
    prefix = chance.choice(
        ("", "", "@prefix e: <http://e.org/> .\n", "PREFIX e: <é>\n", "@base <x> .\n")
    )
    prefix += chance.choice(("", "", "@prefix : <> .\n", "@prefix e: <http://e.org/#> .\n" * 50))
    lines = []
    for _ in range(chance.choice((1, 3, 20))):
        plain = chance.random() < 0.6
        terms = ["<http://e.org/a>", "<http://e.org/p>", "<http://e.org/b>"]
        if not plain:
            terms[chance.randrange(3)] = chance.choice(TERMS)
        if chance.random() < 0.1:
            del terms[chance.randrange(3)]
        lines.append(" ".join(terms) + (" .\n" if plain else chance.choice(ENDS)))
    data = (prefix + "".join(lines)).encode("utf8", "surrogatepass")
    if chance.random() < 0.1:
        data = data[: chance.randrange(len(data))]
    file = f"g.{suffix}"
    commands = (
        ("inspect", file),
        ("inspect", file, "--json", "--lenient"),
        ("align", file, "../good/r.tsv", "-o", "out/k.tsv"),
        ("convert", file, "out/k.tsv"),
        ("evaluate", "../good/few.tsv", file),
    )
    return Attempt(
        kind, f"{suffix}, {len(lines)} lines", chance.choice(commands), files={file: data}
    )


JSON_LD = {
    "@context": {
        "name": "http://schema.org/name",
        "knows": {"@id": "http://e.org/k", "@type": "@id"},
    },
    "@graph": [
        {
            "@id": "http://e.org/a",
            "@type": "http://e.org/C",
            "name": ["A", {"@value": "B", "@language": "en"}],
        },
        {
            "@id": "_:b",
            "knows": {"@id": "http://e.org/a"},
            "http://e.org/l": {"@list": [1, 2.5, True]},
        },
    ],
}


def json_documents(kind: str, chance: random.Random) -> Attempt:
    """JSON-LD, names files and links as JSON lines."""
    which = chance.randrange(3)
    if which == 0:
        value: Any = JSON_LD
        file, command = "g.jsonld", ("inspect", "g.jsonld")
    elif which == 1:
        value = chance.choice(
            ([["l:é1", ["A", "B"]], ["r:é1", ["C"]]], {"l:é1": "A", "r:é1": ["B"]})
        )
        file, command = "n.json", (*ALIGN, "--names", "n.json")
    else:
        value = {"left": "l:é1", "right": "r:é1", "score": 0.5, "confidence": 0.25}
        file, command = (
            "k.jsonl",
            ("convert", "k.jsonl", f"out/k{chance.choice(('.tsv', '.sssom.tsv', '.rdf'))}"),
        )
    what = ""
    for _ in range(chance.choice((1, 1, 2, 4))):
        what, value = changed_json(value, chance)
    return Attempt(kind, f"{file}: {what}", command, files={file: as_json(value, chance)})


RDF_XML = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.org/"{}>{}</rdf:RDF>'
ATTRIBUTES = (
    *(
        'rdf:about="http://e.org/a"',
        'rdf:about=""',
        'rdf:about="a b"',
        'rdf:ID="x"',
        'rdf:ID="1 x"',
    ),
    *('rdf:nodeID="b"', 'rdf:nodeID="1"', 'rdf:resource="http://e.org/b"', 'rdf:resource="&#0;"'),
    *(
        'rdf:parseType="Literal"',
        'rdf:parseType="Resource"',
        'rdf:parseType="Collection"',
        'rdf:parseType="X"',
    ),
    *(
        'rdf:datatype="http://e.org/t"',
        'rdf:datatype=""',
        'xml:lang="en"',
        'xml:lang="e n"',
        'xml:base="x y"',
    ),
    *(
        'xml:base="http://f.org/"',
        'rdf:bagID="x"',
        'rdf:aboutEach="x"',
        'rdf:li="x"',
        'e:p="1" e:p="2"',
        'xmlns:e=""',
    ),
    *(
        'xmlns="http://e.org/"',
        'xmlns:xml="x"',
        "nonsense",
        'q:p="x"',
        f'e:p="{LONG}"',
        'rdf:type="a"',
        'e:é="é"',
    ),
)
CONTENTS = (
    *(
        "",
        "x",
        "&amp;",
        "&lt;&#x10FFFF;",
        "&#xD800;",
        "&nope;",
        "<![CDATA[<x>]]>",
        "<!-- -- -->",
        "<!-- x -->",
    ),
    *(
        "<?php x ?>",
        "<?xml version='1.0'?>",
        "<e:x/>",
        "<e:x><e:y/></e:x>",
        "<rdf:Description/>",
        "<rdf:li>x</rdf:li>",
    ),
    *(
        "<rdf:Bag><rdf:li/></rdf:Bag>",
        "text <e:x/> text",
        "]]>",
        "\x0b",
        "\0",
        "<e:x>",
        "</e:x>",
        LONG,
        "<rdf:RDF/>",
    ),
    "<rdf:Statement><rdf:subject>x</rdf:subject></rdf:Statement>",
)


def _or_odd(chance: random.Random, usual: str) -> str:
    return usual if chance.random() < 0.7 else quoteattr(chance.choice(TEXTS))[1:-1]


def xml(kind: str, chance: random.Random) -> Attempt:
    """RDF/XML and the Alignment API with elements and attributes that do not belong there."""

    def some(texts: tuple[str, ...]) -> str:
        return " ".join(chance.choice(texts) for _ in range(chance.choice((0, 1, 1, 2))))

    if chance.random() < 0.5:
        nodes = "".join(
            f"<{chance.choice(('rdf:Description', 'e:C', 'rdf:li', 'rdf:Bag', 'rdf:RDF', 'C'))} {some(ATTRIBUTES)}>"
            f"<e:p {some(ATTRIBUTES)}>{some(CONTENTS)}</e:p>{some(CONTENTS)}</rdf:Description>"
            if chance.random() < 0.3
            else f"<rdf:Description {some(ATTRIBUTES)}><e:p {some(ATTRIBUTES)}>{some(CONTENTS)}</e:p></rdf:Description>"
            for _ in range(chance.choice((1, 2, 5)))
        )
        text = RDF_XML.format(" " + some(ATTRIBUTES), nodes)
        command: tuple[str, ...] = chance.choice(
            (("inspect", "x.rdf"), ("align", "x.rdf", "../good/r.tsv", "-o", "out/k.tsv"))
        )
    else:
        cell = "<Cell><entity1 rdf:resource='{}'/><entity2 rdf:resource='{}'/><measure>{}</measure><relation>{}</relation></Cell>"
        cells = "".join(
            f"<map>{cell.format(_or_odd(chance, 'http://e.org/a'), _or_odd(chance, 'http://e.org/b'), _or_odd(chance, '1.0'), _or_odd(chance, '='))}{some(CONTENTS)}</map>"
            for _ in range(chance.choice((1, 3)))
        )
        inner = f"<Alignment {some(ATTRIBUTES)}><xml>yes</xml><level>0</level>{cells}</Alignment>"
        name = ' xmlns="http://knowledgeweb.semanticweb.org/heterogeneity/alignment"'
        text = RDF_XML.format(name if chance.random() < 0.9 else name + "#", inner)
        command = chance.choice(
            (("convert", "x.rdf", "out/k.tsv"), ("evaluate", "../good/few.tsv", "x.rdf"))
        )
    head = chance.choice(
        (
            "",
            "",
            "<?xml version='1.0'?>",
            "<?xml version='1.1'?>",
            "<?xml version='1.0' encoding='utf-16'?>",
            "<!DOCTYPE x [<!ENTITY e 'http://e.org/'>]>",
            "\ufeff",
            "\n\n<?xml version='1.0'?>",
        )
    )
    data = (head + text).encode(chance.choice(("utf8",) * 8 + ("utf-16", "latin-1")), "replace")
    if chance.random() < 0.1:
        data = data[: chance.randrange(len(data))]
    return Attempt(kind, text[100:140], command, files={"x.rdf": data})


def sssom(kind: str, chance: random.Random) -> Attempt:
    """SSSOM whose metadata is other YAML, or whose columns hold other things."""
    header: Any = {
        "curie_map": {"l": "http://l.org/", "r": "http://r.org/"},
        "mapping_set_id": "http://e.org/set", "license": "http://e.org/l", "mapping_date": "2030-01-31",
        "mapping_set_version": "1.0", "creator_id": ["l:x"], "subject_source": "http://l.org/",
        "extension_definitions": [{"slot_name": "ext_score", "property": "http://e.org/p", "type_hint": "xsd:double"}],
    }  # fmt: skip
    for _ in range(chance.choice((0, 1, 1, 3))):
        _, header = changed_json(header, chance)
    block = json.dumps(header, indent=chance.choice((None, 1)), ensure_ascii=chance.random() < 0.5)
    if chance.random() < 0.3:
        block += chance.choice(
            (
                "\n--- x",
                "\n...",
                "\n%TAG ! x",
                "\na: &a [*a]",
                "\n? [x] : y",
                "\n<<: {a: b}",
                "\n!!set {a}",
                "\n!!binary x",
                "\n*nope",
                "\n&a",
                "\n\t",
                "\n- x",
            )
        )
    rows = [
        [
            "subject_id",
            "predicate_id",
            "object_id",
            "mapping_justification",
            "confidence",
            "similarity_score",
            "ext_score",
        ],
        *(
            [
                f"l:{n}",
                "skos:exactMatch",
                f"r:{n}",
                "semapv:LexicalMatching",
                f"0.{n}",
                "0.5",
                "-1.5",
            ]
            for n in range(1, 5)
        ),
    ]
    what = "metadata"
    if chance.random() < 0.6:
        what, rows = changed_rows(rows, chance)
    body = as_table(rows, "\t", chance)
    data = (
        b"".join(b"#" + line + b"\n" for line in block.encode("utf8", "surrogatepass").split(b"\n"))
        + body
    )
    out = chance.choice((".sssom.tsv", ".tsv", ".rdf", ".ttl", ".jsonl", ".parquet"))
    return Attempt(
        kind, what, ("convert", "k.sssom.tsv", f"out/k{out}"), files={"k.sssom.tsv": data}
    )


def parquet(kind: str, chance: random.Random) -> Attempt:
    """Parquet of graphs, links and embeddings whose columns have other types or other names."""
    names = chance.choice(
        (
            ["head", "relation", "tail"],
            ["left", "right", "score", "confidence"],
            ["entity", "vector"],
        )
    )
    seed = chance.randrange(10**9)
    commands = {
        3: (("inspect", "x.parquet"), ("align", "x.parquet", "../good/r.tsv", "-o", "out/k.tsv")),
        4: (
            ("convert", "x.parquet", "out/k.sssom.tsv"),
            ("evaluate", "x.parquet", "../good/few.tsv"),
            (*ALIGN, "--seeds", "x.parquet"),
        ),
        2: ((*ALIGN, "--embeddings", "x.parquet"), (*ALIGN, "--dictionary", "x.parquet")),
    }
    return Attempt(
        kind, f"{names[0]} {seed}", chance.choice(commands[len(names)]),
        prepare=lambda: apart(lambda: _write_parquet(names, random.Random(seed))),
    )  # fmt: skip


def _write_parquet(names: list[str], chance: random.Random) -> None:
    import polars as pl

    size = chance.choice((0, 1, 8, 20))
    columns = {}
    for name in names:
        side = "l" if name in ("head", "tail", "left", "entity") else "r"
        columns[name] = pl.Series([f"{side}:é{n}" for n in range(size)], dtype=pl.String)
    for _ in range(chance.choice((1, 2, 3))):
        name = chance.choice(names) if chance.random() < 0.8 else chance.choice(TEXTS[:40])
        columns[name] = chance.choice(odd_columns(chance, size))
    if chance.random() < 0.2:
        del columns[chance.choice(list(columns))]
    file = io.BytesIO()
    packing = chance.choice(("zstd", "snappy", "gzip", "uncompressed", "lz4"))
    pl.DataFrame(columns).write_parquet(file, compression=packing)
    data = file.getvalue()
    if chance.random() < 0.15:
        at = chance.randrange(len(data))
        data = data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
    Path("x.parquet").write_bytes(data)


def benchmarks(kind: str, chance: random.Random) -> Attempt:
    """DBP15K and OpenEA folders: ids, links and names that do not fit, and what is no file."""
    files = dict(chance.choice((good.DBP15K, good.OPENEA)))
    what = ""
    for _ in range(chance.choice((1, 1, 2))):
        name = chance.choice(list(files))
        if name.endswith(".json"):
            what, value = changed_json(json.loads(files[name]), chance)
            files[name] = as_json(value, chance)
        else:
            what, rows = changed_rows(
                _rows(good.DBP15K.get(name) or good.OPENEA[name], "\t"), chance
            )
            files[name] = as_table(rows, "\t", chance)
        what = f"{name}: {what}"
    command = chance.choice(
        (
            ("inspect", "p"),
            ("align", "p", "-o", "out/k.tsv"),
            ("names", "p", "-o", "out/n.tsv"),
            ("evaluate", "../good/few.tsv", "p"),
        )
    )
    odd = chance.choice(list(files)) if chance.random() < 0.2 else None
    number = chance.randrange(5)
    return Attempt(
        kind, what, command,
        files={f"p/{name}": content for name, content in files.items()},
        prepare=None if odd is None else lambda: _make_odd(Path("p", odd), number),
        inside=_impatient,
    )  # fmt: skip


def runs(kind: str, chance: random.Random) -> Attempt:
    """Run folders whose record or tables are others; what they name must not be opened."""
    number, seed = chance.randrange(3), chance.randrange(10**9)
    commands: tuple[tuple[str, ...], ...] = (
        ("explain", "run", "l:é1"),
        ("evaluate", "run", "../good/few.tsv"),
        ("convert", "run", "out/k.sssom.tsv"),
        ("merge", "run", "-o", "out/m.nt"),
        ("report", "run", "-o", "out/r.html"),
        ("audit", "run"),
        (*ALIGN, "--seeds", "run"),
    )
    ways = (_change_record, _change_table, _odd_file)
    return Attempt(
        kind, f"{ways[number].__name__[1:]} {seed}", chance.choice(commands),
        prepare=lambda: apart(lambda: _changed_run(ways[number], random.Random(seed))),
        inside=_impatient, megabytes=900,
    )  # fmt: skip


def _changed_run(change: Callable[[random.Random], None], chance: random.Random) -> None:
    shutil.copytree("../good/run", "run")
    change(chance)


def _change_record(chance: random.Random) -> None:
    """Another run.json; its texts may name a folder with a model, a file or an address."""
    canary = Path("canary")
    canary.mkdir()
    (canary / "modules.json").write_text('[{"type": "evil.X", "path": ""}]')
    (canary / "evil.py").write_text("raise SystemExit(1)")
    (canary / "model.onnx").write_bytes(b"x")
    path = Path("run/run.json")
    record = json.loads(path.read_text("utf8"))
    if chance.random() < 0.5:
        target = chance.choice((record["options"], record["options"], record["summary"], record))
        name = chance.choice((*target, "encoder", "seeds", "embeddings", "word_vectors", "names"))
        target[name] = chance.choice(
            (str(canary.absolute()), "canary", "canary/evil.py", "http://127.0.0.1:9/canary")
        )
    for _ in range(chance.choice((0, 1, 2))):
        _, record = changed_json(record, chance)
    path.write_bytes(as_json(record, chance))


def _change_table(chance: random.Random) -> None:
    """Another table, of other types or with other rows."""
    import polars as pl

    path = chance.choice(sorted(Path("run").rglob("*.parquet")))
    table = pl.read_parquet(path)
    what, column = chance.randrange(4), chance.choice(table.columns)
    if what == 0:
        table = table.with_columns(chance.choice(odd_columns(chance, len(table))).alias(column))
    elif what == 1:
        table = table.drop(column)
    elif what == 2:
        table = pl.concat([table] * 2) if chance.random() < 0.5 else table.clear()
    elif len(table):
        dtype, at = table[column].dtype, chance.randrange(len(table))
        value = chance.choice((*(TEXTS[:40] if dtype == pl.String else ()), None))
        if dtype.is_numeric():
            value = chance.choice(
                (1e308, -1.0, float("nan"), None) if dtype.is_float() else (-1, 99, None)
            )
        here = pl.int_range(pl.len()) == at
        changed = pl.when(here).then(pl.lit(value, dtype=dtype)).otherwise(column)
        table = table.with_columns(changed.alias(column))
    table.write_parquet(path)


def _odd_file(chance: random.Random) -> None:
    files = [path for path in sorted(Path("run").rglob("*")) if path.is_file()]
    _make_odd(chance.choice(files), chance.randrange(5))


def _make_odd(path: Path, number: int) -> None:
    """In place of a file: a folder, a pipe, a link to itself, to a device, to another file."""
    path.unlink()
    if number == 0:
        path.mkdir()
    elif number == 1:
        os.mkfifo(path)
    else:
        path.symlink_to((path.name, "/dev/zero", "/etc/hostname")[number - 2])


def random_bytes(kind: str, chance: random.Random) -> Attempt:
    """Bytes that mean nothing, after the first bytes of every format."""
    heads = (
        b"",
        b"\x93NUMPY\x01\0",
        b"PAR1",
        b"\x1f\x8b\x08",
        b"BZh9",
        b"\x28\xb5\x2f\xfd",
        b"<?xml ",
        b"{",
        b"[",
        b"@prefix ",
        b"<a:a> ",
        b"#",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
    )
    data = chance.choice(heads) + chance.randbytes(chance.choice((1, 10, 100, 5000)))
    suffix = chance.choice(
        (
            ".nt",
            ".ttl",
            ".rdf",
            ".jsonld",
            ".tsv",
            ".csv",
            ".parquet",
            ".nt.gz",
            ".csv.zst",
            ".tsv.bz2",
            ".txt",
            "",
        )
    )
    file = f"x{suffix}"
    commands = (
        ("inspect", file), ("convert", file, "out/k.tsv"), ("evaluate", file, "../good/few.tsv"), ("merge", file, "-o", "out/m.nt"),
        (*ALIGN, "--names", file), (*ALIGN, "--embeddings", file), (*ALIGN, "--dictionary", file), ("explain", file, "a"), ("audit", file),
    )  # fmt: skip
    return Attempt(kind, f"{data[:12]!r}", chance.choice(commands), files={file: data})


def _impatient() -> None:
    """Wait for two seconds where a command waits for minutes."""
    from sameas.formats import files

    files.WRITER_SECONDS = files.SILENT_SECONDS = 2


KINDS: dict[str, Callable[[str, random.Random], Attempt]] = {
    f"mutated {made.__name__.replace('_', ' ')}": made
    for made in (
        *(statements, xml, json_documents, sssom, tables, vectors, parquet, benchmarks, runs),
        *(mutated_graphs.records, mutated_graphs.property_graphs, random_bytes),
    )
}


def attempts(kind: str, seed: int) -> Iterator[Attempt]:
    """The attempts of a kind; another seed gives others."""
    for number in range(COUNT):
        words = f"{kind} {number}" if not seed else f"{kind} {number} {seed}"
        yield KINDS[kind](kind, random.Random(words))
