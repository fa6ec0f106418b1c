"""How often a territory is found by its name in another language: the table of docs/languages.md.

    python scripts/territories.py

Names are those of CLDR, compared with the English ones by trigrams of their glosses, or by the
encoder of sameas[multilingual].
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

import numpy as np
import polars as pl
from babel import Locale
from scipy.sparse import csr_array

from sameas.similarity.crosslingual import embedded
from sameas.text.encoders import find_encoder
from sameas.text.folding import folded
from sameas.text.languages.glosses import glosses
from sameas.text.ngrams import ngram_rows

LANGUAGES = ("ar", "he", "th", "hi", "el", "ru", "ko", "zh", "ja")
WAYS = {
    "by sound": (),
    "GeoNames": ("GeoNames",),
    "all but CLDR": ("GeoNames", "CC-CEDICT", "JMdict", "JMnedict", "FreeDict"),
    "CLDR": ("CLDR",),
}


def territories(language: str) -> tuple[pl.Series, pl.Series]:
    """Names of the territories of the world in a language, and in English."""
    own, english = Locale.parse(language).territories, Locale("en").territories
    codes = [code for code in sorted(english) if code.isalpha() and code in own]
    return pl.Series([own[code] for code in codes]), pl.Series([english[code] for code in codes])


def recall(left: pl.Series, right: pl.Series, language: str, sources: Sequence[str]) -> float:
    """The share of left names whose glosses are nearest to the right name at the same place."""
    words = set(folded(right).str.split(" ").explode())
    table = glosses(left, language=language, vocabulary=words, sources=sources)
    texts = folded(pl.concat([table["gloss"], right]))
    rows = ngram_rows(texts, n=3, boundaries=True, rarity=True).sparse
    places = table["name_index"].to_numpy(), np.arange(len(table))
    weights = csr_array((table["weight"].to_numpy(), places), shape=(len(left), len(table)))
    sums, names = weights @ rows[: len(table)], rows[len(table) :].T.tocsr()
    starts = range(0, len(left), 500)
    best = [(sums[start : start + 500] @ names).toarray().argmax(axis=1) for start in starts]
    return float((np.concatenate(best) == np.arange(len(left))).mean())


def encoder_recall(left: pl.Series, right: pl.Series) -> float:
    """The same by the encoder."""
    rows = embedded(left, right, find_encoder())
    best = (rows[0].dense @ rows[1].dense.T).argmax(axis=1)
    return float((best == np.arange(len(left))).mean())


def measure() -> dict[str, dict[str, float]]:
    """The number of territories and the share found in each way, by language."""
    table = {}
    for language in LANGUAGES:
        names = territories(language)
        shares = {way: recall(*names, language, sources) for way, sources in WAYS.items()}
        table[Locale(language).english_name] = {
            "territories": len(names[0]),
            "encoder": encoder_recall(*names),
            **shares,
        }
    return table


def main() -> None:
    """Print the table, as Markdown or as JSON."""
    table = measure()
    if "--json" in sys.argv[1:]:
        print(json.dumps(table))
        return
    print(f"| language | territories | encoder | {' | '.join(WAYS)} |")
    print(f"|{'---|' * (len(WAYS) + 3)}")
    for language, row in table.items():
        shares = " | ".join(f"{row[way]:.2f}" for way in ("encoder", *WAYS))
        print(f"| {language} | {row['territories']} | {shares} |")


if __name__ == "__main__":
    main()
