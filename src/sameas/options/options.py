"""Options: every choice about an alignment, each declared, checked and explained in one place.

The flags of the command line are made from these fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from sameas.errors import OptionError
from sameas.options.declare import BYTES, Size, check, wrong

Cardinality = Literal["one-to-one", "one-to-many", "many-to-one", "many-to-many"]
Adjacency = Literal["relational", "plain", "random-walk", "laplacian"]
Features = Literal["char", "word", "hybrid", "multilingual"]
Languages = Literal["auto", "none"]
Method = Literal["seu", "paris"]
Preset = Literal["best", "paper"]
Solver = Literal["sinkhorn", "hungarian"]
Text = Literal["weighted", "plain"]
TextPart = Literal["folding", "numbers", "sounds", "boundaries", "rarity"]
GraphPart = Literal["namesakes", "votes", "lacking", "relations", "weights"]
LanguagePart = Literal["glosses", "encoder", "dictionary"]
Part = Literal[TextPart, GraphPart, LanguagePart]
"""What ``best`` adds to the method as published."""

INPUTS = ("seeds", "reject", "among", "embeddings", "word_vectors", "dictionary")
PARIS_OPTIONS = frozenset({"method", "iterations", "top", "memory", "min_confidence", "among"})
"""The options and inputs that PARIS uses."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to align. The defaults are the preset "best".

    Options:
      method: Names spread over the graph (seu), or a second opinion: PARIS.
      features: What names are turned into: character n-grams, word vectors, or both; or n-grams
        with all that is installed for other languages, whatever the names look like.
      languages: If the two graphs' names are in different languages, use what is installed for
        them (auto), or compare spelling alone (none).
      encoder DIR: Compare names by this sentence encoder too: a folder with an ONNX model and its
        tokenizer.json, or with a model of sentence-transformers.
      text: N-grams: folded trigrams weighted by rarity, or plain bigrams as published.
      adjacency: How neighbours are weighted.
      depth: How many hops features are spread over the graph.
      exact_hops: Compare neighbours by exact rows instead of sketches; needs much more memory.
      solver: Soft assignment, or the exact one.
      iterations: Rounds of Sinkhorn, or of PARIS.
      temperature: How soft Sinkhorn's plan is.
      rounds: Rounds of refinement by linked neighbours; 0 for none.
      without PART: Leave out a part of the preset best, to see what it contributes: folding,
        numbers, sounds, boundaries, rarity, namesakes, votes, lacking, relations, weights, glosses,
        encoder, dictionary; can be repeated.
      cardinality: How many partners a left and a right entity may have: one-to-many if the right
        graph holds things twice.
      candidates K: Partners considered for each entity, from both sides; small problems take all.
      gap: Let the exact solver stop once proven to be within this share of the optimum.
      time_limit SECONDS: Stop the exact solver after so many seconds, with what it has proven by
        then.
      top N: Ranked candidates kept for each left entity.
      memory SIZE: Memory ceiling, such as 4G or 512M; what does not fit is refused at the start.
      min_confidence: Links less certain than this are dropped; the preset paper keeps all.
      max_error SHARE: Keep only so many of the surest links that no larger share of them is
        expected to be wrong, such as 0.01.
      no_audit: Leave out the audit by decoys: no estimates of errors, confidence as in the plan.
    """

    method: Method = "seu"
    features: Features = "char"
    languages: Languages = "auto"
    encoder: Path | None = None
    text: Text = "weighted"
    adjacency: Adjacency = "relational"
    depth: Annotated[int, "from 0 to 20"] = 2
    exact_hops: bool = False
    solver: Solver = "sinkhorn"
    iterations: Annotated[int, "from 0 to 10000"] = 10
    temperature: Annotated[float, "above 0.0"] = 0.02
    rounds: Annotated[int, "from 0 to 1000"] = 4
    without: tuple[Part, ...] = ()
    cardinality: Cardinality = "one-to-one"
    candidates: Annotated[int, "of at least 1"] = 50
    gap: Annotated[float, "from 0.0 below 1.0"] = 0.0
    time_limit: Annotated[float, "above 0.0"] | None = None
    top: Annotated[int, "from 1 to 1000"] = 10
    memory: Size = 4 * 2**30
    min_confidence: Annotated[float, "from 0.0 to 1.0"] = 0.5
    max_error: Annotated[float, "above 0.0 below 1.0"] | None = None
    no_audit: bool = False

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
    """Where the work is done.

    Options:
      engine: Work in threads of one process, or on a Dask cluster (sameas[dask]).
      scheduler: The Dask cluster to use, such as tcp://host:8786; else one is started here.
      workers N: Worker processes of the cluster started here; one a core.
      worker_memory SIZE: Memory of each of these workers, such as 2G.
    """

    engine: Literal["threads", "dask"] = "threads"
    scheduler: str | None = None
    workers: Annotated[int, "of at least 1"] | None = None
    worker_memory: Annotated[int, f"of at least {2**20}", BYTES] | None = None

    def __post_init__(self) -> None:
        """Refuse values that cannot be used, and options that have no effect with the others."""
        check(self)
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
        names = ("seeds", "reject", "cardinality", "exact_hops", "max_error", "no_audit")
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
