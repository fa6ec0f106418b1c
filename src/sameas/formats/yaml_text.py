"""YAML whose values are text; a module of its own, since importing yaml takes time."""

from __future__ import annotations

from typing import Any

import yaml


class PlainText(str):
    """A value of the metadata block that stood there without quotes: a number, a date, a word."""


class _TextLoader(yaml.BaseLoader):
    """YAML in which every value is text: making numbers of it takes time without bound."""

    def construct_scalar(self, node: Any) -> str:
        """The text of a value; without quotes as PlainText."""
        text = str(super().construct_scalar(node))
        return text if node.style else PlainText(text)


class _TextDumper(yaml.SafeDumper):
    """YAML in which PlainText stands without quotes, as it was read."""


def _represent_plain(dumper: Any, text: str) -> Any:
    tag = dumper.resolve(yaml.ScalarNode, text, (True, False))
    return dumper.represent_scalar(tag, str(text))


_TextDumper.add_representer(PlainText, _represent_plain)


def load_text(text: str) -> Any:
    """What YAML holds, every value as text."""
    return yaml.load(text, _TextLoader)


def dump_text(block: dict[str, Any]) -> str:
    """A block as YAML, each value on a line."""
    return yaml.dump(block, Dumper=_TextDumper, sort_keys=False, width=2**30)
