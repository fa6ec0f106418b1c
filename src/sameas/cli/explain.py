"""``sameas explain``: why an entity has this partner, or none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from sameas.cli.command import command, print_table, run_argument, say
from sameas.errors import OptionError
from sameas.options.declare import Option
from sameas.options.options import Side

if TYPE_CHECKING:
    from sameas.result.alignment import Alignment


@command(
    """Say why ENTITY has the partner it has, or none; with OTHER, why not that one.

    RUN is a run folder of sameas align or sameas dedupe. An entity is given by its URI, or by a
    name (or the last part of the URI) that no other entity has. The score is split into parts that
    add up to it. In a run with clusters, the members of ENTITY's cluster, the links that hold it
    together and the weakest of them are shown.
    """,
    examples="""
    sameas explain run http://fr.dbpedia.org/resource/Londres
    sameas explain run Londres
    sameas explain run Londres "London, Ontario"
    sameas explain run London --side right --json
    sameas explain run Londres --drawing londres.svg
    """,
)
@run_argument
@click.argument("entity")
@click.argument("other", required=False)
def explain(
    run: Path,
    entity: str,
    other: str | None,
    *,
    side: Annotated[
        Side | None, Option("The graph that ENTITY is from.  [left, else right]")
    ] = None,
    drawing: Annotated[
        Path | None,
        Option(
            "Also draw both neighbourhoods side by side: .svg, or .html with the text.",
            metavar="FILE",
        ),
    ] = None,
) -> dict[str, Any]:
    """Print the explanation, and draw it if that was asked for; its parts."""
    import sameas
    from sameas.compute.atomic import replacing_file
    from sameas.result.export import check_place
    from sameas.result.overwriting import refuse_inputs

    if drawing is not None and drawing.suffix not in (".svg", ".html"):
        raise OptionError(f"`drawing` must end in .svg or .html, got {str(drawing)!r} instead")
    if drawing is not None:
        check_place(drawing, drawing.suffix, (".svg", ".html"), remedy="for a drawing")
        refuse_inputs(drawing, [run])
    alignment = sameas.read_run(run)
    cluster = cluster_of(alignment, entity)
    if cluster is not None and other is not None:
        cluster = _if_together(cluster, other, alignment)
    elif cluster is not None:  # what the weakest of its links is made of
        _show_cluster(alignment, cluster)
        entity, other = cluster["weakest_left"], cluster["weakest_right"]
    explanation = alignment.explain(entity, other, side=side)
    written = ""
    if drawing is not None:
        text = explanation.drawing() if drawing.suffix == ".svg" else explanation.page()
        with replacing_file(drawing) as draft:
            draft.write_text(text, encoding="utf8")
        written = f"\n\nDrawing written to {drawing}."
    say(f"{explanation}{written}")
    return {**explanation.asdict(), **({"cluster": cluster} if cluster else {})}


def cluster_of(alignment: Alignment, entity: str) -> dict[str, Any] | None:
    """The cluster of an entity, by id or by name, with its members and links; None without one."""
    clusters = alignment.clusters
    if clusters is None:
        return None
    import polars as pl

    graph, origins = alignment.pair.left, alignment.origins
    ids = graph.entities.filter((graph.entities == entity) | (graph.names == entity))
    members = clusters.members.join(origins, on=["entity", "graph"], maintain_order="left")
    found = members.filter(pl.col("id").is_in(ids.implode()))["cluster"].unique()
    if len(found) != 1:
        return None
    inside = pl.col("cluster") == found[0]
    (row,) = clusters.summary.filter(inside).iter_rows(named=True)
    if row["weakest_left"] is None:
        return None
    links = clusters.links.filter(inside)
    for side in ("left", "right"):  # by the ids of the run, which no two entities share
        named = origins.rename({"entity": side, "graph": f"{side}_graph", "id": f"{side}_id"})
        links = links.join(named, on=[side, f"{side}_graph"], maintain_order="left")
    links = links.select("score", "confidence", left="left_id", right="right_id")
    links = links.select("left", "right", "score", "confidence")
    weakest = links.row(links["score"].arg_min() or 0, named=True)
    row |= {f"weakest_{side}": weakest[side] for side in ("left", "right")}
    members = members.filter(inside).select("confidence", "canonical", entity="id")
    members = members.select("entity", "confidence", "canonical")
    return {**row, "members": members.to_dicts(), "links": links.to_dicts()}


def _if_together(
    cluster: dict[str, Any], other: str, alignment: Alignment
) -> dict[str, Any] | None:
    """The cluster, if another entity is in it too, which is said."""
    beside = cluster_of(alignment, other)
    if beside is None or beside["cluster"] != cluster["cluster"]:
        return None
    say(f"Both are in cluster {cluster['cluster']}, with confidence {cluster['confidence']:.3f}.\n")
    return cluster


def _show_cluster(alignment: Alignment, cluster: dict[str, Any]) -> None:
    """Print the members of a cluster, the links that hold it together, and where it would split."""
    graph = alignment.pair.left
    names = dict(zip(graph.entities, graph.names, strict=True))
    say(f"Cluster {cluster['cluster']}, with confidence {cluster['confidence']:.3f}")
    print_table(
        [
            (one["entity"], names[one["entity"]], one["confidence"], "yes" * one["canonical"])
            for one in cluster["members"]
        ],
        header=("member", "name", "confidence", "canonical"),
    )
    say("The strongest links that hold it together:")
    print_table(
        [(one["left"], one["right"], one["score"]) for one in cluster["links"]],
        header=("one", "other", "score"),
    )
    if cluster["split"]:
        part = ", ".join(cluster["split"])
        say(f"It would split off first: {part} (mean score {cluster['split_score']:.2f}).")
    say("The weakest of these links:\n")
