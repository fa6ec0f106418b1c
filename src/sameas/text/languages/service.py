"""Names through a translation service that the caller chooses."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Sequence
from http.client import HTTPException
from pathlib import Path

import polars as pl

from sameas.errors import OptionError, SameasError, first_line, shortened, writing_to
from sameas.options.declare import wrong

log = logging.getLogger(__name__)

FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
"""Seconds before a call is repeated: doubled each time, and never more than this."""
FINAL = {400, 401, 402, 403, 404, 405, 410, 413, 414, 422, 456}
"""HTTP status codes that stay the same however often a call is repeated."""


def translate(
    names: pl.Series | Sequence[str],
    call: Callable[[list[str]], Sequence[str]],
    *,
    cache: str | os.PathLike[str],
    batch: int = 50,
    per_second: float | None = None,
    attempts: int = 6,
) -> pl.Series:
    """The translations of names, in their order, by a function that translates a list of texts.

    ``call`` gets up to ``batch`` distinct names and returns as many translations in the same
    order; it should have a time limit of its own. At most ``per_second`` calls are made in a
    second. A call that fails (an OSError, as urllib and requests raise, or a broken or senseless
    answer) is made up to ``attempts`` times, after 1, 2, 4, ... seconds or what the header
    Retry-After says. An error that no repetition can mend, such as status 401, ends at once.

    Each answer is added to the file ``cache`` at once. After an interruption or an error, the same
    call goes on from there: no name is sent twice.
    """
    for name, value in (("batch", batch), ("attempts", attempts)):
        if value < 1:
            raise wrong(name, "at least 1", value)
    if per_second is not None and not per_second > 0:
        raise wrong("per_second", "above 0", per_second)
    texts = pl.Series("name", names, dtype=pl.String).fill_null("")
    path = Path(cache)
    known = _cached(path)
    missing = [text for text in dict.fromkeys(texts) if text.strip() and text not in known]
    last = -float("inf")
    for start in range(0, len(missing), batch):
        part = missing[start : start + batch]
        for attempt in range(attempts):
            if per_second is not None:
                time.sleep(max(last + 1 / per_second - time.monotonic(), 0.0))
            last = time.monotonic()
            try:
                answer = _checked(call(list(part)), len(part))
                break
            except (OSError, HTTPException, ValueError, KeyError, TypeError) as error:
                time.sleep(_wait(error, attempt, attempts, path))
        _add(path, part, answer)
        known.update(zip(part, answer, strict=True))
    return pl.Series("name", [known.get(text, "") for text in texts], dtype=pl.String)


def _checked(answer: Sequence[str], size: int) -> list[str]:
    """The answer, if it is a list of so many texts."""
    texts = [] if isinstance(answer, str) else list(answer)
    if len(texts) != size or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{size} texts expected, got {shortened(repr(answer))}")
    return [" ".join(text.split()) for text in texts]


def _wait(error: Exception, attempt: int, attempts: int, cache: Path) -> float:
    """The seconds to wait before the next attempt; an error if there is to be none."""
    response = getattr(error, "response", None)
    status = getattr(error, "code", None) or getattr(response, "status_code", None)
    headers = getattr(error, "headers", None) or getattr(response, "headers", None) or {}
    asked = str(headers.get("Retry-After") or "")
    wait = float(asked) if asked.isdecimal() else FIRST_WAIT * 2**attempt
    if attempt + 1 == attempts or status in FINAL or (asked.isdecimal() and wait > LONGEST_WAIT):
        count = "once" if not attempt else f"{attempt + 1} times in a row"
        raise SameasError(
            f"the translation service failed {count} ({shortened(first_line(error))}); what was "
            f"translated is in {cache}, call again to go on from there"
        ) from error
    log.warning("translation failed (%s); next attempt in %g s", shortened(str(error)), wait)
    return min(wait, LONGEST_WAIT)


def _cached(path: Path) -> dict[str, str]:
    """The translations in a cache file; a last line that was not written whole is removed."""
    if not path.exists():
        return {}
    content = path.read_bytes()
    *lines, torn = content.split(b"\n")
    try:
        pairs = [json.loads(line) for line in lines]
        kinds = [[type(one) for one in pair] for pair in pairs if isinstance(pair, list)]
        is_ours = kinds == [[str, str]] * len(pairs)
    except ValueError:
        is_ours = False
    if not is_ours or not torn.startswith(b'["'[: len(torn)]):
        raise OptionError(f"`cache` must be a file that translate has made, {path} is not")
    if torn:
        with writing_to(path):
            os.truncate(path, len(content) - len(torn))
    return dict(pairs)


def _add(path: Path, names: Sequence[str], answer: Sequence[str]) -> None:
    """Add translations to a cache file, and see that they are on disk."""
    lines = (json.dumps(pair, ensure_ascii=False) for pair in zip(names, answer, strict=True))
    with writing_to(path), path.open("ab") as file:
        file.write("".join(f"{line}\n" for line in lines).encode())
        file.flush()
        os.fsync(file.fileno())
