"""Write beside, then rename: a result is there whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sameas.errors import OutputError


@contextmanager
def replacing_file(path: Path) -> Iterator[Path]:
    """A path to write to; what is there when the block ends well takes the place of ``path``."""
    with _beside(path) as folder:
        draft = folder / path.name
        yield draft
        draft.replace(path)


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """An empty folder to fill; when the block ends well it takes the place of ``path``."""
    with _beside(path) as folder:
        draft = folder / "new"
        draft.mkdir()
        yield draft
        if path.exists():
            path.rename(folder / "old")
        try:
            draft.rename(path)
        finally:
            if not path.exists() and (folder / "old").exists():
                (folder / "old").rename(path)


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """A temporary folder next to a path, gone afterwards whatever happens."""
    try:
        folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.absolute().parent))
    except OSError as error:
        raise OutputError(
            f"{path}: cannot be written ({error.strerror}); choose another place"
        ) from None
    try:
        umask = os.umask(0)
        os.umask(umask)
        folder.chmod(0o777 & ~umask)
        yield folder
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror or error})") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
