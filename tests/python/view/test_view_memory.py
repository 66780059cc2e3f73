"""`timeloom view` of a run with memory: who held how much at an instant, against blocks of known sizes."""

import json
import struct
import subprocess
import sys
import textwrap

import pytest
from html_page import sections_of
from streams import environment
from view_client import NONE, Fields, Viewer

pytestmark = pytest.mark.any_python

ALLOCATED, AT_PEAK, AT_END, AT_INSTANT = range(4)
PROGRAM = """
import time
kept = []
def keep():
    kept.append(bytearray(20_000_000))
def work():
    block = bytearray(60_000_000)
    inner()
def inner():
    block = bytearray(40_000_000)
    hold()
def hold():
    time.sleep(0.02)
def between():
    time.sleep(0.02)
keep()
between()
work()
"""
# The C library rounds up to pages, and has a header of 16 bytes.
SIZES = {"keep": 20_000_000, "work": 60_000_000, "inner": 40_000_000}


def record(tmp_path, *options, program=PROGRAM):
    tmp_path.mkdir(exist_ok=True)
    (tmp_path / "app.py").write_text(textwrap.dedent(program))
    command = [sys.executable, "-m", "timeloom", "--quiet", "-o", "run", *options, "app.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, env=environment())
    assert done.returncode == 0, done.stderr
    return tmp_path / "run"


def parsed(body):
    """(exact, live, {path: (blocks, bytes, error)}, own, outside); the last two: (bytes, error)"""
    fields = Fields(body)
    count, exact = fields.u32(2)
    live, *apart = fields.array("d", 5)
    columns = [fields.u32(count), *(fields.array("d", count) for _ in range(3))]
    assert fields.is_at_end()
    return exact == 1, live, {path: rest for path, *rest in zip(*columns, strict=True)}, apart[:2], apart[2:]


def memory(viewer, amount, process=NONE, time=0):
    return parsed(viewer.ask("memory", struct.pack("<2Id", amount, process, time)))


class Shown:
    def __init__(self, viewer):
        self.viewer = viewer.wait()
        self.described = viewer.description()
        self.names = [region["name"] for region in self.described["regions"]]
        self.paths = viewer.paths()

    def name(self, path):
        return self.names[self.paths[path][1]].rsplit(".", 1)[-1]

    def large(self, amount, **question):
        """{function: (blocks, bytes, error)} of those that hold 1 MB and more."""
        _, _, by_path, _, _ = memory(self.viewer, amount, **question)
        return {self.name(path): tuple(held) for path, held in by_path.items() if held[1] >= 1_000_000 and self.name(path) in SIZES}

    def middle_of(self, function):
        track = next(i for i, one in enumerate(self.described["tracks"]) if one["name"] == "MainThread")
        (call,) = [call for call in self.viewer.calls(track) if self.names[call[3]].endswith(f".{function}")]
        return (call[0] + call[1]) // 2


def assert_holds(found, *functions):
    assert sorted(found) == sorted(functions)
    for function, (blocks, held, error) in found.items():
        assert blocks in (1, 2) and error == 0  # Python 3.15 has a small block of its own there, too
        assert SIZES[function] <= held <= SIZES[function] + 3 * 4096, (function, held)


@pytest.mark.parametrize("options", [("--memory",), ("--memory=all",), ("--memory=events",), ("--memory", "--trace-format", "packed")])
def test_who_held_how_much_at_an_instant(program, tmp_path, options):
    run = record(tmp_path, *options)
    with Viewer(program, run) as viewer:
        shown = Shown(viewer)
        assert shown.described["memory"]
        def held(function):
            return shown.large(AT_INSTANT, process=0, time=shown.middle_of(function))

        assert held("keep") in ({}, shown.large(AT_END))
        assert_holds(held("between"), "keep")
        assert_holds(held("hold"), "keep", "work", "inner")
        assert_holds(shown.large(AT_INSTANT, process=0, time=shown.described["length"]), "keep")
        assert_holds(shown.large(AT_PEAK), "keep", "work", "inner")
        assert_holds(shown.large(AT_END), "keep")
        exact, live, by_path, own, outside = memory(viewer, AT_INSTANT, 0, shown.middle_of("hold"))
        assert exact == (options[0] == "--memory=events")
        assert sum(SIZES.values()) <= live
        if exact:
            known = sum(held for _, held, _ in by_path.values()) + own[0] + outside[0]
            assert all(error == 0 for *_, error in by_path.values()) and known <= live
        # Before the process was there it held nothing.
        assert memory(viewer, AT_INSTANT, 0, 0)[2] == {}


@pytest.mark.parametrize("options", [("--memory",), ("--memory=all",)])
def test_amounts_are_the_ones_of_the_report(program, timeloom, tmp_path, options):
    run = record(tmp_path, *options)
    report = json.loads(timeloom("report", "--memory", "--json", run).stdout)
    with Viewer(program, run) as viewer:
        shown = Shown(viewer)

        def names(path):
            parent, region = shown.paths[path]
            return (*(() if parent == NONE else names(parent)), shown.names[region])

        def found(amount):
            return {names(path): [blocks, round(held), round(error)] for path, (blocks, held, error) in memory(viewer, amount)[2].items()}

        by_path = {tuple(one["path"]): one for one in report["paths"]}
        expected = {path: [one["allocations"], one["allocated_bytes"], 0] for path, one in by_path.items() if one["allocations"]}
        assert found(ALLOCATED) == expected
        for amount, key in ((AT_PEAK, "at_peak"), (AT_END, "at_end")):
            answer = found(amount)
            for path, one in by_path.items():
                _, held, error = answer.get(path, [0, 0, 0])
                # The report rounds down.
                assert abs(held - one[key]["bytes"]) <= 1 and abs(error - one[key]["error_bytes"]) <= 1, path
            assert set(answer) <= set(by_path)
        live = memory(viewer, AT_INSTANT, 0, 1e15)[1]
        assert live <= report["peak_bytes"]


FORKED = """
import os, time
def parent():
    block = bytearray(30_000_000)
    child = os.fork()
    if child == 0:
        inside()
        os._exit(0)
    os.waitpid(child, 0)
def inside():
    block = bytearray(50_000_000)
    time.sleep(0.02)
parent()
"""


def test_each_process_has_its_own(program, tmp_path):
    run = record(tmp_path, "--memory", program=FORKED)
    with Viewer(program, run) as viewer:
        shown = Shown(viewer)
        tracks = [(i, one) for i, one in enumerate(shown.described["tracks"]) if one["kind"] == "thread"]
        for track, one in tracks:
            for call in viewer.calls(track):
                if shown.names[call[3]].endswith(".inside"):
                    time, child = (call[0] + call[1]) // 2, one["process"]
        assert child != 0

        def large(process):
            by_path = memory(viewer, AT_INSTANT, process, time)[2]
            return {shown.name(path): held for path, (_, held, _) in by_path.items() if held >= 20_000_000}

        assert large(0).keys() == {"parent"} and 30_000_000 <= large(0)["parent"] <= 30_012_288
        assert 50_000_000 <= large(child)["inside"] <= 50_012_288 and "parent" not in large(child)


def test_questions_without_an_answer(program, tmp_path):
    run = record(tmp_path, "--memory")

    def status(viewer, *fields, layout="<2Id"):
        return viewer.request("POST", "/api/memory", struct.pack(layout, *fields), X_Timeloom_Token=viewer.token)

    with Viewer(program, run) as viewer:
        viewer.wait()
        for question in ((4, 0, 0), (0, 99, 0), (3, NONE, 0), (3, 0, float("nan"))):
            assert status(viewer, *question)[0] == 400, question
        assert status(viewer, 0, 0, layout="<2I")[0] == 400
        assert status(viewer, 0, NONE, 0)[0] == 200
    file = run / "memory.timeloom"
    whole = file.read_bytes()
    file.write_bytes(whole[:-9])
    with Viewer(program, run) as viewer:
        code, _, words = status(viewer.wait(), 1, NONE, 0)
        assert code == 500 and b"memory.timeloom is damaged" in words and b"[TL730]" in words
    file.unlink()
    with Viewer(program, run) as viewer:
        code, _, words = status(viewer.wait(), 1, NONE, 0)
        assert code == 500 and b"[TL731]" in words


def test_a_page_without_a_server_has_the_peak_and_the_end(program, timeloom, tmp_path):
    run = record(tmp_path, "--memory")
    timeloom("view", run, "--html", tmp_path / "page.html")
    inside = [body for tag, body in sections_of((tmp_path / "page.html").read_text()) if tag == 13]
    with Viewer(program, run) as viewer:
        viewer.wait()
        expected = [struct.pack("<d", amount) + viewer.ask("memory", struct.pack("<2Id", amount, NONE, 0)) for amount in range(3)]
    assert inside == expected
    file = run / "memory.timeloom"
    file.write_bytes(file.read_bytes()[:-9])
    done = timeloom("view", run, "--html", tmp_path / "without.html")
    assert "memory.timeloom is damaged" in done.stderr and "[TL730]" in done.stderr
    assert 13 not in [tag for tag, _ in sections_of((tmp_path / "without.html").read_text())]


def test_the_manifest_names_the_file(tmp_path, timeloom):
    run, plain = record(tmp_path / "with", "--memory"), record(tmp_path / "without", program="pass\n")
    assert "memory.timeloom" in (run / "MANIFEST.md").read_text()
    assert "memory.timeloom" in timeloom("info", run).stdout
    assert not (plain / "memory.timeloom").exists()
