"""``sameas audit``: how good a run is, without labels."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sameas.cli.command import command, print_table, run_argument, say

if TYPE_CHECKING:
    from sameas.result.alignment import Alignment
    from sameas.result.audit.record import Audit
    from sameas.result.clusters import Clusters

WORST = 3
"""Groups that the summary of a run names."""
GROUPS = {
    "type": "type {}",
    "degree": "entities with {} neighbours",
    "script": "names in {} letters",
}
"""What the groups of an audit are called."""
WORSE = 0.02
"""How far the precision of such a group is below that of all links, at least."""


@command(
    """Estimate how many links of a run are correct, and how many were missed.

    RUN is a run folder that sameas align wrote. No gold links are needed: partners of links are
    taken away, and what their entities are linked with then shows how often an entity without a
    counterpart is linked. How many links were nearly not made shows how many were missed. What
    cannot be told is said to be so. A run that has no audit yet is refined again. See
    docs/audit.md. Of a run with clusters, it says what their confidences add up to, which is not
    a check.
    """,
    examples="""
    sameas audit run
    sameas audit run --json
    """,
)
@run_argument
def audit(run: Path) -> dict[str, Any]:
    """Print the estimates; the audit, None if there are too few links."""
    import sameas

    alignment = sameas.read_run(run)
    if alignment.clusters is not None:
        return {"audit": _audit_clusters(alignment.clusters)}
    estimates = sameas.audit_alignment(alignment)
    if estimates is None:
        say(f"How good the run is cannot be told: {why_no_audit(alignment)}.")
        return {"audit": None}
    print_table([*audit_lines(estimates), *_how(estimates)])
    print_table(
        ((f"{point.probability:g}", f"{point.confidence:.3f}") for point in estimates.curve),
        header=("probability in the plan", "confidence"),
    )
    print_table(
        ((group.by, group.name, group.links, group.precision) for group in estimates.groups),
        header=("by", "group", "links", "share that is correct"),
    )
    return {"audit": estimates.asdict()}


def _how(estimates: Audit) -> Iterator[tuple[str, str]]:
    """F1, and what tells that links are wrong."""
    if estimates.f1 is not None:
        yield "F1", f"about {estimates.f1:.3f}"
    decoys, runners = estimates.wrong_by_decoys, estimates.wrong_by_runner_ups
    if decoys is not None and runners is not None:
        yield "wrong links", f"about {decoys:,.0f} by decoys, {runners:,.0f} by runner-ups"
    counts = f"{estimates.left_decoys:,} left and {estimates.right_decoys:,} right entities"
    yield "decoys", f"{counts} whose partner was taken away"


def why_no_audit(alignment: Alignment) -> str:
    """Why a run with refinement has no audit."""
    if not any(alignment.options.single):
        return "where both sides may have several partners, no entity can be a decoy"
    fewest = alignment.tuning.audit.fewest
    return f"there are too few links for an audit, which needs {fewest} besides those given"


def _audit_clusters(clusters: Clusters) -> dict[str, Any]:
    """Print what a run of dedupe expects of its clusters; the figures."""
    from sameas.result.cluster_audit import audit_clusters

    figures = audit_clusters(clusters)
    print_table(
        [
            ("clusters", f"{figures.clusters:,}, with {figures.entities:,} entities"),
            ("less sure", f"{figures.doubtful_clusters:,} clusters with confidence below 0.9"),
            ("wrong members", f"about {figures.expected_wrong_entities:,.0f} by the confidences"),
            ("missed", "cannot be told"),
        ]
    )
    say(
        "These figures are sums of the run's own confidences: clusters have no decoys. "
        "Wrong members that the run is sure of, and duplicates that it missed, do not show. To "
        "check them: sameas review, or sameas evaluate with known clusters."
    )
    return figures.asdict()


def _missed_lines(estimates: Audit) -> Iterator[tuple[str, str]]:
    """What was missed, and how many have no counterpart; or why that cannot be told."""
    missed, low, high = estimates.missed, estimates.missed_low, estimates.missed_high
    if missed is None or low is None or high is None:
        yield "missed", f"cannot be told: {estimates.untold}"
        return
    between = f"between {round(low):,} and {round(high):,}"
    yield "missed", f"about {round(missed):,} counterparts ({between})"
    left, right = estimates.left_without, estimates.right_without
    if left is not None and right is not None:
        yield "no counterpart", f"about {left:.0%} of the left, {right:.0%} of the right entities"


def audit_lines(estimates: Audit) -> Iterator[tuple[str, str]]:
    """The estimates in words."""
    between = f"between {round(estimates.right_low):,} and {round(estimates.right_high):,}"
    yield "correct links", f"about {round(estimates.right):,} of {estimates.links:,} ({between})"
    yield from _missed_lines(estimates)
    worse = [group for group in estimates.groups if group.precision < estimates.precision - WORSE]
    worst = sorted(worse, key=lambda group: group.precision)[:WORST]
    if worst:
        texts = (
            f"{GROUPS[each.by].format(each.name)} ({each.precision:.0%} correct)" for each in worst
        )
        yield "worse than most", ", ".join(texts)
