"""Fixtures of several test files.

Property tests look for new examples on a developer's machine, and repeat themselves in CI.
"""

import importlib
import os
import shutil

# One process a core: threads of BLAS that wait for each other would take longer than the work.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import settings

import sameas
from folders import LABEL, named_triples, names_of, openea
from pairs import best_connected
from sameas.compute.kernels.ready import make_ready

# No test depends on how fast the machine is.
settings.register_profile("local", deadline=None, max_examples=30)
settings.register_profile("ci", deadline=None, max_examples=30, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


@pytest.fixture(scope="session", autouse=True)
def compiled_kernels():
    """Kernels are compiled before the first test: no test is told about it, or waits for it."""
    make_ready()


@pytest.fixture(autouse=True, scope="session")
def never_kept():
    """No phase is long enough to be kept, however slow the machine is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sameas.pipeline.checkpoint.WORTH_SECONDS", float("inf"))
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
    return best_connected(demo)


@pytest.fixture(scope="session")
def tiny(demo):
    """A smaller part."""
    return best_connected(demo, 120, 25)


@pytest.fixture(scope="session")
def part(tiny, tmp_path_factory):
    """That part as a folder, for the command line."""
    sides = tiny.left, tiny.right
    left, right = (named_triples(side) for side in sides)
    labels = [[(one, LABEL, name) for one, name in names_of(side).items()] for side in sides]
    folder = tmp_path_factory.mktemp("part") / "part"
    return openea(folder, left=left, right=right, gold=tiny.gold.rows(), attributes=labels)


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A folder with the pair of a few entities, and its run."""
    folder = tmp_path_factory.mktemp("finished")
    sameas.write(sameas.align(openea(folder / "pair")), folder / "run")
    return folder


@pytest.fixture
def a_run(finished, tmp_path):
    """A copy of that run, beside the pair in the test's folder."""
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    return tmp_path / "run"


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
    return importlib.import_module("benchmarks.generate")
