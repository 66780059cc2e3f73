"""The index of `timeloom view`: built once, and again if it does not belong to the run."""

import json
import os
import shutil
import struct

import pytest
from converted import recorded
from view_client import EVER, Viewer
from view_runs import named_table, one_run

pytestmark = pytest.mark.any_python

__all__ = ["one_run"]


def test_an_index_is_made_once(program, one_run):
    index = one_run / "view.timeloom"
    with Viewer(program, one_run) as viewer:
        viewer.wait()
        table = viewer.table()
        before = index.stat()
        assert not (one_run / ".view.timeloom").exists()
    with Viewer(program, one_run) as viewer:
        assert json.loads(viewer.ask("progress"))["state"] == "ready"
        assert viewer.table() == table
    assert (index.stat().st_ino, index.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "directory", "link"])
def test_an_index_that_is_none_is_made_again(program, one_run, tmp_path, damage):
    index = one_run / "view.timeloom"
    with Viewer(program, one_run) as viewer:
        viewer.wait()
        description, table = viewer.description(), named_table(viewer, viewer.description())
    good = index.read_bytes()
    if damage == "cut":
        index.write_bytes(good[:-8])
    elif damage == "changed":
        index.write_bytes(good[:8] + b"\x07" + good[9:])
    elif damage == "empty":
        index.write_bytes(b"")
    else:
        index.unlink()
        if damage == "directory":
            index.mkdir()
        else:
            (tmp_path / "other").write_bytes(b"of somebody else")
            index.symlink_to(tmp_path / "other")
    with Viewer(program, one_run, XDG_CACHE_HOME=str(tmp_path / "cache")) as viewer:
        viewer.wait()
        assert named_table(viewer, description) == table
    if damage == "link":
        assert (tmp_path / "other").read_bytes() == b"of somebody else"


def test_an_archive_that_changed_gets_another_index(program, one_run):
    with Viewer(program, one_run) as viewer:
        viewer.wait()
    before = (one_run / "view.timeloom").read_bytes()
    events = next((one_run / "traces").glob("*.evt"))
    os.utime(events, ns=(1, 1))
    with Viewer(program, one_run) as viewer:
        viewer.wait()
    assert (one_run / "view.timeloom").read_bytes() != before


def test_a_run_that_is_replaced_or_removed_is_told(program, one_run):
    anchor = one_run / "traces.otf2"
    with Viewer(program, one_run) as viewer:
        viewer.wait()

        def answer():
            status, _, body = viewer.request("POST", "/api/run", X_Timeloom_Token=viewer.token)
            return status, b"replaced or removed" in body and b"[TL507]" in body

        seen = anchor.stat()
        assert answer() == (200, False)
        os.utime(anchor, ns=(1, 1))
        assert answer() == (500, True)
        os.utime(anchor, ns=(seen.st_atime_ns, seen.st_mtime_ns))
        assert answer() == (200, False)
        one_run.rename(one_run.with_name("elsewhere"))
        assert answer() == (500, True)


def test_two_viewers_at_once(program, one_run):
    with Viewer(program, one_run) as one, Viewer(program, one_run) as other:
        first, second = one.wait(), other.wait()
        description = first.description()
        assert named_table(first, description) == named_table(second, description)


def test_a_run_without_a_trace(timeloom, one_run):
    for name in ("traces.otf2", "traces.def"):
        (one_run / name).unlink()
    shutil.rmtree(one_run / "traces")
    said = timeloom("view", str(one_run), "--no-browser", status=1).stderr
    assert said.startswith("timeloom: ") and "trace" in said


def test_an_index_goes_with_its_run(program, one_run, timeloom):
    with Viewer(program, one_run) as viewer:
        viewer.wait()
    assert (one_run / "view.timeloom").exists()
    assert "view.timeloom" in timeloom("info", str(one_run)).stdout


def flipped(index, good, place):
    index.write_bytes(good[:place] + bytes([good[place] ^ 1 << place % 8]) + good[place + 1:])


def test_a_damaged_index_is_made_anew_with_one_line(program, one_run, timeloom):
    """For any flipped bit the answer is the same, and a second one needs no message."""
    index = one_run / "view.timeloom"
    text = timeloom("view", "--text", one_run)
    assert text.stderr == ""
    good = index.read_bytes()
    for place in range(16, len(good), len(good) // 12):  # the words before it identify the file
        flipped(index, good, place)
        again = timeloom("view", "--text", one_run)
        assert again.stdout == text.stdout
        assert again.stderr == f"timeloom: the index of {one_run} is damaged; it is made anew [TL431]\n", place
    assert timeloom("view", "--text", one_run).stderr == ""
    flipped(index, good, len(good) // 2)
    done = timeloom("view", "--html", one_run.with_suffix(".html"), one_run)
    assert done.stderr.startswith(f"timeloom: the index of {one_run} is damaged; it is made anew [TL431]\ntimeloom: wrote ")


def test_an_index_of_an_earlier_version_is_made_anew_without_a_line(program, tmp_path, timeloom):
    """With the same bytes, as the run has one thread: several threads are written in the order in which they are read."""
    run = shutil.copytree(recorded("killed", program), tmp_path / "run")
    index = run / "view.timeloom"
    text = timeloom("view", "--text", run)
    good = index.read_bytes()
    (version,) = struct.unpack_from("<I", good, 8)
    index.write_bytes(good[:8] + struct.pack("<I", version - 1) + good[12:])
    again = timeloom("view", "--text", run)
    assert (again.stdout, again.stderr) == (text.stdout, "")
    assert index.read_bytes() == good


def test_a_page_goes_on_when_the_index_is_made_anew(program, one_run):
    """For any question: call paths keep their numbers, which stand at the end of the file."""
    index = one_run / "view.timeloom"

    def answers(viewer):
        return [viewer.ask("paths"), viewer.ask("table", struct.pack("<2d2I", 0, EVER, 0, 0)),
                viewer.ask("tiles", struct.pack("<6I", 0, 3, 0, 0, 0, 9))]  # fmt: skip

    with Viewer(program, one_run) as viewer:
        viewer.wait()
        expected = answers(viewer)
    good = index.read_bytes()
    (end,) = struct.unpack_from("<Q", good, 40)
    for place in range(100, end, end // 8):
        flipped(index, good, place)
        with Viewer(program, one_run) as viewer:
            viewer.wait()
            assert answers(viewer) == expected, place
