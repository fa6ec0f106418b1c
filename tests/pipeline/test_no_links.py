"""A run without links says what stood in the way, and which option would change it."""

from __future__ import annotations

import pytest

import sameas
from sameas import Graph, Reading

RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
CITIES = ("Berlin", "Madrid", "Warszawa", "Helsinki", "Bukarest")
PLANTS = ("oxalis", "fern", "juniper", "thyme", "mugwort")
RUSSIAN = ("Москва", "Казань", "Иркутск", "Псков", "Тула")


def rdf(side, names, kind=None, **reading):
    """A flat graph of things with labels, all of a kind."""
    import pyoxigraph as ox

    statements = [
        f'<x:{side}/{n:08x}> <{RDFS}label> "{name}" .\n'
        + (f"<x:{side}/{n:08x}> <{TYPE}> <{OWL}{kind}> .\n" if kind else "")
        for n, name in enumerate(names)
    ]
    content = "".join(statements).encode()
    quads = ox.Dataset(ox.parse(input=content, format=ox.RdfFormat.N_TRIPLES))
    return Graph.from_pyoxigraph(quads, reading=Reading(**reading))


@pytest.mark.parametrize(
    ("left", "right", "options", "reason", "remedy"),
    [
        (rdf("l", CITIES), rdf("l", CITIES), {}, "5 things that fit have the same IRI", "`link`"),
        (
            rdf("l", CITIES, "Class"),
            rdf("r", CITIES, "ObjectProperty"),
            {},
            "the left graph has only classes, the right only properties",
            "`exclude`",
        ),
        (
            rdf("l", CITIES),
            rdf("r", RUSSIAN),
            {"languages": "none"},
            "scripts (latin, cyrillic)",
            "`names`",
        ),
        (rdf("l", CITIES), rdf("r", PLANTS), {}, "the best", "`seeds`"),
        (
            rdf("l", CITIES),
            rdf("r", CITIES),
            {"min_confidence": 1.0},
            "below 1.00",
            "`min_confidence`",
        ),
    ],
    ids=["same IRI", "kinds", "scripts", "nothing alike", "confidence"],
)
def test_a_run_without_links_says_why_and_what_would_change_it(
    left, right, options, reason, remedy, caplog
):
    alignment = sameas.align(left, right, no_audit=True, **options)
    assert not len(alignment.links)
    said = alignment.diagnostics.no_links
    assert said.startswith("no links: ")
    assert reason in said
    assert remedy in said
    assert said in caplog.text
    assert alignment.summary()["no_links"] == said


def test_a_run_with_links_says_nothing_of_the_kind(caplog):
    alignment = sameas.align(rdf("l", CITIES), rdf("r", CITIES), no_audit=True)
    assert len(alignment.links) == len(CITIES)
    assert "no_links" not in alignment.summary()
    assert "no links" not in caplog.text
