"""Multicell mode: cells are marked, and run together in one measurement."""

from __future__ import annotations


class Multicell:
    """The marked cells of a notebook."""

    def __init__(self) -> None:
        self.on = False
        self.cells: list[str] = []

    def start(self) -> None:
        """Begin to mark cells."""
        self.on, self.cells = True, []

    def mark(self, code: str) -> int:
        """Mark a cell and return its position."""
        self.cells.append(code)
        return len(self.cells) - 1

    def take(self) -> list[str]:
        """End the mode and return the marked cells."""
        cells = self.cells
        self.on, self.cells = False, []
        return cells


def frame_before(number: int, code: str) -> str:
    """The text that is printed before a marked cell runs."""
    lines = code.strip("\n").splitlines() or [""]
    rule = "-" * max(map(len, lines))
    return "\n".join([f"Executing cell {number}", *lines, rule, ""])
