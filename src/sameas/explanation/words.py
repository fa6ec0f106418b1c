"""An explanation in words, for a terminal."""

from __future__ import annotations

import math
import textwrap
import unicodedata
from collections.abc import Sequence

from sameas.explanation.result import (
    Comparison,
    Detail,
    Entity,
    Exchange,
    Explanation,
    Missing,
    Part,
    Relation,
    Scale,
)
from sameas.iri import last_part

WIDTH = 100
LONGEST = 40
"""Columns of a name in a table."""
ROWS = 6
"""Details of a part that are listed; JSON has more."""
TELLING = 0.02
"""Share of a part below which a pair of neighbours is not listed."""
TITLES = {
    "name": "names",
    "neighbours": "neighbours' names",
    "further": "neighbours' neighbours",
    "shared": "shared neighbours",
    "values": "values in common",
    "left lacks": "what the left one lacks",
    "right lacks": "what the right one lacks",
    "known": "given as a known link",
    "threshold": "threshold",
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

Row = tuple[str, ...]


def in_words(explanation: Explanation) -> str:
    """The whole explanation."""
    shown, chosen = explanation.shown, explanation.comparison
    blocks = [_heading(explanation)]
    if shown is not None:
        beside = explanation.other is not None and explanation.other != chosen
        blocks.append(_side_by_side(explanation) if beside else _parts(shown, explanation.scale))
        blocks += [
            DETAILS[part.kind](part, shown, explanation.scale)
            for part in shown.parts
            if part.details and _matters(part)
        ]
    blocks += [_others(explanation), _why(explanation)]
    return "\n\n".join(block for block in blocks if block)


# --- what was found ---


def _heading(explanation: Explanation) -> str:
    partner, chosen, asked = explanation.partner, explanation.comparison, explanation.other
    far = "right" if explanation.side == "left" else "left"
    lines = [f"  {explanation.side}: {printable(explanation.entity.uri)}"]
    if partner is not None:
        title = f"{label(explanation.entity)} = {label(partner)}"
        lines.append(f"  {far}: {printable(partner.uri)}")
        sentence = f"Linked, with confidence {explanation.confidence:.3f}."
    else:
        title = f"{label(explanation.entity)}: no partner"
        reason = REASONS.get(explanation.reason or "", "").format(explanation.min_confidence)
        sentence = f"Not linked: {reason}." if reason else "Not linked."
        if chosen is not None:
            miss = explanation.far(chosen)
            lines.append(f"  nearest miss, {far}: {label(miss)}, {printable(miss.uri)}")
    if asked is not None and explanation.far(asked) != partner:
        title += f"; why not {label(explanation.far(asked))}?"
        lines.append(f"  asked about, {far}: {printable(explanation.far(asked).uri)}")
    if chosen is not None:
        sentence += f" {_meaning(chosen.score, explanation.scale)}"
    notes = [wrapped(NOTES[note]) for note in explanation.notes]
    return "\n".join([title, *lines, "", wrapped(sentence), *notes])


def _meaning(score: float, scale: Scale) -> str:
    """What a score says."""
    if scale == "cosine":
        return (
            f"Score {score:.3f}: the mean of how alike their names, their neighbours and so on "
            "are (1 for the same, 0 for nothing in common)."
        )
    same, none = "they are the same", "neither has a partner"
    likelier, other = (same, none) if score > 0 else (none, same)
    return (
        f"Score {signed(score, scale)}: by all that is known of the two, it is "
        f"{times(abs(score))} times likelier that {likelier} than that {other}."
    )


def _parts(comparison: Comparison, scale: Scale) -> str:
    parts = [part for part in comparison.parts if _matters(part)]
    rows = [(_title(part), signed(part.score, scale), _measure(part)) for part in parts]
    rows.append(("total", signed(comparison.score, scale), ""))
    return f"How the score comes about\n{text_table(rows, numeric={1})}"


def _side_by_side(explanation: Explanation) -> str:
    """The parts of the chosen pair beside those of the one asked about."""
    chosen, asked, scale = explanation.comparison, explanation.other, explanation.scale
    assert asked is not None
    if chosen is None:
        return f"{_meaning(asked.score, scale)}\n\n{_parts(asked, scale)}"
    names = [label(explanation.far(pair)) for pair in (chosen, asked)]
    before, after = (
        {_title(part): part.score for part in pair.parts} | {"total": pair.score}
        for pair in (chosen, asked)
    )
    rows = [("", *names, "difference")]
    for title in sorted(before | after, key="total".__eq__):
        scores = before.get(title, 0.0), after.get(title, 0.0)
        if title == "total" or max(map(abs, scores)) > 5e-4:
            figures = (*scores, scores[1] - scores[0])
            rows.append((title, *(signed(score, scale) for score in figures)))
    meaning = _meaning(asked.score, scale)
    sentence = wrapped(f"With {names[1]}: {meaning[:1].lower()}{meaning[1:]}")
    return f"Side by side\n{text_table(rows, numeric={1, 2, 3})}\n\n{sentence}"


def _title(part: Part) -> str:
    if part.kind == "further" and part.hop != 2:
        return f"{part.hop} steps away"
    return TITLES[part.kind]


def _measure(part: Part) -> str:
    if part.hop is not None:
        return f"{part.amount:.2f} alike"
    if part.kind in ("shared", "values"):
        return f"{sum(one.count for one in part.details):,} of them"
    return "what a pair must exceed to be likelier than no link" if part.kind == "threshold" else ""


def _matters(part: Part) -> bool:
    return abs(part.score) > 5e-4 or part.kind == "name"


# --- what each part is made of ---


def _names(part: Part, comparison: Comparison, scale: Scale) -> str:
    """What two names have in common; the spaces around words are shown as a low line."""
    items = []
    for one in part.details:
        text = "".join(letter if letter.isprintable() else "_" for letter in one.text)
        text = f'"{text if " ~ " in text else text.replace(" ", "_")}"'
        text = f"{one.count:,} more" if one.count > 1 else text
        items.append(f"{text} {signed(one.score, scale)}")
    names = f'"{label(comparison.left)}" and "{label(comparison.right)}"'
    return wrapped(f"Names: {names} have in common {', '.join(items)}.")


def _neighbours(part: Part, comparison: Comparison, scale: Scale) -> str:
    what = "names" if part.hop == 1 else "own neighbourhoods"
    steps = "Neighbours" if part.hop == 1 else f"Up to {part.hop} steps away"
    rows = [
        (*_both(one), signed(one.score, scale), f"{one.amount:.2f}")
        for one in part.details[:ROWS]
        if one.left is not None and abs(one.score) >= TELLING * abs(part.score)
    ]
    if not rows:
        digits = _digits(scale)
        most = math.floor(abs(part.details[0].score) * 10**digits + 1) / 10**digits
        return wrapped(
            f"{steps}: {sum(one.count for one in part.details):,} pairs of neighbours whose {what} "
            f"are alike, each of which adds less than {most:.{digits}f}."
        )
    head = f"{steps}: pairs whose {what} are alike (an entity is its own neighbour, too)"
    return _table(head, "alike", rows, part, scale)


def _shared(part: Part, comparison: Comparison, scale: Scale) -> str:
    rows = [
        (*_both(one), signed(one.score, scale), f"{one.left_fans} left, {one.right_fans} right")
        for one in part.details[:ROWS]
        if one.count == 1
    ]
    shared = part.kind == "shared"
    head = "Shared neighbours, by links that were sure" if shared else "Values in common"
    head += " (the fewer have it, the more it says)"
    return _table(head, "how many have it", rows, part, scale)


def _table(head: str, measure: str, rows: Sequence[Row], part: Part, scale: Scale) -> str:
    """A table of details; those not in it are summed up below."""
    table = text_table([("left", "right", "adds", measure), *rows], numeric={2})
    return f"{head}\n{table}" + _rest("\n  and {} more: {}", part, len(rows), scale)


def _rest(text: str, part: Part, listed: int, scale: Scale) -> str:
    """A text with the number of details that are not listed, and their sum."""
    rest = part.details[listed:]
    total = signed(sum(one.score for one in rest), scale)
    return text.format(f"{sum(one.count for one in rest):,}", total) if rest else ""


def _lacking(part: Part, comparison: Comparison, scale: Scale) -> str:
    sides = (comparison.left, "left", 0), (comparison.right, "right", 1)
    (lacks, other, _), (holder, where, side) = sides if part.kind == "left lacks" else sides[::-1]
    listed = [one for one in part.details[:ROWS] if one.count == 1]
    items = "; ".join(f"{_both(one)[side]} {signed(one.score, scale)}" for one in listed)
    return wrapped(
        f"Only {label(holder)} ({where}) has, though its counterpart is known and {label(lacks)} "
        f"({other}) could have it: {items}{_rest('; {} more {}', part, len(listed), scale)}."
    )


DETAILS = {
    "name": _names,
    "neighbours": _neighbours,
    "further": _neighbours,
    "shared": _shared,
    "values": _shared,
    "left lacks": _lacking,
    "right lacks": _lacking,
}


def _others(explanation: Explanation) -> str:
    if not explanation.others:
        return "Nobody else was considered." if explanation.comparison is not None else ""
    chosen, scale = explanation.comparison, explanation.scale
    compared = f"compared with {cut(label(explanation.far(chosen)))}" if chosen else ""
    rows = [("", "score", "linked with", compared)]
    for one in explanation.others:
        changes = [f"{TITLES[kind]} {signed(by, scale)}" for kind, by in one.differences[:2]]
        linked = cut(label(one.linked_with)) if one.linked_with else "nobody"
        rows.append((cut(label(one.entity)), signed(one.score, scale), linked, ", ".join(changes)))
    return f"Who else was considered\n{text_table(rows, numeric={1})}"


# --- why the assignment chose as it did ---


def _why(explanation: Explanation) -> str:
    name, scale, sentences = label(explanation.entity), explanation.scale, []
    partner, exchange, chosen = explanation.partner, explanation.exchange, explanation.comparison
    if exchange is not None:
        sentences.append(_exchange(explanation, exchange))
    elif partner is not None and all(explanation.wins):
        sentences.append(
            f"{name} and {label(partner)} are each other's best: no other candidate scores higher "
            "with either of them."
        )
    elif partner is not None and explanation.wins[0]:
        sentences.append(
            f"No candidate scores higher with {name}. {label(partner)} scores higher with another "
            "one, which has a partner that suits it even better or is less likely as a whole."
        )
    if explanation.missing is not None and explanation.shown is not None:
        sentences.append(_missing(explanation.shown, explanation.missing))
        better = [
            f"{label(one.entity)} ({figure(one.score, scale)}) with {label(one.linked_with)}"
            for one in explanation.others
            if one.linked_with and chosen and not partner and one.score > chosen.score
        ]
        if better:
            better_ones = ", ".join(better)
            sentences.append(
                f"Others score higher, but are linked where they fit better: {better_ones}."
            )
    elif partner is None and chosen is None:
        sentences.append(
            f"Nothing that was considered resembles {name} enough in name or neighbours."
        )
    elif partner is None and exchange is None and explanation.reason == "unsure":
        sentences.append(_competition(explanation))
    text = "\n".join(wrapped(sentence, "  ") for sentence in sentences)
    return f"Why\n{text}" if text else ""


def _competition(explanation: Explanation) -> str:
    """Why the best pair of an entity is not sure enough."""
    assert explanation.comparison is not None
    name, scale = label(explanation.entity), explanation.scale
    miss, score = label(explanation.far(explanation.comparison)), explanation.comparison.score
    text = (
        f"{name} and {miss} may be the same, but it is not sure enough for a link: "
        "others compete for the two."
    )
    free = []
    for considered, found in ((miss, explanation.rivals), (name, explanation.others)):
        unlinked = [one for one in found if one.linked_with is None]
        items = [f"{label(one.entity)} ({figure(one.score, scale)})" for one in unlinked[:5]]
        if items:
            text += f" Without a link, too, and considered for {considered}: {', '.join(items)}."
        free += [one.score for one in unlinked]
    if scale == "log-odds" and free:
        together = max(free) + math.log(sum(math.exp(one - max(free)) for one in free))
        if together > score:
            text += f" To outweigh them together, about {together - score:.2f} more is missing."
    return text


def _exchange(explanation: Explanation, exchange: Exchange) -> str:
    names, scale = _labels(explanation, exchange), explanation.scale
    name, wanted = names[explanation.entity], names[exchange.wanted]
    score = figure(exchange.score, scale)
    text = f"{name} would score {score} with {wanted}"
    if explanation.partner is not None and explanation.comparison is not None:
        partner, now = names[explanation.partner], explanation.comparison.score
        if exchange.score > now:
            text = f"{name} scores higher with {wanted} ({score}) than with {partner} "
            text += f"({figure(now, scale)})"
        else:
            text += f", less than with {partner} ({figure(now, scale)})"
            if exchange.holder is None:
                return f"{text}."
    if exchange.holder is not None:
        more = exchange.holder_score - exchange.score
        joint, how = ("but", "more") if more >= 0 else ("and", "less")
        text += f", {joint} {wanted} is worth {figure(abs(more), scale)} {how} to "
        text += f"{names[exchange.holder]}, which has it"
    moves = [
        f"{names[step.entity]} gets {names[step.after]} instead of {names[step.before]} "
        f"({signed(step.after_score - step.before_score, scale)})"
        for step in exchange.steps
    ]
    text += f". Giving it to {name} means: {'; '.join(moves)}."
    cost = figure(abs(exchange.cost), scale)
    if exchange.cost >= 0:
        text += f" That would cost {cost} in total."
    else:
        text += (
            f" That would gain {cost} in total; links are chosen by how likely each is, "
            "not by the total score, unless the solver is hungarian."
        )
    if exchange.at_least is not None:
        least = figure(exchange.at_least, scale)
        text += f" (By the exact solver's prices, it costs {least} at least.)"
    return text


def _labels(explanation: Explanation, exchange: Exchange) -> dict[Entity | None, str]:
    """Labels of all entities of an exchange, with side or URI where two have the same name."""
    near = {explanation.entity, exchange.holder, *(step.entity for step in exchange.steps)}
    far = {exchange.wanted, explanation.partner}
    far |= {entity for step in exchange.steps for entity in (step.before, step.after)}
    names = [[label(entity) for entity in group if entity] for group in (near, far)]
    alike = bool(set(names[0]) & set(names[1]))
    labels: dict[Entity | None, str] = {None: "nobody"}
    sides = ("left", "right") if explanation.side == "left" else ("right", "left")
    for group, texts, side in zip((near, far), names, sides, strict=True):
        for entity in filter(None, group):
            text = label(entity)
            labels[entity] = f"{text} ({side})" if alike else text
            if texts.count(text) > 1:
                labels[entity] = f"{text} <{printable(entity.uri)}>"
    return labels


def _missing(shown: Comparison, missing: Missing) -> str:
    text = (
        f"For {label(shown.left)} and {label(shown.right)} to be linked, a score of "
        f"{missing.score:.2f} more is missing: they would have to be {times(missing.score)} times "
        "likelier to be the same."
    )
    change = missing.would_do or missing.would_help
    if change is None:
        return text
    entities, neighbours = (shown.left, shown.right), _both(change)
    if change.left_fans is not None:  # the left one has it
        entities, neighbours = entities[::-1], neighbours[::-1]
    does = "would do" if missing.would_do else "would help most, but not be enough"
    return (
        f"{text} One more shared neighbour {does}: if {label(entities[0])} had [{neighbours[0]}] "
        f"as {label(entities[1])} has [{neighbours[1]}], that would add about {change.score:.2f}, "
        "all else being equal."
    )


# --- numbers, names and layout ---


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


def _both(detail: Detail) -> tuple[str, str]:
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


def _digits(scale: Scale) -> int:
    return 2 if scale == "log-odds" else 3


def figure(score: float, scale: Scale) -> str:
    """A score in as many digits as its scale has."""
    return f"{score:.{_digits(scale)}f}"


def signed(score: float, scale: Scale) -> str:
    """A score with its sign."""
    digits = _digits(scale)
    return f"{round(score, digits) + 0.0:+.{digits}f}"  # adding zero makes -0 a plain one


def cut(text: str, longest: int = LONGEST) -> str:
    """Text of at most so many columns."""
    text = printable(text)
    return text if _width(text) <= longest else text[: longest - 3].rstrip() + "..."


def _width(text: str) -> int:
    """Columns of a terminal that a text takes up."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    marks = sum(unicodedata.combining(letter) > 0 for letter in text)
    return len(text) + wide - marks


def text_table(rows: Sequence[Sequence[str]], *, numeric: set[int]) -> str:
    """Rows as lines of text, their columns below each other; numeric ones flush right."""
    widths = [max(_width(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = []
        for place, (cell, width) in enumerate(zip(row, widths, strict=True)):
            gap = " " * (width - _width(cell))
            cells.append(gap + cell if place in numeric else cell + gap)
        lines.append("  " + "  ".join(cells).rstrip())
    return "\n".join(lines)


def wrapped(text: str, indent: str = "") -> str:
    """Text in lines of the width of a page."""
    wrapper = textwrap.TextWrapper(
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(wrapper.wrap(text))
