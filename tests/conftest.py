"""Fixtures of several test files.

Property tests look for new examples on a developer's machine, and repeat themselves in CI.
"""

import importlib.util
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

import sameas

settings.register_profile("local", deadline=None)  # no test depends on how fast the machine is
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


@pytest.fixture(autouse=True, scope="session")
def never_kept():
    """No phase is long enough to be kept, however slow the machine is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sameas.checkpoint.WORTH_SECONDS", float("inf"))
        yield


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory):
    """Encoded names are kept in a folder of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SAMEAS_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def demo():
    """The pair of graphs that ships with the package."""
    return sameas.read_pair(sameas.DEMO)


@pytest.fixture(scope="session")
def small(demo):
    """The best connected part of the demo; some entities have no counterpart."""
    degrees = np.bincount(demo.right.triples[:, [0, 2]].ravel(), minlength=len(demo.right.entities))
    order = np.argsort(-degrees[demo.right.positions(demo.gold["right"])], kind="stable")
    gold = demo.gold[order[:250]]
    sides = []
    for side, graph in (("left", demo.left), ("right", demo.right)):
        alone = graph.entities.filter(~graph.entities.is_in(demo.gold[side].implode()))
        kept = [*gold[side], *alone.head(50)]
        sides.append(graph.without(graph.entities.filter(~graph.entities.is_in(kept))))
    return sameas.GraphPair(left=sides[0], right=sides[1], gold=gold)


@pytest.fixture(scope="session")
def align_demo(demo):
    """``sameas.align`` of the demo; alignments by the same arguments are made once."""
    return remembered(demo)


@pytest.fixture(scope="session")
def align_small(small):
    """``sameas.align`` of a part of the demo, each once."""
    return remembered(small)


def remembered(pair):
    known = {}

    def align(**choices):
        key = repr(sorted(choices.items()))
        if key not in known:
            known[key] = sameas.align(pair, **choices)
        return known[key]

    return align


@pytest.fixture(scope="module")
def script():
    """The generator of the benchmarks, which is no part of the package."""
    path = Path(__file__).parents[1] / "benchmarks" / "generate.py"
    spec = importlib.util.spec_from_file_location("generate", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["generate"] = module  # dataclasses look for their module there
    spec.loader.exec_module(module)
    yield module
    del sys.modules["generate"]
