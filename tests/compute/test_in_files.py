"""Arrays in files: where they are made, that they keep their content, and that pages go."""

import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from sameas.compute import in_files
from sameas.compute.in_files import (
    in_one_piece,
    is_in_file,
    let_go_of_pages,
    put_in_file,
    room_for,
    rows_at,
    table_in_file,
)
from sameas.compute.parallel import THREADS, using
from sameas.similarity.sketch import SketchedRows


class Apart:
    """An engine of workers with limited room."""

    width, room, map = 2, 2**20, THREADS.map


def resident():
    with Path("/proc/self/statm").open() as file:
        return int(file.read().split()[1]) * 4096


def test_arrays_are_in_files_only_where_workers_have_other_processes():
    assert not is_in_file(room_for((3, 4), np.int8))
    with using(Apart()):
        array = room_for((3, 4), np.int8)
        assert is_in_file(array)
        assert is_in_file(array[1:, ::2])
        assert is_in_file(SketchedRows(array, np.ones(3)))
        assert not is_in_file(room_for((0, 4), np.int8))
    assert array.shape == (3, 4)
    assert array.dtype == np.int8
    assert array.flags.aligned
    assert array.flags.writeable


def test_a_full_disk_leaves_arrays_in_memory(monkeypatch):
    def full(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr("mmap.mmap", full)
    with using(Apart()):
        assert not is_in_file(room_for((3, 4), np.int8))


@pytest.mark.parametrize("shape", [(7, 3), (100_000, 40), (0, 3), (5,)])
def test_an_array_is_put_in_a_file_as_it_is(shape):
    array = np.arange(np.prod(shape)).reshape(shape)
    copy = put_in_file(array)
    assert_array_equal(copy, array)
    assert copy.dtype == array.dtype
    assert is_in_file(copy) == bool(array.size)


def test_an_array_stays_where_it_is_if_the_disk_is_full(monkeypatch):
    def full(**_):
        raise OSError("no space left on device")

    array = np.arange(5)
    monkeypatch.setattr("tempfile.TemporaryFile", full)
    assert put_in_file(array) is array
    assert table_in_file(pl.DataFrame({"a": array})) is None


def test_a_table_is_read_as_it_was_written_again_and_again():
    table = pl.DataFrame({"a": ["Ann", None, "", "Ωmega" * 9], "b": [1, 2, None, 4]})
    for each in (table, table[:0], table.select("b")):
        held = table_in_file(each)
        for _ in range(2):
            found = held.read()
            assert found.equals(each)
            assert found.schema == each.schema


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_pages_go_and_the_content_stays():
    with using(Apart()):
        array = room_for((100, 2**20), np.uint8)
    array[:] = np.arange(100)[:, None]
    before = resident()
    let_go_of_pages()
    assert resident() < before - 80 * 2**20
    assert_array_equal(array[:, 5], np.arange(100))


def test_an_array_that_is_gone_is_not_kept():
    with using(Apart()):
        array = room_for((10,), np.float32)
    count = len(in_files._maps)
    del array
    assert len(in_files._maps) == count - 1


@pytest.mark.parametrize("engine", [THREADS, Apart()])
@pytest.mark.parametrize("at_once", [8192, 2**24])
def test_a_copy_in_one_piece_is_the_same(engine, at_once, monkeypatch):
    monkeypatch.setattr(in_files, "PAGES_AT_ONCE", at_once)
    with using(engine):
        array = room_for((7, 2, 5), np.int8)
    array[:] = np.arange(70).reshape(7, 2, 5)
    assert in_one_piece(array) is array
    for positions in ([3, 1, 1, 6], []):
        some = np.array(positions, dtype=np.int64)
        assert_array_equal(rows_at(array, some), array[some])
    for view in (array[:, 1], array[::-2], array[:0, 1], array[:, 0].T):
        found = in_one_piece(view)
        assert found.flags.c_contiguous
        assert_array_equal(found, view)
