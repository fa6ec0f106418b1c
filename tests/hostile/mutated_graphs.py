"""Records and property graphs whose cells, values, elements or columns were changed by chance."""

from __future__ import annotations

import copy
import io
import json
import random
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from .attempt import Attempt, apart
from .changed import TEXTS, as_json, as_table, changed_json, changed_rows, odd_columns

RECORDS: list[dict[str, Any]] = [
    {
        "id": f"r{n}",
        "name": f"name {n}",
        "year": 1900 + n,
        "price": n / 4,
        "city": ["Rome", "Paris"][n % 2],
        "tags": ["a", f"t{n}"],
        "maker": {"name": f"maker {n % 3}", "country": "fr"},
    }
    for n in range(8)
]
NODES = [
    {"id": f"n{n}", "label": ["Person", "City"][n % 2], "name": f"name {n}", "age": 30 + n}
    for n in range(6)
]
EDGES = [
    {"source": f"n{n}", "target": f"n{(n + 1) % 6}", "type": "KNOWS", "since": 2000 + n}
    for n in range(6)
]
NODE_LINK: dict[str, Any] = {
    "directed": True,
    "multigraph": False,
    "graph": {},
    "nodes": NODES,
    "edges": EDGES,
}
APOC: list[dict[str, Any]] = [
    *(
        {
            "type": "node",
            "id": node["id"],
            "labels": [node["label"]],
            "properties": {"name": node["name"], "age": node["age"]},
        }
        for node in NODES
    ),
    *(
        {
            "type": "relationship",
            "id": str(n),
            "label": "KNOWS",
            "properties": {"since": 2000},
            "start": {"id": edge["source"], "labels": ["Person"]},
            "end": {"id": edge["target"]},
        }
        for n, edge in enumerate(EDGES)
    ),
]
HEADERS = (
    *(":ID", "id:ID", "id:ID(Person)", ":ID(A)", ":LABEL", "name", "name:string", "age:int"),
    *(
        "age:long",
        "ok:boolean",
        "at:datetime",
        "x:point",
        "tags:string[]",
        ":IGNORE",
        ":ID{label:X}",
    ),
    *(":START_ID", ":END_ID", ":TYPE", ":START_ID(Person)", "since:double", "since:", ":", "a:b:c"),
)
ELEMENTS = (
    "<node id='n1'/>",
    "<node/>",
    "<edge source='n1' target='nowhere'/>",
    "<edge/>",
    "<graph/>",
    "<hyperedge/>",
    "<data>x</data>",
    "<data key='nowhere'>x</data>",
    "<port name='x'/>",
    "<key id='d0'/>",
    "<desc>x</desc>",
    "<graph><node id='inner'/></graph>",
    "<data key='d0'><y:ShapeNode/></data>",
    "<!-- -->",
    "&nope;",
    "&#0;",
    "text",
)


def records(kind: str, chance: random.Random) -> Attempt:
    """Tables of records as CSV, TSV, JSON, JSON lines and Parquet."""
    suffix = chance.choice((".csv", ".tsv", ".json", ".jsonl", ".parquet"))
    file, seed = f"x{suffix}", chance.randrange(10**9)
    how = chance.choice(
        (
            (),
            (),
            ("--table", "records"),
            ("--id", "id"),
            ("--id", "id", "--name", "name"),
            ("--name", "year"),
            ("--id", "nowhere"),
            ("--id", "id,city", "--name", "name,city"),
            ("--table", "edges"),
            ("--table", "triples"),
        )
    )
    command = chance.choice(
        (
            ("inspect", file, *how),
            ("inspect", file, "--json", *how),
            ("align", file, file, "-o", "out/k.tsv", *how),
            ("align", file, "../good/r.tsv", "-o", "out/k.tsv", *how),
        )
    )
    what, data = "a column", b""
    if suffix == ".parquet":
        columns = {name: [json.dumps(one[name]) for one in RECORDS] for name in RECORDS[0]}
        write = lambda: _write_parquet(Path(file), columns, random.Random(seed))  # noqa: E731
        return Attempt(kind, f"{suffix} {seed}", command, prepare=lambda: apart(write))
    if suffix in (".csv", ".tsv"):
        names = ["id", "name", "year", "price", "city"]
        rows = [names, *([str(one[name]) for name in names] for one in RECORDS)]
        what, rows = changed_rows(rows, chance)
        data = as_table(rows, "," if suffix == ".csv" else "\t", chance)
    elif suffix == ".json":
        value: Any = RECORDS if chance.random() < 0.7 else {"rows": RECORDS}
        for _ in range(chance.choice((1, 1, 3))):
            what, value = changed_json(value, chance)
        data = as_json(value, chance)
    else:
        what, data = _changed_lines(RECORDS, chance)
    return Attempt(kind, f"{suffix}: {what}", command, files={file: data})


def property_graphs(kind: str, chance: random.Random) -> Attempt:
    """CSV of neo4j, GraphML, node-link JSON, JSON lines of apoc, GraphRAG's Parquet."""
    made = chance.choice((_neo4j, _graphml, _node_link, _apoc, None))
    seed, place, prepare = chance.randrange(10**9), "p", None
    if made is None:
        write = lambda: _write_graphrag(random.Random(seed))  # noqa: E731
        what, files, prepare = f"graphrag {seed}", dict[str, bytes](), lambda: apart(write)
    else:
        what, files = made(chance)
        place = ",".join(files)
    command = chance.choice(
        (
            ("inspect", place),
            ("inspect", place, "--json"),
            ("align", place, place, "-o", "out/k.tsv"),
            ("align", place, "../good/r.tsv", "-o", "out/k.tsv"),
        )
    )
    return Attempt(kind, what, command, files=files, prepare=prepare)


def _changed_lines(values: list[dict[str, Any]], chance: random.Random) -> tuple[str, bytes]:
    """JSON lines, one or a few of which are others."""
    values, what = copy.deepcopy(values), ""
    for _ in range(chance.choice((1, 1, 2))):
        at = chance.randrange(len(values))
        what, values[at] = changed_json(values[at], chance)
    end = chance.choice((b"\n",) * 5 + (b"\r\n", b"\n\n", b""))
    return what, b"".join(as_json(value, chance) + end for value in values)


def _neo4j(chance: random.Random) -> tuple[str, dict[str, bytes]]:
    nodes = [["id:ID", "name", "age:int", ":LABEL"]]
    nodes += [[node["id"], node["name"], str(node["age"]), node["label"]] for node in NODES]
    edges = [[":START_ID", "since:long", ":END_ID", ":TYPE"]]
    edges += [[edge["source"], str(edge["since"]), edge["target"], edge["type"]] for edge in EDGES]
    tables = {"nodes.csv": nodes, "edges.csv": edges}
    name, what = chance.choice(list(tables)), "the header"
    if chance.random() < 0.4:
        header = tables[name][0]
        header[chance.randrange(len(header))] = chance.choice(HEADERS)
    else:
        what, tables[name] = changed_rows(tables[name], chance)
    if chance.random() < 0.1:
        del tables[name]
    return f"neo4j {name}: {what}", {
        file: as_table(rows, ",", chance) for file, rows in tables.items()
    }


def _graphml(chance: random.Random) -> tuple[str, dict[str, bytes]]:
    def odd(text: str) -> str:
        return text if chance.random() < 0.95 else escape(chance.choice(TEXTS), {"'": "&apos;"})

    def extra() -> str:
        return chance.choice(ELEMENTS) if chance.random() < 0.08 else ""

    kinds = ("string", "int", "long", "double", "boolean", "float", "nonsense")
    keys = "".join(
        f"<key id='{odd(f'd{n}')}' for='{odd(chance.choice(('node', 'edge', 'all', 'graph')))}' "
        f"attr.name='{odd(name)}' attr.type='{odd(chance.choice(kinds))}'>{extra()}</key>"
        for n, name in enumerate(("name", "label", "age", "type"))
    )
    nodes = "".join(
        f"<node id='{odd(node['id'])}'{odd('')}><data key='{odd('d0')}'>{odd(node['name'])}</data>"
        f"<data key='d2'>{odd(str(node['age']))}</data>{extra()}</node>"
        for node in NODES
    )
    edges = "".join(
        f"<edge id='{odd(str(n))}' source='{odd(edge['source'])}' target='{odd(edge['target'])}'>"
        f"<data key='d3'>{odd(edge['type'])}</data>{extra()}</edge>"
        for n, edge in enumerate(EDGES)
    )
    space = chance.choice(
        (" xmlns='http://graphml.graphdrawing.org/xmlns'",) * 4 + ("", " xmlns='x'")
    )
    head = chance.choice(("", "<?xml version='1.0'?>", "<!DOCTYPE g [<!ENTITY e 'x'>]>", "\ufeff"))
    directed = odd(chance.choice(("directed", "undirected")))
    body = f"{keys}<graph edgedefault='{directed}'>{nodes}{edges}{extra()}</graph>"
    text = f"{head}<graphml{space}>{body}{extra()}</graphml>"
    data = text.encode(chance.choice(("utf8",) * 8 + ("utf-16", "latin-1")), "replace")
    if chance.random() < 0.1:
        data = data[: chance.randrange(1, len(data))]
    return f"graphml {len(data)} bytes", {"g.graphml": data}


def _node_link(chance: random.Random) -> tuple[str, dict[str, bytes]]:
    value: Any = copy.deepcopy(NODE_LINK)
    if chance.random() < 0.2:
        value["links"] = value.pop("edges")
    what = ""
    for _ in range(chance.choice((1, 1, 2, 4))):
        what, value = changed_json(value, chance)
    return f"node-link: {what}", {"g.json": as_json(value, chance)}


def _apoc(chance: random.Random) -> tuple[str, dict[str, bytes]]:
    what, data = _changed_lines(APOC, chance)
    return f"apoc: {what}", {"g.jsonl": data}


def _write_graphrag(chance: random.Random) -> None:
    """A folder with the two tables, of which one has odd columns."""
    entities = {
        "id": [f"e{n}" for n in range(6)],
        "title": [f"NAME {n}" for n in range(6)],
        "type": ["PERSON"] * 6,
        "description": [f"text {n}" for n in range(6)],
    }
    relationships = {
        "id": [f"r{n}" for n in range(5)],
        "source": [f"NAME {n}" for n in range(5)],
        "target": [f"NAME {n + 1}" for n in range(5)],
        "description": ["knows"] * 5,
        "weight": ["1.0"] * 5,
    }
    Path("p").mkdir()
    odd = chance.randrange(2)
    for number, (name, columns) in enumerate(
        {"entities": entities, "relationships": relationships}.items()
    ):
        changed = chance if number == odd else None
        _write_parquet(Path("p", f"{name}.parquet"), columns, changed)


def _write_parquet(path: Path, columns: dict[str, list[str]], chance: random.Random | None) -> None:
    """A table, by chance with columns of other types, other names, or without one."""
    import polars as pl

    table = {name: pl.Series(values) for name, values in columns.items()}
    if chance is not None:
        size = len(next(iter(table.values())))
        for _ in range(chance.choice((1, 2, 3))):
            name = (
                chance.choice(list(table)) if chance.random() < 0.8 else chance.choice(TEXTS[:40])
            )
            table[name] = chance.choice(odd_columns(chance, size))
        if chance.random() < 0.3:
            del table[chance.choice(list(table))]
    file = io.BytesIO()
    pl.DataFrame(table).write_parquet(file)
    data = file.getvalue()
    if chance is not None and chance.random() < 0.1:
        at = chance.randrange(len(data))
        data = data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
    path.write_bytes(data)
