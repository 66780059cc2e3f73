"""Arrows from the call that starts work on a GPU to the work on its stream: in the viewer and in exports."""

import json
import struct

import pytest
from converted import Chrome, Perfetto
from gpu_runs import SCRIPT, WITHOUT_HELPERS, libraries, run_gpu  # noqa: F401
from view_client import EVER, Fields, Viewer

pytestmark = pytest.mark.any_python

# A call that starts a graph of two kernels follows.
GRAPH = SCRIPT + """
start = call(9, 40) + 2000 * US
gpu.play_node(b"first", 0, 1, 7, start, start + 10 * US, 40, 3, 1)
gpu.play_node(b"second", 0, 1, 7, start + 20 * US, start + 30 * US, 40, 3, 1)
"""

# The work of each call, in the order of the calls.
STARTED = [["copy host to device (pageable)"], *[["add(float*, int)"]] * 3, ["plain"], ["set memory"],
           ["copy device to host (pinned)"], ["first", "second"]]  # fmt: skip


@pytest.fixture
def run(run_gpu, tmp_path):
    run_gpu(GRAPH, *WITHOUT_HELPERS)
    return tmp_path / "run"


def started_by(calls, arrows):
    """Return the work of each arrow by name, ordered by the calls; `calls`: name by start, of each row."""
    for (row, start), _ in arrows:
        assert calls[row, start].startswith("cuda")
    return [[calls[row, start] for row, start in work] for _, work in sorted(arrows, key=lambda one: one[0][1])]


def names_at(file):
    return {(place, call[1]): call[0] for place, all_calls in file.calls.items() for call in all_calls}


def test_arrows_in_the_viewer(program, run):
    with Viewer(program, run) as viewer:
        description = viewer.wait().description()
        names, arrows = {}, {}
        for track in range(len(description["tracks"])):
            for begin, _end, _path, region, _depth in viewer.calls(track):
                names[track, begin] = description["regions"][region]["name"]
            fields = Fields(viewer.ask("links", struct.pack("<2I2d", track, 10_000, 0, EVER)))
            count, complete = fields.u32(2)
            begin, end = fields.array("d", count), fields.array("d", count)
            source, target, kind = fields.u32(count), fields.u32(count), fields.u32(count)
            assert complete == 1
            for i in range(count):
                if kind[i] == 3 and source[i] == track:
                    arrows.setdefault((track, begin[i]), []).append((target[i], end[i]))
        assert started_by(names, arrows.items()) == STARTED
        # Only the arrows of the range are told, from either end.
        (row, start), ((stream, at),) = next(iter(arrows.items()))
        for track, time in ((row, start), (stream, at)):
            fields = Fields(viewer.ask("links", struct.pack("<2I2d", track, 10_000, time, time)))
            count, _ = fields.u32(2)
            assert (fields.array("d", count), fields.array("d", count)) == ((start,), (at,))


def test_time_on_the_gpu_by_call_path(program, run):
    with Viewer(program, run) as viewer:
        regions, paths = viewer.wait().description()["regions"], viewer.paths()

        def times(begin=0.0, end=EVER, tracks=()):
            fields = Fields(viewer.ask("gpu", struct.pack(f"<2d2I{len(tracks)}I", begin, end, len(tracks), 0, *tracks)))
            count, complete = fields.u32(2)
            rows = zip(fields.u32(count), fields.f64(count), fields.f64(count), strict=True)
            assert complete == 1
            return {path: (starts, round(ticks / 1e5)) for path, starts, ticks in rows}

        def name(path):
            return regions[paths[path][1]]["name"]

        def named(found):
            return {(name(paths[path][0]), name(path)): row for path, row in found.items()}

        # As in pprof, in tenths of a millisecond.
        assert named(times()) == {
            ("__main__.train", "cudaMemcpyAsync"): (2, 6),
            ("__main__.train", "cudaLaunchKernel"): (3, 18),
            ("__main__.train", "cudaMemsetAsync"): (1, 5),
            ("__main__.evaluate", "cudaLaunchKernel"): (1, 9),
            ("__main__.<module>", "cudaEventSynchronize"): (1, 0),  # stands for the start of a graph
        }
        names = [track["name"] for track in viewer.description()["tracks"]]
        assert named(times(tracks=(names.index("MainThread"),))) == named(times())
        assert times(tracks=(names.index("CUDA[0:7]"),)) == {} == times(end=1)
        kinds = {track["name"]: track["kind"] for track in viewer.description()["tracks"]}
        assert kinds == {"MainThread": "thread", "CUDA[0:7]": "stream", "CUDA[0:13]": "stream"} | {
            name: kind for name, kind in kinds.items() if kind == "metrics"
        }


def test_arrows_in_chrome(timeloom, run, tmp_path):
    timeloom("convert", run, "--to", "chrome", "-o", "a.json", cwd=tmp_path)
    file = Chrome(tmp_path / "a.json")
    arrows = {}
    for one in json.loads((tmp_path / "a.json").read_text())["traceEvents"]:
        if one["ph"] in "st" and one["name"] == "launch":
            arrows.setdefault(one["id"], []).append((one["ph"], file.places[one["pid"], one["tid"]], round(one["ts"] * 1000)))
    ends = [sorted(arrow, key=lambda one: (one[2], one[0])) for arrow in arrows.values()]
    assert all([phase for phase, *_ in arrow] == ["s", *"t" * (len(arrow) - 1)] for arrow in ends)
    assert started_by(names_at(file), [(arrow[0][1:], [work[1:] for work in arrow[1:]]) for arrow in ends]) == STARTED


def test_arrows_in_perfetto(timeloom, run, tmp_path):
    timeloom("convert", run, "--to", "perfetto", "-o", "a.perfetto", cwd=tmp_path)
    file = Perfetto(tmp_path / "a.perfetto")
    arrows = [((place, time), [file.works[number][:2] for number in numbers]) for place, time, numbers in file.launches]
    assert started_by(names_at(file), arrows) == STARTED
    assert file.steps == {}
    works = sorted(file.works.values(), key=lambda work: work[1])
    assert [work[2] for work in works] == [name for call in STARTED for name in call]
    assert {(work[0][1], work[3], work[4]) for work in works} == {
        ("CUDA[0:7]", "copy", 0), ("CUDA[0:7]", "kernel", 0), ("CUDA[0:13]", "kernel", 0)
    }  # fmt: skip
    assert works[0][5].keys() == {"gpu_queue_time", "gpu_bytes"}
    assert works[0][5]["gpu_bytes"] == "4096 bytes"
    # A stream has no other track.
    assert not [name for _, name in file.places.values() if name.startswith("CUDA[")]
