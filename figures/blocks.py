"""The text of each block: a function of the results."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatch
from itertools import pairwise
from statistics import fmean
from types import ModuleType
from typing import Any

from benchmarks import tables
from benchmarks.decisions.audited import audit_page
from experiments.experiments import ERRORS, SEEDS
from experiments.figures import DATASETS, published, title
from experiments.plots import Panel, draw
from experiments.rendering import NOTHING, count, score
from experiments.report import specification
from figures.filling import Block
from figures.markdown import fenced, table
from figures.results import ROOT, Results, Values
from figures.scale import SCALE
from sameas.options import tuning

THIRTEEN = (
    *("anatomy", "conference-cmt", "dh-arch1_defc-pactols", "dh-cult2_oeai-parthenos"),
    *("dh-dhcs1_dha-unesco", "doremus-4het", "person1", "person1-opaque", "person2"),
    *("restaurants-opaque", "sabine-linking", "spimbench-small", "yago-wikidata-small"),
)
"""The pairs that the choices in the method were made with."""
METHODS = {"best": "**`best`**", "PARIS": "PARIS", "equal labels": "equal labels"}


def scores(values: Values, *names: str) -> str:
    """Some scores of a case with slashes between them."""
    return " / ".join(score(values.get(name)) for name in names)


# Benchmark datasets


def by_dataset(show: Callable[[str], str]) -> list[str]:
    """A cell for each of the paper's datasets."""
    return [show(key) for key in DATASETS]


def published_scores(key: str) -> str:
    """Hits@1 and MRR of the paper's char row."""
    chosen = published().filter(experiment="main", variant="SEU char", dataset=key)
    values = dict(zip(chosen["metric"], chosen["value"], strict=True))
    return scores(values, "hits@1", "mrr")


def mean_of_halves(values: Values, name: str) -> float | None:
    """The mean of a value over the hidden halves."""
    known = [values[half][name] for half in halves(values) if values[half].get(name) is not None]
    return fmean(known) if known else None


def halves(values: Values) -> list[str]:
    """The names of the hidden halves of a case, or "mean" where only their mean is known."""
    return [name for name in (*(f"half {seed}" for seed in SEEDS), "mean") if name in values]


def quality_rows(results: Results) -> dict[str, list[str]]:
    """The rows of the table of quality, by their names."""
    ranked, linked = ("hits@1", "mrr"), ("precision", "recall", "f1")

    def hidden(key: str) -> str:
        values = results.get("hidden", key)
        return scores({name: mean_of_halves(values, name) for name in linked}, *linked)

    def cells(part: str, names: Sequence[str]) -> list[str]:
        return by_dataset(lambda key: scores(results.get(part, key), *names))

    def raw(names: Sequence[str]) -> list[str]:
        return by_dataset(lambda key: scores(results.get("raw", key).get("all", {}), *names))

    return {
        "published (SEU, char), paper protocol": by_dataset(published_scores),
        "`--preset paper`, paper protocol": cells("paper", ranked),
        "**`best`, paper protocol**": cells("best", ranked),
        "**`best`, names not translated**, paper protocol": raw(ranked),
        "**`best`, open protocol**": cells("open", linked),
        "`best`, names not translated, open protocol": raw(linked),
        "**`best`, hidden half**": by_dataset(hidden),
        "PARIS, open protocol": cells("paris", linked),
    }


def quality(results: Results) -> str:
    """All rows of the table of quality."""
    rows = [[name, *cells] for name, cells in quality_rows(results).items()]
    parts = ("paper", "best", "open", "hidden", "paris", "raw")
    return f"{table(['', *map(title, DATASETS)], rows)}\n\n{results.origin(*parts)}"


def calibration(results: Results) -> str:
    """The largest calibration error in the open protocol."""
    errors = [values.get("calibration_error") for values in results["open"].values()]
    known = [error for error in errors if error is not None]
    worst = score(max(known)) if known else NOTHING
    return (
        "The expected calibration error, the mean difference between confidence and the share of "
        f"correct links, is at most {worst} in the open protocol on these datasets."
    )


# Real RDF


def real_values(results: Results) -> dict[str, Values]:
    """The values of all pairs by the name of their folder, the 13 first."""
    every = {**results["real"], **results["large"]}
    names = {key.removeprefix("real/"): values for key, values in every.items()}
    order = [name for name in THIRTEEN if name in names]
    return {name: names[name] for name in (*order, *sorted(names.keys() - set(THIRTEEN)))}


def f1_of(values: Values, method: str) -> float | None:
    """The F1 of a method on a pair: 0 where it failed, None where it was not tried."""
    if method not in values:
        return None
    return float(values[method].get("f1", 0.0))


def mean_f1(pairs: Iterable[Values], method: str) -> float | None:
    """The mean F1 of a method over the pairs where it is known."""
    known = [value for value in (f1_of(pair, method) for pair in pairs) if value is not None]
    return fmean(known) if known else None


def real(results: Results) -> str:
    """F1 on all pairs, and the means."""
    pairs = real_values(results)
    texts = next(
        part["published"]
        for section in specification()["sections"]
        for part in section["parts"]
        if "pairs" in part
    )
    rows = []
    for name, values in pairs.items():
        quoted = [text for pattern, text in texts.items() if fnmatch(name, pattern)]
        links = values.get("", {}).get("links")
        cells = [
            values[method]["error"]
            if "error" in values.get(method, {})
            else score(f1_of(values, method))
            for method in METHODS
        ]
        rows.append([name, NOTHING if links is None else count(links), *cells, *(quoted or [""])])
    first = [pairs[name] for name in THIRTEEN if name in pairs]
    groups = {
        f"**mean of the first {len(first)}**": first,
        f"**mean of {len(pairs)}**": [*pairs.values()],
    }
    for name, chosen in groups.items():
        rows.append([name, "", *(score(mean_f1(chosen, method)) for method in METHODS), ""])
    header = ["pair", "gold links", *METHODS.values(), "published F1"]
    note = "In the means, a pair that a method failed on counts as 0."
    return f"{table(header, rows)}\n\n{note} {results.origin('real', 'large')}"


def records(results: Results) -> str:
    """Links between tables: strict precision, recall and F1."""
    rows = [
        [
            name,
            count(values["gold"]),
            *(score(values[key]) for key in ("precision", "recall", "f1")),
        ]
        for name, values in sorted(results["records"].items())
    ]
    header = ["tables", "gold links", "precision", "recall", "**F1**"]
    return f"{table(header, rows)}\n\n{results.origin('records')}"


def duplicates(results: Results) -> str:
    """Duplicates within one table: pairs and whole clusters."""
    keys = ("pairwise_precision", "pairwise_recall", "pairwise_f1", "cluster_f1")
    rows = [
        [name, *(score(values[key]) for key in keys)]
        for name, values in sorted(results["duplicates"].items())
    ]
    header = ["table", "precision of pairs", "recall of pairs", "**F1 of pairs**", "F1 of clusters"]
    return f"{table(header, rows)}\n\n{results.origin('duplicates')}"


def peers(results: Results) -> str:
    """Duplicates found by sameas and by others, in one run."""
    cases = {name: tools for name, tools in results["peers"].items() if name != "versions"}
    rows = [
        [name, tool, *_peer_figures(figures)]
        for name, tools in cases.items()
        for tool, figures in tools.items()
    ]
    versions = ", ".join(f"{k} {v}" for k, v in results.get("peers", "versions").items())
    header = ["data", "tool", "pairs found", "precision", "recall", "**F1**", "s", "CPU s", "GiB"]
    return f"{table(header, rows)}\n\n{versions}. {results.origin('peers')}"


def _peer_figures(figures: dict[str, Any]) -> list[str]:
    """The figures of one tool as texts; a dash where there is no gold."""
    if "failed" in figures:
        return [figures["failed"].splitlines()[-1][:60], *[""] * 6]
    scores = [score(figures[key]) if key in figures else "-" for key in SCORES_OF_PAIRS]
    taken = [f"{figures['seconds']:.1f}", f"{figures['cpu_seconds']:.1f}", f"{figures['gib']:.2f}"]
    return [f"{figures['pairs']:,}", *scores, *taken]


SCORES_OF_PAIRS = ("precision", "recall", "f1")


# Speed and scale

SCALES = (
    ("ladder", "100k", "100,000"),
    ("ladder-long", "1M", "a million"),
    ("ladder-long", "3M", "three million"),
)
"""Generated pairs that the README shows: part, case, and the size in words."""
YARDSTICKS = {"best": "yardstick", "paper": "yardstick", "exact": "yardstick, exact"}


def summary(results: Results) -> str:
    """How good and how fast it is, in one small table for the README."""
    shown_keys = DATASETS[:3]
    named = ", ".join(title(key) for key in shown_keys)

    def of(part: str, name: str) -> str:
        return " / ".join(score(results.get(part, key).get(name)) for key in shown_keys)

    seu = " / ".join(published_scores(key).partition(" / ")[0] for key in shown_keys)
    pairs = real_values(results)
    means = {method: score(mean_f1(pairs.values(), method)) for method in METHODS}
    rows = [
        [f"{named}: Hits@1, paper protocol", of("best", "hits@1"), f"SEU as published {seu}"],
        ["the same as whole graphs: F1", of("open", "f1"), f"PARIS {of('paris', 'f1')}"],
        [
            f"{len(pairs)} real pairs of RDF files: mean F1",
            means["best"],
            f"PARIS {means['PARIS']}, equal labels {means['equal labels']}",
        ],
        *summary_of_records(results),
        *summary_of_speed(results),
    ]
    quality_parts = ("best", "open", "paris", "real", "large", "records", "duplicates")
    parts = (*quality_parts, "speed", "ladder", "ladder-long")
    return f"{table(['', '**sameas**', 'for comparison'], rows)}\n\n{results.origin(*parts)}"


def summary_of_records(results: Results) -> list[list[str]]:
    """Tables: links between two of them, duplicates within one."""
    rows = []
    for part, key, words in (
        ("records", "f1", "two tables of records: F1 of links"),
        ("duplicates", "pairwise_f1", "duplicates in a table: F1 of pairs"),
    ):
        known = sorted(results[part].items())
        cells = [f"{name} {score(values[key])}" for name, values in known]
        rows += [[words, ", ".join(cells), ""]] if cells else []
    return rows


def summary_of_speed(results: Results) -> list[list[str]]:
    """Seconds and memory against the yardstick, and of large generated pairs."""
    rows = []

    def taken(seconds: float, size: float) -> str:
        time = f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.1f} minutes"
        return f"{time}, {size / 2**30:.1f} GiB"

    if speed_values := results.get("speed", "dbp15k/zh_en"):
        runs = speed_values["runs"]
        cells = [
            taken(runs[name]["median_seconds"], runs[name]["peak_memory_bytes"])
            for name in ("best", "yardstick")
        ]
        ratio = tables.ratio(runs["best"]["ratio"])
        plain = f"the paper's procedure written plainly {cells[1]}"
        rows.append(["DBP15K zh-en, the whole command", f"{cells[0]} ({ratio})", plain])
    for part, name, words in SCALES:
        if run := results.get(part, name):
            cell = taken(run["total_seconds"], run["peak_memory_bytes"])
            rows.append(
                [f"{words} generated entities a side", f"{cell}, F1 {score(run['f1'])}", ""]
            )
    return rows


def serving(results: Results) -> str:
    """How good and how fast the reconciliation service is."""
    values = results.get("serving", "srprs/fr_en")
    if not values:
        return results.origin("serving")
    return (
        f"The {values['queries']:,} left names of SRPRS fr-en (from URIs), asked as names alone in "
        f"batches of {values['batch']} against the right graph: the first candidate is correct "
        f"for {values['hits@1']:.1%}, one of ten for {values['hits@10']:.1%}; "
        f"{values['matches']:,} have `match`, of which {values['matches_right']:.1%} are correct. "
        f"A query takes {values['server_cpu_milliseconds_a_query']:.1f} ms of one core "
        f"(`python -m benchmarks.reconciling`). {results.origin('serving')}"
    )


# The audit


def audit_table(results: Results) -> str:
    """What the audit estimates, beside the truth."""

    def mean(name: str) -> list[str]:
        return by_dataset(lambda key: score(mean_of_halves(results.get("hidden", key), name)))

    def wrong(share: float) -> list[str]:
        def cell(key: str) -> str:
            values = results.get("hidden", key)
            each = [values[half][f"error {share:g}"] for half in halves(values)]
            worst = f" ({score(max(each))})" if len(each) > 1 else ""
            return f"{score(fmean(each))}{worst}" if each else NOTHING

        return by_dataset(cell)

    rows = [
        ["precision, estimated", *mean("estimate")],
        ["the same, of links that gold can judge", *mean("judged")],
        ["precision, true", *mean("precision")],
        ["recall, estimated", *mean("recall_estimate")],
        ["recall, true (of gold)", *mean("recall")],
        ["left without counterpart, estimated", *mean("left_without")],
        ["the same, nearly true", *mean("left_without_true")],
        *(
            [f"wrong of `--max-error` {score(share)[:3]} (worst half)", *wrong(share)]
            for share in ERRORS
        ),
        ["F1", *mean("f1")],
    ]
    return f"{table(['', *map(title, DATASETS)], rows)}\n\n{results.origin('hidden')}"


def bins_of(values: Values) -> dict[str, Values]:
    """The intervals of confidence of a case, by their middle."""
    return {name: each for name, each in values.items() if not name.startswith(("half", "mean"))}


def audit_bins(results: Results) -> str:
    """How far confidence is from the share of correct links."""
    rows = []
    for key in DATASETS:
        found = [
            abs(each["confidence"] - each["accuracy"])
            for middle, each in bins_of(results.get("hidden", key)).items()
            if float(middle) > 0.5 and each.get("count", 0) >= 100 and "confidence" in each
        ]
        if found:
            rows.append([title(key), score(fmean(found)), score(max(found))])
    if not rows:
        return results.origin("hidden-bins")
    header = ["", "mean difference", "largest difference"]
    return f"{table(header, rows)}\n\n{results.origin('hidden')}"


def audit_bench(results: Results) -> str:
    """What the audit says and what is true, on all tasks of the bench of decisions."""
    return f"{audit_page(results['audit'])}\n\n{results.origin('audit')}"


def audit_summary(results: Results) -> str:
    """What ``sameas align`` says about its links."""
    text = results.get("explain", "demo").get("align", "")
    names = ("correct links", "right links", "missed", "no counterpart", "worse than most")
    lines = [line for line in text.splitlines() if line.strip().startswith(names)]
    return fenced("\n".join(lines))


def draw_plots(results: Results) -> None:
    """Draw docs/audit.svg, where all that it shows was measured."""
    panels = []
    for key in DATASETS:
        bins = bins_of(results.get("hidden", key))
        series = {
            label: {
                each[f"confidence{suffix}"]: each[f"accuracy{suffix}"]
                for each in bins.values()
                if each.get(f"count{suffix}", 0) >= 20
            }
            for label, suffix in (("with the audit", ""), ("before", "_before"))
        }
        if series["with the audit"]:
            axes = {"xlabel": "confidence", "ylabel": "share correct", "xlim": (0.45, 1.02)}
            panels.append(
                Panel("lines", series, title=title(key), axes=axes, diagonal=True, ticks=1)
            )
    if len(panels) == len(DATASETS):
        draw(ROOT / "docs", "audit", panels, height=2.4, columns=2)
        (ROOT / "docs" / "audit.png").unlink()


# Languages


def languages_raw(results: Results) -> str:
    """Untranslated names: each ingredient alone, and all."""
    names = {
        **{"spelling": "spelling alone", "glosses": "glosses", "encoder": "encoder"},
        **{"dictionary": "learned dictionary", "all": "all"},
    }
    rows = []
    for key in DATASETS:
        values = results.get("raw", key)
        for metric, words in (("hits@1", "Hits@1, paper protocol"), ("f1", "F1, open protocol")):
            cells = [score(values.get(name, {}).get(metric)) for name in names]
            if set(cells) != {NOTHING}:
                rows.append([f"{title(key)}: {words}", *cells])
    origin = f"{resources_of(results['raw'].values())}{results.origin('raw')}"
    return f"{table(['', *names.values()], rows)}\n\n{origin}"


def resources_of(values: Iterable[Values]) -> str:
    """Which dictionaries and encoders were installed, as a sentence, where that is known."""
    names = dict.fromkeys(name for each in values for name in each.get("installed", ()))
    return f"Installed: {', '.join(names)}. " if names else ""


def languages_both(results: Results) -> str:
    """Names of the URIs and translations together."""
    both, best = (results.get(part, "dbp15k/zh_en").get("hits@1") for part in ("both", "best"))
    return (
        "With the names of the URIs first and their translations as further names, Hits@1 of "
        f"zh-en is {score(both)}, where translated names alone give {score(best)}. "
        f"{results.origin('both', 'best', cases=['dbp15k/zh_en'])}"
    )


def languages_seconds(results: Results) -> str:
    """How long it takes to encode names."""
    taken = results.get("raw", "dbp15k/zh_en").get("encoder", {}).get("encoding_seconds")
    seconds = NOTHING if taken is None else f"{taken:.0f}"
    return (
        f"To encode the names of zh-en takes {seconds} seconds the first time; then they are "
        f"in the cache. {results.origin('raw', cases=['dbp15k/zh_en'])}"
    )


def territories(results: Results) -> str:
    """The share of territories that are found by their name."""
    measured = results.get("territories", "table")
    values = {name: row for name, row in measured.items() if name != "installed"}
    ways = list(next(iter(values.values()), {}))
    rows = [
        [name, f"{row['territories']:g}", *(f"{row[way]:.2f}" for way in ways[1:])]
        for name, row in values.items()
    ]
    origin = f"{resources_of([measured])}{results.origin('territories')}"
    return f"{table(['language', *ways], rows)}\n\n{origin}"


# Text that commands print


def demo(results: Results) -> str:
    """What ``sameas demo`` prints."""
    return fenced(results.get("demo", "text").get("text", ""))


def explained(pair: str, name: str, *, until: str = "") -> Block:
    """What ``sameas explain`` prints, whole or until a line."""

    def block(results: Results) -> str:
        text: str = results.get("explain", pair).get(name, "")
        return fenced(text.partition(f"\n{until}")[0] if until else text)

    return block


def explanation_seconds(results: Results) -> str:
    """How long explanations take."""
    told = []
    for case, words in (("demo", "the demo"), ("dbp15k/zh_en", "DBP15K zh-en")):
        taken = results.get("explain", case).get("seconds")
        if taken:
            further = max(taken[1:])
            told.append(f"{taken[0]:.1f} seconds on {words}, each further one {further:.2f}")
    return (
        "The first explanation of an alignment computes features and evidence for the whole pair "
        f"of graphs: {'; '.join(told)} (processor time). {results.origin('explain')}"
    )


def descriptions(module: ModuleType) -> dict[tuple[str, str], str]:
    """The text below each field of the classes of a module, by class and field."""
    texts = {}
    for node in ast.parse(inspect.getsource(module)).body:
        body = node.body if isinstance(node, ast.ClassDef) else []
        for named, text in pairwise(body):
            if isinstance(named, ast.AnnAssign) and isinstance(text, ast.Expr):
                assert isinstance(node, ast.ClassDef)
                words = " ".join(str(ast.literal_eval(text.value)).split())
                texts[node.name, ast.unparse(named.target)] = words
    return texts


def numbers_of_tuning(results: Results) -> str:
    """Every number of the tuning, a table for each stage."""
    texts, stages = descriptions(tuning), dict[str, list[list[str]]]()
    for number in tuning.numbers():
        stage = type(getattr(tuning.TUNING, number.stage)).__name__
        value = f"{number.value:,}" if isinstance(number.value, int) else f"{number.value}"
        about = texts.get((stage, number.name), "")
        origin = f"{number.origin}: {number.source}"
        cells = [f"`{number.name}`", value, number.unit, about, origin]
        stages.setdefault(number.stage, []).append(cells)
    header = ["number", "value", "unit", "what it is", "origin"]
    parts = [f"## {name.capitalize()}\n{table(header, rows)}" for name, rows in stages.items()]
    origins = Counter(number.origin for number in tuning.numbers())
    counts = ", ".join(f"{count} {origin}" for origin, count in origins.most_common())
    total = f"{origins.total()} numbers in {len(stages)} stages: {counts}."
    return "\n\n".join([total, *parts])


BLOCKS: Mapping[str, Block] = {
    **SCALE,
    "quality": quality,
    "calibration": calibration,
    "real": real,
    "records": records,
    "duplicates": duplicates,
    "peers": peers,
    "summary": summary,
    "serving": serving,
    "audit-table": audit_table,
    "audit-bins": audit_bins,
    "audit-bench": audit_bench,
    "audit-summary": audit_summary,
    "languages-raw": languages_raw,
    "languages-both": languages_both,
    "languages-seconds": languages_seconds,
    "territories": territories,
    "numbers": numbers_of_tuning,
    "demo": demo,
    "explain-short": explained("demo", "amharique", until="Names:"),
    "explain-londres": explained("demo", "londres"),
    "explain-cup": explained("dbp15k/zh_en", "cup"),
    "explain-han": explained("dbp15k/zh_en", "han"),
    "explanation-seconds": explanation_seconds,
}
"""The function that makes each block."""
