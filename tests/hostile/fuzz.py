"""Damaged input for every reader: only our own errors may come of it.

Run it from the root of the repository; it prints what it has found as one JSON object::

    python tests/fuzz.py --inputs 100000

Valid files (and folders) of every kind are damaged at random: bytes changed, cut out, doubled,
moved, taken from other formats. What is damaged is read, strictly or leniently; anything raised
that is no InputError or OptionError is a fault, and the input that made it is kept.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import io
import json
import logging
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyoxigraph as ox
import zstandard

import sameas
from sameas import InputError, OptionError, Reading
from sameas.reading.syntax import FORMATS

E = "http://example.org/"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
TEXT = f"""@prefix : <{E}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skosxl: <http://www.w3.org/2008/05/skos-xl#> .
:a :r :b ; a :C ; rdfs:label "Ä \\"b\\" \\n"@de, "B"@en-GB ; :p 1, 2.5, true .
:b :s :c, [ :r :a ] ; skosxl:prefLabel :l . :l skosxl:literalForm "x" . _:n :r ( :a "é京" ) .
"""
LINKS = f"{E}a\t{E}b\n{E}b\t{E}c\n"
PIECES = [
    *(
        b"<",
        b">",
        b'"',
        b"\\",
        b"\\u12",
        b"\\uD800",
        b"\n",
        b"\r",
        b"\t",
        b"\x00",
        b"\xff",
        b"\xc3",
    ),
    *(b"_:", b"@", b"^^", b".", b";", b"[", b"]", b"(", b"{", b"}", b"#", b" ", b"<<(", b")>>"),
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"@prefix", b"<!ENTITY a 'b'>", b"&a;", b"&#0;", b"]]>"),
    *(b"\xe2\x80\xa8", b"null", b"1e999", b'{"@id":', b"<rdf:li>", b"rdf:nodeID='1'", b"--", b"%"),
]
"""What does damage."""

Read = Callable[[Path, Reading], object]


def _rdf(kind: str) -> bytes:
    quads = list(ox.parse(input=TEXT.encode(), format=ox.RdfFormat.TURTLE))
    format = FORMATS[kind]  # type: ignore[index]
    rows = quads if format.supports_datasets else [quad.triple for quad in quads]
    return ox.serialize(rows, format=format) or b""


def _table(separator: str) -> bytes:
    rows = [("head", "relation", "tail"), *((f"{E}{n}", f"{E}r", f'{E}"{n + 1}') for n in range(5))]
    return "".join(separator.join(row) + "\n" for row in rows).encode()


def _parquet() -> bytes:
    file = io.BytesIO()
    pl.DataFrame({"head": ["a", "b"], "relation": ["r", "r"], "tail": ["b", "c"]}).write_parquet(
        file
    )
    return file.getvalue()


def read_one(path: Path, reading: Reading) -> object:
    """One graph."""
    return sameas.read_graph(path, reading=reading)


def read_names(path: Path, reading: Reading) -> object:
    """A benchmark folder's names, from a file beside it."""
    return sameas.read_pair(path.parent / "folder", names=path)


def read_folder(path: Path, reading: Reading) -> object:
    """A benchmark folder, of which one file is damaged."""
    return sameas.read_pair(path.parent)


SEEDS: dict[str, tuple[bytes, Read]] = {
    **{f"g.{kind}": (_rdf(kind), read_one) for kind in FORMATS},
    "g.nt.gz": (gzip.compress(_rdf("nt"), mtime=0), read_one),
    "g.nq.bz2": (bz2.compress(_rdf("nq")), read_one),
    "g.ttl.zst": (zstandard.compress(TEXT.encode()), read_one),
    "t.tsv": (_table("\t"), read_one),
    "t.csv": (_table(","), read_one),
    "t.tsv.gz": (gzip.compress(_table("\t"), mtime=0), read_one),
    "t.csv.zst": (zstandard.compress(_table(",")), read_one),
    "t.parquet": (_parquet(), read_one),
    "links.tsv": (LINKS.encode(), lambda path, _: sameas.read_links(path)),
    "gold.csv": (LINKS.replace("\t", ",").encode(), lambda path, _: sameas.read_gold(path)),
    "names.json": (b'[["x:a", ["A", "b"]], ["x:b", ["B"]]]', read_names),
    "names.tsv": (b"x:a\tA\nx:b\tB\n", read_names),
}
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


def damaged(content: bytes, chance: random.Random) -> bytes:
    """The content with a few things wrong with it."""
    data = bytearray(content)
    for _ in range(chance.choice((1, 1, 1, 2, 4, 8))):
        at = chance.randrange(len(data) + 1)
        upto = min(len(data), at + chance.choice((1, 1, 2, 5, 20, 200)))
        what = chance.randrange(7)
        if what == 0:
            data[at:upto] = bytes(chance.randrange(256) for _ in range(upto - at))
        elif what == 1:
            del data[at:upto]
        elif what == 2:
            data[at:at] = chance.choice(PIECES)
        elif what == 3:
            data[at:upto] = chance.choice(PIECES)
        elif what == 4:
            data[at:at] = data[at:upto] * chance.choice((1, 2, 50))
        elif what == 5:
            begin = chance.randrange(len(data) + 1)
            data[at:at] = data[begin : begin + 40]
        else:
            del data[at:]
    return bytes(data)


def fuzz(inputs: int, seed: int, folder: Path, *, keep: Path | None = None) -> dict[str, object]:
    """Read so many damaged inputs: how many there were, by reader and by what came of them."""
    chance = random.Random(seed)
    found: Counter[str] = Counter()
    by_reader: Counter[str] = Counter()
    faults: list[str] = []
    slowest = (0.0, "")
    _fill(folder / "folder", DBP15K)
    for name, files in (("dbp15k", DBP15K), ("openea", OPENEA)):
        _fill(folder / name, files)
    places = [
        *((folder / name, content, read) for name, (content, read) in SEEDS.items()),
        *((folder / "dbp15k" / name, content, read_folder) for name, content in DBP15K.items()),
        *((folder / "openea" / name, content, read_folder) for name, content in OPENEA.items()),
    ]
    everything = [content for _, content, _ in places]
    for number in range(inputs):
        path, content, read = places[number % len(places)]
        source = content if chance.random() < 0.97 else chance.choice(everything)
        data = damaged(source, chance)
        path.write_bytes(data)
        reading = Reading(
            lenient=chance.random() < 0.5,
            max_bytes=10**7,
            language=("de",) if chance.random() < 0.2 else (),
            exclude=(f"{E}r",) if chance.random() < 0.2 else (),
            include=(f"{E}C",) if chance.random() < 0.2 else (),
            blank_nodes=chance.random() < 0.5,
            base=E if chance.random() < 0.5 else None,
        )
        begin = time.perf_counter()
        by_reader[path.name] += 1
        try:
            read(path, reading)
            found["read"] += 1
        except (InputError, OptionError) as error:
            found["refused"] += 1
            if not str(error).isprintable() or len(str(error)) > 700:
                faults.append(f"{path.name}: a message to be ashamed of: {str(error)[:300]!r}")
        except BaseException as error:  # a panic in Rust is no Exception
            if isinstance(error, KeyboardInterrupt):
                raise
            faults.append(f"{path.name}: {''.join(traceback.format_exception(error))[-1500:]}")
            if keep is not None:
                keep.mkdir(exist_ok=True)
                (keep / f"{len(faults)}.{path.name}").write_bytes(data)
        slowest = max(slowest, (time.perf_counter() - begin, path.name))
        path.write_bytes(content)
    return {
        "inputs": inputs,
        "seed": seed,
        **found,
        "faults": len(faults),
        "slowest_seconds": round(slowest[0], 3),
        "slowest": slowest[1],
        "by_reader": dict(by_reader),
        "first_faults": faults[:20],
    }


def _fill(folder: Path, files: dict[str, bytes]) -> None:
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


def main() -> None:
    """Read the command line, damage and read, print what came of it."""
    parser = argparse.ArgumentParser(description="Damaged input for every reader.")
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder for the inputs that made a fault")
    options = parser.parse_args()
    logging.disable()
    with tempfile.TemporaryDirectory(prefix="sameas-fuzz-") as folder:
        found = fuzz(options.inputs, options.seed, Path(folder), keep=options.keep)
    print(json.dumps(found, indent=2, ensure_ascii=False))
    sys.exit(1 if found["faults"] else 0)


if __name__ == "__main__":
    main()
