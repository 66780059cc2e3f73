"""Counters of GPUs from NVML, with stand-ins for NVIDIA's libraries (tests/gpu)."""

import itertools
import json
import struct

import pytest
from converted import Perfetto
from cube_files import raw
from gpu_runs import WITHOUT_HELPERS, events_of, libraries, run_gpu, spool_of  # noqa: F401
from pycubexr import CubexParser

pytestmark = pytest.mark.any_python

# The process sees three devices, and uses the first and the third, which is a part of a GPU.
COUNTERS = """\
nvml = ctypes.CDLL("libnvidia-ml.so.1")
def until(number, readings):
    last = time.monotonic() + 60
    while nvml.nvml_readings(number) < readings:
        assert time.monotonic() < last
        time.sleep(0.005)
def train():
    begin()
    for device in range(2): gpu.play_device(device, b"NVIDIA H100", 80 << 30)
    gpu.play_part(2, b"NVIDIA H100", 10 << 30, 1)
    launch(b"kernel", 1, 500)
    gpu.cuptiActivityFlushAll(0)
    until(1, 3)
    start = gpu.play_now()
    gpu.play_kernel(b"other", 2, 2, 9, start, start + 500 * US, 2, 1)
    gpu.cuptiActivityFlushAll(0)
    until(1, 5)
    assert nvml.nvml_readings(2) == 0
    assert nvml.nvml_reader() not in (0, os.getpid())
train()
"""
NAMES = ("gpu_utilization", "gpu_memory_utilization", "gpu_memory_in_use", "gpu_power")


@pytest.fixture
def run_nvml(run_gpu, libraries):
    def run(program, *options, environment=None, **others):
        path = {"LD_LIBRARY_PATH": f"{libraries}:{libraries / 'nvml'}"}
        return run_gpu(program, *options, environment={**path, **(environment or {})}, **others)

    return run


def counted(run):
    """Return the values of each device and counter in the spool."""
    records = [r for r in spool_of(run).records if r.kind == "counter"]
    assert all(a.start <= b.start for a, b in itertools.pairwise(records))
    values = {}
    for record in records:
        assert (record.correlation, record.end) == (0, 0)
        values.setdefault((record.place, NAMES[record.detail]), []).append(record.value)
    return values


def expected(first, part):
    return {
        **{(("device", 0), name): values for name, values in {
            "gpu_utilization": [10 + n % 10 for n in range(1, first + 1)],
            "gpu_memory_utilization": [n % 10 for n in range(1, first + 1)],
            "gpu_memory_in_use": [n << 20 for n in range(1, first + 1)],
            "gpu_power": [1000 * n for n in range(1, first + 1)],
        }.items()},
        (("device", 2), "gpu_memory_in_use"): [n << 20 for n in range(1, part + 1)],
    }  # fmt: skip


@pytest.mark.parametrize("options", [(), ("--pack-early",)], ids=["raw", "packed"])
def test_counters_in_the_run(run_nvml, timeloom, tmp_path, options):
    done = run_nvml(COUNTERS, *options, *WITHOUT_HELPERS, "--keep-spool")
    assert "TL152" not in done.stderr
    report = json.loads(timeloom("report", "--gpu", "--json", "run", cwd=tmp_path).stdout)
    rows = {(row["device"], row["counter"]): row for row in report["counters"]}
    first, part = rows[0, "gpu_power"]["values"], rows[2, "gpu_memory_in_use"]["values"]
    assert first >= 4
    values = expected(first, part)
    if not options:
        assert counted(tmp_path / "run") == values
    assert {(place[1], name): (min(of), len(of), sum(of) / len(of), max(of)) for (place, name), of in values.items()} == {
        key: (min(values[("device", key[0]), key[1]]), row["values"], pytest.approx(row["mean"]), row["most"])
        for key, row in rows.items()
    }  # fmt: skip
    assert {row["counter"]: row["unit"] for row in report["counters"]} == dict(zip(NAMES, ("%", "%", "bytes", "mW"), strict=True))
    in_archive = {}
    for location, events in events_of(tmp_path / "run").items():
        for kind, _, *rest in events if location in ("CUDA[0]", "CUDA[1]", "CUDA[2]") else ():
            assert kind == "metric"
            ((name, value),) = rest[0]
            in_archive.setdefault((location, name), []).append(value)
    assert in_archive == {(f"CUDA[{place[1]}]", name): of for (place, name), of in values.items()}
    text = timeloom("report", "--gpu", "run", cwd=tmp_path).stdout
    assert f"{first}.0 W  CUDA[0]: gpu_power" in text
    assert ", 1 thread, " in timeloom("report", "run", cwd=tmp_path).stdout.splitlines()[0]


def in_profile(file):
    """Return the number of values, the least, the most and the sum of each device and counter."""
    found = {}
    with CubexParser(str(file)) as cube:
        names = [location.name for location in cube.get_locations()]
        (above,) = (cnode for cnode in cube.all_cnodes() if cnode.region.name == "PER PROCESS METRICS")
        for name in NAMES:
            values = cube.get_metric_values(cube.get_metric_by_name(name), allow_full_uint64_values=True)
            for cnode in cube.all_cnodes():
                for place, (count, *numbers) in zip(names, struct.iter_unpack("<I4d", raw(values.cnode_values(cnode))), strict=True):
                    if count:
                        assert cnode.id == above.id
                        found[int(place[5]), name] = (count, *numbers[:3])
    return found


@pytest.mark.parametrize("options", [(), ("--profile",)], ids=["trace", "profile"])
def test_counters_in_the_profile(run_nvml, timeloom, tmp_path, options):
    run_nvml(COUNTERS, *options, *WITHOUT_HELPERS)
    report = json.loads(timeloom("report", "--gpu", "--json", "run", cwd=tmp_path).stdout)
    counts = {(row["device"], row["counter"]): row["values"] for row in report["counters"]}
    values = expected(counts[0, "gpu_power"], counts[2, "gpu_memory_in_use"])
    assert in_profile(tmp_path / "run" / "profile.cubex") == {
        (place[1], name): (len(of), min(of), max(of), sum(of)) for (place, name), of in values.items()
    }


def test_counters_in_perfetto(run_nvml, timeloom, tmp_path):
    run_nvml(COUNTERS, *WITHOUT_HELPERS)
    timeloom("convert", "run", "--to", "perfetto", "-o", "a.pftrace", cwd=tmp_path)
    file = Perfetto(tmp_path / "a.pftrace")
    report = json.loads(timeloom("report", "--gpu", "--json", "run", cwd=tmp_path).stdout)
    counts = {(row["device"], row["counter"]): row["values"] for row in report["counters"]}
    values = expected(counts[0, "gpu_power"], counts[2, "gpu_memory_in_use"])
    found = {}
    for (_, location), events in file.counters.items():
        for _, name, value in events if location in ("CUDA[0]", "CUDA[2]") else ():
            found.setdefault((("device", int(location[5])), name), []).append(value)
    assert found == values


def test_a_killed_program_keeps_its_counters(run_nvml, timeloom, tmp_path):
    run_nvml(COUNTERS + "until(1, 9)\nos.kill(os.getpid(), 9)\n", status=-9)
    report = json.loads(timeloom("report", "--gpu", "--json", "run", cwd=tmp_path).stdout)
    (row,) = [row for row in report["counters"] if row["counter"] == "gpu_power"]
    # The values up to a quarter of a second before.
    assert row["values"] >= 5
    assert (row["mean"], row["most"]) == ((row["values"] + 1) * 500, row["values"] * 1000)


def test_a_forked_child_reads_no_counters(run_nvml, timeloom, tmp_path):
    run_nvml(COUNTERS + "if os.fork() == 0: sys.exit(nvml.nvml_readings(1) > 99)\nassert os.wait()[1] == 0\nuntil(1, 7)\n")
    report = json.loads(timeloom("report", "--gpu", "--json", "run", cwd=tmp_path).stdout)
    assert len({row["process"] for row in report["counters"]}) == 1


def test_nvml_is_ended_with_the_measurement(run_nvml):
    done = run_nvml(COUNTERS, environment={"STAND_IN_NVML_TELLS": "1"})
    assert "NVML is started: 0" in done.stderr.splitlines()


@pytest.mark.parametrize(
    ("fails", "reason", "left"),
    [
        ("init 9", "NVML refuses to start (9)", set()),
        ("device 6", "NVML refuses the device GPU-a5a5a5a5-a5a5-a5a5-a5a5-a5a5a5a5a501 (6)", set()),
        ("power 15", "NVML refuses the power (15)", set(NAMES[:3])),
        ("utilization 999", "NVML refuses the utilisation (999)", set(NAMES[2:])),
        ("memory 3", None, set(NAMES) - {NAMES[2]}),  # the device has no such counter
    ],
)
def test_what_nvml_refuses(run_nvml, timeloom, tmp_path, fails, reason, left):
    """One line, and the rest is recorded."""
    done = run_nvml("""\
begin()
gpu.play_device(0, b"NVIDIA H100", 80 << 30)
launch(b"kernel", 1, 500)
gpu.cuptiActivityFlushAll(0)
nvml = ctypes.CDLL("libnvidia-ml.so.1")
last = time.monotonic() + 60
calls = {"init": 1, "device": 2}.get(os.environ["STAND_IN_NVML"].split()[0])
while not (nvml.nvml_readings(1) > 1 or calls and nvml.nvml_calls() >= calls):
    assert time.monotonic() < last
    time.sleep(0.005)
""", environment={"STAND_IN_NVML": fails})  # fmt: skip
    lines = [line for line in done.stderr.splitlines() if "TL152" in line]
    assert lines == ([] if reason is None else [f"timeloom: counters of the GPU are not recorded: {reason} [TL152]"])
    report = json.loads(timeloom("report", "--gpu", "--json", "run", cwd=tmp_path).stdout)
    assert {row["counter"] for row in report["counters"]} == left
    assert [kernel["name"] for kernel in report["kernels"]] == ["kernel"]


def test_without_nvml_nothing_is_missing(run_gpu, timeloom, tmp_path):
    done = run_gpu('begin()\ngpu.play_device(0, b"NVIDIA H100", 80 << 30)\nlaunch(b"kernel", 1, 500)\ngpu.cuptiActivityFlushAll(0)\n')
    assert "TL152" not in done.stderr
    assert json.loads(timeloom("report", "--gpu", "--json", "run", cwd=tmp_path).stdout)["counters"] == []
