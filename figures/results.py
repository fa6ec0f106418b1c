"""Result files: docs/results/PART.json holds the values of each case, and where they come from."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import sameas
from experiments.store import machine
from sameas.compute.atomic import replacing_file

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "results"
DIGITS = 6
"""Digits kept of a value; what is shown has fewer."""

Values = dict[str, Any]


class Entry(NamedTuple):
    """The values of one case, and their origin."""

    values: Values
    sameas: str
    code: str | None
    """Checksum of the code that made them; None if that is not known."""
    processor: str
    cores: int | None
    date: str
    seconds: float | None
    """What it took to make them."""


class Results:
    """All result files of a folder; an entry that is not there has no values."""

    def __init__(self, folder: Path = FOLDER) -> None:
        """Read the files."""
        self.folder = folder
        self.entries: dict[str, dict[str, Entry]] = {}
        for file in sorted(folder.glob("*.json")):
            cases = json.loads(file.read_text(encoding="utf8"))
            self.entries[file.stem] = {name: Entry(**entry) for name, entry in cases.items()}

    def __getitem__(self, part: str) -> dict[str, Values]:
        """The values of a part, by case."""
        return {case: entry.values for case, entry in self.entries.get(part, {}).items()}

    def get(self, part: str, case: str) -> Values:
        """The values of a case; none if it was not measured."""
        return self[part].get(case, {})

    def keep(self, part: str, case: str, entry: Entry) -> None:
        """Keep an entry, in the file too."""
        cases = self.entries.setdefault(part, {})
        cases[case] = entry
        content = {name: each._asdict() for name, each in cases.items()}
        self.folder.mkdir(parents=True, exist_ok=True)
        with replacing_file(self.folder / f"{part}.json") as draft:
            text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
            draft.write_text(text, encoding="utf8", newline="\n")

    def origin(self, *parts: str, cases: Iterable[str] = ()) -> str:
        """One sentence: version, dates and processors of the entries of some parts."""
        chosen = set(cases)
        entries = [
            entry
            for part in parts
            for case, entry in self.entries.get(part, {}).items()
            if not chosen or case in chosen
        ]
        if not entries:
            return "Not measured yet."
        versions = " and ".join(sorted({entry.sameas for entry in entries}))
        processors = " and ".join(sorted({f"{e.processor}, {e.cores} cores" for e in entries}))
        dates = sorted({entry.date for entry in entries})
        period = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
        return f"Version {versions}, {period}; {processors}."


def make_entry(values: Mapping[str, Any], *, code: str, seconds: float) -> Entry:
    """An entry of this version, made on this machine today."""
    return Entry(
        values=rounded(dict(values)),
        sameas=sameas.__version__,
        code=code,
        processor=str(machine()["processor"]),
        cores=os.cpu_count(),
        date=datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        seconds=round(seconds, 1),
    )


def rounded(value: Any) -> Any:
    """A value with fewer digits, as JSON will give it back.

    >>> rounded({"f1": 0.12345678, "links": (1, None)})
    {'f1': 0.123457, 'links': [1, None]}
    """
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, Mapping):
        return {str(name): rounded(each) for name, each in value.items()}
    return [rounded(each) for each in value] if isinstance(value, list | tuple) else value
