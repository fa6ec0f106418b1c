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
from sameas.errors import OptionError
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
    (tmp_path / "modules.json").write_text("[]")
    asked = []

    def load(path, **choices):
        asked.append((path, choices["local_files_only"]))
        return SimpleNamespace(encode=lambda texts, **rest: np.ones((len(texts), 4)))

    monkeypatch.setitem(
        sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=load)
    )
    rows = embedded(pl.Series(["a", "b"]), pl.Series(["c"]), tmp_path)
    assert [side.dense.shape for side in rows] == [(2, 4), (1, 4)]
    assert asked == [(str(tmp_path), True)]


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
        (tmp_path / file).touch()
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


def test_an_encoder_that_is_given_is_used(model, small, tmp_path, monkeypatch):
    monkeypatch.setenv("SAMEAS_CACHE", str(tmp_path / "cache"))
    same = replace(small, left=small.right)
    assert choose_support(same, sameas.Options(encoder=model), Inputs()).encoder
    found = sameas.align(small, encoder=model)
    assert found.diagnostics.languages.encoder
    assert found.diagnostics.weights.keys() >= {"names", "embedding"}
    sameas.write(found, tmp_path / "run")
    again = sameas.read_run(tmp_path / "run")
    assert again.options.encoder == model
    left = found.links["left"][0]
    assert str(again.explain(left)) == str(found.explain(left))


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
