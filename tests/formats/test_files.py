"""Compressed files are read whole or refused, by every reader."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import random
import threading
import zlib

import polars as pl
import pytest
import zstandard

import sameas
from sameas import InputError, Reading
from sameas.formats import files
from sameas.formats.files import open_stream, read_bytes
from sameas.formats.name_files import read_names
from sameas.formats.vectors import read_word_vectors

PACK = {".gz": gzip.compress, ".bz2": bz2.compress, ".zst": zstandard.compress}
E = "http://example.org/"
CHANCE = random.Random(0)
NUMBERS = [(i, CHANCE.randrange(10**9)) for i in range(4_000)]
LINKS = [(f"{E}a{i}", f"{E}b{j}") for i, j in NUMBERS]
NT = "".join(f"<{a}> <http://www.w3.org/2002/07/owl#sameAs> <{b}> .\n" for a, b in LINKS)
READERS = {
    "g.nt": (NT, sameas.read_graph),
    "g.ttl": (NT, sameas.read_graph),
    "g.tsv": ("".join(f"{a}\tr\t{b}\n" for a, b in LINKS), sameas.read_graph),
    "g.csv": ("".join(f"{a},r,{b}\n" for a, b in LINKS), sameas.read_graph),
    "l.nt": (NT, sameas.read_links),
    "l.ttl": (NT, sameas.read_links),
    "l.tsv": ("".join(f"{a}\t{b}\n" for a, b in LINKS), sameas.read_links),
    "gold.csv": ("".join(f"{a},{b}\n" for a, b in LINKS), sameas.read_gold),
    "l.jsonl": (
        "".join(f'{{"left": "{a}", "right": "{b}"}}\n' for a, b in LINKS),
        sameas.read_links,
    ),
    "l.sssom.tsv": (
        "subject_id\tpredicate_id\tobject_id\n"
        + "".join(f"{a}\towl:sameAs\t{b}\n" for a, b in LINKS),
        sameas.read_links,
    ),
    "names.tsv": ("".join(f"{a}\t{b}\n" for a, b in LINKS), read_names),
    "names.json": ("{" + ",\n".join(f'"{a}": "{b}"' for a, b in LINKS) + "}", read_names),
    "vectors.txt": (
        "".join(f"word{i} {j} 1\n" for i, j in NUMBERS),
        lambda path: read_word_vectors(path, pl.Series(["word7"])),
    ),
    "l.rdf": (
        '<rdf:RDF xmlns="http://knowledgeweb.semanticweb.org/heterogeneity/alignment#" '
        'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\n'
        + "".join(
            f'<Cell><entity1 rdf:resource="{a}"/><entity2 rdf:resource="{b}"/></Cell>\n'
            for a, b in LINKS
        )
        + "</rdf:RDF>",
        sameas.read_links,
    ),
}


def block_end(content):
    """The content as one Zstandard frame, cut at the end of a block inside it."""
    out = io.BytesIO()
    with zstandard.ZstdCompressor().stream_writer(out, closefd=False) as writer:
        writer.write(content[: len(content) // 2])
        writer.flush(zstandard.FLUSH_BLOCK)
        at = out.tell()
        writer.write(content[len(content) // 2 :])
    return out.getvalue()[:at]


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("name", READERS)
def test_no_reader_reads_a_damaged_archive_short(tmp_path, name, suffix):
    text, read = READERS[name]
    path = tmp_path / f"{name}{suffix}"
    content, pack = text.encode(), PACK[suffix]
    cut = content.rfind(b"\n", 0, len(content) // 2) + 1  # the first half alone would be valid
    packed = pack(content)
    second = bytearray(pack(content[cut:]))
    second[1] ^= 0xFF
    damaged = {
        "half": packed[: len(packed) // 2],
        "almost whole": packed[:-1],
        "second stream": pack(content[:cut]) + second,
        "second stream cut": pack(content[:cut]) + pack(content[cut:])[:-9],
        "empty": b"",
    }
    if suffix == ".zst":
        damaged["end of a block"] = block_end(content)
    for what, data in damaged.items():
        path.write_bytes(data)
        with pytest.raises(InputError, match=r"is the file whole\?") as caught:
            read(path)
        assert str(path) in str(caught.value), what
    path.write_bytes(pack(content[:cut]) + pack(content[cut:]))
    read(path)
    assert read_bytes(path) == content


@pytest.mark.parametrize("suffix", PACK)
def test_the_first_bytes_tell_the_compression(tmp_path, suffix):
    path = tmp_path / "links.tsv"
    path.write_bytes(PACK[suffix](b"a\tb\n"))
    assert sameas.read_links(path)["left"].to_list() == ["a"]
    odd = tmp_path / "odd.tsv"
    odd.write_bytes(b"BZh9\tPK\n")  # begins almost like bzip2
    assert sameas.read_links(odd)["left"].to_list() == ["BZh9"]


@pytest.mark.parametrize("suffix", PACK)
def test_tables_have_a_limit_on_unpacked_bytes(tmp_path, suffix):
    path = tmp_path / f"g.tsv{suffix}"
    path.write_bytes(PACK[suffix](b"e:a\te:r\te:b\n" * 80_000))
    with pytest.raises(InputError, match=r"holds more than 100,000 bytes .* `max_bytes`"):
        sameas.read_graph(path, reading=Reading(max_bytes=100_000))
    assert len(sameas.read_graph(path, reading=Reading(max_bytes=10**6)).triples) == 80_000


@pytest.mark.parametrize("name", READERS)
def test_a_file_that_is_still_compressed_once_unpacked_is_refused(tmp_path, name):
    text, read = READERS[name]
    path = tmp_path / name
    inner = {**PACK, ".z": zlib.compress, ".xz": lzma.compress}
    for pack in inner.values():
        again = pack(text[:500].encode())
        path.write_bytes(gzip.compress(again[:1]) + gzip.compress(again[1:]))
        with pytest.raises(InputError, match="is compressed twice; unpack it once"):
            read(path)
    for again in (inner[".z"](b"a"), inner[".xz"](b"a"), b"\xef\xbb\xbf" + gzip.compress(b"a")):
        path.write_bytes(again)
        with pytest.raises(InputError, match=r"is compressed with \w+, which is not read"):
            read(path)


def change(path, how):
    content = path.read_bytes()
    if how == "append":
        path.write_bytes(content * 2)
    elif how == "truncate":
        path.write_bytes(content[: len(content) // 2])
    elif how == "replace":
        other = path.with_name("other")
        other.write_bytes(content)
        other.replace(path)
    elif how == "delete":
        path.unlink()
    else:
        os.utime(path, ns=(0, 0))


@pytest.mark.parametrize("how", ["append", "truncate", "replace", "delete", "touch"])
@pytest.mark.parametrize("name", [*READERS, "l.tsv.gz", "g.nt.zst"])
def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, monkeypatch, name, how):
    base = name.removesuffix(".gz").removesuffix(".zst")
    text, read = READERS[base]
    path = tmp_path / name
    content = text.encode()
    path.write_bytes(PACK[name[len(base) :]](content) if name != base else content)
    fetched = files._fetched

    def fetched_and_changed(*source):
        pieces = fetched(*source)
        yield next(pieces)
        if not changed:
            changed.append(change(path, how))
        yield from pieces

    changed = []
    monkeypatch.setattr(files, "_fetched", fetched_and_changed)
    with pytest.raises(InputError, match="changed while it was read") as caught:
        read(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("name", ["g.tsv", "g.csv", "l.tsv", "names.tsv"])
def test_a_table_that_changes_while_it_is_parsed_is_not_torn(tmp_path, monkeypatch, name):
    text, read = READERS[name]
    path = tmp_path / name
    path.write_text(text)
    parse = pl.read_csv

    def change_and_parse(*arguments, **rest):
        path.write_text(text[: text.rfind("\n", 0, len(text) // 2) + 1])
        return parse(*arguments, **rest)

    monkeypatch.setattr(pl, "read_csv", change_and_parse)
    found = read(path)
    assert len(found.triples if name.startswith("g") else found) == len(LINKS)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with a name")
@pytest.mark.parametrize("name", READERS)
def test_a_pipe_is_read_like_a_file_or_refused_in_time(tmp_path, monkeypatch, name):
    text, read = READERS[name]
    path = tmp_path / name
    os.mkfifo(path)
    monkeypatch.setattr(files, "WRITER_SECONDS", 0.01)
    with pytest.raises(InputError, match=r"is a pipe to which nothing was written for 0.01 sec"):
        read(path)
    monkeypatch.setattr(files, "SILENT_SECONDS", 0.02)
    silent = os.open(path, os.O_RDWR)
    try:
        with pytest.raises(InputError, match=r"nothing was written for 0.02 seconds"):
            read(path)
    finally:
        os.close(silent)
    monkeypatch.setattr(files, "WRITER_SECONDS", 60)
    writer = threading.Thread(target=path.write_text, args=(text,))
    writer.start()
    read(path)
    writer.join()


@pytest.mark.skipif(os.name == "nt", reason="no devices with a path")
def test_a_device_is_refused():
    for path in ("/dev/zero", "/dev/null"):
        with pytest.raises(InputError, match="is a device, neither a file nor a pipe"):
            sameas.read_links(path)


def test_padding_and_empty_frames_are_passed_over(tmp_path):
    for suffix, pack in PACK.items():
        path = tmp_path / f"x{suffix}"
        path.write_bytes(pack(b"a") + pack(b"") + bytes(600) + pack(b"b") + bytes(600))
        assert read_bytes(path) == b"ab"


def test_zstandard_may_begin_with_a_frame_to_be_skipped(tmp_path):
    path = tmp_path / "x.zst"
    path.write_bytes(b"P*M\x18\x04\0\0\0size" + zstandard.compress(b"a"))
    assert read_bytes(path) == b"a"


def test_progress_rises_to_one(tmp_path):
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(os.urandom(10**6)))
    shares = []
    with open_stream(path, progress=shares.append) as stream:
        stream.read()
    assert shares == sorted(shares)
    assert shares[-1] == 1
