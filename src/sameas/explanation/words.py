"""An explanation in words, for a terminal."""

from __future__ import annotations

from sameas.explanation.phrases import (
    cut,
    far_of,
    just_above,
    label,
    lower_first,
    meaning,
    neighbour_text,
    relation_text,
    shown_text,
    signed_figure,
    text_table,
    wrapped,
)
from sameas.explanation.reasons import why
from sameas.explanation.result import Comparison, Explanation, Part, Scale

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
    blocks.append(why(explanation))
    return "\n\n".join(block for block in blocks if block)


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
            miss = far_of(told, told.comparison)
            uris.append(f"  nearest miss, {far}: {label(miss)}, {shown_text(miss.uri)}")
    if told.other is not None:
        asked = far_of(told, told.other)
        if told.partner is None or asked != told.partner:
            title += f"; why not {label(asked)}?"
            uris.append(f"  asked about, {far}: {shown_text(asked.uri)}")
    if told.comparison is not None:
        sentence += " " + meaning(told.comparison.score, told.scale)
    notes = [wrapped(note) for note in told.notes]
    return "\n".join([title, *uris, "", wrapped(sentence), *notes])


def _parts(comparison: Comparison, scale: Scale) -> str:
    rows = [
        (_title(part), signed_figure(part.score, scale), _measure(part))
        for part in comparison.parts
        if _matters(part)
    ]
    rows.append(("total", signed_figure(comparison.score, scale), ""))
    return f"How the score comes about\n{text_table(rows, numeric={1})}"


def _side_by_side(told: Explanation) -> str:
    """The parts of the chosen pair beside those of the one asked about."""
    assert told.other is not None
    asked, scale = told.other, told.scale
    if told.comparison is None:
        return f"{meaning(asked.score, scale)}\n\n{_parts(asked, scale)}"
    chosen = {(part.kind, part.hop): part for part in told.comparison.parts}
    own = {(part.kind, part.hop): part for part in asked.parts}
    rows: list[tuple[str, ...]] = [
        ("", label(far_of(told, told.comparison)), label(far_of(told, asked)), "difference")
    ]
    for key in {**chosen, **own}:
        pair = [table[key].score if key in table else 0.0 for table in (chosen, own)]
        if any(abs(score) > 5e-4 for score in pair):
            part = chosen.get(key) or own[key]
            rows.append(
                (_title(part), *(signed_figure(one, scale) for one in (*pair, pair[1] - pair[0])))
            )
    pair = [told.comparison.score, asked.score]
    rows.append(("total", *(signed_figure(one, scale) for one in (*pair, pair[1] - pair[0]))))
    text = f"Side by side\n{text_table(rows, numeric={1, 2, 3})}"
    name = label(far_of(told, asked))
    return f"{text}\n\n" + wrapped(f"With {name}: {lower_first(meaning(asked.score, scale))}")


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
        items.append(f"{ends} {signed_figure(one.score, scale)}")
    names = f'"{label(comparison.left)}" and "{label(comparison.right)}"'
    return wrapped(f"Own names: {names} have in common {', '.join(items)}.")


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
                    neighbour_text(one.left, one.left_relations),
                    neighbour_text(one.right, one.right_relations),
                    signed_figure(one.score, scale),
                    f"{one.amount:.2f}",
                )
            )
    if len(rows) == 1:
        count = sum(one.count for one in part.details)
        return wrapped(
            f"{steps}: {count:,} pairs of neighbours whose {what} are alike, each of which adds "
            f"less than {just_above(abs(part.details[0].score), scale)}."
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
            neighbour_text(entity, relations)
            if entity is not None
            else f"{relation_text(relations)}: {cut(one.text)}"
            for entity, relations in (
                (one.left, one.left_relations),
                (one.right, one.right_relations),
            )
        ]
        fans = f"{one.left_fans} left, {one.right_fans} right"
        rows.append((*texts, signed_figure(one.score, scale), fans))
    return _with_rest(head, rows, part, scale)


def _with_rest(head: str, rows: list[tuple[str, ...]], part: Part, scale: Scale) -> str:
    """A table of details; those not in it are summed up below."""
    told = len(rows) - 1
    rest = part.details[told:]
    text = f"{head}\n{text_table(rows, numeric={2})}"
    if rest:
        total = sum(one.score for one in rest)
        text += f"\n  and {sum(one.count for one in rest):,} more: {signed_figure(total, scale)}"
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
            items.append(f"{neighbour_text(own, relations)} {signed_figure(one.score, scale)}")
        elif relations:
            items.append(
                f"{relation_text(relations)}: {cut(one.text)} {signed_figure(one.score, scale)}"
            )
    rest = part.details[len(items) :]
    if rest:
        total = signed_figure(sum(one.score for one in rest), scale)
        items.append(f"{sum(one.count for one in rest):,} more {total}")
    side, other = ("right", "left") if left else ("left", "right")
    return wrapped(
        f"Only {label(holder)} ({side}) has, though its counterpart is known and {label(lacks)} "
        f"({other}) could have it: {'; '.join(items)}."
    )


def _others(told: Explanation) -> str:
    if not told.others:
        return "Nobody else was considered." if told.comparison is not None else ""
    rows = [("", "score", "linked with", "compared with " + cut(_chosen_name(told)))]
    for one in told.others:
        differences = [
            f"{TITLES[kind]} {signed_figure(change, told.scale)}"
            for kind, change in one.differences[:2]
        ]
        linked = cut(label(one.linked_with)) if one.linked_with else "nobody"
        rows.append(
            (
                cut(label(one.entity)),
                signed_figure(one.score, told.scale),
                linked,
                ", ".join(differences),
            )
        )
    return f"Who else was considered\n{text_table(rows, numeric={1})}"


def _chosen_name(told: Explanation) -> str:
    return label(far_of(told, told.comparison)) if told.comparison else ""


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
        return "what a pair must exceed to be likelier than none"
    return ""


def _matters(part: Part) -> bool:
    return abs(part.score) > 5e-4 or part.kind == "name"
