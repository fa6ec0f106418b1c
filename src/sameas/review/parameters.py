"""What requests may say: parameters that are declared once, checked, and described as OpenAPI."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

from sameas.errors import OptionError, shortened

LONGEST = 4000
"""Characters of a text; URIs of entities can be long."""


@dataclass(frozen=True)
class Parameter:
    """One value of a request: in the query of a page, or in the JSON of a decision."""

    name: str
    help: str
    _: KW_ONLY
    type: Literal["string", "integer", "number", "array"] = "string"
    default: Any = None
    """None if the value is required or may be left out, as ``required`` says."""
    required: bool = False
    choices: tuple[str, ...] = ()
    least: float = 0
    most: float = 2**53
    items: tuple[Parameter, ...] = ()
    """Of an array, what each object in it holds."""

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the value."""
        schema: dict[str, Any] = {"type": self.type}
        if self.choices:
            schema["enum"] = list(self.choices)
        elif self.type == "string":
            schema |= {"maxLength": LONGEST, "minLength": int(self.required)}
        elif self.type == "array":
            schema |= {
                "minItems": 1,
                "maxItems": int(self.most),
                "items": object_schema(self.items),
            }
        else:
            schema |= {"minimum": self.least, "maximum": self.most}
        return schema if self.default is None else {**schema, "default": self.default}

    def check(self, value: Any) -> Any:
        """The value in its type; an OptionError if it cannot be used."""
        if value is None or (value == "" and not self.required):
            if self.required:
                raise OptionError(f"{self.name} is missing: {self.help}")
            return self.default
        if self.type == "array":
            return self._check_items(value)
        if self.type == "string":
            return self._check_text(value)
        return self._check_number(value)

    def _check_items(self, value: Any) -> list[dict[str, Any]]:
        whole = isinstance(value, list) and 0 < len(value) <= self.most
        if not whole or not all(isinstance(item, dict) for item in value):
            raise OptionError(f"{self.name} must be a list of 1 to {self.most:g} objects")
        return [check_all(self.items, item) for item in value]

    def _check_text(self, value: Any) -> str:
        if not isinstance(value, str) or len(value) > LONGEST or not _is_storable(value):
            raise OptionError(f"{self.name} must be text of at most {LONGEST:,} characters")
        if self.choices and value not in self.choices:
            known = ", ".join(filter(None, self.choices))
            raise OptionError(
                f'{self.name} must be one of {known}, got "{shortened(value)}" instead'
            )
        if self.required and not value:
            raise OptionError(f"{self.name} is missing: {self.help}")
        return value

    def _check_number(self, value: Any) -> float | int:
        try:
            if isinstance(value, bool):
                raise ValueError
            number = int(value) if self.type == "integer" else float(value)
        except (ValueError, TypeError, OverflowError):
            number = math.nan
        if not self.least <= number <= self.most:
            kind = "a whole number" if self.type == "integer" else "a number"
            raise OptionError(f"{self.name} must be {kind} from {self.least:g} to {self.most:g}")
        return number


def _is_storable(text: str) -> bool:
    """Whether a database can hold a text: no half of a surrogate pair, no null character."""
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def check_all(parameters: Sequence[Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """The values of all parameters; defaults for those that are not given."""
    return {one.name: one.check(given.get(one.name)) for one in parameters}


def object_schema(parameters: Sequence[Parameter]) -> dict[str, Any]:
    """The JSON schema of an object that holds these parameters."""
    return {
        "type": "object",
        "properties": {one.name: {**one.schema, "description": one.help} for one in parameters},
        "required": [one.name for one in parameters if one.required],
    }


def query_description(parameters: Sequence[Parameter]) -> list[dict[str, Any]]:
    """The parameters of a page as OpenAPI describes them."""
    return [
        {
            "name": one.name,
            "in": "query",
            "required": one.required,
            "description": one.help,
            "schema": one.schema,
        }
        for one in parameters
    ]
