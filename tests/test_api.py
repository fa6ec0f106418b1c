"""The public names, their docstrings, and the examples in them."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest

import sameas

MODULES = sorted(module.name for module in pkgutil.walk_packages(sameas.__path__, prefix="sameas."))

PUBLIC = {
    "Alignment",
    "Calibration",
    "DEMO",
    "Explanation",
    "Graph",
    "GraphPair",
    "InputError",
    "MemoryCeilingError",
    "Metrics",
    "OptionError",
    "Options",
    "OutputError",
    "Reading",
    "PRESETS",
    "SameasError",
    "__version__",
    "align",
    "calibration",
    "evaluate",
    "explain",
    "hide_half",
    "read_gold",
    "read_graph",
    "read_links",
    "read_pair",
    "read_run",
    "verify",
    "write",
}


def test_the_exported_names_are_exactly_the_public_ones():
    assert set(sameas.__all__) == PUBLIC
    assert len(sameas.__all__) == len(PUBLIC)
    assert set(dir(sameas)) == PUBLIC


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_public_name_can_be_had(name):
    assert getattr(sameas, name) is getattr(sameas, name)


def test_other_names_are_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        sameas.nonsense  # noqa: B018


def test_every_error_of_ours_is_a_sameas_error():
    for name in PUBLIC:
        value = getattr(sameas, name)
        if inspect.isclass(value) and issubclass(value, Exception):
            assert issubclass(value, sameas.SameasError)


def test_importing_the_package_imports_nothing_heavy():
    code = (
        "import sameas, sys; print([m for m in ('numpy', 'polars', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


def public_members(module):
    """The functions and classes that a module defines itself, and the methods of its classes."""
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
            continue
        if inspect.isfunction(value) or inspect.isclass(value):
            yield name, value
        if inspect.isclass(value):
            for inner, method in vars(value).items():
                if inspect.isfunction(method) and not inner.startswith("_"):
                    yield f"{name}.{inner}", method


@pytest.mark.parametrize("name", ["sameas", *MODULES])
def test_everything_public_has_a_docstring(name):
    module = importlib.import_module(name)
    assert module.__doc__ or name.endswith("_version")
    for member, value in public_members(module):
        assert value.__doc__, f"{name}.{member} has no docstring"


@pytest.mark.parametrize("name", ["sameas", *MODULES])
def test_the_examples_in_docstrings_hold(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0
