"""The pictures of a notebook's block: with more boxes than fit, the largest are drawn."""

import re

import pytest

pytest.importorskip("IPython")

from timeloom._notebook import _aggregate, _block, _svg
from timeloom._notebook._aggregate import CellTables, Lane, Span

pytestmark = pytest.mark.one_python


def row(name, depth, seconds):
    return {"name": name, "depth": depth, "inclusive_s": seconds, "exclusive_s": seconds, "visits": 1}


# A thousand small functions, each called through another, before the one with half of the time.
TREE = [row("cell", 0, 10.0), row("setup", 1, 5.0)]
for number in range(1000):
    TREE += [row(f"small{number}", 2, 0.02), row(f"inner{number}", 3, 0.019)]
TREE += [row("work", 1, 5.0), row("loop", 2, 4.5), row("last", 1, 0.001)]


def drawn(picture):
    return [title.split(":")[0] for title in re.findall("<title>(.*?)</title>", picture)]


def test_the_flame_graph_has_the_largest_call_paths():
    names = drawn(_svg.flame_graph(TREE))
    # By time, then in the order of the tree: as many of the small ones as fit.
    assert names == ["cell", "setup", *[f"small{i}" for i in range(396)], "work", "loop"]
    # Every box lies below its caller: `loop` begins where `work` does.
    boxes = dict(re.findall(r"<rect x='([\d.]+)' [^>]*><title>(work|loop):", _svg.flame_graph(TREE)))
    assert list(boxes) == ["470.0"]


def test_a_small_flame_graph_has_all_that_is_wide_enough():
    assert drawn(_svg.flame_graph(TREE[:6] + TREE[-3:])) == [one["name"] for one in TREE[:6] + TREE[-3:-1]]


def test_the_call_tree_has_the_largest_call_paths():
    tree = [row("cell", 0, 10.0), *[row(f"part{i}", 1, 0.06) for i in range(100)], row("work", 1, 4.0)]
    shown = re.findall(r"×  (.*?)\n", _block._tree(CellTables([], tree, [], {})))
    assert shown == ["cell", *[f"  part{i}" for i in range(58)], "  work"]


def test_the_timeline_has_the_longest_calls():
    short = [Span(depth, i * 0.011, i * 0.011 + 0.0108, f"short{i}") for depth in (1, 2) for i in range(450)]
    spans = [*short, Span(1, 5.0, 10.0, "work"), Span(0, 0.0, 10.0, "cell")]
    names = drawn(_svg.timeline([Lane("main", spans)]))
    assert len(names) == 400 and {"cell", "work"} < set(names)


def test_the_timeline_has_the_busiest_threads():
    idle = [Lane(f"idle{i}", [Span(0, 0.0, 0.1, "f")]) for i in range(30)]
    picture = _svg.timeline([*idle, Lane("busy", [Span(0, 0.0, 1.0, "f")])])
    lanes = re.findall(r"<text x='0' y='\d+' fill='#888'>(.*?)</text>", picture)
    assert lanes == [*[f"idle{i}" for i in range(15)], "busy"]


def test_the_calls_that_are_kept_are_the_longest(monkeypatch):
    monkeypatch.setattr(_aggregate, "_MOST_SPANS", 10)
    root = _aggregate._Node(-1)
    words = [_aggregate._ENTER | 0 << 2]
    for i in range(100):
        words += [_aggregate._ENTER | 1 << 2 | (2 * i) << 28, _aggregate._LEAVE | (2 * i + 1) << 28]
    words.append(_aggregate._LEAVE | 300 << 28)
    data = b"".join(word.to_bytes(8, "little") for word in words)
    spans = _aggregate._aggregate_thread([(0, 0, data)], root, {})
    assert len(spans) < 20 and (0, 0, 300, 0) in spans


def test_names_do_not_move_the_text_around_them():
    commands = "".join(map(chr, [*range(0x20), 0x7F, 0x9B, 0x202E, 0x2028, 0x2069]))
    one = {**row(commands + "<é>", 0, 1.0), "place": "app.py:1"}
    head = _block.Head("In [1]", 1.0, 1.0, 1, 2, 0.0, "run", "", 0, 0, None)
    folded = CellTables([one], [one], [Lane(commands, [Span(0, 0.0, 1.0, commands)])], {})
    text = _block.as_text(head, folded)
    assert f"{'?' * len(commands)}<é>  app.py:1" in text and not set(commands) & set(text.replace("\n", ""))
    assert not set(commands) & set(_block.as_html(head, folded).replace("\n", ""))
    assert not set(commands) & set(_svg.timeline(folded.lanes) + _svg.flame_graph(folded.tree))
    assert f"{'?' * len(commands)}&lt;é&gt;" in _svg.flame_graph(folded.tree)
