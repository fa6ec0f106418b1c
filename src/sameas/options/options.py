"""Options: every choice about an alignment, each declared, checked and explained in one place.

The flags of the command line are made from these fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from sameas.errors import OptionError
from sameas.options.declare import Option, check, wrong

Cardinality = Literal["one-to-one", "one-to-many", "many-to-one", "many-to-many"]
Adjacency = Literal["relational", "plain", "random-walk", "laplacian"]
Features = Literal["char", "word", "hybrid", "multilingual"]
Languages = Literal["auto", "none"]
Method = Literal["seu", "paris"]
Preset = Literal["best", "paper"]
Side = Literal["left", "right"]
Solver = Literal["sinkhorn", "hungarian"]
Text = Literal["weighted", "plain"]
TextPart = Literal["folding", "numbers", "sounds", "boundaries", "rarity"]
GraphPart = Literal["namesakes", "votes", "lacking", "relations", "weights"]
LanguagePart = Literal["glosses", "encoder", "dictionary"]
Part = Literal[TextPart, GraphPart, LanguagePart]
"""What ``best`` adds to the method as published."""

INPUTS = ("seeds", "reject", "among", "embeddings", "word_vectors", "dictionary", "since")
PARIS_OPTIONS = frozenset({"method", "iterations", "top", "memory", "min_confidence", "among"})
"""The options and inputs that PARIS uses."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to align. The defaults are the preset "best"."""

    method: Annotated[
        Method, Option("Names spread over the graph (seu), or a second opinion: PARIS.")
    ] = "seu"
    features: Annotated[
        Features,
        Option(
            "What names are turned into: character n-grams, word vectors, or both; or n-grams "
            "with all that is installed for other languages, whatever the names look like."
        ),
    ] = "char"
    languages: Annotated[
        Languages,
        Option(
            "If the two graphs' names are in different languages, use what is installed for them "
            "(auto), or compare spelling alone (none)."
        ),
    ] = "auto"
    encoder: Annotated[
        Path | None,
        Option(
            "Compare names by this sentence encoder too: a folder with an ONNX model and its "
            "tokenizer.json, or with a model of sentence-transformers.",
            metavar="DIR",
        ),
    ] = None
    text: Annotated[
        Text, Option("N-grams: folded trigrams weighted by rarity, or plain bigrams as published.")
    ] = "weighted"
    adjacency: Annotated[Adjacency, Option("How neighbours are weighted.")] = "relational"
    depth: Annotated[
        int, Option("How many hops features are spread over the graph.", least=0, most=20)
    ] = 2
    exact_hops: Annotated[
        bool,
        Option("Compare neighbours by exact rows instead of sketches; needs much more memory."),
    ] = False
    solver: Annotated[Solver, Option("Soft assignment, or the exact one.")] = "sinkhorn"
    iterations: Annotated[int, Option("Rounds of Sinkhorn, or of PARIS.", least=0, most=10000)] = 10
    temperature: Annotated[float, Option("How soft Sinkhorn's plan is.", above=0.0)] = 0.02
    rounds: Annotated[
        int, Option("Rounds of refinement by linked neighbours; 0 for none.", least=0, most=1000)
    ] = 4
    without: Annotated[
        tuple[Part, ...],
        Option(
            "Leave out a part of the preset best, to see what it contributes: folding, numbers, "
            "sounds, boundaries, rarity, namesakes, votes, lacking, relations, weights, glosses, "
            "encoder, dictionary; can be repeated.",
            metavar="PART",
        ),
    ] = ()
    cardinality: Annotated[
        Cardinality,
        Option(
            "How many partners a left and a right entity may have: one-to-many if the right graph "
            "has duplicates."
        ),
    ] = "one-to-one"
    candidates: Annotated[
        int,
        Option(
            "Partners considered for each entity, from both sides; small problems take all.",
            metavar="K",
            least=1,
        ),
    ] = 50
    gap: Annotated[
        float,
        Option(
            "Let the exact solver stop once proven to be within this share of the optimum.",
            least=0.0,
            below=1.0,
        ),
    ] = 0.0
    time_limit: Annotated[
        float | None,
        Option(
            "Stop the exact solver after so many seconds, with what it has proven by then.",
            metavar="SECONDS",
            above=0.0,
        ),
    ] = None
    top: Annotated[
        int, Option("Ranked candidates kept for each left entity.", metavar="N", least=1, most=1000)
    ] = 10
    memory: Annotated[
        int,
        Option(
            "Memory ceiling, such as 4G or 512M; what does not fit is refused at the start.",
            metavar="SIZE",
            least=1,
            is_size=True,
        ),
    ] = 4 * 2**30
    min_confidence: Annotated[
        float,
        Option(
            "Links less certain than this are dropped; the preset paper keeps all.",
            least=0.0,
            most=1.0,
        ),
    ] = 0.5
    max_error: Annotated[
        float | None,
        Option(
            "Drop the least certain links until the expected share of wrong ones is at most this, "
            "such as 0.01.",
            metavar="SHARE",
            above=0.0,
            below=1.0,
        ),
    ] = None
    no_audit: Annotated[
        bool,
        Option("Leave out the audit by decoys: no estimates of errors, confidence as in the plan."),
    ] = False

    def __post_init__(self) -> None:
        """Refuse values that cannot be used, and options that have no effect with the others."""
        check(self)
        changed = (name for name, value in DEFAULTS.items() if getattr(self, name) != value)
        refuse_unused(self, changed)
        if self.features == "multilingual" and not compares_languages(self):
            raise OptionError(
                "`features` multilingual needs `text` weighted and at least one of `rounds`"
            )

    @property
    def single(self) -> tuple[bool, bool]:
        """Whether a left, and whether a right entity has one partner at most."""
        left, right = self.cardinality.split("-to-")
        return right == "one", left == "one"

    def asdict(self) -> dict[str, Any]:
        """The options as plain values that JSON can hold."""
        encoder = None if self.encoder is None else str(self.encoder.absolute())
        return {**asdict(self), "without": list(self.without), "encoder": encoder}


DEFAULTS = {field.name: field.default for field in fields(Options)}


@dataclass(frozen=True, kw_only=True)
class Where:
    """Where the work is done."""

    engine: Annotated[
        Literal["threads", "dask"],
        Option("Work in threads of one process, or on a Dask cluster (sameas[dask])."),
    ] = "threads"
    scheduler: Annotated[
        str | None,
        Option("The Dask cluster to use, such as tcp://host:8786; else one is started here."),
    ] = None
    workers: Annotated[
        int | None,
        Option("Worker processes of the cluster started here; one a core.", metavar="N", least=1),
    ] = None
    worker_memory: Annotated[
        int | None,
        Option(
            "Memory of each of these workers, such as 2G.",
            metavar="SIZE",
            least=2**20,
            is_size=True,
        ),
    ] = None

    device: Annotated[
        Literal["cpu", "gpu"],
        Option("Do dense work on this processor, or on a GPU or TPU (sameas[gpu])."),
    ] = "cpu"

    def __post_init__(self) -> None:
        """Refuse values that cannot be used, and options that have no effect with the others."""
        check(self)
        if self.engine == "dask" and self.device == "gpu":
            raise OptionError("`device` gpu has no effect here: `engine` dask works elsewhere")
        for name in ("scheduler", "workers", "worker_memory"):
            if getattr(self, name) is None:
                continue
            if self.engine != "dask":
                raise OptionError(f"`{name}` has no effect here: it is for `engine` dask")
            if name != "scheduler" and self.scheduler is not None:
                raise OptionError(
                    f"`{name}` has no effect here: the cluster of `scheduler` has its workers"
                )


def compares_languages(options: Options) -> bool:
    """Whether names of different languages can be compared by more than their spelling."""
    ngrams = options.text == "weighted" and options.features in ("char", "multilingual")
    return ngrams and options.rounds > 0 and options.method == "seu"


def refuse_unused(options: Options, given: Iterable[str], *, embeddings: bool = False) -> None:
    """Raise an OptionError if one of the options and inputs ``given`` has no effect.

    ``embeddings`` says that feature rows were given, which take the place of names.
    """
    unused = without_effect(options, embeddings=embeddings)
    for name in given:
        if name in unused:
            raise OptionError(f"`{name}` has no effect here: {unused[name]}; leave it out")


def without_effect(options: Options, *, embeddings: bool = False) -> dict[str, str]:
    """The options and inputs that these options make no use of, and why."""
    if options.method == "paris":
        others = {*DEFAULTS, *INPUTS} - PARIS_OPTIONS
        return dict.fromkeys(others, "method 'paris' does not use it")
    unused: dict[str, str] = {}
    if options.solver != "hungarian":
        unused |= dict.fromkeys(("gap", "time_limit"), "it is for `solver` hungarian")
    if not options.rounds:
        reason = "it is used in refinement, and `rounds` is 0"
        names = ("seeds", "reject", "since", "cardinality", "exact_hops", "max_error", "no_audit")
        unused |= dict.fromkeys(names, reason)
    if options.no_audit:
        unused["max_error"] = "it needs the audit, and `no_audit` leaves that out"
    if options.cardinality != "one-to-one":
        unused["solver"] = "it finds links that are one to one, and `cardinality` is another"
    if not compares_languages(options) or options.features == "multilingual":
        unused["languages"] = "it is for weighted n-grams with refinement"
    if not compares_languages(options):
        unused["encoder"] = "it is for weighted n-grams with refinement"
    elif options.languages == "none" or "encoder" in options.without:
        unused["encoder"] = "`languages` or `without` leaves it out"
    if options.features in ("char", "multilingual"):
        unused["word_vectors"] = "it is for `features` word or hybrid"
    if options.features == "word":
        unused["text"] = "it is for `features` char or hybrid"
    if embeddings:
        reason = "`embeddings` take the place of names"
        unused |= dict.fromkeys(
            ("features", "text", "word_vectors", "languages", "encoder"), reason
        )
    no_ngrams = options.text == "plain" or options.features == "word" or embeddings
    if no_ngrams:
        unused["dictionary"] = "it is for weighted n-grams of names, which are not used"
    if no_ngrams and set(options.without) & set(get_args(TextPart)):
        unused["without"] = "it names a part of weighted n-grams, which are not used"
    if not options.rounds and set(options.without) & set(get_args(GraphPart)):
        unused["without"] = "it names a part of refinement, and `rounds` is 0"
    return unused


PRESETS: dict[Preset, Options] = {
    "best": Options(),
    "paper": Options(text="plain", rounds=0, min_confidence=0.0, candidates=200),
}
"""``best`` is the best we know; ``paper`` is the method as published: everything is matched."""


def make_options(preset: Preset = "best", **choices: Any) -> Options:
    """The options of a preset with these changes; an option without effect is refused."""
    if preset not in PRESETS:
        raise wrong("preset", f"one of {', '.join(PRESETS)}", preset)
    for name in choices:
        if name not in DEFAULTS:
            known = ", ".join(sorted(DEFAULTS))
            raise OptionError(f"{name!r} is not an option; options are {known}")
    base = PRESETS[preset]
    if choices.get("method") == "paris":
        base = Options(min_confidence=base.min_confidence)
    if choices.get("features") == "word" and "text" not in choices:
        base = replace(base, text="weighted")
    options = replace(base, **choices)
    refuse_unused(options, choices)
    return options


def recorded_options(values: Mapping[str, Any]) -> Options:
    """The options that a run folder records, without the one that names something to be loaded."""
    used = DEFAULTS.keys() - {"encoder"}
    return Options(**{name: value for name, value in values.items() if name in used})
