"""An explanation in words, for a terminal."""

from __future__ import annotations

import math
import re
import textwrap
import unicodedata
from collections.abc import Sequence

from sameas.explanation.result import (
    Comparison,
    Entity,
    Exchange,
    Explanation,
    Missing,
    Part,
    Relation,
    Scale,
    Step,
)

WIDTH = 100
LONGEST = 40
"""Columns of a name in a table."""
ROWS = 6
"""Neighbours told one by one; JSON has more."""
TELLING = 0.02
"""Share of a part below which a pair of neighbours is not told by itself."""
TITLES = {
    "name": "own names",
    "neighbours": "neighbours' names",
    "further": "neighbours' neighbours",
    "shared": "shared neighbours",
    "values": "values in common",
    "left lacks": "what the left one lacks",
    "right lacks": "what the right one lacks",
    "known": "given as a known link",
    "price": "price of staying alone",
}


def in_words(explanation: Explanation) -> str:
    """The whole explanation."""
    blocks = [_heading(explanation)]
    shown = explanation.other or explanation.comparison
    if explanation.other is not None and explanation.other != explanation.comparison:
        blocks.append(_side_by_side(explanation))
    elif shown is not None:
        blocks.append(_parts(shown, explanation.scale))
    if shown is not None:
        blocks += _details(shown, explanation.scale)
    blocks.append(_others(explanation))
    blocks.append(_why(explanation))
    return "\n\n".join(block for block in blocks if block)


def label(entity: Entity) -> str:
    """The name of an entity, or the last part of its URI, fit to be shown."""
    return shown_text(entity.name) or shown_text(last_part(entity.uri))


def last_part(uri: str) -> str:
    """The last part of a URI.

    >>> last_part("http://dbpedia.org/ontology/birthPlace")
    'birthPlace'
    """
    return re.split(r"[/#]", uri.rstrip("/#"))[-1] or uri


def shown_text(text: str) -> str:
    """Text without what could upset a terminal or a page: control characters become spaces.

    >>> shown_text("a\\x1b[31m\\nb")
    'a [31m b'
    """
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(plain.split())


def relation_text(relations: Sequence[Relation]) -> str:
    """Relations as they are read from the entity outwards.

    >>> relation_text([Relation("http://x.org/capital"), Relation("http://x.org/in", True)])
    'capital, is in of'
    """
    names = [
        f"is {shown_text(last_part(one.uri))} of" if one.inverse else shown_text(last_part(one.uri))
        for one in relations
    ]
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return ", ".join(names[:2]) + more


def times(score: float) -> str:
    """How many times likelier something is, from its log-odds.

    >>> times(0.7), times(9.2), times(50.0)
    ('2.0', '9,900', 'more than a million million')
    """
    if score > 27.6:
        return "more than a million million"
    factor = math.exp(score)
    if factor < 10:
        return f"{factor:.1f}"
    return f"{float(f'{factor:.2g}'):,.0f}"


def meaning(score: float, scale: Scale) -> str:
    """What a score says."""
    if scale == "cosine":
        return (
            f"Score {score:.3f}: the mean of how alike their names, their neighbours and so on "
            "are (1 for the same, 0 for nothing in common)."
        )
    if score > 0:
        return (
            f"Score {_signed(score)}: by all that is known of the two, it is {times(score)} times "
            "likelier that they are the same than that neither has a partner."
        )
    return (
        f"Score {_signed(score)}: by all that is known of the two, it is {times(-score)} times "
        "likelier that neither has a partner than that they are the same."
    )


def _heading(told: Explanation) -> str:
    name = label(told.entity)
    uris = [f"  {told.side}: {shown_text(told.entity.uri)}"]
    far = "right" if told.side == "left" else "left"
    if told.partner is not None:
        title = f"{name} = {label(told.partner)}"
        uris.append(f"  {far}: {shown_text(told.partner.uri)}")
        sentence = f"Linked, with confidence {told.confidence:.3f}."
    else:
        title = f"{name}: no partner"
        sentence = f"Not linked: {told.reason}." if told.reason else "Not linked."
        if told.comparison is not None:
            miss = _far(told, told.comparison)
            uris.append(f"  nearest miss, {far}: {label(miss)}, {shown_text(miss.uri)}")
    if told.other is not None:
        asked = _far(told, told.other)
        if told.partner is None or asked != told.partner:
            title += f"; why not {label(asked)}?"
            uris.append(f"  asked about, {far}: {shown_text(asked.uri)}")
    if told.comparison is not None:
        sentence += " " + meaning(told.comparison.score, told.scale)
    notes = [_wrapped(note) for note in told.notes]
    return "\n".join([title, *uris, "", _wrapped(sentence), *notes])


def _parts(comparison: Comparison, scale: Scale) -> str:
    rows = [
        (_title(part), _figure(part.score, scale), _measure(part))
        for part in comparison.parts
        if _matters(part)
    ]
    rows.append(("total", _figure(comparison.score, scale), ""))
    return f"How the score comes about\n{_table(rows, numeric={1})}"


def _side_by_side(told: Explanation) -> str:
    """The parts of the chosen pair beside those of the one asked about."""
    assert told.other is not None
    asked, scale = told.other, told.scale
    if told.comparison is None:
        return f"{meaning(asked.score, scale)}\n\n{_parts(asked, scale)}"
    chosen = {(part.kind, part.hop): part for part in told.comparison.parts}
    own = {(part.kind, part.hop): part for part in asked.parts}
    rows: list[tuple[str, ...]] = [
        ("", label(_far(told, told.comparison)), label(_far(told, asked)), "difference")
    ]
    for key in {**chosen, **own}:
        pair = [table[key].score if key in table else 0.0 for table in (chosen, own)]
        if any(abs(score) > 5e-4 for score in pair):
            part = chosen.get(key) or own[key]
            rows.append(
                (_title(part), *(_figure(one, scale) for one in (*pair, pair[1] - pair[0])))
            )
    pair = [told.comparison.score, asked.score]
    rows.append(("total", *(_figure(one, scale) for one in (*pair, pair[1] - pair[0]))))
    text = f"Side by side\n{_table(rows, numeric={1, 2, 3})}"
    name = label(_far(told, asked))
    return f"{text}\n\n" + _wrapped(f"With {name}: {_lower(meaning(asked.score, scale))}")


def _details(comparison: Comparison, scale: Scale) -> list[str]:
    """What each part of a pair's score is made of."""
    blocks = []
    for part in comparison.parts:
        if not part.details or not _matters(part):
            continue
        if part.kind == "name":
            blocks.append(_names(part, comparison, scale))
        elif part.kind in ("neighbours", "further"):
            blocks.append(_neighbour_table(part, scale))
        elif part.kind in ("shared", "values"):
            blocks.append(_shared_table(part, scale))
        elif part.kind in ("left lacks", "right lacks"):
            blocks.append(_lacking(part, comparison, scale))
    return blocks


def _names(part: Part, comparison: Comparison, scale: Scale) -> str:
    """What two names have in common; the spaces around words are shown as a low line.

    N-grams of the spelling by sound have a tilde before them.
    """
    items = []
    for one in part.details:
        letters = (letter if letter.isprintable() else "_" for letter in one.text)
        text = f"{one.count:,} more" if one.count > 1 else f'"{"".join(letters)}"'
        ends = text if " ~ " in text or one.count > 1 else text.replace(" ", "_")
        items.append(f"{ends} {_figure(one.score, scale)}")
    names = f'"{label(comparison.left)}" and "{label(comparison.right)}"'
    return _wrapped(f"Own names: {names} have in common {', '.join(items)}.")


def _neighbour_table(part: Part, scale: Scale) -> str:
    what = "names" if part.hop == 1 else "own neighbourhoods"
    steps = "Neighbours" if part.hop == 1 else f"Up to {part.hop} steps away"
    head = f"{steps}: pairs whose {what} are alike (an entity is its own neighbour, too)"
    rows: list[tuple[str, ...]] = [("left", "right", "adds", "alike")]
    for one in part.details[:ROWS]:
        telling = abs(one.score) >= TELLING * abs(part.score)
        if telling and one.left is not None and one.right is not None:
            rows.append(
                (
                    _neighbour(one.left, one.left_relations),
                    _neighbour(one.right, one.right_relations),
                    _figure(one.score, scale),
                    f"{one.amount:.2f}",
                )
            )
    if len(rows) == 1:
        count = sum(one.count for one in part.details)
        return _wrapped(
            f"{steps}: {count:,} pairs of neighbours whose {what} are alike, each of which adds "
            f"less than {_above(abs(part.details[0].score), scale)}."
        )
    return _with_rest(head, rows, part, scale)


def _shared_table(part: Part, scale: Scale) -> str:
    if part.kind == "shared":
        head = "Shared neighbours, by links that were sure (the fewer have it, the more it says)"
    else:
        head = "Values in common (the fewer have it, the more it says)"
    rows: list[tuple[str, ...]] = [("left", "right", "adds", "how many have it")]
    for one in part.details[:ROWS]:
        if one.left_fans is None:
            continue
        texts = [
            _neighbour(entity, relations)
            if entity is not None
            else f"{relation_text(relations)}: {_cut(one.text)}"
            for entity, relations in (
                (one.left, one.left_relations),
                (one.right, one.right_relations),
            )
        ]
        fans = f"{one.left_fans} left, {one.right_fans} right"
        rows.append((*texts, _figure(one.score, scale), fans))
    return _with_rest(head, rows, part, scale)


def _with_rest(head: str, rows: list[tuple[str, ...]], part: Part, scale: Scale) -> str:
    """A table of details; those not in it are summed up below."""
    told = len(rows) - 1
    rest = part.details[told:]
    text = f"{head}\n{_table(rows, numeric={2})}"
    if rest:
        total = sum(one.score for one in rest)
        text += f"\n  and {sum(one.count for one in rest):,} more: {_figure(total, scale)}"
    return text


def _lacking(part: Part, comparison: Comparison, scale: Scale) -> str:
    left = part.kind == "left lacks"
    holder, lacks = comparison.right, comparison.left
    if not left:
        holder, lacks = lacks, holder
    items = []
    for one in part.details[:ROWS]:
        own, relations = (
            (one.right, one.right_relations) if left else (one.left, one.left_relations)
        )
        if own is not None:
            items.append(f"{_neighbour(own, relations)} {_figure(one.score, scale)}")
        elif relations:
            items.append(
                f"{relation_text(relations)}: {_cut(one.text)} {_figure(one.score, scale)}"
            )
    rest = part.details[len(items) :]
    if rest:
        total = _figure(sum(one.score for one in rest), scale)
        items.append(f"{sum(one.count for one in rest):,} more {total}")
    side, other = ("right", "left") if left else ("left", "right")
    return _wrapped(
        f"Only {label(holder)} ({side}) has, though its counterpart is known and {label(lacks)} "
        f"({other}) could have it: {'; '.join(items)}."
    )


def _others(told: Explanation) -> str:
    if not told.others:
        return "Nobody else was considered." if told.comparison is not None else ""
    rows = [("", "score", "linked with", "compared with " + _cut(_chosen_name(told)))]
    for one in told.others:
        differences = [
            f"{TITLES[kind]} {_figure(change, told.scale)}" for kind, change in one.differences[:2]
        ]
        linked = _cut(label(one.linked_with)) if one.linked_with else "nobody"
        rows.append(
            (
                _cut(label(one.entity)),
                _figure(one.score, told.scale),
                linked,
                ", ".join(differences),
            )
        )
    return f"Who else was considered\n{_table(rows, numeric={1})}"


def _why(told: Explanation) -> str:
    """Why the assignment chose as it did."""
    sentences = []
    name = label(told.entity)
    if told.partner is not None and told.exchange is None:
        partner = label(told.partner)
        if told.wins == (True, True):
            sentences.append(
                f"{name} and {partner} are each other's best: no other candidate scores higher "
                "with either of them."
            )
        elif told.wins[0]:
            sentences.append(
                f"No candidate scores higher with {name}. {partner} scores higher with another "
                "one, which has a partner that suits it even better or is less likely as a whole."
            )
    if told.exchange is not None:
        sentences.append(_exchange(told, told.exchange))
    if told.missing is not None:
        sentences.append(_missing(told, told.missing))
        sentences += _taken(told)
    elif told.partner is None and told.comparison is None:
        sentences.append(
            f"Nothing that was considered resembles {name} enough in name or neighbours."
        )
    elif told.partner is None and told.exchange is None and (told.reason or "").startswith("conf"):
        sentences.append(_competition(told))
    if not sentences:
        return ""
    return "Why\n" + "\n".join(_wrapped(sentence, "  ") for sentence in sentences)


def _competition(told: Explanation) -> str:
    """Why the best pair of an entity is not sure enough."""
    assert told.comparison is not None
    miss, score, scale = label(_far(told, told.comparison)), told.comparison.score, told.scale
    text = (
        f"{label(told.entity)} and {miss} may be the same, but it is not sure enough for a link: "
        "others compete for the two."
    )
    rivals = [
        f"{label(one.entity)} ({_plain(one.score, scale)})"
        for one in told.rivals
        if one.linked_with is None
    ]
    others = [
        f"{label(one.entity)} ({_plain(one.score, scale)})"
        for one in told.others
        if one.linked_with is None
    ]
    for name, found in ((miss, rivals), (label(told.entity), others)):
        if found:
            text += f" Without a link, too, and considered for {name}: {', '.join(found[:5])}."
    free = [one.score for one in told.rivals if one.linked_with is None]
    free += [one.score for one in told.others if one.linked_with is None]
    if scale == "log-odds" and free:
        top = max(free)
        together = top + math.log(sum(math.exp(one - top) for one in free))
        if together > score:
            text += f" To outweigh them together, about {together - score:.2f} more is missing."
    return text


def _exchange(told: Explanation, found: Exchange) -> str:
    named, scale = _Names(told, found), told.scale
    name, wanted = named.own(told.entity), named.far(found.wanted)
    own = 0.0
    if told.partner is not None and told.comparison is not None:
        own = told.comparison.score
    if told.partner is not None and found.score > own:
        text = f"{name} scores higher with {wanted} ({_plain(found.score, scale)}) than with "
        text += f"{named.far(told.partner)} ({_plain(own, scale)})"
    else:
        text = f"{name} would score {_plain(found.score, scale)} with {wanted}"
        if told.partner is not None:
            text += f", less than with {named.far(told.partner)} ({_plain(own, scale)})"
            if found.holder is None:
                return f"{text}."
    if found.holder is not None:
        more = found.holder_score - found.score
        worth = f"{_plain(abs(more), scale)} {'more' if more >= 0 else 'less'}"
        joint = "but" if more >= 0 else "and"
        text += f", {joint} {wanted} is worth {worth} to {named.own(found.holder)}, which has it"
    moves = [_move(step, named, scale) for step in found.steps]
    cost = _plain(abs(found.cost), scale)
    text += f". Giving it to {name} means: {'; '.join(moves)}."
    if found.cost >= 0:
        text += f" That would cost {cost} in total."
    else:
        text += (
            f" That would gain {cost} in total; links are chosen by how likely each is, "
            "not by the total score, unless the solver is hungarian."
        )
    if found.at_least is not None:
        least = _plain(found.at_least, scale)
        text += f" (By the exact solver's prices, it costs {least} at least.)"
    return text


class _Names:
    """Labels that tell apart whom an exchange is about: with side or URI where names are alike."""

    def __init__(self, told: Explanation, found: Exchange) -> None:
        own = {told.entity, *(step.entity for step in found.steps)}
        far = {found.wanted, *(step.before for step in found.steps if step.before)}
        far |= {step.after for step in found.steps if step.after}
        self.side, self.other = told.side, "right" if told.side == "left" else "left"
        self.labels = [[label(one) for one in group] for group in (own, far)]
        self.alike = bool(set(self.labels[0]) & set(self.labels[1]))

    def own(self, entity: Entity) -> str:
        """The label of an entity of the explained side."""
        return self._label(entity, 0, self.side)

    def far(self, entity: Entity) -> str:
        """The label of an entity of the other side."""
        return self._label(entity, 1, self.other)

    def _label(self, entity: Entity, group: int, side: str) -> str:
        name = label(entity)
        if self.labels[group].count(name) > 1:
            return f"{name} <{shown_text(entity.uri)}>"
        return f"{name} ({side})" if self.alike else name


def _move(step: Step, named: _Names, scale: Scale) -> str:
    change = _figure(step.after_score - step.before_score, scale)
    before = named.far(step.before) if step.before else "nobody"
    after = named.far(step.after) if step.after else "nobody"
    return f"{named.own(step.entity)} gets {after} instead of {before} ({change})"


def _missing(told: Explanation, missing: Missing) -> str:
    shown = told.other or told.comparison
    assert shown is not None
    text = (
        f"For {label(shown.left)} and {label(shown.right)} to be linked, a score of "
        f"{missing.score:.2f} more is missing: they would have to be {times(missing.score)} times "
        "likelier to be the same."
    )
    change = missing.would_do or missing.would_help
    if change is None:
        return text
    both = [
        _neighbour(entity, relations) if entity else f"{relation_text(relations)}: {change.text}"
        for entity, relations in (
            (change.left, change.left_relations),
            (change.right, change.right_relations),
        )
    ]
    lacks_left = change.left_fans is None
    lacking, has = (shown.left, shown.right) if lacks_left else (shown.right, shown.left)
    own, other = (both[0], both[1]) if lacks_left else (both[1], both[0])
    does = "would do" if missing.would_do else "would help most, but not be enough"
    return (
        f"{text} One more shared neighbour {does}: if {label(lacking)} had [{own}] as "
        f"{label(has)} has [{other}], that would add about {change.score:.2f}, "
        "all else being equal."
    )


def _taken(told: Explanation) -> list[str]:
    """Those that score higher than the nearest miss but are linked with others."""
    if told.partner is not None or told.comparison is None:
        return []
    better = [
        f"{label(one.entity)} ({_plain(one.score, told.scale)}) with {label(one.linked_with)}"
        for one in told.others
        if one.linked_with is not None and one.score > told.comparison.score
    ]
    if not better:
        return []
    return [f"Others score higher, but are linked where they fit better: {', '.join(better)}."]


def _far(told: Explanation, comparison: Comparison) -> Entity:
    return comparison.right if told.side == "left" else comparison.left


def _chosen_name(told: Explanation) -> str:
    return label(_far(told, told.comparison)) if told.comparison else ""


def _title(part: Part) -> str:
    if part.kind == "further" and part.hop != 2:
        return f"{part.hop} steps away"
    return TITLES[part.kind]


def _measure(part: Part) -> str:
    if part.kind in ("name", "neighbours", "further") and part.amount is not None:
        return f"{part.amount:.2f} alike"
    if part.kind in ("shared", "values"):
        count = sum(one.count for one in part.details)
        return f"{count:,} of them"
    if part.kind == "price":
        if part.score > 0:
            return "most have a partner here, which speaks for any pair"
        return "what a pair must exceed to be likelier than none"
    return ""


def _matters(part: Part) -> bool:
    return abs(part.score) > 5e-4 or part.kind == "name"


def _neighbour(entity: Entity, relations: Sequence[Relation]) -> str:
    name = _cut(label(entity), 34)
    return f"{_cut(relation_text(relations), 34)}: {name}" if relations else f"itself: {name}"


def _figure(score: float, scale: Scale) -> str:
    return _signed(score, 2 if scale == "log-odds" else 3)


def _plain(score: float, scale: Scale) -> str:
    return f"{score:.2f}" if scale == "log-odds" else f"{score:.3f}"


def _above(score: float, scale: Scale) -> str:
    """The next larger figure of two (or three) decimals."""
    digits = 2 if scale == "log-odds" else 3
    return f"{math.floor(score * 10**digits + 1) / 10**digits:.{digits}f}"


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _signed(score: float, digits: int = 2) -> str:
    return f"{round(score, digits) + 0.0:+.{digits}f}"  # adding zero makes -0 a plain one


def _cut(text: str, longest: int = LONGEST) -> str:
    text = shown_text(text)
    return text if _cells(text) <= longest else text[: longest - 3].rstrip() + "..."


def _cells(text: str) -> int:
    """Columns of a terminal that a text takes up."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    marks = sum(unicodedata.combining(letter) > 0 for letter in text)
    return len(text) + wide - marks


def _table(rows: Sequence[Sequence[str]], *, numeric: set[int]) -> str:
    widths = [max(_cells(row[place]) for row in rows) for place in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = []
        for place, (cell, width) in enumerate(zip(row, widths, strict=True)):
            gap = " " * (width - _cells(cell))
            cells.append(gap + cell if place in numeric else cell + gap)
        lines.append("  " + "  ".join(cells).rstrip())
    return "\n".join(lines)


def _wrapped(text: str, indent: str = "") -> str:
    lines = textwrap.wrap(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines)


__all__ = ["in_words", "label", "last_part", "meaning", "relation_text", "shown_text", "times"]
