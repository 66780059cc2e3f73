"""Waiting for GPUs, their idle time and memory, and kernels in Python, with stand-ins for CUDA (tests/gpu)."""

import json

import pytest
from gpu_runs import SCRIPT, WITHOUT_HELPERS, libraries, locations_of, run_gpu, spool_of  # noqa: F401

import timeloom as timeloom_package

pytestmark = pytest.mark.any_python

NONE = 2**32 - 1
WAITS = '''\
begin()
def wait(kind, function, correlation, stream, event, us):
    start = call(function, correlation)
    gpu.play_wait(kind, 1, stream, event, start + 100 * US, start + (100 + us) * US, correlation)
def train():
    launch(b"first", 1, 600)
    call(7, 2)
    gpu.play_event(1, 7, 30, 2)
    launch(b"second", 3, 600, stream=8)
    wait(2, 10, 4, 8, 30, 50)
    wait(1, 9, 5, NONE, 30, 300)
    wait(3, 8, 6, 8, NONE, 500)
def finish():
    wait(4, 3, 7, NONE, NONE, 700)
    wait(3, 8, 8, 8, NONE, 200)
    wait(3, 8, 9, 8, NONE, 120)
NONE = 2**32 - 1
train()
finish()
'''


def test_records_of_waits_and_events(run_gpu, tmp_path):
    run_gpu(WAITS, "--no-weave")
    records = [r for r in spool_of(tmp_path / "run").records if r.kind in ("wait", "event")]
    assert [(r.kind, r.place, r.correlation, r.detail, r.value) for r in records] == [
        ("event", ("queue", NONE, 1, 7), 2, 0, 30),
        ("wait", ("queue", NONE, 1, 8), 4, 2, 30),
        ("wait", ("queue", NONE, 1, NONE), 5, 1, 30),
        ("wait", ("queue", NONE, 1, 8), 6, 3, NONE),
        ("wait", ("queue", NONE, 1, NONE), 7, 4, NONE),
        ("wait", ("queue", NONE, 1, 8), 8, 3, NONE),
        ("wait", ("queue", NONE, 1, 8), 9, 3, NONE),
    ]
    assert (records[0].start, records[0].end) == (0, 0)


def test_waits_in_the_report_and_the_archive(run_gpu, timeloom, tmp_path):
    run_gpu(WAITS, *WITHOUT_HELPERS, "--exclude", "__main__.wait")
    report = json.loads(timeloom("report", "--gpu", "--json", "run", cwd=tmp_path).stdout)
    assert [(w["function"], w["for"], w["times"], round(w["seconds"] * 1e6)) for w in report["waiting"]] == [
        ("__main__.finish", "all streams of CUDA[0]", 1, 700),
        ("__main__.train", "CUDA[0:8]", 1, 500),
        ("__main__.finish", "CUDA[0:8]", 2, 320),
        ("__main__.train", "an event in CUDA[0:7]", 1, 300),
    ]
    assert round(report["waiting_seconds"] * 1e6) == 1820
    paths = {path["path"][-1]: path for path in report["paths"]}
    assert {name: round(path["waiting_seconds"] * 1e6) for name, path in paths.items() if path["waiting_seconds"]} == {
        "__main__.train": 800, "__main__.finish": 1020
    }  # fmt: skip
    main = locations_of(tmp_path / "run")["MainThread"]
    assert [(name, facts) for _, name, facts in main if "waits_for" in facts] == [
        ("cudaStreamWaitEvent", {"waits_for": "an event in CUDA[0:7]"}),
        ("cudaEventSynchronize", {"waits_for": "an event in CUDA[0:7]", "gpu_wait_time": 0.3}),
        ("cudaStreamSynchronize", {"waits_for": "CUDA[0:8]", "gpu_wait_time": 0.5}),
        ("cudaDeviceSynchronize", {"waits_for": "all streams of CUDA[0]", "gpu_wait_time": 0.7}),
        ("cudaStreamSynchronize", {"waits_for": "CUDA[0:8]", "gpu_wait_time": 0.2}),
        ("cudaStreamSynchronize", {"waits_for": "CUDA[0:8]", "gpu_wait_time": 0.1}),
    ]
    text = timeloom("report", "--gpu", "run", cwd=tmp_path).stdout
    assert "finish: all streams of CUDA[0]" in text


def test_idle_time_of_the_device(run_gpu, timeloom, tmp_path):
    run_gpu(
        """\
begin()
def prepare(): time.sleep(0.05)
def train():
    launch(b"first", 1, 600)
    prepare()
    launch(b"second", 2, 600)
train()
""",
        *WITHOUT_HELPERS,
    )
    report = json.loads(timeloom("report", "--gpu", "--json", "run", cwd=tmp_path).stdout)
    wall = timeloom("info", "--json", "run", cwd=tmp_path)
    idle = {row["region"]: row["seconds"] for row in report["idle"]}
    # The first kernel ends at most 1.6 ms after prepare() was entered.
    assert idle["__main__.prepare"] > 0.048
    assert [row["region"] for row in report["idle"] if row["is_call"]] == ["cudaLaunchKernel"]
    (device,) = report["devices"]
    assert (device["device"], device["works"], round(device["busy_seconds"] * 1e6)) == (0, 2, 1200)
    wall = json.loads(wall.stdout)["wall_s"]
    outside = sum(row["seconds"] for row in report["idle"] if not row["is_call"])
    assert outside <= device["waits_seconds"] + 1e-6 <= wall - 0.0012 + 2e-6
    assert abs(report["waits_for_python"] - device["waits_seconds"] / wall) < 1e-3
    head = timeloom("report", "run", cwd=tmp_path).stdout.splitlines()[0]
    assert "GPU busy " in head
    assert "%, waits for Python " in head
    assert ", waits for Python " in timeloom("report", "--gpu", "run", cwd=tmp_path).stdout.splitlines()[0]


MEMORY = '''\
begin()
MB = 1 << 20
def allocate(correlation, address, megabytes, kind=3):
    start = call(5, correlation)
    gpu.play_memory(1, kind, address, megabytes * MB, start + 10 * US, 0, 1, correlation)
def release(correlation, address, megabytes):
    start = call(6, correlation)
    gpu.play_memory(2, 3, address, megabytes * MB, start + 10 * US, 0, 1, correlation)
def load():
    allocate(1, 0x1000, 100)
    allocate(2, 0x2000, 50)
    release(3, 0x2000, 50)
def train():
    allocate(4, 0x3000, 200)
    allocate(5, 0x9000, 999, kind=2)
    release(6, 0x3000, 200)
    allocate(7, 0x3000, 30)
    launch(b"kernel", 8, 500)
gpu.play_device(0, b"NVIDIA H100", 80 << 30)
load()
train()
'''


def test_memory_of_the_device(run_gpu, timeloom, tmp_path):
    run_gpu(MEMORY, *WITHOUT_HELPERS, "--exclude", "__main__.allocate", "--exclude", "__main__.release", "--keep-spool")
    records = [r for r in spool_of(tmp_path / "run").records if r.kind in ("allocate", "release")]
    megabyte = 1 << 20
    assert [(r.kind, r.end, r.value // megabyte, r.detail) for r in records] == [
        ("allocate", 0x1000, 100, 1), ("allocate", 0x2000, 50, 1), ("release", 0x2000, 50, 1),
        ("allocate", 0x3000, 200, 1), ("allocate", 0x9000, 999, 3), ("release", 0x3000, 200, 1),
        ("allocate", 0x3000, 30, 1),
    ]  # fmt: skip
    report = json.loads(timeloom("report", "--gpu", "--json", "run", cwd=tmp_path).stdout)
    assert [(m["function"], m["calls"], *(m[key] // megabyte for key in ("allocated_bytes", "peak_bytes", "end_bytes")))
            for m in report["memory"]] == [("__main__.train", 2, 230, 200, 30), ("__main__.load", 2, 150, 100, 100)]  # fmt: skip
    (device,) = report["devices"]
    assert (device["name"], device["memory_bytes"], device["peak_bytes"]) == ("NVIDIA H100", 80 << 30, 300 * megabyte)
    assert "NVIDIA H100" in timeloom("report", "--gpu", "run", cwd=tmp_path).stdout
    held = [facts["gpu_memory"] for _, _, facts in locations_of(tmp_path / "run")["MainThread"] if "gpu_memory" in facts]
    assert [value // megabyte for value in held] == [100, 150, 100, 300, 100, 130]


def test_graphs(run_gpu, timeloom, tmp_path):
    """Two graphs; one has two kernels and a copy, and its kernels overlap on their stream."""
    run_gpu(
        """\
begin()
def replay(graph, correlation, us):
    start = call(11, correlation) + 2000 * US
    gpu.play_node(b"first", 0, 1, 7, start, start + us * US, correlation, 4, graph)
    if graph == 5:
        gpu.play_node(b"second", 0, 1, 7, start + 50 * US, start + (50 + us) * US, correlation, 4, graph)
        gpu.play_copy(8, 3, 3, 4096, 0, 1, 7, start + 500 * US, start + 600 * US, correlation)
def train():
    for correlation in (1, 2): replay(5, correlation, 200)
    replay(6, 3, 100)
train()
""",
        *WITHOUT_HELPERS,
        "--exclude", "__main__.replay",
    )  # fmt: skip
    report = json.loads(timeloom("report", "--gpu", "--json", "run", cwd=tmp_path).stdout)
    assert [(g["name"], g["launches"], round(g["gpu_seconds"] * 1e6)) for g in report["graphs"]] == [
        ("graph 5", 2, 1000),
        ("graph 6", 1, 100),
    ]
    assert [(c["function"], c["starts"], c["most"]) for c in report["callers"]] == [("__main__.train", 3, "graph 5")]
    assert sum(k["times"] for k in report["kernels"]) == 5
    launches = [facts for _, name, facts in locations_of(tmp_path / "run")["MainThread"] if name == "cudaGraphLaunch"]
    assert launches == [{"started": "graph 5", "gpu_time": 0.5}] * 2 + [{"started": "graph 6", "gpu_time": 0.1}]
    assert "graph 5" in timeloom("report", "--gpu", "run", cwd=tmp_path).stdout


NVTX = """\
import threading
nvtx = ctypes.CDLL("libnvtx.so")
nvtx.nvtx_start.restype = ctypes.c_uint64
nvtx.nvtx_end.argtypes = [ctypes.c_uint64]
print(nvtx.nvtx_begin())
nvtx.nvtx_domain.restype = ctypes.c_void_p
domain = ctypes.c_void_p(nvtx.nvtx_domain(b"mine"))
assert domain.value
levels = [nvtx.nvtx_push(b"epoch")]
def enter(name): levels.append(nvtx.nvtx_push_wide(name))
def train():
    enter("st\\u00e4p \\U0001f600")
    levels.append(nvtx.nvtx_push_in(domain, b"inner"))
    levels.append(nvtx.nvtx_pop_in(domain))
    levels.append(nvtx.nvtx_pop())
    first = nvtx.nvtx_start(b"across")
    enter("step")
    nvtx.nvtx_end(first)
    nvtx.nvtx_end(99)
    levels.append(nvtx.nvtx_pop())
train()
levels += [nvtx.nvtx_pop(), nvtx.nvtx_pop(), nvtx.nvtx_pop_in(domain)]
print(levels)
other = threading.Thread(target=lambda: (nvtx.nvtx_push(b"on another"), nvtx.nvtx_pop()))
other.start()
other.join()
"""


def test_ranges_of_nvtx(run_gpu, timeloom, tmp_path):
    """They need neither CUDA nor a function around them; those that cross get lanes of their own."""
    done = run_gpu(NVTX, "--keep-spool")
    assert done.stdout.splitlines() == ["1", "[0, 1, 0, 0, 1, 1, 1, 0, -2, -2]"]
    ranges = [r for r in spool_of(tmp_path / "run").records if r.kind == "range"]
    assert [r.correlation for r in ranges] == [("mine", None), *[None] * 5]
    assert [r.value for r in ranges] == ["inner", "st\u00e4p \U0001f600", "across", "step", "epoch", "on another"]
    main, other = ranges[0].place[1], ranges[-1].place[1]
    locations = {name: spans for name, spans in locations_of(tmp_path / "run").items() if name.startswith("NVTX")}
    assert locations == {
        f"NVTX of thread {main}": [
            (0, "epoch", {}), (1, "st\u00e4p \U0001f600", {}), (2, "inner", {"nvtx_domain": "mine"}), (1, "across", {}),
        ],
        f"NVTX of thread {main} (2)": [(0, "step", {})],
        f"NVTX of thread {other}": [(0, "on another", {})],
    }  # fmt: skip
    report = json.loads(timeloom("report", "--gpu", "--json", "run", cwd=tmp_path).stdout)
    times = [row["seconds"] for row in report["ranges"]]
    assert times == sorted(times, reverse=True)
    assert sorted(row["name"] for row in report["ranges"] if row["times"] == 1) == sorted({r.value for r in ranges})
    assert "epoch" in timeloom("report", "--gpu", "run", cwd=tmp_path).stdout
    assert "NVTX" not in timeloom("report", "--flat", "--min-percent", "0", "run", cwd=tmp_path).stdout
    assert "2 threads" in done.stderr


LABELS = """\
nvtx = ctypes.CDLL("libnvtx.so")
nvtx.nvtx_domain.restype = ctypes.c_void_p
print(nvtx.nvtx_begin())
domain, other = (ctypes.c_void_p(nvtx.nvtx_domain(name)) for name in (b"mine", b"yours"))
nvtx.nvtx_name_category(7, b"default 7")
nvtx.nvtx_name_category_in(domain, 7, b"loading")
nvtx.nvtx_push(b"step")
nvtx.nvtx_mark(b"here")
nvtx.nvtx_push_of(domain, b"read", 7)
nvtx.nvtx_mark_of(other, b"there", 7)
nvtx.nvtx_mark_of(None, b"here", 7)
nvtx.nvtx_pop_in(domain)
nvtx.nvtx_pop()
"""


def test_marks_domains_and_categories_of_nvtx(run_gpu, timeloom, tmp_path):
    """A category is named in its domain, or has its number."""
    run_gpu(LABELS, "--keep-spool")
    ranges = [r for r in spool_of(tmp_path / "run").records if r.kind == "range"]
    assert [(r.value, r.correlation, r.start == r.end) for r in ranges] == [
        ("here", None, True),
        ("there", ("yours", "7"), True),
        ("here", (None, "default 7"), True),
        ("read", ("mine", "loading"), False),
        ("step", None, False),
    ]
    (lane,) = [spans for name, spans in locations_of(tmp_path / "run").items() if name.startswith("NVTX")]
    assert lane == [
        (0, "step", {}),
        (1, "here", {}),
        (1, "read", {"nvtx_domain": "mine", "nvtx_category": "loading"}),
        (2, "there", {"nvtx_domain": "yours", "nvtx_category": "7"}),
        (2, "here", {"nvtx_category": "default 7"}),
    ]
    report = json.loads(timeloom("report", "--gpu", "--json", "run", cwd=tmp_path).stdout)
    assert {row["name"]: row["times"] for row in report["ranges"]} == {"step": 1, "here": 2, "read": 1, "there": 1}


def test_kernels_in_python(run_gpu, tmp_path):
    run_gpu(SCRIPT, *WITHOUT_HELPERS)
    run = timeloom_package.read(tmp_path / "run")
    kernels = run.kernels()
    assert [(k["name"], k["device"], k["stream"], round(k["queue_s"] * 1000, 3), k["launched_by"][-1]) for k in kernels] == [
        *[("add(float*, int)", 0, 7, 2, "__main__.train")] * 3,
        ("plain", 0, 13, 2, "__main__.evaluate"),
    ]
    assert kernels[3]["launched_by"][-2] == "__main__.train"
    assert [round((k["end_s"] - k["start_s"]) * 1e6) for k in kernels] == [600, 600, 600, 900]
    assert [k["name"] for k in run.gpu["kernels"]] == ["add(float*, int)", "plain"]
