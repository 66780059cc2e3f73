"""`timeloom report` reports every loss and damage."""

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
    assert missing.endswith(" events missing from the files of the trace [TL261]")
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
    """Instead of waiting for a writer."""
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


CALLS = """
def f(): pass
def work():
    for _ in range(CALLS): f()
work()
"""


@pytest.fixture(scope="module")
def short_of_events(tmp_path_factory, program):
    """A run that reached its size limit, and a complete one beside it."""
    directory = tmp_path_factory.mktemp("short")
    for name, calls, options in (("lost", 300_000, ["--max-size=4M", "--no-pack-early"]), ("whole", 1000, [])):
        (directory / "app.py").write_text(CALLS.replace("CALLS", str(calls)))
        in_time([program, "run", "--quiet", *options, "-o", name, "app.py"], cwd=directory, check=True)
    return directory


VIEWS = (["--by", "module"], ["--function", "work"], ["--slowest"], ["--full"], ["--tree"], [])


def test_every_view_of_a_run_prints_what_was_lost(timeloom, short_of_events):
    (loss,) = report_json(timeloom, "lost", cwd=short_of_events)["losses"]
    assert loss.endswith(" events could not be recorded: the run had reached its size limit [TL003]")
    for options in VIEWS:
        assert f"! {loss}\n" in timeloom("report", *options, "lost", cwd=short_of_events).stdout, options
        assert "!" not in timeloom("report", *options, "whole", cwd=short_of_events).stdout, options
    for options in VIEWS[:4]:
        assert report_json(timeloom, *options, "lost", cwd=short_of_events)["losses"] == [loss], options
    done = timeloom("report", "--csv", "lost", cwd=short_of_events)
    assert done.stderr == f"timeloom: {loss}\n" and loss not in done.stdout
    assert timeloom("score", "lost", cwd=short_of_events).stderr == f"timeloom: {loss}\n"
    for before, after, line in (("lost", "whole", f"! before: {loss}\n"), ("whole", "lost", f"! after: {loss}\n")):
        assert line in timeloom("diff", before, after, cwd=short_of_events).stdout
        told = json.loads(timeloom("diff", "--json", before, after, cwd=short_of_events).stdout)
        assert (told["before"]["losses"], told["after"]["losses"]) == (([loss], []) if before == "lost" else ([], [loss]))


def test_a_rule_that_lost_events_could_change_is_undecided(timeloom, short_of_events):
    (loss,) = report_json(timeloom, "lost", cwd=short_of_events)["losses"]
    done = timeloom("check", "lost", "visits(__main__.f) <= 1000000", "visits(__main__.f) >= 1000", status=4, cwd=short_of_events)
    head, undecided, holds, count = done.stdout.splitlines()
    assert (head, count) == (f"! {loss}", "1 of 2 rules holds" if count.endswith("holds") else "1 of 2 rules hold")
    assert undecided.startswith("UNDECIDED  visits(__main__.f) <= 1000000") and undecided.endswith("; the lost parts of the run could change that")
    assert holds.startswith("PASS")
    timeloom("check", "lost", "visits(__main__.f) >= 1000", cwd=short_of_events)
    timeloom("check", "lost", "visits(__main__.f) <= 1000000", "visits(__main__.f) <= 9", status=1, cwd=short_of_events)
    told = json.loads(timeloom("check", "--json", "lost", "visits(__main__.f) <= 1000000", status=4, cwd=short_of_events).stdout)
    assert (told["losses"], told["holds"], told["rules"][0]["outcome"]) == ([loss], False, "undecided")
    timeloom("check", "whole", "visits(__main__.f) <= 1000000", cwd=short_of_events)


def test_lost_events_leave_a_comparison_undecided(timeloom, short_of_events):
    undecided = "timeloom: undecided: the lost parts of the runs could change what --fail-above finds; record them whole [TL414]\n"
    # A later loss can only make it slower, an earlier one only faster.
    assert timeloom("diff", "--fail-above", "1e9", "whole", "lost", status=4, cwd=short_of_events).stderr == undecided
    assert "instead of" in timeloom("diff", "--fail-above", "0", "whole", "lost", status=1, cwd=short_of_events).stderr
    timeloom("diff", "--fail-above", "0", "lost", "whole", cwd=short_of_events)
    timeloom("diff", "--fail-above", "0", "whole", "whole", cwd=short_of_events)


@pytest.mark.parametrize("harm", ["cut off", "missing", "damaged"])
def test_files_that_are_not_whole_are_told_beside_a_sound_profile(timeloom, short_of_events, tmp_path, harm):
    run = shutil.copytree(short_of_events / "whole", tmp_path / "run")
    assert timeloom("check", run, "visits(__main__.f) <= 1000").stdout.splitlines()[-1] == "1 of 1 rule holds"
    (file,) = (run / "traces").glob("*.evt")
    if harm == "missing":
        file.unlink()
    elif harm == "damaged":
        content = file.read_bytes()
        file.write_bytes(content[:2] + b"\7" + content[3:])  # the number of its first event
    else:
        file.write_bytes(file.read_bytes()[:-1])
    loss = "1 file of the trace missing, cut off or damaged; its profile is read [TL259]"
    done = timeloom("check", run, "visits(__main__.f) <= 1000", "visits(__main__.f) >= 1000", status=4)
    assert done.stdout.splitlines()[0] == f"! {loss}" and done.stdout.splitlines()[2].startswith("PASS")
    assert report_json(timeloom, run)["losses"] == [loss]
    assert timeloom("score", run).stderr == f"timeloom: {loss}\n"
    assert timeloom("diff", "--fail-above", "50", short_of_events / "whole", run, status=4).stderr.startswith("timeloom: undecided")
    if harm == "cut off":
        told = "1 file of the trace damaged or cut off, and read up to there [TL260]"
        assert json.loads(timeloom("info", "--json", run).stdout)["losses"] == [told]


def test_a_trace_without_its_anchor_is_told_beside_a_sound_profile(timeloom, short_of_events, tmp_path):
    run = shutil.copytree(short_of_events / "whole", tmp_path / "run")
    (run / "traces.otf2").unlink()
    loss = "1 file of the trace missing, cut off or damaged; its profile is read [TL259]"
    done = timeloom("check", run, "visits(__main__.f) <= 1000", status=4)
    assert done.stdout.splitlines()[0] == f"! {loss}"
    assert report_json(timeloom, run)["losses"] == [loss]
    assert json.loads(timeloom("info", "--json", run).stdout)["losses"] == [loss]
    assert timeloom("score", run).stderr == f"timeloom: {loss}\n"
    # A trace that somebody has removed to save space is not a loss.
    (run / "traces.def").unlink()
    shutil.rmtree(run / "traces")
    assert report_json(timeloom, run)["losses"] == []


@pytest.mark.parametrize("name", ["traces.otf2", "traces.def"])
def test_a_trace_that_cannot_be_opened_is_told_beside_a_sound_profile(timeloom, short_of_events, tmp_path, name):
    run = shutil.copytree(short_of_events / "whole", tmp_path / "run")
    (run / name).write_bytes(b"")
    loss = "1 file of the trace missing, cut off or damaged; its profile is read [TL259]"
    done = timeloom("check", run, "visits(__main__.f) <= 1000", "visits(__main__.f) >= 1000", status=4)
    assert done.stdout.splitlines()[0] == f"! {loss}" and done.stdout.splitlines()[2].startswith("PASS")
    assert report_json(timeloom, run)["losses"] == [loss]
    shown = timeloom("info", "--json", run)
    assert json.loads(shown.stdout)["losses"] == [loss]
    assert name in shown.stderr and shown.stderr.endswith("; the profile is read instead [TL444]\n") and shown.stderr.count("\n") == 1
    assert timeloom("diff", "--fail-above", "50", short_of_events / "whole", run, status=4).stderr.endswith("record them whole [TL414]\n")
    assert name in timeloom("convert", "--to", "chrome", "-o", tmp_path / "out.json", run, status=1).stderr


def test_an_older_run_does_not_take_the_place_of_one_that_cannot_be_opened(timeloom, short_of_events, tmp_path):
    older = shutil.copytree(short_of_events / "whole", tmp_path / "older")
    newer = shutil.copytree(short_of_events / "whole", tmp_path / "newer")
    (newer / "profile.cubex").unlink()
    (newer / "traces.otf2").write_bytes(b"")
    assert "newer/traces.otf2" in timeloom("report", status=1, cwd=tmp_path).stderr
    (newer / "traces.otf2").unlink()
    refused = timeloom("report", status=1, cwd=tmp_path).stderr
    assert refused == "timeloom: newer is newer than older, but its traces.otf2 is missing; name a run [TL170]\n"
    timeloom("report", older)
    if os.geteuid() == 0:  # another user cannot stop the command so
        os.chown(newer, 54321, 54321)
        timeloom("report", cwd=tmp_path)
