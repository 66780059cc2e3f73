"""Devices, contexts, streams and copies in the files of other tools, with the names and forms of Score-P."""

import json
import re
import shutil
import subprocess
import tarfile
from xml.etree import ElementTree

import pytest
from cube_files import sums_by_region
from gpu_runs import SCRIPT, WITHOUT_HELPERS, libraries, locations_of, run_gpu  # noqa: F401
from view_client import Viewer

pytestmark = [
    pytest.mark.any_python,
    pytest.mark.skipif(shutil.which("otf2-print") is None, reason="otf2-print is not installed"),
]

# Two devices, each with a context; the second stream of the first gets most of its work from the second thread.
DEVICES = """\
import threading
def copy(kind, source, target, size, device, context, stream, correlation):
    start = call(1, correlation) + 2000 * US
    gpu.play_copy(kind, source, target, size, device, context, stream, start, start + 100 * US, correlation)
def train():
    begin()
    for device in range(2): gpu.play_device(device, b"NVIDIA H100", 80 << 30)
    copy(1, 1, 3, 4096, 0, 1, 7, 1)
    launch(b"first", 2, 500)
    launch(b"second", 3, 500, stream=13)
    thread = threading.Thread(target=help, name="helper")
    thread.start()
    thread.join()
    copy(8, 3, 3, 77, 0, 1, 7, 4)
    copy(2, 3, 2, 1 << 20, 1, 2, 7, 5)
def help():
    for correlation in (10, 11): launch(b"second", correlation, 500, stream=13)
train()
"""


@pytest.fixture
def run(run_gpu, tmp_path):
    run_gpu(DEVICES, *WITHOUT_HELPERS, "--exclude", "__main__.copy", "--exclude", "threading")
    return tmp_path / "run"


def printed(run, *options):
    done = subprocess.run(["otf2-print", *options, run / "traces.otf2"], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.splitlines()


def defined(lines, kind):
    """Return the attributes of these definitions by id: texts without quotes, references as the names they lead to."""
    found = {}
    for line in lines:
        match = re.match(rf"{kind}\s+(\d+)\s+(.*)", line)
        if match:
            pairs = re.findall(r'([A-Z][\w ]*): (?:"([^"]*)"(?: <\d+>)?|([^",]+))', match.group(2))
            found[int(match.group(1))] = {name: text or word.strip() for name, text, word in pairs}
    return found


def test_devices_contexts_and_streams(run):
    lines = printed(run, "-G")
    nodes = defined(lines, "SYSTEM_TREE_NODE")
    (host,) = (f"node::{one['Name']}" for one in nodes.values() if one["Class"] == "node")
    assert [(one["Name"], one["Parent"]) for one in nodes.values() if one["Class"] == "CUDA Device"] == [("0", host), ("1", host)]
    assert [line for line in lines if "ACCELERATOR_DEVICE" in line and '"CUDA Device::1"' in line]
    assert [(one["Name"], one["Type"], one["Parent"], one["Creator"]) for one in defined(lines, "LOCATION_GROUP").values()] == [
        ("app.py", "PROCESS", host, "UNDEFINED"),
        ("CUDA Context 1", "ACCELERATOR", "CUDA Device::0", "app.py"),
        ("CUDA Context 2", "ACCELERATOR", "CUDA Device::1", "app.py"),
    ]
    assert [(one["Name"], one["Type"], one["Group"]) for one in defined(lines, "LOCATION").values()] == [
        ("MainThread", "CPU_THREAD", "app.py"),
        ("helper", "CPU_THREAD", "app.py"),
        ("CUDA[0:7]", "ACCELERATOR_STREAM", "CUDA Context 1"),
        ("CUDA[0:13]", "ACCELERATOR_STREAM", "CUDA Context 1"),
        ("CUDA[1:7]", "ACCELERATOR_STREAM", "CUDA Context 2"),
    ]
    paradigms = {one["Name"]: one["Paradigm"] for one in defined(lines, "REGION").values()}
    assert {paradigms[name] for name in ("first", "second", "cudaLaunchKernel", "copy host to device (pageable)")} == {"CUDA"}


def members(lines, kind, name):
    (line,) = (line for line in lines if re.match(rf'GROUP\s+\d+\s+Name: "{name}" <\d+>, Type: {kind}, Paradigm: "?CUDA', line))
    return re.findall(r'"([^"]+)" <\d+>', line.split(" Members: ")[1])


def test_copies_are_operations_on_remote_memory(run):
    definitions = printed(run, "-G")
    places = ["MainThread", "CUDA[0:7]", "helper", "CUDA[0:13]", "CUDA[1:7]"]
    assert members(definitions, "COMM_LOCATIONS", "CUDA") == places
    assert members(definitions, "COMM_GROUP", "CUDA_GROUP") == places
    assert defined(definitions, "RMA_WIN") == {0: {"Name": "CUDA_WINDOW", "Communicator": "", "Flags": "NONE"}}
    assert [one["Group"] for one in defined(definitions, "COMM").values()][-1] == "CUDA_GROUP"
    assert any(re.match(r'PARADIGM\s+5\s+CUDA, Name: "CUDA" <\d+>, Class: ACCELERATOR', line) for line in definitions)
    names = {key: one["Name"] for key, one in defined(definitions, "LOCATION").items()}
    events, times = {}, {}
    for line in printed(run):
        match = re.match(r"(RMA_\w+|ENTER|LEAVE)\s+(\d+)\s+(\d+)\s+(.*)", line)
        if match and names[int(match.group(2))].startswith("CUDA["):
            kind, place, time, rest = match.groups()
            word = re.search(r'(?:Region: |Remote: \d \()"([^"]*)"(?:.*Bytes: (\d+))?', rest)
            events.setdefault(names[int(place)], []).append((kind, *(word.groups() if word else ())))
            times.setdefault(names[int(place)], []).append(int(time))
    copied = [("RMA_OP_COMPLETE_BLOCKING",), ("LEAVE", "copy host to device (pageable)", None)]
    assert events == {
        "CUDA[0:7]": [("ENTER", "copy host to device (pageable)", None), ("RMA_GET", "MainThread", "4096"), *copied,
                      *((kind, name, None) for name in ("first", "copy device to device") for kind in ("ENTER", "LEAVE"))],
        "CUDA[0:13]": [("ENTER", "second", None), ("LEAVE", "second", None)] * 3,
        "CUDA[1:7]": [("ENTER", "copy device to host (pinned)", None), ("RMA_PUT", "MainThread", "1048576"), copied[0],
                      ("LEAVE", "copy device to host (pinned)", None)],
    }  # fmt: skip
    for name in ("CUDA[0:7]", "CUDA[1:7]"):
        enter, start, end, leave, *_ = times[name]
        assert enter == start < end == leave


def test_the_viewer_knows_who_feeds_a_stream(program, run):
    with Viewer(program, run) as viewer:
        tracks = viewer.wait().description()["tracks"]
    names = [track["name"] for track in tracks]
    assert {track["name"]: track["feeder"] if track["feeder"] is None else names[track["feeder"]] for track in tracks} == {
        "MainThread": None, "helper": None, "CUDA[0:7]": "MainThread", "CUDA[0:13]": "helper", "CUDA[1:7]": "MainThread",
    }  # fmt: skip
    assert {track["process"] for track in tracks} == {0}


def test_a_native_thread_feeds_a_stream(program, run_gpu, tmp_path):
    run_gpu("begin()\ngpu.play_native_thread()\n")
    with Viewer(program, tmp_path / "run") as viewer:
        tracks = viewer.wait().description()["tracks"]
    (stream,) = (track for track in tracks if track["name"] == "CUDA[0:7]")
    assert tracks[stream["feeder"]]["name"].startswith("native thread ")


def test_the_profile_has_the_contexts(run):
    with tarfile.open(run / "profile.cubex") as archive:
        cube = ElementTree.fromstring(archive.extractfile("anchor.xml").read())
    above = {child: parent for parent in cube.iter() for child in parent}
    groups = []
    for group in cube.iter("locationgroup"):
        node, creator = above[group], group.find("attr[@key='Creating location group']")
        groups.append((group.findtext("name"), group.findtext("type"), node.findtext("class"), node.findtext("name"),
                       creator if creator is None else creator.get("value"), [one.findtext("name") for one in group.iter("location")]))  # fmt: skip
    (host,) = {node for *_, kind, node, _, _ in groups if kind == "node"}
    assert cube.get("version") == "4.7"
    assert groups == [
        ("Process", "process", "node", host, None, ["MainThread", "helper"]),
        ("CUDA Context 1", "accelerator", "CUDA Device", "CUDA Device 0", "Process", ["CUDA[0:7]", "CUDA[0:13]"]),
        ("CUDA Context 2", "accelerator", "CUDA Device", "CUDA Device 1", "Process", ["CUDA[1:7]"]),
    ]
    assert {above[node].findtext("name") for node in cube.iter("systemtreenode") if node.findtext("class") == "CUDA Device"} == {host}
    kernels = sums_by_region(run / "profile.cubex", "visits")
    assert (kernels["first"], kernels["second"], kernels["copy host to device (pageable)"]) == (1, 3, 1)


# Numbers of one and the same run in all its forms.
@pytest.mark.parametrize("options", [(), ("--trace-format", "packed")], ids=["otf2", "packed"])
def test_other_forms_of_the_trace_give_the_same(run_gpu, timeloom, tmp_path, options):
    run_gpu(SCRIPT, *WITHOUT_HELPERS, *options)
    before = timeloom("report", "--gpu", "--json", "run", cwd=tmp_path).stdout
    described = timeloom("info", "--json", "run", cwd=tmp_path).stdout
    if options:
        timeloom("convert", "run", "--to", "otf2", "-o", "other", cwd=tmp_path)
    else:
        timeloom("pack", "run", cwd=tmp_path)
        (tmp_path / "run").rename(tmp_path / "other")
    assert timeloom("report", "--gpu", "--json", "other", cwd=tmp_path).stdout == before
    after = json.loads(timeloom("info", "--json", "other", cwd=tmp_path).stdout)
    assert [(one["name"], one["events"]) for one in after["locations"]] == [
        (one["name"], one["events"]) for one in json.loads(described)["locations"]
    ]
    if options:
        assert "CUDA[0:7]" in locations_of(tmp_path / "other")


def test_an_archive_of_one_stream_refers_to_nothing_that_it_lacks(run, timeloom, tmp_path):
    timeloom("convert", "--to", "otf2", "--thread", "CUDA[0:7]", "-o", tmp_path / "part", run)
    lines = [*printed(tmp_path / "part"), *printed(tmp_path / "part", "-G")]
    assert any("CUDA[0:7]" in line for line in lines) and not any("INVALID" in line for line in lines)
    assert not any("Feeding location" in line for line in lines if line.startswith("LOCATION_PROPERTY"))
