"""What the README promises: its commands, its example and its links hold."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import sameas
from sameas.cli.main import main

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf8")
DOCS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(text, language):
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def sameas_commands():
    for file in DOCS:
        for block in blocks(file.read_text(encoding="utf8"), "sh"):
            joined = block.replace("\\\n", " ")
            for line in joined.splitlines():
                for part in line.split("&&"):
                    words = shlex.split(part, comments=True)
                    if words and Path(words[0]).name == "sameas":
                        yield pytest.param(words[1:], id=f"{file.name}: {' '.join(words[1:])[:60]}")


def test_the_first_two_commands_set_everything_up():
    demo, *_, tests = (block.strip() for block in blocks(README, "sh"))
    assert demo.endswith("pip install . && .venv/bin/sameas demo")
    assert tests.endswith('pip install -e ".[dev]" && .venv/bin/python -m pytest')
    assert '"$bin"/python -m pytest' in (ROOT / ".ci" / "run").read_text(encoding="utf8")
    assert tests in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf8")


def test_the_example_of_two_tables_gives_the_links_that_are_told(tmp_path):
    called = f'sameas() {{ "{sys.executable}" -m sameas "$@"; }}'
    script = f"{called}\n{blocks(README, 'sh')[1]}"
    here = {**os.environ, "PYTHONPATH": str(Path(sameas.__file__).parents[1])}
    subprocess.run(["bash", "-ec", script], cwd=tmp_path, env=here, check=True, capture_output=True)
    links = sameas.read_links(tmp_path / "links.csv")
    assert sorted(links.select("left", "right").rows()) == [("r1", "c"), ("r2", "b"), ("r3", "a")]


def test_the_python_example_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (example,) = blocks(README, "python")
    exec(compile(example, "README.md", "exec"), {})
    assert (tmp_path / "links.parquet").exists()
    assert "hits@1" in capsys.readouterr().out


@pytest.mark.parametrize("words", list(sameas_commands()))
def test_commands_in_the_documentation_can_be_parsed(words):
    command = main.commands[words[0]]
    with main.make_context("sameas", [words[0]]) as context:  # click keeps the flags of the first
        command.make_context(words[0], list(words[1:]), parent=context)


@pytest.mark.parametrize("file", DOCS, ids=lambda file: file.name)
def test_links_in_the_documentation_lead_somewhere(file):
    for target in re.findall(r"\]\(([^)#]+)", file.read_text(encoding="utf8")):
        if "://" not in target:
            assert (file.parent / target).exists(), target


@pytest.mark.parametrize("file", DOCS, ids=lambda file: file.name)
def test_what_examples_import_is_there(file):
    for block in blocks(file.read_text(encoding="utf8"), "python"):
        for line in block.splitlines():
            if re.match(r"(from|import) sameas\b", line):
                exec(line, {})


@pytest.mark.parametrize("name", ["docs/method.md", "CONTRIBUTING.md"])
def test_modules_that_are_named_are_there(name):
    source, text = ROOT / "src" / "sameas", (ROOT / name).read_text(encoding="utf8")
    folders = {path.name for path in source.iterdir() if path.is_dir()}
    named = [
        path for path in re.findall(r"`([a-z_]+/[a-z_/]*)`", text) if path.split("/")[0] in folders
    ]
    assert named
    for path in named:
        assert (source / path).is_dir() or (source / f"{path}.py").is_file(), path
