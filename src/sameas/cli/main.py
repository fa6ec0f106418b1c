"""The command ``sameas``, and what becomes of errors."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import click

from sameas import __version__
from sameas.cli.align import align
from sameas.cli.audit import audit
from sameas.cli.command import Command, OutputClosedError, as_flags, say, to_standard_output
from sameas.cli.convert import convert
from sameas.cli.dedupe import dedupe
from sameas.cli.demo import demo
from sameas.cli.evaluate import evaluate
from sameas.cli.explain import explain
from sameas.cli.help import suggestions
from sameas.cli.inspect import inspect
from sameas.cli.merge import merge
from sameas.cli.names import names
from sameas.cli.report import report
from sameas.cli.review import review
from sameas.cli.serve import serve
from sameas.errors import (
    InputError,
    OptionError,
    OutputError,
    SameasError,
    printable,
    system_reason,
)

LONGEST_MESSAGE = 500
"""Characters of a message; longer ones, which quote a long argument, are cut in the middle."""
HELP = """Find which entity in one knowledge graph is which entity in another.

No training data, deterministic, on an ordinary machine. Every command takes --json.
"""
EPILOG = """\b
Examples:
  sameas demo
  sameas inspect zh_en
  sameas align zh_en --preset paper --among gold -o run
  sameas audit run
  sameas evaluate run zh_en
  sameas explain run Londres
  sameas dedupe people.csv -o clusters.csv
  sameas align left.tsv right.csv.gz --names names.tsv -o links.tsv
"""


class Program(Command):
    """What is run from a shell: every error ends as one line and an exit code."""

    def main(self, args: Sequence[str] | None = None, **rest: Any) -> NoReturn:  # type: ignore[override]
        """Run a command and exit: 0 done, 1 internal fault, 2 wrong input or no place for output.

        130 is for an interruption. A pipe that is closed, as by ``head``, is no error.
        """
        rest["standalone_mode"] = False
        try:
            _check_streams()
            args = _checked(sys.argv[1:] if args is None else args)
            code = super().main(args, **rest)
            with to_standard_output():
                sys.stdout.flush()
        except SameasError as error:
            _fail(_with_flags(error), 2)
        except click.exceptions.NoArgsIsHelpError as error:
            say(error.format_message(), err=True, always=True)
            sys.exit(2)
        except click.ClickException as error:
            context, message = getattr(error, "ctx", None), error.format_message()
            if isinstance(error, click.NoSuchOption) and error.ctx is not None:
                flags = [flag for one in error.ctx.command.params for flag in one.opts]
                meant = " or ".join(map(repr, suggestions(error.option_name, flags)))
                message = error.message + (f" Did you mean {meant}?" if meant else "")
            where = f" (see: {context.command_path} --help)" if context else ""
            _fail(message + where, 2)
        except (KeyboardInterrupt, click.Abort):
            _fail("interrupted; what was there before is as it was", 130)
        except OutputClosedError:
            sys.exit(0)
        except SystemExit:
            raise
        except BaseException as error:  # polars may panic, which is no Exception
            reason = _message(error)
            if reason is not None:
                _fail(reason, 2)
            if os.environ.get("SAMEAS_DEBUG"):
                raise
            kind = type(error).__name__
            _fail(f"internal fault ({kind}: {error}); set SAMEAS_DEBUG=1 to see where", 1)
        sys.exit(code if isinstance(code, int) else 0)


class Commands(Program, click.Group):
    """The group of all commands."""


def _check_streams() -> None:
    """Make sure that there is a place to print to, and that any text can be printed."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass  # or else a file of the user's would be opened as a closed stream
    os.close(number)
    if sys.stderr is None:
        sys.stderr = io.StringIO()
    if sys.stdout is None:
        raise OutputError("standard output is closed; send it to a file, or to /dev/null")
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")


def _checked(args: Sequence[str]) -> Sequence[str]:
    """The arguments, if all are text; files with other names cannot be opened by all libraries."""
    for text in args:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise OptionError(
                f"the argument {text!r} is not text in the encoding of this system "
                f"({sys.getfilesystemencoding()}); rename the file, or set PYTHONUTF8=1"
            ) from None
    return args


def _with_flags(error: SameasError) -> str:
    """The message of an error with flags in place of arguments' names.

    That of an InputError may quote a file, which is left as it is: only the remedy behind the
    last semicolon has flags.
    """
    problem, semicolon, remedy = str(error).rpartition("; ")
    quoted = f"{problem}{semicolon}" if isinstance(error, InputError) else ""
    return quoted + as_flags(remedy if quoted else str(error))


def _message(error: BaseException) -> str | None:
    """What to tell about an error of the system that no other place knew more about."""
    if isinstance(error, RuntimeError) and "can't start new thread" in str(error):
        return "the system lets no more threads start; raise its limits (ulimit -u, ulimit -v)"
    reason = system_reason(error)
    if reason is None:
        return None
    if isinstance(error, MemoryError):
        return f"{reason}; give --memory less than the machine has, or use a larger machine"
    try:
        Path.cwd()
    except OSError:
        return "the working folder is gone; change to one that exists"
    return f"{getattr(error, 'filename', None) or 'a file'}: cannot be used ({reason})"


def _fail(message: str, code: int) -> NoReturn:
    text = printable(" ".join(message.split("\n")))
    if len(text) > LONGEST_MESSAGE:
        text = f"{text[: LONGEST_MESSAGE // 2]} … {text[-LONGEST_MESSAGE // 2 :]}"
    say(f"sameas: {text}", err=True, always=True)
    sys.exit(code)


@click.group(
    cls=Commands,
    commands=[
        *(align, audit, convert, dedupe, demo, evaluate, explain, inspect, merge, names),
        *(report, review, serve),
    ],
    help=HELP,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="sameas", message="%(prog)s %(version)s")
def main() -> None:
    """All commands."""
