"""Where a result goes: the suffix of a path decides the format."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import polars as pl

from sameas._version import __version__
from sameas.alignment import Alignment
from sameas.atomic import replacing_file
from sameas.errors import OutputError
from sameas.files import kind_of
from sameas.links import LinkSet, described, predicate_iri, saying
from sameas.writing.alignment_api import write_alignment_api
from sameas.writing.run import is_run, write_run
from sameas.writing.same_as import write_ntriples, write_turtle
from sameas.writing.sssom import write_sssom
from sameas.writing.tables import write_csv, write_json_lines, write_parquet, write_tsv

WRITERS: dict[str, Callable[[LinkSet, Path], list[str]]] = {
    ".tsv": write_tsv,
    ".csv": write_csv,
    ".parquet": write_parquet,
    ".jsonl": write_json_lines,
    ".sssom.tsv": write_sssom,
    ".nt": write_ntriples,
    ".ttl": write_turtle,
    ".rdf": write_alignment_api,
}
"""Each writes a file and says what of the links it could not hold."""


def write(
    alignment: Alignment, path: str | os.PathLike[str], *, predicate: str = "sameAs"
) -> tuple[str, ...]:
    """Write an alignment: its links as the suffix says, or a run folder if there is none.

    Returns what the format cannot hold, in words; a run folder holds everything. ``predicate``
    (sameAs, exactMatch, schema:sameAs or an IRI) is what RDF and SSSOM say of a link.
    """
    path = Path(path)
    says = predicate_iri(predicate)
    check_target(path)
    if not path.suffix:
        write_run(alignment, path)
        return ()
    links = LinkSet(links=alignment.links)
    if _suffix(path) == ".sssom.tsv":
        sides = (alignment.pair.left, alignment.pair.right)
        names = [pl.DataFrame({"entity": side.entities, "name": side.names}) for side in sides]
        links = described(alignment.links, *names, version=__version__)
    return write_link_set(saying(links, says), path)


def write_links(links: pl.DataFrame, path: Path) -> tuple[str, ...]:
    """Write a table of links in the format of the path's suffix; returns what it cannot hold."""
    return write_link_set(LinkSet(links=links), path)


def write_link_set(links: LinkSet, path: Path) -> tuple[str, ...]:
    """Write links in the format of the path's suffix; returns what it cannot hold, in words."""
    check_target(path)
    with replacing_file(path) as draft:
        return tuple(WRITERS[_suffix(path)](links, draft))


def check_target(path: Path) -> None:
    """Raise an OutputError if nothing could be written there; done before the work starts."""
    suffix = _suffix(path)
    if suffix and suffix not in WRITERS:
        raise OutputError(
            f'{path}: suffix "{suffix}" is not known; use {", ".join(WRITERS)}, '
            "or no suffix for a run folder"
        )
    check_place(path)
    if not suffix and path.exists() and not is_run(path) and not _is_empty_folder(path):
        raise OutputError(
            f"{path}: exists and is not a run folder; choose another name, or a suffix such as .tsv"
        )


def check_place(path: Path) -> None:
    """Raise an OutputError unless a file or run folder of that name can be made there."""
    parent = path.absolute().parent
    if parent.exists() and not parent.is_dir():
        raise OutputError(f"{path}: {parent} is not a folder; choose another place")
    if not parent.is_dir():
        raise OutputError(f"{path}: the folder {parent} does not exist; make it first")
    if not os.access(parent, os.W_OK):
        raise OutputError(f"{path}: the folder {parent} cannot be written to; choose another place")
    if path.suffix and path.is_dir():
        raise OutputError(f"{path}: is a folder; choose another name")


def _suffix(path: Path) -> str:
    """What a path ends in; results are not compressed, so that is their format."""
    return kind_of(path) if path.suffix.lower() == ".tsv" else path.suffix.lower()


def _is_empty_folder(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())
