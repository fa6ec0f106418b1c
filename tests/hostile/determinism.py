"""How many links change by what should not matter: ``python -m tests.hostile.determinism``."""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import sameas

from .report import fill, markdown

METHODS = {
    "best": (),
    "paper": ("--preset", "paper"),
    "PARIS": ("--method", "paris"),
}
PROCESSORS = {
    "SkylakeX": "avx512f",
    "Haswell": "avx2",
    "Sandybridge": "avx",
    "Nehalem": "sse4_2",
}
"""Processors whose kernels OpenBLAS is told to use, and what a processor needs to run them."""
Pair = set[tuple[str, str]]


def linked(folder: Path, out: Path, flags: tuple[str, ...], **surroundings: str) -> bytes:
    """The file of links of a pair, by a process with other surroundings."""
    one = surroundings.pop("cores", "") == "1"
    subprocess.run(
        [sys.executable, "-m", "sameas", "align", str(folder), *flags, "-o", str(out)],
        check=True,
        capture_output=True,
        env={**os.environ, **surroundings},
        preexec_fn=(lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}))
        if one
        else None,
    )
    return out.read_bytes()


def shuffled(content: dict[str, list[str]], seed: int) -> dict[str, list[str]]:
    """All files with their lines in another order."""
    chance = random.Random(seed)
    return {name: chance.sample(rows, len(rows)) for name, rows in content.items()}


def swapped(content: dict[str, list[str]]) -> dict[str, list[str]]:
    """Left for right and right for left."""
    turned = {"1": "2", "2": "1"}
    files = {
        name[:-1] + turned[name[-1]]: rows for name, rows in content.items() if name[-1] in "12"
    }
    links = ["\t".join(reversed(row.split("\t"))) for row in content["ent_links"]]
    return {**files, "ent_links": links}


def joined_by_strangers(content: dict[str, list[str]]) -> dict[str, list[str]]:
    """With a component on each side that has to do with nothing: 100 entities, names at random."""
    files = dict(content)
    for side in "12":
        chance = random.Random(side)
        words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=9)) for _ in range(100)]
        rows = [f"z{side}:{a}\tz{side}:r\tz{side}:{b}" for a, b in pairwise(words)]
        files[f"rel_triples_{side}"] = content[f"rel_triples_{side}"] + rows
    return files


def written(content: dict[str, list[str]], folder: Path) -> Path:
    """A folder with these files."""
    folder.mkdir()
    for name, rows in content.items():
        (folder / name).write_text("".join(f"{row}\n" for row in rows), "utf8")
    return folder


def pairs(links: bytes, *, turned: bool = False) -> Pair:
    """The links of a file between entities of the demo."""
    rows = [line.split("\t")[:2] for line in links.decode().splitlines()[1:]]
    found = {(right, left) if turned else (left, right) for left, right in rows}
    return {link for link in found if not link[0].startswith(("z1:", "z2:"))}


def compared(before: bytes, after: bytes, *, turned: bool = False) -> str:
    """A cell of the table."""
    if before == after:
        return "same bytes"
    old, new = pairs(before), pairs(after, turned=turned)
    if old != new:
        lost, more = len(old - new), len(new - old)
        return f"{lost} lost, {more} new of {len(old):,}"
    if turned or sorted(before.splitlines()) == sorted(after.splitlines()):
        return f"same {len(old):,} links"
    old_confidence, new_confidence = confidences(before), confidences(after)
    most = max(abs(old_confidence[link] - new_confidence[link]) for link in old)
    return f"same {len(old):,} links, confidence within {most:.1g}"


def confidences(links: bytes) -> dict[tuple[str, str], float]:
    """The confidence of each link of a file; 0 where it has none."""
    rows = [line.split("\t") for line in links.decode().splitlines()[1:]]
    return {(left, right): float(number or 0) for left, right, _, number in rows}


def rows(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """The rows of the table: what was changed, and a cell for each method."""
    names = [*(f"{kind}_triples_{side}" for kind in ("rel", "attr") for side in "12"), "ent_links"]
    content = {name: (sameas.DEMO / name).read_text("utf8").splitlines() for name in names}
    out = folder / "links.tsv"
    plain = written(content, folder / "plain")
    before = {name: linked(plain, out, flags) for name, flags in METHODS.items()}

    def row(pair: Path, *, turned: bool = False, **surroundings: str) -> list[str]:
        return [
            compared(before[name], linked(pair, out, flags, **surroundings), turned=turned)
            for name, flags in METHODS.items()
        ]

    yield "run again", row(plain)
    yield "one thread instead of two", row(plain, cores="1")
    _, abilities = processor_at_hand()
    for processor, needed in PROCESSORS.items():
        name = f"kernels for {processor}"
        if needed in abilities:
            yield name, row(plain, OPENBLAS_CORETYPE=processor)
        else:
            yield name, [f"not run: no {needed} here"] * len(METHODS)
    for seed in ("0", "1", "4294967295"):
        yield f"PYTHONHASHSEED={seed}", row(plain, PYTHONHASHSEED=seed)
    changes: dict[str, Callable[[], dict[str, list[str]]]] = {
        f"statements in another order ({seed})": lambda seed=seed: shuffled(content, seed)
        for seed in (1, 2, 3)
    }
    changes["100 unrelated entities more on each side"] = lambda: joined_by_strangers(content)
    for number, (name, change) in enumerate(changes.items()):
        yield name, row(written(change(), folder / f"changed-{number}"))
    yield "left and right swapped", row(written(swapped(content), folder / "swapped"), turned=True)


def processor_at_hand() -> tuple[str, set[str]]:
    """The name of this machine's processor and what it is able to do, from Linux."""
    lines = Path("/proc/cpuinfo").read_text("utf8").splitlines()
    fields = {name.strip(): text.strip() for name, _, text in (one.partition(":") for one in lines)}
    return fields.get("model name", "unknown"), set(fields.get("flags", "").split())


def main() -> None:
    """Make the table, print it, and write it if that is asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.hostile.determinism", description=__doc__
    )
    parser.add_argument("--report", type=Path, metavar="FILE", help="the page that is written")
    chosen = parser.parse_args()
    table = list[tuple[str, ...]]()
    with tempfile.TemporaryDirectory(prefix="sameas-same-") as folder:
        for name, cells in rows(Path(folder)):
            table.append((name, *cells))
            print(" | ".join(table[-1]), flush=True)
    if chosen.report:
        processor, cores = processor_at_hand()[0], len(os.sched_getaffinity(0))
        text = markdown(("changed", *METHODS), table, numbers=False)
        fill(chosen.report, "determinism", f"{text}\nOn {cores} cores of {processor}.\n")


if __name__ == "__main__":
    main()
