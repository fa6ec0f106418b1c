"""A user's own feature rows, from NumPy and Parquet files."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose

from sameas import InputError, OptionError
from sameas.formats.vectors import read_embeddings
from sameas.text.embeddings import embedding_rows

ENTITIES = pl.Series(["a", "b", "c"])
VECTORS = np.array([[3.0, 4.0], [0.0, 2.0], [0.0, 0.0]])
UNIT = [[0.6, 0.8], [0, 1], [0, 0]]


def npy(tmp_path, values, **options):
    path = tmp_path / "vectors.npy"
    np.save(path, values, **options)
    return path


def parquet(tmp_path, table):
    path = tmp_path / "vectors.parquet"
    pl.DataFrame(table).write_parquet(path)
    return path


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16, np.int32, np.uint8])
def test_npy_rows_are_scaled_to_unit_length(tmp_path, kind):
    rows = read_embeddings(npy(tmp_path, VECTORS.astype(kind)), ENTITIES)
    assert_allclose(rows.toarray(), UNIT, rtol=1e-3)


@pytest.mark.parametrize(
    "columns",
    [
        {"vector": VECTORS[::-1].tolist()},
        {"x": VECTORS[::-1, 0], "y": VECTORS[::-1, 1]},
        {"vector": pl.Series(VECTORS[::-1].tolist(), dtype=pl.Array(pl.Float64, 2))},
    ],
)
def test_parquet_rows_go_by_entity(tmp_path, columns):
    path = parquet(tmp_path, {"entity": ["c", "b", "a"], **columns})
    assert_allclose(read_embeddings(path, ENTITIES).toarray(), UNIT, rtol=1e-6)


def test_entities_missing_from_parquet_get_zeros_and_a_warning(tmp_path, caplog):
    path = parquet(tmp_path, {"entity": ["b", "z"], "vector": [[0.0, 5.0], [1.0, 1.0]]})
    rows = read_embeddings(path, ENTITIES)
    assert_allclose(rows.toarray(), [[0, 0], [0, 1], [0, 0]])
    assert "2 of 3 entities" in caplog.text


def test_very_long_and_very_short_vectors_give_unit_rows_or_zeros(tmp_path):
    values = np.array([[3e30, 4e30], [3e-30, 4e-30], [3e-42, 4e-42]])
    rows = read_embeddings(npy(tmp_path, values.astype(np.float32)), ENTITIES)
    assert_allclose(rows.toarray()[:2], [[0.6, 0.8]] * 2, rtol=1e-5)
    assert np.isfinite(rows.toarray()).all()
    assert rows.norms()[2] <= 1.01


@pytest.mark.parametrize(
    "values",
    [
        np.zeros((2, 3)),
        np.zeros(3),
        np.zeros((3, 2, 1)),
        np.array([["1", "2"]] * 3),
        np.zeros((3, 2), dtype=complex),
        np.zeros((3, 2), dtype=bool),
    ],
)
def test_arrays_of_another_shape_or_kind_are_refused(tmp_path, values):
    with pytest.raises(InputError, match=r"numbers of shape \(3, d\) expected"):
        read_embeddings(npy(tmp_path, values), ENTITIES)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300])
def test_the_entity_whose_vector_is_not_finite_is_named(tmp_path, value):
    values = VECTORS.copy()
    values[1, 0] = value
    with pytest.raises(InputError, match='vector of "b" is not finite'):
        read_embeddings(npy(tmp_path, values), ENTITIES)
    with pytest.raises(InputError, match='vector of "b" is not finite'):
        read_embeddings(
            parquet(tmp_path, {"entity": ENTITIES, "vector": values.tolist()}), ENTITIES
        )


def test_pickled_objects_are_never_loaded(tmp_path):
    path = npy(tmp_path, np.array([{}, {}, {}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="not a "):
        read_embeddings(path, ENTITIES)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"entity": ["a", "a"], "x": [1.0, 2.0]}, '"a" was given before'),
        ({"uri": ["a"], "x": [1.0]}, "a column entity and numbers expected"),
        ({"entity": ["a"]}, "a column entity and numbers expected"),
        ({"entity": ["x", "y"], "v": [1.0, 2.0]}, "none of its entities"),
        ({"entity": ["a", "b"], "v": [[1.0], [1.0, 2.0]]}, "as many for each"),
        ({"entity": ["a", "b"], "v": ["one", "two"]}, "must be numbers"),
        ({"entity": ["a", "b"], "v": [[1.0], None]}, "must be numbers"),
        ({"entity": ["a", "b"], "v": [1.0, None]}, "not finite"),
        ({"entity": ["a", "b"], "v": [["x"], ["y"]]}, "must be numbers"),
    ],
)
def test_tables_that_cannot_be_used_are_refused(tmp_path, table, message):
    with pytest.raises(InputError, match=message):
        read_embeddings(parquet(tmp_path, table), ENTITIES)


def test_files_that_cannot_be_read_are_input_errors(tmp_path):
    for name in ("broken.npy", "broken.parquet"):
        for content in (b"", b"nonsense"):
            (tmp_path / name).write_bytes(content)
            with pytest.raises(InputError, match="not a "):
                read_embeddings(tmp_path / name, ENTITIES)
    (tmp_path / "vectors.txt").write_text("a 1 2\n")
    with pytest.raises(InputError, match=r"\.npy or \.parquet expected"):
        read_embeddings(tmp_path / "vectors.txt", ENTITIES)
    with pytest.raises(InputError, match="no such file"):
        read_embeddings(tmp_path / "missing.npy", ENTITIES)


def test_integer_entities_in_parquet_are_matched_as_text(tmp_path):
    path = parquet(tmp_path, {"entity": [2, 1], "x": [1.0, -3.0]})
    assert_allclose(read_embeddings(path, pl.Series(["1", "2"])).toarray(), [[-1], [1]])


def entities_of(left, right):
    return (
        pl.Series([f"l{number}" for number in range(left)]),
        pl.Series([f"r{number}" for number in range(right)]),
    )


def test_arrays_are_rows_of_left_then_right_entities():
    rows = embedding_rows(([[3, 4], [0, 0]], np.array([[0.0, 2.0]])), entities_of(2, 1))
    assert_allclose(rows.toarray(), [[0.6, 0.8], [0, 0], [0, 1]], rtol=1e-6)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ((np.ones((2, 3)),), "must be two arrays"),
        ((np.ones((3, 2)), np.ones((1, 2))), r"shape \(2, d\) for the left .* shape \(3, 2\)"),
        ((np.ones((2, 2)), np.ones(1)), r"shape \(1, d\) for the right entities"),
        ((np.ones((2, 2)), np.array([["a", "b"]])), "for the right entities, got <U1"),
        (([[1, 2], [1]], np.ones((1, 2))), "for the left entities"),
        ((np.ones((2, 2)), np.ones((1, 3))), "as many numbers .*, got 2 and 3"),
        ((np.ones((2, 0)), np.ones((1, 0))), "as many numbers .*, got 0 and 0"),
        ((np.ones((2, 2)), np.array([[1, np.nan]])), 'finite, the vector of "r0" is not'),
        ((np.array([[1, 1], [1, 1e300]]), np.ones((1, 2))), 'finite, the vector of "l1" is not'),
    ],
)
def test_arrays_that_cannot_be_used_are_refused(arrays, message):
    with pytest.raises(OptionError, match=message):
        embedding_rows(arrays, entities_of(2, 1))
