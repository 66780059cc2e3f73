"""A child process uses every setting of its parent, however it was started."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from profile_files import Profile
from streams import environment

import timeloom

pytestmark = pytest.mark.any_python

ROOT = Path(__file__).resolve().parents[3]

# The parent calls the task, and so does each child. User regions name the caller.
WORK = """
import json, timeloom

def task(who):
    drop()
    keep(who)
    json.dumps({})
    len("")
    __import__("lazy_" + who)

def keep(who):
    with timeloom.region("by " + who):
        leaf()

def drop():
    leaf()

def leaf():
    pass
"""
PROGRAM = """
import multiprocessing, os, subprocess, sys
import work

if __name__ == "__main__":
    who = sys.argv[1]
    work.task("parent")
    if os.path.exists("filter"):
        os.remove("filter")
    os.environ["PYTHONPATH"] = os.getcwd()
    os.mkdir("elsewhere")
    os.chdir("elsewhere")
    if who == "program":
        subprocess.run([sys.executable, "-c", "import work; work.task('program')"], check=True)
    elif who == "loky":
        import joblib
        joblib.Parallel(n_jobs=2)([joblib.delayed(work.task)(who)])
    else:
        child = multiprocessing.get_context(who).Process(target=work.task, args=(who,))
        child.start()
        child.join()
        assert child.exitcode == 0
"""
FILTER = "SCOREP_REGION_NAMES_BEGIN\n  EXCLUDE work.drop\nSCOREP_REGION_NAMES_END\n"
WORK_REGIONS = {"work.task", "work.keep", "work.drop", "work.leaf"}

# The options, and the regions of the task that are recorded.
SETTINGS = {
    "defaults": ([], WORK_REGIONS | {"json.dumps"}),
    "exclude": (["--exclude=work.drop", "--exclude=json,nothing"], WORK_REGIONS - {"work.drop"}),
    "include after exclude": (["--exclude=work.*", "--include=work.keep"], {"work.keep", "json.dumps"}),
    "exclude after include": (["--include=work.*", "--exclude=work.drop"], WORK_REGIONS - {"work.drop"}),
    "filter file": (["--filter-file=filter"], WORK_REGIONS - {"work.drop"} | {"json.dumps"}),
    "only my code": (["--only-my-code"], WORK_REGIONS),
    "imports": (["--imports"], WORK_REGIONS | {"json.dumps", "importing"}),
    "no imports": (["--no-imports"], WORK_REGIONS | {"json.dumps"}),
    "window": (["--from=work.keep", "--until=work.keep"], {"work.keep", "work.leaf"}),
    "window of time": (["--from=100000s"], set()),
    "profile": (["--profile"], WORK_REGIONS | {"json.dumps"}),
    "C functions": (
        ["--c-functions", "--instrumenter=profile"], WORK_REGIONS | {"json.dumps", "builtins.len"}),
    "names": (
        ["--region-names=scorep"], {"work:task", "work:keep", "work:drop", "work:leaf", "json:dumps"}),
}  # fmt: skip
# The importing functions have other names until importlib is imported.
IMPORTING = ("importlib.", "_frozen_importlib", "zipimport.", "encodings.")
STARTS = ["fork", "spawn", "forkserver", "loky", "program"]
# A version may differ in how it starts children, imports and calls C functions, not in filters and windows.
OF_VERSIONS = ("defaults", "imports", "C functions")
# Servers of processes take a second each. They are started otherwise, and hand on settings like any other program.
SERVERS = ("forkserver", "loky")
OF_SERVERS = (*OF_VERSIONS, "filter file", "window")


def case_of(name, who):
    marks = [] if name in OF_VERSIONS else [pytest.mark.any_python]
    if who in SERVERS and name not in OF_SERVERS:
        marks.append(pytest.mark.thorough)
    return pytest.param(name, who, marks=marks, id=f"{name}-{who}")


CASES = [case_of(name, who) for name in SETTINGS for who in STARTS]


def regions_of(run):
    """By the index of each process: the regions of the task that it has recorded, and their caller."""
    profile = Profile(run)
    found = {}
    for location in profile.locations:
        found.setdefault(location["group"], set()).update(profile.nodes[node]["region"] for node in location["cells"])
    return found


def of_task(regions):
    wanted = {name for name in regions if name.startswith(("work.", "work:")) and "<module>" not in name}
    wanted |= regions & {"json.dumps", "json:dumps", "builtins.len"}
    if any(name.startswith(IMPORTING) for name in regions):
        wanted.add("importing")
    return wanted


@pytest.mark.parametrize("name, who", CASES)
def test_a_child_obeys(name, who, tmp_path):
    if who == "loky" and importlib.util.find_spec("joblib") is None:
        pytest.skip("joblib is not installed")
    options, expected = SETTINGS[name]
    (tmp_path / "work.py").write_text(WORK)
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "filter").write_text(FILTER)
    for one in ("parent", who):
        (tmp_path / f"lazy_{one}.py").write_text("")
    done = subprocess.run(
        [sys.executable, "-m", "timeloom", "--quiet", "-o", "run", "--follow=all", *options, "program.py", who],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=120)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    processes = regions_of(tmp_path / "run").values()
    if not expected:
        assert all(of_task(regions) == set() for regions in processes)
        return
    for one in ("parent", who):
        (mine,) = [regions for regions in processes if f"by {one}" in regions]
        assert of_task(mine) == expected, one


def records_of(run):
    return (run / "spool" / "settings").read_bytes().split(b"\0")


def test_settings_are_handed_on_without_loss(tmp_path):
    """Values with commas, lines and bytes that are not text, and the order of the rules."""
    output = b"a\nb,c=\xff"
    (tmp_path / "program.py").write_text("")
    options = ["--no-weave", "--quiet", "--include=b", "--exclude=a,c", "--include=d=e", "--metric-rusage=ru_utime,ru_stime"]
    done = subprocess.run([sys.executable, "-m", "timeloom", b"-o", output, *options, "program.py"], cwd=tmp_path,
                          env=environment(), capture_output=True, timeout=60)  # fmt: skip
    assert done.returncode == 0, done.stderr
    (run,) = [path for path in tmp_path.iterdir() if path.is_dir()]
    records = records_of(run)
    assert b"TIMELOOM_OUTPUT=" + output in records
    assert b"TIMELOOM_METRIC_RUSAGE=ru_utime,ru_stime" in records
    rules = [record for record in records if record.startswith((b"TIMELOOM_INCLUDE", b"TIMELOOM_EXCLUDE"))]
    assert rules == [b"TIMELOOM_INCLUDE=b", b"TIMELOOM_EXCLUDE=a", b"TIMELOOM_EXCLUDE=c", b"TIMELOOM_INCLUDE=d=e"]
    assert int(dict(record.partition(b"=")[::2] for record in records)[b"start"]) > 0


@pytest.mark.parametrize("text", [
    b"", b"TIMELOOM_FOLLOW=all", b"TIMELOOM_FOLLOW=all\0TIMELOOM_LD_PRELOAD=x\0", b"TIMELOOM_FOLLOW=all\0start=-1\0",
    b"\0" * 100, b"{\xe9",
])  # fmt: skip
def test_a_damaged_file_of_settings_does_not_stop_a_child(text, tmp_path):
    (tmp_path / "spool" / "1-0").mkdir(parents=True)
    (tmp_path / "spool" / "settings").write_bytes(text)
    variables = {**environment(), "TIMELOOM_PARENT": str(tmp_path / "spool" / "1-0")}
    for words in (["-c", "print('ran')"], ["-c", "print('ran')", "--multiprocessing-fork"]):
        done = subprocess.run([sys.executable, *words], cwd=tmp_path, env=variables, capture_output=True, text=True,
                              timeout=60)  # fmt: skip
        assert (done.returncode, done.stdout) == (0, "ran\n")
        assert done.stderr == "" or (done.stderr.startswith("timeloom: process ") and done.stderr.count("\n") == 1)


OTHER_VERSION = """
import multiprocessing, os, subprocess, sys
from scripts.trials.fuzz_runs import checksum

def work():
    print("worked", flush=True)

if __name__ == "__main__":
    path = os.path.join(os.path.dirname(os.environ["TIMELOOM_PARENT"]), "settings")
    with open(path, "rb") as file:
        check, version, rest = file.read().split(b"\\0", 2)
    assert version == b"version=" + sys.argv[1].encode()
    records = b"version=9.8.7\\0" + rest
    with open(path, "wb") as file:
        file.write(b"check=%d\\0" % checksum(records) + records)
    subprocess.run([sys.executable, "-c", "print('ran', flush=True)"], check=True)
    child = multiprocessing.get_context("spawn").Process(target=work)
    child.start()
    child.join()
    assert child.exitcode == 0
"""


def test_a_child_of_another_version_runs_unrecorded(timeloom_program, tmp_path):
    """The parent is of another version, as its children see it."""
    (tmp_path / "app.py").write_text(OTHER_VERSION)
    variables = {**environment(), "PYTHONPATH": str(ROOT)}
    command = [timeloom_program, "run", "--follow=all", "-o", "run", "app.py", timeloom.__version__]
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "ran\nworked\n"), done.stderr
    reason = f"the run is recorded by Timeloom 9.8.7, and this is {timeloom.__version__}; install the same version for both"
    lines = [line for line in done.stderr.splitlines() if "is not recorded" in line]
    assert len(lines) == 2
    assert all(re.fullmatch(rf"timeloom: process \d+ is not recorded: {re.escape(reason)} \[TL018\]", line) for line in lines)
    report = subprocess.run([timeloom_program, "report", "--json", "run"], cwd=tmp_path, check=True, capture_output=True)
    assert json.loads(report.stdout)["processes"] == 1
