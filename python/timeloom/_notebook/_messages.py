"""The words that a cell gets in answer: streams as the Score-P kernel writes them, and all that is new as displays."""

from __future__ import annotations

import sys

from IPython.display import display


def say(text: str) -> None:
    """Write to the cell's stdout, without a line end of our own."""
    sys.stdout.write(text)


def say_error(text: str) -> None:
    """Write to the cell's stderr, without a line end of our own."""
    sys.stderr.write(text)


def show_text(text: str) -> None:
    """Show a text that the Score-P kernel does not have: comparisons of its streams do not see it."""
    display({"text/plain": text}, raw=True)
