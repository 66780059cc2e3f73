"""Recording of GPUs, with stand-ins for NVIDIA's driver and CUPTI (tests/gpu)."""

import json
import os
import shutil
import struct
import subprocess
import sys

import pytest
from gpu_runs import PRELUDE, SCRIPT, WITHOUT_HELPERS, libraries, locations_of, run_gpu, spool_of  # noqa: F401
from pprof_files import read_pprof

pytestmark = pytest.mark.any_python


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
        ("call", thread, 23, 0, "cudaMemcpyAsync"),
        ("copy", ("queue", 0, 1, 7), 23, 0x22, 1 << 20),
    ]
    assert all(r.start < r.end for r in gpu.records)
    assert (gpu.lost, gpu.left) == (0, [])


def test_records_are_packed_while_the_program_runs(run_gpu, tmp_path):
    run_gpu(SCRIPT, "--no-weave", "--pack-early")
    (file,) = (tmp_path / "run" / "spool").glob("*/gpu")
    data = file.read_bytes()
    kinds, at = set(), 16
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        kinds.add(kind)
        at += 16 + size
    assert struct.unpack_from("<H", data, 8) == (2,)
    assert 8 in kinds


@pytest.mark.parametrize("options", [(), ("--pack-early",)], ids=["raw", "packed"])
def test_report(run_gpu, timeloom, tmp_path, options):
    run_gpu(SCRIPT, *options, *WITHOUT_HELPERS)
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
        ("copy device to host (pinned)", 1, 0.1, 1 << 20),
        ("copy host to device (pageable)", 1, 0.5, 4096),
        ("set memory", 1, 0.5, 512),
    ]
    assert [(c["function"], c["starts"], ms(c["gpu_seconds"]), c["most"]) for c in report["callers"]] == [
        ("__main__.train", 6, 2.9, "add(float*, int)"),
        ("__main__.evaluate", 1, 0.9, "plain"),
    ]
    assert report["waiting_seconds"] >= 0.001
    assert 0 < report["busy"] < 1


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
        (2, "cudaMemcpyAsync", {"started": "copy device to host (pinned)", "gpu_time": 0.1}),
    ]
    assert locations["CUDA[0:7]"] == [
        (0, "copy host to device (pageable)", {"gpu_queue_time": 2.0, "gpu_bytes": 4096}),
        *[(0, "add(float*, int)", {"gpu_queue_time": 2.0})] * 3,
        (0, "set memory", {"gpu_queue_time": 2.0, "gpu_bytes": 512}),
        (0, "copy device to host (pinned)", {"gpu_queue_time": 2.0, "gpu_bytes": 1 << 20}),
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


def test_records_before_another_program_takes_the_place(run_gpu, timeloom, tmp_path):
    run_gpu("""\
begin()
for i in range(30): launch(b"kern", i, 50)
os.execv(sys.executable, [sys.executable, "-c", "pass"])
""")
    report = json.loads(timeloom("report", "--gpu", "--json", "run", cwd=tmp_path).stdout)
    assert [(k["name"], k["times"]) for k in report["kernels"]] == [("kern", 30)]


def test_a_look_at_a_program_leaves_streams_out(run_gpu, timeloom_program, tmp_path):
    done = run_gpu(f"""\
import subprocess
begin()
launch(b"kern", 1, 50_000)
gpu.cuptiActivityFlushAll(0)
subprocess.run([{timeloom_program!r}, "top", "--json", "--looks", "1", "run"], check=True)
""")
    look = json.loads(done.stdout.splitlines()[0])
    assert "kern" not in {row["name"] for row in look["functions"]}
    assert [row["name"] for row in look["thread_times"]] == ["MainThread"]


@pytest.mark.parametrize("end", ["2**64 - 1", "gpu.play_now() + 3_600 * 10**9"])
def test_a_time_that_cannot_be_does_not_lengthen_the_run(end, run_gpu, timeloom, tmp_path):
    run_gpu(f"""\
begin()
launch(b"whole", 1, 500)
gpu.play_kernel(b"absurd", 0, 1, 7, gpu.play_now(), {end}, 2, 1)
""")
    report = json.loads(timeloom("report", "--gpu", "--json", "run", cwd=tmp_path).stdout)
    assert [(k["name"], k["times"]) for k in report["kernels"]] == [("whole", 1)]
    assert "1 record of the GPU lost or without an end [TL030]" in report["losses"]
    assert json.loads(timeloom("info", "--json", "run", cwd=tmp_path).stdout)["wall_s"] < 60


def test_a_damaged_file_is_the_reason_for_nothing(run_gpu, timeloom, tmp_path):
    run_gpu("begin()\nlaunch(b'whole', 1, 500)\n", "--no-weave")
    (file,) = (tmp_path / "run").glob("spool/*/gpu")
    file.write_bytes(file.read_bytes()[:20])
    for _ in ("woven now", "woven before"):
        done = timeloom("report", "--gpu", "run", cwd=tmp_path, status=1)
        assert [line.split("[")[-1] for line in done.stderr.splitlines()] [-2:] == ["TL253]", "TL417]"]


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


MANY_KERNELS = """\
begin()
start = gpu.play_now()
for i in range(100_000):
    gpu.play_kernel(b"empty", 0, 1, 7, start + i, start + i + 1, i, 1)
    if i % 1000 == 0: gpu.cuptiActivityFlushAll(0)
"""


def test_a_limit_of_the_size_holds_more_packed_records(run_gpu, timeloom, tmp_path):
    done = run_gpu(MANY_KERNELS, "--max-size", "4M", "--keep-spool")
    assert "TL029" not in done.stderr
    (file,) = (tmp_path / "run").glob("spool/*/gpu")
    assert file.stat().st_size < 1_000_000
    (kernel,) = json.loads(timeloom("report", "--gpu", "--json", "run", cwd=tmp_path).stdout)["kernels"]
    assert kernel["times"] == 100_000


def test_a_limit_of_the_size(run_gpu, timeloom, tmp_path):
    """The file gpu takes at most half of it; later records are counted."""
    done = run_gpu(
        MANY_KERNELS,
        "--max-size", "4M", "--no-pack-early", "--keep-spool",
    )  # fmt: skip
    assert done.stderr.count("timeloom: records of the GPU are lost: they fill half of the size limit (--max-size) [TL029]") == 1
    (file,) = (tmp_path / "run").glob("spool/*/gpu")
    assert 1_000_000 < file.stat().st_size <= 2 << 20
    report = json.loads(timeloom("report", "--gpu", "--json", "run", cwd=tmp_path).stdout)
    (kernel,) = report["kernels"]
    assert kernel["times"] == len(spool_of(tmp_path / "run").records)
    assert f"{100_000 - kernel['times']} events could not be recorded [TL003]".replace(",", "") in "".join(
        report["losses"]
    ).replace(",", "")


def test_gpu_time_in_pprof(run_gpu, timeloom, tmp_path):
    run_gpu(SCRIPT, *WITHOUT_HELPERS)
    timeloom("convert", "run", "--to", "pprof", "-o", "paths.pb.gz", cwd=tmp_path)
    profile = read_pprof(tmp_path / "paths.pb.gz")
    strings = profile.string_table
    assert [strings[one.type] for one in profile.sample_type] == ["visits", "time", "work", "waiting", "gpu"]
    names = {one.id: strings[one.name] for one in profile.function}
    found = {}
    for sample in profile.sample:
        if sample.value[4]:
            path = tuple(names[place] for place in sample.location_id)[:2]
            found[path] = found.get(path, 0) + round(sample.value[4] / 1000)
    assert found == {
        ("cudaMemcpyAsync", "__main__.train"): 600,
        ("cudaLaunchKernel", "__main__.train"): 1800,
        ("cudaMemsetAsync", "__main__.train"): 500,
        ("cudaLaunchKernel", "__main__.evaluate"): 900,
    }


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
        ({"STAND_IN_VERSION": "11040"}, None,
         "timeloom: the GPU is not recorded: the driver has CUDA 11.4; 12 or later is needed [TL025]"),
        ({"STAND_IN_VERSION": "12040"}, None,
         "timeloom: the GPU is not recorded: the driver has CUDA 12.4: there is no libcupti.so.12; install the package "
         "nvidia-cuda-cupti-cu12 [TL025]"),
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
