"""Damaged input for every reader: only our own errors may come of it.

Run it from the root of the repository; it prints what it has found as one JSON object::

    python -m tests.hostile.fuzz --inputs 100000

Valid files (and folders) of every kind are damaged at random: bytes changed, cut out, doubled,
moved, taken from other formats. What is damaged is read, strictly or leniently; anything raised
that is no InputError or OptionError is a fault, and the input that made it is kept.

With ``--guided`` and atheris (``pip install atheris``), inputs that reach new lines of the readers
written by hand (tables, links, names, vectors, SSSOM, Alignment API) are kept and damaged again.
The corpus is the valid files.
"""

from __future__ import annotations

import argparse
import contextlib
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

import numpy as np
import polars as pl

with contextlib.ExitStack() as _stack:
    if "--guided" in sys.argv:  # atheris counts lines of what is imported under its eyes
        import atheris

        _stack.enter_context(atheris.instrument_imports(include=["sameas.formats"]))
    import sameas
    from sameas import InputError, OptionError, Reading
    from sameas.formats.rdf_syntax import FORMATS

from .bad import CODECS
from .good import DBP15K, OPENEA, TEXT, E, rdf, triples
from .report import fill, markdown

LINKS = f"{E}a\t{E}b\n{E}b\t{E}c\n"
SSSOM = (
    "#curie_map:\n#  a: http://a.org/\nsubject_id\tpredicate_id\tobject_id\tmapping_justification\n"
    "a:b\tskos:exactMatch\ta:c\tsemapv:LexicalMatching\n"
)
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

FIGURES = ("inputs", "read", "refused", "faults", "slowest, seconds")

Read = Callable[[Path, Reading], object]


def _parquet() -> bytes:
    file = io.BytesIO()
    table = {"head": ["a", "b"], "relation": ["r", "r"], "tail": ["b", "c"]}
    pl.DataFrame(table).write_parquet(file)
    return file.getvalue()


def read_one(path: Path, reading: Reading) -> object:
    """One graph."""
    return sameas.read_graph(path, reading=reading)


def read_links(path: Path, reading: Reading) -> object:
    """A file of links."""
    return sameas.read_links(path)


def read_names(path: Path, reading: Reading) -> object:
    """A benchmark folder's names, from a file beside it."""
    return sameas.read_pair(path.parent / "folder", names=path)


def read_vectors(path: Path, reading: Reading) -> object:
    """Word vectors, for two words."""
    from sameas.formats.vectors import read_word_vectors

    return read_word_vectors(path, pl.Series(["a", "b"]))


def read_folder(path: Path, reading: Reading) -> object:
    """A benchmark folder, of which one file is damaged."""
    return sameas.read_pair(path.parent)


def read_embeddings(path: Path, reading: Reading) -> object:
    """Feature rows of four entities."""
    from sameas.formats.vectors import read_embeddings

    return read_embeddings(path, pl.Series(["a", "b", "c", "d"]))


def read_dictionary(path: Path, reading: Reading) -> object:
    """A dictionary: text and gloss."""
    from sameas.formats.name_files import read_dictionary

    return read_dictionary(path)


ALIGNMENT = f"""<rdf:RDF xmlns="http://knowledgeweb.semanticweb.org/heterogeneity/alignment"
 xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><Alignment><map><Cell>
<entity1 rdf:resource="{E}a"/><entity2 rdf:resource="{E}b"/><measure>0.5</measure>
<relation>=</relation></Cell></map></Alignment></rdf:RDF>
"""


def _array() -> bytes:
    file = io.BytesIO()
    np.save(file, np.arange(12, dtype=np.float32).reshape(4, 3))
    return file.getvalue()


BY_HAND: dict[str, tuple[bytes, Read]] = {
    "t.tsv": (triples("\t", 5), read_one),
    "t.csv": (triples(",", 5), read_one),
    "links.tsv": (LINKS.encode(), read_links),
    "links.sssom.tsv": (SSSOM.encode(), read_links),
    "links.jsonl": (b'{"left": "a", "right": "b", "score": 0.5}\n', read_links),
    "gold.csv": (LINKS.replace("\t", ",").encode(), lambda path, _: sameas.read_gold(path)),
    "names.json": (b'[["x:a", ["A", "b"]], ["x:b", ["B"]]]', read_names),
    "names.tsv": (b"x:a\tA\nx:b\tB\n", read_names),
    "vectors.txt": (b"a 1 2\nb 0.5 1e-3\n", read_vectors),
    "links.rdf": (ALIGNMENT.encode(), read_links),
    "e.npy": (_array(), read_embeddings),
    "d.csv": (b"text,gloss\na,b\nc,d\n", read_dictionary),
}
SEEDS: dict[str, tuple[bytes, Read]] = {
    **{f"g.{kind}": (rdf(kind), read_one) for kind in FORMATS},
    "g.nt.gz": (CODECS[".gz"](rdf("nt")), read_one),
    "g.nq.bz2": (CODECS[".bz2"](rdf("nq")), read_one),
    "g.ttl.zst": (CODECS[".zst"](TEXT.encode()), read_one),
    "t.tsv.gz": (CODECS[".gz"](triples("\t", 5)), read_one),
    "t.csv.zst": (CODECS[".zst"](triples(",", 5)), read_one),
    "t.parquet": (_parquet(), read_one),
    **BY_HAND,
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
    for name, files in (("folder", DBP15K), ("dbp15k", DBP15K), ("openea", OPENEA)):
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


def guided(inputs: int, folder: Path, keep: Path) -> None:
    """Let atheris look for inputs of the readers written by hand; it ends at the first fault."""
    _fill(folder / "folder", DBP15K)
    names = list(BY_HAND)
    corpus = folder / "corpus"
    _fill(corpus, {name: bytes([n]) + BY_HAND[name][0] for n, name in enumerate(names)})
    keep.mkdir(exist_ok=True)

    def one(data: bytes) -> None:
        if not data:
            return
        name = names[data[0] % len(names)]
        (folder / name).write_bytes(data[1:])
        with contextlib.suppress(InputError, OptionError):
            BY_HAND[name][1](folder / name, Reading(max_bytes=10**7))

    flags = [f"-runs={inputs}", f"-artifact_prefix={keep}/", "-max_len=2000", str(corpus)]
    atheris.Setup([sys.argv[0], *flags], one)
    atheris.Fuzz()


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
    parser.add_argument("--report", type=Path, metavar="FILE", help="renew the row in this page")
    parser.add_argument("--guided", action="store_true", help="let atheris choose the inputs")
    options = parser.parse_args()
    logging.disable()
    with tempfile.TemporaryDirectory(prefix="sameas-fuzz-") as folder:
        if options.guided:
            guided(options.inputs, Path(folder), options.keep or Path("faults"))
            return
        found = fuzz(options.inputs, options.seed, Path(folder), keep=options.keep)
    print(json.dumps(found, indent=2, ensure_ascii=False))
    if options.report:
        numbers = (found[name] for name in ("inputs", "read", "refused", "faults"))
        row = (*(f"{number:,}" for number in numbers), str(found["slowest_seconds"]))
        fill(options.report, "fuzz", markdown(FIGURES, [row]))
    sys.exit(1 if found["faults"] else 0)


if __name__ == "__main__":
    main()
