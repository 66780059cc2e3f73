"""Names of functions and threads as plain text: a name may contain characters that control terminals or move text."""

from __future__ import annotations

import html

# The same characters as in src/core/text/plain_text.cpp.
_COMMANDS = dict.fromkeys(
    (*range(0x20), *range(0x7F, 0xA0), 0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)), "?"
)


def plain(text: str) -> str:
    """Return the text with question marks in place of such characters, including line ends."""
    return text.translate(_COMMANDS)


def escaped(text: str) -> str:
    """Return the text for HTML and SVG."""
    return html.escape(plain(text))
