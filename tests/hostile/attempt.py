"""One attempt: an input, a command and a promise, tried in a process of its own.

Attempts are forked from one process that has imported sameas, so each costs milliseconds, and
limits, closed streams and crashes are seen from outside. Polars has started no threads before
the fork, or they would be missing in the child.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import os
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Promise = Literal["read", "refused", "either"]
CODES = {"read": {0}, "refused": {2}, "either": {0, 2}}
LONGEST = 700
"""Letters of a message that can still be read."""
SOURCE = Path(__file__).parents[2] / "src"
NOBODY = 65534


@dataclass(frozen=True)
class Attempt:
    """A command in a folder with some files; paths are relative to that folder.

    ``../good`` holds files as they should be. Only ``out`` may change, and only on success.
    """

    kind: str
    name: str
    command: tuple[str, ...]
    promise: Promise = "either"
    files: Mapping[str, bytes] = field(default_factory=dict)
    prepare: Callable[[], object] | None = None
    """Called in the folder before the command, for what is no plain file."""
    inside: Callable[[], object] | None = None
    """Called in the process of the command: limits, environment."""
    meanwhile: Callable[[int], object] | None = None
    """Called in the folder while the command runs, with its process id."""
    shell: str | None = None
    """Redirections of a real shell; the command is then started anew by it."""
    accept: Callable[[str], bool] | None = None
    """Whether standard output of a command that succeeded is acceptable."""
    megabytes: int = 700
    seconds: float = 60.0


@dataclass(frozen=True)
class Outcome:
    """What came of an attempt; nothing is broken if it was held."""

    attempt: Attempt
    code: int
    seconds: float
    megabytes: int
    message: str
    broken: tuple[str, ...]


def warm_up() -> None:
    """Import all of sameas that starts no threads."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    import sameas

    root = Path(sameas.__file__).parent
    for path in sorted(root.rglob("*.py")):
        if path.name != "__main__.py" and "reproduction" not in path.parts:
            parts = path.relative_to(root.parent).with_suffix("").parts
            importlib.import_module(".".join(parts).removesuffix(".__init__"))


def tried(attempt: Attempt, folder: Path) -> Outcome:
    """Make the folder, run the command there, compare with the promise; the folder is removed."""
    (folder / "out").mkdir(parents=True)
    for name, content in attempt.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    if attempt.prepare:
        with _inside(folder):
            attempt.prepare()
    before = state(folder)
    begin = time.perf_counter()
    process = started(attempt, folder)
    if attempt.meanwhile:
        with _inside(folder):
            attempt.meanwhile(process)
    code, usage = waited(process, attempt.seconds)
    seconds = time.perf_counter() - begin
    output, message = (_text(folder.with_suffix(stream)) for stream in (".out", ".err"))
    broken = list(_broken_by_end(attempt, code, output, message))
    after = state(folder)
    half = [name for name in after if ".draft" in name or ".resume" in name]
    if half or (code != 0 and not attempt.meanwhile and after != before):
        broken.append(f"left behind: {sorted(set(half) or set(after) ^ set(before))[:3]}")
    megabytes = usage.ru_maxrss // 1024
    if megabytes > attempt.megabytes:
        broken.append(f"{megabytes} MB, {attempt.megabytes} allowed")
    for stream in (".out", ".err"):
        folder.with_suffix(stream).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    return Outcome(attempt, code, seconds, megabytes, message[:300], tuple(broken))


def started(attempt: Attempt, folder: Path) -> int:
    """The id of a process that runs the command."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        os.chdir(folder)
        _redirect(folder)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if attempt.inside:
            attempt.inside()
        if attempt.shell is not None:
            os.environ["PYTHONPATH"] = str(SOURCE)
            script = f'exec "$@" {attempt.shell}'
            words = [sys.executable, "-m", "sameas", *attempt.command]
            os.execv("/bin/sh", ["sh", "-c", script, "sh", *words])
        from sameas.cli import main

        main(list(attempt.command), prog_name="sameas")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def waited(process: int, seconds: float) -> tuple[int, resource.struct_rusage]:
    """The exit code, negative for a signal, and what was used; after so many seconds killed."""
    end = time.monotonic() + seconds
    while True:
        done, status, usage = os.wait4(process, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), usage
        if time.monotonic() > end:
            os.kill(process, signal.SIGKILL)
        time.sleep(0.002)


def state(folder: Path) -> dict[str, str]:
    """Everything below a folder, with a checksum of each file."""
    found = {}
    for path in sorted(folder.rglob("*")):
        plain = path.is_file() and not path.is_symlink()
        content = path.read_bytes() if plain else b""
        found[str(path.relative_to(folder))] = hashlib.sha1(content).hexdigest()
    return found


def _redirect(folder: Path) -> None:
    """Standard input from nothing, output and errors to files beside the folder."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(os.open(folder.with_suffix(".out"), flags, 0o666), 1)
    os.dup2(os.open(folder.with_suffix(".err"), flags, 0o666), 2)
    sys.stdin = open(0, encoding="utf8", closefd=False)  # noqa: PTH123, SIM115
    sys.stdout = open(1, "w", encoding="utf8", closefd=False)  # noqa: PTH123, SIM115
    sys.stderr = open(2, "w", encoding="utf8", errors="replace", closefd=False)  # noqa: PTH123, SIM115


def _broken_by_end(attempt: Attempt, code: int, output: str, message: str) -> list[str]:
    if code < 0:
        waited_long = code == -signal.SIGKILL
        return ["no end" if waited_long else f"ended by {signal.Signals(-code).name}"]
    broken = []
    if code not in CODES[attempt.promise]:
        broken.append(f"exit code {code}, to be {attempt.promise}")
    if "Traceback" in message or "internal fault" in message:
        broken.append("internal fault")
    elif code == 2 and not (attempt.shell and "2>" in attempt.shell):
        said = [line for line in message.splitlines() if line and not line.startswith("note: ")]
        if len(said) != 1 or not said[0].startswith("sameas: "):
            broken.append(f"{len(said)} lines instead of one sentence")
        elif not said[0].isprintable() or len(said[0]) > LONGEST:
            broken.append("a message that cannot be read")
    if code == 0 and attempt.accept and not attempt.accept(output):
        broken.append("read wrongly")
    return broken


def _text(path: Path) -> str:
    return path.read_text("utf8", errors="replace") if path.exists() else ""


@contextlib.contextmanager
def _inside(folder: Path):
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
