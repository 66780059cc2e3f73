"""`timeloom view`: source lines, parameters, counters, links, marks, and a second run."""

import json
import os
import shutil
import struct

import pytest
from converted import calls_of, recorded, shown_parameter
from test_view_html import sections_of
from view_client import EVER, Fields, Viewer
from view_runs import each_run, one_run, run, viewer

pytestmark = pytest.mark.any_python

__all__ = ["each_run", "one_run", "run", "viewer"]


def source_of(viewer, description, name):
    number = next(i for i, region in enumerate(description["regions"]) if region["name"].endswith(name))
    return json.loads(viewer.ask("source", struct.pack("<I", number)))


def test_source_lines(program, timeloom, one_run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Viewer(program, one_run) as viewer:
        description = viewer.wait().description()
        step = next(region for region in description["regions"] if region["name"].endswith(".step"))
        assert "--source" in source_of(viewer, description, ".step")["reason"]
        assert viewer.request("POST", "/api/source", b"\xff" * 4, X_Timeloom_Token=viewer.token)[0] == 400
    program_file = recorded("threads", program).parent / "program.py"  # it was moved since
    with Viewer(program, one_run, "--source", str(program_file.parent)) as viewer:
        found = source_of(viewer.wait(), description, ".step")
        assert (found["file"], found["from"], found["to"], found["changed"]) == (
            os.path.realpath(program_file), step["line"], step["last_line"], False)  # fmt: skip
        text = program_file.read_text().splitlines()
        assert found["lines"] == text[found["first"] - 1 : found["to"] + 3]
    file = tmp_path / "with.html"
    timeloom("view", one_run, "--html", file, "--with-source", "--source", program_file.parent)
    number = description["regions"].index(step)
    (inside,) = [json.loads(data) for tag, data in sections_of(file.read_text()) if tag == 4]
    assert inside[str(number)] == found
    assert timeloom("view", one_run, "--with-source", status=2).stderr.count("\n") == 1
    assert timeloom("view", one_run, "--source", "none", status=1).stderr.startswith("timeloom: cannot open")


MARKS = {"version": 1, "marks": [{"time": 5, "text": "früh <b>"}, {"time": 2**53 - 1, "text": ""}]}


def test_calls_by_a_parameter(viewer, each_run):
    description = viewer.description()
    calls = [(call, place) for place, list_ in calls_of(each_run).items() for call in list_ if call[4]]
    for call, _ in calls[::5]:
        name, value = next(iter(call[4].items()))
        numbers = [i for i, known in enumerate(description["parameters"]) if shown_parameter(known) == name]
        more = struct.pack(f"<{1 + len(numbers)}I", len(numbers), *numbers) + str(value).encode()
        found, complete = viewer.find(0, 10_000, more=more)
        expected = [one for one, _ in calls if str(one[4].get(name)) == str(value)]
        assert complete and len(found) == len(expected)
        assert sorted(one[0] for one in found) == sorted(one[1] for one in expected)


def test_counters_and_links(viewer, each_run):
    description = viewer.description()
    side = json.loads(viewer.ask("side"))
    assert side["complete"]
    for counter in side["counters"]:
        body = struct.pack("<2I2d", counter["track"], counter["metric"], 0, EVER)
        fields = Fields(viewer.ask("values", body))
        count, _ = fields.u32(2)
        columns = [fields.array("d", count) for _ in range(6)]
        assert fields.is_at_end() and count == counter["values"]
        assert columns[0] == columns[1] and columns[2] == columns[3] == columns[4] == columns[5]
        if description["metrics"][counter["metric"]]["name"] == "residual" and count == 3:
            assert columns[2] == (0.0, 0.25, 0.5)
    seen = 0
    for track in range(len(description["tracks"])):
        fields = Fields(viewer.ask("links", struct.pack("<2I2d", track, 10_000, 0, EVER)))
        count, complete = fields.u32(2)
        begin, end = fields.array("d", count), fields.array("d", count)
        source, target, kind = fields.u32(count), fields.u32(count), fields.u32(count)
        assert fields.is_at_end() and complete == 1 and set(kind) <= {0, 1, 2}  # launches: test_gpu_launches.py
        assert all(track in pair for pair in zip(source, target, strict=True)) and list(end) == sorted(end)
        assert all(a <= b for a, b in zip(begin, end, strict=True))
        seen += sum(1 if a == b else 0.5 for a, b in zip(source, target, strict=True))
    assert seen == side["links"]


def test_marks_are_kept(program, one_run, tmp_path):
    with Viewer(program, one_run) as viewer:
        assert viewer.wait().description()["marks"] == []
        place = json.loads(viewer.ask("keep", json.dumps({**MARKS, "more": 1}).encode()))["kept"]
        assert (place, json.loads((one_run / "view.json").read_text())) == (str(one_run / "view.json"), MARKS)
        assert viewer.description()["marks"] == MARKS["marks"]
        one = {"time": 5, "text": "x"}
        for wrong in (b"", b"[", b"[]", b'{"version": 1}', {"version": 2, "marks": []}, {"version": 1, "marks": [5]},
                      {"version": 1, "marks": [{"time": -1, "text": ""}]}, {"version": 1, "marks": [one] * 501},
                      {"version": 1, "marks": [{**one, "text": "x" * 4097}]},
                      {"version": 1, "marks": [{**one, "text": None}]}, b" " * 300_000):  # fmt: skip
            body = wrong if isinstance(wrong, bytes) else json.dumps(wrong).encode()
            assert viewer.request("POST", "/api/keep", body, X_Timeloom_Token=viewer.token)[0] == 400
        assert json.loads((one_run / "view.json").read_text()) == MARKS
    with Viewer(program, one_run) as viewer:
        assert viewer.wait().description()["marks"] == MARKS["marks"]
    # A file that is not Timeloom's counts as missing, and a link is not written through.
    (one_run / "view.json").unlink()
    (tmp_path / "other").write_text("mine")
    (one_run / "view.json").symlink_to(tmp_path / "other")
    with Viewer(program, one_run, XDG_CACHE_HOME=str(tmp_path / "cache")) as viewer:
        assert viewer.wait().description()["marks"] == []
        place = json.loads(viewer.ask("keep", json.dumps(MARKS).encode()))["kept"]
        assert place.startswith(str(tmp_path / "cache")) and (tmp_path / "other").read_text() == "mine"
        assert viewer.description()["marks"] == MARKS["marks"]


def test_two_runs(program, timeloom, tmp_path):
    runs = [shutil.copytree(recorded(name, program), tmp_path / name) for name in ("threads", "pool")]
    alone = []
    for one in runs:
        with Viewer(program, one) as viewer:
            viewer.wait()
            assert json.loads(viewer.ask("runs")) == {"runs": 1}
            assert viewer.request("POST", "/api/2/run", X_Timeloom_Token=viewer.token)[0] == 404
            alone.append([viewer.ask("run"), viewer.ask("paths"), viewer.calls(0), viewer.table()])
    with Viewer(program, runs[0], str(runs[1])) as viewer:
        assert json.loads(viewer.ask("runs")) == {"runs": 2}
        assert viewer.request("POST", "/api/runs", b"x", X_Timeloom_Token=viewer.token)[0] == 400
        for number, place in enumerate(("", "2/")):
            viewer.place = place
            viewer.wait()
            assert [viewer.ask("run"), viewer.ask("paths"), viewer.calls(0), viewer.table()] == alone[number]
        assert viewer.request("POST", "/api/2/2/run", X_Timeloom_Token=viewer.token)[0] == 404
    file = tmp_path / "both.html"
    timeloom("view", *runs, "--html", file)
    assert file.read_text().count('<script type="application/octet-stream" id="timeloom-data') == 2
    assert "'timeloom diff'" in timeloom("view", *runs, "--text", status=2).stderr
