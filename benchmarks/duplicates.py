"""Duplicates within one graph: a real graph with duplicates put in, and generated people.

``python -m benchmarks.duplicates graph zh_en --out graph`` writes the right graph of a pair in the
DBP15K layout with a share of its entities twice, each time with a changed name and half of the
triples; ``people N --out people`` writes a table of N generated people, a tenth of them twice, and
``judge GRAPH GOLD`` runs ``sameas dedupe`` and prints time, memory and scores.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
import string
from collections.abc import Sequence
from pathlib import Path

from benchmarks.processes import sameas, timed

LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
FIRST = "Ada Ben Cora Dan Eva Finn Gus Hana Ivo June Kai Lea Max Nora Otto Pia Quin Rosa Sam Tess"
CITIES = (
    "Aston Brackley Corby Dover Ely Frome Goole Hythe Ilkley Jarrow Keswick Ludlow Malton Neath"
)


def misspelled(text: str, draw: random.Random) -> str:
    """The text with a letter dropped, doubled, changed, or swapped with the next one."""
    if len(text) < 4:
        return text + text[-1:]
    place = draw.randrange(1, len(text) - 1)
    before, letter, after = text[:place], text[place], text[place + 1 :]
    other = draw.choice(string.ascii_lowercase)
    swapped = before + after[0] + letter + after[1:]
    dropped, doubled = before + after, before + letter * 2 + after
    return draw.choice([dropped, doubled, before + other + after, swapped])


def renamed(name: str, draw: random.Random) -> str:
    """The name as another source may have it."""
    words = name.split()
    ways = [misspelled(name, draw), misspelled(name, draw), name.upper(), f"The {name}"]
    if len(words) > 1:
        ways += [" ".join([*words[1:], words[0]]), f"{words[-1]}, {' '.join(words[:-1])}"]
        ways.append(f"{words[0][0]}. {' '.join(words[1:])}")
    if bracket := re.search(r" \(.*\)$", name):
        ways.append(name[: bracket.start()])
    return draw.choice(ways)


def make_graph(folder: Path, out: Path, share: float) -> None:
    """Write OUT.nt and OUT.gold.csv (id, cluster)."""
    draw = random.Random(0)

    def numbered(file: str) -> dict[str, str]:
        lines = (folder / file).read_text(encoding="utf8").splitlines()
        return dict(line.split("\t") for line in lines)

    entities, relations = numbered("ent_ids_2"), numbered("rel_ids_2")
    names = {iri: iri.rsplit("/", 1)[1].replace("_", " ") for iri in entities.values()}
    chosen = draw.sample(sorted(names), int(len(names) * share))
    twice = {iri: f"{iri}#again" for iri in chosen}
    names |= {again: renamed(names[iri], draw) for iri, again in twice.items()}
    order = sorted(names)
    draw.shuffle(order)
    ids = {iri: f"http://example.org/e{number}" for number, iri in enumerate(order)}

    def said(iri: str) -> str:
        return ids[twice[iri] if iri in twice and draw.random() < 0.5 else iri]

    lines = [
        f"<{ids[iri]}> {LABEL} {json.dumps(names[iri], ensure_ascii=False)} ." for iri in order
    ]
    for line in (folder / "triples_2").read_text(encoding="utf8").splitlines():
        head, relation, tail = line.split("\t")
        ends = said(entities[head]), said(entities[tail])
        lines.append(f"<{ends[0]}> <{relations[relation]}> <{ends[1]}> .")
    out.with_suffix(".nt").write_text("\n".join(lines) + "\n", encoding="utf8")
    gold = [(ids[iri], iri.removesuffix("#again")) for iri in order]
    write_rows(out.with_suffix(".gold.csv"), ("id", "cluster"), gold)


def make_people(count: int, out: Path) -> None:
    """Write OUT.csv and OUT.gold.csv: people, a tenth of whom stand in the table twice."""
    draw = random.Random(0)
    rows, gold = [], []
    for number in range(count * 10 // 11):
        surname = "".join(draw.choices(string.ascii_lowercase, k=draw.randint(5, 9))).title()
        born = f"{draw.randint(1920, 2005)}-{draw.randint(1, 12):02d}-{draw.randint(1, 28):02d}"
        first, city = draw.choice(FIRST.split()), draw.choice(CITIES.split())
        mail = f"{first}.{surname}{draw.randint(1, 99)}@example.org".lower()
        person = [first, surname, born, city, mail]
        rows.append(person)
        gold.append(number)
        if draw.random() < 0.1:
            changed = draw.sample(range(5), 2)
            rows.append([misspelled(x, draw) if k in changed else x for k, x in enumerate(person)])
            gold.append(number)
    order = list(range(len(rows)))
    draw.shuffle(order)
    header = ("id", "first_name", "surname", "born", "city", "mail")
    write_rows(out.with_suffix(".csv"), header, [(f"p{n}", *rows[k]) for n, k in enumerate(order)])
    write_rows(
        out.with_suffix(".gold.csv"),
        ("id", "cluster"),
        [(f"p{n}", gold[k]) for n, k in enumerate(order)],
    )


def write_rows(path: Path, header: tuple[str, ...], rows: Sequence[Sequence[object]]) -> None:
    """Write a table as CSV."""
    with path.open("w", encoding="utf8", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def judge(graph: str, gold: Path, out: Path, further: list[str]) -> dict[str, object]:
    """Seconds, GiB and scores of ``sameas dedupe``."""
    ran = timed(sameas("dedupe", graph, "-o", str(out), "--json", *further))
    scores = timed(sameas("evaluate", str(out), str(gold), "--json"))
    found = json.loads(scores.output)
    return {
        "seconds": round(ran.seconds, 1),
        "gib": round(ran.peak_bytes / 2**30, 2),
        **{name: found[name] for name in ("pairwise_f1", "cluster_f1", "bcubed_f1")},
    }


def main() -> None:
    """Make a graph or a table, or judge one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["graph", "people", "judge"])
    parser.add_argument("source", help="a folder, a number of rows, or a graph")
    parser.add_argument("gold", nargs="?", type=Path)
    parser.add_argument("--out", type=Path, default=Path("duplicates"))
    parser.add_argument("--share", type=float, default=0.05)
    parser.add_argument("--memory", default="4G")
    given = parser.parse_args()
    if given.what == "graph":
        make_graph(Path(given.source), given.out, given.share)
    elif given.what == "people":
        make_people(int(given.source), given.out)
    else:
        out = given.out.with_suffix(".clusters.csv")
        print(
            json.dumps(judge(given.source, given.gold, out, ["--memory", given.memory]), indent=2)
        )


if __name__ == "__main__":
    main()
