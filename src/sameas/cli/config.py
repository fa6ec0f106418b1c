"""A job that is run again: the options of a command in a TOML file.

``sameas.toml`` has a table for each command, ``[align]``; ``pyproject.toml`` has them below
``[tool.sameas]``. What the command line gives comes before what the file says.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from sameas.cli.help import suggestions
from sameas.errors import InputError, OptionError, OutputError

PROJECT = "pyproject.toml"
OF_THIS_RUN = frozenset({"config", "save_config", "as_json", "quiet", "verbose", "help_all"})
"""Options that are not kept."""
Table = dict[str, Any]


def read_config(path: Path, context: click.Context) -> Table:
    """The options of a command that a file holds, by the names of its parameters."""
    from sameas.formats.files import read_text

    tables = _parsed(path, read_text(path))
    if path.name == PROJECT:
        tables = tables.get("tool", {}).get("sameas", {})
    command = context.info_name or ""
    table = tables.get(command)
    if not isinstance(table, dict):
        where = f"[tool.sameas.{command}]" if path.name == PROJECT else f"[{command}]"
        raise InputError(path, f"has no table {where}; see --save-config")
    params = {_key(param): param for param in context.command.params}
    values = {}
    for key, value in table.items():
        name = key.replace("_", "-")
        if name not in params or params[name].name in OF_THIS_RUN:
            meant = suggestions(f"--{name}", [f"--{one}" for one in params])
            remedy = f"is {meant[0][2:]} meant?" if meant else f"see: sameas {command} --help-all"
            raise InputError(path, f'[{command}] has "{key}", which is no option to keep; {remedy}')
        param = params[name]
        if isinstance(value, dict):
            raise InputError(path, f'[{command}] "{key}" must be a value, not a table')
        several = param.multiple if isinstance(param, click.Option) else param.nargs == -1
        if isinstance(value, list) != several and not (several and isinstance(value, str)):
            expected = "a list of texts" if several else "one value"
            raise InputError(path, f'[{command}] "{key}" must be {expected}, got {value!r} instead')
        values[str(param.name)] = [value] if several and isinstance(value, str) else value
    return values


def _parsed(path: Path, text: str) -> Table:
    toml: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        tables: Table = toml.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(path, f"is not TOML: {error}") from None
    return tables


def _key(param: click.Parameter) -> str:
    """What an option is called in the file: its flag without dashes in front."""
    flags = [flag for flag in param.opts if flag.startswith("--")]
    return flags[0].removeprefix("--") if flags else str(param.name)


def given_options(context: click.Context) -> Table:
    """The options and arguments that the command line or a file gave, as TOML can hold them."""
    sources = click.core.ParameterSource
    found = {}
    for param in context.command.params:
        name = str(param.name)
        if name in OF_THIS_RUN or name not in context.params:
            continue
        if context.get_parameter_source(name) in (sources.COMMANDLINE, sources.DEFAULT_MAP):
            found[_key(param)] = _plain(context.params[name])
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, Path) else value


def check_config_place(path: Path) -> None:
    """Raise an error if a file cannot take the options of a command; call this before long work."""
    if path.name == PROJECT or path.suffix != ".toml":
        raise OptionError(
            f"`save_config` must be a file of its own such as sameas.toml, got {str(path)!r} "
            f"instead; in {PROJECT}, its tables are called [tool.sameas.align]"
        )
    if not path.absolute().parent.is_dir():
        raise OutputError(f"{path}: the folder {path.parent} does not exist; make it first")


def write_config(path: Path, command: str, options: Mapping[str, Any]) -> None:
    """Write the options of a command; tables of other commands in the file stay."""
    from sameas.compute.atomic import replacing_file
    from sameas.formats.files import read_text

    tables = _parsed(path, read_text(path)) if path.exists() else {}
    tables[command] = dict(options)
    with replacing_file(path) as draft:
        draft.write_text(to_toml(tables), encoding="utf8")


def to_toml(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """Tables of plain values as TOML.

    >>> print(to_toml({"align": {"inputs": ["a.nt", "b.nt"], "depth": 2, "lenient": True}}))
    [align]
    inputs = ["a.nt", "b.nt"]
    depth = 2
    lenient = true
    <BLANKLINE>
    """
    parts = []
    for name, table in tables.items():
        lines = [f"{key} = {_value(value)}" for key, value in table.items()]
        parts.append("\n".join([f"[{name}]", *lines, ""]))
    return "\n".join(parts)


def _value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value).lower() if isinstance(value, bool) else repr(value)
