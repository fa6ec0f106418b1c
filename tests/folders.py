"""Small graphs as files and folders, in every layout and format that can be read."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path

import polars as pl

HEADER = ("head", "relation", "tail")

LEFT = [
    ("fr:Londres", "fr:capitale", "fr:Royaume-Uni"),
    ("fr:Paris", "fr:capitale", "fr:France"),
    ("fr:Lyon", "fr:ville", "fr:France"),
    ("fr:Marseille", "fr:ville", "fr:France"),
]
RIGHT = [
    ("en:London", "en:capital", "en:United_Kingdom"),
    ("en:Paris", "en:capital", "en:France"),
    ("en:Lyon", "en:city", "en:France"),
    ("en:Marseille", "en:city", "en:France"),
]
GOLD = [
    ("fr:Londres", "en:London"),
    ("fr:Paris", "en:Paris"),
    ("fr:Lyon", "en:Lyon"),
    ("fr:France", "en:France"),
]
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"


def entities_of(triples):
    """Heads and tails in order of first appearance, heads first."""
    return list(dict.fromkeys([h for h, _, _ in triples] + [t for _, _, t in triples]))


def lines(rows, *, end="\n"):
    """Rows as tab-separated text."""
    return "".join("\t".join(str(cell) for cell in row) + end for row in rows)


def put(path, content):
    """Write text (as UTF-8) or bytes, compressed if the suffix says so; returns the path."""
    path = Path(path)
    data = content if isinstance(content, bytes) else content.encode()
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    elif path.suffix == ".zst":
        data = zstd(data)
    path.write_bytes(data)
    return path


def table(path, rows, *, header=None, end="\n"):
    """Write rows as the suffix says: .tsv, .csv or .parquet, plain or .gz or .zst."""
    path = Path(path)
    suffixes = [s for s in path.suffixes if s in (".tsv", ".csv", ".parquet")]
    if suffixes[-1:] == [".parquet"]:
        names = header or HEADER
        pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row").write_parquet(path)
        return path
    rows = [header, *rows] if header else rows
    if suffixes[-1:] == [".csv"]:
        text = io.StringIO()
        csv.writer(text, lineterminator=end).writerows(rows)
        return put(path, text.getvalue())
    return put(path, lines(rows, end=end))


def two_tables(folder, *, left=LEFT, right=RIGHT, suffix=".tsv"):
    """Two tables of triples; returns their paths."""
    return table(folder / f"left{suffix}", left), table(folder / f"right{suffix}", right)


def openea(folder, *, left=LEFT, right=RIGHT, gold=GOLD, attributes=None):
    """A folder in the OpenEA layout; ``attributes`` is one list of triples a side."""
    folder.mkdir(exist_ok=True)
    put(folder / "rel_triples_1", lines(left))
    put(folder / "rel_triples_2", lines(right))
    for side, rows in enumerate(attributes or (), start=1):
        put(folder / f"attr_triples_{side}", lines(rows))
    if gold is not None:
        put(folder / "ent_links", lines(gold))
    return folder


def dbp15k(
    folder,
    *,
    left=LEFT,
    right=RIGHT,
    gold=GOLD,
    supervised=None,
    names=None,
    relations=True,
    extra=(),
    end="\n",
):
    """A folder in the DBP15K layout; ids are not contiguous and not in the order of the triples.

    ``extra`` are entities of the left side without triples. ``names`` maps URIs to lists of
    words and is written by id, as ``translated_names.json`` is.
    """
    folder.mkdir(exist_ok=True)
    ids = {}
    for side, triples in ((1, left), (2, right)):
        known = [*entities_of(triples), *(extra if side == 1 else ())]
        numbers = {uri: 1000 * side + 7 * place for place, uri in enumerate(reversed(known))}
        kinds = {r: 50 * side + 3 * k for k, r in enumerate(sorted({r for _, r, _ in triples}))}
        put(folder / f"ent_ids_{side}", lines([(n, uri) for uri, n in numbers.items()], end=end))
        if relations:
            put(folder / f"rel_ids_{side}", lines([(n, uri) for uri, n in kinds.items()], end=end))
        rows = [(numbers[h], kinds[r], numbers[t]) for h, r, t in triples]
        put(folder / f"triples_{side}", lines(rows, end=end))
        ids[side] = numbers
    for file, links in (("ref_ent_ids", gold), ("sup_ent_ids", supervised)):
        if links is not None:
            rows = [(ids[1][one], ids[2][other]) for one, other in links]
            put(folder / file, lines(rows, end=end))
    if names is not None:
        everyone = {**ids[1], **ids[2]}
        rows = [[everyone[uri], words] for uri, words in names.items()]
        put(folder / "translated_names.json", json.dumps(rows))
    return folder


def named_triples(graph):
    """A graph's triples as text, in order."""
    return [
        (graph.entities[h], graph.relations[r], graph.entities[t])
        for h, r, t in graph.triples.tolist()
    ]


def names_of(graph):
    """The name of each entity."""
    return dict(zip(graph.entities, graph.names, strict=True))


def contents(folder):
    """Every file below a folder, with its bytes."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file()
    }


def zstd(data):
    """A Zstandard frame of blocks that are stored as they are (RFC 8878, section 3.1.1)."""
    size = 2**17
    parts = [data[at : at + size] for at in range(0, len(data), size)] or [b""]
    frame = bytearray(b"\x28\xb5\x2f\xfd" + b"\x00" + bytes([(17 - 10) << 3]))
    for number, part in enumerate(parts, start=1):
        last = number == len(parts)
        frame += (len(part) << 3 | last).to_bytes(3, "little") + part
    return bytes(frame)
