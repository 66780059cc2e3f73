"""The output below a cell: streams as the Score-P kernel writes them, and all additions as displays."""

from __future__ import annotations

import sys

from IPython.display import display


def say(text: str) -> None:
    """Write to the cell's stdout, without adding a line end."""
    sys.stdout.write(text)


def say_error(text: str) -> None:
    """Write to the cell's stderr, without adding a line end."""
    sys.stderr.write(text)


def show_text(text: str) -> None:
    """Show a text that the Score-P kernel does not have, so that comparisons of the streams do not see it."""
    display({"text/plain": text}, raw=True)
