"""Build the documentation site: ``python scripts/build_site.py``, from the root of the repository.

Pages are staged in build/pages: those of docs/, the executed notebooks of docs/tutorials, and the
references of Python and of the command line, which are generated. ``zensical build --strict`` then
makes build/site, and every link between its pages is checked. Needs ``pip install ".[docs]"``.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import click
import nbformat
from latex2mathml.converter import convert as to_mathml
from nbclient import NotebookClient
from nbconvert import MarkdownExporter

import sameas
from sameas.cli.help import ALL
from sameas.cli.main import main as program

ROOT = Path(__file__).parents[1]
DOCS, PAGES, SITE = ROOT / "docs", ROOT / "build" / "pages", ROOT / "build" / "site"
PROJECT = {
    ROOT / "CONTRIBUTING.md": "project/CONTRIBUTING.md",
    ROOT / "CHANGELOG.md": "project/CHANGELOG.md",
    ROOT / "SECURITY.md": "project/SECURITY.md",
    ROOT / "benchmarks" / "README.md": "project/benchmarks.md",
    ROOT / "benchmarks" / "decisions" / "README.md": "project/decisions.md",
    ROOT / "README.md": "index.md",
}
"""Pages from outside docs/, and where they stand on the site; README's place is the home page's."""
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^\s$](?:[^$\n]*[^\s$])?)\$", re.DOTALL)
CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)


def stage_pages() -> None:
    """Copy docs/ and the pages of the project, with links and formulas as the site has them."""
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(DOCS, PAGES, ignore=shutil.ignore_patterns("results", "*.md", "*.ipynb"))
    sources = {file: file.relative_to(DOCS).as_posix() for file in DOCS.rglob("*.md")}
    sources |= {file: place for file, place in PROJECT.items() if place != "index.md"}
    for file, place in sources.items():
        text = file.read_text(encoding="utf8")
        text = text.replace("{{plain.py}}", plain_code())
        write_page(place, with_formulas(with_links(text, file, place)))


def write_page(place: str, text: str) -> None:
    """Write one page to be built."""
    (PAGES / place).parent.mkdir(parents=True, exist_ok=True)
    (PAGES / place).write_text(text, encoding="utf8")


def plain_code() -> str:
    """The module that the page on the paper shows."""
    return (ROOT / "experiments" / "plain.py").read_text(encoding="utf8").rstrip()


def with_links(text: str, file: Path, place: str) -> str:
    """The text with links to other pages of the site; a link to a source file becomes its path."""

    def changed(match: re.Match[str]) -> str:
        mark, words, target = match.groups()
        path, _, anchor = target.partition("#")
        if not path or "://" in target or target.startswith("mailto:"):
            return match[0]
        aim = (file.parent / path).resolve()
        if aim.is_relative_to(DOCS) and aim.is_file():
            there = aim.relative_to(DOCS).as_posix()
        elif aim in PROJECT:
            there = PROJECT[aim]
        else:
            return f"{words} (`{aim.relative_to(ROOT).as_posix()}`)"
        there = there.removesuffix(".ipynb") + ".md" if there.endswith(".ipynb") else there
        link = os.path.relpath(there, Path(place).parent).replace(os.sep, "/")
        return f"{mark}[{words}]({link}{'#' + anchor if anchor else ''})"

    return outside_code(text, lambda part: LINK.sub(changed, part))


def with_formulas(text: str) -> str:
    """The text with MathML, which browsers show without any script, in place of LaTeX."""

    def changed(match: re.Match[str]) -> str:
        block, inline = match.groups()
        display = "block" if block else "inline"
        return to_mathml((block or inline).strip(), display=display)

    return outside_code(text, lambda part: FORMULA.sub(changed, part))


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """The text with everything but code changed."""
    parts = CODE.split(text)
    return "".join(part if number % 2 else change(part) for number, part in enumerate(parts))


def stage_notebook(file: Path) -> None:
    """Execute a notebook in a folder of its own, and stage it as a page with what it prints."""
    place = PAGES / "tutorials" / f"{file.stem}.md"
    work = ROOT / "build" / "notebooks" / file.stem
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    notebook = nbformat.read(file, as_version=4)
    NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(work)}},
    ).execute()
    text, resources = MarkdownExporter().from_notebook_node(
        notebook, resources={"output_files_dir": f"{file.stem}_files"}
    )
    for name, content in resources.get("outputs", {}).items():
        (place.parent / name).parent.mkdir(parents=True, exist_ok=True)
        (place.parent / name).write_bytes(content)
    shutil.copy(file, place.parent / file.name)
    download = f'<p><a href="{file.name}" download>This page as a notebook</a></p>\n\n'
    title, _, rest = text.lstrip().partition("\n")
    text = with_links(f"{title}\n\n{download}{rest}", file, f"tutorials/{file.stem}.md")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf8")


def python_reference() -> str:
    """The page of all public names, each from its docstring."""
    names = [name for name in sameas.__all__ if not name.startswith("_") and name.islower()]
    types = [name for name in sameas.__all__ if name[0].isupper() and not name.isupper()]
    groups = {
        "Functions": names,
        "Types": [name for name in types if not name.endswith("Error")],
        "Errors": [name for name in types if name.endswith("Error")],
        "Constants": [name for name in sameas.__all__ if name.isupper()],
    }
    text = "# Python reference\n\nEverything that `import sameas` exports, and nothing else.\n"
    for title, members in groups.items():
        text += f"\n## {title}\n\n"
        for name in members:
            text += f"::: {full_name(name)}\n    options:\n      heading_level: 3\n\n"
    return text


def full_name(name: str) -> str:
    """Where a public name is defined."""
    module = sameas._MODULES.get(name)
    return f"sameas.{module}.{name}" if module else f"sameas.{name}"


def command_reference() -> str:
    """The page of all commands, from their help texts."""
    text = (
        "# Command line\n\nThe help of every command; of those with many options, of --help-all.\n"
    )
    for words, command in commands(program, ("sameas",)):
        context = click.Context(command, info_name=" ".join(words), terminal_width=100)
        context.meta[ALL] = True
        text += f"\n## {' '.join(words)}\n\n```text\n{command.get_help(context)}\n```\n"
    return text


def commands(
    command: click.Command, words: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """A command and those below it, with the words that call them."""
    yield words, command
    if isinstance(command, click.Group):
        for name, each in command.commands.items():
            yield from commands(each, (*words, name))


class Page(HTMLParser):
    """The anchors and links of one page of the site."""

    def __init__(self, text: str) -> None:
        """Read the page."""
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Keep what a page can be entered by, and what leads away from it."""
        values = dict(attributes)
        self.anchors.add(values.get("id") or values.get("name") or "")
        for key in ("href", "src"):
            if value := values.get(key):
                self.links.append(value)


def broken_links() -> list[str]:
    """Links between the pages of the site that lead nowhere."""
    pages = {file: Page(file.read_text(encoding="utf8")) for file in SITE.rglob("*.html")}
    broken = []
    for file, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or not (parts.path or parts.fragment):
                continue
            aim = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            aim = aim / "index.html" if aim.is_dir() else aim
            anchor = unquote(parts.fragment)
            if file.name == "404.html":
                continue
            if not aim.exists() or (anchor and aim in pages and anchor not in pages[aim].anchors):
                broken.append(f"{file.relative_to(SITE)}: {link}")
    return sorted(set(broken))


def main() -> int:
    """Build everything; 1 if a notebook fails, the build warns or a link leads nowhere."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-notebooks", action="store_true", help="do not execute notebooks")
    arguments = parser.parse_args()
    # Notebooks call the command of this environment, without bars that move.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    os.environ.update(PATH=path, TTY_COMPATIBLE="0", NO_COLOR="1", COLUMNS="100")
    stage_pages()
    notebooks = sorted((DOCS / "tutorials").glob("*.ipynb"))
    if arguments.no_notebooks:
        for file in notebooks:
            write_page(f"tutorials/{file.stem}.md", f"# {file.stem}\n")
    else:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(stage_notebook, notebooks))
    write_page("reference/python.md", python_reference())
    write_page("reference/commands.md", command_reference())
    built = subprocess.run([sys.executable, "-m", "zensical", "build", "--strict"], cwd=ROOT)
    broken = broken_links()
    for line in broken:
        print(f"leads nowhere: {line}", file=sys.stderr)
    return int(built.returncode != 0 or bool(broken))


if __name__ == "__main__":
    sys.exit(main())
