"""Where a merged graph goes: its format, its files, and the table of conflicts."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import IO, Any, Literal, get_args

import zstandard

from sameas.compute.atomic import replacing_file, replacing_folder
from sameas.errors import OptionError, OutputError, writing_to
from sameas.formats.files import kind_of
from sameas.formats.graphrag import is_graphrag
from sameas.graph.graph import Graph
from sameas.result.export import TABLES, check_place
from sameas.result.run_folder import is_run

Form = Literal["rdf", "neo4j", "graphml", "node-link", "apoc", "graphrag", "records", "cypher"]
"""What a merged graph is written as."""
SUFFIXES: dict[Form, tuple[str, ...]] = {
    "rdf": (".nt", ".nq", ".ttl"),
    "graphml": (".graphml",),
    "cypher": (".cypher",),
    "node-link": (".json",),
    "apoc": (".jsonl", ".json"),
    "records": (".csv", ".tsv", ".parquet", ".jsonl"),
    "neo4j": (".csv",),
    "graphrag": (".parquet",),
}
IN_FOLDER: dict[Form, tuple[str, str]] = {
    "neo4j": ("nodes.csv", "relationships.csv"),
    "graphrag": ("entities.parquet", "relationships.parquet"),
}
"""The two files of a form that has two, in a folder."""
COMPRESSORS: dict[str, Callable[[Any], Any]] = {
    ".gz": lambda file: gzip.GzipFile("", "wb", fileobj=file, mtime=0),
    ".zst": lambda file: zstandard.ZstdCompressor().stream_writer(file, closefd=False),
}
"""The same content always gives the same bytes."""
REMEDY = "plain, .gz or .zst"
ANY = (".nt", ".nq", ".ttl", ".graphml", ".cypher", ".json", ".jsonl", ".csv", ".tsv", ".parquet")


@dataclass(frozen=True, kw_only=True)
class Target:
    """Where a merged graph goes."""

    form: Form
    files: tuple[Path, ...]
    folder: Path | None = None
    """The folder of the files, where that was asked for."""

    @property
    def conflicts(self) -> Path:
        """Where conflicts are listed unless another place is given: beside the first file."""
        first = self.folder or self.files[0]
        return first.with_name(f"{first.name}.conflicts.csv")


def choose_target(
    path: str | PathLike[str], graphs: Sequence[Graph], form: Form | None = None
) -> Target:
    """The format and the files of a path; what cannot be written there is an OutputError.

    The form that was asked for counts, else the suffix, else what the graphs were made of.
    """
    if form is not None and form not in get_args(Form):
        raise OptionError(f"`as_` must be one of {', '.join(get_args(Form))}, got {form!r} instead")
    paths = [Path(part) for part in str(path).split(",") if part]
    if len(paths) > 1 and not Path(path).exists():
        return _checked(_two_files(path, paths, form))
    path = Path(path)
    kind = kind_of(path)
    if form in IN_FOLDER or (form is None and not kind):
        return _checked(_folder(path, graphs, form))
    form = form or _form_of(path, kind, graphs)
    known = SUFFIXES[form]
    if kind not in known:
        check_place(path, kind, known, remedy=REMEDY)
    return _checked(Target(form=form, files=(path,)))


def _two_files(path: str | PathLike[str], paths: list[Path], form: Form | None) -> Target:
    kinds = {kind_of(part) for part in paths}
    chosen: dict[str, Form] = {".csv": "neo4j", ".parquet": "graphrag"}
    made = chosen.get(min(kinds)) if len(kinds) == 1 and len(paths) == 2 else None
    if made is None or form not in (None, made):
        raise OutputError(
            f"{path}: two files with a comma between them must be nodes.csv,relationships.csv "
            "(neo4j) or entities.parquet,relationships.parquet (graphrag)"
        )
    if paths[0] == paths[1]:
        raise OutputError(f"{path}: the two files are one; give them different names")
    return Target(form=made, files=tuple(paths))


def _folder(path: Path, graphs: Sequence[Graph], form: Form | None) -> Target:
    """A folder for a form that has two files; without one, what the graphs were made of."""
    if form is None and all(is_graphrag(graph) for graph in graphs):
        form = "graphrag"
    if form is None and any(graph.shape == "property graph" for graph in graphs):
        form = "neo4j"
    if form is None:
        raise OutputError(
            f"{path}: a folder is for property graphs, and the graphs of this run are "
            f"{_shapes(graphs)}; give a file ({', '.join(ANY)}), or `as_` neo4j or graphrag"
        )
    if path.suffix:
        first, second = IN_FOLDER[form]
        raise OutputError(
            f"{path}: {form} has two files; give a folder, or both with a comma between them "
            f"({first},{second})"
        )
    return Target(form=form, files=tuple(path / name for name in IN_FOLDER[form]), folder=path)


def _form_of(path: Path, kind: str, graphs: Sequence[Graph]) -> Form:
    """The form that a suffix says; a table is one of records only where a graph was."""
    are_records = any(graph.shape == "records" for graph in graphs)
    if kind == ".jsonl":
        return "records" if are_records else "apoc"
    if kind in TABLES and not are_records:
        raise OutputError(
            f"{path}: one table is for records, and the graphs of this run are {_shapes(graphs)}; "
            "give nodes.csv,relationships.csv for neo4j-admin, another suffix, or `as_` records"
        )
    for form, known in SUFFIXES.items():
        if kind in known:
            return form
    check_place(path, kind, ANY, remedy=REMEDY)
    raise AssertionError("a suffix that is not known was refused")


def _shapes(graphs: Sequence[Graph]) -> str:
    names = {"rdf": "RDF", "triples": "triples", "records": "records"}
    return " and ".join(dict.fromkeys(names.get(graph.shape, graph.shape) for graph in graphs))


def _checked(target: Target) -> Target:
    """The target, refused if nothing can be written there."""
    for file in target.files:
        if kind_of(file) == ".parquet" and file.suffix.lower() != ".parquet":
            raise OutputError(f"{file}: Parquet is compressed already; leave out {file.suffix}")
    if target.folder is None:
        for file in target.files:
            check_place(file, kind_of(file), SUFFIXES[target.form], remedy=REMEDY)
    elif is_run(target.folder):
        raise OutputError(f"{target.folder}: is a run folder; choose another name")
    elif target.folder.is_dir():
        for file in target.files:
            check_place(file, kind_of(file), SUFFIXES[target.form], remedy=REMEDY)
    else:
        check_place(target.folder, "", ("",), remedy=REMEDY)
    return target


def check_conflicts(path: Path, files: Sequence[Path]) -> None:
    """Raise an OutputError unless the table of conflicts can be written there."""
    check_place(path, path.suffix.lower(), TABLES, remedy="plain")
    if path in files:
        raise OutputError(f"{path}: is where the merged graph goes; choose another name")


@contextmanager
def writing(target: Target, conflicts: Path | None) -> Iterator[tuple[list[Path], Path | None]]:
    """Paths to write the files and the conflicts to; all take their places if the block succeeds.

    A folder that is not there yet is made as a whole.
    """
    with ExitStack() as stack:
        table = None if conflicts is None else stack.enter_context(replacing_file(conflicts))
        folder = target.folder
        if folder is not None and not folder.is_dir():
            draft = stack.enter_context(replacing_folder(folder))
            drafts = [draft / file.name for file in target.files]
        else:
            drafts = [stack.enter_context(replacing_file(file)) for file in target.files]
        yield drafts, table


@contextmanager
def opened(draft: Path, file: Path) -> Iterator[IO[bytes]]:
    """The draft of a file to write to, which compresses what is written as its suffix says."""
    compressed = COMPRESSORS.get(draft.suffix.lower(), nullcontext)
    with writing_to(file), draft.open("wb") as raw, compressed(raw) as stream:
        yield stream
