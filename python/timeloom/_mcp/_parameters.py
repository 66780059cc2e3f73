"""The parameters of the server's tools, and the check of an agent's values: one clear line for whatever is wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from timeloom._mcp._refused import Refused

_MOST_TEXT = 4096  # characters
_KINDS = {"string": "a text", "integer": "a whole number", "number": "a number"}


@dataclass(frozen=True)
class Parameter:
    """One parameter. An optional one that is not given has the value `default`."""

    kind: str  # of JSON schema
    help: str
    default: Any = None
    required: bool = False
    least: float = 0
    most: float = 1e9
    choices: tuple[str, ...] = ()

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema."""
        schema: dict[str, Any] = {"type": self.kind, "description": self.help}
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.kind != "string":
            schema |= {"minimum": self.least, "maximum": self.most}
        if self.default is not None:
            schema["default"] = self.default
        return schema

    def problem(self, value: Any) -> str:
        """Return the condition that a value does not meet, as the end of a sentence; empty: it meets all."""
        if self.choices and value not in self.choices:
            return "is one of " + ", ".join(self.choices)
        if self.kind == "string":
            return _problem_of_text(value) or ("is empty" if self.required and not value else "")
        numeric = isinstance(value, int) or (self.kind == "number" and isinstance(value, float))
        if not numeric or isinstance(value, bool) or not math.isfinite(value):
            return f"is {_KINDS[self.kind]}"
        return "" if self.least <= value <= self.most else f"is from {self.least:g} to {self.most:g}"


def _problem_of_text(value: Any) -> str:
    if not isinstance(value, str):
        return "is a text"
    try:
        value.encode()
    except UnicodeEncodeError:
        return "is not text"
    if "\0" in value or len(value) > _MOST_TEXT:
        return f"has at most {_MOST_TEXT} characters, none of them NUL"
    return ""


def schema_of(parameters: Mapping[str, Parameter]) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments."""
    return {
        "type": "object",
        "properties": {name: one.schema() for name, one in parameters.items()},
        "required": [name for name, one in parameters.items() if one.required],
        "additionalProperties": False,
    }


def checked(tool: str, parameters: Mapping[str, Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of all parameters. Raises Refused."""

    def refuse(what: str) -> Refused:
        return Refused(f"{tool}: {what}; its arguments are {', '.join(parameters)} [TL498]")

    for name in given:
        if name not in parameters:
            raise refuse(f"there is no argument {name!r}")
    values = {}
    for name, parameter in parameters.items():
        value = given.get(name)
        if value is None:
            if parameter.required:
                raise refuse(f"{name} is missing")
            value = parameter.default
        elif problem := parameter.problem(value):
            raise refuse(f"{name} {problem}")
        values[name] = value
    return values
