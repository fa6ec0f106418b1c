"""Every row of the table of messages, in this process."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from folders import contents
from hostile.messages import refusals
from sameas.cli.main import main

ROWS = list(refusals())


def test_the_rows_have_names_of_their_own():
    assert len({row.name for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name.encode("unicode_escape").decode())
def test_the_message_names_the_place_and_the_remedy(row, tmp_path, monkeypatch):
    (tmp_path / "out").mkdir()
    for name, content in row.files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content() if callable(content) else content)
    monkeypatch.chdir(tmp_path)
    before = contents(tmp_path), sorted(path for path in tmp_path.rglob("*") if path.is_dir())
    result = CliRunner().invoke(main, row.command)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("sameas: ")
    assert result.stderr.endswith("\n")
    message = result.stderr.removeprefix("sameas: ").removesuffix("\n")
    assert message.isprintable(), message
    assert len(message) < 600, "a message is to be read at a glance"
    for text in row.says:
        assert text in message
    after = contents(tmp_path), sorted(path for path in tmp_path.rglob("*") if path.is_dir())
    assert after == before
