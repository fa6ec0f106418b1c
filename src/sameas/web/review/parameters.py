"""What requests may say: parameters that are declared once, checked, and described as OpenAPI."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

from sameas.errors import OptionError, shortened

Record = dict[str, Any]
LONGEST = 4000
"""Characters of a text; URIs of entities can be long."""
UNSTORABLE = re.compile("[\0\ud800-\udfff]")
"""What a database cannot hold: the null character, and halves of surrogate pairs."""


@dataclass(frozen=True)
class Parameter:
    """One value of a request: in the query of a page, or in the JSON of a decision."""

    name: str
    help: str
    _: KW_ONLY
    type: Literal["string", "integer", "number", "array"] = "string"
    default: Any = None
    required: bool = False
    choices: tuple[str, ...] = ()
    most: float = 2**53
    """The largest number, where 0 is the least; of an array, its largest length."""
    items: tuple[Parameter, ...] = ()
    """Of an array, what each object in it holds."""

    @property
    def schema(self) -> Record:
        """The JSON schema of the value."""
        if self.choices:
            limits: Record = {"enum": list(self.choices)}
        elif self.type == "string":
            limits = {"maxLength": LONGEST, "minLength": int(self.required)}
        elif self.type == "array":
            limits = {"minItems": 1, "maxItems": self.most, "items": object_schema(self.items)}
        else:
            limits = {"minimum": 0, "maximum": self.most}
        default = {} if self.default is None else {"default": self.default}
        return {"type": self.type, **limits, **default}

    def check(self, value: Any) -> Any:
        """The value in its type; an OptionError if it cannot be used."""
        if value is None or value == "":
            if self.required:
                raise OptionError(f"{self.name} is missing: {self.help}")
            return self.default
        if self.type == "array":
            return self._check_items(value)
        if self.type == "string":
            return self._check_text(value)
        return self._check_number(value)

    def _check_items(self, value: Any) -> list[Record]:
        whole = isinstance(value, list) and 0 < len(value) <= self.most
        if not whole or not all(isinstance(item, dict) for item in value):
            raise OptionError(f"{self.name} must be a list of 1 to {self.most:g} objects")
        return [check_all(self.items, item) for item in value]

    def _check_text(self, value: Any) -> str:
        if not isinstance(value, str) or len(value) > LONGEST or UNSTORABLE.search(value):
            raise OptionError(f"{self.name} must be text of at most {LONGEST:,} characters")
        if self.choices and value not in self.choices:
            known = ", ".join(filter(None, self.choices))
            raise OptionError(
                f'{self.name} must be one of {known}, got "{shortened(value)}" instead'
            )
        return value

    def _check_number(self, value: Any) -> float | int:
        try:
            number = int(value) if self.type == "integer" else float(value)
        except ValueError:
            number = math.nan
        if not 0 <= number <= self.most:
            kind = "a whole number" if self.type == "integer" else "a number"
            raise OptionError(f"{self.name} must be {kind} from 0 to {self.most:g}")
        return number


def check_all(parameters: Sequence[Parameter], given: Mapping[str, Any]) -> Record:
    """The values of all parameters; defaults for those that are not given."""
    return {one.name: one.check(given.get(one.name)) for one in parameters}


def object_schema(parameters: Sequence[Parameter]) -> Record:
    """The JSON schema of an object that holds these parameters."""
    return {
        "type": "object",
        "properties": {one.name: {**one.schema, "description": one.help} for one in parameters},
        "required": [one.name for one in parameters if one.required],
    }
