"""Names as vectors of a sentence encoder, kept on disk so that no name is encoded twice."""

from __future__ import annotations

import hashlib
import logging
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl

from sameas.atomic import replacing_file
from sameas.errors import SameasError
from sameas.features.encoders import Encoder
from sameas.parallel import one_blas_thread, slices
from sameas.rows import Matrix

log = logging.getLogger(__name__)

BATCH = 256
"""Names that are encoded at once."""
CACHE_BYTES = 2**31
"""The size of the cache; the files that were not used for longest are removed first."""

Progress = Callable[[float], None]


def encode(names: pl.Series, encoder: Encoder, *, progress: Progress | None = None) -> Matrix:
    """The vectors of names, shape (names, dimension); an empty name has zeros.

    Vectors of the same names are taken from the cache, if the encoder is the same.
    """
    texts = names.fill_null("")
    distinct = texts.filter(texts != "").unique().sort()
    if not len(distinct):
        return np.zeros((len(names), 1), dtype=np.float32)
    file = _cached(distinct, encoder)
    vectors = _read(file, len(distinct))
    if vectors is None:
        vectors = _encoded(distinct.to_list(), encoder, progress)
        _keep(file, vectors)
    rows = np.zeros((len(names), vectors.shape[1]), dtype=np.float32)
    here = np.flatnonzero((texts != "").to_numpy())
    rows[here] = vectors[distinct.search_sorted(texts.gather(here)).to_numpy()]
    return rows


def _encoded(texts: list[str], encoder: Encoder, progress: Progress | None) -> Matrix:
    """The vectors in half precision, made batch by batch; texts of like length are together."""
    order = np.argsort([len(text) for text in texts], kind="stable")
    vectors: Matrix | None = None
    for part in slices(len(texts), BATCH):
        places = order[part]
        with one_blas_thread():  # so that the result does not depend on how many there are
            made = np.asarray(encoder.encode([texts[place] for place in places]))
        if vectors is None:
            vectors = np.zeros((len(texts), made.shape[1]), dtype=np.float16)
        vectors[places] = made
        if progress:
            progress(part.stop / len(texts))
    assert vectors is not None
    return vectors


def cache_folder() -> Path:
    """Where this system keeps what can be made again; SAMEAS_CACHE names another folder."""
    if own := os.environ.get("SAMEAS_CACHE"):
        return Path(own)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "sameas"


def _cached(texts: pl.Series, encoder: Encoder) -> Path:
    digest = hashlib.sha256(encoder.name.encode())
    for text in texts:
        digest.update(b"\0" + text.encode("utf8", "replace"))
    return cache_folder() / "encodings" / f"{digest.hexdigest()[:40]}.npy"


def _read(file: Path, size: int) -> Matrix | None:
    """The vectors in the cache; None if they are not there or damaged."""
    try:
        vectors: Matrix = np.load(file, allow_pickle=False)
        file.touch()
    except Exception:  # a damaged file can make NumPy raise nearly anything
        return None
    return vectors if vectors.ndim == 2 and len(vectors) == size else None


def _keep(file: Path, vectors: Matrix) -> None:
    """Add to the cache, if it can be written; and remove the oldest of what is too much."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing_file(file) as draft, draft.open("wb") as stream:
            np.save(stream, vectors, allow_pickle=False)
    except (OSError, SameasError) as error:
        log.warning("encoded names are not kept (%s); SAMEAS_CACHE names another folder", error)
        return
    with suppress(OSError):
        ages = sorted(file.parent.glob("*.npy"), key=lambda each: -each.stat().st_mtime)
        total = 0
        for each in ages:
            total += each.stat().st_size
            if total > CACHE_BYTES:
                each.unlink()
