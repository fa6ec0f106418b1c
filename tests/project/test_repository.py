"""What the repository promises about itself: its layout, its version, its chores."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from sameas import __version__

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "sameas"
tomllib = pytest.importorskip("tomllib", reason="needs Python 3.11")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))


def test_the_package_has_at_most_18_entries_at_its_top():
    entries = {path.name for path in PACKAGE.iterdir()} - {"__pycache__"}
    assert len(entries) <= 18, sorted(entries)


def test_there_are_at_most_ten_layers_and_every_entry_is_in_one():
    layers = PROJECT["tool"]["importlinter"]["contracts"][0]["layers"]
    assert len(layers) <= 10
    named = {name for layer in layers for name in re.findall(r"\w+", layer)}
    modules = {path.stem for path in PACKAGE.glob("*.py")}
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert named == modules - {"__init__"} | folders


def test_tests_have_the_folders_of_the_package():
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    package = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert package - {"demo"} <= folders
    assert folders - package == {"benchmarks", "experiments", "hostile", "project"}


def test_mypy_checks_every_folder_of_tests():
    relaxed = PROJECT["tool"]["mypy"]["overrides"][0]["module"]
    tests = ROOT / "tests"
    for path in [*tests.glob("*.py"), *tests.glob("*/test_*.py")]:
        module = ".".join(path.relative_to(tests).with_suffix("").parts)
        assert module in relaxed or f"{module.split('.')[0]}.*" in relaxed, module


def test_the_citation_is_of_this_version_and_names_the_paper():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf8"))
    assert str(citation["version"]) == __version__
    assert citation["license"] == PROJECT["project"]["license"]
    assert [author["family-names"] for author in citation["references"][0]["authors"]] == [
        *("Mao", "Wang", "Wu", "Lan")
    ]


def test_the_workflow_runs_everything_on_every_python_that_is_declared():
    workflow = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text(encoding="utf8"))
    job = workflow["jobs"]["run"]
    prefix = "Programming Language :: Python :: 3."
    declared = [
        one.split(" :: ")[-1] for one in PROJECT["project"]["classifiers"] if one.startswith(prefix)
    ]
    assert job["strategy"]["matrix"]["python"] == declared
    assert PROJECT["project"]["requires-python"] == f">={declared[0]}"
    assert len(job["strategy"]["matrix"]["os"]) == 3
    assert job["steps"][-1]["run"] == ".ci/run"


MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf8")


def test_every_chore_has_a_line_of_help():
    targets = re.findall(r"^([a-z]+):", MAKEFILE, flags=re.MULTILINE)
    helped = re.findall(r"^([a-z]+):.*  ## ", MAKEFILE, flags=re.MULTILINE)
    phony = MAKEFILE.split(".PHONY:")[1].replace("\\\n", " ").splitlines()[0].split()
    assert targets == helped
    assert sorted(phony) == sorted(targets)


@pytest.mark.parametrize("path", sorted(set(re.findall(r"[\w.]+/[\w./]+", MAKEFILE))))
def test_what_chores_name_exists(path):
    if not path.startswith((".venv", "build")):  # which chores make
        assert (ROOT / path).exists()


def test_the_changelog_keeps_to_its_form():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf8")
    sections = re.findall(r"^### (.*)$", text, flags=re.MULTILINE)
    assert set(sections) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert re.findall(r"^## (.*)$", text, flags=re.MULTILINE)[0].startswith("Unreleased")
