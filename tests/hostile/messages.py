"""What is said about input that cannot be used: the place, what is wrong, what to do.

The other parts of the table promise that bad input is refused in one sentence. These rows
promise what the sentence says. They use no other files than their own and run on every system.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from .bad import CODECS
from .good import DBP15K, OPENEA

Content = bytes | Callable[[], bytes]
LEFT = (
    b"fr:Londres\tfr:capitale\tfr:Royaume-Uni\nfr:Paris\tfr:capitale\tfr:France\n"
    b"fr:Lyon\tfr:ville\tfr:France\nfr:Marseille\tfr:ville\tfr:France\n"
)
RIGHT = (
    b"en:London\ten:capital\ten:United_Kingdom\nen:Paris\ten:capital\ten:France\n"
    b"en:Lyon\ten:city\ten:France\nen:Marseille\ten:city\ten:France\n"
)
LINKS = b"fr:Londres\ten:London\nfr:Paris\ten:Paris\n"
TWO = {"left.tsv": LEFT, "right.tsv": RIGHT, "out/links.tsv": b"earlier\n"}
"""Two graphs, and the result of an earlier run, which must stay as it is."""
OUT = ("-o", "out/links.tsv")
ALIGN = ("align", "left.tsv", "right.tsv", *OUT)
WORDS = (*ALIGN, "--features", "word", "--word-vectors")
LATIN1 = b"\xe9"
NOT_UTF8 = "not UTF-8 text; convert"


@dataclass(frozen=True)
class Refusal:
    """A command that is refused, and texts that its message holds."""

    name: str
    command: tuple[str, ...]
    says: tuple[str, ...]
    files: Mapping[str, Content] = field(default_factory=lambda: dict(TWO))


def refusals() -> Iterator[Refusal]:
    """All rows."""
    for rows in (
        paths,
        columns,
        tables,
        encodings,
        sizes,
        names,
        vectors,
        arrays,
        links,
        options,
        outputs,
        records_and_graphs,
    ):
        yield from rows()


def _folder(files: Mapping[str, bytes], **changes: bytes) -> dict[str, Content]:
    return {f"pair/{name}": content for name, content in {**files, **changes}.items()}


def _longer(files: Mapping[str, bytes], name: str, line: bytes) -> dict[str, Content]:
    return _folder(files, **{name: files[name] + line})


def paths() -> Iterator[Refusal]:
    """Files that are not there, or are something else."""
    yield Refusal(
        "a missing file",
        ("align", "left.tsv", "missing.tsv", *OUT),
        ("missing.tsv: no such file; check the path",),
    )
    yield Refusal(
        "a missing folder",
        ("align", "missing", *OUT),
        ("missing: no such file or folder; check the path",),
    )
    unknown = ("pair: not a known layout: found readme.txt", "triples_1 and")
    yield Refusal("an unknown layout", ("align", "pair", *OUT), unknown, {"pair/readme.txt": b"x"})
    many: dict[str, Content] = {f"pair/file{n:03}": b"x" for n in range(100)}
    found = ("pair: not a known layout: found file000, ",)
    yield Refusal("an unknown layout of many files", ("align", "pair", *OUT), found, many)
    one = ("left.tsv: ", "two files of triples expected, found one file")
    yield Refusal("one file instead of two", ("align", "left.tsv", *OUT), one)
    three = ("align", "left.tsv", "right.tsv", "left.tsv", *OUT)
    yield Refusal("three inputs", three, ("left.tsv: is given twice; give each graph once",))
    both = ("pair: is a folder", "two files of triples")
    yield Refusal("two folders", ("align", "pair", "pair", *OUT), both, _folder(OPENEA))
    suffix = ('left.odt: suffix ".odt" is not known', ".tsv, .csv, .parquet")
    files = {**TWO, "left.odt": LEFT}
    yield Refusal("an unknown suffix", ("align", "left.odt", "right.tsv", *OUT), suffix, files)
    no_run = ("pair: is not a run folder",)
    for command in (("evaluate", "pair", "pair"), ("convert", "pair", "out/links.tsv")):
        yield Refusal(f"{command[0]} of no run", command, no_run, _folder(OPENEA))


def columns() -> Iterator[Refusal]:
    """Lines with the wrong number of columns, ids that are no numbers, graphs without triples."""
    for row in (b"a", b"a\tr", b"a\tr\tb\tc"):
        width = len(row.split(b"\t"))
        said = ("left.tsv:5: 3 ", "columns expected", f"found {width}: ")
        yield Refusal(f"a line {row!r}", ALIGN, said, {**TWO, "left.tsv": LEFT + row + b"\n"})
    for suffix, codec in (
        (".csv", bytes),
        (".tsv.gz", CODECS[".gz"]),
        (".tsv.zst", CODECS[".zst"]),
    ):
        content = LEFT.replace(b"\t", b",") if suffix == ".csv" else LEFT
        files = {**TWO, f"left{suffix}": codec(content + b"a\n")}
        command = ("align", f"left{suffix}", "right.tsv", *OUT)
        yield Refusal(
            f"a short line of {suffix}", command, (f"left{suffix}:5: 3 ", "found 1"), files
        )
    for name in ("triples_1", "ent_ids_2", "ref_ent_ids", "rel_ids_1"):
        line = DBP15K[name].count(b"\n") + 1
        for text in (b"7", b"1\t2\t3\t4\t5"):
            said = (f"pair/{name}:{line}: ", "columns expected", "found ")
            files = _longer(DBP15K, name, text + b"\n")
            yield Refusal(f"{name}: {text!r}", ("align", "pair", *OUT), said, files)
    for name in ("ent_ids_1", "rel_ids_2", "triples_1", "ref_ent_ids"):
        for number in ("x7", "7.5", "0x7", "9" * 30):
            row = number.encode() + DBP15K[name][1:]
            said = (f"pair/{name}:1: a whole number expected", f'found "{number}"')
            files = _folder(DBP15K, **{name: row})
            yield Refusal(f"{name}: id {number[:5]}", ("align", "pair", *OUT), said, files)
    for side, row in (("1", b"77777\t7\t2\n"), ("2", b"77777\t8\t4\n")):
        said = (f"pair/triples_{side}:2: head 77777 is not in ent_ids_{side}; add it there",)
        files = _longer(DBP15K, f"triples_{side}", row)
        yield Refusal(f"an unknown head of {side}", ("align", "pair", *OUT), said, files)
    for content in (b"", b"\n", b"\n\n\n", b"\xef\xbb\xbf"):
        for suffix, codec in ((".tsv", bytes), (".csv", bytes), (".tsv.gz", CODECS[".gz"])):
            said = (f"empty{suffix}: holds no triples; a graph needs at least one",)
            command = ("align", "left.tsv", f"empty{suffix}", *OUT)
            files = {**TWO, f"empty{suffix}": codec(content)}
            yield Refusal(f"an empty graph {content!r} {suffix}", command, said, files)
    for layout in (DBP15K, OPENEA):  # entities without triples would be enough
        kept = {k: v for k, v in layout.items() if k[:3] not in ("ref", "sup", "tra", "ent")}
        kept |= {k: v for k, v in layout.items() if k.startswith("ent_ids")}
        files = _folder({k: b"" if k.endswith("_2") else v for k, v in kept.items()})
        said = ("pair", "holds no triples")
        name = f"a folder whose right graph is empty: {', '.join(kept)}"
        yield Refusal(name, ("align", "pair", *OUT), said, files)


def tables() -> Iterator[Refusal]:
    """Tables of records whose first row is not one of names of columns."""
    command = ("inspect", "x.csv", "--table", "records")
    said = ("x.csv:1: columns 2 and 3 are the same", "leave one out")
    yield Refusal("a column twice", command, said, {"x.csv": b"id,name,name\na,b,c\n"})
    files = {"x.csv": b":ID,name,:END_ID\na,b,c\n"}
    said = ("x.csv:1: the header has :ID, of nodes, and :END_ID, of relationships; make",)
    yield Refusal("nodes that are relationships", ("inspect", "x.csv"), said, files)
    said = ("x.csv: found ", " cells below 2 names of columns; every row needs as many")
    yield Refusal("lines that end with CR", command, said, {"x.csv": b"id,name\ra,b\rc,d\r"})


def encodings() -> Iterator[Refusal]:
    """Text that is not UTF-8, in every kind of file."""
    for suffix, codec in (
        (".tsv", bytes),
        (".tsv.gz", CODECS[".gz"]),
        (".tsv.zst", CODECS[".zst"]),
    ):
        files = {**TWO, f"odd{suffix}": codec(b"a\tr\tb\n" + LATIN1 + b"\tr\tb\n")}
        command = ("align", f"odd{suffix}", "right.tsv", *OUT)
        yield Refusal(
            f"triples{suffix} in Latin-1", command, (f"odd{suffix}:2: {NOT_UTF8}",), files
        )
    files = {**TWO, "odd.csv": b"a,r,b\n" + LATIN1 + b",r,b\n"}
    command = ("align", "odd.csv", "right.tsv", *OUT)
    yield Refusal("triples.csv in Latin-1", command, (f"odd.csv:2: {NOT_UTF8}",), files)
    for layout, names in (
        (DBP15K, ("ent_ids_1", "rel_ids_2", "triples_1", "ref_ent_ids", "sup_ent_ids")),
        (OPENEA, ("rel_triples_1", "attr_triples_2", "ent_links")),
    ):
        for name in names:
            said = (f"pair/{name}:", f": {NOT_UTF8} the file")
            row = _longer(layout, name, LATIN1 + b"\t1\n")
            yield Refusal(f"{name} in Latin-1", ("align", "pair", *OUT), said, row)
    for name, text in (
        ("names.tsv", b"fr:Paris\t\xe9"),
        ("names.csv", b'fr:Paris,"\xe9"'),
        ("names.json", b'{"fr:Paris":\n"\xe9"}'),
    ):
        said = (f"{name}:", f": {NOT_UTF8}")
        yield Refusal(f"{name} in Latin-1", (*ALIGN, "--names", name), said, {**TWO, name: text})
    text = b"paris 1 2\n" + LATIN1 + b" 1 2\n"
    for name, content in (("v.txt", text), ("v.txt.gz", CODECS[".gz"](text))):
        said = (f"{name}:2: {NOT_UTF8}",)
        yield Refusal(f"{name} in Latin-1", (*WORDS, name), said, {**TWO, name: content})
    files = {**TWO, "good.tsv": b"a\tb\n", "odd.tsv": b"a\tb\n" + LATIN1 + b"\tb\n"}
    files |= {"odd.csv": b"a,b\n" + LATIN1 + b",b\n"}
    for command in (
        ("evaluate", "odd.tsv", "good.tsv"),
        ("evaluate", "good.tsv", "odd.tsv"),
        ("convert", "odd.tsv", "out/links.csv"),
        ("convert", "odd.csv", "out/links.csv"),
        (*ALIGN, "--among", "odd.tsv"),
        ("evaluate", "good.tsv", "good.tsv", "--no-match", "odd.tsv"),
    ):
        said = (f":2: {NOT_UTF8}" if "--no-match" not in command else "odd.tsv:2: not UTF-8",)
        yield Refusal(f"Latin-1: {' '.join(command)}", command, said, files)


def sizes() -> Iterator[Refusal]:
    """Archives that were cut, files that hold too much, nesting that is too deep."""
    rows = "".join(f"a{i}\tr\tb{i * i}\n" for i in range(3000)).encode()
    packed = CODECS[".gz"](rows)
    whole = "is the file whole?"
    for cut in (-4, len(packed) // 2, 12):
        files = {**TWO, "cut.tsv.gz": packed[:cut]}
        command = ("align", "cut.tsv.gz", "right.tsv", *OUT)
        yield Refusal(f"gzip cut at {cut}", command, ("cut.tsv.gz: ", whole), files)
    files = {**TWO, "cut.tsv.zst": CODECS[".zst"](rows)[:-2000]}
    command = ("align", "cut.tsv.zst", "right.tsv", *OUT)
    yield Refusal("Zstandard cut", command, ("cut.tsv.zst: ", whole), files)
    text = "".join(f"word{i} {i} {i * i}\n" for i in range(3000)).encode()
    files = {**TWO, "v.txt.gz": CODECS[".gz"](text)[:-500]}
    yield Refusal("word vectors cut", (*WORDS, "v.txt.gz"), ("v.txt.gz: ", whole), files)

    few = {**TWO, "gold.tsv": LINKS}
    for name, line, command in (
        ("big.tsv.gz", b"a\tb\n", ("convert", "big.tsv.gz", "out/k.nt")),
        ("big.jsonl.gz", b'{"left": "a", "right": "b"}\n', ("convert", "big.jsonl.gz", "out/k.nt")),
        ("big.sssom.tsv.gz", b"subject_id\n", ("convert", "big.sssom.tsv.gz", "out/k.nt")),
        ("big.nt.zst", b"<x:a> <x:p> <x:b> .\n", ("evaluate", "big.nt.zst", "gold.tsv")),
        ("big.rdf.gz", b"<!-- x -->\n", ("evaluate", "gold.tsv", "big.rdf.gz")),
        ("big.tsv", b"a\tb\n", ("evaluate", "gold.tsv", "big.tsv")),
        ("big.tsv.gz", b"a\tr\tb\n", ("align", "big.tsv.gz", "right.tsv", *OUT)),
        ("big.json.gz", b"[[[[\n", (*ALIGN, "--names", "big.json.gz")),
        ("big.tsv.gz", b"a\tb\n", (*ALIGN, "--seeds", "big.tsv.gz")),
        ("big.txt.gz", b"word 1 2\n", (*WORDS, "big.txt.gz")),
    ):
        content = line * (2**21 // len(line))
        codec = CODECS.get("." + name.rpartition(".")[2], bytes)
        said = (f"{name}: ", "holds more than 1,048,576 bytes", "--max-bytes")
        files = {**few, name: codec(content)}
        yield Refusal(
            f"too large: {' '.join(command)}", (*command, "--max-bytes", "1M"), said, files
        )
    for kind, text in (("numbers", b"word " + b"1 " * 2**24), ("letters", b"word" * 2**23)):
        files = {**TWO, "v.txt.zst": CODECS[".zst"](text)}
        said = ("v.txt.zst:1: ", "longer than 16 MiB")
        yield Refusal(f"a line of many {kind}", (*WORDS, "v.txt.zst"), said, files)

    inner = {
        "objects": ('{"x:p": ', "}"),
        "lists": ('[{"x:p": "\\"]"}, ', "]"),
        "contexts": ('{"@context": {"a": {"@id": "x:a", "@context": ', "}}}"),
    }
    for kind, (begin, end) in inner.items():
        json = (
            '{"@id": "x:a", "x:q": {"@id": "x:b"}, "x:p": ' + begin * 600 + "{}" + end * 600 + "}"
        )
        said = ("deep.jsonld: is nested more than 256 levels deep",)
        files = {"deep.jsonld": json.encode()}
        yield Refusal(f"nested {kind} of JSON-LD", ("inspect", "deep.jsonld"), said, files)


def names() -> Iterator[Refusal]:
    """Names in the wrong shape."""
    shape = "expected [[entity, [word, ...]], ...]"
    for text in (
        *("", "{", "7", "[]", '[["a"]]', '[["fr:Paris", 7]]', '{"fr:Paris": {"en": "Paris"}}'),
        *("[" * 10**5, "[" * 500 + "]" * 500),
    ):
        files = {**TWO, "names.json": text.encode()}
        command = (*ALIGN, "--names", "names.json")
        yield Refusal(f"names {text[:30]!r} {len(text)}", command, ("names.json:", shape), files)
    files = _folder(DBP15K, **{"translated_names.json": b'[[1, "Paris"], {"2": "Lyon"}]'})
    said = ("pair/translated_names.json: row 2: expected ",)
    yield Refusal("translated names", ("align", "pair", *OUT), said, files)
    for row in (b"fr:Paris\n", b"fr:Paris\tParis\tfr\n"):
        said = ("names.tsv:1: 2 tab-separated columns expected (entity, name), found ",)
        files = {**TWO, "names.tsv": row}
        yield Refusal(f"names {row!r}", (*ALIGN, "--names", "names.tsv"), said, files)
    files = {**TWO, "names.tsv": b"nobody\tNobody\n"}
    said = ("names.tsv: none of its entities",)
    yield Refusal("names of nobody", (*ALIGN, "--names", "names.tsv"), said, files)
    three = (*ALIGN, *("--names", "names.tsv") * 3)
    yield Refusal("three files of names", three, ("must be one file or one a",), files)


def vectors() -> Iterator[Refusal]:
    """Word vectors in the wrong shape."""
    for text, said in (
        ("paris 1 2\nlyon 1 2 3\n", "v.txt:2: 2 numbers expected after the word"),
        ("paris 1 2\nlyon 1\n", "v.txt:2: 2 numbers expected after the word"),
        ("fr:paris 1 x\n", 'v.txt:1: a number expected, found "x"'),
        ("fr:paris 1 nan\n", "v.txt:1: a number is not finite"),
        ("fr:paris 1 inf\n", "v.txt:1: a number is not finite"),
        ("", "v.txt: holds no word vectors"),
        ("\n\n", "expected"),
        ("paris\nlyon\n", "expected"),
    ):
        files = {**TWO, "v.txt": text.encode()}
        yield Refusal(f"word vectors {text!r}", (*WORDS, "v.txt"), (said,), files)
    unused = (*ALIGN, "--word-vectors", "missing.txt")
    yield Refusal("word vectors that are not used", unused, ("features",))


def arrays() -> Iterator[Refusal]:
    """Embeddings that are no rows of numbers for all entities."""
    for name, rows in {
        "too few rows": np.ones((11, 2)),
        "one axis": np.ones(12),
        "three axes": np.ones((12, 2, 2)),
        "text": np.array(["a"] * 12),
        "nan": np.ones((12, 2)) * np.nan,
        "infinity": np.ones((12, 2)) * np.inf,
        "complex": np.ones((12, 2), dtype=complex),
        "a scalar": np.array(7.0),
        "no columns": np.ones((12, 0)),
        "objects": np.array([{}] * 12),
    }.items():
        file = io.BytesIO()
        np.save(file, rows, allow_pickle=True)
        files = {**TWO, "rows.npy": file.getvalue()}
        command = (*ALIGN, "--embeddings", "rows.npy")
        yield Refusal(f"embeddings: {name}", command, ("rows.npy: ",), files)
    for name in ("rows.npy", "rows.parquet", "rows.txt"):
        files = {**TWO, name: b"hello\n"}
        yield Refusal(f"{name} of text", (*ALIGN, "--embeddings", name), (f"{name}: ",), files)
    file = io.BytesIO()
    np.save(file, np.ones((12, 2)))
    files = {**TWO, "rows.npy": file.getvalue()}
    command = (*ALIGN, "--embeddings", "rows.npy", "--features", "word")
    yield Refusal("embeddings and features", command, ("embeddings take the place of",), files)


def links() -> Iterator[Refusal]:
    """Links of entities that do not exist, that contradict each other, or are none."""
    gold = _longer(OPENEA, "ent_links", b"x:z\ty:b\n")
    said = ("not in the left graph", '"x:z"')
    yield Refusal("gold of an unknown entity", ("align", "pair", *OUT), said, gold)
    no_gold = ("--among must be links",)
    yield Refusal("--among gold without gold", (*ALIGN, "--among", "gold"), no_gold)
    unknown = b"fr:Atlantide\ten:London\n"
    said = ("among must", '"fr:Atlantide"')
    files = {**TWO, "known.tsv": unknown}
    yield Refusal("--among of an unknown entity", (*ALIGN, "--among", "known.tsv"), said, files)
    for flag in ("--seeds", "--reject"):
        command = (*ALIGN, flag, "known.tsv")
        for row, side, name in (
            (unknown, "left", "fr:Atlantide"),
            (b"fr:Paris\ten:Eden\n", "right", "en:Eden"),
        ):
            must = (
                f"{flag} must name entities of the two graphs, got 1 that are not in the {side} one"
            )
            files = {**TWO, "known.tsv": b"fr:Londres\ten:London\n" + row}
            yield Refusal(f"{flag} of {name}", command, (must, f'"{name}"'), files)
        missing = (*ALIGN, flag, "missing.tsv")
        yield Refusal(f"{flag} from nowhere", missing, ("missing.tsv: no such file",))
        for content in (b"", b"fr:Paris\n"):
            files = {**TWO, "known.tsv": content}
            yield Refusal(f"{flag} {content!r}", command, ("known.tsv",), files)
        unused = f"{flag} has no effect here: it is used in refinement, and --rounds is 0"
        for how in (("--rounds", "0"), ("--preset", "paper")):
            files = {**TWO, "known.tsv": LINKS}
            yield Refusal(f"{flag} with {how[0]} {how[1]}", (*command, *how), (unused,), files)
        for mark in ("\0", "\r", "\x1b[2J", "\u2028", "\u202e"):
            files = {**TWO, "known.tsv": f"fr:{mark}x\ten:London\n".encode()}
            escaped = repr(mark)[1:-1]
            yield Refusal(f"{flag} with {escaped}", command, (f"fr:{escaped}x",), files)
    for row, side in ((b"fr:Londres\ten:Paris\n", "left"), (b"fr:Lyon\ten:London\n", "right")):
        files = {**TWO, "known.tsv": LINKS + row}
        said = (f"--seeds must name a {side} entity once",)
        yield Refusal(f"a {side} seed twice", (*ALIGN, "--seeds", "known.tsv"), said, files)
    files = {**TWO, "known.tsv": LINKS}
    both = (*ALIGN, "--seeds", "known.tsv", "--reject", "known.tsv")
    said = ("--seeds must not be rejected, got", "that --reject names too")
    yield Refusal("a seed that is rejected", both, said, files)
    files = {**TWO, "seeds.tsv": b"fr:Londres\ten:Lyon\n", "among.tsv": b"fr:Londres\ten:London\n"}
    command = (*ALIGN, "--seeds", "seeds.tsv", "--among", "among.tsv")
    yield Refusal("a seed outside of --among", command, ("--seeds must not link",), files)
    files = {"found.tsv": LINKS, "gold.tsv": b""}
    said = ("gold.tsv: holds no links; two columns expected",)
    yield Refusal("gold without links", ("evaluate", "found.tsv", "gold.tsv"), said, files)
    convert = ("convert", "found.rdf", "out/k.tsv")
    yield Refusal("an empty alignment", convert, ("found.rdf: is empty",), {"found.rdf": b""})
    said = ("left.tsv:1: 2 tab-separated columns expected (left, right), found 3",)
    yield Refusal("triples as links", ("convert", "left.tsv", "out/k.csv"), said)


def options() -> Iterator[Refusal]:
    """Values that an option does not take; tests/options has the library's side of it."""
    for flag, value in (
        *(("features", "letters"), ("without", "luck"), ("preset", "worst"), ("rounds", "-1")),
        *(("rounds", "1001"), ("depth", "two"), ("depth", "1.5"), ("iterations", "1000000000")),
        *(
            ("temperature", "0"),
            ("temperature", "nan"),
            ("temperature", "warm"),
            ("memory", "lots"),
        ),
        *(("memory", "0"), ("memory", "-4G"), ("memory", ""), ("memory", "9" * 400)),
        *(("min-confidence", "2"), ("min-confidence", "nan"), ("top", "0"), ("top", "ten")),
    ):
        command = (*ALIGN, f"--{flag}", value)
        yield Refusal(f"--{flag} {value[:20]}", command, (flag, value[:20]))
    yield Refusal("an unknown option", (*ALIGN, "--dept", "2"), ("--dept", "--help"))
    yield Refusal("an unknown command", ("aling",), ("aling", "--help"))
    yield Refusal("no output", ("align", "left.tsv", "right.tsv"), ("--out",))
    for flag, value in (
        *(("solver", "hungarian"), ("rounds", "2"), ("text", "plain"), ("without", "votes")),
    ):
        command = (*ALIGN, "--method", "paris", f"--{flag}", value)
        said = (f"--{flag} has no effect here: method 'paris' does not use it",)
        yield Refusal(f"--{flag} for PARIS", command, said)
    escaped = ("\\udcff", "is not text in the encoding of this system")
    for command in (("inspect", "\udcff.tsv"), (*ALIGN, "--names", "\udcff")):
        yield Refusal(f"{command[0]} of no UTF-8", command, escaped)


def outputs() -> Iterator[Refusal]:
    """Places where nothing can be written."""
    align = ("align", "left.tsv", "right.tsv", "-o")
    for name, out, said, more in (
        ("in no folder", "missing/k.tsv", ("missing/k.tsv: ", "does not exist"), {}),
        ("below a file", "file/k.tsv", ("file/k.tsv: ", "is not a folder"), {"file": b"x"}),
        ("no run", "thesis", ("thesis: exists and is not a run folder",), {"thesis/one": b"x"}),
        ("a file", "thesis", ("thesis: exists and is not a run folder",), {"thesis": b"x"}),
        ("a folder", "k.tsv", ("k.tsv: is a folder",), {"k.tsv/one": b"x"}),
        ("too long", "a" * 252 + ".tsv", ("File name too long",), {}),
        ("too deep", "a/" * 3000 + "b.tsv", ("b.tsv: ",), {}),
        *((f"{name!r}", name, ("is the folder itself; give it a name",), {}) for name in "./"),
        ("'..'", "..", ("is the folder itself; give it a name",), {}),
    ):
        yield Refusal(f"output: {name}", (*align, out), said, {**TWO, **more})
    for out in ("k.xlsx", "k.json", "k.tsv.gz"):
        said = (f"{out}: suffix ", "is not known", ".tsv")
        yield Refusal(f"output {out}", (*align, out), said)
        yield Refusal(f"conversion to {out}", ("convert", "k.tsv", out), said, {"k.tsv": LINKS})
    said = ('suffix "" is not known; use .tsv',)
    yield Refusal("conversion to a run", ("convert", "k.tsv", "run"), said, {"k.tsv": LINKS})


OK = b"id,name\n1,Ann\n2,Bo\n"
NODES = b":ID,name,:LABEL\n1,Ann,P\n2,Bo,P\n"
WAYS = ("--table triples", "--table records", "--table edges")
RECORDS_AND_GRAPHS: tuple[tuple[str, str, bytes, tuple[str, ...]], ...] = (
    (
        "an id that stands twice",
        "left.csv",
        b"id,name\n1,Ann\n1,Bo\n",
        ('left.csv:1: has the columns id, name, and none of distinct ids ("id" holds "1" twice)',),
    ),
    (
        "a header that says nothing, and an empty cell",
        "left.csv",
        b"foo,bar,baz\nx,,z\ny,b,x\n",
        ("left.csv:1: has the columns foo, bar, baz", *WAYS),
    ),
    ("only names", "left.csv", b"name\nAnn\nBo\n", ("left.csv:1: has the columns name", *WAYS)),
    (
        "semicolons in .tsv",
        "left.tsv",
        b"id;name\n1;Ann\n2;Bo\n",
        (
            'left.tsv:1: has one column, "id;name"; is it separated by semicolons?',
            "Then call it .csv",
        ),
    ),
    (
        "tabs in .csv",
        "left.csv",
        b"id\tname\n1\tAnn\n2\tBo\n",
        ("left.csv:1: has one column", "separated by tabs? Then call it .tsv"),
    ),
    (
        "a quote that is not closed",
        "left.csv",
        b'id,name\n1,Ann\n2,"Bo\n3,Cy\n',
        ("left.csv:3: a quote is opened and never closed; close it",),
    ),
    (
        "a web page",
        "left.csv",
        b"<!DOCTYPE html>\n<html><body>Sign in</body></html>\n",
        ("left.csv:1: is a web page (HTML), no table",),
    ),
    (
        "UTF-16",
        "left.csv",
        "id,name\n1,Ann\n".encode("utf-16"),
        (f"left.csv:1: {NOT_UTF8}",),
    ),
    (
        "JSON of numbers",
        "left.json",
        b"[1, 2]",
        ("left.json: row 1: an object with values by column expected, found 1",),
    ),
    (
        "nodes that are no list",
        "left.json",
        b'{"nodes": {"a": 1}, "links": []}',
        ('left.json: "nodes" is to be a list, found dict',),
    ),
    (
        "edges to nowhere",
        "left.json",
        b'{"nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 1, "target": 3}]}',
        ('left.json: no edge leads from node to node, the first because no node is called "3"',),
    ),
    (
        "a web page as GraphML",
        "left.graphml",
        b"<html><body>404 Not Found</body></html>",
        ("left.graphml: is not GraphML: it does not begin with <graphml>",),
    ),
    (
        "half a GraphML file",
        "left.graphml",
        b'<graphml><graph edgedefault="directed"><node id="a"/>',
        ("left.graphml:1:", "not well-formed XML", "is the file whole?"),
    ),
    (
        "a type that neo4j does not know",
        "left.csv",
        b":ID,age:number\n1,3\n",
        ('left.csv:1: column 2 of the header, "age:number", has the unknown type "number"',),
    ),
    (
        "relationships without nodes",
        "left.csv",
        b":START_ID,:END_ID,:TYPE\n1,2,KNOWS\n",
        ("left.csv: holds no nodes; a graph needs at least one",),
    ),
    ("no workbook", "left.xlsx", b"PK\x03\x04junk", ("left.xlsx: not a readable Excel workbook",)),
)


def records_and_graphs() -> Iterator[Refusal]:
    """Tables of records and property graphs that cannot be used, as people have them."""
    for name, file, content, says in RECORDS_AND_GRAPHS:
        files = {file: content, "right.csv": OK, "out/links.tsv": b"earlier\n"}
        yield Refusal(name, ("align", file, "right.csv", *OUT), says, files)
    ends = {"nodes.csv": NODES, "edges.csv": b":START_ID,:TYPE\n1,KNOWS\n", "right.csv": OK}
    command = ("align", "nodes.csv,edges.csv", "right.csv", *OUT)
    said = ("edges.csv:1: the header has no column :END_ID; add it",)
    yield Refusal("edges without an end", command, said, {**ends, "out/links.tsv": b"earlier\n"})
    carried = ("align", "left.csv", "right.csv", *OUT, "--with", "town")
    files = {"left.csv": OK, "right.csv": OK, "out/links.tsv": b"earlier\n"}
    said = ("--with must be columns of the inputs, got 'town' instead", "are name, id")
    yield Refusal("a column to carry that is nowhere", carried, said, files)
