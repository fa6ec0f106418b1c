"""Where a result goes: the suffix of a path decides the format."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import polars as pl

from sameas.alignment import Alignment
from sameas.atomic import replacing_file
from sameas.errors import OutputError
from sameas.reading.tables import kind_of
from sameas.writing.run import is_run, write_run


def write_tsv(table: pl.DataFrame, path: Path) -> None:
    """Write a table with tabs between the fields, which have no quotes and so no tabs in them."""
    for column in ("left", "right"):
        wrong = table[column].filter(table[column].str.contains(r"[\t\r\n]"))
        if len(wrong):
            raise OutputError(
                f"{path.name}: the entity {wrong[0]!r} has a tab or line break in it, which .tsv "
                "cannot hold; write .parquet or .csv"
            )
    table.write_csv(path, separator="\t", quote_style="never")


WRITERS: dict[str, Callable[[pl.DataFrame, Path], None]] = {
    ".tsv": write_tsv,
    ".csv": lambda table, path: table.write_csv(path),
    ".parquet": lambda table, path: table.write_parquet(path),
}


def write(alignment: Alignment, path: str | os.PathLike[str]) -> None:
    """Write an alignment: its links as a table, or a run folder if the path has no suffix."""
    path = Path(path)
    check_target(path)
    if path.suffix:
        write_links(alignment.links, path)
    else:
        write_run(alignment, path)


def write_links(links: pl.DataFrame, path: Path) -> None:
    """Write a table of links in the format of the path's suffix."""
    check_target(path)
    with replacing_file(path) as draft:
        WRITERS[path.suffix.lower()](links, draft)


def check_target(path: Path) -> None:
    """Raise an OutputError if nothing could be written there; done before the work starts."""
    suffix = kind_of(path) if path.suffix.lower() == ".tsv" else path.suffix.lower()
    if suffix and suffix not in WRITERS:
        raise OutputError(
            f'{path}: suffix "{suffix}" is not known; use {", ".join(WRITERS)}, '
            "or no suffix for a run folder"
        )
    parent = path.absolute().parent
    if parent.exists() and not parent.is_dir():
        raise OutputError(f"{path}: {parent} is not a folder; choose another place")
    if not parent.is_dir():
        raise OutputError(f"{path}: the folder {parent} does not exist; make it first")
    if not os.access(parent, os.W_OK):
        raise OutputError(f"{path}: the folder {parent} cannot be written to; choose another place")
    if suffix and path.is_dir():
        raise OutputError(f"{path}: is a folder; choose another name")
    if not suffix and path.exists() and not is_run(path) and not _is_empty_folder(path):
        raise OutputError(
            f"{path}: exists and is not a run folder; choose another name, or a suffix such as .tsv"
        )


def _is_empty_folder(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())
