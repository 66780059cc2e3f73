"""Regular expressions of filters: Python's, extended by the classes of POSIX.

Imported only where a filter has such an expression, so a measured program does not load it.
"""

import re
import warnings

# The characters between the brackets, for [:name:].
_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "\\x21-\\x7e",
    "lower": "a-z",
    "print": "\\x20-\\x7e",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\s",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}
_CLASS = re.compile(r"\[:(\w*):\]")


def compile_expression(text: str) -> "re.Pattern[str]":
    """Return the compiled expression. ValueError describes the error and its position."""
    try:
        translated, places = _translate(text)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about a possible future meaning of [a--b]
                return re.compile(translated)
        except RecursionError:
            raise re.error("too deeply nested") from None
        except re.error as error:
            where = places[min(error.pos or 0, len(places) - 1)]
            raise re.error(error.msg, text, where) from None
    except re.error as error:
        at = "" if error.pos is None else f" at position {error.pos}"
        raise ValueError(f"{text!r} is not a regular expression: {error.msg}{at}") from None


def _translate(text: str) -> tuple[str, list[int]]:
    """Return the text without classes of POSIX, and for each of its characters (and the end) the position in
    ``text``."""
    parts: list[str] = []
    places: list[int] = []
    at = 0
    in_set = False
    while at < len(text):
        taken, put = 1, text[at]
        if put == "\\" and at + 1 < len(text):
            taken, put = 2, text[at : at + 2]
        elif in_set and (found := _CLASS.match(text, at)):
            if found[1] not in _CLASSES:
                raise re.error(f"unknown class [:{found[1]}:]", text, at)
            taken, put = len(found[0]), _CLASSES[found[1]]
        elif in_set:
            in_set = put != "]"
            put = "\\[" if put == "[" else put
        elif put == "[":
            in_set = True
            while text[at + taken : at + taken + 1] in ("^", "]") and taken < 3:  # a ] at the start is a character
                if text[at + taken] == "]":
                    put, taken = put + "\\]", taken + 1
                    break
                put, taken = put + "^", taken + 1
        parts.append(put)
        places += [at] * len(put)
        at += taken
    return "".join(parts), [*places, len(text)]
