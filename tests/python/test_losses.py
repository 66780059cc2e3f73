"""What was lost or damaged is said by `timeloom report`, never passed over."""

import json
import os
import resource
import shutil
import subprocess
import sys

import pytest
from archives import MAIN, make_archive, one_line, report_json

pytestmark = pytest.mark.any_python


@pytest.fixture(scope="session")
def long_archive(tmp_path_factory):
    """1,000 visits of one region."""
    events = [(k, "f" if k % 2 == 0 else None) for k in range(2000)]
    return make_archive(tmp_path_factory.mktemp("runs") / "long", {"MainThread": events})


@pytest.fixture
def long_run(long_archive, tmp_path):
    return shutil.copytree(long_archive, tmp_path / "long")


def visits(report):
    return sum(row["visits"] for row in report["flat"]["rows"])


def damaged_events(run, change):
    (file,) = (run / "traces").glob("*.evt")
    file.write_bytes(change(bytearray(file.read_bytes())))


def test_an_event_file_that_is_cut_off_is_said(timeloom, long_run):
    assert report_json(timeloom, long_run)["losses"] == []
    damaged_events(long_run, lambda data: data[:len(data) // 2])
    report = report_json(timeloom, long_run)
    file, missing, *left_open = report["losses"]
    assert file.startswith("1 file of the trace damaged or cut off")
    assert missing.endswith(" events missing from the files of the trace")
    lost = int(missing.split(" ")[0].replace(",", ""))
    assert 2 * visits(report) - len(left_open) == 2000 - lost
    assert f"! {missing}" in timeloom("report", long_run).stdout


def test_zeros_in_an_event_file_are_said(timeloom, long_run):
    def zeros(data):
        data[8000:8064] = bytes(64)
        return data

    damaged_events(long_run, zeros)
    report = report_json(timeloom, long_run)
    assert visits(report) < 1000
    assert any("missing" in loss for loss in report["losses"])


def test_regions_that_are_never_left_are_said(timeloom, tmp_path):
    run = make_archive(tmp_path / "open", {"MainThread": MAIN[:-1]})
    (said,) = report_json(timeloom, run)["losses"]
    assert said.startswith("1 region entered and never left")


def in_time(command, **settings):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **settings)


def test_a_fifo_in_place_of_a_file_is_an_error(timeloom, run):
    """Instead of waiting for somebody to write into it."""
    for name in ("traces.otf2", "traces.def", "traces/0.evt", "traces/0.def"):
        file = run / name
        file.rename(run / "kept")
        os.mkfifo(file)
        one_line(timeloom("report", run, status=1))
        (run / "kept").replace(file)
    os.mkfifo(run / "profile.cubex")
    timeloom("report", run)


def test_a_fifo_in_place_of_the_settings_is_passed_over(tmp_path):
    os.mkfifo(tmp_path / "pyproject.toml")
    done = in_time([sys.executable, "-m", "timeloom", "--quiet", "-c", "print('ran')"],
                   cwd=tmp_path)
    assert (done.stdout, done.returncode) == ("ran\n", 0)


def small_files():
    """Where the ring does not fit."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))


@pytest.mark.parametrize("existed", [False, True])
def test_a_start_that_fails_leaves_no_run(tmp_path, existed):
    run = tmp_path / "run"
    if existed:
        run.mkdir()
    done = in_time([sys.executable, "-m", "timeloom", "-o", "run", "-c", "print('ran')"],
                   cwd=tmp_path, preexec_fn=small_files)
    assert done.stdout == "ran\n"
    assert done.stderr.startswith("timeloom: nothing is measured: cannot allocate")
    assert run.exists() == existed and (not existed or not list(run.iterdir()))


def test_a_block_that_cannot_start_leaves_no_run(tmp_path):
    text = ("import timeloom\n"
            "try:\n"
            "    timeloom.Measurement(output='run').start()\n"
            "except timeloom.Error as error:\n"
            "    print(error)\n")
    done = in_time([sys.executable, "-c", text], cwd=tmp_path, preexec_fn=small_files)
    assert done.stdout.startswith("cannot allocate") and done.returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_markers_reach_the_run(timeloom, tmp_path):
    text = "import timeloom\ntimeloom.marker('half way')\n"
    timeloom("run", "--quiet", "-o", tmp_path / "run", "-c", text)
    info = json.loads(timeloom("info", "--json", tmp_path / "run").stdout)
    assert [marker["text"] for marker in info["markers"]] == ["half way"]
