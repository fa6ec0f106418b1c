"""The report: what was measured beside what was published, as report.md and report.html."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sameas.atomic import replacing_file
from sameas.reproduction import published, sections, sections_best
from sameas.reproduction.measured import FEATURES, Measured
from sameas.reproduction.rendering import (
    NOTHING,
    Cell,
    Document,
    Section,
    Table,
    count,
    markdown,
    page,
    seconds,
)


def write_report(results: dict[str, Any], folder: Path) -> None:
    """Write report.md, report.html and the plots into a folder, from what results.json holds."""
    folder.mkdir(parents=True, exist_ok=True)
    document = _document(Measured(results), folder)
    for name, text in (("report.md", markdown(document)), ("report.html", page(document))):
        with replacing_file(folder / name) as draft:
            draft.write_text(text, encoding="utf8", newline="\n")


def _document(results: Measured, folder: Path) -> Document:
    makers: dict[str, Callable[[Measured, Path], Section | None]] = {
        "Datasets": _datasets,
        "Main results": sections.main_results,
        "Solvers": sections.solvers,
        "Run time": sections.run_time,
        "Temperature": sections.temperature,
        "Iterations": sections.iterations,
        "Depth": sections.depth,
        "Adjacency": sections.adjacency,
        "PARIS": sections.paris,
        "Preset best": sections_best.whole_command,
        "Open protocol": sections_best.open_protocol,
        "Hidden half": sections_best.hidden_half,
        "Reliability": sections_best.reliability,
        "Ablation": sections_best.ablation,
        "Sensitivity": sections_best.sensitivity,
    }
    made = {title: make(results, folder) for title, make in makers.items()}
    left_out = [title for title, section in made.items() if section is None]
    text = [
        f"Every table and figure published for SEU ({published.SOURCE}), beside the same measured "
        f"with sameas {results.content['sameas']}. Rows of other methods are quoted from there, "
        "those of later ones from their own papers.",
        "Scores have three decimals, seconds one. Bold marks the best figure of a column within "
        "its block of rows: published figures and ours are marked each on their own, since word "
        f"vectors and machines differ. A dash ({NOTHING}) stands where there is no figure. "
        "Differences are ours less published, of the figures as shown.",
        "Up to PARIS, sameas does what the paper does (preset paper) unless a row says best. From "
        "Preset best on, it does the best we know: names weighted and folded, refinement from the "
        "graph itself, and entities that may stay unmatched.",
    ]
    if left_out:
        text.append(f"Not run, and so left out: {', '.join(left_out)}.")
    shown = [section for section in made.values() if section is not None]
    return Document("SEU reproduced with sameas", text, [*shown, _making(results)])


def _datasets(results: Measured, folder: Path) -> Section | None:
    """What the files hold, and whether that is what the paper says."""
    entries = results.entries("datasets")
    rows, wrong = [], []
    for entry in entries:
        found, facts = entry["figures"], published.DATASETS.get(entry["figures"]["published"])
        title = facts.title if facts else entry["dataset"]
        for number, name in enumerate(("left", "right")):
            paper = ("left", "right")[number != bool(found["swapped"])]
            theirs: dict[str, int] = getattr(facts, paper)._asdict() if facts else {}
            ours = {kind: found[name][kind] for kind in published.Side._fields}
            differs = [kind for kind in theirs if ours[kind] != theirs[kind]]
            wrong += [
                f"{title}, {name}: {count(ours[kind])} {kind} where the paper has "
                f"{count(theirs[kind])}"
                for kind in differs
            ]
            verdict = (f"differs: {', '.join(differs)}" if differs else "same") if facts else ""
            cells = [title, name + (f" (paper's {paper})" if found["swapped"] else "")]
            cells += [verdict or NOTHING, count(found["links"]), *map(count, ours.values())]
            cells += [count(theirs.get(kind)) for kind in ours]
            rows.append([Cell(cell) for cell in cells])
    if not rows:
        return None
    header = ["dataset", "graph", "against the paper", "gold links", "entities", "relations"]
    header += ["triples", "published entities", "published relations", "published triples"]
    text = "What the files hold, beside the paper's table. " + (
        f"Not as in the paper: {'; '.join(wrong)}." if wrong else "What is in both agrees."
    )
    if any(entry["figures"]["swapped"] for entry in entries):
        text += (
            " Where a folder's left graph is the paper's right one, each is compared with its own."
        )
    table = Table("Datasets, as read and as published", header, [rows], labels=3)
    return Section("Datasets", text, [table])


def _making(results: Measured) -> Section:
    """What would be needed to make the same again."""
    text = (
        f"Made by `{results.content['command']}`. Unless a table says otherwise: depth "
        f"{published.DEPTH}, {published.ITERATIONS} rounds of Sinkhorn, temperature "
        f"{published.TEMPERATURE:g}, relational adjacency, as in the paper. "
        + results.comparability
    )
    return Section(
        "How it was made", text, [_origin(results), _experiments(results), _hashes(results)]
    )


def _origin(results: Measured) -> Table:
    machine, vectors = results.content["machine"], results.content["word_vectors"]
    versions = {entry["sameas"] for entry in results.content["results"]}
    rows = {
        "command": f"`{results.content['command']}`",
        "sameas": ", ".join(sorted(versions | {results.content["sameas"]})),
        "system": machine["system"],
        "processor": f"{machine['processor']}, {machine['cores']} cores",
        "memory": f"{machine['memory_gib']:.1f} GiB",
        "Python, NumPy, SciPy": ", ".join(machine[name] for name in ("python", "numpy", "scipy")),
        "word vectors": "none",
    }
    if vectors is not None:
        rows["word vectors"] = f"{vectors['file']}, {vectors['dimensions']} dimensions"
        rows["word vectors, SHA-256"] = vectors["sha256"]
    group = [[Cell(name), Cell(value)] for name, value in rows.items()]
    return Table("Software, machine and word vectors", ["what", "which"], [group], labels=2)


def _experiments(results: Measured) -> Table:
    """Which experiments were run, with which settings, and how long they took."""
    runs: dict[tuple[str, str], list[float]] = {}
    for entry in results.content["results"]:
        settings = ", ".join(
            f"{name} {FEATURES.get(value, value) if name == 'features' else value}"
            for name, value in sorted(entry["settings"].items())
        )
        runs.setdefault((entry["experiment"], settings or NOTHING), []).append(entry["seconds"])
    group = [
        [Cell(name), Cell(settings), Cell(count(len(taken))), Cell(seconds(sum(taken)))]
        for (name, settings), taken in runs.items()
    ]
    header = ["experiment", "settings", "datasets", "seconds"]
    total = sum(sum(taken) for taken in runs.values())
    return Table(f"Experiments; {seconds(total)} seconds in all", header, [group], labels=2)


def _hashes(results: Measured) -> Table:
    entries = results.content["results"]
    titles = results.titles(*dict.fromkeys(entry["experiment"] for entry in entries))
    hashes = {entry["dataset"]: entry["dataset_sha256"] for entry in entries}
    group = [[Cell(title), Cell(hashes[key])] for key, title in titles.items()]
    return Table("Datasets read", ["dataset", "SHA-256"], [group], labels=2)
