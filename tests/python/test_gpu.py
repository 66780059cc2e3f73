"""Recording of GPUs, with stand-ins for NVIDIA's driver and CUPTI (tests/gpu)."""

import json
import os
import shutil
import subprocess
import sys

import gpu_files
import pytest

pytestmark = pytest.mark.any_python

# The stand-ins as a program sees them: a CUDA call takes 1 ms, and its work starts 2 ms after the start of the call.
PRELUDE = """\
import ctypes, os, sys, time
driver = ctypes.CDLL("libcuda.so.1")
def begin():
    global gpu
    driver.cuInit(0)
    gpu = ctypes.CDLL("libcupti.so.13")
    gpu.play_now.restype = gpu.play_long_call.restype = ctypes.c_uint64
    for name, kinds in dict(play_long_call="IIQI", play_kernel="sIIIQQII", play_copy="IIIQIIIQQI", play_set="QIIIQQI",
                            play_device="IsQ", play_dropped="Q").items():
        types = dict(I=ctypes.c_uint32, Q=ctypes.c_uint64, s=ctypes.c_char_p)
        getattr(gpu, name).argtypes = [types[kind] for kind in kinds]
US = 1000
def call(function, correlation, domain=2):
    return gpu.play_long_call(domain, function, 1000 * US, correlation)
def launch(name, correlation, us, stream=7, blocks=4):
    start = call(0, correlation) + 2000 * US
    gpu.play_kernel(name, 0, 1, stream, start, start + us * US, correlation, blocks)
"""


@pytest.fixture(scope="session")
def libraries(tmp_path_factory):
    return gpu_files.stand_ins(tmp_path_factory.mktemp("gpu"))


@pytest.fixture
def run_gpu(tmp_path, libraries):
    """Runs a program with the stand-ins; the run is in tmp_path/run."""

    def run(program, *options, environment=None, status=0):
        (tmp_path / "app.py").write_text(PRELUDE + program)
        done = subprocess.run(
            [sys.executable, "-m", "timeloom", "--gpu", "-o", "run", *options, "app.py"],
            cwd=tmp_path, capture_output=True, text=True, check=False,
            env={**os.environ, "LD_LIBRARY_PATH": str(libraries), **(environment or {})},
        )  # fmt: skip
        assert done.returncode == status, done.stderr
        return done

    return run


WITHOUT_HELPERS = ("--exclude", "__main__.call", "--exclude", "__main__.launch", "--exclude", "ctypes")


def spool_of(run):
    (spool,) = run.glob("spool/*/gpu")
    return gpu_files.read(spool)


SCRIPT = """\
begin()
def train():
    gpu.play_device(0, b"NVIDIA H100", 80 << 30)
    start = call(1, 1) + 2000 * US
    gpu.play_copy(1, 1, 3, 4096, 0, 1, 7, start, start + 500 * US, 1)
    for i in range(3):
        launch(b"_Z3addPfi", 10 + i, 600)
    evaluate()
    start = call(2, 20) + 2000 * US
    gpu.play_set(512, 0, 1, 7, start, start + 500 * US, 20)
    call(4, 21)
    call(3, 22)
def evaluate():
    launch(b"plain", 30, 900, stream=13, blocks=8)
    gpu.play_unknown()
train()
"""


def test_records_of_the_spool(run_gpu, tmp_path):
    run_gpu(SCRIPT, "--no-weave")
    gpu = spool_of(tmp_path / "run")
    thread = next(r.place for r in gpu.records if r.kind == "call")
    assert gpu.devices == {0: ("NVIDIA H100", 80 << 30)}
    assert [(r.kind, r.place, r.correlation, r.detail, r.value) for r in gpu.records] == [
        ("call", thread, 1, 0, "cudaMemcpyAsync"),
        ("copy", ("queue", 0, 1, 7), 1, 0x11, 4096),
        *[
            record
            for i in range(3)
            for record in (
                ("call", thread, 10 + i, 0, "cudaLaunchKernel"),
                ("kernel", ("queue", 0, 1, 7), 10 + i, 0, ("_Z3addPfi", 4, 1, 1, 128, 1, 1, 32, 1024, 0)),
            )
        ],
        ("call", thread, 30, 0, "cudaLaunchKernel"),
        ("kernel", ("queue", 0, 1, 13), 30, 0, ("plain", 8, 1, 1, 128, 1, 1, 32, 1024, 0)),
        ("call", thread, 20, 0, "cudaMemsetAsync"),
        ("set", ("queue", 0, 1, 7), 20, 0, 512),
        ("call", thread, 22, 0, "cudaDeviceSynchronize"),
    ]
    assert all(r.start < r.end for r in gpu.records)
    assert (gpu.lost, gpu.left) == (0, [])


def test_report(run_gpu, timeloom, tmp_path):
    run_gpu(SCRIPT, *WITHOUT_HELPERS)
    done = timeloom("report", "--gpu", "--json", "run", cwd=tmp_path)
    report = json.loads(done.stdout)

    def ms(seconds):
        return round(seconds * 1000, 2)

    assert [(k["name"], k["times"], ms(k["seconds"]), ms(k["queue_seconds"])) for k in report["kernels"]] == [
        ("add(float*, int)", 3, 1.8, 6),
        ("plain", 1, 0.9, 2),
    ]
    # Both take half a millisecond, but for a tick.
    assert sorted((c["name"], c["times"], ms(c["seconds"]), c["bytes"]) for c in report["copies"]) == [
        ("copy host to device (pageable)", 1, 0.5, 4096),
        ("set memory", 1, 0.5, 512),
    ]
    assert [(c["function"], c["starts"], ms(c["gpu_seconds"]), c["most"]) for c in report["callers"]] == [
        ("__main__.train", 5, 2.8, "add(float*, int)"),
        ("__main__.evaluate", 1, 0.9, "plain"),
    ]
    assert report["waiting_seconds"] >= 0.001
    assert 0 < report["busy"] < 1


def spans(events):
    """Return enter and leave as one entry [depth, name, facts]; facts are the parameters and metrics inside."""
    found, open_spans = [], []
    for kind, _, *rest in events:
        if kind == "enter":
            open_spans.append([len(open_spans), rest[0], {}])
            found.append(open_spans[-1])
        elif kind == "leave":
            assert open_spans.pop()[1] == rest[0]
        elif kind == "parameter":
            open_spans[-1][2][rest[0]] = rest[1]
        elif kind == "metric":
            open_spans[-1][2].update({name: round(value / 1e6, 1) if name != "gpu_bytes" else value
                                      for name, value in rest[0] if name.startswith("gpu")})  # fmt: skip
    assert not open_spans
    return [(depth, name, facts) for depth, name, facts in found]


def locations_of(run):
    done = subprocess.run(
        ["/usr/bin/python3", str(gpu_files.SOURCE.parents[1] / "python" / "foreign_reader.py"), str(run / "traces.otf2")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return {one["name"]: spans(one["events"]) for one in json.loads(done.stdout)["locations"].values()}


def test_archive(run_gpu, tmp_path):
    run_gpu(SCRIPT, *WITHOUT_HELPERS)
    locations = locations_of(tmp_path / "run")
    add = (2, "cudaLaunchKernel", {"started": "add(float*, int)", "gpu_time": 0.6})
    main = locations["MainThread"]
    assert main[main.index((1, "__main__.train", {})) :] == [
        (1, "__main__.train", {}),
        (2, "cudaMemcpyAsync", {"started": "copy host to device (pageable)", "gpu_time": 0.5}),
        *[add] * 3,
        (2, "__main__.evaluate", {}),
        (3, "cudaLaunchKernel", {"started": "plain", "gpu_time": 0.9}),
        (2, "cudaMemsetAsync", {"started": "set memory", "gpu_time": 0.5}),
        (2, "cudaDeviceSynchronize", {}),
    ]
    assert locations["CUDA[0:7]"] == [
        (0, "copy host to device (pageable)", {"gpu_queue_time": 2.0, "gpu_bytes": 4096}),
        *[(0, "add(float*, int)", {"gpu_queue_time": 2.0})] * 3,
        (0, "set memory", {"gpu_queue_time": 2.0, "gpu_bytes": 512}),
    ]
    assert locations["CUDA[0:13]"] == [(0, "plain", {"gpu_queue_time": 2.0})]


def test_streams_are_no_threads_of_the_program(run_gpu, timeloom, tmp_path):
    done = run_gpu(SCRIPT)
    assert " 1 thread" in done.stderr
    head = timeloom("report", "run", cwd=tmp_path).stdout.splitlines()[0]
    assert ", 1 thread, GPU busy " in head
    flat = timeloom("report", "--flat", "--min-percent", "0", "run", cwd=tmp_path).stdout
    assert "cudaLaunchKernel" in flat
    assert "add(float" not in flat
    assert "add(float" in timeloom("report", "--flat", "--thread", "CUDA[0:7]", "run", cwd=tmp_path).stdout


def test_profile_mode_has_the_streams(run_gpu, timeloom, tmp_path):
    run_gpu(SCRIPT, "--profile")
    report = json.loads(timeloom("report", "--gpu", "--json", "run", cwd=tmp_path).stdout)
    assert [(k["name"], k["times"]) for k in report["kernels"]] == [("add(float*, int)", 3), ("plain", 1)]
    assert report["callers"] == []


def test_calls_of_a_thread_without_python(run_gpu, tmp_path):
    run_gpu("begin()\ngpu.play_native_thread()\n")
    locations = locations_of(tmp_path / "run")
    (native,) = [name for name in locations if name.startswith("native thread ")]
    assert locations[native] == [(0, "cudaLaunchKernel", {"started": "native", "gpu_time": 1.0})]


@pytest.mark.parametrize("clock", [0, 1])
def test_another_tool_in_the_program(run_gpu, timeloom, tmp_path, clock):
    done = run_gpu(f"clock = {clock}\n" + """\
other = ctypes.CDLL("libother.so")
begin()
launch(b"before", 1, 500)
print(other.other_begin(clock), [kind for kind in range(60) if gpu.play_enabled(kind)], gpu.play_period())
print(gpu.play_now() == 1000 if clock else abs(gpu.play_now() - time.time_ns()) < 1_000_000_000)
launch(b"after", 2, 500)
gpu.cuptiActivityFlushAll(1)
print(other.other_bytes())
""")
    assert done.stdout.splitlines() == ["0 [10] 0", "True", "216"]
    line = (
        "timeloom: the GPU is recorded no longer: the program has begun to trace it itself "
        "(torch.profiler or another user of CUPTI) [TL028]"
    )
    assert done.stderr.splitlines().count(line) == 1
    assert "! the GPU was recorded until another tool began to trace it [TL028]" in timeloom("report", "run", cwd=tmp_path).stdout
    report = json.loads(timeloom("report", "--gpu", "--json", "run", cwd=tmp_path).stdout)
    assert [(k["name"], k["times"]) for k in report["kernels"]] == [("before", 1)]


def test_lost_records_and_work_without_an_end(run_gpu, timeloom, tmp_path):
    run_gpu("""\
begin()
launch(b"whole", 1, 500)
gpu.play_kernel(b"open", 0, 1, 7, gpu.play_now(), 0, 2, 1)
gpu.play_kernel(b"waits", 0, 1, 7, 0, 0, 3, 1)
gpu.play_dropped(4)
""")
    assert "! 6 records of the GPU lost or without an end [TL030]" in timeloom("report", "run", cwd=tmp_path).stdout
    report = json.loads(timeloom("report", "--gpu", "--json", "run", cwd=tmp_path).stdout)
    assert [(k["name"], k["times"]) for k in report["kernels"]] == [("whole", 1)]
    assert "6 records of the GPU lost or without an end [TL030]" in report["losses"]
    assert "! 6 records of the GPU" in timeloom("report", "--gpu", "run", cwd=tmp_path).stdout


def test_a_file_that_cannot_be_written(run_gpu, timeloom, tmp_path):
    """As on a full disk, from the first failure on; a call and its work are two records."""
    done = run_gpu("""\
begin()
launch(b"kept", 1, 500)
gpu.cuptiActivityFlushAll(0)
files = {int(name): os.path.realpath("/proc/self/fd/" + name) for name in os.listdir("/proc/self/fd")}
((file, path),) = [(file, path) for file, path in files.items() if path.endswith("/gpu")]
os.dup2(2, file)
os.rename(path, path + "-away")
for correlation in (2, 3, 4): launch(b"lost", correlation, 500)
gpu.cuptiActivityFlushAll(0)
os.rename(path + "-away", path)
launch(b"later", 5, 500)
""")
    assert done.stderr.splitlines().count("timeloom: records of the GPU are lost: No such file or directory [TL029]") == 1
    assert "! 8 events could not be recorded [TL003]" in timeloom("report", "run", cwd=tmp_path).stdout
    report = json.loads(timeloom("report", "--gpu", "--json", "run", cwd=tmp_path).stdout)
    assert [(k["name"], k["times"]) for k in report["kernels"]] == [("kept", 1)]


def test_a_killed_program_keeps_what_was_handed_out(run_gpu, timeloom, tmp_path):
    run_gpu(
        """\
begin()
launch(b"kept", 1, 500)
gpu.cuptiActivityFlushAll(0)
launch(b"lost", 2, 500)
os.kill(os.getpid(), 9)
""",
        status=-9,
    )
    report = json.loads(timeloom("report", "--gpu", "--json", "run", cwd=tmp_path).stdout)
    assert [(k["name"], k["times"]) for k in report["kernels"]] == [("kept", 1)]


def test_a_forked_child_leaves_the_gpu_alone(run_gpu, timeloom, tmp_path):
    run_gpu("""\
begin()
launch(b"before", 1, 500)
if os.fork() == 0:
    sys.exit(0)
os.wait()
launch(b"after", 2, 500)
""")
    report = json.loads(timeloom("report", "--gpu", "--json", "run", cwd=tmp_path).stdout)
    assert sorted((k["name"], k["times"]) for k in report["kernels"]) == [("after", 1), ("before", 1)]


@pytest.mark.parametrize(
    ("environment", "missing", "line"),
    [
        ({"CUDA_INJECTION64_PATH": "/opt/other.so"}, None,
         "timeloom: the GPU is not recorded: CUDA_INJECTION64_PATH names the library of another tool, /opt/other.so; unset it [TL027]"),
        ({"STAND_IN_REFUSES": "1"}, None, "timeloom: the GPU is not recorded: CUPTI refuses to record kernels (39) [TL025]"),
        ({}, "libcupti.so.13",
         "timeloom: the GPU is not recorded: there is no libcupti.so; install the package nvidia-cuda-cupti [TL025]"),
    ],
)  # fmt: skip
def test_what_is_in_the_way(run_gpu, libraries, tmp_path, timeloom, environment, missing, line):
    if missing:
        own = tmp_path / "libraries"
        shutil.copytree(libraries, own)
        (own / missing).unlink()
        environment = {"LD_LIBRARY_PATH": str(own)}
    done = run_gpu("driver.cuInit(0)\nprint('runs')\n", environment=environment)
    assert done.stdout == "runs\n"
    assert done.stderr.splitlines().count(line) == 1
    assert "has nothing of a GPU" in timeloom("report", "--gpu", "run", cwd=tmp_path, status=1).stderr


def test_nothing_is_loaded_without_the_option(libraries, tmp_path):
    (tmp_path / "app.py").write_text(PRELUDE + "driver.cuInit(0)\nprint(os.environ.get('CUDA_INJECTION64_PATH'))\n")
    done = subprocess.run(
        [sys.executable, "-m", "timeloom", "-o", "run", "app.py"], cwd=tmp_path, capture_output=True,
        text=True, check=True, env={**os.environ, "LD_LIBRARY_PATH": str(libraries)},
    )  # fmt: skip
    assert done.stdout == "None\n"
