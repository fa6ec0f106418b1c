"""The report: what was measured beside what was published, as report.md and report.html."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sameas.atomic import replacing_file
from sameas.reproduction.figures import FEATURES, SOURCE, Results, by_dataset, title
from sameas.reproduction.rendering import (
    NOTHING,
    Document,
    Section,
    Table,
    count,
    gib,
    markdown,
    page,
    seconds,
    table_of,
)
from sameas.reproduction.sections import make_sections


def write_report(content: dict[str, Any], folder: Path) -> None:
    """Write report.md, report.html and the plots into a folder, from what results.json holds."""
    folder.mkdir(parents=True, exist_ok=True)
    document = _document(Results(content), folder)
    for name, text in (("report.md", markdown(document)), ("report.html", page(document))):
        with replacing_file(folder / name) as draft:
            draft.write_text(text, encoding="utf8", newline="\n")


def _document(results: Results, folder: Path) -> Document:
    sections = make_sections(results, folder)
    text = [
        f"Every table and figure published for SEU ({SOURCE}), beside the same measured with "
        f"sameas {results.content['sameas']}. Rows of other methods are quoted from there, those "
        "of later ones from their own papers.",
        "Scores have three decimals, seconds one. Bold marks the best figure of a column within "
        "its block of rows: published figures and ours are marked separately, since word vectors "
        f"and machines differ. A dash ({NOTHING}) means that there is no figure. Differences are "
        "ours less published, of the figures as shown.",
        "Up to PARIS, sameas does what the paper does (preset paper) unless a row says best. From "
        "Preset best on, it does the best we know: names weighted and folded, refinement from the "
        "graph itself, and entities that may stay unmatched.",
    ]
    left_out = [name for name, section in sections.items() if section is None]
    if left_out:
        text.append(f"Not run, and so left out: {', '.join(left_out)}.")
    shown = [section for section in sections.values() if section is not None]
    return Document("SEU reproduced with sameas", text, [*shown, _making(results)])


def _making(results: Results) -> Section:
    """What is needed to make the same again."""
    text = (
        f"Made by `{results.content['command']}`. Unless a table says otherwise: depth 2, 10 "
        "rounds of Sinkhorn, temperature 0.02, relational adjacency, as in the paper. "
        f"{results.comparability}"
    )
    entries = results.content["results"]
    hashes = {entry["dataset"]: entry["dataset_sha256"] for entry in entries}
    read = [[title(dataset), hashes[dataset]] for dataset in by_dataset(hashes)]
    tables = [
        _origin(results),
        _experiments(entries),
        table_of("Datasets read", ["dataset", "SHA-256"], read, labels=2),
    ]
    return Section("How it was made", text, tables)


def _origin(results: Results) -> Table:
    content = results.content
    machine, vectors = content["machine"], content["word_vectors"]
    versions = {entry["sameas"] for entry in content["results"]} | {content["sameas"]}
    packages = ("numpy", "scipy")
    rows = {
        "command": f"`{content['command']}`",
        "sameas": ", ".join(sorted(versions)),
        "system": machine["system"],
        "processor": f"{machine['processor']}, {machine['cores']} cores",
        "memory": f"{gib(machine['memory_bytes'])} GiB",
        "Python, NumPy, SciPy": ", ".join(
            [machine["python"], *(str(machine["packages"][name]) for name in packages)]
        ),
        "word vectors": results.vectors.removeprefix("word vectors "),
    }
    if vectors is not None:
        rows["word vectors, SHA-256"] = vectors["sha256"]
    return table_of("Software, machine and word vectors", ["what", "which"], rows.items(), labels=2)


def _experiments(entries: list[dict[str, Any]]) -> Table:
    """Which experiments were run, with which settings, and how long they took."""
    runs: dict[tuple[str, str], list[float]] = {}
    for entry in entries:
        settings = ", ".join(
            f"{name} {FEATURES.get(value, value)}"
            for name, value in sorted(entry["settings"].items())
        )
        runs.setdefault((entry["experiment"], settings or NOTHING), []).append(entry["seconds"])
    rows = [[*key, count(len(taken)), seconds(sum(taken))] for key, taken in runs.items()]
    total = seconds(sum(entry["seconds"] for entry in entries))
    header = ["experiment", "settings", "datasets", "seconds"]
    return table_of(f"Experiments; {total} seconds in all", header, rows, labels=2)
