"""`timeloom view --html` and `--text`: the data in a file, read as docs/formats/view-http.md describes, equal the
server's answers; the strip and the graph in a terminal."""

import json
import shutil
import struct

import pytest
from converted import each_run, recorded
from html_page import sections_of
from view_client import NONE, Viewer

pytestmark = pytest.mark.any_python

__all__ = ["each_run"]


@pytest.fixture
def run(each_run, tmp_path):
    return shutil.copytree(each_run, tmp_path / "run")


class Varints:
    def __init__(self, data):
        self.data, self.at = data, 0

    def next(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value


def calls_of_track(data, paths):
    """Return the track, and [(begin, end, path, region, depth), ...] like Viewer.calls()."""
    track, count = struct.unpack_from("<2I", data)
    nodes = struct.unpack_from(f"<{count}I", data, 8)
    children = {}
    for node, path in enumerate(nodes):
        parent = paths[path][0]
        children.setdefault(None if parent == NONE else nodes.index(parent), []).append(node)
    events, time, calls, stack = Varints(data[8 + 4 * count :]), 0, [], []
    while events.at < len(events.data):
        head = events.next()
        time += head >> 2
        if head & 3 == 0:
            around = stack[-1][0] if stack else None
            child = events.next()
            beyond = around is not None and paths[nodes[around]][1] == NONE
            node = around if beyond else children[around][child]
            region = paths[nodes[node]][1]
            if region == NONE:
                region = events.next()
            calls.append([time, None, nodes[node], region, len(stack)])
            stack.append((node, calls[-1]))
        elif head & 3 == 1:
            stack.pop()[1][1] = time
        elif head & 3 == 2:
            for _ in range(3):
                events.next()
    assert not stack
    return track, [tuple(call) for call in calls]


def test_the_data_inside_are_those_of_the_server(program, timeloom, run, tmp_path):
    file = tmp_path / "out.html"
    timeloom("view", run, "--html", file)
    page = file.read_text()
    assert "connect-src 'none'" in page and "connect-src 'self'" not in page
    sections = sections_of(page)
    with Viewer(program, run) as viewer:
        viewer.wait()
        description = viewer.description()
        paths = viewer.paths()
        assert sections[0] == (1, viewer.ask("run"))
        assert sections[1] == (2, viewer.ask("paths"))
        assert [tag for tag, _ in sections[2:]] == [3] * len(description["tracks"]) + [5, 0]
        given = {one["value"] for track in range(len(description["tracks"])) for begin, _, _, _, depth in viewer.calls(track)
                 for one in (viewer.call(track, depth, begin)["call"] or {"parameters": []})["parameters"]}  # fmt: skip
        assert set(json.loads(sections[-2][1]).values()) <= given
        for _, data in sections[2:-2]:
            track, calls = calls_of_track(data, paths)
            assert calls == viewer.calls(track)


def test_a_part_of_a_run_has_its_calls(program, timeloom, run, tmp_path):
    """Calls that are open at an end of the part are cut there; the part starts at 0, and at its own time of day."""
    with Viewer(program, run) as viewer:
        viewer.wait()
        whole = viewer.description()
        calls = [viewer.calls(track) for track in range(len(whole["tracks"]))]
    tick = 1e9 / whole["ticks_per_second"]
    last_start = max(one[0] for of_track in calls for one in of_track)
    begin, end = round(whole["length"] * tick / 8), int((last_start - 2) * tick)  # without the last call
    timeloom("view", run, "--html", tmp_path / "part.html", "--from", f"{begin / 1e6:.6f}ms", "--to", f"{end / 1e6:.6f}ms")
    sections = sections_of((tmp_path / "part.html").read_text())
    part, found = json.loads(sections[0][1]), {}
    parents = struct.unpack_from(f"<{struct.unpack_from('<I', sections[1][1])[0]}I", sections[1][1], 8)
    regions = struct.unpack_from(f"<{len(parents)}I", sections[1][1], 8 + 4 * len(parents))
    for tag, data in sections[2:]:
        if tag == 3:
            track, found_calls = calls_of_track(data, list(zip(parents, regions, strict=True)))
            found[track] = [(part["regions"][region]["name"], depth, e - b) for b, e, _, region, depth in found_calls]
    first, last = round(begin / tick), round(end / tick)
    assert abs(part["length"] - (last - first)) <= 2
    assert abs(int(part["start_ns"]) - int(whole["start_ns"]) - begin) <= 2
    assert any(found.values()) and sum(map(len, found.values())) < sum(map(len, calls))
    for track, inside in found.items():
        cut = [(whole["regions"][region]["name"], depth, min(e, last) - max(b, first)) for b, e, _, region, depth in calls[track]
               if b <= last and e >= first]  # fmt: skip
        assert [one[:2] for one in inside] == [one[:2] for one in cut]
        assert all(abs(a[2] - b[2]) <= 2 for a, b in zip(inside, cut, strict=True))


@pytest.mark.parametrize(("words", "said"), [
    (["--from", "1s"], "--from and --to choose the part that --html writes; the page itself zooms"),
    (["--html", "x.html", "--from", "2s", "--to", "1s"], "[TL408]"),
    (["--html", "x.html", "--from", "no.such.function"], "[TL308]"),
    (["--html", "x.html", "--from", "1000s"], "--from is beyond the end of the run [TL419]"),
])  # fmt: skip
def test_wrong_parts(timeloom, run, tmp_path, words, said):
    status = 1 if "TL308" in said or "TL419" in said else 2
    assert said in timeloom("view", run, *words, cwd=tmp_path, status=status).stderr
    assert not (tmp_path / "x.html").exists()


def test_a_file_is_not_replaced_unasked(timeloom, program, tmp_path):
    run = shutil.copytree(recorded("threads", program), tmp_path / "run")
    file = tmp_path / "out.html"
    file.write_text("mine")
    said = timeloom("view", run, "--html", file, status=1).stderr
    assert "--force" in said and file.read_text() == "mine"
    timeloom("view", run, "--html", file, "--force")
    assert file.read_text().startswith("<!doctype html>")


def test_the_terminal_shows_tracks_and_functions(timeloom, program, tmp_path):
    run = shutil.copytree(recorded("threads", program), tmp_path / "run")
    shown = timeloom("view", "--text", run, COLUMNS="100", LC_ALL="C.UTF-8").stdout
    lines = shown.splitlines()
    for name in ("MainThread", "wörker;1", 'a "b", c'):
        (line,) = [line for line in lines if line.startswith(name)]
        assert set(line[20:]) & set("─░▒▓█") and len(line) <= 100
    graph = [line for line in lines if line.startswith("│")]
    assert graph[0].startswith("│__main__.<module>")
    assert all(len(line) <= 101 for line in graph)
    plain = timeloom("view", "--text", run, COLUMNS="100", LC_ALL="C").stdout
    assert "█" not in plain and "\033" not in plain
    coloured = timeloom("view", "--text", "--color", "always", run, COLUMNS="100", LC_ALL="C.UTF-8").stdout
    assert "\033[48;5;" in coloured


def test_text_and_html_are_not_both(timeloom):
    assert "choose one" in timeloom("view", "--text", "--html", "x", status=2).stderr


def test_the_description_says_what_was_lost(program, timeloom, tmp_path):
    run = shutil.copytree(recorded("killed", program), tmp_path / "run")
    with Viewer(program, run) as viewer:
        losses = viewer.wait().description()["losses"]
    assert losses == json.loads(timeloom("report", "--json", run).stdout)["losses"] != []
