"""Makes answers small: an agent reads each of them whole."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

MOST = 8_000  # characters of an answer
_MOST_TEXT = (300, 60, 12)  # characters of a name or a sentence, by turns until the answer fits
_MOST_INSIDE = 10  # entries of a list inside a row
_ENDS = ("name", "names", "file", "run")  # whose last part tells most


def picked(row: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    """Return the row with these keys only; without those that are missing, empty, false or zero, ids excepted."""
    return {key: row[key] for key in keys if row.get(key) or (key == "id" and key in row)}


def bounded(answer: Mapping[str, Any], lists: Sequence[str], rows: int, more: str) -> str:
    """Return the answer as JSON of at most MOST characters.

    The lists lose their last rows: those beyond ``rows``, and more where there is no room. ``left_out`` then counts
    them, and ``more`` tells how to get them. Where that is not enough, texts become shorter, too.
    """
    for longest_text in _MOST_TEXT:
        short = {key: _short(value, key, longest_text) for key, value in answer.items() if key not in lists}
        short.update({key: [_short(one, key, longest_text) for one in answer[key][:rows]] for key in lists})
        while len(text := _with_left_out(answer, short, lists, more)) > MOST and any(short[key] for key in lists):
            longest = max(lists, key=lambda key: len(json.dumps(short[key])))
            del short[longest][len(short[longest]) * 3 // 4 :]
        if len(text) <= MOST:
            break
    return text


def _with_left_out(answer: Mapping[str, Any], short: Mapping[str, Any], lists: Sequence[str], more: str) -> str:
    left = {key: len(answer[key]) - len(short[key]) for key in lists if len(answer[key]) > len(short[key])}
    return json.dumps({**short, "left_out": left, "more": more} if left else short)


def bounded_lines(lines: Sequence[str], more: str) -> str:
    """Return the first lines, at most MOST characters; a line that follows counts the others."""
    size, kept = 0, 0
    for line in lines:
        size += len(line) + 1
        if size > MOST - len(more) - 40:
            break
        kept += 1
    left = len(lines) - kept
    return "\n".join([*lines[:kept], *([f"({left} lines left out; {more})"] if left else [])])


def _short(value: Any, key: str, longest: int) -> Any:
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, str) and len(value) > longest:
        return "..." + value[3 - longest :] if key in _ENDS else value[: longest - 3] + "..."
    if isinstance(value, dict):
        return {name: _short(one, name, longest) for name, one in list(value.items())[: 3 * _MOST_INSIDE]}
    if isinstance(value, list):
        return [_short(one, key, longest) for one in value[:_MOST_INSIDE]]
    return value
