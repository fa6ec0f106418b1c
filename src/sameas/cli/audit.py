"""``sameas audit``: how good a run is, without labels."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sameas.cli.command import command, print_table, run_argument, say

if TYPE_CHECKING:
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
    counterpart is linked. A run that has no audit yet is refined again. See docs/audit.md. Of a
    run with clusters, it says what their confidences add up to, which is not a check.
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
        say("How good the run is cannot be told: there are too few links for an audit.")
        return {"audit": None}
    counts = f"{estimates.left_decoys:,} left and {estimates.right_decoys:,} right entities"
    decoys = "decoys", f"{counts} whose partner was taken away"
    print_table([*audit_lines(estimates), ("F1", f"about {estimates.f1:.3f}"), decoys])
    print_table(
        ((f"{point.probability:g}", f"{point.confidence:.3f}") for point in estimates.curve),
        header=("probability in the plan", "confidence"),
    )
    print_table(
        ((group.by, group.name, group.links, group.precision) for group in estimates.groups),
        header=("by", "group", "links", "share that is correct"),
    )
    return {"audit": estimates.asdict()}


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


def audit_lines(estimates: Audit) -> Iterator[tuple[str, str]]:
    """The estimates in words."""
    between = f"between {round(estimates.right_low):,} and {round(estimates.right_high):,}"
    yield "correct links", f"about {round(estimates.right):,} of {estimates.links:,} ({between})"
    between = f"between {round(estimates.missed_low):,} and {round(estimates.missed_high):,}"
    yield "missed", f"about {round(estimates.missed):,} counterparts ({between})"
    shares = f"{estimates.left_without:.0%} of the left, {estimates.right_without:.0%} of the right"
    yield "no counterpart", f"about {shares} entities"
    worse = [group for group in estimates.groups if group.precision < estimates.precision - WORSE]
    worst = sorted(worse, key=lambda group: group.precision)[:WORST]
    if worst:
        texts = (
            f"{GROUPS[each.by].format(each.name)} ({each.precision:.0%} correct)" for each in worst
        )
        yield "worse than most", ", ".join(texts)
