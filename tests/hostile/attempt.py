"""One attempt: an input, a command and a promise, tried in a process of its own.

Attempts are forked from one process that has imported sameas, so each costs milliseconds, and
limits, closed streams and crashes are seen from outside. Polars has started no threads before
the fork, or they would be missing in the child.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import ipaddress
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

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # its threads would be missing after a fork
import sameas
from sameas.compute.kernels.kernel import Kernel, is_cached

from .bad import Promise

CODES = {"read": {0}, "refused": {2}, "either": {0, 2}}
UNASKED, CANARY = "Unasked: ", "canary"
"""How lines about what must not be done begin, and what is in the names of what must stay shut."""
LONGEST = 700
"""Letters of a message that can still be read."""
PACKAGE = Path(sameas.__file__).parent


@dataclass(frozen=True)
class Attempt:
    """A command in a folder with some files; paths are relative to that folder.

    ``../good`` holds files as they should be. Only ``out`` may change, and only on success.
    """

    kind: str
    name: str
    command: tuple[str, ...]
    promise: Promise = "either"
    files: Mapping[str, bytes | Callable[[], bytes]] = field(default_factory=dict)
    prepare: Callable[[], object] | None = None
    """Called in the folder before the command, for what is no plain file."""
    inside: Callable[[], object] | None = None
    """Called in the process of the command: limits, environment."""
    meanwhile: Callable[[int], object] | None = None
    """Called in the folder while the command runs, with its process id; a text is a fault."""
    shell: str | None = None
    """Redirections of a real shell; the command is then started anew by it."""
    says: tuple[str, ...] = ()
    """Texts that the message of a refusal holds."""
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
    number: int = 0
    """Of the attempt, among those of its kind."""


def warm_up() -> None:
    """Import all of sameas that starts no threads."""
    os.environ["PYTHONPATH"] = str(PACKAGE.parent)
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.name != "__main__.py":
            parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
            importlib.import_module(".".join(parts).removesuffix(".__init__"))
    # Nothing may depend on how fast this machine is.
    sameas.pipeline.checkpoint.WORTH_SECONDS = float("inf")


def load_kernels() -> None:
    """Load what Numba has compiled and cached, so that not every attempt does."""
    for path in sorted((PACKAGE / "compute" / "kernels").glob("*.py")):
        module = importlib.import_module(f"sameas.compute.kernels.{path.stem}")
        for kernel in vars(module).values():
            if isinstance(kernel, Kernel) and is_cached(kernel):
                kernel.load()


def tried(attempt: Attempt, folder: Path) -> Outcome:
    """Make the folder, run the command there, compare with the promise; the folder is removed."""
    (folder / "out").mkdir(parents=True)
    for name, content in attempt.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content() if callable(content) else content)
    if attempt.prepare:
        with _inside(folder):
            attempt.prepare()
    before = state(folder)
    begin = time.perf_counter()
    process = started(attempt, folder)
    fault = None
    if attempt.meanwhile:
        with _inside(folder):
            fault = attempt.meanwhile(process.id)
    code, usage = waited(process, attempt.seconds)
    seconds = time.perf_counter() - begin
    output, message = (said.decode(errors="replace") for said in process.said)
    broken = list(_broken_by_end(attempt, code, output, message))
    if isinstance(fault, str):
        broken.insert(0, fault)
    after = state(folder)
    half = [name for name in after if ".draft" in name or ".resume" in name]
    told = attempt.meanwhile or "standard output" in message  # the result is whole, and stays
    if half or (code != 0 and not told and after != before):
        broken.append(f"left behind: {sorted(set(half) or set(after) ^ set(before))[:3]}")
    megabytes = usage.ru_maxrss // 1024
    if megabytes > attempt.megabytes:
        broken.append(f"{megabytes} MB, {attempt.megabytes} allowed")
    shutil.rmtree(folder, ignore_errors=True)
    return Outcome(attempt, code, seconds, megabytes, message[:300], tuple(broken))


@dataclass(frozen=True)
class Process:
    """A process that was started, and what it has said so far on its two streams."""

    id: int
    pipes: tuple[int, int]
    said: tuple[bytearray, bytearray] = field(default_factory=lambda: (bytearray(), bytearray()))

    def listen(self) -> None:
        """Take in what has been said."""
        for pipe, said in zip(self.pipes, self.said, strict=True):
            with contextlib.suppress(BlockingIOError):
                while piece := os.read(pipe, 2**16):
                    said += piece


def started(attempt: Attempt, folder: Path) -> Process:
    """A process that runs the command; its streams are pipes, which no limit of files concerns."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    (output, its_output), (message, its_message) = os.pipe(), os.pipe()
    process = os.fork()
    if process:
        for pipe in (output, message):
            os.set_blocking(pipe, False)
        os.close(its_output)
        os.close(its_message)
        return Process(process, (output, message))
    code = 1
    try:
        os.chdir(folder)
        _redirect(its_output, its_message)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.addaudithook(_watch(" ".join(attempt.command)))
        if attempt.inside:
            attempt.inside()
        if attempt.shell is not None:
            script = f'exec "$@" {attempt.shell}'
            words = [sys.executable, "-m", "sameas", *attempt.command]
            os.execv("/bin/sh", ["sh", "-c", script, "sh", *words])
        from sameas.cli.main import main

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


def apart(work: Callable[[], object]) -> None:
    """Do some work in a process of its own, since Polars would start threads in this one."""
    process = os.fork()
    if not process:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    if os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]):
        raise RuntimeError("an attempt cannot be prepared")


def _watch(command: str) -> Callable[[str, tuple[object, ...]], None]:
    """An audit hook that writes down what a command must not do to the standard error."""

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        said = ""
        if event == "socket.connect" and isinstance(arguments[1], tuple):
            host, port = arguments[1][:2]
            said = "" if f"{host}:{port}" in command else f"a request to {host}:{port}"
        elif event == "socket.getaddrinfo" and not _is_known(arguments[0], command):
            said = f"a request to {arguments[0]}"
        elif event == "open" and CANARY in str(arguments[0]):
            said = f"opened {arguments[0]}"
        if said:
            os.write(2, f"{UNASKED}{said}\n".encode())

    return hook


def _is_known(host: object, command: str) -> bool:
    """Whether a host is an address, for which nobody is asked, or is named by the command."""
    with contextlib.suppress(ValueError):
        return bool(ipaddress.ip_address(str(host)))
    return str(host) in command


def waited(process: Process, seconds: float) -> tuple[int, resource.struct_rusage]:
    """The exit code, negative for a signal, and what was used; after so many seconds killed."""
    end = time.monotonic() + seconds
    while True:
        done, status, usage = os.wait4(process.id, os.WNOHANG)
        process.listen()
        if done:
            for pipe in process.pipes:
                os.close(pipe)
            return os.waitstatus_to_exitcode(status), usage
        if time.monotonic() > end:
            os.kill(process.id, signal.SIGKILL)
        time.sleep(0.002)


def state(folder: Path) -> dict[str, str]:
    """Everything below a folder, with a checksum of each file."""
    found = {}
    for path in sorted(folder.rglob("*")):
        plain = path.is_file() and not path.is_symlink()
        content = path.read_bytes() if plain else b""
        found[str(path.relative_to(folder))] = hashlib.sha1(content).hexdigest()
    return found


def _redirect(output: int, message: int) -> None:
    """Standard input from nothing, output and errors to pipes."""
    for number, other in enumerate((os.open(os.devnull, os.O_RDONLY), output, message)):
        os.dup2(other, number)
        os.close(other)
    sys.stdin = open(0, encoding="utf8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf8", errors="replace", closefd=False)  # noqa: SIM115


def _broken_by_end(attempt: Attempt, code: int, output: str, message: str) -> list[str]:
    if code < 0:
        waited_long = code == -signal.SIGKILL
        return ["no end" if waited_long else f"ended by {signal.Signals(-code).name}"]
    broken = []
    if code not in CODES[attempt.promise]:
        broken.append(f"exit code {code}, to be {attempt.promise}")
    broken += [line for line in message.splitlines() if line.startswith(UNASKED)][:1]
    if "Traceback" in message or "internal fault" in message:
        broken.append("internal fault")
    elif code == 2 and not (attempt.shell and "2>" in attempt.shell):
        said = [line for line in message.splitlines() if line and not line.startswith("note: ")]
        if len(said) != 1 or not said[0].startswith("sameas: "):
            broken.append(f"{len(said)} lines instead of one sentence")
        elif not said[0].isprintable() or len(said[0]) > LONGEST:
            broken.append("a message that cannot be read")
        broken.extend(f"no word of {text!r}" for text in attempt.says if text not in message)
    if code == 0 and attempt.accept and not attempt.accept(output):
        broken.append("read wrongly")
    return broken


@contextlib.contextmanager
def _inside(folder: Path):
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
