"""Static pictures of a cell. Their colours are readable on white and on black, because a picture does not know its
page."""

from __future__ import annotations

import base64
import zlib
from typing import TYPE_CHECKING, Any

from timeloom._notebook._plain import escaped
from timeloom._text import duration

if TYPE_CHECKING:
    from timeloom._notebook._aggregate import Lane, Span

_WIDTH = 940
_ROW = 17
_LEAST = 1.0  # pixels: narrower boxes are not drawn
_MOST_LEVELS = 24
_MOST_BOXES = 400  # of a picture
_MOST_LANES = 16
_COLOURS = (
    "#e8a87c", "#7fb5d6", "#9ac78f", "#d69bc0", "#e3c76a", "#8fc9c0", "#b7a6dc", "#e59a94", "#b5c36f", "#9fb1c9",
)
_INK = "#222"  # on the colours
_GREY = "#888"  # on the page


def colour(name: str) -> str:
    """Return the colour of a region, the same in all pictures."""
    return _COLOURS[zlib.crc32(name.encode()) % len(_COLOURS)]


def as_image(svg: str, meaning: str) -> str:
    """Return the picture as HTML that is also shown on pages that the browser does not trust."""
    data = base64.b64encode(svg.encode()).decode()
    return f"<img alt='{meaning}' style='max-width:100%' src='data:image/svg+xml;base64,{data}'/>"


def _picture(height: float, parts: list[str]) -> str:
    return (f"<svg xmlns='http://www.w3.org/2000/svg' width='{_WIDTH}' height='{height:.0f}' "
            f"viewBox='0 0 {_WIDTH} {height:.0f}' font-family='sans-serif' font-size='11'>{''.join(parts)}</svg>")


def _box(x: float, y: float, width: float, name: str, title: str) -> str:
    drawn = max(width - 0.6, 0.4)
    text = ""
    if width > 34:
        short = name if len(name) * 6.1 < width - 6 else name.rsplit(".", 1)[-1].rsplit(":", 1)[-1]
        most = int((width - 6) / 6.1)
        label = short if len(short) <= most else short[: most - 1] + "…"
        text = f"<text x='{x + 3:.1f}' y='{y + 12}' fill='{_INK}'>{escaped(label)}</text>"
    return (f"<rect x='{x:.1f}' y='{y}' width='{drawn:.1f}' height='{_ROW - 1}' fill='{colour(name)}'>"
            f"<title>{escaped(title)}</title></rect>{text}")


def flame_graph(tree: list[dict[str, Any]]) -> str:
    """Return a picture of the call paths, callers above; empty if there are none. Of too many, the longest are
    drawn."""
    from timeloom._notebook._aggregate import largest

    whole = sum(row["inclusive_s"] for row in tree if row["depth"] == 0)
    if whole <= 0:
        return ""
    parts: list[str] = []
    ends = [0.0]  # where the next box of each level starts
    deepest = 0
    wide = [row for row in tree if row["inclusive_s"] / whole * _WIDTH >= _LEAST and row["depth"] < _MOST_LEVELS]
    shown = {id(row) for row in largest(wide, _MOST_BOXES)}
    for row in tree:
        depth, width = row["depth"], row["inclusive_s"] / whole * _WIDTH
        if depth >= _MOST_LEVELS:
            continue
        x = ends[depth]
        ends[depth:] = [x + width, x]
        if id(row) not in shown:
            continue
        title = f"{row['name']}: {duration(row['inclusive_s'])}, {row['visits']:,} calls"
        parts.append(_box(x, depth * _ROW, width, row["name"], title))
        deepest = max(deepest, depth)
    return _picture((deepest + 1) * _ROW + 2, parts)


def timeline(lanes: list[Lane]) -> str:
    """Return a lane for each thread, with the calls of one level below the calls above; empty if nothing was called."""

    end = max((span.end for lane in lanes for span in lane.spans), default=0.0)
    if end <= 0:
        return ""
    parts: list[str] = []
    y = 0
    for lane in _busiest(lanes):
        levels = min(max(span.depth for span in lane.spans) + 1, 8)
        parts.append(f"<text x='0' y='{y + 11}' fill='{_GREY}'>{escaped(lane.name)}</text>")
        y += 15
        parts.append(f"<rect x='0' y='{y}' width='{_WIDTH}' height='{levels * _ROW}' fill='{_GREY}' opacity='.1'/>")
        parts += _lane(lane, y, levels, end, _MOST_BOXES // min(len(lanes), _MOST_LANES))
        y += levels * _ROW + 4
    for tenth in range(0, 11, 2):
        anchor = "start" if tenth == 0 else "end" if tenth == 10 else "middle"
        parts.append(f"<text x='{tenth * _WIDTH / 10}' y='{y + 10}' fill='{_GREY}' text-anchor='{anchor}'>"
                     f"{duration(end * tenth / 10) if tenth else '0'}</text>")
    return _picture(y + 14, parts)


def _busiest(lanes: list[Lane]) -> list[Lane]:
    """Return the longest spans in the same order."""
    by_time = sorted(range(len(lanes)), key=lambda place: -sum(
        span.end - span.begin for span in lanes[place].spans if span.depth == 0))  # fmt: skip
    return [lanes[place] for place in sorted(by_time[:_MOST_LANES])]


def _lane(lane: Lane, y: int, levels: int, end: float, most: int) -> list[str]:

    boxes: list[tuple[float, float, Span]] = []
    drawn = [-1.0] * levels  # the pixel up to which each level is covered
    for span in sorted(lane.spans, key=lambda one: (one.begin, one.depth)):
        if span.depth >= levels:
            continue
        x, width = span.begin / end * _WIDTH, (span.end - span.begin) / end * _WIDTH
        if width < _LEAST:
            if x < drawn[span.depth]:
                continue
            width = _LEAST
        drawn[span.depth] = x + width
        boxes.append((x, width, span))
    boxes.sort(key=lambda box: -box[1])
    parts = []
    for x, width, span in sorted(boxes[:most], key=lambda box: box[2]):
        title = f"{span.name}: {duration(span.end - span.begin)} from {duration(span.begin)} on"
        parts.append(_box(x, y + span.depth * _ROW, width, span.name, title))
    return parts
