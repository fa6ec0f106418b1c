"""What differs between two entities: letters of their names, and values of their properties."""

from __future__ import annotations

from contextlib import suppress
from difflib import SequenceMatcher

from markupsafe import Markup, escape

from sameas.graph.iri import last_part
from sameas.text.folding import fold_text
from sameas.web.review.parameters import Record

ALIKE = 0.5
"""The likeness of two names from which on single letters that differ say something."""


def marked(text: str, other: str) -> Markup:
    """A name as HTML, in which the letters are marked that another name has not.

    Names that are altogether different are left as they are, and so are capital letters.

    >>> print(marked("Colour", "Color"))
    Colo<mark>u</mark>r
    """
    letters, others = ([letter.lower() for letter in name] for name in (text, other))
    matcher = SequenceMatcher(None, letters, others, autojunk=False)
    if matcher.quick_ratio() < ALIKE or matcher.ratio() < ALIKE:
        return escape(text)
    parts = (
        escape(text[start:end])
        if tag == "equal"
        else Markup("<mark>{}</mark>").format(text[start:end])
        for tag, start, end, _, _ in matcher.get_opcodes()
        if end > start
    )
    return Markup("").join(parts)


def property_table(left: list[Record], right: list[Record]) -> list[Record]:
    """The properties of two entities in one table: left and right value, and if they are equal.

    Equal values come first, whatever their properties are called, then values of properties of
    one name, then those that only one entity has.
    """
    rest = list(right)
    rows: list[Record] = []

    def pair_off(mine: list[Record], key: str) -> list[Record]:
        """Pair values by a key; returns those of the left entity that found none."""
        alone = []
        for one in mine:
            wanted = _key(one, key)
            partner = next((other for other in rest if wanted and _key(other, key) == wanted), None)
            if partner is None:
                alone.append(one)
            else:
                rest.remove(partner)
                rows.append({"left": one, "right": partner, "equal": key == "value"})
        return alone

    alone = pair_off(pair_off(left, "value"), "attribute")
    rows += [{"left": one, "right": None, "equal": False} for one in alone]
    return rows + [{"left": None, "right": other, "equal": False} for other in rest]


def _key(row: Record, key: str) -> str:
    text = str(row["value"]) if key == "value" else last_part(str(row["attribute"]))
    with suppress(ValueError):  # 7.0 is 7, and 1.25 is not 125
        return str(float(text))
    return fold_text(text, numbers=False)
