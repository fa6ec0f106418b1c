"""Explanation: what was found, and how it is shown: as text, as a drawing, as a page."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from itertools import accumulate, pairwise, zip_longest
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from rich.cells import cell_len

from sameas.errors import OptionError
from sameas.graph.iri import last_part
from sameas.options.options import Side
from sameas.options.tuning import TUNING
from sameas.result.charts import waterfall_chart
from sameas.result.explanation.contradictions import AGAINST
from sameas.result.explanation.result import (
    Comparison,
    Considered,
    Contradiction,
    Detail,
    Entity,
    Exchange,
    Missing,
    Neighbourhood,
    Note,
    Part,
    Reason,
    Relation,
    Weighing,
)
from sameas.result.shown import explanation_html

if TYPE_CHECKING:
    import altair
    from jinja2 import Environment

WIDTH = 100
LONGEST = 40
"""Columns of a name in a table."""
ROWS = 6
"""Details of a part that are listed; JSON has more."""
TELLING = 0.02
"""Share of a part below which a pair of neighbours is not listed."""
DRAWN = 12
"""Neighbours of each sort that are drawn; others are counted."""
LISTED = 5
"""Things that speak against a pair which are named; others are counted."""
KINDS = {
    "individual": "individuals",
    "class": "classes",
    "property": "properties",
    "pun": "resources that are class and property",
}
"""What kinds of entities are called."""
TITLES = {
    "name": "names",
    "meaning": "what the names mean",
    "embedding": "encoded names",
    "dictionary": "names, as the learnt dictionary spells them",
    "neighbours": "neighbours' names",
    "further": "neighbours' neighbours",
    "shared": "shared neighbours",
    "values": "values in common",
    "left lacks": "what the left one lacks",
    "right lacks": "what the right one lacks",
    "types": "types",
    "attributes": "attributes",
    "spelling": "numbers, misspellings, main names",
    "wording": "words that only one name has",
    "roles": "whether what is said of both is said together of others",
    "conflicts": "what an entity has one of, and the two differ in",
    "known": "given as a known link",
    "sketch": "rounding",
    "threshold": "threshold",
}
WEIGHTS = {
    "names": "names",
    "embedding": "encoded names",
    "dictionary": "the learnt dictionary",
    "profit": "names and neighbours' names together",
    "shared": "shared neighbours",
    "lacking": "neighbours that one lacks",
}
"""What a weight is for."""
MEASURES = {
    "sketch": "neighbours' names were compared by sketches",
    "threshold": "what a pair must exceed to be likelier than no link",
}
REASONS = {
    "no-candidate": "no candidate",
    "below-threshold": "no candidate above the threshold",
    "taken": "its best candidate is linked in a better pair",
    "unsure": "confidence below {:g}",
    "left-over": "no partner was left, or none was found",
}
NOTES = {
    "entity-not-among": "It was not among those to be linked (option among).",
    "other-not-among": "The other was not among those to be linked (option among).",
    "not-kept": "The two were not among the candidates that the run kept.",
    "rejected": "The two were given as a pair that is not the same (option reject).",
}
HEADINGS = {
    "neighbours": "Neighbours: pairs whose names are alike (an entity is its own neighbour, too)",
    "further": "Up to {} steps away: pairs whose neighbourhoods are alike",
    "shared": "Shared neighbours, by links that were sure (the fewer have it, the more it says)",
    "values": "Values in common (the fewer have it, the more it says)",
    "attributes": "Attributes, by how alike their values are in links that were sure",
}
"""Of the parts whose details are a table."""


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Why an entity has the partner it has, or none. Printing it gives the text."""

    side: Side
    entity: Entity
    partner: Entity | None
    confidence: float | None
    reason: Reason | None
    """Why there is no partner."""
    min_confidence: float
    """The confidence that a link needs (an option of the run)."""
    scale: Literal["log-odds", "cosine"]
    """Scores are log-odds above the threshold, or mean cosines."""
    comparison: Comparison | None
    """The pair that was chosen; for an unmatched entity, its nearest miss."""
    other: Comparison | None
    """The pair that was asked about."""
    others: tuple[Considered, ...]
    """Other candidates of the entity, best first."""
    rivals: tuple[Considered, ...]
    """Other candidates of the partner, the nearest miss or the one asked about; best first."""
    exchange: Exchange | None
    missing: Missing | None
    neighbourhood: Neighbourhood | None
    weighing: Weighing | None = None
    """What chance was taken to be for this kind of entity, and how strong the pair is."""
    against: tuple[Contradiction, ...] = ()
    """What speaks against the pair that the details are about, most first."""
    notes: tuple[Note, ...] = ()
    weights: dict[str, float] = field(default_factory=dict)
    """What one unit of each kind of evidence was worth in the run; empty if that was not kept."""

    @property
    def shown(self) -> Comparison | None:
        """The pair that the details are about: the one asked about, or else the chosen one."""
        return self.other or self.comparison

    def far(self, comparison: Comparison) -> Entity:
        """The entity of a pair that is not on the explained side."""
        return comparison.right if self.side == "left" else comparison.left

    def plot(self) -> altair.Chart:
        """The score step by step as a chart, by Altair (``pip install "sameas[plot]"``)."""
        shown = self.shown
        if shown is None:
            raise OptionError("there is nothing to draw: the entity has no candidate")
        return waterfall_chart(waterfall(shown)["steps"], self.scale)

    def _repr_html_(self) -> str:
        """The score step by step and what was chosen, for notebooks."""
        if self.partner is not None:
            title = f"{label(self.entity)} = {label(self.partner)}"
        else:
            reason = REASONS.get(self.reason or "", "").format(self.min_confidence)
            title = f"{label(self.entity)} is not linked: {reason}"
        if (shown := self.shown) is None:
            return explanation_html(title, "", [], self.why())
        about = f"Score of {label(shown.left)} and {label(shown.right)} ({self.scale})"
        return explanation_html(title, about, waterfall(shown)["steps"], self.why())

    def asdict(self) -> dict[str, Any]:
        """The same as plain values that JSON can hold."""
        return asdict(self)

    def __str__(self) -> str:
        """The explanation in words, for a terminal."""
        return re.sub("\n{3,}", "\n\n", self._text("text")).strip()

    def why(self) -> list[str]:
        """Sentences about why the assignment chose as it did."""
        return [sentence for sentence in self._text("why").splitlines() if sentence]

    def drawing(self) -> str:
        """Both neighbourhoods side by side as SVG: shared neighbours on one line each, joined."""
        around, rows = self.neighbourhood, []
        if around is not None:
            rows = [(row, row) for row in around.shared[:DRAWN]]
            rows += zip_longest(around.left_only[:DRAWN], around.right_only[:DRAWN])
        # From below, so that highlighted edges lie on top.
        return _render("drawing.svg.jinja", it=self, rows=list(enumerate(rows))[::-1])

    def page(self) -> str:
        """The drawing and the words as one HTML page."""
        return _render("page.html.jinja", it=self)

    def _text(self, template: str) -> str:
        digits = 2 if self.scale == "log-odds" else 3

        def figure(score: float, sign: str = "") -> str:
            """A score in as many digits as its scale has; adding zero makes -0 a plain one."""
            return f"{round(score, digits) + 0.0:{sign}.{digits}f}"

        values = {"it": self, "figure": figure, "signed": partial(figure, sign="+")}
        return _render(f"{template}.txt.jinja", **values, digits=digits)

    def better(self, found: Sequence[Considered]) -> list[Considered]:
        """Those that score higher than the chosen pair, by more than rounding."""
        chosen = self.comparison
        return [one for one in found if chosen and one.score > chosen.score + TUNING.open.tie]

    def exchange_labels(self, exchange: Exchange) -> dict[Entity | None, str]:
        """Labels of all entities of an exchange, with side or URI where several are the same."""
        near, far = ("left", "right") if self.side == "left" else ("right", "left")
        sides = {self.entity: near, exchange.holder: near, self.partner: far, exchange.wanted: far}
        for step in exchange.steps:
            sides |= {step.entity: near, step.before: far, step.after: far}
        labels: dict[Entity | None, str] = {None: "nobody"}
        for entity in filter(None, sides):
            text = label(entity)
            same = [sides[other] for other in sides if other and label(other) == text]
            where = sides[entity] if same.count(sides[entity]) == 1 else printable(entity.uri)
            labels[entity] = text if len(same) == 1 else f"{text} ({where})"
        return labels


def part_title(part: Part) -> str:
    """What a part of a score is called."""
    if part.kind == "further" and part.hop != 2:
        return f"{part.hop} steps away"
    return TITLES[part.kind]


def part_measure(part: Part) -> str:
    """What was measured for a part of a score, in a few words."""
    if part.hop is not None:
        return f"{round(part.amount or 0.0, 2) + 0.0:.2f} alike"  # adding zero makes -0 a plain one
    if part.kind in ("shared", "values"):
        return f"{sum(one.count for one in part.details):,} of them"
    if part.kind == "attributes":
        return contradiction(part)
    return MEASURES.get(part.kind, "")


def contradiction(part: Part) -> str:
    """The attribute that says most against a pair, if it says much; else nothing."""
    single = [one for one in part.details if one.count == 1]
    worst = min(single, key=lambda one: one.score, default=None)
    if worst is None or worst.score > -AGAINST:
        return ""
    what = cut(relation_text(worst.left_relations), 34)
    return f"{what} {worst.text or 'unlike'} speaks against, {worst.score:.1f}"


def spoken(one: Contradiction, ends: tuple[str, str]) -> str:
    """What speaks against a pair, in a few words; ``ends`` are the names of the two."""
    what = cut(relation_text(one.relations), 34)
    left, right = (_few(values) for values in (one.left, one.right))
    if one.kind == "attributes":
        apart = f", {one.text}" if one.text else ""
        return f"{what}: {left} and {right}{apart}"
    if one.kind == "types":
        return f"types: {left or 'none'} and {right or 'none'}"
    if one.kind in ("left lacks", "right lacks") and (left or right):
        more = f" and {one.count - 1:,} more" if one.count > 1 else ""
        return (
            f"only {ends[0] if left else ends[1]} has [{what or 'itself'}: {left or right}]{more}"
        )
    return one.text or TITLES[one.kind]


def _few(texts: Sequence[str]) -> str:
    """The first two of some values or IRIs, and how many more there are."""
    shown = [cut(last_part(text) if "://" in text else text, 34) for text in texts[:2]]
    more = f" and {len(texts) - 2} more" if len(texts) > 2 else ""
    return ", ".join(shown) + more


def matters(part: Part) -> bool:
    """Whether a part is worth being shown."""
    return abs(part.score) > 5e-4 or part.kind == "name"


def telling(part: Part) -> list[Detail]:
    """The details that are listed in a table."""
    least = 0.0 if part.hop is None else TELLING * abs(part.score)
    single = [one for one in part.details if one.count == 1]
    return [one for one in single[:ROWS] if abs(one.score) >= least]


def beside(chosen: Comparison, other: Comparison) -> list[tuple[str, float, float]]:
    """The title of each part, and its score in two pairs; the total is the last one."""
    before, after = (
        {part_title(part): part.score for part in filter(matters, pair.parts)}
        | {"total": pair.score}
        for pair in (chosen, other)
    )
    titles = sorted(before | after, key="total".__eq__)
    return [(title, before.get(title, 0.0), after.get(title, 0.0)) for title in titles]


def ngram_text(detail: Detail) -> str:
    """An n-gram in quotes, the spaces around words shown as a low line; or a pair of words."""
    text = "".join(letter if letter.isprintable() else "_" for letter in detail.text)
    return f'"{text if " ~ " in text else text.replace(" ", "_")}"'


def how_much(detail: Detail) -> str:
    """How alike two neighbours are, how far apart two values, or how many entities have them."""
    if detail.left_fans is None:
        return detail.text if detail.amount is None else f"{detail.amount:.2f}"
    return f"{detail.left_fans} left, {detail.right_fans} right"


# --- names and layout ---


def label(entity: Entity | None) -> str:
    """The name of an entity, or the last part of its URI, fit to be shown."""
    if entity is None:
        return "nobody"
    return printable(entity.name) or printable(last_part(entity.uri))


def printable(text: str) -> str:
    """Text without what could upset a terminal or a page: control characters become spaces.

    >>> printable("a\\x1b[31m\\nb")
    'a [31m b'
    """
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(plain.split())


def relation_text(relations: Sequence[Relation]) -> str:
    """Relations as they are read from the entity outwards.

    >>> relation_text([Relation("http://x.org/capital"), Relation("http://x.org/in", True)])
    'capital, is in of'
    """
    names = [(printable(last_part(one.uri)), one.inverse) for one in relations]
    texts = [f"is {name} of" if inverse else name for name, inverse in names]
    more = f" and {len(texts) - 2} more" if len(texts) > 2 else ""
    return ", ".join(texts[:2]) + more


def neighbours(detail: Detail) -> tuple[str, str]:
    """The left and the right neighbour (or value) of a detail, with the relations to it."""
    left, right = (
        f"{cut(relation_text(relations), 34) or 'itself'}: "
        f"{cut(label(entity), 34) if entity else cut(detail.text)}"
        for entity, relations in (
            (detail.left, detail.left_relations),
            (detail.right, detail.right_relations),
        )
    )
    return left, right


def times(score: float) -> str:
    """How many times likelier something is, from its log-odds.

    >>> times(0.7), times(9.2), times(50.0)
    ('2.0', '9,900', 'more than a million million')
    """
    if score > 27.6:
        return "more than a million million"
    factor = math.exp(score)
    return f"{factor:.1f}" if factor < 10 else f"{float(f'{factor:.2g}'):,.0f}"


def cut(text: str, longest: int = LONGEST) -> str:
    """Text of at most so many columns."""
    text = printable(text)
    return text if cell_len(text) <= longest else text[: longest - 3].rstrip() + "..."


def log_sum(scores: Iterable[float]) -> float:
    """The log-odds of several together."""
    return float(np.logaddexp.reduce(np.array([*scores], dtype=np.float64)))


def table(text: str) -> str:
    """Lines with their cells below each other; columns of signed numbers flush right."""
    rows = [line.split("\t") for line in text.splitlines()]
    columns = list(zip_longest(*rows, fillvalue=""))
    widths = [max(map(cell_len, column)) for column in columns]
    numeric = [re.fullmatch(r"[+-][\d.]+", column[-1]) for column in columns]
    lines = []
    for row in zip(*columns, strict=True):
        line = ""
        for cell, width, is_number in zip(row, widths, numeric, strict=True):
            gap = " " * (width - cell_len(cell))
            line += f"  {gap}{cell}" if is_number else f"  {cell}{gap}"
        lines.append(f"{line.rstrip()}\n")
    return "".join(lines)


def sentence(text: str) -> str:
    """Text on one line."""
    return " ".join(text.split()) + "\n"


def wrap(text: str, indent: str = "") -> str:
    """Text in lines of the width of a page."""
    lines = textwrap.wrap(
        sentence(text), WIDTH - len(indent), break_long_words=False, break_on_hyphens=False
    )
    return "".join(f"{indent}{line}\n" for line in lines)


@cache
def waterfall(comparison: Comparison) -> dict[str, Any]:
    """The parts of a score as steps, the threshold first, each from where the sum so far ends.

    ``zero``, ``before`` (the sum before a step), ``start`` and ``width`` are in percent of the
    width of the chart. The last step is the total, which holds parts that are nearly nothing too.
    """
    parts = sorted(filter(matters, comparison.parts), key=lambda part: part.kind != "threshold")
    sums = list(accumulate((part.score for part in parts), initial=0.0))
    low, high = min(0.0, comparison.score, *sums), max(0.0, comparison.score, *sums)
    scale = 100.0 / (high - low) if high > low else 0.0
    steps: list[dict[str, Any]] = [
        {
            "title": part_title(part),
            "measure": part_measure(part),
            "kind": part.kind,
            "details": [_detail(part, one) for one in part.details],
        }
        for part in parts
    ]
    steps.append({"title": "total", "measure": "", "kind": "total", "details": []})
    for step, (begin, end) in zip(steps, [*pairwise(sums), (0.0, comparison.score)], strict=True):
        step["score"], step["before"] = end - begin, (begin - low) * scale
        step["start"] = round((min(begin, end) - low) * scale, 2)
        step["width"] = round(abs(end - begin) * scale, 2)
    return {"zero": round(-low * scale, 2), "steps": steps}


def _detail(part: Part, detail: Detail) -> dict[str, Any]:
    if detail.count > 1:
        left, right = f"{detail.count:,} more", ""
    elif part.kind == "name":
        left, right = ngram_text(detail), ""
    else:
        left, right = neighbours(detail)
    return {"left": left, "right": right, "score": detail.score}


def environment_of(package: str) -> Environment:
    """What the templates of a package are filled in by: they can use everything of this module."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(package, "."),
        autoescape=lambda name: name is None or not name.endswith(".txt.jinja"),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.globals |= globals()
    environment.filters |= {name: each for name, each in globals().items() if callable(each)}
    environment.tests["matters"] = matters
    return environment


def _render(template: str, **values: Any) -> str:
    return environment_of("sameas.result.explanation").get_template(template).render(**values)
