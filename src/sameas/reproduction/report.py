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
    count,
    gib,
    markdown,
    page,
    seconds,
    table_of,
)
from sameas.reproduction.sections import make_sections, specification


def write_report(content: dict[str, Any], folder: Path) -> None:
    """Write report.md, report.html and the plots into a folder, from what results.json holds."""
    folder.mkdir(parents=True, exist_ok=True)
    document = _document(Results(content), folder)
    for name, text in (("report.md", markdown(document)), ("report.html", page(document))):
        with replacing_file(folder / name) as draft:
            draft.write_text(text, encoding="utf8", newline="\n")


def _document(results: Results, folder: Path) -> Document:
    sections = make_sections(results, folder)
    words = {"source": SOURCE, "version": results.content["sameas"]}
    text = [paragraph.format(**words) for paragraph in specification()["introduction"]]
    left_out = [name for name, section in sections.items() if section is None]
    if left_out:
        text.append(f"Not run, and so left out: {', '.join(left_out)}.")
    shown = [section for section in sections.values() if section is not None]
    return Document("SEU reproduced with sameas", text, [*shown, _making(results)])


def _making(results: Results) -> Section:
    """What is needed to make the same again."""
    content, machine = results.content, results.content["machine"]
    versions = {content["sameas"], *(entry["sameas"] for entry in content["results"])}
    origin = {
        "command": f"`{content['command']}`",
        "sameas": ", ".join(sorted(versions)),
        "system": f"{machine['system']}, Python {machine['python']}",
        "processor": f"{machine['processor']}, {machine['cores']} cores",
        "memory": f"{gib(machine['memory_bytes'])} GiB",
        **{name: version for name, version in machine["packages"].items() if version},
        "word vectors": results.vectors.removeprefix("word vectors "),
        "word vectors, SHA-256": (content["word_vectors"] or {}).get("sha256", NOTHING),
    }
    taken: dict[tuple[str, str], list[float]] = {}
    for entry in content["results"]:
        settings = (f"{name} {FEATURES.get(v, v)}" for name, v in sorted(entry["settings"].items()))
        key = entry["experiment"], ", ".join(settings) or NOTHING
        taken.setdefault(key, []).append(entry["seconds"])
    runs = [[*key, count(len(times)), seconds(sum(times))] for key, times in taken.items()]
    total = seconds(sum(entry["seconds"] for entry in content["results"]))
    hashes = {entry["dataset"]: entry["dataset_sha256"] for entry in content["results"]}
    read = [[title(dataset), hashes[dataset]] for dataset in by_dataset(hashes)]
    header = ["experiment", "settings", "datasets", "seconds"]
    return Section(
        "How it was made",
        f"Made by `{content['command']}`. Unless a table says otherwise: depth 2, 10 rounds of "
        "Sinkhorn, temperature 0.02, relational adjacency, as in the paper. "
        f"{results.comparability}",
        [
            table_of("Software, machine and word vectors", ["what", "which"], origin.items()),
            table_of(f"Experiments; {total} seconds in all", header, runs, labels=2),
            table_of("Datasets read", ["dataset", "SHA-256"], read, labels=2),
        ],
    )
