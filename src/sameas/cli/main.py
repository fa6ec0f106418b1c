"""The command ``sameas``, and what becomes of errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from sameas._version import __version__
from sameas.cli.align import align
from sameas.cli.command import OutputClosedError, as_flags
from sameas.cli.convert import convert
from sameas.cli.demo import demo
from sameas.cli.evaluate import evaluate
from sameas.cli.explain import explain
from sameas.cli.inspect import inspect
from sameas.cli.merge import merge
from sameas.cli.reproduce import reproduce
from sameas.errors import InputError, SameasError

EPILOG = """\b
Examples:
  sameas demo
  sameas inspect zh_en
  sameas align zh_en --preset paper --among gold -o run
  sameas evaluate run zh_en
  sameas explain run Londres
  sameas align left.tsv right.csv.gz --names names.tsv -o links.tsv
"""


class Commands(click.Group):
    """The group of commands; every error ends as one line and an exit code."""

    def main(self, args: Sequence[str] | None = None, **rest: Any) -> NoReturn:  # type: ignore[override]
        """Run a command; exit with 0 done, 1 internal fault, 2 the user's input is wrong."""
        rest["standalone_mode"] = False
        try:
            code = super().main(args, **rest)
            sys.stdout.flush()
        except InputError as error:  # it may quote a file, which is left as it is
            _fail(str(error), 2)
        except SameasError as error:
            _fail(as_flags(str(error)), 2)
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message(), err=True)
            sys.exit(2)
        except click.ClickException as error:
            context = getattr(error, "ctx", None)
            where = f" (see: {context.command_path} --help)" if context else ""
            _fail(error.format_message() + where, 2)
        except (KeyboardInterrupt, click.Abort):
            _fail("interrupted; what was there before is as it was", 130)
        except OutputClosedError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)
        except Exception as error:
            if os.environ.get("SAMEAS_DEBUG"):
                raise
            kind = type(error).__name__
            _fail(f"internal fault ({kind}: {error}); set SAMEAS_DEBUG=1 to see where", 1)
        sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str, code: int) -> NoReturn:
    text = " ".join(message.split("\n"))
    click.echo(f"sameas: {text}", err=True)
    sys.exit(code)


@click.group(cls=Commands, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="sameas", message="%(prog)s %(version)s")
def main() -> None:
    """Find which entity in one knowledge graph is which entity in another.

    No training data, deterministic, on an ordinary machine. Every command takes --json.
    """


for command in (demo, inspect, align, evaluate, explain, convert, merge, reproduce):
    main.add_command(command)
