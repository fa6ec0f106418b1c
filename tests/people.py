"""A table of people in which each stands several times, for tests of duplicates."""

from __future__ import annotations

import polars as pl

FIRST = (
    *("Ada", "Grace", "Emmy", "Maria", "Sofia", "Hedy", "Rosa", "Ida"),
    *("Lise", "Vera", "Olga", "Nina", "Clara", "Edith", "Wilhelmina", "Katherine"),
)
LAST = (
    *("Lovelace", "Hopper", "Noether", "Kovalevskaya", "Germain", "Meitner", "Lamarr", "Franklin"),
    *("Curie", "Rubin", "Payne", "Herschel", "Somerville", "Mirzakhani", "Ayrton", "Johnson"),
)
CITIES = ("London", "Paris", "Erlangen", "Stockholm", "Vienna", "Boston", "Turin", "Lisbon", "Oslo")


def people_table(count: int) -> pl.DataFrame:
    """id, name, born, city, mail: each person two to four times, with slips in the names."""
    rows = []
    for number in range(count):
        first, last = FIRST[number % len(FIRST)], LAST[number // len(FIRST) % len(LAST)]
        born = f"{1800 + number % 97}-{1 + number % 12:02}-{1 + number * 7 % 28:02}"
        city = CITIES[number * 5 % len(CITIES)]
        mail = f"{first}.{last}{number}@example.org".lower()
        names = [
            f"{first} {last}",
            f"{first} {last[:3]}{last[4:]}",
            f"{last} {first}",
            f"{first[0]}. {last}",
        ][: 2 + number % 3]
        rows += [
            (f"p{number}-{nth}", name, born, city, mail if nth != 1 else None)
            for nth, name in enumerate(names, start=1)
        ]
    return pl.DataFrame(rows, schema=["id", "name", "born", "city", "mail"], orient="row")
