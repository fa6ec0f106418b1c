"""Why the assignment chose as it did, in sentences."""

from __future__ import annotations

import math

from sameas.explanation.phrases import (
    far_of,
    label,
    neighbour_text,
    plain_figure,
    relation_text,
    shown_text,
    signed_figure,
    times,
    wrapped,
)
from sameas.explanation.result import Entity, Exchange, Explanation, Missing, Scale, Step


def why(told: Explanation) -> str:
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
    return "Why\n" + "\n".join(wrapped(sentence, "  ") for sentence in sentences)


def _competition(told: Explanation) -> str:
    """Why the best pair of an entity is not sure enough."""
    assert told.comparison is not None
    miss, score, scale = label(far_of(told, told.comparison)), told.comparison.score, told.scale
    text = (
        f"{label(told.entity)} and {miss} may be the same, but it is not sure enough for a link: "
        "others compete for the two."
    )
    rivals = [
        f"{label(one.entity)} ({plain_figure(one.score, scale)})"
        for one in told.rivals
        if one.linked_with is None
    ]
    others = [
        f"{label(one.entity)} ({plain_figure(one.score, scale)})"
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
        text = f"{name} scores higher with {wanted} ({plain_figure(found.score, scale)}) than with "
        text += f"{named.far(told.partner)} ({plain_figure(own, scale)})"
    else:
        text = f"{name} would score {plain_figure(found.score, scale)} with {wanted}"
        if told.partner is not None:
            text += f", less than with {named.far(told.partner)} ({plain_figure(own, scale)})"
            if found.holder is None:
                return f"{text}."
    if found.holder is not None:
        more = found.holder_score - found.score
        worth = f"{plain_figure(abs(more), scale)} {'more' if more >= 0 else 'less'}"
        joint = "but" if more >= 0 else "and"
        text += f", {joint} {wanted} is worth {worth} to {named.own(found.holder)}, which has it"
    moves = [_move(step, named, scale) for step in found.steps]
    cost = plain_figure(abs(found.cost), scale)
    text += f". Giving it to {name} means: {'; '.join(moves)}."
    if found.cost >= 0:
        text += f" That would cost {cost} in total."
    else:
        text += (
            f" That would gain {cost} in total; links are chosen by how likely each is, "
            "not by the total score, unless the solver is hungarian."
        )
    if found.at_least is not None:
        least = plain_figure(found.at_least, scale)
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
    change = signed_figure(step.after_score - step.before_score, scale)
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
        neighbour_text(entity, relations)
        if entity
        else f"{relation_text(relations)}: {change.text}"
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
        f"{label(one.entity)} ({plain_figure(one.score, told.scale)}) with {label(one.linked_with)}"
        for one in told.others
        if one.linked_with is not None and one.score > told.comparison.score
    ]
    if not better:
        return []
    return [f"Others score higher, but are linked where they fit better: {', '.join(better)}."]
