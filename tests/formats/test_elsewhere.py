"""Files elsewhere, by fsspec: read and written like local ones."""

import sys
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

import sameas
from fake_cluster import Client
from sameas.cli.main import main
from sameas.compute.parallel import using
from sameas.errors import InputError
from sameas.formats.files import address_of, read_bytes
from sameas.pipeline.cluster import Dask

fsspec = pytest.importorskip("fsspec")

LINES = [f"<http://x/{n}> <http://x/p> <http://x/{n + 1}> .\n" for n in range(40)]
LINES += ["_:b <http://x/p> <http://x/1> .\n"] * 4


@pytest.fixture
def memory():
    """A file system in memory."""
    system = fsspec.filesystem("memory")
    yield system
    system.rm("/", recursive=True)


@pytest.fixture
def store():
    """A store such as a cloud has; this one is in memory, under a scheme of its own."""
    memory = pytest.importorskip("fsspec.implementations.memory").MemoryFileSystem

    parts = {"protocol": "bucket", "store": {}, "pseudo_dirs": [""], "root_marker": ""}
    strip = staticmethod(lambda path: "/" + path.removeprefix("bucket://").strip("/"))
    kind = type("Store", (memory,), {**parts, "_strip_protocol": strip})
    fsspec.register_implementation("bucket", kind, clobber=True)
    return fsspec.filesystem("bucket")


@pytest.fixture
def parts(tmp_path):
    """A folder of N-Triples in many files."""
    folder = tmp_path / "parts"
    folder.mkdir()
    for number in range(11):
        (folder / f"{number:02}.nt").write_text("".join(LINES[4 * number :][:4]))
    return folder


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("s3://bucket/a/b.nt", "s3://bucket/a/b.nt"),
        (Path("s3://bucket/a/b.nt"), "s3://bucket/a/b.nt"),
        ("file:///tmp/a", "file:///tmp/a"),
        (Path("file:///tmp/a"), "file:///tmp/a"),
        ("memory://a", "memory://a"),
        ("a.nt", None),
        ("/tmp/a.nt", None),
        ("C:/a.nt", None),
        ("sparql+http://host/query", None),
        ("-", None),
    ],
)
def test_addresses_are_told_from_paths(given, found):
    assert address_of(given) == found


def test_bytes_elsewhere_are_read_and_unpacked(memory, tmp_path):
    import gzip

    memory.pipe("/a.nt.gz", gzip.compress(b"content"))
    assert read_bytes("memory://a.nt.gz") == b"content"
    (tmp_path / "a.nt").write_bytes(b"content")
    assert read_bytes(f"file://{tmp_path}/a.nt") == b"content"


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("memory://none.nt", r"memory://none\.nt: no such file; check the path"),
        ("nothing://a.nt", r"nothing://a\.nt: cannot be reached \("),
        ("memory://none*.nt", r"fits no file; check the pattern"),
    ],
)
def test_what_cannot_be_read_elsewhere_is_one_sentence(memory, address, message):
    with pytest.raises(InputError, match=message):
        sameas.read_graph(address)


def test_a_missing_package_is_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(InputError, match=r"pip install 'sameas\[dask\]'$"):
        sameas.read_graph("memory://a.nt")


def test_a_graph_in_parts_is_the_same_wherever_and_by_whomever_it_is_read(parts, memory):
    expected = sameas.read_graph(parts)
    for file in parts.iterdir():
        memory.pipe(f"/parts/{file.name}", file.read_bytes())
    places = (f"{parts}/*.nt", f"file://{parts}", "memory://parts", "memory://parts/*.nt")
    client = Client()
    for place in places:
        with using(Dask(client)):
            found = sameas.read_graph(place)
        assert found.entities.equals(expected.entities)
        assert (found.triples == expected.triples).all()
        assert found.reading_counts == expected.reading_counts
    assert client.tasks


def test_a_faulty_part_is_named_whoever_reads_it(parts):
    (parts / "05.nt").write_text("nothing\n")
    with using(Dask(Client())), pytest.raises(InputError, match=r"05\.nt:1:"):
        sameas.read_graph(parts, reading=sameas.Reading(strict=True))


def test_tables_of_triples_may_be_in_parts(tmp_path, memory):
    table = pl.DataFrame({"head": list("abcd"), "relation": "r", "tail": list("bcda")})
    table.write_parquet(tmp_path / "whole.parquet")
    for number in range(2):
        table[2 * number : 2 * number + 2].write_parquet(tmp_path / f"part{number}.parquet")
        memory.put_file(str(tmp_path / f"part{number}.parquet"), f"/part{number}.parquet")
    expected = sameas.read_graph(tmp_path / "whole.parquet")
    for place in (f"{tmp_path}/part*.parquet", "memory://part*.parquet"):
        found = sameas.read_graph(place)
        assert found.entities.equals(expected.entities)
        assert (found.triples == expected.triples).all()


def test_links_go_elsewhere_and_come_back(store, align_small):
    alignment = align_small()
    for suffix in (".tsv", ".parquet", ".nt"):
        sameas.write(alignment, f"bucket://links{suffix}")
    found = sameas.read_links("bucket://links.parquet")
    assert found.equals(alignment.links)
    with pytest.raises(sameas.OutputError, match='suffix "" is not known'):
        sameas.write(alignment, "bucket://run")


def test_nothing_is_written_where_it_would_not_be_kept(memory, align_small):
    with pytest.raises(sameas.OutputError, match="is kept nowhere"):
        sameas.write(align_small(), "memory://links.tsv")


def test_the_command_line_reads_and_writes_elsewhere(store, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = ["".join(sorted({a, b, c})) for a in "kmt" for b in "aeiou" for c in "lrs"]
    lines = [
        f"<http://x/{one}> <http://x/p> <http://x/{other}> ." for one, other in pairwise(names)
    ]
    for side in ("left", "right"):
        text = "\n".join(lines).replace("http://x", f"http://{side}")
        store.pipe(f"/{side}.nt", text.encode())
    with pytest.raises(SystemExit) as stopped:
        main(["align", "bucket://left.nt", "bucket://right.nt", "-o", "bucket://out.tsv"])
    assert stopped.value.code == 0, capsys.readouterr().err
    assert "Written to bucket://out.tsv." in capsys.readouterr().err
    assert b"http://left/" in store.cat("/out.tsv")
    assert not list(tmp_path.iterdir())
