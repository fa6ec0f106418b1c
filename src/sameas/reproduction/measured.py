"""What results.json holds, in the order in which a report shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sameas.reproduction import published

FEATURES = {"word": "word", "char": "char", "hybrid": "w+c"}
"""Our names of the features, and the paper's."""


@dataclass(frozen=True)
class Measured:
    """What results.json holds, by experiment and dataset."""

    content: dict[str, Any]

    def entries(self, experiment: str) -> list[dict[str, Any]]:
        """The results of an experiment: the paper's datasets in its order, then the others."""
        order = {key: number for number, key in enumerate(published.DATASETS)}
        names = {name: number for number, name in enumerate(FEATURES)}
        found = [e for e in self.content["results"] if e["experiment"] == experiment]
        return sorted(
            found,
            key=lambda e: (
                order.get(e["dataset"], len(order)),
                e["dataset"],
                names.get(e["settings"].get("features"), len(names)),
            ),
        )

    def figures(self, experiment: str, features: str | None = None) -> dict[str, dict[str, Any]]:
        """The figures of an experiment with these features (if it has any), by dataset."""
        return {
            entry["dataset"]: entry["figures"]
            for entry in self.entries(experiment)
            if features is None or entry["settings"].get("features") == features
        }

    def by_preset(self, experiment: str) -> dict[tuple[str, str], dict[str, dict[str, Any]]]:
        """The figures of an experiment by preset (paper, then best) and features, by dataset."""
        found: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
        for entry in self.entries(experiment):
            settings = entry["settings"]
            kind = settings.get("preset", "paper"), settings.get("features", "char")
            found.setdefault(kind, {})[entry["dataset"]] = entry["figures"]
        return dict(sorted(found.items(), key=lambda item: item[0][0], reverse=True))

    def features(self, experiment: str) -> list[str]:
        """The features that an experiment was run with."""
        used = {entry["settings"].get("features") for entry in self.entries(experiment)}
        return [name for name in FEATURES if name in used]

    def titles(self, *experiments: str) -> dict[str, str]:
        """The datasets of some experiments, with the words that tables call them."""
        entries = [entry for experiment in experiments for entry in self.entries(experiment)]
        known = published.DATASETS
        keys = [key for key in known if any(entry["dataset"] == key for entry in entries)]
        keys += sorted({entry["dataset"] for entry in entries} - set(known))
        return {key: known[key].title if key in known else key for key in keys}

    @property
    def vectors(self) -> str:
        """The word vectors in a few words."""
        vectors = self.content["word_vectors"]
        if vectors is None:
            return "no word vectors"
        return f"word vectors {vectors['file']}, {vectors['dimensions']} dimensions"

    @property
    def comparability(self) -> str:
        """How the word and hybrid rows relate to the published ones, as a sentence."""
        vectors = self.content["word_vectors"]
        if vectors is None:
            return "No word vectors were used, so that there are only char rows."
        if vectors["file"].startswith(published.VECTORS):
            return f"Word and w+c rows use {self.vectors}, like the paper."
        return (
            f"Word and w+c rows use {self.vectors}; the paper's use {published.VECTORS}, so these "
            "rows are not comparable one to one"
            + (", and lie below the paper's." if vectors["dimensions"] < 300 else ".")
        )
