"""No output may be one of the inputs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from sameas.errors import InputError, OutputError
from sameas.formats.files import STANDARD_INPUT, StrPath, address_of, elsewhere, kind_of
from sameas.formats.pair import is_pair
from sameas.formats.side_files import GRAPH_SUFFIXES, RECORD_SUFFIXES, SUFFIXES, expanded
from sameas.result.run_folder import is_run

RUN_SUFFIXES = (".json", ".npy", ".parquet", ".sqlite")
"""Files of a run folder; others were put there by somebody else."""
READ_SUFFIXES = (*SUFFIXES, *RECORD_SUFFIXES, *GRAPH_SUFFIXES)
"""Files of a folder that is one side."""
BENCHMARK_SUFFIXES = ("", ".json")
WORDS = ("gold", "uri")
"""What `among` and `names` take besides files."""


def refuse_inputs(
    output: Path,
    inputs: Iterable[StrPath | None],
    *,
    learned_from: Iterable[StrPath | None] = (),
) -> None:
    """Raise an OutputError if the output is one of the inputs, or a folder that holds one.

    Files are compared by what the system says they are, so that another spelling of a path, a
    symbolic link, a hard link, and other letters where the case does not count are all the same
    file. Of a folder that is read, the files that reading takes are inputs. A run folder that is
    ``learned_from`` may be replaced by the new run, in which its decisions stay.
    """
    address, target = address_of(output), _local_path(output)
    replaced = {} if target is None else {_identity(target): "is"}
    if target is not None and is_run(target):  # all of which would be replaced
        replaced |= {_identity(path): "is a folder that holds" for path in target.rglob("*")}
    replaced.pop(None, None)
    runs = (one for one in learned_from if one and not _is_renewed(Path(one), target))
    for given in (*inputs, *runs):
        if given is None or str(given) in WORDS:
            continue
        problems = [replaced[each] for each in _identities(given) if each in replaced]
        if problems or (address is not None and address == address_of(given)):
            problem = problems[0] if problems else "is"
            remedy = "which would be lost; choose another name"
            raise OutputError(f"{address or output}: {problem} an input ({given}), {remedy}")


def _is_renewed(run: Path, target: Path | None) -> bool:
    """Whether the output is the same run folder."""
    return target is not None and is_run(run) and _identity(run) == _identity(target)


def _identities(given: StrPath) -> Iterator[tuple[int, int] | None]:
    """The identities of the files that an input stands for."""
    if str(given) == STANDARD_INPUT:
        with suppress(OSError, ValueError, AttributeError):
            status = os.fstat(sys.stdin.fileno())
            yield status.st_dev, status.st_ino
        return
    path = _local_path(given)
    if path is None:
        return
    try:
        parts = expanded(path)
    except InputError:  # of a pattern that fits nothing, which the reader says
        return
    for part in map(Path, parts):
        yield _identity(part)
        if part.is_dir():
            yield from map(_identity, _files_read(part))


def _files_read(folder: Path) -> Iterator[Path]:
    """The files of a folder that are read, if it is a run, a benchmark, or one side."""
    with suppress(OSError):  # which the reader says
        if is_run(folder):
            yield from (file for file in folder.rglob("*") if file.suffix in RUN_SUFFIXES)
            return
        kinds = BENCHMARK_SUFFIXES if is_pair(folder) else READ_SUFFIXES
        yield from (file for file in folder.iterdir() if kind_of(file) in kinds)


def _identity(path: Path) -> tuple[int, int] | None:
    """The device and the number of a file there; None if there is none."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def _local_path(path: StrPath) -> Path | None:
    """The path on this machine, also of an address such as file:///a/b; None if it is elsewhere."""
    address = address_of(path)
    if address is None:
        return Path(path)
    with suppress(InputError):
        system, place = elsewhere(address)
        if "file" in system.protocol or "local" in system.protocol:
            return Path(place)
    return None
