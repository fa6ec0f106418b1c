"""A run folder that is written, damaged, decided about, read and overwritten in any order.

Whatever happened before, a command ends with exit code 0 or 2, changes nothing of the run folder,
and leaves earlier results as they were unless it succeeds. A folder that nothing was done to gives
the links that a plain model of alignments and decisions gives.
"""

from __future__ import annotations

import os
import shutil
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from click.testing import CliRunner
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import sameas
from folders import contents
from sameas import InputError, OptionError
from sameas.cli.main import main
from sameas.errors import OutputError
from sameas.result.decisions import FILE, Claim, decide, decisions_of

EXAMPLES = int(os.environ.get("SAMEAS_EXAMPLES", "4"))
NAMES = ("ada", "byron", "curie", "darwin", "euler")
KINDS = (".tsv", ".csv", ".sssom.tsv", ".nt", ".rdf", ".parquet", ".jsonl")
DAMAGE = ("missing", "empty", "cut", "zeros", "text", "a folder", "a link to itself")


@cache
def alignment(number):
    """One of two alignments of five entities."""
    sides = []
    for side in "lr":
        triples = [(f"{side}:{a}", f"{side}:r", f"{side}:{b}") for a, b in pairwise(NAMES)]
        labels = {f"{side}:{name}": f"{name} {number}" for name in NAMES}
        graph = sameas.Graph.from_triples(triples)
        names = [labels[entity] for entity in graph.entities]
        sides.append(sameas.Graph.from_triples(triples, entities=graph.entities, names=names))
    return sameas.align(*sides)


@cache
def links(number):
    """The links of an alignment."""
    return frozenset(alignment(number).links.select("left", "right").rows())


class RunFolder(RuleBasedStateMachine):
    """What can happen to a run folder."""

    @initialize(number=st.sampled_from([0, 1]))
    def begin(self, number):
        self.scratch = TemporaryDirectory()
        self.place = Path(self.scratch.name)
        self.run, self.results, self.requests = self.place / "run", {}, 0
        (self.place / "out").mkdir()
        (self.place / "gold.tsv").write_text("l:ada\tr:ada\nl:euler\tr:euler\n")
        self.make_anew(number)

    def teardown(self):
        if hasattr(self, "scratch"):
            self.scratch.cleanup()

    @rule(number=st.sampled_from([0, 1]))
    def make_anew(self, number):
        """Without what was there."""
        shutil.rmtree(self.run, ignore_errors=True)
        sameas.write(alignment(number), self.run)
        self.number, self.whole, self.verdicts = number, True, {}

    @rule(number=st.sampled_from([0, 1]))
    def overwrite(self, number):
        """Decisions are kept; a folder that is no run is left alone."""
        before = contents(self.run)
        try:
            sameas.write(alignment(number), self.run)
            self.number = number
        except (InputError, OptionError, OutputError):
            assert not self.whole
            assert contents(self.run) == before

    @rule(data=st.data(), how=st.sampled_from(DAMAGE))
    def damage(self, data, how):
        files = sorted(path for path in self.run.rglob("*") if path.is_file())
        if not files:
            return
        path = data.draw(st.sampled_from(files))
        content = path.read_bytes()
        path.unlink()
        if how == "a folder":
            path.mkdir()
        elif how == "a link to itself":
            path.symlink_to(path.name)
        elif how != "missing":
            damaged = {"empty": b"", "cut": content[: len(content) // 2], "text": b"hello\n"}
            path.write_bytes(damaged.get(how, bytes(len(content))))
        self.whole = False

    @rule(
        left=st.sampled_from(NAMES),
        right=st.sampled_from(NAMES),
        verdict=st.sampled_from(["accept", "reject", "open"]),
    )
    def decide(self, left, right, verdict):
        claim = Claim(f"l:{left}", f"r:{right}", verdict)
        try:
            with decisions_of(self.run) as connection:
                self.requests += 1
                decide(connection, [claim], reviewer="Ada", request=str(self.requests))
        except (InputError, OptionError, OutputError):
            assert not self.whole
            return
        self.verdicts.pop(claim[:2], None)  # the latest verdict counts
        if verdict != "open":
            self.verdicts[claim[:2]] = verdict

    def expected(self):
        """The links as decided: an accepted link takes the place of others of its entities."""
        accepted = dict[tuple[str, str], None]()
        for pair, verdict in self.verdicts.items():
            if verdict == "accept":
                taken = [one for one in accepted if one[0] == pair[0] or one[1] == pair[1]]
                for one in taken:
                    del accepted[one]
                accepted[pair] = None
        lefts, rights = {pair[0] for pair in accepted}, {pair[1] for pair in accepted}
        kept = {
            pair
            for pair in links(self.number)
            if pair[0] not in lefts
            and pair[1] not in rights
            and self.verdicts.get(pair) != "reject"
        }
        return kept | accepted.keys()

    def command(self, *words, out=None):
        """The output of a command, None if it was refused."""
        before = contents(self.place)
        path = None if out is None else self.place / "out" / out
        result = CliRunner().invoke(main, [*words, *([] if path is None else [str(path)])])
        after = contents(self.place)
        assert result.exit_code in (0, 2), result.output
        assert "Traceback" not in result.output
        if result.exit_code:
            assert not self.whole, result.output
            assert _without_journals(after) == _without_journals(before)
            return None
        inside = f"out/{out}"
        changed = {name for name in before | after if before.get(name) != after.get(name)}
        assert {name for name in changed if FILE not in name} <= {inside}
        if path is not None:
            self.results[out] = path.read_bytes()
        return result.output

    @rule(kind=st.sampled_from(KINDS))
    def convert(self, kind):
        output = self.command("convert", str(self.run), out=f"links{kind}")
        if output is not None and self.whole:
            written = sameas.read_links(self.place / "out" / f"links{kind}")
            assert set(written.select("left", "right").rows()) == self.expected()

    @rule(kind=st.sampled_from([".nt", ".ttl", ".nq.gz"]))
    def merge(self, kind):
        self.command("merge", str(self.run), "-o", out=f"merged{kind}")

    @rule(name=st.sampled_from(NAMES))
    def explain(self, name):
        output = self.command("explain", str(self.run), f"l:{name}")
        assert output is None or not self.whole or name in output

    @rule()
    def evaluate(self):
        self.command("evaluate", str(self.run), str(self.place / "gold.tsv"))

    @precondition(lambda self: len(self.results) > 1)
    @rule()
    def report(self):
        output = self.command("report", str(self.run), "-o", out="report.html")
        if output is not None:
            assert self.results["report.html"].rstrip().endswith(b"</html>")

    @invariant()
    def earlier_results_are_there(self):
        if hasattr(self, "results"):
            assert contents(self.place / "out") == self.results


def _without_journals(files):
    return {name: content for name, content in files.items() if f"{FILE}-" not in name}


TestRunFolder = RunFolder.TestCase
TestRunFolder.settings = settings(max_examples=EXAMPLES, stateful_step_count=12, deadline=None)
