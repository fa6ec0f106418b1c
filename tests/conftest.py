"""Property tests look for new examples on a developer's machine, and repeat themselves in CI."""

import importlib.util
import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


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
