"""How far a review has come: what is decided, what that says of the links, and how reviewers agree.

The confidence of a link is the probability that it is correct, so that their sum is the expected
number of correct links. A decision replaces it: an accepted link is correct, a rejected one is out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations

from sameas.result.decisions import Claim, standing_claims
from sameas.web.review.parameters import Record
from sameas.web.review.queue import Queue

GOALS = (0.9, 0.95, 0.98, 0.99, 0.995, 0.999)
"""Expected precisions that a review may aim at."""
LOOKED_AT = 5000
"""The least certain links among which those are counted that a goal still needs."""


def progress(queue: Queue) -> Record:
    """How far a review has come, as ``figures`` has it, and as a text."""
    found = figures(queue)
    text = f"{found['decided']:,} of {found['links']:,} links decided"
    if found["by_hand"]:
        text += f", {found['by_hand']:,} made by hand"
    if found["precision"] is not None:
        text += f". Expected precision {found['precision']:.3f}"
        if found["decided"]:
            text += f" (before: {found['precision_before']:.3f})"
    if found["more"]:
        text += f"; about {found['more']:,} more for {found['goal']:g}"
    return {**found, "text": f"{text}."}


def figures(queue: Queue) -> Record:
    """What is decided of the links of a run, and the expected precision before and with that.

    ``goal`` is the next of some round figures, and ``more`` how many of the least certain links
    are to be decided about until it is expected; both are None where it is out of reach.
    """
    about, decided = queue.about(), queue.decided()
    links, correct = about["links"], about["correct"]
    firm = [row for row in decided if row["state"] in ("accept", "reject")]
    accepted = sum(row["state"] == "accept" for row in firm)
    added = about["states"].get("accept", 0) - accepted  # which the run did not have
    now = links - (len(firm) - accepted) + added
    expected = correct - sum(row["confidence"] or 0.0 for row in firm) + accepted + added
    found = {
        "links": links,
        "decided": len(decided),
        "by_hand": about["states"].get("accept", 0) - accepted,
        "precision_before": correct / links if links else None,
        "precision": expected / now if now else None,
        "goal": None,
        "more": None,
    }
    if found["precision"] is None:
        return found
    goal = next((each for each in GOALS if each > expected / now), None)
    if goal is not None and (more := _until(queue, decided, now - expected / goal)) is not None:
        found |= {"goal": goal, "more": more}
    return found


def _until(queue: Queue, decided: list[Record], wrong: float) -> int | None:
    """How many of the least certain open links hold so many wrong ones; None if too many would.

    Deciding about a link takes it out if it is wrong, so that the rest becomes better.
    """
    known, count = {row["id"] for row in decided}, 0
    for row in queue.least_certain(LOOKED_AT + len(known)):
        if row["id"] in known:
            continue
        count += 1
        wrong -= 1.0 - row["confidence"]
        if wrong <= 0:
            return count
    return None


def agreement(queue: Queue, single: tuple[bool, bool]) -> list[Record]:
    """For each two reviewers: pairs that both decided about, how many alike, and Cohen's kappa.

    Kappa is the share of equal decisions beyond what chance gives two people who accept as often
    as these; None where both always say the same thing, which tells nothing.
    """
    query = """
        SELECT left, right, verdict, reviewer FROM decisions WHERE undone_by IS NULL ORDER BY id
    """
    rows = [
        (row["left"], row["right"], row["verdict"], row["reviewer"]) for row in queue.rows(query)
    ]
    said = {
        name: {claim[:2]: claim.verdict for claim in _standing(rows, name, single)}
        for name in sorted({row[3] for row in rows})
    }
    found = []
    for one, other in combinations(said, 2):
        both = [(said[one][pair], said[other][pair]) for pair in said[one] if pair in said[other]]
        if both:
            alike = sum(first == second for first, second in both)
            kappa = cohens_kappa(both)
            found.append(
                {"one": one, "other": other, "pairs": len(both), "alike": alike, "kappa": kappa}
            )
    return found


def _standing(
    rows: list[tuple[str, str, str, str]], name: str, single: tuple[bool, bool]
) -> Iterable[Claim]:
    claims = standing_claims([row for row in rows if row[3] == name], single)
    return (claim for claim in claims if claim.verdict != "open")


def cohens_kappa(verdicts: Sequence[tuple[str, str]]) -> float | None:
    """How much more often two agree than by chance; 1 for always.

    >>> cohens_kappa([("a", "a"), ("a", "a"), ("r", "r"), ("r", "a")])
    0.5
    """
    count = len(verdicts)
    alike = sum(one == other for one, other in verdicts) / count
    first, second = (Counter(pair[side] for pair in verdicts) for side in (0, 1))
    chance = sum(first[verdict] * second[verdict] for verdict in first) / count**2
    return None if chance == 1.0 else (alike - chance) / (1.0 - chance)
