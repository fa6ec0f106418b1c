"""What depends on the input alone is computed once in a run."""

from __future__ import annotations

import json
import sys
from collections import Counter
from functools import cached_property, wraps

import pytest
from click.testing import CliRunner

import sameas.cli.align
import sameas.pipeline.align  # noqa: F401
from sameas.candidates.pairs import Candidates
from sameas.cli.main import main
from sameas.graph.task import Constraints

FUNCTIONS = {
    "choose_support": "languages are detected",
    "exclusions_of": "types that exclude each other are found",
    "types_of": "types are read",
    "compared_names": "names are listed",
    "edges_of": "edges are read",
    "engine_at": "the engine is started",
    "make_task": "what is given is looked up",
    "read_attributes": "attributes are read",
}
"""Functions of ``sameas`` that run once in an alignment, and what they do."""
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


@pytest.fixture
def graphs(tmp_path):
    """Two small graphs in RDF with types, attributes, relations and several names."""
    files = []
    for side in ("left", "right"):
        lines = []
        for i in range(60):
            entity = f"<http://{side}/{i}>"
            lines += [
                f'{entity} {LABEL} "Item number {i} of {i % 7}" .',
                f'{entity} {LABEL} "{side} alias {i}" .',
                f"{entity} {TYPE} <http://shared/Kind{i % 3}> .",
                f'{entity} <http://{side}/code> "code {i * 37}" .',
                f"{entity} <http://{side}/next> <http://{side}/{(i + 1) % 60}> .",
            ]
        file = tmp_path / f"{side}.nt"
        file.write_text("\n".join(lines) + "\n")
        files.append(str(file))
    return files


@pytest.fixture
def counted(monkeypatch):
    """How often functions, and properties that are cached, are computed."""
    counts = Counter()

    def counting(name, function):
        @wraps(function)
        def count(*given, **named):
            counts[name] += 1
            return function(*given, **named)

        return count

    made = {}
    modules = [module for name, module in sys.modules.items() if name.startswith("sameas")]
    for module in modules:
        for name in FUNCTIONS.keys() & vars(module).keys():
            function = getattr(module, name)
            made.setdefault(function, counting(name, function))
            monkeypatch.setattr(module, name, made[function])
    for owner, name in ((Candidates, "left"), (Constraints, "crowd")):
        computed = cached_property(counting(name, vars(owner)[name].func))
        computed.__set_name__(owner, name)
        monkeypatch.setattr(owner, name, computed)
    return counts


def test_what_depends_on_the_input_alone_is_computed_once(graphs, counted, tmp_path):
    # The audit takes entities away, which makes other sets of pairs.
    command = ["align", *graphs, "-o", str(tmp_path / "run"), "--no-audit", "--json"]
    result = CliRunner().invoke(main, command, catch_exceptions=False)
    summary = json.loads(result.stdout)
    assert summary["links"] == 60
    assert {name: counted[name] for name in FUNCTIONS} == dict.fromkeys(FUNCTIONS, 1)
    assert counted["crowd"] == 1
    # A set of pairs is made for the candidates, in each round, and at the end.
    assert counted["left"] <= 4 * (summary["refinement_rounds"] + 2)
