"""The choice among the records of GPUs, with stand-ins for NVIDIA's libraries (tests/gpu)."""

import json
import os
import subprocess
import sys

import pytest
from gpu_runs import PRELUDE, SCRIPT, WITHOUT_HELPERS, libraries, run_gpu, spool_of  # noqa: F401

pytestmark = pytest.mark.any_python

COPIES, SETS, SERIAL, DRIVER, RUNTIME, DEVICES, KERNELS, PEERS, EVENTS, WAITS, MEMORY = 1, 2, 3, 4, 5, 8, 10, 22, 36, 38, 49
ALL = {COPIES, SETS, DRIVER, RUNTIME, DEVICES, KERNELS, PEERS, EVENTS, WAITS, MEMORY}
ENABLED = "begin()\nprint(*[kind for kind in range(64) if gpu.play_enabled(kind)])\n"
WORDS = [
    ("kernel", {DEVICES, KERNELS}),
    ("Kernel,MEMCPY", {DEVICES, KERNELS, COPIES, PEERS, SETS}),
    ("kernel_serial:kernel; runtime", {DEVICES, SERIAL, RUNTIME}),
    ("driver sync gpumemusage", {DEVICES, DRIVER, EVENTS, WAITS, MEMORY}),
    ("kernel,kernel_counter,kernel_callsite,idle,pure_idle,references,dontflushatexit,flushatexit", {DEVICES, KERNELS}),
    ("counters", {DEVICES}),
    ("references", ALL),
    ("default,kernel_serial", ALL - {KERNELS} | {SERIAL}),
    ("yes", ALL),
]


def lines_about(done):
    return [line for line in done.stderr.splitlines() if "TL153" in line]


@pytest.mark.parametrize(("words", "kinds"), WORDS)
def test_words_choose_records(run_gpu, words, kinds):
    done = run_gpu(ENABLED, "--gpu-records", words)
    assert set(map(int, done.stdout.split())) == kinds
    assert lines_about(done) == []


def test_all_are_recorded_without_words(run_gpu):
    assert set(map(int, run_gpu(ENABLED).stdout.split())) == ALL


@pytest.mark.parametrize(("words", "kinds", "unknown"), [("kernal", ALL, "kernal"), ("a,kernel,b", {DEVICES, KERNELS}, "a, b"), ("a\x1b[31m", ALL, "a?[31m")])
def test_unknown_words(run_gpu, words, kinds, unknown):
    done = run_gpu(ENABLED, environment={"TIMELOOM_GPU_RECORDS": words})
    assert set(map(int, done.stdout.split())) == kinds
    assert lines_about(done) == [
        f"timeloom: no records of the GPU are called {unknown}; there are runtime, driver, kernel, kernel_serial, memcpy, "
        "sync, gpumemusage, counters [TL153]"
    ]


def test_kernels_without_their_calls(run_gpu, timeloom, tmp_path):
    run_gpu(SCRIPT, *WITHOUT_HELPERS, "--gpu-records", "kernel", "--keep-spool")
    assert {record.kind for record in spool_of(tmp_path / "run").records} == {"kernel"}
    report = json.loads(timeloom("report", "--gpu", "--json", "run", cwd=tmp_path).stdout)
    assert [(k["name"], k["times"], k["queue_seconds"]) for k in report["kernels"]] == [
        ("add(float*, int)", 3, None),
        ("plain", 1, None),
    ]
    assert (report["copies"], report["callers"]) == ([], [])


@pytest.mark.parametrize(
    ("value", "kinds"), [("kernel,memcpy", {DEVICES, KERNELS, COPIES, PEERS, SETS}), ("yes", ALL), ("no", set()), (None, set())]
)
def test_the_variable_of_scorep(libraries, tmp_path, value, kinds):
    (tmp_path / "app.py").write_text(PRELUDE + ENABLED)
    variables = {} if value is None else {"SCOREP_CUDA_ENABLE": value}
    done = subprocess.run(
        [sys.executable, "-m", "scorep", "app.py"], cwd=tmp_path, capture_output=True, text=True, check=True,
        env={**os.environ, "LD_LIBRARY_PATH": str(libraries), **variables},
    )  # fmt: skip
    assert set(map(int, done.stdout.split())) == kinds


@pytest.mark.parametrize(("words", "read"), [("counters", True), ("kernel", False)])
def test_counters_are_chosen_by_their_word(run_gpu, libraries, timeloom, tmp_path, words, read):
    # Kernels show that a device is used.
    run_gpu(
        f"""\
begin()
gpu.play_device(0, b"NVIDIA H100", 80 << 30)
launch(b"kernel", 1, 500)
gpu.cuptiActivityFlushAll(0)
nvml = ctypes.CDLL("libnvidia-ml.so.1")
last = time.monotonic() + 60
while {read} and nvml.nvml_readings(1) < 2 and time.monotonic() < last: time.sleep(0.005)
""",
        "--gpu-records", f"{words},kernel",
        environment={"LD_LIBRARY_PATH": f"{libraries}:{libraries / 'nvml'}"},
    )  # fmt: skip
    report = json.loads(timeloom("report", "--gpu", "--json", "run", cwd=tmp_path).stdout)
    assert bool(report["counters"]) == read
