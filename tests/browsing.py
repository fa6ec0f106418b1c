"""Pages in a browser, for tests: needs Chromium and the package playwright."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("uvicorn", reason="the extra web is not installed")
if CHROMIUM is None:
    pytest.skip("neither chromium nor google-chrome is installed", allow_module_level=True)

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
OVER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
"""By how much a page is wider than its window."""
LONG = 120_000
"""Milliseconds to wait for a page on a machine that is busy with other tests."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser, as long as the tests of a module take."""
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


def opened(browser: Any, server: Any, **options: Any) -> Any:
    """A page that fails the test if anything is wrong in it or if it asks another host."""
    page = browser.new_context(**options).new_page()
    page.set_default_timeout(LONG)
    page.problems = []
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("console", lambda said: said.type == "error" and page.problems.append(said.text))
    page.on(
        "request",
        lambda asked: asked.url.startswith(server.root) or page.problems.append(asked.url),
    )
    page.goto(server.url)
    return page


def saved(page: Any, text: str = "Saved") -> None:
    """Wait for a message."""
    page.locator("#message", has_text=text).wait_for()


def decided(page: Any, count: int) -> None:
    """Wait until so many are decided."""
    page.locator("[data-progress]", has_text=re.compile(rf"^{count} of ")).wait_for()


def keep_picture(page: Any, path: Path, *, whole: bool = False) -> None:
    """Keep what a window shows as a file, or the whole page."""
    page.screenshot(path=path, full_page=whole)
    pillow = pytest.importorskip("PIL.Image")  # 128 colours make a file a third as large
    pillow.open(path).convert("RGB").quantize(128).save(path, optimize=True)
