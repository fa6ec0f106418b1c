"""What requests may say: options in the query of an address or in JSON, described as OpenAPI."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from sameas.errors import OptionError
from sameas.options.declare import Option, checked

Record = dict[str, Any]
LONGEST_TEXT = 4000
"""Characters of a text; URIs of entities can be long."""
UNSTORABLE = re.compile("[\0\ud800-\udfff]")
"""What a database cannot hold: the null character, and halves of surrogate pairs."""
SCHEMA_TYPES = {int: "integer", float: "number", str: "string"}


def request_values(options: Sequence[Option], given: Mapping[str, Any]) -> Record:
    """The checked values of a request; defaults for those that are missing or empty."""
    return {option.name: _value(option, given.get(option.name)) for option in options}


def _value(option: Option, value: Any) -> Any:
    """The value of one option; an OptionError if it is needed or cannot be used."""
    if value is None or value == "":
        if option.is_required:
            raise OptionError(f"{option.name} is missing: {option.help}")
        return option.default
    if option.type in (int, float) and isinstance(value, str):  # in an address, all is text
        with suppress(ValueError):
            value = option.type(value)
    value = checked(option, value)
    if option.items:
        return [request_values(option.items, each) for each in value]
    for text in value if option.several else (value,):
        if isinstance(text, str) and (len(text) > LONGEST_TEXT or UNSTORABLE.search(text)):
            raise OptionError(f"{option.name} must be text of at most {LONGEST_TEXT:,} characters")
    return value


def schema(option: Option) -> Record:
    """The JSON schema of the value."""
    if option.items:
        items = object_schema(option.items)
        return {"type": "array", "minItems": 1, "maxItems": option.most_items, "items": items}
    if option.several:
        text = {"type": SCHEMA_TYPES[option.type], "maxLength": LONGEST_TEXT}
        return {"type": "array", "items": text, "default": list(option.default)}
    if option.choices:
        limits: Record = {"enum": list(option.choices)}
    elif option.type is str:
        limits = {"maxLength": LONGEST_TEXT, "minLength": int(option.is_required)}
    else:
        limits = {"minimum": option.least, "maximum": option.most}
    has_default = not option.is_required and option.default is not None
    default = {"default": option.default} if has_default else {}
    return {"type": SCHEMA_TYPES[option.type], **limits, **default}


def object_schema(options: Sequence[Option]) -> Record:
    """The JSON schema of an object that holds these options."""
    return {
        "type": "object",
        "properties": {one.name: {**schema(one), "description": one.help} for one in options},
        "required": [one.name for one in options if one.is_required],
    }
