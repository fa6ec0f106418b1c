"""Valid files of every kind that is read, as bytes; what is bad is made from them."""

from __future__ import annotations

import contextlib
import datetime
import decimal
import io
import json
import os
import shutil
from pathlib import Path

import pyoxigraph as ox

import sameas
from sameas.formats.rdf_syntax import FORMATS

E = "http://example.org/"
TEXT = f"""@prefix : <{E}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skosxl: <http://www.w3.org/2008/05/skos-xl#> .
:a :r :b ; a :C ; rdfs:label "Ä \\"b\\" \\n"@de, "B"@en-GB ; :p 1, 2.5, true .
:b :s :c, [ :r :a ] ; skosxl:prefLabel :l . :l skosxl:literalForm "x" . _:n :r ( :a "é京" ) .
"""
ROWS = 3000
"""Enough for several blocks of a compressed file."""
BIG = 200_000
"""Triples of files that take a while to read."""
TABLES = {".tsv": "\t", ".csv": ","}
LINK_KINDS = (".tsv", ".csv", ".jsonl", ".sssom.tsv", ".nt", ".ttl", ".rdf", ".parquet")
TRIPLE = ("head", "relation", "tail")
DBP15K = {
    "ent_ids_1": b"1\tx:a\n2\tx:b\n",
    "ent_ids_2": b"3\ty:a\n4\ty:b\n",
    "triples_1": b"1\t7\t2\n",
    "triples_2": b"3\t8\t4\n",
    "rel_ids_1": b"7\tx:r\n",
    "rel_ids_2": b"8\ty:r\n",
    "ref_ent_ids": b"1\t3\n",
    "sup_ent_ids": b"2\t4\n",
    "translated_names.json": b'[[1, ["a"]], [4, ["b", "c"]]]',
}
OPENEA = {
    "rel_triples_1": b"x:a\tx:r\tx:b\n",
    "rel_triples_2": b"y:a\ty:r\ty:b\n",
    "attr_triples_1": b"x:a\trdfs:label\tA\n",
    "attr_triples_2": b"y:a\trdfs:label\tA\n",
    "ent_links": b"x:a\ty:a\n",
}


def rdf(kind: str, rows: int = 0) -> bytes:
    """A graph as RDF: a little of everything, and so many plain statements."""
    quads = list(ox.parse(input=TEXT.encode(), format=ox.RdfFormat.TURTLE))
    for n in range(rows):
        one, other = (ox.NamedNode(f"{E}é{place * place % 100_003}") for place in (n, n + 1))
        quads.append(ox.Quad(one, ox.NamedNode(f"{E}r{n % 7}"), other))
    form = FORMATS[kind]
    return ox.serialize(
        quads if form.supports_datasets else [quad.triple for quad in quads], format=form
    )


def triples(separator: str, rows: int = ROWS) -> bytes:
    """A table of triples."""
    body = [(f"{E}é{n * n % 100_003}", f"{E}r{n % 7}", f"{E}{n}") for n in range(rows)]
    return "".join(separator.join(row) + "\n" for row in [TRIPLE, *body]).encode()


def links(separator: str, rows: int = ROWS) -> bytes:
    """A table of links, the first four of which are between the graphs of ``small``."""
    body = [(f"l:é{n}", f"r:é{n}") for n in range(rows)]
    return "".join(separator.join(row) + "\n" for row in body).encode()


def small(side: str) -> bytes:
    """A graph of ten entities."""
    return "".join(f"{side}:é{n}\t{side}:r\t{side}:é{n * 7 % 10}\n" for n in range(10)).encode()


def names(kind: str, rows: int = ROWS) -> bytes:
    """Names of entities."""
    table = [(f"{side}:é{n}", f"name é {n}") for side in "lr" for n in range(rows)]
    if kind == ".json":
        return json.dumps([[entity, [name]] for entity, name in table], ensure_ascii=False).encode()
    return "".join(f"{TABLES[kind].join(row)}\n" for row in table).encode()


def vectors(rows: int = ROWS) -> bytes:
    """Word vectors as text."""
    body = [f"{n} {n % 7} {n % 5} 1\n" for n in range(rows)]
    return f"name 1 2 3\né 0 1 1\n{''.join(body)}".encode()


def lay_out(folder: Path) -> None:
    """Write valid files into a folder; Polars and the commands are used, so in a process apart."""
    from sameas.cli.main import main

    def run(*words: str) -> None:
        with contextlib.suppress(SystemExit):
            main(list(words), prog_name="sameas")

    os.chdir(folder)
    for side in "lr":
        Path(f"{side}.tsv").write_bytes(small(side))
    few, many = Path("few.tsv"), Path("links.tsv")
    few.write_bytes(links("\t", 10))
    many.write_bytes(links("\t"))
    for kind in LINK_KINDS[1:]:
        run("convert", str(many), f"links{kind}")
    run("align", "l.tsv", "r.tsv", "-o", "run")
    run("align", "l.tsv", "r.tsv", "-o", "paper.tsv", "--preset", "paper")
    run("align", "l.tsv", "r.tsv", "-o", "paris.tsv", "--method", "paris")
    run("explain", "run", "l:é1")  # so that its kernels are compiled once
    for name, content in parquet_columns().items():
        Path(f"{name}.parquet").write_bytes(content)
    heads = [f"a:{n}" for n in range(BIG)]
    statements = "".join(f"<{head}> <a:r> <a:x> .\n" for head in heads)
    for kind in ("nt", "ttl"):
        Path(f"big.{kind}").write_text(statements)
    for kind, separator in TABLES.items():
        Path(f"big{kind}").write_text("".join(f"{h}{separator}r{separator}x\n" for h in heads))
    columns = {"head": heads, "relation": ["r"] * BIG, "tail": heads[::-1]}
    Path("big.parquet").write_bytes(_parquet(columns))
    _write_package(Path("package"))
    raise SystemExit(0)


def _write_package(folder: Path) -> None:
    """A copy of the package that nobody can write to."""
    clean = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(sameas.__file__).parent, folder / "sameas", ignore=clean)
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o555)


def parquet_columns() -> dict[str, bytes]:
    """Parquet files of graphs (g), links (k) and embeddings (e), a column of each odd type."""
    import polars as pl

    moment = datetime.datetime(2020, 1, 2, 3, 4, 5)
    columns = {
        "date": pl.Series([moment.date()] * 3),
        "datetime": pl.Series([moment] * 3),
        "zoned": pl.Series([moment] * 3).dt.replace_time_zone("Europe/Paris"),
        "time": pl.Series([moment.time()] * 3),
        "duration": pl.Series([datetime.timedelta(seconds=1)] * 3),
        "decimal": pl.Series([decimal.Decimal("1.5")] * 3),
        "binary": pl.Series([b"\xff\x00"] * 3),
        "list": pl.Series([["a"], [], None]),
        "array": pl.Series([[1.0, 2.0]] * 3, dtype=pl.Array(pl.Float64, 2)),
        "struct": pl.Series([{"a": 1}] * 3),
        "boolean": pl.Series([True, False, None]),
        "null": pl.Series([None] * 3),
        "nulls": pl.Series(["a", None, "b"]),
        "categorical": pl.Series(["a", "b", "a"], dtype=pl.Categorical),
        "enum": pl.Series(["a", "b", "a"], dtype=pl.Enum(["a", "b"])),
        "int8": pl.Series([1, 2, 3], dtype=pl.Int8),
        "uint64": pl.Series([2**64 - 1, 0, 1], dtype=pl.UInt64),
        "float": pl.Series([1.5, float("nan"), float("inf")]),
        "empty": pl.Series([""] * 3),
        "newlines": pl.Series(["a\nb", "\t", "\x00"]),
    }
    files = {}
    for name, column in columns.items():
        text = pl.Series(["a", "b", "c"])
        for place, header in (("g", TRIPLE), ("k", ("left", "right"))):
            for odd in header:
                table = pl.DataFrame({each: column if each == odd else text for each in header})
                files[f"{place}-{odd}-{name}"] = table
        entities = pl.Series([f"l:é{n}" for n in range(3)])
        files[f"e-x-{name}"] = pl.DataFrame({"entity": entities, "x": column})
        files[f"e-entity-{name}"] = pl.DataFrame({"entity": column, "x": [1.0, 2.0, 3.0]})
    long = pl.Series(["x" * 2**20]).new_from_index(0, 1000)  # a gigabyte when it is read
    short = pl.Series([str(n) for n in range(1000)])
    files["g-bomb"] = pl.DataFrame({"head": short, "relation": long, "tail": long})
    files["k-bomb"] = pl.DataFrame({"left": short, "right": long})
    return {name: _parquet(table) for name, table in files.items()}


def _parquet(columns: object) -> bytes:
    import polars as pl

    file = io.BytesIO()
    pl.DataFrame(columns).write_parquet(file)
    return file.getvalue()
