"""The reconciliation service: its index, its matching, and what it answers over HTTP."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import Request, urlopen

import jsonschema
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.exceptions import HTTPException

import reference
import sameas
from folders import put
from sameas import Graph
from sameas.cli.main import main
from sameas.formats.pair import read_understood
from sameas.graph.semantics.understanding import understand_alone
from sameas.text.folding import FEW, folded, sounded
from sameas.text.ngrams import trigrams_of_all
from sameas.web.reconcile import answers
from sameas.web.reconcile import app as web
from sameas.web.reconcile.facts import sort_ids
from sameas.web.reconcile.index import index_names
from sameas.web.reconcile.matching import make_service
from sameas.web.reconcile.null_model import NullModel
from sameas.web.reconcile.queries import MOST_QUERIES, Query, Value, parse_batch, parse_extension
from serving import served
from strategies import AWKWARD_NAMES, names

EX = "http://ex.org/"
PEOPLE = """
@prefix ex: <http://ex.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:Person rdfs:label "Person" .
ex:Artist rdfs:subClassOf ex:Person . ex:Painter rdfs:subClassOf ex:Artist .
ex:p1 a ex:Person ; rdfs:label "John Smith" ; ex:born "1950-02-01" ; ex:city ex:paris .
ex:p2 a ex:Painter ; rdfs:label "John Smith" ; ex:born "1970-05-06" ; ex:city ex:rome .
ex:p3 a ex:Person ; rdfs:label "Jane Smyth", "Jane Ann Smyth"@en ; ex:city ex:rome .
ex:p4 a ex:Person ; rdfs:label "Ada Lovelace" ; ex:code "XK-17" .
[] ex:code "XK-17" ; ex:city ex:rome ; ex:friend ex:p1 , ex:p2 .
ex:paris a ex:City ; rdfs:label "Paris" . ex:rome a ex:City ; rdfs:label "Rome", "Roma"@it .
"""
NASTY = "<script>alert(1)</script>\"'&{{7*7}}"


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """The service of a small graph."""
    file = put(tmp_path_factory.mktemp("people") / "people.ttl", PEOPLE)
    return make_service(read_understood(file), "people")


@pytest.fixture(scope="module")
def address(people):
    with served(web.make_app(people)) as address:
        yield address


def ask(url, form=None, **headers):
    """Status, headers and body of a response."""
    data = None if form is None else form if isinstance(form, bytes) else urlencode(form).encode()
    try:
        with urlopen(Request(url, data, headers), timeout=60) as response:
            return response.status, response.headers, response.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.headers, error.read().decode()


def answer(url, form=None):
    status, _, body = ask(url, form)
    assert status == 200, body
    return json.loads(body)


def candidates(service, **fields):
    """The ids of the candidates of one query with their scores."""
    query = parse_batch(json.dumps({"q": fields}))
    return {one["id"]: one for one in answers.reconcile(service, query)["q"]["result"]}


# The index


@settings(deadline=None, max_examples=50)
@given(st.lists(names(), min_size=1, max_size=6), st.lists(names(), min_size=1, max_size=3))
def test_trigrams_of_texts_meet_those_of_names_as_the_formula_has_it(known, texts):
    trigrams = trigrams_of_all(pl.Series(known, dtype=pl.String))
    products = trigrams.rows(pl.Series(texts)) @ trigrams.rows(pl.Series(known)).T
    expected = [[reference.trigram_cosine(text, name, known) for name in known] for text in texts]
    np.testing.assert_allclose(products.toarray(), expected, atol=1e-5)


@settings(deadline=None, max_examples=15)
@given(
    st.lists(st.tuples(st.integers(0, 3), names()), min_size=1, max_size=8),
    st.lists(names(), min_size=1, max_size=3),
    st.integers(1, 5),
    st.sets(st.integers(0, 3)),
)
def test_the_best_entities_are_those_of_the_most_similar_names(held, texts, k, barred):
    entities = [f"urn:e{number}" for number in range(4)]
    rows = [(entities[owner], name) for owner, name in held]
    graph = Graph.from_triples(
        [], entities=entities, names=[""] * 4, alternatives=[row for row in rows if row[1]]
    )
    index = index_names(understand_alone(graph))
    allowed = np.array([number not in barred for number in range(4)])
    cosines, found = index.best(index.rows(pl.Series(texts)), k, allowed)
    every = list(dict.fromkeys((owner, name) for owner, name in held if name))
    spelled = folded(pl.Series([name for _, name in every], dtype=pl.String))
    for line, text in enumerate(folded(pl.Series(texts))):
        best = [0.0] * 4
        for (owner, _), name in zip(every, spelled, strict=True):
            pairs = (text, name, spelled.to_list()), _by_sound(text, name, spelled)
            likeness = sum(reference.trigram_cosine(*pair) for pair in pairs) / 2
            best[owner] = max(best[owner], likeness if allowed[owner] else 0.0)
        expected = np.sort(best)[::-1][:k]
        np.testing.assert_allclose(cosines[line][: len(expected)], expected, atol=1e-5)
        for cosine, entity in zip(cosines[line], found[line], strict=True):
            assert cosine == pytest.approx(best[entity] if entity >= 0 else 0, abs=1e-5)


@settings(deadline=None, max_examples=30)
@given(st.lists(names(), min_size=1, max_size=8), st.lists(names(), min_size=1, max_size=4))
def test_rows_of_a_few_texts_are_those_among_many(known, texts):
    graph = Graph.from_triples([], entities=[f"urn:{n}" for n in range(len(known))], names=known)
    index = index_names(understand_alone(graph))
    few, many = (index.rows(pl.Series([*texts, *more])) for more in ([], ["Zoe"] * FEW))
    assert (few != many[: len(texts)]).nnz == 0
    assert few.dtype == many.dtype
    assert few.indices.dtype == many.indices.dtype


def _by_sound(text, name, spelled):
    ours, theirs = sounded(pl.Series([text, name]))
    return ours, theirs, sounded(spelled).to_list()


@settings(deadline=None, max_examples=30)
@given(st.lists(names(), min_size=1, max_size=8), names())
def test_names_that_start_with_a_text(known, text):
    graph = Graph.from_triples([], entities=[f"urn:{n}" for n in range(len(known))], names=known)
    wanted, *spelled = folded(pl.Series([text, *known]))
    found = index_names(understand_alone(graph)).starting(text, 1000).tolist()
    own = [n for n, name in enumerate(spelled) if known[n] and name.startswith(wanted)]
    assert sorted(found) == own
    assert [len(spelled[n]) for n in found] == sorted(len(spelled[n]) for n in own)


# Confidence


def test_the_more_alike_the_likelier_and_the_more_namesakes_the_less():
    chance = NullModel(entities=1000, namesakes=0.01, start=0.5, beyond=1.0, scale=0.1)
    odds = chance.log_odds(np.linspace(0, 1, 101))
    assert (np.diff(odds) >= 0).all()
    assert odds[-1] == pytest.approx(np.log(0.5 / 0.01))
    often = NullModel(entities=1000, namesakes=0.2, start=0.5, beyond=1.0, scale=0.1)
    assert often.log_odds(np.ones(1))[0] < odds[-1]


def test_confidence_is_about_how_often_the_best_candidate_is_right(demo):
    """Half of the right entities are taken away: their left names have no counterpart."""
    hidden = demo.gold["right"].gather_every(2)
    service = make_service(demo.right.without(hidden), "half")
    left = demo.left.names.gather(demo.left.positions(demo.gold["left"])).to_list()
    found = service.match([Query(text=name) for name in left])
    first = [each[0] for each in found if each]
    entities = service.graph.entities.gather([one.entity for one in first])
    right = [true for each, true in zip(found, demo.gold["right"], strict=True) if each]
    hits = (entities == pl.Series(right)).to_numpy()
    confidence = np.array([one.confidence for one in first])
    assert abs(confidence.mean() - hits.mean()) < 0.12
    sure = np.array([one.match for one in first])
    assert sure.sum() > 50
    assert hits[sure].mean() > 0.9


def test_two_namesakes_share_the_confidence(people):
    found = candidates(people, query="john  SMITH")
    assert found[f"{EX}p1"]["score"] == found[f"{EX}p2"]["score"] < 50
    assert not any(one["match"] for one in found.values())


# Properties, types, ids


@pytest.mark.parametrize(
    "property",
    [
        {"pid": f"{EX}city", "v": "Roma"},
        {"pid": f"{EX}city", "v": {"id": f"{EX}rome"}},
        {"pid": f"{EX}city", "v": ["Atlantis", {"id": f"{EX}rome", "name": "x"}]},
        {"pid": f"{EX}born", "v": "6 May 1970"},
    ],
)
def test_properties_tell_namesakes_apart(people, property):
    first, second, *_ = candidates(people, query="John Smith", properties=[property]).values()
    assert first["id"] == f"{EX}p2"
    assert first["score"] > 2 * second["score"]
    assert {"id": f"property {property['pid']}", "value": 1.0} in first["features"]


def test_a_property_alone_finds_entities(people):
    code = [{"pid": f"{EX}code", "v": "xk 17"}]
    assert list(candidates(people, properties=code)) == [f"{EX}p4"]
    # The name says nothing, or is in another script; the value decides.
    assert next(iter(candidates(people, query="洛夫莱斯", properties=code))) == f"{EX}p4"
    unknown = [{"pid": "nothing", "v": "x"}]
    assert candidates(people, properties=unknown) == {}


def test_types_restrict_or_weigh_and_subclasses_count(people):
    person, painter, city = (f"{EX}{name}" for name in ("Person", "Painter", "City"))
    assert set(candidates(people, query="John Smith", type=person)) >= {f"{EX}p1", f"{EX}p2"}
    assert list(candidates(people, query="John Smith", type=[painter])) == [f"{EX}p2"]
    assert list(candidates(people, query="John Smith", type=f"{EX}Artist")) == [f"{EX}p2"]
    both = {"type": [person, painter], "type_strict": "all"}
    assert list(candidates(people, query="John Smith", **both)) == [f"{EX}p2"]
    assert candidates(people, query="John Smith", type=city) == {}
    assert candidates(people, query="John Smith", type="nothing") == {}
    weighed = candidates(people, query="John Smith", type=painter, type_strict="should")
    first, second, *_ = weighed.values()
    assert (first["id"], second["id"]) == (f"{EX}p2", f"{EX}p1")
    assert {"id": "type", "value": False} in second["features"]


def test_an_id_finds_its_entity(people):
    found = candidates(people, query=f"{EX}p3")
    assert found[f"{EX}p3"]["match"]
    assert found[f"{EX}p3"]["score"] > 99.9


def test_the_example_in_the_documentation(demo):
    text = (Path(__file__).parents[2] / "docs" / "serve.md").read_text(encoding="utf8")
    asked, told = (
        text.split("'queries=")[1].split("'")[0],
        text.split("```json\n")[1].split("```")[0],
    )
    assert answers.reconcile(make_service(demo.right, "demo"), parse_batch(asked)) == json.loads(
        told
    )


def test_a_relation_can_be_asked_from_its_object(people):
    inverse = f"^{EX}city"
    found = candidates(people, query="", properties=[{"pid": inverse, "v": "Jane Ann Smyth"}])
    assert [*found] == [f"{EX}rome"]
    terms = people.facts.properties
    assert dict(zip(terms.ids, terms.names, strict=True))[inverse] == "is city of"
    assert answers.manifest(people, "http://here")["schemaSpace"] == EX
    form = json.dumps({"ids": [f"{EX}paris"], "properties": [{"id": inverse}]})
    row = answers.extend(people, *parse_extension(form))["rows"][f"{EX}paris"]
    assert row[inverse] == [{"id": f"{EX}p1", "name": "John Smith"}]


def test_a_query_has_the_same_answer_alone_as_in_a_batch(demo):
    service = make_service(demo.right, "demo")
    texts = [*demo.left.names.head(60), *AWKWARD_NAMES, demo.right.entities[3]]
    batch = answers.reconcile(
        service, {str(n): Query(text=text.strip()) for n, text in enumerate(texts)}
    )
    assert sum(bool(one["result"]) for one in batch.values()) > 50
    for key, text in enumerate(texts):
        assert answers.reconcile(service, {"q": Query(text=text.strip())})["q"] == batch[str(key)]


@settings(deadline=None, max_examples=50)
@given(st.lists(names(), unique=True), st.lists(st.none() | names()))
def test_ids_are_looked_up_as_by_a_dictionary(known, wanted):
    places = {id: place for place, id in enumerate(known)}
    series = pl.Series(known, dtype=pl.String)
    found = sort_ids(series).positions([*wanted, *known])
    assert found.tolist() == [places.get(id, -1) for id in [*wanted, *known]]


def test_limits_and_blank_queries(people):
    assert len(candidates(people, query="Smith", limit=2)) == 2
    assert len(candidates(people, query="Smith", limit=1e300)) > 2
    assert candidates(people, query="") == candidates(people, query="\n") == {}


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        ("[]", "must be a JSON object"),
        ("{", "must be JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('{"q": {"query": "\\ud800"}}', "must be JSON"),
        ('{"q": 1}', "query 'q' must be a JSON object"),
        ('{"q": {}}', "must have `query` or `properties`"),
        ('{"q": {"query": 7}}', "must be a string"),
        ('{"q": {"query": "a", "limit": -1}}', "at least 1"),
        ('{"q": {"query": "a", "limit": NaN}}', "at least 1"),
        ('{"q": {"query": "a", "type": [1]}}', "must be strings"),
        ('{"q": {"query": "a", "type_strict": "no"}}', "any, all or should"),
        ('{"q": {"query": "a", "properties": [{"pid": "p"}]}}', "must have `pid`"),
        ('{"q": {"query": "a", "properties": [{"pid": "p", "v": {}}]}}', "must have `id`"),
        ('{"q": {"query": "a", "properties": [{"pid": "p", "v": [[]]}]}}', "within a list"),
        ('{"q": {"query": "a", "properties": 7}}', "must be a list"),
    ],
)
def test_bad_queries_are_refused_with_a_reason(batch, message):
    with pytest.raises(HTTPException, match=message):
        parse_batch(batch)


def test_a_query_is_read_as_the_api_has_it():
    fields = {"query": " a ", "type": "t", "properties": [{"pid": "p", "v": [1.5, True, "x"]}]}
    assert parse_batch(json.dumps({"q": fields})) == {
        "q": Query(
            text="a", types=("t",), properties=(("p", (Value("1.5"), Value("true"), Value("x"))),)
        )
    }


# HTTP


def _object(required, optional=None):
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
    }


TEXT = {"type": "string"}
TERM = {**_object({"id": TEXT, "name": TEXT}), "additionalProperties": False}
PLACE = _object({"service_url": {"pattern": "^http://"}, "service_path": {"pattern": "^/"}})
SUGGEST = _object({**PLACE["properties"], "flyout_service_path": {"pattern": r"\$\{id\}"}})
TEMPLATE = _object({"url": {"pattern": r"^http.*\{\{id\}\}"}})
SIZE = {"type": "integer", "minimum": 1}
MANIFEST = _object(
    {
        "versions": {"type": "array", "contains": {"const": "0.2"}},
        **dict.fromkeys(("name", "identifierSpace", "schemaSpace"), TEXT),
        "view": TEMPLATE,
        "preview": {"allOf": [TEMPLATE, _object({"width": SIZE, "height": SIZE})]},
        "suggest": _object(dict.fromkeys(("entity", "type", "property"), SUGGEST)),
        "extend": _object({"propose_properties": PLACE}),
        "defaultTypes": {"type": "array", "items": TERM},
        "batchSize": SIZE,
    }
)
FEATURE = _object({"id": TEXT, "value": {"type": ["number", "boolean"]}})
CANDIDATE = _object(
    {
        **TERM["properties"],
        "score": {"type": "number", "minimum": 0, "maximum": 100},
        "match": {"type": "boolean"},
        "type": {"type": "array", "items": TERM},
        "features": {"type": "array", "items": FEATURE},
    }
)
RESULTS = {
    "type": "object",
    "additionalProperties": _object({"result": {"type": "array", "items": CANDIDATE}}),
}
VALUE = {"oneOf": [TERM, {**_object({"str": TEXT}), "additionalProperties": False}]}
EXTENSION = _object(
    {
        "meta": {"type": "array", "items": TERM},
        "rows": {"additionalProperties": {"additionalProperties": {"items": VALUE}}},
    }
)


def test_the_manifest_and_all_it_leads_to(address):
    manifest = answer(f"{address}/")
    jsonschema.validate(manifest, MANIFEST)
    for kind, text in (("entity", "john"), ("type", "pers"), ("property", "cit")):
        suggest = manifest["suggest"][kind]
        url = suggest["service_url"] + suggest["service_path"]
        (first, *_), start = answer(f"{url}?prefix={text}")["result"], len(text)
        assert first["name"].lower()[:start] == text
        flyout = suggest["flyout_service_url"] + suggest["flyout_service_path"]
        shown = answer(flyout.replace("${id}", quote(first["id"], safe="")))
        assert shown["id"] == first["id"]
        assert first["name"] in shown["html"]
        assert answer(f"{url}?prefix={quote(first['id'], safe='')}")["result"][0] == first
    page = manifest["preview"]["url"].replace("{{id}}", quote(f"{EX}p1", safe=""))
    status, headers, body = ask(page)
    assert status == 200
    assert headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in headers["content-security-policy"]
    assert f'href="{EX}p1"' in body
    propose = manifest["extend"]["propose_properties"]
    url = f"{propose['service_url']}{propose['service_path']}?type={quote(f'{EX}City')}&limit=1"
    assert answer(url)["properties"] == [
        {"id": "http://www.w3.org/2000/01/rdf-schema#label", "name": "label"}
    ]


def test_suggestions_come_in_parts(address):
    every = answer(f"{address}/suggest/entity?prefix=j")["result"]
    assert answer(f"{address}/suggest/entity?prefix=j&cursor=1")["result"] == every[1:]
    assert every[0]["description"].startswith("label: ")


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_batch_by_either_method(address, method):
    form = {"queries": json.dumps({"a": {"query": "Ada Lovelace"}, "b": {"query": "zzz"}})}
    url = f"{address}/?{urlencode(form)}" if method == "get" else f"{address}/"
    found = answer(url, form if method == "post" else None)
    jsonschema.validate(found, RESULTS)
    assert found["a"]["result"][0]["id"] == f"{EX}p4"
    assert found["b"]["result"] == []


def test_data_extension(address):
    wanted = [{"id": f"{EX}city"}, {"id": f"{EX}born", "settings": {"limit": 1}}, {"id": "no"}]
    form = {"extend": json.dumps({"ids": [f"{EX}p1", "unknown"], "properties": wanted})}
    found = answer(f"{address}/", form)
    jsonschema.validate(found, EXTENSION)
    assert found["rows"][f"{EX}p1"] == {
        f"{EX}city": [{"id": f"{EX}paris", "name": "Paris"}],
        f"{EX}born": [{"str": "1950-02-01"}],
        "no": [],
    }
    assert found["rows"]["unknown"] == {f"{EX}city": [], f"{EX}born": [], "no": []}


def test_other_sites_may_ask(address):
    assert ask(f"{address}/", Origin="http://other")[1]["access-control-allow-origin"] == "*"
    _, headers, body = ask(f"{address}/?callback=jQuery_1.run")
    assert headers["content-type"].startswith("application/javascript")
    assert body.startswith("/**/jQuery_1.run({")
    assert ask(f"{address}/?callback=alert(1)//")[0] == 400
    assert "set-cookie" not in headers


@pytest.mark.parametrize(
    ("path", "form", "status"),
    [
        ("/", {"queries": "{"}, 400),
        ("/", {"extend": '{"ids": [1], "properties": []}'}, 400),
        ("/", {"extend": '{"ids": [], "properties": [{"id": "a", "settings": {"limit": -1}}]}'},
         400),
        ("/", {"other": "1"}, 400),
        ("/", "&".join(f"a{n}=1" for n in range(200)).encode(), 400),
        ("/", {"queries": json.dumps({n: {"query": ""} for n in range(MOST_QUERIES + 1)})}, 413),
        ("/", b"queries=" + b"a" * 2_000_000, 413),
        ("/suggest/entity?prefix=a&cursor=-1", None, 400),
        ("/properties?type=a&limit=x", None, 400),
        ("/suggest/nothing?prefix=a", None, 404),
        ("/flyout/entity?id=nothing", None, 404),
        ("/preview?id=nothing", None, 404),
        ("/suggest/entity", {"prefix": "a"}, 405),
        ("/../etc/passwd", None, 404),
    ],
)  # fmt: skip
def test_bad_requests_get_their_status(address, path, form, status):
    found, headers, body = ask(f"{address}{path}", form)
    assert found == status
    assert headers["x-content-type-options"] == "nosniff"
    if headers["content-type"] == "application/json":
        assert json.loads(body)["status"] == "error"


def test_only_names_of_this_machine_are_served(address):
    port = address.rpartition(":")[2]
    for host in (f"localhost:{port}", "127.0.0.1", "[::1]:80", "LOCALHOST"):
        assert ask(f"{address}/", Host=host)[0] == 200
    for host in (
        "evil.example",
        "127.0.0.1.evil.example",
        f"evil.example:{port}",
        "",
        "localhost:x",
    ):
        assert ask(f"{address}/", Host=host)[0] == 421


def test_with_a_token_every_path_begins_with_it(people):
    token = "a-secret-of-some-length"
    with served(web.make_app(people, token=token)) as address:
        for path in ("/", "/suggest/entity?prefix=a", "/a-secret", f"/{token}x/", "//"):
            assert ask(f"{address}{path}")[0] == 404
        for path in (f"/{token}", f"/{token}/"):
            status, _, body = ask(f"{address}{path}", Host="any.example")
            assert status == 200
            assert json.loads(body)["view"]["url"].startswith(f"http://any.example/{token}/preview")
        assert answer(f"{address}/{token}/suggest/type?prefix=pers")["result"]


def test_too_many_requests_at_once_are_told_to_wait(people):
    with served(web.make_app(people, most_requests=0)) as address:
        status, headers, _ = ask(f"{address}/")
    assert (status, headers["retry-after"]) == (429, "1")


class Tags(HTMLParser):
    """The tags and links of a page."""

    def __init__(self, text):
        super().__init__()
        self.found, self.links = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.add(tag)
        self.links |= {value for name, value in attributes if name in ("href", "src")}


def test_a_hostile_graph_shows_as_text():
    entities = ["javascript:alert(1)", f"http://x.org/{NASTY}", "http://x.org/ok"]
    graph = Graph.from_triples(
        [(entities[0], NASTY, entities[1]), (entities[2], NASTY, entities[1])],
        names=dict.fromkeys(entities, NASTY),
        attributes=[(entity, "javascript:alert(2)", NASTY) for entity in entities],
    )
    with served(web.make_app(make_service(understand_alone(graph), NASTY))) as address:
        answer(f"{address}/")
        for entity in entities:
            _, headers, page = ask(f"{address}/preview?id={quote(entity, safe='')}")
            flyout = answer(f"{address}/flyout/entity?id={quote(entity, safe='')}")["html"]
            for text in (page, flyout):
                assert "script" not in Tags(text).found
                assert "{{7*7}}" in text
            assert Tags(page).links <= {"http://x.org/ok"}
            assert "unsafe" not in headers["content-security-policy"]
        assert (
            "script"
            not in Tags(answer(f"{address}/flyout/property?id={quote(NASTY)}")["html"]).found
        )
        found = answer(f"{address}/", {"queries": json.dumps({NASTY: {"query": NASTY}})})
        assert {one["name"] for one in found[NASTY]["result"]} == {NASTY}


FIELDS = st.sampled_from(
    ["query", "type", "limit", "properties", "pid", "v", "id", "name", "type_strict", "ids", "q"]
) | st.text(max_size=3)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=4),
    max_leaves=12,
)
PARAMETERS = ["queries", "extend", "prefix", "cursor", "type", "limit", "id", "callback"]
QUERIES = st.fixed_dictionaries(
    {"query": st.text(max_size=30)},
    optional={
        "type": st.sampled_from([f"{EX}Person", "", "x"]) | JSON,
        "type_strict": st.sampled_from(["any", "all", "should"]),
        "limit": st.integers(-1, 200) | JSON,
        "properties": st.lists(
            st.fixed_dictionaries({"pid": st.sampled_from([f"{EX}city", f"{EX}born"]), "v": JSON}),
            max_size=3,
        ),
    },
)


@settings(deadline=None, max_examples=100)
@given(
    st.sampled_from(["/", "/suggest/entity", "/suggest/type", "/suggest/property", "/properties",
                     "/flyout/entity", "/flyout/type", "/preview"]),
    st.dictionaries(
        st.sampled_from(PARAMETERS),
        st.text(max_size=20)
        | JSON.map(json.dumps)
        | st.dictionaries(st.text(max_size=3), QUERIES, max_size=3).map(json.dumps),
        max_size=3,
    ),
    st.booleans(),
)  # fmt: skip
def test_no_request_is_a_fault_of_the_server(address, path, parameters, post):
    query = urlencode(parameters, errors="replace")
    url = f"{address}{path}" if post else f"{address}{path}?{query}"
    status, _, body = ask(url, query.encode() if post else None)
    assert status < 500, body


@pytest.mark.filterwarnings("ignore")  # of the client, about pandas
def test_a_client_of_others_reconciles_a_column(address):
    import pandas
    from reconciler import reconcile, webutils

    column = pandas.Series(["Ada Lovelase", "Jane Ann Smyth"])
    found = reconcile(column, type_id=f"{EX}Person", reconciliation_endpoint=f"{address}/")
    assert found["id"].to_list() == [f"{EX}p4", f"{EX}p3"]
    assert found["type_id"].to_list() == [f"{EX}Person"] * 2
    webutils.http.close()


# The command


def failed(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        main(["serve", *map(str, arguments)])
    assert end.value.code == 2
    return capsys.readouterr().err


def test_what_cannot_be_served_is_one_sentence(tmp_path, capsys, monkeypatch):
    file = put(tmp_path / "people.ttl", PEOPLE)
    assert "give a secret with --token" in failed(capsys, file, "--host", "0.0.0.0")
    assert "--token must be 16 to 200" in failed(capsys, file, "--token", "short")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert "give another --port" in failed(capsys, file, "--port", port)
    assert "no such" in failed(capsys, tmp_path / "nothing.ttl", "--port", 0).lower()
    empty = put(tmp_path / "empty.nt", "")
    assert "holds no triples" in failed(capsys, empty, "--port", 0)
    monkeypatch.setattr("sameas.cli.server.find_spec", lambda name: None)
    assert 'pip install "sameas[web]"' in failed(capsys, file)


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
def test_a_run_is_served_until_it_is_interrupted(align_small, tmp_path):
    alignment = align_small(preset="paper")
    sameas.write(alignment, tmp_path / "run")
    right = alignment.pair.right
    command = [sys.executable, "-m", "sameas", "serve", str(tmp_path / "run"), "--port", "0"]
    with subprocess.Popen(
        [*command, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        told = json.loads("".join(iter(running.stdout.readline, "}\n")) + "}")
        form = {"queries": json.dumps({"q": {"query": right.names[0]}})}
        found = answer(told["address"], form)["q"]["result"]
        running.send_signal(2)
        assert running.wait(60) == 0
        assert running.stderr.read() == ""
    assert right.entities[0] in [one["id"] for one in found]
    assert told["entities"] == len(right.entities)


@pytest.mark.slow
def test_names_of_srprs_are_reconciled():
    folder = Path(os.environ["SAMEAS_DATA"]) / "srprs" / "fr_en"
    pair = sameas.read_pair(folder, names="uri")
    service = make_service(pair.right, "right")
    left = pair.left.names.gather(pair.left.positions(pair.gold["left"])).to_list()
    found = [service.match([Query(text=name)])[0] for name in left[::10]]
    right = pair.right.positions(pair.gold["right"].gather_every(10))
    hits = [each[0].entity == true for each, true in zip(found, right, strict=True) if each]
    assert sum(hits) / len(found) > 0.89
