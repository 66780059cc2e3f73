"""Unfinished runs that somebody else has put into a directory: their names and settings lead nowhere outside."""

import os

import pytest
from omnitrace_runs import run_directory, run_omnitrace
from test_omnitrace_files import PLAIN

pytestmark = pytest.mark.any_python


def test_a_run_of_somebody_else_says_not_what_is_read(timeloom, tmp_path):
    """Whoever weaves an unfinished run compares with the reports that are named to this command, if any."""
    (tmp_path / "input").mkdir()
    os.mkfifo(tmp_path / "input" / "wall_clock.json")  # reading it would wait for good
    (tmp_path / "app.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    wish = {"OMNITRACE_DIFF_OUTPUT": "ON", "OMNITRACE_PROFILE": "ON", "OMNITRACE_INPUT_PATH": str(tmp_path / "input")}
    run_omnitrace(tmp_path, "--", "app.py", status=-9, **wish)
    run = run_directory(tmp_path)
    timeloom("weave", run, cwd=tmp_path, OMNITRACE_TIME_OUTPUT="OFF")
    written = [path.name for path in run.parent.iterdir() if path.name.endswith(".txt")]
    assert [name.partition("-")[0] for name in written] == ["wall_clock"]  # and no wall_clock-PID.diff.txt
    said = timeloom("convert", run, "--to", "omnitrace", "-o", "out", cwd=tmp_path, **PLAIN, **wish).stderr
    assert f"{tmp_path}/input/wall_clock.json is not a file of at most 1 GiB [TL715]" in said


def _killed(tmp_path, home, **names):
    """A run whose names are these, as somebody else has put it into a directory of the user."""
    (tmp_path / "made").mkdir()
    (home / "Documents").mkdir(parents=True)
    (tmp_path / "made" / "app.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    run_omnitrace(tmp_path / "made", "--", "app.py", status=-9, OMNITRACE_PROFILE="ON", OMNITRACE_TRACE="ON", OMNITRACE_USE_PID="OFF",
                  OMNITRACE_TIMEMORY_COMPONENTS="wall_clock", **names)  # fmt: skip
    for name in ("thesis.docx", "wall_clock.txt", "perfetto-trace.proto"):
        (home / "Documents" / name).write_text("mine")
    return run_directory(tmp_path / "made").rename(home / "run")


def _contents(directory, run):
    return {path: path.read_bytes() for path in directory.rglob("*") if path.is_file() and run not in path.parents}


HOSTILE = [("OMNITRACE_PERFETTO_FILE", "Documents/thesis.docx"), ("OMNITRACE_PERFETTO_FILE", "HOME/Documents/thesis.docx"),
           ("OMNITRACE_OUTPUT_PREFIX", "Documents/"), ("OMNITRACE_OUTPUT_PREFIX", "linked/")]  # fmt: skip


@pytest.mark.parametrize("name, value", HOSTILE)
@pytest.mark.parametrize("command", ["info", "weave"])
def test_a_run_of_somebody_else_changes_nothing_outside(timeloom, tmp_path, command, name, value):
    """Neither by its names nor by links beside it."""
    home = tmp_path / "home"
    run = _killed(tmp_path, home, **{name: value.replace("HOME", str(home))})
    (home / "linked").symlink_to("Documents")
    for link in ("wall_clock.txt", "wall_clock.json", "functions.json", "metadata.json", "thesis.proto", "perfetto-trace.proto"):
        (home / link).symlink_to("Documents/thesis.docx")
    before = _contents(home, run)
    said = timeloom(command, run, cwd=home).stderr
    assert _contents(home, run) == before
    assert ("is not replaced" if command == "weave" else f"timeloom convert {run} --to omnitrace [TL719]") in said


@pytest.mark.parametrize("name, value", HOSTILE)
def test_files_of_a_killed_program_lie_beside_its_run(timeloom, tmp_path, name, value):
    home = tmp_path / "home"
    run = _killed(tmp_path, home, **{name: value.replace("HOME", str(home))})
    before = _contents(home, run)
    timeloom("weave", run, cwd=home)
    after = _contents(home, run)
    assert before.items() <= after.items()
    trace = "thesis.proto" if name == "OMNITRACE_PERFETTO_FILE" else "perfetto-trace.proto"
    assert {path.relative_to(home).as_posix() for path in after.keys() - before.keys()} == {
        "wall_clock.txt", "wall_clock.json", "wall_clock.tree.json", "functions.json", "metadata.json", trace}  # fmt: skip
