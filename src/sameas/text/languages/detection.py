"""The script and the language of names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from sameas.options.tuning import TUNING, LanguageTuning

SCRIPTS = {
    "Hangul": "ko",
    "Han": "zh",
    "Arabic": "ar",
    "Hebrew": "he",
    "Thai": "th",
    "Devanagari": "hi",
    "Greek": "el",
    "Cyrillic": "ru",
    "Bengali": "bn",
    "Gurmukhi": "pa",
    "Gujarati": "gu",
    "Tamil": "ta",
    "Telugu": "te",
    "Kannada": "kn",
    "Malayalam": "ml",
    "Sinhala": "si",
    "Lao": "lo",
    "Khmer": "km",
    "Myanmar": "my",
    "Tibetan": "bo",
    "Georgian": "ka",
    "Armenian": "hy",
    "Ethiopic": "am",
    "Mongolian": "mn",
}
"""Scripts, and the language that most texts in them are in. Latin is apart."""
KANA = r"[\p{Hiragana}\p{Katakana}]"
LETTERS = {
    "ar": {"fa": "[پچژگ]", "ur": "[ٹڈڑںے]"},
    "ru": {"uk": "[іїєґ]", "be": "[ўі]", "sr": "[ђћџјљњ]", "kk": "[әғқңөұүһ]"},
}
"""Letters that another language of the same script has, and this one has not."""
WORDS = {
    "en": "the of and in for at on by",
    "fr": "du des et le la les au aux en",
    "de": "der die das und von im am zum zur den",
    "es": "del el los las y la en",
    "it": "di della il del dei delle e da nel",
    "pt": "do da dos das e o os em",
    "nl": "van het een der op",
    "pl": "w z i na do nad",
    "sv": "och i av på den för",
    "tr": "ve bir ile için",
    "ro": "și din în lui",
    "cs": "a v na ve nad",
    "hu": "a az és",
    "vi": "của và người các",
    "id": "dan di dari yang",
}
"""Short words that are frequent in names."""


@dataclass(frozen=True)
class Language:
    """What names are written in."""

    script: str
    """Such as "Han" or "Latin"; "None" where names have no letters."""
    language: str
    """Such as "zh"; "und" where it is not known."""
    share: float
    """The share of the names that are written in this script."""


def detect(names: pl.Series, *, tuning: LanguageTuning = TUNING.languages) -> Language:
    """The script and the language of most of the names.

    A name with letters of another script besides Latin ones counts for the other script. Kana
    make Han Japanese. Other languages that share a script are told apart by letters, those in
    Latin script by short words, if there are enough of them.

    >>> detect(pl.Series(["北京", "上海 (Shanghai)"]))
    Language(script='Han', language='zh', share=1.0)
    >>> detect(pl.Series(["Иван", "Київ"])).language
    'uk'
    """
    if not len(names):
        return Language("None", "und", 0.0)
    patterns = {script: rf"\p{{{script}}}" for script in SCRIPTS}
    foreign = "|".join([*patterns.values(), KANA])
    patterns |= {
        "Han": rf"\p{{Han}}|{KANA}",
        "kana": KANA,
        "letters": rf"\p{{Latin}}|{foreign}",
        "foreign": foreign,
    }
    shares = _shares(names, patterns)
    counts = {script: shares[script] for script in SCRIPTS}
    counts["Latin"] = shares["letters"] - shares["foreign"]
    script, share = max(counts.items(), key=lambda item: item[1])
    if not share:
        return Language("None", "und", 0.0)
    if script == "Latin":
        return Language(script, _by_words(names, tuning), share)
    if script == "Han" and shares["kana"] > tuning.foreign_letters * share:
        return Language("Japanese", "ja", share)
    language = SCRIPTS[script]
    least = tuning.foreign_letters * share
    others = {language: least, **_shares(names, LETTERS.get(language, {}))}
    return Language(script, max(others, key=others.__getitem__), share)


def _shares(names: pl.Series, patterns: Mapping[str, str]) -> dict[str, float]:
    """The share of names that have a match of each pattern; the patterns are in small letters."""
    texts = names.fill_null("").str.to_lowercase().to_frame("text")
    matches = [pl.col("text").str.contains(p).mean().alias(name) for name, p in patterns.items()]
    return texts.select(matches).row(0, named=True) if matches else {}


def word_shares(names: pl.Series) -> dict[str, float]:
    """The share of names that have a short word of each language."""
    return _shares(
        names,
        {
            language: rf"(?:^|[\s('’-])(?:{words.replace(' ', '|')})(?:$|[\s)'’-])"
            for language, words in WORDS.items()
        },
    )


def _by_words(names: pl.Series, tuning: LanguageTuning) -> str:
    """The language of names in Latin letters, if their short words tell."""
    shares = word_shares(names)
    first, second = sorted(shares, key=lambda language: -shares[language])[:2]
    clear = shares[first] > max(tuning.frequent_words, tuning.clear_lead * shares[second])
    return first if clear else "und"
