"""Where the result of a run goes, and how its phases are shown and kept."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

from sameas.cli.command import START, is_json, say
from sameas.errors import OptionError
from sameas.formats.files import address_of
from sameas.options.declare import Option

if TYPE_CHECKING:
    from sameas.pipeline.phases import PhaseProgress
    from sameas.result.alignment import Alignment

STANDARD_OUTPUT = "-"


@dataclass(frozen=True, kw_only=True)
class Output:
    """Where the links go, and what is written of them."""

    out: Annotated[
        Path,
        Option(
            "Where the links go: .tsv, .csv, .parquet, .jsonl, .sssom.tsv, .nt, .ttl or .rdf; no "
            "suffix for a run folder; - for standard output (TSV).",
            metavar="OUT",
        ),
    ]
    predicate: Annotated[
        str | None,
        Option(
            "What RDF and SSSOM say of a link: sameAs, exactMatch, schema:sameAs or an IRI; else "
            "what fits its entities.",
            metavar="NAME|IRI",
        ),
    ] = None
    with_: Annotated[
        tuple[str, ...],
        Option(
            "Columns of the inputs that a table of links carries for its readers, as in "
            "name,city; where the sides differ, left=city,right=town.",
            metavar="COLUMN,...",
        ),
    ] = ()

    @property
    def is_printed(self) -> bool:
        """Whether links go to standard output."""
        return str(self.out) == STANDARD_OUTPUT

    def writer(self) -> Callable[[Alignment], tuple[str, ...]]:
        """What writes the links, checked before the work; it returns what the format lacks."""
        from sameas.result.export import prepare

        if not self.is_printed:
            return prepare(self.out, predicate=self.predicate, folder=True, with_=self.with_)
        if is_json():
            raise OptionError(
                "-o - prints links on standard output, where --json prints its object; give a file"
            )
        return self._print_links

    def _print_links(self, alignment: Alignment) -> tuple[str, ...]:
        """Print the links as TSV on standard output; returns what that cannot hold."""
        from sameas.result.export import prepare

        with TemporaryDirectory(prefix="sameas-") as folder:
            file = Path(folder) / "links.tsv"
            not_held = prepare(file, with_=self.with_)(alignment)
            say(file.read_text(encoding="utf-8").removesuffix("\n"))
        return not_held


def write_clusters(
    output: Output,
    write_out: Callable[[Alignment], tuple[str, ...]],
    alignment: Alignment,
    seconds: dict[str, float],
    progress: PhaseProgress,
) -> tuple[str, ...]:
    """Write what was found; its finished phases are let go of. Returns what the format lacks."""
    seconds.update(alignment.seconds)
    with timed("writing", seconds, progress):
        not_held = write_out(alignment)
    shutil.rmtree(finished_phases(output.out), ignore_errors=True)
    return not_held


def taken(alignment: Alignment, seconds: dict[str, float]) -> dict[str, Any]:
    """What a run took, as --json prints it."""
    from sameas.pipeline.memory import peak_memory  # which loads nearly everything

    return {
        "seconds": {phase: round(value, 3) for phase, value in seconds.items()},
        "total_seconds": round(time.perf_counter() - START, 3),
        "peak_memory_bytes": peak_memory(),
        "resumed": list(alignment.resumed),
    }


@contextmanager
def timed(phase: str, seconds: dict[str, float], progress: PhaseProgress) -> Iterator[None]:
    """Show a phase as it begins and ends, and write down how long it took."""
    begin = time.perf_counter()
    progress(phase, 0.0)
    yield
    progress(phase, 1.0)
    seconds[phase] = time.perf_counter() - begin


def finished_phases(out: Path) -> Path:
    """The folder of finished phases: beside the output, or in the working folder for addresses."""
    from sameas.compute.atomic import hidden_beside

    if str(out) == STANDARD_OUTPUT:
        out = Path("links")
    return hidden_beside(Path(out.name) if address_of(out) else out, "resume")
