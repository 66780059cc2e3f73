"""Names of functions and threads as text for people: a name may command a terminal, or move the text around it."""

from __future__ import annotations

import html

# Those of src/core/text/plain_text.cpp.
_COMMANDS = dict.fromkeys(
    (*range(0x20), *range(0x7F, 0xA0), 0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)), "?"
)


def plain(text: str) -> str:
    """The text with question marks in place of such characters, line ends among them."""
    return text.translate(_COMMANDS)


def escaped(text: str) -> str:
    """The same for HTML and SVG."""
    return html.escape(plain(text))
