"""Every figure published for the method, to be shown beside ours.

Mao, Wang, Wu, Lan: From Alignment to Assignment: Frustratingly Simple Unsupervised Entity
Alignment. EMNLP 2021. The rows of other methods are those that its tables quote;
of systems that came later, what their own papers say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

SOURCE = (
    "Mao, Wang, Wu, Lan: From Alignment to Assignment: Frustratingly Simple Unsupervised "
    "Entity Alignment. EMNLP 2021"
)
VECTORS = "glove.6B.300d"
"""The word vectors of the paper's word and hybrid rows."""
TEMPERATURE, ITERATIONS, DEPTH = 0.02, 10, 2
"""The paper's settings in all of its tables."""


class Side(NamedTuple):
    """What one graph of a dataset holds."""

    entities: int
    relations: int
    triples: int


@dataclass(frozen=True)
class DatasetFacts:
    """One row of the paper's table of datasets.

    Left and right are the paper's. The SRPRS folders that are handed round have the English
    graph as side 1, so there the folder's left is the paper's right.
    """

    key: str
    title: str
    left: Side
    right: Side


class Scores(NamedTuple):
    """What the main table prints per method and dataset; None where it prints a dash."""

    hits_at_1: float | None
    hits_at_10: float | None
    mrr: float | None


class AdjacencyScores(NamedTuple):
    """What the table of adjacency matrices prints per matrix and dataset."""

    hits_at_1: float
    mrr: float


class RunSeconds(NamedTuple):
    """Seconds of a whole run on a dataset of each collection."""

    dbp15k: float
    srprs: float


DATASETS: dict[str, DatasetFacts] = {
    facts.key: facts
    for facts in (
        DatasetFacts(
            "dbp15k/zh_en", "DBP15K zh-en", Side(19388, 1701, 70414), Side(19572, 1323, 95142)
        ),
        DatasetFacts(
            "dbp15k/ja_en", "DBP15K ja-en", Side(19814, 1299, 77214), Side(19780, 1153, 93484)
        ),
        DatasetFacts(
            "dbp15k/fr_en", "DBP15K fr-en", Side(19661, 903, 105998), Side(19993, 1208, 115722)
        ),
        DatasetFacts(
            "srprs/fr_en", "SRPRS fr-en", Side(15000, 177, 33532), Side(15000, 221, 36508)
        ),
        DatasetFacts(
            "srprs/de_en", "SRPRS de-en", Side(15000, 120, 37377), Side(15000, 222, 38363)
        ),
    )
}
"""In the paper's order."""


def _main(table: str) -> dict[str, dict[str, Scores]]:
    """Read lines of ``method | hits@1 hits@10 mrr | ...``, one group of three per dataset."""
    rows: dict[str, dict[str, Scores]] = {}
    for line in table.strip().splitlines():
        method, *groups = (part.strip() for part in line.split("|"))
        rows[method] = {
            key: Scores(*(None if figure == "-" else float(figure) for figure in group.split()))
            for key, group in zip(DATASETS, groups, strict=True)
        }
    return rows


BASELINES: dict[str, dict[str, Scores]] = _main(
    """
    GCN-Align | .434 .762 .550 | .427 .762 .540 | .411 .772 .530 | .243 .522 .340 | .385 .600 .460
    MuGNN     | .494 .844 .611 | .501 .857 .621 | .495 .870 .621 | .131 .342 .208 | .245 .431 .310
    BootEA    | .629 .847 .703 | .622 .853 .701 | .653 .874 .731 | .365 .649 .460 | .503 .732 .580
    MRAEA     | .757 .930 .827 | .758 .934 .826 | .781 .948 .849 | .460 .768 .559 | .594 .818 .666
    JEANS     | .719 .895 .791 | .737 .914 .798 | .769 .940 .827 |    -    -    - |    -    -    -
    GM-Align  | .679 .785    - | .739 .872    - | .894 .952    - | .574 .646 .602 | .681 .748 .710
    RDGCN     | .697 .842 .750 | .763 .897 .810 | .873 .950 .901 | .672 .767 .710 | .779 .886 .820
    HGCN      | .720 .857 .760 | .766 .897 .810 | .892 .961 .910 | .670 .770 .710 | .763 .863 .801
    DAT       |    -    -    - |    -    -    - |    -    -    - | .758 .899 .810 | .876 .955 .900
    DGMC      | .801 .875    - | .848 .897    - | .933 .960    - |    -    -    - |    -    -    -
    AttrGNN   | .796 .929 .845 | .783 .920 .834 | .919 .979 .910 |    -    -    - |    -    -    -
    CEA       | .787    -    - | .863    -    - | .972    -    - | .962    -    - | .971    -    -
    EPEA      | .885 .953 .911 | .924 .969 .942 | .955 .986 .967 |    -    -    - |    -    -    -
    """
)
"""The 13 methods that the main table compares with, by name and dataset."""

SEU: dict[str, dict[str, Scores]] = _main(
    """
    word      | .816 .923 .854 | .865 .952 .896 | .953 .989 .967 | .812 .902 .843 | .902 .951 .920
    char      | .870 .947 .897 | .947 .984 .961 | .986 .998 .990 | .979 .994 .985 | .980 .994 .985
    hybrid    | .900 .965 .924 | .956 .991 .969 | .988 .999 .992 | .982 .995 .986 | .983 .996 .987
    """
)
"""The method's own rows of the main table, by features and dataset; "w+c" there is hybrid."""

MAIN: dict[str, dict[str, Scores]] = {
    **BASELINES,
    **{f"SEU {'w+c' if name == 'hybrid' else name}": row for name, row in SEU.items()},
}
"""All 16 rows of the main table."""

HUNGARIAN: dict[str, float] = {
    "dbp15k/zh_en": 0.907,
    "dbp15k/ja_en": 0.963,
    "dbp15k/fr_en": 0.993,
}
"""Hits@1 of the exact assignment, hybrid features. Sinkhorn's is the main table's."""

HUNGARIAN_SECONDS: dict[str, float] = {
    "dbp15k/zh_en": 43.4,
    "dbp15k/ja_en": 19.8,
    "dbp15k/fr_en": 7.6,
}
"""Seconds to solve, on a CPU."""

SINKHORN_SECONDS: dict[str, dict[str, float]] = {
    "CPU, 32 cores": {"dbp15k/zh_en": 6.1, "dbp15k/ja_en": 6.1, "dbp15k/fr_en": 6.2},
    "GPU": {"dbp15k/zh_en": 1.8, "dbp15k/ja_en": 1.7, "dbp15k/fr_en": 1.8},
}
"""Seconds to solve, by what it ran on."""

RUN_SECONDS: dict[str, RunSeconds] = {
    "GCN-Align": RunSeconds(103, 87),
    "MuGNN": RunSeconds(3156, 2215),
    "BootEA": RunSeconds(4661, 2659),
    "MRAEA": RunSeconds(3894, 1248),
    "GM-Align": RunSeconds(26328, 13032),
    "RDGCN": RunSeconds(6711, 886),
    "HGCN": RunSeconds(11275, 2504),
    "SEU, CPU": RunSeconds(22.1, 13.8),
    "SEU, GPU": RunSeconds(16.2, 9.6),
}

ADJACENCY: dict[str, dict[str, AdjacencyScores]] = {
    "plain": {
        "dbp15k/zh_en": AdjacencyScores(0.890, 0.915),
        "dbp15k/ja_en": AdjacencyScores(0.952, 0.965),
        "dbp15k/fr_en": AdjacencyScores(0.985, 0.989),
    },
    "random-walk": {
        "dbp15k/zh_en": AdjacencyScores(0.891, 0.916),
        "dbp15k/ja_en": AdjacencyScores(0.953, 0.966),
        "dbp15k/fr_en": AdjacencyScores(0.985, 0.988),
    },
    "laplacian": {
        "dbp15k/zh_en": AdjacencyScores(0.887, 0.912),
        "dbp15k/ja_en": AdjacencyScores(0.953, 0.965),
        "dbp15k/fr_en": AdjacencyScores(0.984, 0.987),
    },
    "relational": {
        "dbp15k/zh_en": AdjacencyScores(0.900, 0.924),
        "dbp15k/ja_en": AdjacencyScores(0.956, 0.969),
        "dbp15k/fr_en": AdjacencyScores(0.988, 0.992),
    },
}
"""Hybrid features; by our name of the matrix, then by dataset."""

LATER: dict[str, dict[str, float]] = {
    "FGWEA": dict(zip(DATASETS, (0.959, 0.982, 0.994, 0.996, 0.997), strict=True)),
    "LightEA, 30% seeds": dict(zip(DATASETS, (0.952, 0.981, 0.998, 0.996, 0.988), strict=True)),
}
"""Hits@1 of later systems: FGWEA (Findings of ACL 2023) is the best that needs no seeds, LightEA
(EMNLP 2022) is told 30% of the links."""
LATER_NOTE = (
    "FGWEA (Findings of ACL 2023) is the best published system that needs no seeds; it uses "
    "transformers for the names and a GPU for 215 to 547 seconds, and on SRPRS untranslated names. "
    "LightEA (EMNLP 2022) is told 30% of the links. "
)
