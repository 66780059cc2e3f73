"""The output of a measured cell, as text and as HTML: self-contained, without script, for light and dark pages."""

from __future__ import annotations

from typing import Any, NamedTuple

from timeloom._notebook import _svg
from timeloom._notebook._aggregate import CellTables, largest
from timeloom._notebook._handle import OPENED_BY
from timeloom._notebook._memory import RecordedMemory
from timeloom._notebook._plain import escaped, plain
from timeloom._text import duration, plural, size_text

_ROWS = 10  # of hot spots
_TREE_ROWS = 60
_MOST_IMAGES = 170_000  # bytes, so that a block stays below 200 kB
_SMALL = 0.005  # of the time: call paths with less are combined


class Head(NamedTuple):
    """The results of a cell."""

    cell: str  # In [5]
    seconds: float
    cpu_seconds: float
    threads: int
    events: int
    overhead: float | None  # share of the CPU time; None: not known
    run: str
    partial: str  # the exception that ended it; empty: none
    resident: int  # bytes of memory at its end
    resident_rise: int
    before: float | None  # seconds of the previous run of the same cell
    recorded: RecordedMemory | None = None  # None: memory was not recorded
    problem: str = ""  # the reason why it could not be woven


def verdict(overhead: float | None) -> str:
    """A sentence about the cost of measuring."""
    if overhead is None:
        return "overhead not known"
    percent = f"about {100 * overhead:.0f} %" if overhead >= 0.01 else "below 1 %"
    if overhead < 0.1:
        return f"overhead {percent}: times are trustworthy"
    if overhead < 0.4:
        return f"overhead {percent}: times of small functions are too long"
    return f"overhead {percent}: filter the most called functions"


def _summary(head: Head) -> str:
    partial = f", partial: stopped by {head.partial}" if head.partial else ""
    return (f"{head.cell}{partial}: {duration(head.seconds)}, CPU {duration(head.cpu_seconds)}, "
            f"{plural(head.threads, 'thread')}, {plural(head.events, 'event')}")


def _comparison(head: Head) -> str:
    if not head.before:
        return ""
    change = head.seconds / head.before - 1
    word = "slower" if change > 0 else "faster"
    return f"{abs(change):.0%} {word} than when this cell ran before ({duration(head.before)})"


def _resources(head: Head) -> str:
    rise = f", {head.resident_rise / 1e6:+.1f} MB in the cell" if abs(head.resident_rise) >= 1e5 else ""
    peak = "" if head.recorded is None else _peak(head.recorded)
    return f"memory {head.resident / 1e6:.0f} MB{rise}{peak}"


def _peak(memory: RecordedMemory) -> str:
    return f"; blocks {memory.peak / 1e6:.0f} MB at the peak, {(memory.peak - memory.start) / 1e6:+.1f} MB in the cell"


def _input_output(tables: CellTables | None) -> list[str]:
    """Return a line on the bytes read and written, if they were recorded."""
    if tables is None or not tables.io:
        return []
    words = {"read": "read", "write": "wrote"}
    return [", ".join(f"{words[operation]} {size_text(one.bytes)} in {plural(one.operations, 'call')}"
                      for operation, one in sorted(tables.io.items()))]


def advice(head: Head, tables: CellTables | None) -> list[str]:
    """Return at most three lines of advice, each with its option."""
    if tables is None:
        return []
    lines = []
    calls = sorted((row for row in tables.flat if "." in row["name"]), key=lambda row: -row["visits"])
    total = sum(row["visits"] for row in tables.flat)
    if head.overhead is not None and head.overhead >= 0.1 and calls and total:
        most = [row for row in calls[:3] if row["visits"] > 0.1 * total]
        options = " ".join(f"--exclude {row['name']}" for row in most)
        share = sum(row["visits"] for row in most) / total
        if most:
            lines.append(f"{share:.0%} of all calls are not recorded with: %%timeloom {options}")
    if head.events > 5_000_000:
        lines.append("a trace of this size is slow to open; call paths alone: %%timeloom --profile")
    own = tables.flat[0] if tables.flat else None
    if own is not None and own["name"].startswith("In [") and own["exclusive_s"] > 0.5 * head.seconds:
        lines.append("most time is in the cell itself or in C functions: %%timeloom --c-functions shows these")
    return lines[:3]


# ---- text


def as_text(head: Head, tables: CellTables | None) -> str:
    """Return the block as text of at most 15 lines."""
    lines = [_summary(head), verdict(head.overhead) + _dash(_comparison(head))]
    if tables is not None:
        lines.append(f"{'calls':>9}  {'self':>8}  {'total':>8}  function")
        lines += [f"{row['visits']:>9,}  {duration(row['exclusive_s']):>8}  {duration(row['inclusive_s']):>8}  "
                  f"{_place(row)}" for row in tables.flat[:7]]
    lines += _input_output(tables) + advice(head, tables)
    lines.append(_state(head, tables))
    return "\n".join(map(plain, [*lines[:14], f"run: {head.run}  (in Python: _run)"]))


def _dash(text: str) -> str:
    return f"; {text}" if text else ""


def _state(head: Head, tables: CellTables | None) -> str:
    if head.problem:
        return f"not woven: {head.problem}"
    return _resources(head) + ("" if tables is not None else "; functions are shown when the run is woven: _run.top()")


def _place(row: dict[str, Any]) -> str:
    return f"{row['name']}  {row['place']}" if row.get("place") else str(row["name"])


# ---- HTML

_MUTED = "opacity:.65"
_CELL = "text-align:right;padding:1px 8px"


def as_html(head: Head, tables: CellTables | None) -> str:
    """Return the block as HTML, with bars and pictures."""
    parts = [f"<div style='margin:2px 0'><b>{escaped(_summary(head))}</b></div>",
             f"<div style='{_MUTED}'>{escaped(verdict(head.overhead) + _dash(_comparison(head)))}</div>"]
    if tables is not None:
        parts += [_table(tables.flat[:_ROWS], head), _tree(tables), _pictures(tables)]
    parts += [f"<div>{escaped(line)}</div>" for line in _input_output(tables)]
    parts += [f"<div>&#9656; {escaped(line)}</div>" for line in advice(head, tables)]
    parts.append(f"<div style='{_MUTED}'>{escaped(_state(head, tables))}</div>")
    parts.append(_links(head))
    return ("<div style='font-family:var(--jp-ui-font-family,system-ui,sans-serif);font-size:13px;line-height:1.45;"
            "color:var(--jp-content-font-color1,inherit);max-width:960px'>" + "".join(parts) + "</div>")


def _table(rows: list[dict[str, Any]], head: Head) -> str:
    whole = max(sum(row["exclusive_s"] for row in rows), head.seconds, 1e-9)
    lines = [f"<tr style='{_MUTED}'><th style='{_CELL}'>calls</th><th style='{_CELL}'>self</th>"
             f"<th style='{_CELL}'>total</th><th style='{_CELL}'></th>"
             "<th style='text-align:left;padding:1px 8px'>function</th></tr>"]
    for row in rows:
        width = max(1, round(100 * row["exclusive_s"] / whole))
        bar = f"<div style='background:{_svg.colour(row['name'])};height:9px;width:{width}px'></div>"
        lines.append(
            f"<tr style='background:none'><td style='{_CELL}'>{row['visits']:,}</td>"
            f"<td style='{_CELL}'>{duration(row['exclusive_s'])}</td>"
            f"<td style='{_CELL}'>{duration(row['inclusive_s'])}</td>"
            f"<td style='padding:1px 8px;width:100px'>{bar}</td><td style='text-align:left;padding:1px 8px'>"
            f"<code style='background:none'>{escaped(row['name'])}</code> "
            f"<span style='{_MUTED}'>{escaped(row.get('place', ''))}</span></td></tr>"
        )
    return f"<table style='border-collapse:collapse;margin:6px 0;border:none'>{''.join(lines)}</table>"


def _tree(tables: CellTables) -> str:
    whole = sum(row["inclusive_s"] for row in tables.tree if row["depth"] == 0) or 1e-9
    shown = largest([row for row in tables.tree if row["inclusive_s"] >= _SMALL * whole], _TREE_ROWS)
    lines = [f"{100 * row['inclusive_s'] / whole:5.1f} %  {duration(row['inclusive_s']):>8}  {row['visits']:>8,} ×  "
             f"{'  ' * row['depth']}{escaped(row['name'])}" for row in shown]
    if hidden := len(tables.tree) - len(shown):
        lines.append(f"{'':27}{plural(hidden, 'smaller call path')}")
    text = "\n".join(lines)
    return _details("call tree", f"<pre style='margin:2px 0;font-size:12px;background:none'>{text}</pre>")


def _pictures(tables: CellTables) -> str:
    parts, room = [], _MOST_IMAGES
    for title, picture in (("flame graph", _svg.flame_graph(tables.tree)), ("timeline", _svg.timeline(tables.lanes))):
        image = _svg.as_image(picture, title)
        if picture and len(image) <= room:
            parts.append(_details(title, image, True))
            room -= len(image)
    return "".join(parts)


def _details(title: str, content: str, is_open: bool = False) -> str:
    return (f"<details{' open' if is_open else ''} style='margin:3px 0'>"
            f"<summary style='cursor:pointer'>{title}</summary>{content}</details>")


def _links(head: Head) -> str:
    run = escaped(head.run)
    return (f"<div style='{_MUTED}'>run <code style='background:none'>{run}</code> &middot; in Python "
            "<code style='background:none'>_run</code>: .top() .tree() .to_pandas() .diff(other) .save(path) &middot; "
            f"for {OPENED_BY}</div>")
