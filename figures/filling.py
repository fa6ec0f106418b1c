"""Blocks of text between markers in Markdown files, filled from results.

A block begins with a line ``<!-- figures: NAME -->`` and ends with a line ``<!-- end -->``. What is
between is made by the function of that name in ``blocks.py``, and is never edited by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from figures.results import ROOT, Results

BEGIN = re.compile(r"^<!-- figures: ", re.M)
BLOCK = re.compile(
    r"^(<!-- figures: ([\w-]+) -->)\n(.*?)^(<!-- end -->)$", re.DOTALL | re.MULTILINE
)
PAGES = ("*.md", "docs/**/*.md", "benchmarks/*.md")

Block = Callable[[Results], str]


def pages(root: Path = ROOT) -> Iterator[Path]:
    """The Markdown files that may hold blocks."""
    for pattern in PAGES:
        yield from sorted(root.glob(pattern))


def filled(text: str, results: Results, blocks: Mapping[str, Block]) -> str:
    """The text of a page with every block made anew.

    >>> filled("<!-- figures: two -->\\n<!-- end -->", Results(), {"two": lambda results: "2"})
    '<!-- figures: two -->\\n2\\n<!-- end -->'
    """
    if len(BLOCK.findall(text)) != len(BEGIN.findall(text)):
        raise ValueError("a block has no end: each <!-- figures: NAME --> needs an <!-- end -->")

    def fill(match: re.Match[str]) -> str:
        begin, name, _, end = match.groups()
        if name not in blocks:
            raise ValueError(f"no block is called {name}; there are {', '.join(sorted(blocks))}")
        return f"{begin}\n{blocks[name](results).strip()}\n{end}"

    return BLOCK.sub(fill, text)


def fill_pages(results: Results, blocks: Mapping[str, Block], root: Path = ROOT) -> list[Path]:
    """Fill all pages; those that changed."""
    changed = []
    for page in pages(root):
        text = page.read_text(encoding="utf8")
        new = filled(text, results, blocks)
        if new != text:
            page.write_text(new, encoding="utf8", newline="\n")
            changed.append(page)
    return changed


def without_blocks(text: str) -> str:
    """A page without its blocks."""
    return BLOCK.sub("", text)
