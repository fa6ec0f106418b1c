"""Explanation: what was found, and its text for a terminal."""

from __future__ import annotations

import math
import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from rich.cells import cell_len

from sameas.explanation.result import (
    Comparison,
    Considered,
    Detail,
    Entity,
    Exchange,
    Missing,
    Neighbourhood,
    Note,
    Part,
    Reason,
    Relation,
)
from sameas.iri import Side, last_part

WIDTH = 100
LONGEST = 40
"""Columns of a name in a table."""
ROWS = 6
"""Details of a part that are listed; JSON has more."""
ROUNDING = 1e-3
"""Scores that differ by less are equal."""
TELLING = 0.02
"""Share of a part below which a pair of neighbours is not listed."""
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
    "spelling": "numbers and misspellings in names",
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
    "sketch": "neighbours' names were compared in short",
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

    def asdict(self) -> dict[str, Any]:
        """The same as plain values that JSON can hold."""
        return asdict(self)

    def __str__(self) -> str:
        """The explanation in words, for a terminal."""
        return "\n\n".join(filter(None, self._blocks()))

    def why(self) -> Iterator[str]:
        """Sentences about why the assignment chose as it did."""
        name, partner, exchange = label(self.entity), self.partner, self.exchange
        others, rivals = self._better(self.others), self._better(self.rivals)
        if exchange is not None:
            yield self._exchanged(exchange)
        elif partner is not None and not others and not rivals:
            yield (
                f"{name} and {label(partner)} are each other's best: no other candidate scores "
                "higher with either of them."
            )
        elif partner is not None and not others:
            yield (
                f"No candidate scores higher with {name}. {label(partner)} scores higher with "
                f"{self._scored(rivals[0])}, which has a partner that suits it even better or is "
                "less likely as a whole."
            )
        if self.missing is not None and self.shown is not None:
            yield self._lacking(self.shown, self.missing)
            linked = [one for one in others if one.linked_with and not partner]
            if linked:
                where = [f"{self._scored(one)} with {_linked_with(one)}" for one in linked]
                text = "Others score higher, but are linked where they fit better: "
                yield f"{text}{', '.join(where)}."
        elif self.comparison is None:
            yield f"Nothing that was considered resembles {name} enough in name or neighbours."
        elif exchange is None and self.reason == "unsure":
            yield self._competition(self.shown or self.comparison)

    def _blocks(self) -> Iterator[str]:
        yield self._heading()
        if self.shown is not None:
            asked = self.other not in (None, self.comparison)
            yield self._asked_about(self.shown) if asked else self._parts(self.shown)
            for part in filter(matters, self.shown.parts):
                if part.details:
                    yield self._details(part, self.shown)
        yield self._considered()
        reasons = "\n".join(wrapped(sentence, "  ") for sentence in self.why())
        yield f"Why\n{reasons}" if reasons else ""

    @property
    def _digits(self) -> int:
        return 2 if self.scale == "log-odds" else 3

    def _figure(self, score: float, sign: str = "") -> str:
        """A score in as many digits as its scale has; adding zero makes -0 a plain one."""
        return f"{round(score, self._digits) + 0.0:{sign}.{self._digits}f}"

    def _signed(self, score: float) -> str:
        return self._figure(score, "+")

    # --- what was found ---

    def _heading(self) -> str:
        partner, chosen, asked = self.partner, self.comparison, self.other
        title, far = label(self.entity), "right" if self.side == "left" else "left"
        lines = [f"  {self.side}: {printable(self.entity.uri)}"]
        if partner is not None:
            title += f" = {label(partner)}"
            lines.append(f"  {far}: {printable(partner.uri)}")
            sentence = f"Linked, with confidence {self.confidence:.3f}."
        else:
            title += ": no partner"
            reason = REASONS.get(self.reason or "", "").format(self.min_confidence)
            sentence = f"Not linked: {reason}." if reason else "Not linked."
            if chosen is not None:
                miss = self.far(chosen)
                lines.append(f"  nearest miss, {far}: {label(miss)}, {printable(miss.uri)}")
        if asked is not None and self.far(asked) != partner:
            title += f"; why not {label(self.far(asked))}?"
            lines.append(f"  asked about, {far}: {printable(self.far(asked).uri)}")
        if chosen is not None:
            sentence += f" Score {self._meaning(chosen.score)}"
        notes = [wrapped(NOTES[note]) for note in self.notes]
        return "\n".join([title, *lines, "", wrapped(sentence), *notes])

    def _meaning(self, score: float) -> str:
        """What a score says."""
        if self.scale == "cosine":
            return (
                f"{score:.3f}: the mean of how alike their names, their neighbours and so on are "
                "(1 for the same, 0 for nothing in common)."
            )
        same, none = "they are the same", "neither has a partner"
        likelier, other = (same, none) if score > 0 else (none, same)
        return (
            f"{self._signed(score)}: by all that is known of the two, it is {times(abs(score))} "
            f"times likelier that {likelier} than that {other}."
        )

    def _parts(self, pair: Comparison) -> str:
        parts = filter(matters, pair.parts)
        rows = [(part_title(part), self._signed(part.score), part_measure(part)) for part in parts]
        rows.append(("total", self._signed(pair.score), ""))
        text = f"How the score comes about\n{text_table(rows)}"
        worths = [f"{WEIGHTS[name]} {worth:.1f}" for name, worth in self.weights.items()]
        weights = wrapped(f"Weights of this run: {', '.join(worths)}.", "  ")
        return f"{text}\n{weights}" if worths else text

    def _asked_about(self, asked: Comparison) -> str:
        """The parts of the pair asked about, beside those of the chosen pair."""
        far, chosen = label(self.far(asked)), self.comparison
        sentence = wrapped(f"With {far}: score {self._meaning(asked.score)}")
        if chosen is None:
            return f"{sentence}\n\n{self._parts(asked)}"
        before, after = (
            {part_title(part): part.score for part in pair.parts if matters(part)}
            | {"total": pair.score}
            for pair in (chosen, asked)
        )
        rows: list[tuple[str, ...]] = [("", label(self.far(chosen)), far, "difference")]
        for title in sorted(before | after, key="total".__eq__):
            old, new = before.get(title, 0.0), after.get(title, 0.0)
            rows.append((title, *map(self._signed, (old, new, new - old))))
        return f"Side by side\n{text_table(rows)}\n\n{sentence}"

    # --- what each part is made of ---

    def _details(self, part: Part, pair: Comparison) -> str:
        """The largest details of a part as a table or a list; the others are summed up."""
        if part.kind in HEADINGS:
            return self._table(part)
        if part.kind == "embedding":
            return ""
        single = _single(part)
        if part.kind == "name":
            left, right = map(printable, part.names or (label(pair.left), label(pair.right)))
            head = f'Names: "{left}" and "{right}" have in common '
            return self._listed(part, head, [ngram_text(one) for one in single])
        if part.kind == "dictionary":
            head = "The dictionary learnt from links expects "
            return self._listed(part, head, [ngram_text(one) for one in single])
        if part.kind == "meaning":
            return self._listed(part, "Meaning: ", [one.text for one in single])
        ends = f"{label(pair.left)} (left)", f"{label(pair.right)} (right)"
        has = 1 if part.kind == "left lacks" else 0
        head = f"Only {ends[has]} has, though its counterpart is known and {ends[1 - has]} could "
        items = [neighbours(one)[has] for one in single[:ROWS]]
        return self._listed(part, f"{head}have it: ", items, "; ")

    def _listed(self, part: Part, head: str, items: list[str], separator: str = ", ") -> str:
        """Details as a list in a sentence."""
        both = zip(items, part.details, strict=False)
        scored = [f"{item} {self._signed(one.score)}" for item, one in both]
        scored += self._rest(part, len(items), "{} more {}")
        return wrapped(f"{head}{separator.join(scored)}.")

    def _table(self, part: Part) -> str:
        """Pairs of neighbours, or values, as a table."""
        heading = HEADINGS[part.kind].format(part.hop)
        least = 0.0 if part.hop is None else TELLING * abs(part.score)
        telling = [one for one in _single(part)[:ROWS] if abs(one.score) >= least]
        if not telling:
            most = self._figure(abs(part.details[0].score) + 0.5 * 10**-self._digits)
            count = sum(one.count for one in part.details)
            return f"{heading}\n  {count:,} of them, each of which adds less than {most}"
        measure = "how many have it" if part.hop is None else "alike"
        rows = [("left", "right", "adds", "" if part.kind == "attributes" else measure)]
        rows += [(*neighbours(one), self._signed(one.score), _how_much(one)) for one in telling]
        rest = self._rest(part, len(telling), "  and {} more: {}")
        return "\n".join([heading, text_table(rows), *rest])

    def _rest(self, part: Part, listed: int, text: str) -> list[str]:
        """The number of details that are not listed, and their sum, if there are any."""
        rest = part.details[listed:]
        total, count = sum(one.score for one in rest), sum(one.count for one in rest)
        return [text.format(f"{count:,}", self._signed(total))] if rest else []

    # --- others, and why the assignment chose as it did ---

    def _considered(self) -> str:
        """Who else was considered; those of the same name with their IRIs."""
        chosen = self.comparison and self.far(self.comparison)
        if not self.others:
            return "Nobody else was considered." if chosen else ""
        labels = Counter(label(one.entity) for one in self.others)
        labels.update([label(chosen)] if chosen else [])
        rows = [
            ("", "score", "linked with", f"compared with {cut(label(chosen))}" if chosen else "")
        ]
        for one in self.others:
            name = label(one.entity)
            if labels[name] > 1:
                name += f" ({printable(last_part(one.entity.uri))})"
            changes = [f"{TITLES[kind]} {self._signed(by)}" for kind, by in one.differences[:2]]
            cells = cut(name), self._signed(one.score), cut(_linked_with(one)), ", ".join(changes)
            rows.append(cells)
        return f"Who else was considered\n{text_table(rows)}"

    def _better(self, found: Sequence[Considered]) -> list[Considered]:
        """Those that score higher than the chosen pair, by more than rounding."""
        chosen = self.comparison
        return [one for one in found if chosen and one.score > chosen.score + ROUNDING]

    def _scored(self, one: Considered) -> str:
        return f"{label(one.entity)} ({self._figure(one.score)})"

    def _competition(self, chosen: Comparison) -> str:
        """Why the best pair of an entity is not sure enough."""
        name, miss, free = label(self.entity), label(self.far(chosen)), list[float]()
        text = f"{name} and {miss} may be the same, but others compete for the two."
        for considered, found in ((miss, self.rivals), (name, self.others)):
            unlinked = [one for one in found if one.linked_with is None]
            free += [one.score for one in unlinked]
            if unlinked:
                items = ", ".join(self._scored(one) for one in unlinked[:5])
                text += f" Without a link, too, and considered for {considered}: {items}."
        if self.scale == "log-odds" and free:
            together = max(free) + math.log(sum(math.exp(one - max(free)) for one in free))
            more = together - chosen.score
            if more > 0:
                text += f" To outweigh them together, about {more:.2f} more is missing."
        return text

    def _exchanged(self, exchange: Exchange) -> str:
        """What giving the entity another partner would change, and what that costs."""
        names = self._exchange_labels(exchange)
        name, wanted = names[self.entity], names[exchange.wanted]
        text = f"{name} scores {self._figure(exchange.score)} with {wanted}"
        if self.partner is not None and self.comparison is not None:
            now = self.comparison.score
            text += f" and {self._figure(now)} with {names[self.partner]}"
            if exchange.holder is None and exchange.score <= now:
                return f"{text}."
        if exchange.holder is not None:
            text += f", but {wanted} is linked with {names[exchange.holder]} "
            text += f"({self._figure(exchange.holder_score)})"
        moves = "; ".join(
            f"{names[step.entity]} gets {names[step.after]} instead of {names[step.before]} "
            f"({self._signed(step.after_score - step.before_score)})"
            for step in exchange.steps
        )
        cost = f"{'cost' if exchange.cost >= 0 else 'gain'} {self._figure(abs(exchange.cost))}"
        text += f". Giving it to {name} means: {moves}. That would {cost} in total."
        if exchange.cost < 0:
            text += " Links are chosen by how likely each is, not by the total score, unless the "
            text += "solver is hungarian."
        if exchange.at_least is not None:
            least = self._figure(exchange.at_least)
            text += f" (By the exact solver's prices, it costs {least} at least.)"
        return text

    def _exchange_labels(self, exchange: Exchange) -> dict[Entity | None, str]:
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

    def _lacking(self, pair: Comparison, missing: Missing) -> str:
        """What a pair needs to be linked."""
        ends = label(pair.left), label(pair.right)
        text = (
            f"For {ends[0]} and {ends[1]} to be linked, a score of {missing.score:.2f} more is "
            f"missing: they would have to be {times(missing.score)} times likelier to be the same."
        )
        added = missing.neighbour
        if added is None:
            return text
        both = list(zip(ends, neighbours(added), strict=True))
        (lacks, new), (has, known) = both if added.left_fans is None else both[::-1]
        does = "do" if added.score > missing.score else "help most, but not be enough"
        return (
            f"{text} One more shared neighbour would {does}: if {lacks} had [{new}] as {has} has "
            f"[{known}], that would add about {added.score:.2f}, all else being equal."
        )


def _linked_with(one: Considered) -> str:
    return label(one.linked_with) if one.linked_with else "nobody"


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
    return MEASURES.get(part.kind, "")


def matters(part: Part) -> bool:
    """Whether a part is worth being shown."""
    return abs(part.score) > 5e-4 or part.kind == "name"


def _single(part: Part) -> list[Detail]:
    """The details that are not sums of several."""
    return [one for one in part.details if one.count == 1]


def ngram_text(detail: Detail) -> str:
    """An n-gram in quotes, the spaces around words shown as a low line; or a pair of words."""
    text = "".join(letter if letter.isprintable() else "_" for letter in detail.text)
    return f'"{text if " ~ " in text else text.replace(" ", "_")}"'


def _how_much(detail: Detail) -> str:
    if detail.left_fans is None:
        return "" if detail.amount is None else f"{detail.amount:.2f}"
    return f"{detail.left_fans} left, {detail.right_fans} right"


# --- names and layout ---


def label(entity: Entity) -> str:
    """The name of an entity, or the last part of its URI, fit to be shown."""
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


def text_table(rows: Sequence[Sequence[str]]) -> str:
    """Rows as lines of text, their columns below each other; signed numbers flush right."""
    columns = list(zip(*rows, strict=True))
    widths = [max(map(cell_len, column)) for column in columns]
    numeric = [re.fullmatch(r"[+-][\d.]+", column[-1]) for column in columns]
    lines = []
    for row in rows:
        line = ""
        for cell, width, is_number in zip(row, widths, numeric, strict=True):
            gap = " " * (width - cell_len(cell))
            line += f"  {gap}{cell}" if is_number else f"  {cell}{gap}"
        lines.append(line.rstrip())
    return "\n".join(lines)


def wrapped(text: str, indent: str = "") -> str:
    """Text in lines of the width of a page."""
    lines = textwrap.wrap(text, WIDTH - len(indent), break_long_words=False, break_on_hyphens=False)
    return textwrap.indent("\n".join(lines), indent)
