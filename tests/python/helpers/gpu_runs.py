"""Programs that use the stand-ins for NVIDIA's driver and CUPTI (tests/gpu), and their runs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import gpu_files
import pytest

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
                            play_device="IsQ", play_part="IsQI", play_dropped="Q", play_node="sIIIQQIII", play_wait="IIIIQQI",
                            play_event="IIII", play_memory="IIQQQIII").items():
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
    start = call(1, 23) + 2000 * US
    gpu.play_copy(2, 3, 2, 1 << 20, 0, 1, 7, start, start + 100 * US, 23)
def evaluate():
    launch(b"plain", 30, 900, stream=13, blocks=8)
    gpu.play_unknown()
train()
"""


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
            open_spans[-1][2].update({name: round(value / 1e6, 1) if name.endswith("time") else value
                                      for name, value in rest[0] if name.startswith("gpu") and name != "gpu_idle_time"})  # fmt: skip
    assert not open_spans
    return [(depth, name, facts) for depth, name, facts in found]


def events_of(run):
    """Return the events of each location of the archive, as foreign_reader.py prints them."""
    done = subprocess.run(
        ["/usr/bin/python3", str(Path(__file__).parent / "foreign" / "foreign_reader.py"), str(run / "traces.otf2")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return {one["name"]: one["events"] for one in json.loads(done.stdout)["locations"].values()}


def locations_of(run):
    return {name: spans(events) for name, events in events_of(run).items()}
